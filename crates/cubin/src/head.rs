use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, pod};

use crate::{Error, ErrorKind};

/// ELF machine number of CUDA device code.
pub const EM_CUDA: u16 = 190;
/// Bytes that [`Head::parse`] needs: an ELF64 file header.
pub const HEAD_SIZE: usize = 64;

/// The two layouts of the ELF header of a cubin.
///
/// | | version 7 | version 8 |
/// |---|---|---|
/// | `EI_OSABI` / `EI_ABIVERSION` | 0x33 / 7 | 0x41 / 8 |
/// | made by | up to CUDA 12.9 for sm_50 to sm_90a | 12.8 and 12.9 for sm_100 up; 13.x for all |
/// | `e_version` | toolkit, 124 is 12.4 | 1 |
/// | architecture number | `e_flags` bits 0 to 7 | `e_flags` bits 8 to 23 |
///
/// Observed in cubins of CUDA 8.0 to 13.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Abi {
    /// Version 7 and before.
    V7,
    /// Version 8.
    V8,
}

/// Whether a cubin is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileType {
    /// `ET_EXEC`: the driver can load it.
    Executable,
    /// `ET_REL`: it still needs a device link.
    Relocatable,
    /// Any other `e_type`.
    Other(u16),
}

/// What the first 64 bytes of a cubin tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Layout of the flags.
    pub abi: Abi,
    /// Linked or not.
    pub file_type: FileType,
    /// Architecture number, for example 90; its suffix is not known from here alone.
    pub number: u32,
    /// The raw `e_flags`.
    pub flags: u32,
    /// The raw `e_version`: the toolkit in version 7.
    pub version: u32,
    /// Bytes from the start to the end of the last table: program headers stand last in a cubin.
    pub extent: u64,
}

impl Head {
    /// Whether `data` starts like a cubin: ELF magic, little-endian, the OS/ABI byte and machine number of CUDA.
    #[must_use]
    pub fn matches(data: &[u8]) -> bool {
        matches!(data, [0x7f, b'E', b'L', b'F', 1 | 2, 1, 1, 0x33 | 0x41, ..])
            && data.get(18..20) == Some(EM_CUDA.to_le_bytes().as_slice())
    }

    /// Reads the file header.
    ///
    /// # Errors
    /// [`ErrorKind::NotCubin`] if it is cut or not one of a cubin.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let error = Error { kind: ErrorKind::NotCubin, offset: 0 };
        if !Self::matches(data) {
            return Err(error);
        }
        if data.get(4) == Some(&2) {
            let (header, _) = pod::from_bytes::<FileHeader64<LittleEndian>>(data).map_err(|()| error)?;
            Ok(Self::of(header))
        } else {
            let (header, _) = pod::from_bytes::<FileHeader32<LittleEndian>>(data).map_err(|()| error)?;
            Ok(Self::of(header))
        }
    }

    /// Whether the flags of version 7 say that the code is for exactly its architecture (`a`). Version 8 says so in
    /// `.nv.compat` only.
    #[must_use]
    pub const fn is_accelerated(&self) -> bool {
        matches!(self.abi, Abi::V7) && self.flags & 0x800 != 0
    }

    /// Bytes of the cubin that `data` starts with. As [`Head::extent`], but where the section table comes first, as in the
    /// relocatable cubins of some of NVIDIA's own libraries, to the end of the last section of that table, which must be
    /// within `data`.
    ///
    /// Observed in `libcupti` and `libcheckpoint` of CUDA 12.8: their sections have no readable names.
    #[must_use]
    pub fn extent_in(&self, data: &[u8]) -> u64 {
        let end = if data.get(4) == Some(&2) {
            last_section::<FileHeader64<LittleEndian>>(data)
        } else {
            last_section::<FileHeader32<LittleEndian>>(data)
        };
        end.unwrap_or(0).max(self.extent)
    }

    fn of<Elf: FileHeader<Endian = LittleEndian>>(header: &Elf) -> Self {
        let endian = LittleEndian;
        let abi = if header.e_ident().os_abi.0 == 0x41 { Abi::V8 } else { Abi::V7 };
        let flags = header.e_flags(endian).0;
        let table = |offset: Elf::Word, count: u16, size: u16| {
            let offset: u64 = offset.into();
            if count == 0 { 0 } else { offset.saturating_add(u64::from(count).saturating_mul(u64::from(size))) }
        };
        let sections = table(header.e_shoff(endian), header.e_shnum(endian), header.e_shentsize(endian));
        let segments = table(header.e_phoff(endian), header.e_phnum(endian), header.e_phentsize(endian));
        Self {
            abi,
            file_type: match header.e_type(endian) {
                object::elf::ET_EXEC => FileType::Executable,
                object::elf::ET_REL => FileType::Relocatable,
                other => FileType::Other(other.0),
            },
            number: match abi {
                Abi::V7 => flags & 0xff,
                Abi::V8 => (flags >> 8) & 0xffff,
            },
            flags,
            version: header.e_version(endian),
            extent: sections.max(segments).max(u64::from(header.e_ehsize(endian))),
        }
    }
}

/// Type of `.nv.shared.*` in relocatable code.
const SHT_CUDA_SHARED: u32 = 0x7000_000a;

/// Where the last section ends, of a section table that follows the file header.
fn last_section<Elf: FileHeader<Endian = LittleEndian>>(data: &[u8]) -> Option<u64> {
    let endian = LittleEndian;
    let header = Elf::parse(data).ok()?;
    if header.e_shoff(endian).into() != u64::from(header.e_ehsize(endian)) {
        return None;
    }
    let table = header.section_headers(endian, data).ok()?;
    // shared memory has no bytes in the file, although its type in relocatable code is not NOBITS
    let ends = table.iter().filter(|section| section.sh_type(endian).0 != SHT_CUDA_SHARED).filter_map(|section| {
        let (start, size) = section.file_range(endian)?;
        start.checked_add(size)
    });
    ends.max()
}
