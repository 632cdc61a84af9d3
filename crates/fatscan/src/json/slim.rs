//! What `fatscan slim` did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Tool;
use crate::slim::{MemberPlan, Tally};

/// A whole document of `fatscan slim`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slim {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// Compute capabilities of the GPUs whose picks stay, `9.0`; empty where code was named.
    #[serde(rename = "for")]
    pub gpus: Vec<String>,
    /// Code that was named with `--keep`, `sm_90a`, `compute_90`.
    pub keep: Vec<String>,
    /// Code that was named with `--drop`.
    pub drop: Vec<String>,
    /// What was given and done, in the order given.
    pub files: Vec<SlimFile>,
}

/// A wheel, a library, a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlimFile {
    /// Path as given.
    pub path: String,
    /// Where it was written to; null where nothing was written.
    pub written: Option<String>,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes after; of a library the same, since what goes is zero in its place; of a bare fatbin fewer.
    pub bytes_after: u64,
    /// Bytes of its files, unpacked, that are zero now, or cut off a bare fatbin.
    pub zeroed_bytes: u64,
    /// Images that stay in modules that could change, by the reason.
    pub why_kept: BTreeMap<String, SlimTally>,
    /// Images of modules that stay as they are although something else was wished, by the reason.
    pub left: BTreeMap<String, SlimTally>,
    /// Names of signatures that no longer hold and were left out.
    pub signatures_left_out: Vec<String>,
    /// What else is to be known, in sentences.
    pub notes: Vec<String>,
    /// Its files with device code.
    pub members: Vec<SlimMember>,
}

/// A file with device code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlimMember {
    /// Path in what was given.
    pub path: String,
    /// Fatbins that are other ones now.
    pub fatbins_changed: usize,
    /// Bytes that are zero now, or cut off a bare fatbin.
    pub zeroed_bytes: u64,
    /// Images that stay in modules that could change, by architecture.
    pub kept: BTreeMap<String, SlimTally>,
    /// Images that go, by architecture.
    pub dropped: BTreeMap<String, SlimTally>,
}

/// Images by number, and their bytes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlimTally {
    /// How many.
    pub images: usize,
    /// Bytes with headers and padding.
    pub bytes: u64,
}

impl SlimMember {
    /// Of a file and what happens to it.
    #[must_use]
    pub fn new(path: &str, plan: &MemberPlan) -> Self {
        Self {
            path: path.to_owned(),
            fatbins_changed: plan.edits.len(),
            zeroed_bytes: plan.dropped_bytes(),
            kept: plan.kept.iter().map(|(name, own)| (name.clone(), (*own).into())).collect(),
            dropped: plan.dropped.iter().map(|(name, own)| (name.clone(), (*own).into())).collect(),
        }
    }
}

impl From<Tally> for SlimTally {
    fn from(own: Tally) -> Self {
        Self { images: own.images, bytes: own.bytes }
    }
}
