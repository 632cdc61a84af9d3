use crate::attributes::Attributes;
use crate::head::{Abi, Head};
use crate::info::{self, u32_at};
use crate::limits::{Budget, REACHED};
use crate::sections::Tables;
use crate::toolkit::{self, Version};
use crate::{Error, Limits, ToolNote};

/// The language that the compiler noted, record 0x66 of `.nv.info.FUNCTION` (CUDA 13). Observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Language {
    /// Assembler text.
    Sass,
    /// NVSAL.
    Nvsal,
    /// PTX: what `nvcc` hands to `ptxas`.
    Ptx,
    /// NVVM: link-time optimisation.
    Nvvm,
    /// CUDA C++.
    CudaCpp,
    /// CUDA C++ Tile.
    CudaCppTile,
    /// Tile IR.
    TileIr,
    /// CUTILE.
    CuTile,
    /// Fortran.
    Fortran,
    /// OptiX.
    Optix,
    /// A code without a name.
    Other(u32),
}

impl Language {
    /// By its code.
    #[must_use]
    pub const fn from_raw(code: u32) -> Self {
        match code {
            1 => Self::Sass,
            2 => Self::Nvsal,
            3 => Self::Ptx,
            4 => Self::Nvvm,
            5 => Self::CudaCpp,
            6 => Self::CudaCppTile,
            7 => Self::TileIr,
            8 => Self::CuTile,
            9 => Self::Fortran,
            10 => Self::Optix,
            other => Self::Other(other),
        }
    }
}

/// Where a cubin comes from.
///
/// | | ABI 7 | ABI 8 |
/// |---|---|---|
/// | toolkit | `e_version` | first `.note.nv.tkinfo`, or `.note.nv.cuinfo` (13.x) |
/// | command lines | none | `.note.nv.tkinfo`: a device-linked cubin has nvlink's and one of each input |
/// | virtual architecture | `e_flags` bits 16 to 23 | `.note.nv.cuinfo`, `.note.nv.cuver` (12.8, 12.9) |
/// | API version | record 0x37 of `.nv.info.FUNCTION`, since 11.1 or so | the same |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance<'data> {
    /// Major and minor version of the toolkit that wrote the file.
    pub toolkit: Option<Version>,
    /// Version of the CUDA API that the first function with such a record was compiled for.
    pub api_version: Option<Version>,
    /// Number of the virtual architecture that it was compiled from, 90 for `compute_90`.
    pub virtual_arch: Option<u32>,
    /// Language of the first function that notes one.
    pub language: Option<Language>,
    /// The tools, the last first, with their command lines.
    pub tools: Vec<ToolNote<'data>>,
}

impl<'data> Provenance<'data> {
    /// Reads the notes of the cubin that is `data`.
    ///
    /// # Errors
    /// [`ErrorKind::NotCubin`](crate::ErrorKind::NotCubin), or [`ErrorKind::Sections`](crate::ErrorKind::Sections) where
    /// the section table cannot be read, [`ErrorKind::Limit`](crate::ErrorKind::Limit) where there is more than
    /// [`Limits::default`] allow, or where the sections of `.nv.info` lie upon each other.
    pub fn parse(data: &'data [u8]) -> Result<Self, Error> {
        let limits = Limits::default();
        let head = Head::parse(data)?;
        let sections = Tables::sections(data, &limits)?;
        let section = |name: &[u8]| sections.iter().find(|section| section.name == name).map(|found| found.bytes(data));
        let tools = section(b".note.nv.tkinfo").into_iter().flat_map(toolkit::notes);
        let tools: Vec<_> = tools.take(limits.functions.saturating_add(1)).collect();
        if tools.len() > limits.functions {
            return Err(REACHED);
        }
        let cuinfo = section(b".note.nv.cuinfo");
        let note = cuinfo.or_else(|| section(b".note.nv.cuver"));
        let mut provenance = Self {
            toolkit: match head.abi {
                Abi::V7 => toolkit::from_number(head.version),
                Abi::V8 => tools.first().and_then(|tool| tool.release).or_else(|| toolkit::cuinfo(cuinfo?)),
            },
            api_version: None,
            virtual_arch: match head.abi {
                Abi::V7 => Some((head.flags >> 16) & 0xff).filter(|number| *number > 0),
                Abi::V8 => note.and_then(toolkit::virtual_arch),
            },
            language: None,
            tools,
        };
        let mut budget = Budget::of(data, 1);
        for info in sections.iter().filter(|section| section.name.starts_with(b".nv.info")) {
            let bytes = info.bytes(data);
            budget.take(bytes.len())?;
            for (attribute, value) in Attributes::new(bytes) {
                let number = || u32_at(value, 0);
                match attribute {
                    info::CUDA_API_VERSION if provenance.api_version.is_none() => {
                        provenance.api_version = number().and_then(toolkit::from_number);
                    }
                    info::LANGUAGE if provenance.language.is_none() => {
                        provenance.language = number().map(Language::from_raw);
                    }
                    _ => {}
                }
            }
        }
        Ok(provenance)
    }
}
