use std::io::Read;

use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::entry::{Entry, EntryHeader};
use crate::error::{Error, ErrorKind};
use crate::first;
use crate::flags::{Compression, Flags};
use crate::memory::{Frame, ROOM};

/// The largest window of a zstd frame that a [`Decoder`] accepts unless told otherwise: what zstd itself accepts, 128 MiB.
pub const WINDOW_LIMIT: u64 = 128 << 20;

/// Unpacks payloads one after the other; the tables that zstd needs are made once, and the window that a frame asks for
/// stays until a larger one is needed. [`memory_to_stream`](crate::memory_to_stream) and
/// [`memory_to_decode`](crate::memory_to_decode) tell beforehand what an entry takes, [`Decoder::held`] what is held.
///
/// ```
/// let mut decoder = fatbin::Decoder::new();
/// let mut out = Vec::new();
/// # let data = b"\x50\xed\x55\xba\x01\x00\x10\x00\0\0\0\0\0\0\0\0";
/// for fatbin in fatbin::find(data) {
///     for (_, entry) in fatbin.entries().flatten() {
///         decoder.decode(&entry, 64 << 20, &mut out)?;
///     }
/// }
/// # Ok::<(), fatbin::Error>(())
/// ```
pub struct Decoder {
    zstd: Option<DCtx<'static>>,
    window_limit: u64,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Decoder")
    }
}

