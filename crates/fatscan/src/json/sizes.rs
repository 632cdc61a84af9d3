//! What `fatscan size` says.

use serde::{Deserialize, Serialize};

use super::{Diagnostic, Tool, Unread};
use crate::locator::LocatorView;

/// A whole document of `fatscan size`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// What was read, in the order given.
    pub artefacts: Vec<SizedArtefact>,
    /// What the scan has to say beside, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What may hold device code and was not read, by place.
    pub unread: Vec<Unread>,
}

/// A wheel, a directory, a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizedArtefact {
    /// Path as given, or below a directory that was given.
    pub path: String,
    /// Where it is.
    pub at: LocatorView,
    /// Bytes on disk.
    pub size: u64,
    /// Whether it is larger than `--budget`; null where none was given.
    pub over_budget: Option<bool>,
    /// What `fatscan slim` would save, with `--for`; null without.
    pub slim: Option<SizedSlim>,
    /// Code of all its files, by architecture.
    pub code: Vec<CodeSize>,
    /// Files with device code, by path.
    pub members: Vec<SizedMember>,
}

/// What `fatscan slim` would save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizedSlim {
    /// Compute capabilities of the GPUs whose picks would stay.
    #[serde(rename = "for")]
    pub gpus: Vec<String>,
    /// Images that would go.
    pub images: usize,
    /// Bytes of its files, unpacked, that would be zero in their places. What an archive saves depends on how well that code
    /// deflates: `fatscan slim --dry-run` tells.
    pub zeroed_bytes: u64,
}

/// A file with device code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizedMember {
    /// Path in the artefact.
    pub path: String,
    /// Where it is.
    pub at: LocatorView,
    /// Bytes, unpacked.
    pub size: u64,
    /// Bytes in the archive; null outside one.
    pub archive_bytes: Option<u64>,
    /// Bytes that are no device code.
    pub host_bytes: u64,
    /// Its code, by architecture.
    pub code: Vec<CodeSize>,
    /// Its modules, the largest first, with `--by module`.
    pub modules: Vec<SizedModule>,
    /// Its kernels, the largest first, with `--by kernel`.
    pub kernels: Vec<SizedKernel>,
}

/// Code for one architecture; kind, architecture and linkage are null of code that names none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeSize {
    /// `sass`, `ptx`, `lto-ir`, `tile-ir` or `other`.
    pub kind: Option<String>,
    /// `sm_90a`, `compute_90`, `lto_90`.
    pub arch: Option<String>,
    /// Input of a device link.
    pub relocatable: Option<bool>,
    /// How many images.
    pub images: usize,
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// Bytes when unpacked, as far as stated.
    pub unpacked_bytes: u64,
    /// About what the artefact would save without this code.
    pub archive_bytes_estimate: u64,
}

/// A module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizedModule {
    /// Its number in the file, from 0.
    pub index: usize,
    /// Where it is.
    pub at: LocatorView,
    /// Of a static library: the object that it is in.
    pub object: Option<String>,
    /// Section, where known.
    pub section: Option<String>,
    /// Offset in the file or object, in bytes.
    pub offset: u64,
    /// The architectures of its images, in the order of the file.
    pub archs: Vec<String>,
    /// How many images.
    pub images: usize,
    /// Bytes in the file.
    pub stored_bytes: u64,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizedKernel {
    /// Symbol, mangled.
    pub name: String,
    /// Bytes of machine code of all its copies for all architectures.
    pub code_bytes: u64,
    /// Modules that define it.
    pub modules: usize,
    /// Bytes of all copies beyond the first of each architecture.
    pub duplicated_bytes: u64,
}
