//! What `fatscan extract` lists in its `index.json`.

use serde::{Deserialize, Serialize};

use crate::locator::LocatorView;

/// The whole index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extracted {
    /// Version of the schema, 1.
    pub schema: u32,
    /// The images, in the order in which they were written.
    pub images: Vec<ExtractedImage>,
}

/// An image that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExtractedImage {
    /// Its file, below the directory of the index.
    pub file: String,
    /// Where it came from, for people.
    pub place: String,
    /// Where it came from.
    pub at: LocatorView,
    /// `sass`, `ptx`, ...
    pub kind: String,
    /// `sm_90a`, `compute_90`; null where there is none.
    pub arch: Option<String>,
    /// Bytes written.
    pub bytes: u64,
    /// Whether it is as it was stored, not unpacked.
    pub raw: bool,
}
