use core::fmt;

bitflags::bitflags! {
    /// The flag word of an entry: the `u64` at offset 0x28. Unknown bits are kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Flags: u64 {
        /// Compiled for 64-bit hosts; clear means 32-bit. Observed.
        const BITS_64 = 0x1;
        /// Debug code (`-G`, `-g`; not `-lineinfo`). Observed.
        const DEBUG = 0x2;
        /// Produced by CUDA; set up to CUDA 10. Observed.
        const PRODUCER_CUDA = 0x4;
        /// Produced by OpenCL. Observed through NVIDIA's nvFatbin library.
        const PRODUCER_OPENCL = 0x8;
        /// Host system Linux. Observed.
        const HOST_LINUX = 0x10;
        /// Host system macOS. Observed through nvFatbin.
        const HOST_MACOS = 0x20;
        /// Host system Windows. Observed.
        const HOST_WINDOWS = 0x40;
        /// zlib stream. Observed by patching: cuobjdump decodes it.
        const ZLIB = 0x1000;
        /// LZ4 block. Observed.
        const LZ4 = 0x2000;
        /// LZ4 frame. Observed by patching: cuobjdump decodes it.
        const LZ4_FRAME = 0x4000;
        /// zstd frame. Observed.
        const ZSTD = 0x8000;
        /// The payload is scrambled with the key at offset 0x30 (compressed LTO-IR). Observed.
        const SCRAMBLED = 0x1_0000;
        /// Architecture suffix `a`. Observed.
        const SUFFIX_A = 0x10_0000;
        /// Architecture suffix `f`. Observed.
        const SUFFIX_F = 0x20_0000;
        /// The options table holds a copy of the cubin's `.nv.compat`. Observed.
        const COMPAT = 0x100_0000;
        const _ = !0;
    }
}

impl Flags {
    /// The compression; where several bits are set the lowest counts, as cuobjdump does.
    #[must_use]
    pub const fn compression(self) -> Compression {
        if self.contains(Self::ZLIB) {
            Compression::Zlib
        } else if self.contains(Self::LZ4) {
            Compression::Lz4
        } else if self.contains(Self::LZ4_FRAME) {
            Compression::Lz4Frame
        } else if self.contains(Self::ZSTD) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// The architecture suffix, `'a'` or `'f'`; `a` where both bits are set, as cuobjdump does.
    #[must_use]
    pub const fn suffix(self) -> Option<char> {
        if self.contains(Self::SUFFIX_A) {
            Some('a')
        } else if self.contains(Self::SUFFIX_F) {
            Some('f')
        } else {
            None
        }
    }
}

/// How a payload is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compression {
    /// Stored as it is.
    None,
    /// A zlib stream (RFC 1950).
    Zlib,
    /// One raw LZ4 block.
    Lz4,
    /// An LZ4 frame.
    Lz4Frame,
    /// One zstd frame.
    Zstd,
}

impl Compression {
    /// The word used in reports: `none`, `zlib`, `lz4`, `lz4-frame`, `zstd`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zlib => "zlib",
            Self::Lz4 => "lz4",
            Self::Lz4Frame => "lz4-frame",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
