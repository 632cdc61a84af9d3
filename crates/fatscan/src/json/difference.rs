//! What `fatscan diff` says. A pair is what was, then what is.

use serde::{Deserialize, Serialize};

use super::Tool;
use crate::locator::LocatorView;

/// A whole document of `fatscan diff`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differences {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// One for each pair of artefacts.
    pub differences: Vec<Difference>,
    /// What `--fail-on` names and was found; null without it.
    pub failed: Option<Vec<Failed>>,
}

/// Something that `--fail-on` names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failed {
    /// `lost-arch`, `lost-kernel`, `worse-verdict` or `bytes`.
    pub on: String,
    /// Path of the new artefact.
    pub artefact: String,
    /// Path of the file, where it is about one.
    pub member: Option<String>,
    /// One sentence.
    pub message: String,
}

/// Two artefacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Path of what was.
    pub old: String,
    /// Path of what is.
    pub new: String,
    /// Bytes on disk.
    pub size: [u64; 2],
    /// Whether something of a side could not be read.
    pub damaged: [bool; 2],
    /// All device code, by architecture, also what did not change.
    pub code: Vec<ChangedCode>,
    /// Files that came, went or changed.
    pub members: Vec<ChangedMember>,
    /// Whether verdicts were compared: a report does not hold what they need.
    pub judged: bool,
    /// Verdicts that changed.
    pub verdicts: Vec<ChangedVerdict>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedMember {
    /// Path of the new side where it is there; a hash in it is `*`.
    pub path: String,
    /// Where it is; null of a side where it is not.
    pub at: [Option<LocatorView>; 2],
    /// Whether it is there.
    pub present: [bool; 2],
    /// Bytes.
    pub size: [u64; 2],
    /// Code that came, went or changed.
    pub code: Vec<ChangedCode>,
    /// Kernels on the new side only, demangled; null where they were not compared.
    pub kernels_came: Option<Vec<String>>,
    /// Kernels on the old side only.
    pub kernels_went: Option<Vec<String>>,
    /// Kernels that an architecture lost.
    pub kernels_lost: Option<Vec<LostKernel>>,
    /// Images whose kernels could not be read.
    pub unreadable_images: Option<[usize; 2]>,
}

/// A kernel that some architectures lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostKernel {
    /// Its name, demangled.
    pub name: String,
    /// The architectures that had it.
    pub archs: Vec<String>,
}

/// Code of one kind for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedCode {
    /// `sass`, `ptx`, ...
    pub kind: String,
    /// `sm_90a`, `compute_90`, ...
    pub arch: String,
    /// Input of a device link.
    pub relocatable: bool,
    /// Images.
    pub count: [u64; 2],
    /// Bytes in the file.
    pub stored_bytes: [u64; 2],
    /// PTX ISA versions.
    pub isa: [Vec<String>; 2],
    /// Compressions.
    pub compression: [Vec<String>; 2],
}

/// A verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedVerdict {
    /// Compute capability.
    pub cc: String,
    /// The words, as in a report.
    pub verdict: [String; 2],
    /// The oldest driver, where one is asked for.
    pub needs_driver: [Option<String>; 2],
}
