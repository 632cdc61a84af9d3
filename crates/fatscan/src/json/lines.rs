//! What `fatscan list --format ndjson` says: one of these a line.

use serde::{Deserialize, Serialize};

use super::{Artefact, Diagnostic, Member, Module, Unread};

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Line {
    /// With `--by module`.
    Module {
        /// Version of the schema, 1.
        schema: u32,
        /// Path of the artefact.
        path: String,
        /// Path of the file in it.
        member: String,
        /// The module.
        module: Module,
    },
    /// With `--by member`.
    Member {
        /// Version of the schema, 1.
        schema: u32,
        /// Path of the artefact.
        path: String,
        /// The file.
        member: Box<Member>,
    },
    /// With `--by artefact`, and an artefact without device code.
    Artefact {
        /// Version of the schema, 1.
        schema: u32,
        /// The artefact.
        artefact: Artefact,
    },
    /// What the scan has to say beside.
    Diagnostic {
        /// Version of the schema, 1.
        schema: u32,
        /// It.
        diagnostic: Diagnostic,
    },
    /// What may hold device code and was not read.
    Unread {
        /// Version of the schema, 1.
        schema: u32,
        /// It.
        unread: Unread,
    },
}
