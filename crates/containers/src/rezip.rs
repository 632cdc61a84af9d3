//! A zip archive that is written anew from another one.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::path::EntryPath;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter, ZipFileBuilder};

use crate::codec::Codec;
use crate::index::{ZipMember, ZipMethod};
use crate::source::Source;

/// Bytes that are copied at a time.
const STEP: u64 = 1 << 20;

/// An archive that is written: members come out in the order in which they are asked for, with the times and modes that
/// the directory of the old archive states. Extra fields and comments are not carried over. The same calls give the same bytes.
#[derive(Debug)]
pub struct Rezip<'a, W: Write> {
    source: &'a dyn Source,
    writer: ZipArchiveWriter<W>,
}

impl<'a, W: Write> Rezip<'a, W> {
    /// An archive of what is in `source`, to be written to `out`.
    pub fn new(source: &'a dyn Source, out: W) -> Self {
        Self { source, writer: ZipArchiveWriter::new(out) }
    }

    /// Copies a member as it is stored, without unpacking it. It must not be encrypted, and its size must be known.
    ///
    /// # Errors
    /// Those of the source and of the writer.
    pub fn copy(&mut self, member: &ZipMember) -> io::Result<()> {
        let source = self.source;
        let (mut entry, _) =
            self.file(member, &member.name, method(member.method)).start().map_err(io::Error::other)?;
        let (mut offset, length) = member.data;
        let end = offset.saturating_add(length);
        while offset < end {
            let step = usize::try_from(STEP.min(end.saturating_sub(offset))).unwrap_or(usize::MAX);
            let bytes = source.bytes(offset, step)?;
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            entry.write_all(&bytes)?;
            offset = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        let output = DataDescriptorOutput::new(member.checksum.unwrap_or(0), member.size);
        entry.finish(output).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes a member with other bytes, deflated unless the old ones were stored. Returns its bytes in the archive.
    ///
    /// # Errors
    /// Those of `fill` and of the writer.
    pub fn replace(
        &mut self,
        member: &ZipMember,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let is_stored = member.method == ZipMethod::Stored;
        let method = if is_stored { CompressionMethod::STORE } else { CompressionMethod::DEFLATE };
        let (mut entry, config) = self.file(member, &member.name, method).start().map_err(io::Error::other)?;
        let output = if is_stored {
            let mut data = config.wrap(&mut entry);
            fill(&mut data)?;
            data.finish().map_err(io::Error::other)?.1
        } else {
            let mut data = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
            fill(&mut data)?;
            let (encoder, output) = data.finish().map_err(io::Error::other)?;
            encoder.finish()?;
            output
        };
        Ok(entry.finish(output).map_err(io::Error::other)?.compressed_size())
    }

    /// Writes the directory and gives the writer back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish().map_err(io::Error::other)
    }

    fn file<'name>(
        &mut self,
        member: &ZipMember,
        name: &'name [u8],
        method: CompressionMethod,
    ) -> ZipFileBuilder<'_, 'name, W> {
        let mut file = self.writer.new_file(EntryPath::verbatim(name)).compression_method(method);
        if let Some(seconds) = member.modified {
            file = file.last_modified(UtcDateTime::from_unix(seconds));
        }
        if let Some(mode) = member.mode {
            file = file.unix_permissions(mode);
        }
        file
    }
}

const fn method(method: ZipMethod) -> CompressionMethod {
    match method {
        ZipMethod::Stored => CompressionMethod::STORE,
        ZipMethod::Packed(Codec::Bzip2) => CompressionMethod::BZIP2,
        ZipMethod::Packed(Codec::Xz) => CompressionMethod::XZ,
        ZipMethod::Packed(Codec::Zstd) => CompressionMethod::ZSTD,
        ZipMethod::Other(other) => other,
        // a member of an archive is never a gzip file as such
        ZipMethod::Deflated | ZipMethod::Packed(Codec::Gzip) => CompressionMethod::DEFLATE,
    }
}
