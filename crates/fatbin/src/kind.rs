use core::fmt;

/// What an entry holds: the `u16` at offset 0 of its header.
///
/// | value | name in cuobjdump | payload | evidence |
/// |---|---|---|---|
/// | 0x01 | ptx | PTX text | observed |
/// | 0x02 | elf | cubin, an ELF of `EM_CUDA` | observed |
/// | 0x04 | cubin | text cubin before Fermi | observed by patching |
/// | 0x08 | nvvm | LTO-IR | observed |
/// | 0x10 | `<unknown kind>` | listed as an ELF | observed by patching |
/// | 0x20 | index | unknown | observed by patching |
/// | 0x40 | relocatable ptx | PTX meant for a later link | observed |
/// | 0x80 | tile ir | Tile IR bytecode | observed |
/// | 0x100 | concatenated entry | several members in one compressed payload | observed |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// A cubin: SASS in an ELF.
    Elf,
    /// A text cubin from before Fermi.
    OldCubin,
    /// LTO-IR, called NVVM by cuobjdump.
    LtoIr,
    /// 0x10, which cuobjdump treats like an ELF; never seen in a file.
    AlternateElf,
    /// An index; its layout is unknown.
    Index,
    /// PTX meant for a later link, not for the driver.
    RelocatablePtx,
    /// CUDA Tile IR bytecode.
    TileIr,
    /// Several members in one compressed payload, see [`crate::ConcatMember`].
    Concat,
    /// Any other value.
    Unknown(u16),
}

impl Kind {
    /// The kind for the raw value of an entry header.
    #[must_use]
    pub const fn from_raw(raw: u16) -> Self {
        match raw {
            0x01 => Self::Ptx,
            0x02 => Self::Elf,
            0x04 => Self::OldCubin,
            0x08 => Self::LtoIr,
            0x10 => Self::AlternateElf,
            0x20 => Self::Index,
            0x40 => Self::RelocatablePtx,
            0x80 => Self::TileIr,
            0x100 => Self::Concat,
            other => Self::Unknown(other),
        }
    }

    /// The raw value of the entry header.
    #[must_use]
    pub const fn raw(self) -> u16 {
        match self {
            Self::Ptx => 0x01,
            Self::Elf => 0x02,
            Self::OldCubin => 0x04,
            Self::LtoIr => 0x08,
            Self::AlternateElf => 0x10,
            Self::Index => 0x20,
            Self::RelocatablePtx => 0x40,
            Self::TileIr => 0x80,
            Self::Concat => 0x100,
            Self::Unknown(raw) => raw,
        }
    }

    /// Whether the value is one of the table above.
    #[must_use]
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::Unknown(_))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ptx => f.write_str("ptx"),
            Self::Elf => f.write_str("elf"),
            Self::OldCubin => f.write_str("old cubin"),
            Self::LtoIr => f.write_str("lto-ir"),
            Self::AlternateElf => f.write_str("kind 0x10"),
            Self::Index => f.write_str("index"),
            Self::RelocatablePtx => f.write_str("relocatable ptx"),
            Self::TileIr => f.write_str("tile ir"),
            Self::Concat => f.write_str("concatenated entry"),
            Self::Unknown(raw) => write!(f, "kind {raw:#x}"),
        }
    }
}
