//! What one piece of device code says of itself: a cubin (SASS in an ELF), PTX text, LTO-IR or Tile IR.
//!
//! A fatbin entry states an architecture; the payload has its own. This crate reads the payload's: [`Head`] from the
//! first 64 bytes of a cubin (architecture number and extent, enough to step over one that lies bare in a library),
//! [`Cubin`] from a whole one, [`PtxHead`] from the directives of a PTX text.
//!
//! ```
//! let ptx = b"//\n// by hand\n.version 8.5\n.target sm_90a, debug\n.address_size 64\n.visible .entry k() { ret; }\0";
//! let head = cubin::PtxHead::find(ptx).unwrap();
//! assert_eq!(head.target.to_string(), "90a");
//! assert_eq!(cubin::ptx_kernels(ptx), [b"k"]);
//! ```

mod attributes;
mod elf;
mod head;
mod ir;
mod ptx;
mod symbols;
mod toolkit;

pub use attributes::{Attributes, accelerator_target};
pub use elf::{Cubin, Family};
pub use head::{Abi, EM_CUDA, FileType, HEAD_SIZE, Head};
pub use ir::{LTO_IR_MAGIC, TILE_IR_MAGIC, TileIrHead};
pub use ptx::{PTX_HEAD_LIMIT, PtxHead, PtxVersion, is_ptx_text_byte, ptx_kernels};

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
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.kind {
            ErrorKind::NotCubin => f.write_str("not a cubin"),
            ErrorKind::Sections => write!(f, "section table of the cubin is damaged at {:#x}", self.offset),
        }
    }
}

impl core::error::Error for Error {}
