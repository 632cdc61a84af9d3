//! What kind of file this is, and which members, sections and bytes are in it.
//!
//! This crate knows files and archives, and no GPUs: it finds no device code. It offers the bytes of a member as a
//! [`ByteStream`], which is read forward only and once, because a native member of a wheel can be larger than the
//! memory and is nearly always deflated.
//!
//! | module | what | types to know |
//! |---|---|---|
//! | `source` | random access to what holds the bytes | [`Source`], [`FileSource`], [`Mapping`] |
//! | `stream` | bytes that are read forward; what is kept while they pass | [`ByteStream`], [`SliceStream`], [`Tap`], [`Bounded`] |
//! | `codec` | streams over streams | [`Codec`], [`Inflater`] |
//! | `walk` | files of several parts, read forward | [`ArchiveWalk`], [`TarWalk`], [`CpioWalk`], [`universal`] |
//! | `index` | archives with a table of members | [`Zip`] |
//! | `rezip` | an archive written anew from another | [`Rezip`] |
//! | `layout`, `needed` | sections and linkage of a library | [`Layout`], [`Ranges`], [`needed`] |
//! | `linkage` | how a library is linked: names, paths, machine | [`Library`], [`library`] |
//! | `budget` | every limit, and the memory that threads share | [`Limits`], [`Memory`] |
//!
//! ```
//! use fatscan_containers::{ByteStream, Format, SliceStream};
//! let mut stream = SliceStream::new(b"\x7fELF and so on");
//! stream.fill(4);
//! assert_eq!(Format::sniff(stream.window()), Some(Format::Elf));
//! assert_eq!(stream.skip(100), 14);
//! ```

mod budget;
mod codec;
mod format;
mod index;
mod layout;
mod linkage;
mod needed;
mod number;
mod ranges;
mod rezip;
mod source;
mod stream;
mod tree;
mod walk;

pub use budget::{Grant, Limits, Memory, Windows};
pub use codec::{Codec, Decoded, Deflate, Expected, Inflater};
pub use format::{Format, SNIFF_SIZE};
pub use index::{MemberDoubt, Zip, ZipDoubt, ZipMember, ZipMethod, parts};
pub use layout::{Layout, ObjectType, PREFIX_SIZE, PeImage, SECTION_NAME, Section, Segment, announced, table_bytes};
pub use linkage::{Library, LinkageError, Machine, library};
pub use needed::{names_at, needed};
pub use ranges::Ranges;
pub use rezip::Rezip;
pub use source::{FileSource, Mapping, Source, open_file};
pub use stream::{Bounded, ByteStream, Checked, Fault, Onward, ReadStream, ReaderStream, SliceStream, Tap};
pub use tree::{Tree, TreeFile, tree};
pub use walk::{
    ArchiveWalk, CpioWalk, Damage, Entry, EntryKind, MachOSlice, Package, Part, SCRIPT_SIZE, TarWalk, rpm_payload,
    script_payload, universal,
};
