use gpu_arch::{Arch, Suffix};
use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable};

use crate::attributes::accelerator_target;
use crate::head::{Abi, FileType, Head};
use crate::symbols;
use crate::toolkit;
use crate::{Error, ErrorKind};

/// Whether a cubin is family code (suffix `f`), which its ELF encodes nowhere but in the command line that ptxas notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The noted command line says `-arch sm_NNNf`.
    Yes,
    /// The noted command line says otherwise, or no toolkit of that time had families.
    No,
    /// No command line is noted.
    Unknown,
}

/// What a whole cubin says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// What the first 64 bytes tell.
    pub head: Head,
    /// Architecture with suffix. Where [`Cubin::family`] is unknown, plain may be `f`.
    pub arch: Arch,
    /// How sure `f` is.
    pub family: Family,
    /// Major and minor version of the toolkit that made it.
    pub toolkit: Option<(u16, u16)>,
    /// Whether it has an entry function: a FUNC symbol with `STO_CUDA_ENTRY`, of any binding. `None` without a
    /// readable symbol table.
    pub has_kernels: Option<bool>,
}

impl Cubin {
    /// Reads the cubin that is `data`; bytes behind its end do no harm.
    ///
    /// # Errors
    /// [`ErrorKind::NotCubin`], or [`ErrorKind::Sections`] where the section table cannot be read; the number of
    /// [`Head::parse`] stands nevertheless.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let head = Head::parse(data)?;
        if data.get(4) == Some(&2) {
            Self::read::<FileHeader64<LittleEndian>>(head, data)
        } else {
            Self::read::<FileHeader32<LittleEndian>>(head, data)
        }
    }

    fn read<Elf: FileHeader<Endian = LittleEndian>>(head: Head, data: &[u8]) -> Result<Self, Error> {
        let sections = sections::<Elf>(data)?;
        let compat = section(&sections, data, b".nv.compat");
        let notes = toolkit::Notes::read(section(&sections, data, b".note.nv.tkinfo"));
        let accelerated = match head.abi {
            // sm_60 and sm_61 cubins of CUDA 8.0 set the same bit for another reason
            Abi::V7 => head.number >= 90 && head.flags & 0x800 != 0,
            Abi::V8 => match compat.and_then(accelerator_target) {
                Some(value) => value == 1,
                None => head.flags & 0x8 != 0,
            },
        };
        let family = match (head.abi, notes.arch_suffix()) {
            (Abi::V7, _) | (Abi::V8, Some(Suffix::None | Suffix::A)) => Family::No,
            (Abi::V8, Some(Suffix::F)) => Family::Yes,
            (Abi::V8, None) => Family::Unknown,
        };
        let suffix = match (accelerated, family) {
            (true, _) => Suffix::A,
            (false, Family::Yes) => Suffix::F,
            (false, _) => Suffix::None,
        };
        let toolkit = match head.abi {
            Abi::V7 => toolkit::from_number(head.version),
            Abi::V8 => notes.version.or_else(|| toolkit::cuinfo(section(&sections, data, b".note.nv.cuinfo")?)),
        };
        Ok(Self {
            head,
            arch: Arch::new(head.number, suffix),
            family,
            toolkit,
            has_kernels: symbols::kernels::<Elf>(&sections, data).map(|kernels| !kernels.is_empty()),
        })
    }

    /// Whether the driver can load it: it is linked.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.head.file_type == FileType::Executable
    }

    /// Names of the entry functions in the order of the symbol table, mangled; empty where there is no symbol table.
    ///
    /// # Errors
    /// As [`Cubin::parse`].
    pub fn kernels(data: &[u8]) -> Result<Vec<&[u8]>, Error> {
        Head::parse(data)?;
        if data.get(4) == Some(&2) {
            Ok(symbols::kernels(&sections::<FileHeader64<LittleEndian>>(data)?, data).unwrap_or_default())
        } else {
            Ok(symbols::kernels(&sections::<FileHeader32<LittleEndian>>(data)?, data).unwrap_or_default())
        }
    }
}

fn sections<Elf: FileHeader<Endian = LittleEndian>>(data: &[u8]) -> Result<SectionTable<'_, Elf>, Error> {
    let header = Elf::parse(data).map_err(|_| Error { kind: ErrorKind::NotCubin, offset: 0 })?;
    let error = Error { kind: ErrorKind::Sections, offset: header.e_shoff(LittleEndian).into() };
    header.sections(LittleEndian, data).map_err(|_| error)
}

/// The file bytes of the first section of that name. `.nv.shared*` have none although their type is not `NOBITS`, so
/// ask for no such section.
pub(crate) fn section<'data, Elf: FileHeader<Endian = LittleEndian>>(
    sections: &SectionTable<'data, Elf>,
    data: &'data [u8],
    name: &[u8],
) -> Option<&'data [u8]> {
    let (_, header) = sections.section_by_name(LittleEndian, name)?;
    header.data(LittleEndian, data).ok()
}
