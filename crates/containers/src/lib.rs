//! What kind of file this is, and which members, sections and bytes are in it.
//!
//! This crate knows files and archives, and no GPUs: it finds no device code. It offers the bytes of a member as a
//! [`ByteStream`], which is read forward only and once, because a native member of a wheel can be larger than the
//! memory and is nearly always deflated.
//!
//! The types to know: [`Format`] (what the first bytes say), [`ByteStream`] with [`SliceStream`] and [`Inflater`],
//! [`Zip`] with its [`ZipMember`]s, [`ArchiveWalk`] for static libraries, and [`Layout`] for the section table of a
//! library.
//!
//! ```
//! use fatscan_containers::{ByteStream, Format, SliceStream};
//! let mut stream = SliceStream::new(b"\x7fELF and so on");
//! stream.fill(4);
//! assert_eq!(Format::sniff(stream.window()), Some(Format::Elf));
//! assert_eq!(stream.skip(100), 14);
//! ```

mod archive;
mod bounded;
mod format;
mod inflate;
mod layout;
mod map;
mod needed;
mod replay;
mod stream;
mod universal;
mod walk;
mod zip;

pub use archive::{ArchiveError, ArchiveMember, ArchiveWalk};
pub use bounded::Bounded;
pub use format::{Format, SNIFF_SIZE};
pub use inflate::Inflater;
pub use layout::{Layout, ObjectType, Section, Segment};
pub use map::{Mapped, map, map_if};
pub use needed::{announced, needed};
pub use replay::{Replay, layout_of};
pub use stream::{ByteStream, Fault, SliceStream};
pub use universal::{MachOSlice, universal};
pub use walk::{Walk, WalkEntry, walk};
pub use zip::{Zip, ZipMember, ZipMethod, ZipProblem};
