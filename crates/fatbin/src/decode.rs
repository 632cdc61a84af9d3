use std::io::Read;

use crate::entry::Entry;
use crate::error::{Error, ErrorKind};
use crate::flags::{Compression, Flags};

/// Unpacks the payload of `entry` into `out`, which is cleared first. An uncompressed payload is copied with its
/// padding.
///
/// `out` grows while bytes arrive: a stated size is a claim, not a reservation. At most `limit` bytes are written.
///
/// # Errors
/// [`ErrorKind::Limit`] if the entry states more than `limit` bytes, [`ErrorKind::Corrupt`] if the payload does not
/// decompress, [`ErrorKind::UnpackedSize`] if it unpacks to another size than stated, [`ErrorKind::Scrambled`] for
/// LTO-IR in its secret coding, [`ErrorKind::CompressedSize`] if the payload is cut. Offsets are relative to the entry.
pub fn decode(entry: &Entry<'_>, limit: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    let header = entry.header();
    let stated = header.unpacked_size();
    if header.flags.contains(Flags::SCRAMBLED) {
        return Err(Error::new(ErrorKind::Scrambled, 0x28));
    }
    if stated > limit {
        return Err(Error::new(ErrorKind::Limit, 0x38));
    }
    // one byte more than stated is asked for, to see whether there is more
    unpack(entry, stated.saturating_add(1), out)?;
    if u64::try_from(out.len()) == Ok(stated) { Ok(()) } else { Err(Error::new(ErrorKind::UnpackedSize, 0x38)) }
}

/// Unpacks the first `length` bytes of the payload of `entry` into `out`, or fewer where it is shorter. The rest is
/// not looked at, so that damage there goes unseen. A raw LZ4 block cannot be cut: it is unpacked whole if it states
/// at most `limit` bytes.
///
/// # Errors
/// As [`decode`], without [`ErrorKind::UnpackedSize`].
pub fn decode_prefix(entry: &Entry<'_>, length: u64, limit: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    let header = entry.header();
    if header.flags.contains(Flags::SCRAMBLED) {
        return Err(Error::new(ErrorKind::Scrambled, 0x28));
    }
    if header.compression() == Compression::Lz4 && header.unpacked_size() > limit {
        return Err(Error::new(ErrorKind::Limit, 0x38));
    }
    unpack(entry, length, out)?;
    out.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    Ok(())
}

/// The payload of an entry, unpacked as it is read: for who needs the first part only.
pub enum Payload<'data> {
    /// At hand as a whole: not compressed.
    Whole(&'data [u8]),
    /// Unpacked on the way. Its end is the end of the compressed stream, whatever the entry states.
    Stream(Box<dyn Read + 'data>),
    /// A raw LZ4 block, which can only be unpacked as a whole: use [`decode`].
    Block,
}

impl core::fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Whole(_) => "Whole",
            Self::Stream(_) => "Stream",
            Self::Block => "Block",
        })
    }
}

/// Opens the payload of `entry` for reading from its start.
///
/// # Errors
/// As [`decode`], as far as it shows before the first byte.
pub fn open<'data>(entry: &Entry<'data>) -> Result<Payload<'data>, Error> {
    if entry.header().flags.contains(Flags::SCRAMBLED) {
        return Err(Error::new(ErrorKind::Scrambled, 0x28));
    }
    let payload = entry.payload()?;
    let corrupt = Error::new(ErrorKind::Corrupt, u64::from(entry.header().header_size));
    Ok(match entry.header().compression() {
        Compression::None => Payload::Whole(payload),
        Compression::Zlib => Payload::Stream(Box::new(flate2::bufread::ZlibDecoder::new(payload))),
        Compression::Lz4 => Payload::Block,
        Compression::Lz4Frame => Payload::Stream(Box::new(lz4_flex::frame::FrameDecoder::new(payload))),
        Compression::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(payload).map_err(|_| corrupt)?;
            Payload::Stream(Box::new(decoder.single_frame()))
        }
    })
}

/// Appends at most `most` unpacked bytes to `out` (a raw LZ4 block: all of it).
fn unpack(entry: &Entry<'_>, most: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    let payload = entry.payload()?;
    let corrupt = Error::new(ErrorKind::Corrupt, u64::from(entry.header().header_size));
    match entry.header().compression() {
        Compression::None => {
            let end = usize::try_from(most).unwrap_or(usize::MAX).min(payload.len());
            out.extend_from_slice(payload.get(..end).unwrap_or(payload));
            Ok(())
        }
        Compression::Zlib => read(flate2::bufread::ZlibDecoder::new(payload), most, out).ok_or(corrupt),
        Compression::Lz4 => block(payload, entry.header().uncompressed_size, out).ok_or(corrupt),
        Compression::Lz4Frame => read(lz4_flex::frame::FrameDecoder::new(payload), most, out).ok_or(corrupt),
        Compression::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(payload).map_err(|_| corrupt)?;
            read(decoder.single_frame(), most, out).ok_or(corrupt)
        }
    }
}

fn read(decoder: impl Read, most: u64, out: &mut Vec<u8>) -> Option<()> {
    decoder.take(most).read_to_end(out).ok().map(drop)
}

/// A raw LZ4 block carries no size of its own. A byte of it unpacks to at most 255 bytes, so that a larger claim is
/// refused before anything is reserved.
fn block(payload: &[u8], stated: u64, out: &mut Vec<u8>) -> Option<()> {
    let most = u64::try_from(payload.len()).ok()?.checked_mul(255)?;
    if stated > most {
        return None;
    }
    out.resize(usize::try_from(stated).ok()?, 0);
    let written = lz4_flex::block::decompress_into(payload, out).ok()?;
    out.truncate(written);
    Some(())
}
