//! One image, as far as the rules look at it.

use crate::target::Target;

/// One image of a module: what it is for, and what it asks of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Code {
    /// Kind and architecture; for PTX with the version, where known.
    pub target: Target,
    /// Whether its fatbin entry is compressed with zstd.
    pub zstd: bool,
    /// The ABI version of a cubin's ELF header (7 or 8), where known.
    pub cubin_abi: Option<u8>,
    /// Whether it is for 32-bit processes.
    pub is_32bit: bool,
}

impl Code {
    /// 64-bit code that asks nothing of a driver beyond its target.
    pub const fn new(target: Target) -> Self {
        Self { target, zstd: false, cubin_abi: None, is_32bit: false }
    }
}
