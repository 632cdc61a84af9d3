use gpu_arch::{Arch, Suffix};
use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::FileHeader;

use crate::attributes::accelerator_target;
use crate::head::{Abi, FileType, Head};
use crate::sections::Table;
use crate::toolkit;
use crate::{Error, Functions};

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
    /// [`ErrorKind::NotCubin`](crate::ErrorKind::NotCubin), or [`ErrorKind::Sections`](crate::ErrorKind::Sections) where the section table cannot be read; the number of
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
        let sections = Table::<Elf>::parse(data)?;
        let compat = sections.section(b".nv.compat");
        let notes = toolkit::Notes::read(sections.section(b".note.nv.tkinfo"));
        let accelerated = match head.abi {
            // sm_60 and sm_61 cubins of CUDA 8.0 set the same bit for another reason
            Abi::V7 => head.number >= 90 && head.flags & 0x800 != 0,
            Abi::V8 => match compat.and_then(accelerator_target) {
                Some(value) => value == 1,
                None => head.flags & 0x8 != 0,
            },
        };
        let family = match (head.abi, notes.arch_suffix) {
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
            Abi::V8 => notes.version.or_else(|| toolkit::cuinfo(sections.section(b".note.nv.cuinfo")?)),
        };
        Ok(Self { head, arch: Arch::new(head.number, suffix), family, toolkit, has_kernels: sections.has_kernels() })
    }

    /// Whether the driver can load it: it is linked.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.head.file_type == FileType::Executable
    }

    /// Names of the entry functions in the order of the symbol table, mangled; empty where there is no symbol table.
    ///
    /// # Errors
    /// As [`Functions::parse`].
    pub fn kernels(data: &[u8]) -> Result<Vec<&[u8]>, Error> {
        Ok(Functions::parse(data)?.kernels().map(|kernel| kernel.name).collect())
    }
}
