//! Files of several parts that are read forward.

mod ar;
mod universal;

use std::sync::Arc;

pub use ar::ArchiveWalk;
pub use universal::{MachOSlice, universal};

/// One part; the stream stands at its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name as the file has it.
    pub name: Arc<[u8]>,
    /// Bytes, as stated.
    pub size: u64,
    /// Offset of its first byte in the whole.
    pub offset: u64,
}

/// What ends a walk too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// No header where one must stand: where the next part is cannot be known.
    Header {
        /// Offset in the whole, in bytes.
        offset: u64,
    },
    /// The file ends before a part that it states.
    Cut {
        /// Where it ends, in bytes.
        offset: u64,
    },
    /// The table of names exceeds its limit: parts go by their offsets.
    Names {
        /// Its bytes, as stated.
        size: u64,
    },
}
