//! What `fatscan variant` says.

use serde::{Deserialize, Serialize};

use super::{Diagnostic, Tool, Unread};
use crate::locator::LocatorView;

/// A whole document of `fatscan variant`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variants {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// What was read, in the order given.
    pub artefacts: Vec<Variant>,
    /// What the scan has to say beside, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What may hold device code and was not read, by place.
    pub unread: Vec<Unread>,
}

/// What the properties of a wheel should be, by what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variant {
    /// Path as given, or below a directory that was given.
    pub path: String,
    /// Where it is.
    pub at: LocatorView,
    /// Whether all of it was read: where not, there may be code that makes the properties others.
    pub whole: bool,
    /// `namespace :: feature :: value`; a feature with several values asks for one of them.
    pub properties: Vec<String>,
    /// Code that is there and not declared, or declared although some of it is compiled at first use.
    pub remarks: Vec<Remark>,
    /// Files, or groups of files that are alternatives, that decide it.
    pub files: usize,
    /// What it says of itself today, where that is something, each as it is written.
    pub declared: Vec<String>,
    /// The file `variant.json` with these properties; the label is the one in the file name, or the one that was given.
    pub variant_json: serde_json::Value,
}

/// What is to be said of some code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remark {
    /// `sm_90`, `compute_90`.
    pub code: String,
    /// Whether it is declared.
    pub declared: bool,
    /// The verdict on such a GPU, or `not in every module`.
    pub what: String,
    /// The files that decide it.
    pub files: Vec<String>,
}
