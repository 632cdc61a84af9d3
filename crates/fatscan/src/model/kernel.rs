use std::sync::Arc;

/// One kernel of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Symbol, mangled; bytes that are not UTF-8 replaced.
    pub name: Arc<str>,
    /// Whether the symbol is local: such a kernel is told from others of its name by its module.
    pub is_local: bool,
    /// Bytes of machine code; 0 for PTX.
    pub code_bytes: u64,
    /// What it needs, where that was read.
    pub resources: Option<Box<KernelResources>>,
}

/// What a kernel needs, as `cuobjdump -res-usage` prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Bytes of stack per thread.
    pub stack: Option<u32>,
    /// Bytes of static shared memory per block.
    pub shared: u64,
    /// Bytes of local memory per thread.
    pub local: u64,
    /// Bytes of constant bank 0: parameters and what stands before them.
    pub constant0: u64,
    /// Bytes of parameters.
    pub parameters: Option<u32>,
    /// Largest block that `__launch_bounds__` allows, by dimension.
    pub max_threads: Option<[u32; 3]>,
    /// Barriers.
    pub barriers: Option<u8>,
}
