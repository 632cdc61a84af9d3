//! Streams over streams.

mod bzip2;
mod decoded;
mod inflate;
mod xz;
mod zstd;

pub use decoded::{Decoded, Expected};
pub use inflate::{Deflate, Inflater};

use crate::budget::Windows;
use crate::stream::ByteStream;

/// How a file is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Codec {
    /// Deflate with a header and a checksum, RFC 1952.
    Gzip,
    /// bzip2.
    Bzip2,
    /// LZMA2 in the container of xz.
    Xz,
    /// Zstandard, RFC 8878.
    Zstd,
}

impl Codec {
    /// The codec that the first bytes of a file show.
    #[must_use]
    pub fn sniff(prefix: &[u8]) -> Option<Self> {
        match prefix {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // a block, or the end of an empty stream
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // a skippable frame comes before one that is not
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The name of what a compressed file of this name holds: `lib.so` in `lib.so.gz`, `x.tar` in `x.tgz`.
    #[must_use]
    pub fn inner_name(name: &[u8]) -> &[u8] {
        let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { return name };
        let (stem, ending) = name.split_at_checked(dot).unwrap_or((name, b""));
        let known: [&[u8]; 6] = [b".gz", b".bz2", b".xz", b".zst", b".zstd", b".z"];
        if known.iter().any(|known| ending.eq_ignore_ascii_case(known)) && !stem.is_empty() { stem } else { name }
    }

    /// What `input` holds from its position on, unpacked. Memory for windows is asked of `windows` when they are known; what
    /// is refused is a fault.
    pub fn unpack<'a, S: ByteStream + 'a>(
        self,
        input: S,
        expected: Expected,
        windows: &'a Windows,
    ) -> Box<dyn ByteStream + 'a> {
        match self {
            Self::Gzip => Box::new(Decoded::over(input, inflate::Gzip::new(), expected)),
            Self::Bzip2 => Box::new(Decoded::over(input, bzip2::Bzip2::new(windows.lease()), expected)),
            Self::Xz => Box::new(Decoded::over(input, xz::Xz::new(windows.lease()), expected)),
            Self::Zstd => Box::new(Decoded::over(input, zstd::Zstd::new(windows.lease()), expected)),
        }
    }
}
