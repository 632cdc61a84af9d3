use core::fmt;

/// What is wrong with a fatbin, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Byte offset of the damaged record, relative to the start of the bytes that the reader was given.
    pub offset: u64,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    /// The same error with its offset moved by `base` bytes: the caller knows where the slice lay.
    #[must_use]
    pub const fn at(self, base: u64) -> Self {
        Self { kind: self.kind, offset: self.offset.saturating_add(base) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}", self.kind, self.offset)
    }
}

impl core::error::Error for Error {}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes do not begin with the fatbin magic.
    Magic,
    /// The old, pointer-based container of CUDA before 4.0.
    OldFatbin,
    /// A fatbin version other than 1, or a fatbin header size other than 16.
    FatbinHeader,
    /// The bytes end inside a fatbin header.
    FatbinHeaderCut,
    /// The fatbin states more bytes than there are.
    FatbinSize,
    /// The bytes, or the stated size of the fatbin, end inside an entry header.
    EntryHeaderCut,
    /// An entry header of unknown kind and unknown version: the chain is lost.
    NotAnEntry,
    /// The entry's header size is below 64 or runs past the fatbin.
    HeaderSize,
    /// The entry's payload runs past the fatbin.
    PayloadSize,
    /// The bytes end inside the entry's payload.
    PayloadCut,
    /// The compressed size exceeds the payload.
    CompressedSize,
    /// The identifier runs past the entry header.
    Identifier,
    /// The options table or text runs past the entry header.
    Options,
    /// The table of a concatenated entry is inconsistent with its own size.
    ConcatTable,
    /// A member of a concatenated entry lies outside the unpacked payload.
    ConcatMember,
    /// The unpacked size that the entry states, or the window that its zstd frame asks for, is above the caller's limit.
    Limit,
    /// The payload does not decompress.
    Corrupt,
    /// The payload unpacks to another size than the entry states.
    UnpackedSize,
    /// The payload is scrambled LTO-IR, whose coding is not public.
    Scrambled,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "no fatbin magic",
            Self::OldFatbin => "unsupported old fatbin (before CUDA 4.0)",
            Self::FatbinHeader => "unknown fatbin version or header size",
            Self::FatbinHeaderCut => "data ends inside a fatbin header",
            Self::FatbinSize => "fatbin states more bytes than there are",
            Self::EntryHeaderCut => "data ends inside an entry header",
            Self::NotAnEntry => "no entry where the fatbin states one",
            Self::HeaderSize => "entry header size out of range",
            Self::PayloadSize => "payload runs past the end of its fatbin",
            Self::PayloadCut => "data ends inside a payload",
            Self::CompressedSize => "compressed size exceeds the payload",
            Self::Identifier => "identifier runs past the entry header",
            Self::Options => "options run past the entry header",
            Self::ConcatTable => "table of a concatenated entry is inconsistent",
            Self::ConcatMember => "member of a concatenated entry lies outside the payload",
            Self::Limit => "unpacked size or window is above the limit",
            Self::Corrupt => "payload does not decompress",
            Self::UnpackedSize => "payload unpacks to another size than stated",
            Self::Scrambled => "payload is scrambled LTO-IR",
        })
    }
}
