//! What the decoders hold while they unpack, read from the headers before a byte is unpacked.

use crate::decode::WINDOW_LIMIT;
use crate::entry::EntryHeader;
use crate::flags::Compression;

/// A zstd context without its buffers: 94 KiB with zstd 1.5.7.
const ZSTD_CONTEXT: u64 = 128 << 10;
/// A zlib decoder: its window of 32 KiB and its tables.
const ZLIB: u64 = 64 << 10;
/// The largest block of a zstd frame.
const ZSTD_BLOCK: u64 = 128 << 10;
/// What an LZ4 block may point back to.
const LZ4_WINDOW: u64 = 64 << 10;
/// Room that is made at once for what a packed byte unpacks to; payloads of real files reach some 25.
pub(crate) const ROOM: u64 = 64;

/// An upper bound of the bytes that [`Decoder::open`](crate::Decoder::open) and
/// [`Decoder::decode_prefix`](crate::Decoder::decode_prefix) take for an entry, besides what they give, from its header and
/// the first bytes of its payload, of which 18 are enough.
///
/// | coding | bytes |
/// |---|---|
/// | none, LZ4 block | 0 |
/// | zlib | 64 KiB |
/// | LZ4 frame | 3 blocks and 64 KiB: blocks of 64 KiB to 4 MiB (8 MiB in the old format), as the frame states |
/// | zstd | 128 KiB, and the window that the frame states (the content, if that is less) with three blocks of 128 KiB; a window above [`WINDOW_LIMIT`] is refused before it is made |
///
/// A [`Decoder`](crate::Decoder) keeps what zstd took, for the next payload; the other decoders are dropped.
#[must_use]
pub fn memory_to_stream(header: &EntryHeader, start: &[u8]) -> u64 {
    match header.compression() {
        Compression::None | Compression::Lz4 => 0,
        Compression::Zlib => ZLIB,
        Compression::Lz4Frame => lz4_frame(start),
        Compression::Zstd => {
            let frame = Frame::parse(start).filter(|frame| frame.window <= WINDOW_LIMIT);
            ZSTD_CONTEXT.saturating_add(frame.map_or(0, Frame::buffers))
        }
    }
}

/// An upper bound of the bytes that [`Decoder::decode`](crate::Decoder::decode) takes for an entry, besides its output: as
/// [`memory_to_stream`], but for a zstd frame that is unpacked right into the output, which takes no window. That is one
/// that states its size, and no more than the entry does and than 64 times the packed bytes. Such are the frames that
/// NVIDIA's tools write.
///
/// The output is not counted. It takes at most twice the bytes that arrive, however many are stated; that of a zstd frame
/// at once what is stated, where that is no more than 64 times the packed bytes.
#[must_use]
pub fn memory_to_decode(header: &EntryHeader, start: &[u8]) -> u64 {
    let is_zstd = header.compression() == Compression::Zstd;
    let is_direct = |frame: Frame| frame.is_direct(header.stored_size(), header.unpacked_size());
    if is_zstd && Frame::parse(start).is_some_and(is_direct) {
        return ZSTD_CONTEXT;
    }
    memory_to_stream(header, start)
}

/// What the header of a zstd frame asks of its decoder (RFC 8878, 3.1.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Bytes of the window.
    pub(crate) window: u64,
    /// Bytes that it unpacks to, where it states them.
    content: Option<u64>,
}

impl Frame {
    /// The longest header.
    pub(crate) const MOST: usize = 18;

