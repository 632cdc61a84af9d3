use crate::kernels::{KernelDepth, Names};
use crate::progress::Progress;

/// How to scan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Decode every payload and compare it with its entry header.
    pub verify: bool,
    /// Look into small payloads for entry functions: [`crate::judge`] needs to know which modules are stubs.
    pub entry_functions: bool,
    /// How much of the kernels is read.
    pub kernels: KernelDepth,
    /// The names of kernels read so far.
    pub names: Names,
    /// What is read at most.
    pub limits: Limits,
    /// Where the scan notes how far it is.
    pub progress: Progress,
}

/// What a scan reads at most. Every size in a file is a claim; reaching a limit is a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Members of one archive.
    pub members: usize,
    /// Unpacked bytes of one member of an archive.
    pub member_bytes: u64,
    /// Images of one member, fatbin entries above all.
    pub images: usize,
    /// Bytes of identifiers and options that are kept of one member.
    pub text_bytes: usize,
    /// Bytes of one entry header; 32,608 have been seen.
    pub entry_header: usize,
    /// Bytes of a bare cubin that is read whole; of a larger one only the number is read.
    pub cubin_bytes: u64,
    /// Unpacked bytes of one payload that is decoded.
    pub payload_bytes: u64,
    /// How often a member is read again after a damaged fatbin.
    pub rereads: u32,
    /// Diagnostics of one member; the rest is counted.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            members: 1_000_000,
            member_bytes: 64 << 30,
            images: 1 << 20,
            text_bytes: 16 << 20,
            entry_header: 1 << 20,
            cubin_bytes: 16 << 20,
            payload_bytes: 256 << 20,
            rereads: 8,
            diagnostics: 100,
        }
    }
}
