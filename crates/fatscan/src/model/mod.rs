//! What a scan finds, owned and plain: artefact, member, module, image, kernel. No reader is imported here.

mod kernel;
mod unread;

use std::sync::Arc;

use fatscan_containers::PeImage;
use gpu_arch::Arch;

pub use kernel::{Kernel, KernelResources};
pub use unread::{Unread, Why};

use crate::diagnostic::{Diagnostic, Level};
use crate::locator::Locator;

/// What a scan found, and what it has to say beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// In the order of the paths given; archives of a directory follow it, by path.
    pub artefacts: Vec<Artefact>,
    /// By place.
    pub diagnostics: Vec<Diagnostic>,
    /// What may hold device code and was not read, by place.
    pub unread: Vec<Unread>,
    /// How deep was looked. [`crate::judge`] needs to know.
    pub depth: Depth,
}

/// How deep a scan looked into payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Depth {
    /// Small payloads were looked into for entry functions, so that stubs are known.
    pub entry_functions: bool,
}

impl Report {
    /// Whether something of an artefact could not be read: then there may be more in it than the report says.
    #[must_use]
    pub fn is_damaged(&self, artefact: usize) -> bool {
        let mut errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
        let unread = || self.unread.iter().any(|unread| self.artefact_of(&unread.at) == Some(artefact));
        errors.any(|diagnostic| self.artefact_of(&diagnostic.at) == Some(artefact)) || unread()
    }

    /// The artefact that a place is in.
    #[must_use]
    pub fn artefact_of(&self, at: &Locator) -> Option<usize> {
        let own = self.artefacts.iter().enumerate().filter(|(_, artefact)| at.is_in(&artefact.at));
        own.max_by_key(|(_, artefact)| artefact.at.steps.len()).map(|(index, _)| index)
    }

    /// The path of the file in its artefact that a place is in, as [`Member::path`]; empty where it is the artefact.
    #[must_use]
    pub fn member_of(&self, at: &Locator) -> String {
        match self.artefact_of(at).and_then(|index| self.artefacts.get(index)) {
            Some(artefact) if artefact.kind == ArtefactKind::File => artefact.at.file_name(),
            Some(artefact) => at.names(artefact.at.steps.len()),
            None => String::new(),
        }
    }
}

/// A thing that is shipped: a wheel, a directory, a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artefact {
    /// Path as given, or below the directory that was given; shown, not opened.
    pub path: String,
    /// Where it is.
    pub at: Locator,
    /// What it is.
    pub kind: ArtefactKind,
    /// Bytes on disk, or unpacked where it lies in an archive; of a directory the sum of its loose files.
    pub size: u64,
    /// Native files without device code, by number.
    pub members_without_code: u64,
    /// Files with device code, by path.
    pub members: Vec<Member>,
}

impl Artefact {
    /// Whether it is an archive without native files that was found below a directory, and no wheel: data of a program.
    #[must_use]
    pub fn is_beside(&self) -> bool {
        let is_found = self.at.steps.len() > 1;
        let is_archive = matches!(self.kind, ArtefactKind::Zip | ArtefactKind::Archive);
        is_found && is_archive && self.members.is_empty() && self.members_without_code == 0
    }
}

/// Kinds of artefacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ArtefactKind {
    /// A Python wheel.
    Wheel,
    /// Another zip archive.
    Zip,
    /// An archive that is read forward: tar, cpio, compressed or not, behind a script or not.
    Archive,
    /// A package of conda, Debian or RPM.
    Package,
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
            Self::Archive => "archive",
            Self::Package => "package",
            Self::Directory => "directory",
            Self::File => "file",
        }
    }
}

/// A file with device code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Path in the artefact, shown lossily; what nests in it follows behind `!`.
    pub path: String,
    /// Where it is.
    pub at: Locator,
    /// The format's word: `elf`, `pe`, ... or `unknown`.
    pub format: &'static str,
    /// Machine of the host code.
    pub machine: Option<&'static str>,
    /// Major version of the CUDA runtime library that it is linked to at load time, by its dependency table.
    pub runtime: Option<u16>,
    /// What a PE image states of itself.
    pub pe: Option<PeImage>,
    /// Bytes, unpacked.
    pub size: u64,
    /// Bytes in the archive that holds it, where one does.
    pub packed: Option<u64>,
    /// What the driver would load one by one, by offset.
    pub modules: Vec<Module>,
    /// Fatbins without entries, by number.
    pub empty_fatbins: u64,
}

