//! What `fatscan kernels` says.

use serde::{Deserialize, Serialize};

use super::{Diagnostic, Tool, Unread};
use crate::locator::LocatorView;

/// A whole document of `fatscan kernels`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernels {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// What was read, in the order given.
    pub artefacts: Vec<KernelsArtefact>,
    /// What the scan has to say beside, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What may hold device code and was not read, by place.
    pub unread: Vec<Unread>,
}

/// A wheel, a directory, a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelsArtefact {
    /// Path as given, or below a directory that was given.
    pub path: String,
    /// Where it is.
    pub at: LocatorView,
    /// Files with device code, by path.
    pub members: Vec<KernelsMember>,
}

/// A file with device code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelsMember {
    /// Path in the artefact.
    pub path: String,
    /// Where it is.
    pub at: LocatorView,
    /// Sums, one for each kind, architecture and linkage.
    pub totals: Vec<KernelTotals>,
    /// The kernels that were asked for; none where only sums were.
    pub kernels: Vec<Kernel>,
    /// Images whose kernels could not be read.
    pub unreadable_images: usize,
}

/// Sums of one kind of code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelTotals {
    /// `sass` or `ptx`.
    pub kind: String,
    /// `sm_90a`, `compute_90`.
    pub arch: String,
    /// Input of a device link.
    pub relocatable: bool,
    /// Different names.
    pub names: usize,
    /// Definitions: modules may hold copies.
    pub definitions: usize,
    /// Bytes of machine code of all definitions.
    pub code_bytes: u64,
    /// Kernels that look compiled away.
    pub stubs: usize,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernel {
    /// Symbol, mangled.
    pub name: String,
    /// The name that it stands for; null where it is none of C++.
    pub demangled: Option<String>,
    /// The module of a local symbol, by its index in the file; null of a global one.
    pub module: Option<usize>,
    /// Where it is, by kind, architecture and linkage.
    pub images: Vec<KernelImage>,
}

/// A kernel for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelImage {
    /// `sass` or `ptx`.
    pub kind: String,
    /// `sm_90a`, `compute_90`.
    pub arch: String,
    /// Input of a device link.
    pub relocatable: bool,
    /// Definitions: modules may hold copies.
    pub definitions: usize,
    /// Bytes of machine code, of the largest copy.
    pub code_bytes: u64,
    /// Whether it looks compiled away.
    pub stub: bool,
    /// Registers of a thread, with `--resources`.
    pub registers: Option<u32>,
    /// Bytes of stack, with `--resources`.
    pub stack: Option<u32>,
    /// Bytes of shared memory, with `--resources`.
    pub shared: Option<u64>,
    /// Bytes of local memory, with `--resources`.
    pub local: Option<u64>,
    /// Bytes of constant bank 0, with `--resources`.
    pub constant0: Option<u64>,
    /// Barriers, with `--resources`.
    pub barriers: Option<u8>,
}
