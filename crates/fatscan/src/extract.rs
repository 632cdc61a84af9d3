//! The bytes of images, read again from where the scan found them.

use std::io;
use std::path::Path;

use cubin::Head;
use fatbin::{Entry, EntryHeader};
use fatscan_containers::{ByteStream, Inflater, SliceStream, Zip, ZipMethod, map};

use crate::model::{Artefact, ArtefactKind, CodeKind, Image, Member, Module, Source};
use crate::options::Limits;

/// Why an image cannot be extracted.
#[derive(Debug)]
pub enum ExtractError {
    /// The file cannot be read any more.
    Io(io::Error),
    /// The file is not what it was when it was scanned.
    Changed,
    /// The payload does not unpack, or exceeds a limit.
    Payload(fatbin::ErrorKind),
}

impl core::fmt::Display for ExtractError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Changed => f.write_str("the file is not what it was when it was scanned"),
            Self::Payload(kind) => write!(f, "{kind}"),
        }
    }
}

impl core::error::Error for ExtractError {}

/// One image to extract: the module and the image by their indices in the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Index of the module.
    pub module: usize,
    /// Index of the image in it.
    pub image: usize,
}

/// What takes the bytes of an image, or what went wrong with it.
pub type Take<'a> = dyn FnMut(Wanted, Result<&[u8], ExtractError>) + 'a;

/// Reads the bytes of images of one member, in the order of the file, and hands each to `take`. With `raw` payloads stay
/// as they are stored: the images of a concatenated entry share theirs. Without, they are unpacked, cubins end at their
/// last table and PTX before its NUL.
///
/// # Errors
/// The file cannot be opened or lacks the member; what goes wrong with one image is handed to `take`.
pub fn extract(
    artefact: &Artefact,
    member: &Member,
    wanted: &[Wanted],
    raw: bool,
    limits: &Limits,
    take: &mut Take<'_>,
) -> Result<(), ExtractError> {
    let job = Job { member, wanted, raw, limits };
    match artefact.kind {
        ArtefactKind::File => {
            let mapped = map(Path::new(&artefact.path)).map_err(ExtractError::Io)?;
            job.run(&mut SliceStream::new(&mapped), take);
        }
        ArtefactKind::Directory => {
            let mapped = map(&Path::new(&artefact.path).join(&member.path)).map_err(ExtractError::Io)?;
            job.run(&mut SliceStream::new(&mapped), take);
        }
        ArtefactKind::Wheel | ArtefactKind::Zip => {
            let mapped = map(Path::new(&artefact.path)).map_err(ExtractError::Io)?;
            let zip = Zip::list(&mapped, limits.members);
            let own = member.entry.and_then(|entry| zip.members.get(entry));
            let own = own.filter(|own| own.path == member.path).ok_or(ExtractError::Changed)?;
            let data = own.data.ok_or(ExtractError::Changed)?;
            match own.method {
                ZipMethod::Stored => job.run(&mut SliceStream::new(data), take),
                _ => job.run(&mut Inflater::new(data, own.size.min(limits.member_bytes), None, false), take),
            }
        }
    }
    Ok(())
}

struct Job<'a> {
    member: &'a Member,
    wanted: &'a [Wanted],
    raw: bool,
    limits: &'a Limits,
}

impl Job<'_> {
    fn run<S: ByteStream>(&self, stream: &mut S, take: &mut Take<'_>) {
        let mut order: Vec<(u64, Wanted, &Module, &Image)> = Vec::new();
        for wanted in self.wanted {
            let module = self.member.modules.get(wanted.module);
            let image = module.and_then(|module| module.images.get(wanted.image));
            if let Some((module, image)) = module.zip(image) {
                order.push((module.base.saturating_add(image.offset), *wanted, module, image));
            }
        }
        // forward only, so that a deflated member is inflated once
        order.sort_by_key(|(offset, wanted, ..)| (*offset, *wanted));
        let mut buffer = Vec::new();
        for (offset, wanted, module, image) in order {
            let result = self.read(stream, offset, module.source, image, &mut buffer);
            take(wanted, result.map(|()| trim(&buffer, image.kind, self.raw)));
        }
    }

    fn read<S: ByteStream>(
        &self,
        stream: &mut S,
        offset: u64,
        source: Source,
        image: &Image,
        buffer: &mut Vec<u8>,
    ) -> Result<(), ExtractError> {
        if offset < stream.position() {
            stream.rewind(offset);
        }
        let gap = offset.saturating_sub(stream.position());
        if stream.skip(gap) < gap {
            return Err(ExtractError::Changed);
        }
        buffer.clear();
        if source != Source::Fatbin {
            let size = self.size(image.stored_bytes)?;
            stream.fill(size);
            buffer.extend_from_slice(stream.window().get(..size).ok_or(ExtractError::Changed)?);
            return Ok(());
        }
        stream.fill(fatbin::ENTRY_HEADER_SIZE);
        let header = EntryHeader::parse(stream.window()).map_err(|_| ExtractError::Changed)?;
        let record = self.size(u64::from(header.header_size))?;
        let total = self.size(header.total_size().ok_or(ExtractError::Changed)?)?;
        stream.fill(total);
        let window = stream.window();
        let cut = ExtractError::Payload(fatbin::ErrorKind::PayloadCut);
        let parts = window.get(..record).zip(window.get(record..total)).ok_or(cut)?;
        let entry = Entry::new(parts.0, parts.1).map_err(|_| ExtractError::Changed)?;
        let payload = |error: fatbin::Error| ExtractError::Payload(error.kind);
        if self.raw {
            buffer.extend_from_slice(entry.payload().map_err(payload)?);
            return Ok(());
        }
        match fatbin::decode(&entry, self.limits.payload_bytes, buffer) {
            Ok(()) => {}
            // its coding is not public: it is handed out as it is
            Err(error) if error.kind == fatbin::ErrorKind::Scrambled => {
                buffer.extend_from_slice(entry.payload().map_err(payload)?);
            }
            Err(error) => return Err(payload(error)),
        }
        if let Some(number) = image.concat {
            let index = usize::try_from(number).map_err(|_| ExtractError::Changed)?;
            let member = entry.members().nth(index).ok_or(ExtractError::Changed)?.map_err(payload)?;
            *buffer = member.bytes(buffer).map_err(payload)?.to_vec();
        }
        Ok(())
    }

    /// A size within the limit for one payload.
    fn size(&self, bytes: u64) -> Result<usize, ExtractError> {
        let fits = usize::try_from(bytes).ok().filter(|_| bytes <= self.limits.payload_bytes);
        fits.ok_or(ExtractError::Payload(fatbin::ErrorKind::Limit))
    }
}

/// Without the padding of the container.
fn trim(bytes: &[u8], kind: CodeKind, raw: bool) -> &[u8] {
    match kind {
        _ if raw => bytes,
        CodeKind::Sass => {
            // padding is at most 7 zero bytes; more is data that the header does not tell of
            let end = Head::parse(bytes).ok().and_then(|head| usize::try_from(head.extent).ok());
            let rest = end.and_then(|end| bytes.get(end..)).unwrap_or_default();
            let is_padding = rest.len() < 8 && rest.iter().all(|byte| *byte == 0);
            end.filter(|_| is_padding).and_then(|end| bytes.get(..end)).unwrap_or(bytes)
        }
        CodeKind::Ptx => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
            bytes.get(..end).unwrap_or(bytes)
        }
        CodeKind::LtoIr | CodeKind::TileIr | CodeKind::Other => bytes,
    }
}