impl Member {
    /// Whether it is a file of intermediate code alone: LTO-IR for a linker, or OptiX-IR, which begins alike.
    #[must_use]
    pub fn is_bare_ir(&self) -> bool {
        let is_one = |image: &Image| image.kind == CodeKind::LtoIr;
        let mut modules = self.modules.iter();
        !self.modules.is_empty() && modules.all(|own| own.source == Source::Raw && own.images.iter().all(is_one))
    }

    /// The same without its modules.
    #[must_use]
    pub fn clone_without_modules(&self) -> Self {
        Self {
            path: self.path.clone(),
            at: self.at.clone(),
            format: self.format,
            machine: self.machine,
            runtime: self.runtime,
            pe: self.pe,
            size: self.size,
            packed: self.packed,
            modules: Vec::new(),
            empty_fatbins: self.empty_fatbins,
        }
    }
}

/// One fatbin, bare cubin, PTX text, ...: the unit that the driver loads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// Object in a static archive or slice of a universal file, where it is in one.
    pub object: Option<Arc<Object>>,
    /// Name of the section that holds it, where known.
    pub section: Option<Arc<str>>,
    /// Offset in the member (in the object of an archive), in bytes.
    pub offset: u64,
    /// Bytes that a fatbin takes in the file with its header, as that states; 0 of anything else.
    pub size: u64,
    /// How the code is kept.
    pub source: Source,
    /// Whether a wrapper record points at it; `None` where that cannot be told.
    pub wrapped: Option<bool>,
    /// Whether one of these records says that it came out of a device link (version 2).
    pub prelinked: bool,
    /// Whether a program that loads the file has it in memory; `None` where that cannot be told.
    pub mapped: Option<bool>,
    /// Whether its chain of entries is broken.
    pub damaged: bool,
    /// Its images, in the order of the file.
    pub images: Vec<Image>,
}

/// A part of a file that is itself a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// Its name, bytes that are not UTF-8 replaced; of parts within parts all, with `!` between.
    pub name: String,
    /// Where it is.
    pub at: Locator,
    /// Where it begins in the member, in bytes.
    pub base: u64,
}

impl Module {
    /// A module at `offset`, still without the names of what holds it.
    pub(crate) fn new(source: Source, offset: u64, images: Vec<Image>) -> Self {
        Self {
            object: None,
            section: None,
            offset,
            size: 0,
            source,
            wrapped: None,
            prelinked: false,
            mapped: None,
            damaged: false,
            images,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn at(&self, member: &Member) -> Locator {
        let own = self.object.as_ref().map_or(&member.at, |object| &object.at);
        Locator { section: self.section.clone(), offset: Some(self.offset), ..own.clone() }
    }

    /// Where the object that holds it begins in the member, in bytes.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.object.as_ref().map_or(0, |object| object.base)
    }
}

/// How device code is kept in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// What its payload says of itself, where that was looked at: see [`crate::Options::for_judging`].
    pub holds: Option<Holds>,
    /// Offset of the entry (or of the bare code) in the member, in bytes.
    pub offset: u64,
    /// Index of the member in its concatenated entry, where it is in one.
    pub concat: Option<u32>,
}

/// What a payload says of itself. The label selects it, and this is what the driver then finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// Code for an architecture.
    Code {
        /// The architecture: of PTX that of its first `.target`, of a cubin that of its header. The suffix of a cubin of ABI 8
        /// is that of its compat record, or of the label where there is none.
        arch: Arch,
        /// PTX ISA version of PTX.
        version: Option<(u16, u16)>,
        /// ABI of a cubin.
        cubin_abi: Option<u8>,
    },
    /// No code of the kind that the image says.
    Foreign,
    /// Obfuscated text.
    Obfuscated,
    /// It did not show: a head that goes on for too long, a payload that is unpacked only as a whole and too large for that.
    Unclear,
}

impl Image {
    /// Whether the payload is for another architecture than the image says, or no such code.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        match self.holds {
            Some(Holds::Code { arch, .. }) => self.arch.is_some_and(|label| !agree(label, arch)),
            Some(Holds::Foreign) => true,
            Some(Holds::Obfuscated | Holds::Unclear) | None => false,
        }
    }

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
            holds: None,
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

/// Whether a label and a payload are of one architecture. Code for a family (`f`) says so in a note only.
pub(crate) fn agree(label: Arch, payload: Arch) -> bool {
    let suffixes = (label.suffix(), payload.suffix());
    label.number() == payload.number()
        && (suffixes.0 == suffixes.1 || matches!(suffixes, (gpu_arch::Suffix::F, gpu_arch::Suffix::None)))
}
