//! What a scan finds, owned: artefact, member, module, image.

use core::fmt;

use gpu_arch::Arch;

use crate::diagnostic::{Diagnostic, Level};
use crate::kernels::Kernel;

/// What a scan found, and what it has to say beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order of the paths given; archives of a directory follow it, by path.
    pub artefacts: Vec<Artefact>,
    /// By place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Whether something of an artefact could not be read: then there may be more in it than the report says.
    #[must_use]
    pub fn is_damaged(&self, artefact: usize) -> bool {
        let mut errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
        errors.any(|diagnostic| self.subject(diagnostic).0 == Some(artefact))
    }

    /// The artefact and the member that a place lies in; the member is empty where the place is the artefact or none of the
    /// report's. Names may hold the separators of a place too.
    pub(crate) fn subject<'a>(&self, diagnostic: &'a Diagnostic) -> (Option<usize>, &'a str) {
        let place = diagnostic.place.as_str();
        let separated = |rest: &str| rest.is_empty() || rest.starts_with(['!', '@']);
        let paths = self.artefacts.iter().enumerate();
        let rests = paths.filter_map(|(index, artefact)| Some((index, artefact, place.strip_prefix(&artefact.path)?)));
        let own = rests.filter(|(.., rest)| separated(rest));
        let Some((index, artefact, rest)) = own.min_by_key(|(.., rest)| rest.len()) else { return (None, "") };
        if artefact.kind == ArtefactKind::File {
            return (Some(index), place.strip_suffix(rest).unwrap_or(place));
        }
        if let Some(member) = &diagnostic.member {
            return (Some(index), member);
        }
        let Some(inside) = rest.strip_prefix('!') else { return (Some(index), "") };
        let known = artefact.members.iter().map(|member| member.path.as_str());
        let known = known.filter(|path| inside.strip_prefix(path).is_some_and(separated)).max_by_key(|path| path.len());
        let end = known.map(str::len).or_else(|| inside.find(['!', '@'])).unwrap_or(inside.len());
        (Some(index), inside.get(..end).unwrap_or(inside))
    }
}

/// A thing that is shipped: a wheel, a directory, a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artefact {
    /// Path as given, or below the directory that was given.
    pub path: String,
    /// What it is.
    pub kind: ArtefactKind,
    /// Bytes on disk; of a directory the sum of its loose files.
    pub size: u64,
    /// Native files without device code, by number.
    pub members_without_code: u64,
    /// Files with device code, by path.
    pub members: Vec<Member>,
}

/// Kinds of artefacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtefactKind {
    /// A Python wheel.
    Wheel,
    /// Another zip archive.
    Zip,
    /// The loose files of a directory.
    Directory,
    /// One file.
    File,
}

impl ArtefactKind {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Zip => "zip",
            Self::Directory => "directory",
            Self::File => "file",
        }
    }
}

/// A file with device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Path in the artefact.
    pub path: String,
    /// The format's word: `elf`, `pe`, ... or `unknown`.
    pub format: &'static str,
    /// Machine of the host code.
    pub machine: Option<&'static str>,
    /// Major version of the CUDA runtime library that it is linked to at load time, by its dependency table.
    pub runtime: Option<u16>,
    /// Bytes, unpacked.
    pub size: u64,
    /// Bytes in the archive that holds it, where one does.
    pub packed: Option<u64>,
    /// Place in the directory of that archive, from 0: two members may have one path.
    pub entry: Option<usize>,
    /// What the driver would load one by one, by offset.
    pub modules: Vec<Module>,
    /// Fatbins without entries, by number.
    pub empty_fatbins: u64,
}

/// One fatbin, bare cubin, PTX text, ...: the unit that the driver loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Object in a static archive, where there is one.
    pub object: Option<Box<str>>,
    /// Name of the section that holds it, where known.
    pub section: Option<Box<str>>,
    /// Offset in the member (in the object of an archive), in bytes.
    pub offset: u64,
    /// Offset of that object in the member, in bytes.
    pub base: u64,
    /// How the code is kept.
    pub source: Source,
    /// Whether a wrapper record points at it; `None` where that cannot be told.
    pub wrapped: Option<bool>,
    /// Whether its chain of entries is broken.
    pub damaged: bool,
    /// Its images, in the order of the file.
    pub images: Vec<Image>,
}

impl Module {
    /// A module at `offset`, still without the names of what holds it.
    pub(crate) fn new(source: Source, offset: u64, images: Vec<Image>) -> Self {
        Self { object: None, section: None, offset, base: 0, source, wrapped: None, damaged: false, images }
    }
}

/// How device code is kept in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An entry of a fatbin.
    Fatbin,
    /// A cubin outside any fatbin.
    Cubin,
    /// PTX text outside any fatbin.
    PtxText,
    /// A bare file of LTO-IR or Tile IR.
    Raw,
    /// An offload bundle of another vendor's compiler.
    OffloadBundle,
}

impl Source {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fatbin => "fatbin",
            Self::Cubin => "cubin",
            Self::PtxText => "ptx-text",
            Self::Raw => "raw",
            Self::OffloadBundle => "offload-bundle",
        }
    }
}

