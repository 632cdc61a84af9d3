//! What one piece of device code says of itself: a cubin (SASS in an ELF), PTX text, LTO-IR or Tile IR.
//!
//! A fatbin entry states an architecture; the payload has its own. This crate reads the payload's: [`Head`] from the
//! first 64 bytes of a cubin (architecture number and extent, enough to step over one that lies bare in a library),
//! [`Cubin`] from a whole one, [`PtxHead`] from the directives of a PTX text. [`Functions`] names the kernels of a cubin
//! and what they need; [`SymbolPrefix`] names them from the first part of its bytes, for one that is being decompressed.
//!
//! ```
//! let ptx = b"//\n// by hand\n.version 8.5\n.target sm_90a, debug\n.address_size 64\n.visible .entry k() { ret; }\0";
//! let head = cubin::PtxHead::find(ptx).unwrap();
//! assert_eq!(head.target.to_string(), "90a");
//! assert_eq!(cubin::ptx_kernels(ptx), [b"k"]);
//! ```

mod attributes;
#[cfg(feature = "demangle")]
mod demangle;
mod digits;
mod elf;
mod function;
mod functions;
mod head;
mod info;
mod ir;
mod limits;
mod prefix;
mod provenance;
mod ptx;
mod resources;
mod sections;
mod toolkit;

pub use attributes::{Attributes, accelerator_target};
#[cfg(feature = "demangle")]
pub use demangle::{DEMANGLE_INPUT_LIMIT, DEMANGLE_OUTPUT_LIMIT, demangle};
pub use elf::{Cubin, Family};
pub use function::{Binding, Function, FunctionKind};
pub use functions::Functions;
pub use head::{Abi, EM_CUDA, FileType, HEAD_SIZE, Head};
pub use ir::{LTO_IR_MAGIC, TILE_IR_MAGIC, TileIrHead};
pub use limits::Limits;
pub use prefix::{PrefixOutcome, SymbolPrefix};
pub use provenance::{Language, Provenance};
pub use ptx::{
    PTX_HEAD_LIMIT, PtxHead, PtxKernel, PtxKernels, PtxLinkage, PtxStart, PtxVersion, is_ptx_text_byte,
    ptx_kernel_details, ptx_kernels, ptx_kernels_within,
};
pub use resources::{ModuleResources, Parameter, ResourceIndex, Resources};
pub use toolkit::ToolNote;

/// A cubin that cannot be read as far as was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Byte offset from the start of the payload.
    pub offset: u64,
}

/// The kinds of damage of a cubin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No ELF header of a CUDA machine.
    NotCubin,
    /// The section table or the section names lie outside the data.
    Sections,
    /// The symbol table or its strings lie outside the data.
    Symbols,
    /// More than [`Limits`] allow. What was asked for is there, and was not read.
    Limit,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.kind {
            ErrorKind::NotCubin => f.write_str("not a cubin"),
            ErrorKind::Sections => write!(f, "section table of the cubin is damaged at {:#x}", self.offset),
            ErrorKind::Symbols => f.write_str("symbol table of the cubin is damaged"),
            ErrorKind::Limit => f.write_str("more functions, sections or bytes of names than the limit"),
        }
    }
}

impl core::error::Error for Error {}
