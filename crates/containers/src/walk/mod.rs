//! Files of several parts that are read forward.

mod ar;
mod cpio;
mod rpm;
mod script;
mod tar;
mod universal;

use std::sync::Arc;

pub use ar::ArchiveWalk;
pub use cpio::CpioWalk;
pub use rpm::rpm_payload;
pub use script::{SCRIPT_SIZE, script_payload};
pub use tar::TarWalk;
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

/// An archive or a package that is read forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Package {
    /// A tar archive.
    Tar,
    /// A cpio archive of the kind that RPM packages hold.
    Cpio,
    /// A package of Debian: a static library's format with tar archives in it.
    Deb,
    /// A package of RPM: headers and a compressed cpio archive.
    Rpm,
    /// A script that unpacks an archive behind it, made by makeself.
    Script,
}

impl Package {
    /// The package that the first bytes of a file show.
    #[must_use]
    pub fn sniff(prefix: &[u8]) -> Option<Self> {
        match prefix {
            [0xed, 0xab, 0xee, 0xdb, ..] => Some(Self::Rpm),
            [b'0', b'7', b'0', b'7', b'0', b'1' | b'2', ..] => Some(Self::Cpio),
            [b'#', b'!', ..] => script::is_one(prefix).then_some(Self::Script),
            [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', own @ ..] => {
                let is_deb = own.starts_with(b"debian-binary ") || own.starts_with(b"debian-binary/");
                is_deb.then_some(Self::Deb)
            }
            _ => tar::is_one(prefix).then_some(Self::Tar),
        }
    }
}

/// One entry of an archive that is read forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name and bytes; the stream stands at its first byte.
    pub part: Part,
    /// What it is.
    pub kind: EntryKind,
    /// Whether its sizes are stated twice and differ, so that another reader sees other entries behind it.
    pub ambiguous: bool,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// Another name of a file in the same archive: which, where that is known.
    Link(Arc<[u8]>),
    /// A file of which only the parts that are not zero are there.
    Sparse,
    /// A directory, a symbolic link, a device.
    Other,
}

/// A name without `./` and `/` before it: where it lies in what is unpacked.
fn plain(name: &[u8]) -> &[u8] {
    let mut name = name;
    while let Some(rest) = name.strip_prefix(b"./").or_else(|| name.strip_prefix(b"/")) {
        name = rest;
    }
    name
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
    /// Something stands behind the end of the archive, which other readers may read.
    Behind {
        /// About where, in bytes.
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
