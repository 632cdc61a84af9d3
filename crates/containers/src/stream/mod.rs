//! Bytes that are read forward.

mod bounded;
mod checked;
mod onward;
mod read;
mod reader;
mod slice;
mod tap;

pub use bounded::Bounded;
pub use checked::Checked;
pub use onward::Onward;
pub use read::ReadStream;
pub use reader::ReaderStream;
pub use slice::SliceStream;
pub use tap::Tap;

/// Why a stream ends before its stated end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The deflate stream is damaged.
    Deflate,
    /// What is compressed otherwise is damaged, or has another checksum or size than it states itself.
    Packed,
    /// What is compressed ends too early.
    Cut,
    /// More bytes come out than the archive states; the rest is not read.
    TooLong,
    /// Fewer bytes come out than the archive states.
    TooShort,
    /// The bytes do not have the checksum that the archive states.
    Checksum,
    /// The limit of what may be unpacked is reached; the rest is not read.
    Ratio,
    /// Unpacking it takes more memory than a run may hold.
    Window,
    /// The system gives no more bytes of the file.
    Io,
    /// All was unpacked, and something else stands behind its end.
    Behind,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Deflate => "deflate stream is damaged",
            Self::Packed => "the compressed bytes are damaged",
            Self::Cut => "the compressed bytes end too early",
            Self::TooLong => "member unpacks to more bytes than the archive states",
            Self::TooShort => "member unpacks to fewer bytes than the archive states",
            Self::Checksum => "member does not have the checksum that the archive states",
            Self::Ratio => "it unpacks to more bytes than the limit",
            Self::Window => "unpacking it takes more memory than the limit",
            Self::Io => "the system gives no more of the file",
            Self::Behind => "something else stands behind the end of the compressed bytes",
        })
    }
}

/// Bytes that are read forward, once.
///
/// The reader looks at [`ByteStream::window`], asks for more with [`ByteStream::fill`] and steps on with
/// [`ByteStream::skip`]. Going back is possible and costs what it costs: nothing for a slice, the whole way from the
/// start for a codec, that of its parent too for one that is nested.
pub trait ByteStream {
    /// The bytes at hand from the current position on.
    fn window(&self) -> &[u8];

    /// Makes at least `least` bytes available, or all that are left. Returns whether there are that many. A large
    /// `least` is memory: the caller has it granted by [`crate::Memory`] and calls [`ByteStream::trim`] when it is done.
    fn fill(&mut self, least: usize) -> bool;

    /// Steps over up to `count` bytes and returns how many there were.
    fn skip(&mut self, count: u64) -> u64;

    /// Bytes from the start of the stream.
    fn position(&self) -> u64;

    /// Some bytes just before the current position, as far as they are still at hand (a few KiB).
    fn behind(&self) -> &[u8];

    /// Goes back to `position`, which must not be ahead, or to the end of the stream if that is nearer. `false`: it cannot
    /// go back, and stays where it is.
    fn rewind(&mut self, position: u64) -> bool;

    /// The whole stream as one slice, where it is one.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }

    /// Whether going back further than a little means to unpack it again from its start.
    fn is_packed(&self) -> bool {
        false
    }

    /// Gives back the memory that a large [`ByteStream::fill`] took.
    fn trim(&mut self) {}

    /// Why the stream ended early, if it did. To be asked at the end.
    fn fault(&self) -> Option<Fault>;
}

macro_rules! forward {
    ($($kind:ty),*) => {$(
        impl<S: ByteStream + ?Sized> ByteStream for $kind {
            fn window(&self) -> &[u8] {
                (**self).window()
            }

            fn fill(&mut self, least: usize) -> bool {
                (**self).fill(least)
            }

            fn skip(&mut self, count: u64) -> u64 {
                (**self).skip(count)
            }

            fn position(&self) -> u64 {
                (**self).position()
            }

            fn behind(&self) -> &[u8] {
                (**self).behind()
            }

            fn rewind(&mut self, position: u64) -> bool {
                (**self).rewind(position)
            }

            fn as_slice(&self) -> Option<&[u8]> {
                (**self).as_slice()
            }

            fn is_packed(&self) -> bool {
                (**self).is_packed()
            }

            fn trim(&mut self) {
                (**self).trim();
            }

            fn fault(&self) -> Option<Fault> {
                (**self).fault()
            }
        }
    )*};
}

forward!(&mut S, Box<S>);

/// How many bytes [`ByteStream::behind`] keeps.
pub(crate) const HISTORY: usize = 4096;