impl Decoder {
    /// A decoder that has unpacked nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_window_limit(WINDOW_LIMIT)
    }

    /// A decoder that refuses a zstd frame whose window is larger than `bytes`, unless it can be unpacked right into the
    /// output, without a window. Other codings need no more than 64 KiB to look back at.
    #[must_use]
    pub const fn with_window_limit(bytes: u64) -> Self {
        Self { zstd: None, window_limit: bytes }
    }

    /// Bytes that are held for the next zstd frame.
    #[must_use]
    pub fn held(&self) -> u64 {
        let held = self.zstd.as_ref().map_or(0, |context| context.sizeof());
        u64::try_from(held).unwrap_or(u64::MAX)
    }

    /// Unpacks the payload of `entry` into `out`, which is cleared first. An uncompressed payload is copied with its
    /// padding.
    ///
    /// `out` grows with the bytes that arrive, to at most 64 times the packed ones ahead of them (zstd), 255 times the packed
    /// ones (LZ4 block) or twice what arrived (zlib, LZ4 frame): a stated size is a claim. An entry that states more than
    /// `limit` bytes is refused.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the entry states more than `limit` bytes or a larger window than the decoder accepts, [`ErrorKind::Corrupt`] if the payload does not
    /// decompress, [`ErrorKind::UnpackedSize`] if it unpacks to another size than stated, [`ErrorKind::Scrambled`] for
    /// LTO-IR in its secret coding, [`ErrorKind::CompressedSize`] if the payload is cut. Offsets are relative to the
    /// entry.
    pub fn decode(&mut self, entry: &Entry<'_>, limit: u64, out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        let header = entry.header();
        let stated = header.unpacked_size();
        if header.flags.contains(Flags::SCRAMBLED) {
            return Err(Error::new(ErrorKind::Scrambled, 0x28));
        }
        if stated > limit {
            return Err(Error::new(ErrorKind::Limit, 0x38));
        }
        let payload = entry.payload()?;
        let corrupt = corrupt(entry);
        match header.compression() {
            Compression::None => out.extend_from_slice(payload),
            Compression::Lz4 => block(payload, header.uncompressed_size, out).ok_or(corrupt)?,
            Compression::Zstd => {
                if Frame::parse(payload).is_some_and(|frame| frame.is_direct(header.stored_size(), stated)) {
                    // one that is cut would take a window before it is found out
                    zstd_safe::find_frame_compressed_size(payload).map_err(|_| corrupt)?;
                } else {
                    self.check_window(entry, payload)?;
                }
                frame(self.zstd(entry)?, payload, stated, out).ok_or(corrupt)?;
            }
            // one byte more than stated is asked for, to see whether there is more
            Compression::Zlib | Compression::Lz4Frame => {
                self.start(entry, stated.saturating_add(1), out)?;
            }
        }
        if u64::try_from(out.len()) == Ok(stated) { Ok(()) } else { Err(Error::new(ErrorKind::UnpackedSize, 0x38)) }
    }

    /// Unpacks the first `length` bytes of the payload of `entry` into `out`, or fewer where it is shorter. The rest is
    /// not looked at, so that damage there goes unseen. A raw LZ4 block cannot be cut: it is unpacked whole if it states
    /// at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Decoder::decode`], without [`ErrorKind::UnpackedSize`].
    pub fn decode_prefix(
        &mut self,
        entry: &Entry<'_>,
        length: u64,
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.clear();
        let header = entry.header();
        if header.compression() == Compression::Lz4 && header.unpacked_size() > limit {
            return Err(Error::new(ErrorKind::Limit, 0x38));
        }
        self.start(entry, length, out)?;
        out.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Unpacks the first bytes of a payload of which only the first bytes as they are stored are at hand: at most `length`
    /// into `out`, which is cleared first. Of a zstd frame no more than the first block is unpacked, up to 128 KiB, so that
    /// no window is held; a raw LZ4 block is unpacked only as far as asked for. Fewer than `length` come where `stored`, the
    /// payload or that block ends before.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for what cannot be unpacked, [`ErrorKind::Scrambled`] for what nobody can read. Offsets are
    /// relative to the payload.
    pub fn decode_first(
        &mut self,
        header: &EntryHeader,
        stored: &[u8],
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.clear();
        if header.flags.contains(Flags::SCRAMBLED) {
            return Err(Error::new(ErrorKind::Scrambled, 0x28));
        }
        let corrupt = Error::new(ErrorKind::Corrupt, 0);
        let is_whole = u64::try_from(stored.len()).is_ok_and(|there| there >= header.stored_size());
        match header.compression() {
            Compression::None => out.extend_from_slice(stored.get(..length).unwrap_or(stored)),
            Compression::Lz4 => first::lz4(stored, length, out).ok_or(corrupt)?,
            Compression::Zstd => {
                let Some(block) = first::zstd_block(stored).ok_or(corrupt)? else { return Ok(()) };
                out.try_reserve(first::BLOCK).map_err(|_| corrupt)?;
                self.context(corrupt)?.decompress(out, &block).map_err(|_| corrupt)?;
                out.truncate(length);
            }
            Compression::Zlib => {
                up_to(flate2::bufread::ZlibDecoder::new(stored), length, is_whole, out).ok_or(corrupt)?
            }
            Compression::Lz4Frame => {
                up_to(lz4_flex::frame::FrameDecoder::new(stored), length, is_whole, out).ok_or(corrupt)?;
            }
        }
        Ok(())
    }

    /// Opens the payload of `entry` for reading from its start.
    ///
    /// # Errors
    /// As [`Decoder::decode`], as far as it shows before the first byte.
    pub fn open<'data>(&'data mut self, entry: &Entry<'data>) -> Result<Payload<'data>, Error> {
        if entry.header().flags.contains(Flags::SCRAMBLED) {
            return Err(Error::new(ErrorKind::Scrambled, 0x28));
        }
        let payload = entry.payload()?;
        Ok(match entry.header().compression() {
            Compression::None => Payload::Whole(payload),
            Compression::Zlib => Payload::Stream(Box::new(flate2::bufread::ZlibDecoder::new(payload))),
            Compression::Lz4 => Payload::Block,
            Compression::Lz4Frame => Payload::Stream(Box::new(lz4_flex::frame::FrameDecoder::new(payload))),
            Compression::Zstd => {
                self.check_window(entry, payload)?;
                let decoder = zstd::stream::read::Decoder::with_context(payload, self.zstd(entry)?);
                Payload::Stream(Box::new(decoder.single_frame()))
            }
        })
    }

    /// Appends at most `most` unpacked bytes to `out` (a raw LZ4 block: all of it).
    fn start(&mut self, entry: &Entry<'_>, most: u64, out: &mut Vec<u8>) -> Result<(), Error> {
        match self.open(entry)? {
            Payload::Whole(payload) => {
                let end = usize::try_from(most).unwrap_or(usize::MAX).min(payload.len());
                out.extend_from_slice(payload.get(..end).unwrap_or(payload));
            }
            Payload::Stream(stream) => drop(stream.take(most).read_to_end(out).map_err(|_| corrupt(entry))?),
            Payload::Block => {
                block(entry.payload()?, entry.header().uncompressed_size, out).ok_or_else(|| corrupt(entry))?;
            }
        }
        Ok(())
    }

    fn check_window(&self, entry: &Entry<'_>, payload: &[u8]) -> Result<(), Error> {
        match Frame::parse(payload) {
            Some(frame) if frame.window > self.window_limit => {
                Err(Error::new(ErrorKind::Limit, u64::from(entry.header().header_size)))
            }
            _ => Ok(()),
        }
    }

    fn zstd(&mut self, entry: &Entry<'_>) -> Result<&mut DCtx<'static>, Error> {
        self.context(corrupt(entry))
    }

    fn context(&mut self, error: Error) -> Result<&mut DCtx<'static>, Error> {
        if self.zstd.is_none() {
            let mut context = DCtx::try_create().ok_or(error)?;
            // a power of two and in the range that zstd has, so no less than what is checked before
            let log = self.window_limit.checked_next_power_of_two().map_or(u64::BITS, u64::trailing_zeros);
            let most = if usize::BITS == 64 { 31 } else { 30 };
            context.set_parameter(DParameter::WindowLogMax(log.clamp(10, most))).map_err(|_| error)?;
            self.zstd = Some(context);
        }
        self.zstd.as_mut().ok_or(error)
    }
}

