//! The coverage of a member in the JSON contract: [`crate::Coverage`] in words and numbers.

use serde::{Deserialize, Serialize};

use super::number;
use crate::model::{self, CodeKind};

/// The coverage of a member, by what can become of its code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberCoverage {
    /// By code that the driver loads; unknown linkage counts as such.
    pub loadable: Coverage,
    /// By code that still needs a device link.
    pub relocatable: Coverage,
    /// By code where no program that loads the file has it in memory.
    pub unmapped: Coverage,
}

/// How many modules hold each architecture. Where there are general modules they decide: an architecture is everywhere
/// if its `general` is that of the coverage. Where there are none all modules do, and its `specialised` must be the sum
/// of `modules`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Modules with code for several architectures.
    pub general: u64,
    /// Modules for one architecture number only, or only for targets with a suffix; by their set of architectures.
    pub specialised: Vec<CoveredSet>,
    /// By kind and architecture.
    pub images: Vec<Covered>,
}

/// Specialised modules of one set of architectures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoveredSet {
    /// What each of them holds.
    pub archs: Vec<CoveredArch>,
    /// How many there are.
    pub modules: u64,
}

/// Code of one kind for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoveredArch {
    /// As in [`super::Code`].
    pub kind: String,
    /// As in [`super::Code`].
    pub arch: String,
}

/// How often code of one kind for one architecture occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Covered {
    /// As in [`super::Code`].
    pub kind: String,
    /// As in [`super::Code`].
    pub arch: String,
    /// Images.
    pub images: u64,
    /// General modules with such an image.
    pub general: u64,
    /// Specialised modules with such an image.
    pub specialised: u64,
}

impl MemberCoverage {
    pub(super) fn of(member: &model::Member) -> Self {
        Self {
            loadable: (&crate::Coverage::of(member, false)).into(),
            relocatable: (&crate::Coverage::of(member, true)).into(),
            unmapped: (&crate::Coverage::unmapped(member)).into(),
        }
    }
}

impl From<&crate::Coverage> for Coverage {
    fn from(own: &crate::Coverage) -> Self {
        let arch = |(kind, arch): &(CodeKind, gpu_arch::Arch)| CoveredArch {
            kind: kind.name().to_owned(),
            arch: format!("{}_{arch}", prefix(*kind)),
        };
        let sets = own
            .specialised
            .iter()
            .map(|set| CoveredSet { archs: set.archs.iter().map(arch).collect(), modules: number(set.modules) });
        let images = own.images.iter().map(|(key, count)| {
            let CoveredArch { kind, arch } = arch(key);
            Covered {
                kind,
                arch,
                images: number(count.images),
                general: number(count.general),
                specialised: number(count.specialised),
            }
        });
        Self { general: number(own.general), specialised: sets.collect(), images: images.collect() }
    }
}

const fn prefix(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Sass | CodeKind::TileIr | CodeKind::Other => "sm",
        CodeKind::Ptx => "compute",
        CodeKind::LtoIr => "lto",
    }
}
