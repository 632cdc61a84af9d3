use object::elf::ELFMAG;
use object::{macho, pe};

/// Bytes from the start of a file that [`Format::sniff`] wants to see.
pub const SNIFF_SIZE: usize = 4096;

/// What the first bytes of a file say that it is. Names and extensions are not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// A host ELF: shared library, executable or object file.
    Elf,
    /// A PE image: `.dll`, `.pyd`, `.exe`.
    Pe,
    /// A COFF object file of the usual or the big kind.
    Coff,
    /// A thin Mach-O file.
    MachO,
    /// A universal (fat) Mach-O file.
    MachOUniversal,
    /// A static library: `.a`, `.lib`.
    Archive,
    /// A GNU thin archive, whose members lie elsewhere.
    ThinArchive,
    /// A zip archive; a wheel is one.
    Zip,
    /// A bare fatbin.
    Fatbin,
    /// A bare cubin.
    Cubin,
    /// PTX text.
    Ptx,
    /// Bare LTO-IR.
    LtoIr,
    /// Bare CUDA Tile IR.
    TileIr,
    /// An offload bundle of clang (HIP), compressed or not, or of LLVM.
    OffloadBundle,
}

impl Format {
    /// The format that `prefix`, the first [`SNIFF_SIZE`] bytes of a file or all of a shorter one, shows.
    #[must_use]
    pub fn sniff(prefix: &[u8]) -> Option<Self> {
        match prefix {
            [0x50, 0xed, 0x55, 0xba, ..] | [0x01, 0x5a, 0xe5, 0x1e, ..] => return Some(Self::Fatbin),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Some(Self::Zip),
            [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => return Some(Self::Archive),
            [b'!', b'<', b't', b'h', b'i', b'n', b'>', b'\n', ..] => return Some(Self::ThinArchive),
            [0xed, 0x43, 0x4e, 0x7f, ..] => return Some(Self::LtoIr),
            [0x7f, b'T', b'i', b'l', b'e', b'I', b'R', 0, ..] => return Some(Self::TileIr),
            [b'C', b'C', b'O', b'B', ..] | [0x10, 0xff, 0x10, 0xad, ..] => return Some(Self::OffloadBundle),
            _ => {}
        }
        if prefix.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
            return Some(Self::OffloadBundle);
        }
        if prefix.starts_with(&ELFMAG) {
            return Some(if is_cubin(prefix) { Self::Cubin } else { Self::Elf });
        }
        Self::sniff_macho(prefix)
            .or_else(|| is_pe(prefix).then_some(Self::Pe))
            .or_else(|| is_coff(prefix).then_some(Self::Coff))
            .or_else(|| is_ptx(prefix).then_some(Self::Ptx))
    }

    fn sniff_macho(prefix: &[u8]) -> Option<Self> {
        let magic = u32::from_be_bytes(*prefix.first_chunk()?);
        match magic {
            macho::MH_MAGIC | macho::MH_CIGAM | macho::MH_MAGIC_64 | macho::MH_CIGAM_64 => Some(Self::MachO),
            // Java class files share the first of these; their next word is a version number of at least 45
            macho::FAT_MAGIC | macho::FAT_MAGIC_64 => {
                let count = u32::from_be_bytes(*prefix.get(4..)?.first_chunk()?);
                (1..40).contains(&count).then_some(Self::MachOUniversal)
            }
            _ => None,
        }
    }

    /// The word for this format in reports: `elf`, `pe`, `coff`, `macho`, `archive`, `fatbin`, `cubin`, `ptx`,
    /// `lto-ir`, `tile-ir`, `offload-bundle`, `zip`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::Pe => "pe",
            Self::Coff => "coff",
            Self::MachO | Self::MachOUniversal => "macho",
            Self::Archive | Self::ThinArchive => "archive",
            Self::Zip => "zip",
            Self::Fatbin => "fatbin",
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
            Self::LtoIr => "lto-ir",
            Self::TileIr => "tile-ir",
            Self::OffloadBundle => "offload-bundle",
        }
    }

    /// Whether files of this format hold program code of a host, as libraries, objects and their archives do.
    #[must_use]
    pub const fn is_native(self) -> bool {
        matches!(
            self,
            Self::Elf | Self::Pe | Self::Coff | Self::MachO | Self::MachOUniversal | Self::Archive | Self::ThinArchive
        )
    }
}

/// An ELF with the OS/ABI byte and the machine number of CUDA.
fn is_cubin(prefix: &[u8]) -> bool {
    matches!(prefix.get(7), Some(0x33 | 0x41)) && prefix.get(18..20) == Some(&[190, 0])
}

fn u16_at(data: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(offset..)?.first_chunk()?))
}

fn u32_at(data: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*data.get(offset..)?.first_chunk()?))
}

/// `MZ` alone also starts DOS programs and texts: the PE signature must be where the header says, unless that lies
/// behind the prefix or the file is cut.
fn is_pe(prefix: &[u8]) -> bool {
    if !prefix.starts_with(b"MZ") {
        return false;
    }
    let Some(offset) = u32_at(prefix, 0x3c).and_then(|offset| usize::try_from(offset).ok()) else { return false };
    match prefix.get(offset..) {
        Some(at) if at.len() >= 4 => at.starts_with(b"PE\0\0"),
        _ => (0x40..0x1_0000).contains(&offset),
    }
}

/// COFF has no magic: the machine must be a known one and the header possible.
fn is_coff(prefix: &[u8]) -> bool {
    let header = || {
        let machine = u16_at(prefix, 0)?;
        let sections = u16_at(prefix, 2)?;
        let symbols = u32_at(prefix, 8)?;
        let optional = u16_at(prefix, 16)?;
        // objects have no optional header, at least one section, and their symbols lie behind the section table
        let table = u32::from(sections).checked_mul(40)?.checked_add(20)?;
        let placed = symbols == 0 || symbols >= table;
        Some(is_coff_machine(machine) && sections > 0 && sections < 0xff00 && optional == 0 && placed)
    };
    let big = || {
        let class_id = prefix.get(12..28)?;
        Some(
            u32_at(prefix, 0)? == 0xffff_0000
                && u16_at(prefix, 4)? >= 2
                && is_coff_machine(u16_at(prefix, 6)?)
                && class_id == pe::ANON_OBJECT_HEADER_BIGOBJ_CLASS_ID.0.as_slice(),
        )
    };
    header() == Some(true) || big() == Some(true)
}

fn is_coff_machine(machine: u16) -> bool {
    [pe::IMAGE_FILE_MACHINE_AMD64, pe::IMAGE_FILE_MACHINE_I386, pe::IMAGE_FILE_MACHINE_ARM64]
        .iter()
        .any(|known| known.0 == machine)
}

/// Text whose first token behind blanks and comments is `.version`.
fn is_ptx(prefix: &[u8]) -> bool {
    let mut rest = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    loop {
        rest = rest.trim_ascii_start();
        let end = match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n'),
            [b'/', b'*', ..] => rest.windows(2).position(|pair| pair == b"*/").and_then(|at| at.checked_add(2)),
            _ => return rest.starts_with(b".version"),
        };
        match end.and_then(|end| rest.get(end..)) {
            Some(next) => rest = next,
            None => return false,
        }
    }
}
