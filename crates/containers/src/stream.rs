/// Why a stream ends before its stated end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The deflate stream is damaged.
    Deflate,
    /// The deflate stream ends too early.
    Cut,
    /// More bytes come out than the archive states; the rest is not read.
    TooLong,
    /// Fewer bytes come out than the archive states.
    TooShort,
    /// The bytes do not have the checksum that the archive states.
    Checksum,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Deflate => "deflate stream is damaged",
            Self::Cut => "deflate stream ends too early",
            Self::TooLong => "member unpacks to more bytes than the archive states",
            Self::TooShort => "member unpacks to fewer bytes than the archive states",
            Self::Checksum => "member does not have the checksum that the archive states",
        })
    }
}

/// Bytes that are read forward, once.
///
/// The reader looks at [`ByteStream::window`], asks for more with [`ByteStream::fill`] and steps on with
/// [`ByteStream::skip`]. Going back is possible and costs what it costs: nothing for a slice, the whole way from the
/// start for an inflater.
pub trait ByteStream {
    /// The bytes at hand from the current position on.
    fn window(&self) -> &[u8];

    /// Makes at least `least` bytes available, or all that are left. Returns whether there are that many. A large
    /// `least` is memory: the caller bounds it.
    fn fill(&mut self, least: usize) -> bool;

    /// Steps over up to `count` bytes and returns how many there were.
    fn skip(&mut self, count: u64) -> u64;

    /// Bytes from the start of the stream.
    fn position(&self) -> u64;

    /// Some bytes just before the current position, as far as they are still at hand (a few KiB).
    fn behind(&self) -> &[u8];

    /// Goes back to `position`, which must not be ahead. Ends at the end of the stream if that is nearer.
    fn rewind(&mut self, position: u64);

    /// The whole stream as one slice, where it is one.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }

    /// Asks to keep a copy of the bytes from `start` on, `length` of them, when they pass. No effect for a slice.
    fn watch(&mut self, start: u64, length: usize);

    /// The copies made so far: offset and bytes, the latter shorter where the range has not passed wholly.
    fn watched(&self) -> Vec<(u64, &[u8])>;

    /// Why the stream ended early, if it did. To be asked at the end.
    fn fault(&self) -> Option<Fault>;
}

/// How many bytes [`ByteStream::behind`] keeps.
pub(crate) const HISTORY: usize = 4096;

/// A stream over bytes in memory: a mapped file or a stored member.
#[derive(Clone, Copy, Debug)]
pub struct SliceStream<'data> {
    data: &'data [u8],
    position: usize,
}

impl<'data> SliceStream<'data> {
    /// A stream at the start of `data`.
    #[must_use]
    pub const fn new(data: &'data [u8]) -> Self {
        Self { data, position: 0 }
    }
}

impl ByteStream for SliceStream<'_> {
    fn window(&self) -> &[u8] {
        self.data.get(self.position..).unwrap_or_default()
    }

    fn fill(&mut self, least: usize) -> bool {
        self.window().len() >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let left = self.window().len();
        let step = usize::try_from(count).unwrap_or(usize::MAX).min(left);
        self.position = self.position.saturating_add(step);
        u64::try_from(step).unwrap_or(u64::MAX)
    }

    fn position(&self) -> u64 {
        u64::try_from(self.position).unwrap_or(u64::MAX)
    }

    fn behind(&self) -> &[u8] {
        self.data.get(self.position.saturating_sub(HISTORY)..self.position).unwrap_or_default()
    }

    fn rewind(&mut self, position: u64) {
        self.position = usize::try_from(position).unwrap_or(usize::MAX).min(self.data.len());
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self.data)
    }

    fn watch(&mut self, _start: u64, _length: usize) {}

    fn watched(&self) -> Vec<(u64, &[u8])> {
        Vec::new()
    }

    fn fault(&self) -> Option<Fault> {
        None
    }
}
