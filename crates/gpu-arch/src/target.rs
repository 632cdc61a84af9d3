//! One piece of device code by kind and architecture.

use std::fmt;
use std::str::FromStr;

use crate::arch::Arch;
use crate::isa::Isa;

/// What a piece of device code is compiled for.
///
/// Displayed as compilers spell it: `sm_90a`, `compute_90`, `lto_90`. The order is SASS, PTX,
/// LTO-IR, each by architecture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// Machine code (a cubin).
    Sass(Arch),
    /// PTX text, with its `.version` where that is known. In a demand there is none.
    Ptx(Arch, Option<Isa>),
    /// LTO-IR: input of a linker, never loadable by a driver.
    Lto(Arch),
}

impl Target {
    /// The architecture, whatever the kind.
    pub const fn arch(self) -> Arch {
        match self {
            Target::Sass(arch) | Target::Ptx(arch, _) | Target::Lto(arch) => arch,
        }
    }

    /// The same target with the PTX version forgotten: what a list of demands is compared with.
    pub const fn without_isa(self) -> Self {
        match self {
            Target::Ptx(arch, _) => Target::Ptx(arch, None),
            other => other,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Sass(arch) => write!(out, "sm_{arch}"),
            Target::Ptx(arch, _) => write!(out, "compute_{arch}"),
            Target::Lto(arch) => write!(out, "lto_{arch}"),
        }
    }
}

/// The text is not `sm_90a`, `compute_90` or `lto_90`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParseTargetError;

impl fmt::Display for ParseTargetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a target is written `sm_90a`, `compute_90` or `lto_90`")
    }
}

impl std::error::Error for ParseTargetError {}

impl FromStr for Target {
    type Err = ParseTargetError;

    /// Reads `sm_90a`, `compute_90`, `lto_90` in any case, with `_`, `-` or nothing between; it is
    /// the shape that is checked, not whether the architecture exists.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, rest) = crate::spelling::split_kind(text.trim()).ok_or(ParseTargetError)?;
        let arch = crate::arch::parse_number(rest).map_err(|_| ParseTargetError)?;
        Ok(kind.target(arch))
    }
}
