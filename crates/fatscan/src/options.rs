use fatscan_containers::{Limits, Mapping};

/// How to scan. Plain data: what a scan remembers is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Decode every payload and compare it with its entry header; compare files with the hashes in `RECORD`.
    pub verify: bool,
    /// Look into small payloads for entry functions: [`crate::judge`] needs to know which modules are stubs.
    pub entry_functions: bool,
    /// Compare native files of a wheel with the hashes in its `RECORD`.
    pub hashes: bool,
    /// How much of the kernels is read.
    pub kernels: KernelDepth,
    /// What is read at most.
    pub limits: Limits,
    /// Whether files are mapped.
    pub mapping: Mapping,
    /// Follow links that lead out of a directory that was given.
    pub follow_links: bool,
    /// Threads; 0 is one for each core.
    pub threads: usize,
    /// Of a directory that is given, each directory so many levels below it is an artefact of its own; what lies above them
    /// belongs to the directory. 0: the directory is one.
    pub group_by: usize,
}

/// How much of the kernels is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelDepth {
    /// Nothing: payloads are skipped.
    #[default]
    None,
    /// Names and code sizes: the first part of a cubin tells them.
    Names,
    /// Registers, memory and launch bounds too: payloads are unpacked whole.
    Resources,
}

/// Bytes that are held at most where payloads are unpacked.
const DEEP: u64 = 256 << 20;

impl Options {
    /// The defaults: entry headers, no payloads.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a judgement wants to know: small payloads are looked into for entry functions.
    #[must_use]
    pub fn for_judging() -> Self {
        Self { entry_functions: true, ..Self::default() }
    }

    /// What a gate wants to know: as for a judgement, and whether native files have the hashes that their wheel states.
    #[must_use]
    pub fn for_checking() -> Self {
        Self { hashes: true, ..Self::for_judging() }
    }

    /// Every payload decoded and compared, every hash too. 256 MB are held at most.
    #[must_use]
    pub fn verifying() -> Self {
        Self { verify: true, entry_functions: true, hashes: true, ..Self::default().unpacking() }
    }

    /// Kernels are read. 256 MB are held at most.
    #[must_use]
    pub fn with_kernels(self, kernels: KernelDepth) -> Self {
        Self { kernels, ..self.unpacking() }
    }

    /// As many threads.
    #[must_use]
    pub const fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Other limits.
    #[must_use]
    pub const fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Files mapped or not.
    #[must_use]
    pub const fn with_mapping(self, mapping: Mapping) -> Self {
        Self { mapping, ..self }
    }

    /// Room for payloads.
    fn unpacking(mut self) -> Self {
        self.limits.live_bytes = self.limits.live_bytes.max(DEEP);
        self
    }
}
