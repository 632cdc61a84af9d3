//! Architectures.

use std::fmt;
use std::str::FromStr;

use crate::arch::{Arch, Suffix};
use crate::capability::Capability;
use crate::isa::Isa;
use crate::tables::architectures::ARCHITECTURES;
use crate::tables::toolkits::{FIRST_ISA, TOOLKITS};
use crate::version::CudaVersion;

use super::host::Host;

/// What a GPU is built into, which decides whose rules its driver follows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Platform {
    /// A card or module with a driver of its own: the rules of the desktop.
    #[default]
    Discrete,
    /// A GPU inside a Tegra chip under the L4T (nvgpu) driver, whose version numbers are not those
    /// of the desktop driver.
    Tegra,
    /// A GPU inside an Arm SBSA chip (Thor, GB10) under the desktop driver.
    Sbsa,
}

impl fmt::Display for Platform {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Platform::Discrete => "discrete",
            Platform::Tegra => "tegra",
            Platform::Sbsa => "sbsa",
        })
    }
}

/// The text is no platform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParsePlatformError;

impl fmt::Display for ParsePlatformError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a platform is `discrete`, `tegra` or `sbsa`")
    }
}

impl std::error::Error for ParsePlatformError {}

impl FromStr for Platform {
    type Err = ParsePlatformError;

    /// Reads `discrete`, `tegra`, `sbsa`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "discrete" => Ok(Platform::Discrete),
            "tegra" => Ok(Platform::Tegra),
            "sbsa" => Ok(Platform::Sbsa),
            _ => Err(ParsePlatformError),
        }
    }
}

/// One architecture with a compute capability of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Architecture {
    /// What its devices report.
    pub capability: Capability,
    /// NVIDIA's name of the generation: `Ada Lovelace`.
    pub name: &'static str,
    /// Code names of the chips.
    pub chips: &'static [&'static str],
    /// What its devices are built into.
    pub platform: Platform,
    /// The host of all its devices, where that is one: Tegra chips have it built in.
    pub host: Option<Host>,
    /// The first toolkit that compiles for it.
    pub first_toolkit: CudaVersion,
    /// The last toolkit that compiles for it, if newer ones do not.
    pub last_toolkit: Option<CudaVersion>,
    /// The first PTX ISA that takes its `.target`.
    pub first_isa: Isa,
    /// The first Linux driver branch that knows its devices; nothing on Tegra.
    pub first_driver: Option<u16>,
    /// The last Linux driver branch that supports its devices, if newer ones do not.
    pub last_driver: Option<u16>,
    /// The number of the family that `f` code of it belongs to.
    pub family: Option<u32>,
    /// A remark for people; may be empty.
    pub note: &'static str,
}

/// All architectures, ascending.
pub fn architectures() -> &'static [Architecture] {
    ARCHITECTURES
}

/// The architecture of a capability.
pub fn architecture(capability: Capability) -> Option<&'static Architecture> {
    ARCHITECTURES.iter().find(|row| row.capability == capability)
}

/// Whether an architecture exists, suffix included: it has a row of its own, or a toolkit takes it.
pub fn arch_exists(arch: Arch) -> bool {
    (arch.suffix() == Suffix::None && architecture(arch.capability()).is_some())
        || TOOLKITS.iter().any(|toolkit| toolkit.archs.contains(&arch))
}

/// Up to three existing architectures near one that does not exist: the same number first, then
/// the nearest numbers.
pub fn nearest_archs(arch: Arch) -> Vec<Arch> {
    let mut near: Vec<Arch> = ARCHITECTURES.iter().filter_map(|row| row.capability.arch()).collect();
    near.sort_by_key(|candidate| candidate.number().abs_diff(arch.number()));
    near.truncate(3);
    near
}

/// The first PTX ISA that takes a `.target`, for architectures that exist.
pub(crate) fn first_isa(arch: Arch) -> Option<Isa> {
    FIRST_ISA.iter().find(|(candidate, _)| *candidate == arch).map(|(_, isa)| *isa)
}