/// What kind of code an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeKind {
    /// Machine code.
    Sass,
    /// Portable code that the driver compiles.
    Ptx,
    /// Input of a link-time optimiser.
    LtoIr,
    /// CUDA Tile IR.
    TileIr,
    /// Anything else, other vendors' code included.
    Other,
}

impl CodeKind {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sass => "sass",
            Self::Ptx => "ptx",
            Self::LtoIr => "lto-ir",
            Self::TileIr => "tile-ir",
            Self::Other => "other",
        }
    }
}

/// Whether the driver can load an image as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Linkage {
    /// It can.
    Loadable,
    /// It is input of a device link.
    Relocatable,
    /// Not known: the section table is missing.
    Unknown,
}

impl Linkage {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loadable => "loadable",
            Self::Relocatable => "relocatable",
            Self::Unknown => "unknown",
        }
    }
}

/// One piece of device code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What it is.
    pub kind: CodeKind,
    /// Architecture with suffix, as the entry header (or the bare code itself) names it; `None` where there is none.
    pub arch: Option<Arch>,
    /// Another vendor's name of the architecture, `gfx942`.
    pub foreign: Option<Box<str>>,
    /// PTX ISA version of PTX; 1.7 and 1.8 of a cubin in a fatbin (its ABI); `None` where not stated.
    pub version: Option<(u16, u16)>,
    /// ABI of a cubin, 7 or 8, where stated.
    pub cubin_abi: Option<u8>,
    /// Whether the driver can load it.
    pub linkage: Linkage,
    /// The flag word of a fatbin entry, else 0.
    pub flags: u64,
    /// Compression of the payload.
    pub compression: fatbin::Compression,
    /// Bytes in the file, without padding where that is known.
    pub stored_bytes: u64,
    /// Bytes when unpacked, as stated.
    pub unpacked_bytes: Option<u64>,
    /// Identifier of a fatbin entry, often the source file.
    pub identifier: Option<Box<str>>,
    /// Options text of a fatbin entry.
    pub options: Option<Box<str>>,
    /// Whether it has an entry function, where that was looked at.
    pub has_kernels: Option<bool>,
    /// Toolkit that made a cubin, where it was looked at.
    pub toolkit: Option<(u16, u16)>,
    /// Its kernels, where they were read: see [`crate::KernelDepth`].
    pub kernels: Option<Vec<Kernel>>,
    /// Offset of the entry (or of the bare code) in the member, in bytes.
    pub offset: u64,
    /// Index of the member in its concatenated entry, where it is in one.
    pub concat: Option<u32>,
}

impl Image {
    /// Code outside any fatbin: `stored_bytes` at `offset`, of which nothing else is known.
    pub(crate) fn bare(kind: CodeKind, offset: u64, stored_bytes: u64) -> Self {
        Self {
            kind,
            arch: None,
            foreign: None,
            version: None,
            cubin_abi: None,
            linkage: Linkage::Loadable,
            flags: 0,
            compression: fatbin::Compression::None,
            stored_bytes,
            unpacked_bytes: Some(stored_bytes),
            identifier: None,
            options: None,
            has_kernels: None,
            toolkit: None,
            kernels: None,
            offset,
            concat: None,
        }
    }

    /// The architecture as people write it for this kind: `sm_90a`, `compute_90`, `lto_90`, `gfx942`.
    #[must_use]
    pub fn arch_name(&self) -> Option<String> {
        if let Some(foreign) = &self.foreign {
            return Some(foreign.to_string());
        }
        let prefix = match self.kind {
            CodeKind::Sass | CodeKind::TileIr | CodeKind::Other => "sm",
            CodeKind::Ptx => "compute",
            CodeKind::LtoIr => "lto",
        };
        self.arch.map(|arch| format!("{prefix}_{arch}"))
    }

    /// Whether the code was compiled for debugging.
    #[must_use]
    pub const fn is_debug(&self) -> bool {
        self.flags & fatbin::Flags::DEBUG.bits() != 0
    }
}

/// Where something is: `a.whl!torch/lib/x.so!.nv_fatbin@0x3a40#2`. Archives nest with `!`, then come section, offset
/// and index of the image.
#[derive(Clone, Debug, Default)]
pub struct Place<'a> {
    /// Artefact, member and object, from the outside in; empty ones are left out.
    pub path: [&'a str; 3],
    /// Section.
    pub section: Option<&'a str>,
    /// Offset in the innermost file.
    pub offset: Option<u64>,
    /// Index of the image in its module.
    pub image: Option<usize>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.path.iter().filter(|part| !part.is_empty());
        if let Some(first) = parts.next() {
            f.write_str(first)?;
        }
        for part in parts {
            write!(f, "!{part}")?;
        }
        match (self.section, self.offset) {
            (Some(section), Some(offset)) => write!(f, "!{section}@{offset:#x}")?,
            (None, Some(offset)) => write!(f, "@{offset:#x}")?,
            (Some(section), None) => write!(f, "!{section}")?,
            (None, None) => {}
        }
        match self.image {
            Some(image) => write!(f, "#{image}"),
            None => Ok(()),
        }
    }
}