/// Unpacks one payload; for many, a [`Decoder`] is faster.
///
/// # Errors
/// As [`Decoder::decode`].
pub fn decode(entry: &Entry<'_>, limit: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    Decoder::new().decode(entry, limit, out)
}

/// Unpacks the first bytes of one payload; for many, a [`Decoder`] is faster.
///
/// # Errors
/// As [`Decoder::decode_prefix`].
pub fn decode_prefix(entry: &Entry<'_>, length: u64, limit: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    Decoder::new().decode_prefix(entry, length, limit, out)
}

/// The payload of an entry, unpacked as it is read: for who needs the first part only.
pub enum Payload<'data> {
    /// At hand as a whole: not compressed.
    Whole(&'data [u8]),
    /// Unpacked on the way. Its end is the end of the compressed stream, whatever the entry states.
    Stream(Box<dyn Read + 'data>),
    /// A raw LZ4 block, which can only be unpacked as a whole: use [`Decoder::decode`].
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

fn corrupt(entry: &Entry<'_>) -> Error {
    Error::new(ErrorKind::Corrupt, u64::from(entry.header().header_size))
}

/// A zstd frame, its first in `payload`; stops when it has given more than `stated` bytes. Where `out` has room for the
/// whole frame, zstd writes into it without a copy of its own.
fn frame(context: &mut DCtx<'static>, payload: &[u8], stated: u64, out: &mut Vec<u8>) -> Option<()> {
    context.reset(ResetDirective::SessionOnly).ok()?;
    let stated = usize::try_from(stated).ok()?;
    let ahead = usize::try_from(ROOM).ok()?;
    let mut input = InBuffer::around(payload);
    out.try_reserve(stated.min(payload.len().saturating_mul(ahead))).ok()?;
    while out.len() <= stated {
        if out.len() == out.capacity() {
            let missing = stated.saturating_sub(out.len()).saturating_add(1);
            out.try_reserve(missing.min(out.len().saturating_add(ahead))).ok()?;
        }
        let before = (input.pos, out.len());
        let at = out.len();
        let hint = context.decompress_stream(&mut OutBuffer::around_pos(out, at), &mut input).ok()?;
        if hint == 0 {
            return Some(());
        }
        // without the end of the frame
        if (input.pos, out.len()) == before {
            return None;
        }
    }
    Some(())
}

/// At most `length` bytes of a stream; where it ends early because not all of it is there, what came.
fn up_to(stream: impl Read, length: usize, is_whole: bool, out: &mut Vec<u8>) -> Option<()> {
    let most = u64::try_from(length).unwrap_or(u64::MAX);
    match stream.take(most).read_to_end(out) {
        Err(_) if is_whole => None,
        _ => Some(()),
    }
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
