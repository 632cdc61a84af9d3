//! What `fatscan arch` says.

use serde::{Deserialize, Serialize};

use super::Tool;

/// A whole document of `fatscan arch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Architectures {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// One for each name that was asked about, or for each architecture.
    pub answers: Vec<Answer>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// As it was typed; `list` for each of all.
    pub asked: String,
    /// The GPU or family, where it names one.
    pub product: Option<String>,
    /// What there is to say of the family.
    pub note: Option<String>,
    /// The architecture; null of a name that stands for several.
    pub architecture: Option<Architecture>,
    /// What a name of several capabilities stands for; else empty.
    pub meanings: Vec<Meaning>,
}

/// One of several capabilities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Meaning {
    /// Compute capability.
    pub cc: String,
    /// Some GPUs.
    pub examples: Vec<String>,
}

/// An architecture, with the suffix that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Architecture {
    /// Compute capability, `9.0`.
    pub cc: String,
    /// Its machine code, `sm_90a`.
    pub sass: String,
    /// Its portable code, `compute_90a`.
    pub ptx: String,
    /// `Hopper`.
    pub generation: String,
    /// `GH100`.
    pub chips: Vec<String>,
    /// `discrete`, `tegra` or `sbsa`.
    pub platform: String,
    /// The first CUDA toolkit that compiles for it, with this suffix.
    pub first_toolkit: Option<String>,
    /// The last one; null where all newer ones do.
    pub last_toolkit: Option<String>,
    /// The first branch of the Linux driver that knows it.
    pub first_driver: Option<u32>,
    /// The last one; null where all newer ones do.
    pub last_driver: Option<u32>,
    /// What else there is to say.
    pub note: Option<String>,
    /// GPUs of it, by name.
    pub products: Vec<String>,
    /// Architectures with a suffix that exist: `90a`.
    pub suffixes: Vec<String>,
    /// Compute capabilities that run its machine code.
    pub sass_runs_on: Vec<String>,
    /// Those known now that run its portable code.
    pub ptx_runs_on: Vec<String>,
    /// Whether all newer ones do, too.
    pub ptx_runs_on_newer: bool,
    /// Machine code that its GPUs run: `sm_80`.
    pub runs: Vec<String>,
    /// How to build for it, where a toolkit does.
    pub build: Option<Build>,
}

/// Flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Of nvcc.
    pub nvcc: String,
    /// Of CMake.
    pub cmake: String,
    /// For extensions of torch; null where it takes none.
    pub torch: Option<String>,
    /// For XLA; null where it takes none.
    pub xla: Option<String>,
}
