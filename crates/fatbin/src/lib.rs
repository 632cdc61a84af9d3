//! Zero-copy reader of NVIDIA's fatbin container: bytes in, records out.
//!
//! A fatbin is a 16-byte header and a chain of entries; each entry is one piece of device code (a cubin, a PTX text,
//! LTO-IR, ...) for one architecture. This crate knows the container only. It opens no file, judges no architecture
//! and looks into no payload; [`decode`] merely unpacks one.
//!
//! The three types to know: [`Fatbin`] (the container over a byte slice), [`Entry`] (one header with views of its
//! parts) and [`Error`] (what is damaged, and at which offset).
//!
//! ```
//! // an empty fatbin, then one whose size runs past the end of the data
//! let data = [&b"\x50\xed\x55\xba\x01\x00\x10\x00\0\0\0\0\0\0\0\0"[..],
//!             &b"\x50\xed\x55\xba\x01\x00\x10\x00\xff\0\0\0\0\0\0\0"[..]].concat();
//! let found: Vec<_> = fatbin::find(&data).collect();
//! assert_eq!(found.len(), 2);
//! assert_eq!(found[0].header().size, 0);
//! assert!(found[1].entries().any(|entry| entry.is_err()));
//! ```
//!
//! Layout and evidence: the doc tables of [`FatbinHeader`], [`EntryHeader`], [`Entry`], [`ConcatMember`] and
//! [`Wrapper`]. "Observed" there means: read from files made with NVIDIA's tools of CUDA 8.0 to 13.5 and compared with
//! what `cuobjdump` 13.5 prints.

mod concat;
mod container;
#[cfg(feature = "decompress")]
mod decode;
mod entry;
mod error;
#[cfg(feature = "decompress")]
mod first;
mod flags;
mod header;
mod kind;
#[cfg(feature = "decompress")]
mod memory;
mod text;
mod wrapper;

pub use concat::{ConcatMember, ConcatMembers};
pub use container::{Entries, Fatbin, Fatbins, find};
#[cfg(feature = "decompress")]
pub use decode::{Decoder, Payload, WINDOW_LIMIT, decode, decode_prefix};
pub use entry::{ENTRY_HEADER_SIZE, Entry, EntryHeader};
pub use error::{Error, ErrorKind};
pub use flags::{Compression, Flags};
pub use header::{FATBIN_HEADER_SIZE, FATBIN_MAGIC, FatbinHeader, OLD_FATBIN_MAGIC};
pub use kind::Kind;
#[cfg(feature = "decompress")]
pub use memory::{memory_to_decode, memory_to_stream};
pub use wrapper::{HIP_WRAPPER_MAGIC, WRAPPER_MAGIC, WRAPPER_SIZE, Wrapper};