    /// What follows the header of the zstd frame that `payload` starts with: its first block. `Some(None)` where not even
    /// the header is whole, `None` where there is no frame.
    pub(crate) fn block(payload: &[u8]) -> Option<Option<&[u8]>> {
        let descriptor = payload.strip_prefix(&0xfd2f_b528_u32.to_le_bytes())?.first()?;
        let is_single = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied()?;
        let content = match descriptor >> 6 {
            0 => usize::from(is_single),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let window = usize::from(!is_single);
        let length = [5, window, dictionary, content].into_iter().fold(0, usize::saturating_add);
        Some(payload.get(length..))
    }

    /// `None` for anything else than the start of a zstd frame.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let (descriptor, mut rest) = payload.strip_prefix(&0xfd2f_b528_u32.to_le_bytes())?.split_first()?;
        let is_single = descriptor & 0x20 != 0;
        let mut window = 0;
        if !is_single {
            let (byte, behind) = rest.split_first()?;
            rest = behind;
            let base = 1_u64.checked_shl(u32::from(byte >> 3).checked_add(10)?)?;
            window = (base >> 3).checked_mul(u64::from(byte & 7))?.checked_add(base)?;
        }
        let dictionary = match descriptor & 3 {
            0 => 0,
            1 => 1,
            2 => 2,
            _ => 4,
        };
        rest = rest.get(dictionary..)?;
        let content = match descriptor >> 6 {
            0 if is_single => Some(u64::from(*rest.first()?)),
            0 => None,
            1 => Some(u64::from(u16::from_le_bytes(*rest.first_chunk()?)).checked_add(256)?),
            2 => Some(u64::from(u32::from_le_bytes(*rest.first_chunk()?))),
            _ => Some(u64::from_le_bytes(*rest.first_chunk()?)),
        };
        Some(Self { window: if is_single { content? } else { window }, content })
    }

    /// Bytes of the two buffers that zstd allocates to stream it: a block of input, and a window with two blocks or, if
    /// that is less, all of the content.
    fn buffers(self) -> u64 {
        let window = self.window.max(1024).saturating_add(2 * ZSTD_BLOCK + 64);
        window.min(self.content.unwrap_or(u64::MAX)).saturating_add(ZSTD_BLOCK)
    }

    /// Whether zstd unpacks `stored` packed bytes, if they are a whole frame, right into an output that has room for what
    /// the entry states.
    pub(crate) fn is_direct(self, stored: u64, stated: u64) -> bool {
        self.content.is_some_and(|content| content <= stored.saturating_mul(ROOM).min(stated))
    }
}

/// A block of input and, where blocks depend on each other, two of output with what they may point back to.
fn lz4_frame(payload: &[u8]) -> u64 {
    let block: u64 = match payload.get(5).map(|byte| (byte >> 4) & 7) {
        Some(4) => 64 << 10,
        Some(5) => 256 << 10,
        Some(6) => 1 << 20,
        _ => 4 << 20,
    };
    // the old format has blocks of 8 MiB and does not say so
    let block = if payload.starts_with(&0x184d_2204_u32.to_le_bytes()) { block } else { 8 << 20 };
    block.saturating_mul(3).saturating_add(LZ4_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::Frame;

    #[test]
    fn frame_headers_are_those_of_the_rfc() {
        let parse = |bytes: &[u8]| Frame::parse(&[&[0x28, 0xb5, 0x2f, 0xfd], bytes].concat());
        let frame = |window, content| Some(Frame { window, content });
        // single segment, size in one byte; the same without its byte
        assert_eq!(parse(&[0x20, 7]), frame(7, Some(7)));
        assert_eq!(parse(&[0x20]), None);
        // exponent 0, mantissa 0: 1 KiB; exponent 17: 128 MiB; exponent 31, mantissa 7: 3.75 TiB
        assert_eq!(parse(&[0x00, 0x00]), frame(1 << 10, None));
        assert_eq!(parse(&[0x00, 17 << 3]), frame(128 << 20, None));
        assert_eq!(parse(&[0x00, 0xff]), frame((1 << 41) + 7 * (1 << 38), None));
        // sizes of 2, 4 and 8 bytes behind dictionary numbers of 0, 1, 2 and 4
        assert_eq!(parse(&[0x40, 8, 1, 0]), frame(2 << 10, Some(257)));
        assert_eq!(parse(&[0x81, 1, 0xdd, 5, 0, 0, 0]), frame((1 << 10) + 128, Some(5)));
        assert_eq!(parse(&[0xe2, 0xdd, 0xdd, 5, 0, 0, 0, 0, 0, 0, 1]), frame((1 << 56) + 5, Some((1 << 56) + 5)));
        assert_eq!(parse(&[0x63, 0xdd, 0xdd, 0xdd, 0xdd, 0, 1]), frame(512, Some(512)));
        // a skippable frame
        assert_eq!(Frame::parse(&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]), None);
    }
}
