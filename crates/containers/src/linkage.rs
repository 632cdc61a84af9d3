//! How a library is linked: its machine, its own name, the names it asks for and the paths it has them looked for in.
//!
//! Few ranges of the file are read, however large it is. What a file states is a claim: where the tables do not hold
//! together it is an error, and where they are larger than anything real, [`Library::cut`] is set.

use std::collections::BTreeSet;
use std::io;

use goblin::container::Ctx;
use goblin::elf::Elf;
use goblin::elf::dynamic::{DF_1_NODEFLIB, DT_FLAGS_1, DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_STRTAB};
use goblin::elf::program_header::{PT_DYNAMIC, PT_LOAD, ProgramHeader};

use crate::format::{Format, SNIFF_SIZE};
use crate::layout::PREFIX_SIZE;
use crate::needed::{dynamic_entries, names_at, needed_pe};
use crate::ranges::Ranges;
use crate::source::Source;
use crate::stream::Tap;

/// Program headers at most; libraries have a dozen.
const SEGMENTS: usize = 4096;
/// Bytes of a dynamic section at most: 4,096 entries.
const DYNAMIC: u64 = 64 * 1024;
/// Bytes of all names and paths together.
const TEXT: usize = 256 * 1024;
/// Bytes read at a time to find names, and of one that is long.
const BLOCKS: [usize; 2] = [4096, 64 * 1024];
/// Bytes of one range of a PE image.
const RANGE: u64 = 1 << 20;

/// What a file is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Machine {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// 32-bit x86.
    I386,
    /// 32-bit Arm.
    Arm,
    /// Power, 64 bits.
    Ppc64,
    /// IBM Z.
    S390,
    /// RISC-V.
    RiscV,
    /// Another one, by the number in the header.
    Other(u16),
}

impl Machine {
    const fn of_elf(number: u16) -> Self {
        match number {
            3 => Self::I386,
            21 => Self::Ppc64,
            22 => Self::S390,
            40 => Self::Arm,
            62 => Self::X86_64,
            183 => Self::Aarch64,
            243 => Self::RiscV,
            other => Self::Other(other),
        }
    }

    const fn of_pe(number: u16) -> Self {
        match number {
            0x14c => Self::I386,
            0x1c4 => Self::Arm,
            0x8664 => Self::X86_64,
            0xaa64 => Self::Aarch64,
            other => Self::Other(other),
        }
    }
}

impl core::fmt::Display for Machine {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::X86_64 => out.write_str("x86_64"),
            Self::Aarch64 => out.write_str("aarch64"),
            Self::I386 => out.write_str("i386"),
            Self::Arm => out.write_str("arm"),
            Self::Ppc64 => out.write_str("ppc64"),
            Self::S390 => out.write_str("s390"),
            Self::RiscV => out.write_str("riscv"),
            Self::Other(number) => write!(out, "machine {number}"),
        }
    }
}

/// How one file is linked. Bytes that are no UTF-8 are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Library {
    /// [`Format::Elf`] or [`Format::Pe`].
    pub format: Format,
    /// What it is made for.
    pub machine: Machine,
    /// 32 or 64.
    pub bits: u8,
    /// Whether it has a table for the dynamic loader; an object file and a static program have none.
    pub dynamic: bool,
    /// DT_SONAME.
    pub soname: Option<String>,
    /// The libraries it asks for: DT_NEEDED in its order; the imports of a PE image, delayed ones too, by name.
    pub needed: Vec<String>,
    /// DT_RPATH as it stands there. The loader ignores it where there is a `runpath`.
    pub rpath: Option<String>,
    /// DT_RUNPATH as it stands there.
    pub runpath: Option<String>,
    /// DF_1_NODEFLIB: the default directories are not for it.
    pub no_default_directories: bool,
    /// Names or paths are left out, because they are more or longer than anything real or because they do not end.
    pub cut: bool,
}

impl Library {
    /// A library of this machine that asks for nothing.
    #[must_use]
    pub const fn new(format: Format, machine: Machine, bits: u8) -> Self {
        Self {
            format,
            machine,
            bits,
            dynamic: false,
            soname: None,
            needed: Vec::new(),
            rpath: None,
            runpath: None,
            no_default_directories: false,
            cut: false,
        }
    }
}

/// Why it is not known how a file is linked.
#[derive(Debug)]
#[non_exhaustive]
pub enum LinkageError {
    /// It cannot be read.
    Io(io::Error),
    /// It is damaged: what.
    Damaged(&'static str),
}

impl core::fmt::Display for LinkageError {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(out),
            Self::Damaged(what) => out.write_str(what),
        }
    }
}

impl std::error::Error for LinkageError {}

impl From<io::Error> for LinkageError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// How a file is linked; `None` of what is neither ELF nor PE.
///
/// ```
/// use fatscan_containers::{Source, library};
/// assert!(library(&b"a text".as_slice() as &dyn Source).unwrap().is_none());
/// assert!(library(&b"\x7fELF\x02\x01\x01, and cut".as_slice() as &dyn Source).is_err());
/// ```
///
/// # Errors
/// Where it cannot be read, or its tables do not hold together.
pub fn library(source: &dyn Source) -> Result<Option<Library>, LinkageError> {
    match Format::sniff(&source.bytes(0, SNIFF_SIZE)?) {
        Some(Format::Elf) => elf(source).map(Some),
        Some(Format::Pe) => pe(source).map(Some),
        _ => Ok(None),
    }
}

fn elf(source: &dyn Source) -> Result<Library, LinkageError> {
    const CUT: LinkageError = LinkageError::Damaged("the file ends within its tables");
    let header = Elf::parse_header(&source.bytes(0, 64)?).map_err(|_| LinkageError::Damaged("no ELF header"))?;
    let (Ok(container), Ok(endian)) = (header.container(), header.endianness()) else {
        return Err(LinkageError::Damaged("no ELF header"));
    };
    let context = Ctx::new(container, endian);
    let bits = if container.is_big() { 64 } else { 32 };
    let mut library = Library::new(Format::Elf, Machine::of_elf(header.e_machine), bits);
    let (count, size) = (usize::from(header.e_phnum), ProgramHeader::size(context));
    if count == 0 {
        return Ok(library);
    }
    if usize::from(header.e_phentsize) != size || count > SEGMENTS {
        return Err(LinkageError::Damaged("the program headers are none"));
    }
    let bytes = source.bytes(header.e_phoff, count.saturating_mul(size))?;
    let segments = ProgramHeader::parse(&bytes, 0, count, context).map_err(|_| CUT)?;
    // of several the loader takes the last, by its address
    let is_dynamic = |segment: &&ProgramHeader| segment.p_type == PT_DYNAMIC && segment.p_filesz > 0;
    let Some(dynamic) = segments.iter().rev().find(is_dynamic) else { return Ok(library) };
    library.dynamic = true;
    library.cut = dynamic.p_filesz > DYNAMIC;
    let length = usize::try_from(dynamic.p_filesz.min(DYNAMIC)).unwrap_or(0);
    let table = source.bytes(offset_of(&segments, dynamic.p_vaddr).unwrap_or(dynamic.p_offset), length)?;
    if table.len() < length {
        return Err(CUT);
    }
    let entries = dynamic_entries(&table, context).ok_or(LinkageError::Damaged("no dynamic section"))?;
    // an entry that comes twice counts as it comes last
    let last = |tag: u64| entries.iter().rev().find(|(own, _)| *own == tag).map(|(_, value)| *value);
    library.no_default_directories = last(DT_FLAGS_1).is_some_and(|flags| flags & DF_1_NODEFLIB != 0);
    let is_text = |tag: u64| [DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH].contains(&tag);
    if !entries.iter().any(|(tag, _)| is_text(*tag)) {
        return Ok(library);
    }
    let names = last(DT_STRTAB).and_then(|address| offset_of(&segments, address));
    let Some(names) = names else { return Err(LinkageError::Damaged("the names of the dynamic section are nowhere")) };
    let mut texts = Texts { source, names, block: (0, Vec::new()), room: TEXT, cut: library.cut };
    for place in entries.iter().filter(|(tag, _)| *tag == DT_NEEDED).map(|(_, place)| *place) {
        library.needed.extend(texts.at(place)?);
    }
    for (tag, text) in
        [(DT_SONAME, &mut library.soname), (DT_RPATH, &mut library.rpath), (DT_RUNPATH, &mut library.runpath)]
    {
        if let Some(place) = last(tag) {
            *text = texts.at(place)?;
        }
    }
    library.cut = texts.cut;
    Ok(library)
}

/// Where in the file an address is that it is loaded to; of segments over each other, the last.
fn offset_of(segments: &[ProgramHeader], address: u64) -> Option<u64> {
    segments.iter().rev().filter(|segment| segment.p_type == PT_LOAD).find_map(|segment| {
        let within = address.checked_sub(segment.p_vaddr)?;
        if within < segment.p_filesz { segment.p_offset.checked_add(within) } else { None }
    })
}

/// The names of a dynamic section. Those of libraries lie beside each other: one block serves most of them.
struct Texts<'source> {
    source: &'source dyn Source,
    names: u64,
    block: (u64, Vec<u8>),
    room: usize,
    cut: bool,
}

impl Texts<'_> {
    fn at(&mut self, place: u64) -> io::Result<Option<String>> {
        let Some(at) = self.names.checked_add(place) else {
            self.cut = true;
            return Ok(None);
        };
        let mut found = self.of_block(at);
        for size in BLOCKS {
            if found.is_none() {
                self.block = (at, self.source.bytes(at, size)?);
                found = self.of_block(at);
            }
        }
        let text = found.filter(|text| text.len() <= self.room);
        self.cut |= text.is_none();
        self.room = self.room.saturating_sub(text.as_ref().map_or(0, String::len));
        Ok(text)
    }

    fn of_block(&self, at: u64) -> Option<String> {
        let start = usize::try_from(at.checked_sub(self.block.0)?).ok()?;
        let rest = self.block.1.get(start..)?;
        let text = rest.get(..memchr::memchr(0, rest)?)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

fn pe(source: &dyn Source) -> Result<Library, LinkageError> {
    const NONE: LinkageError = LinkageError::Damaged("no PE header");
    let prefix = source.bytes(0, PREFIX_SIZE)?;
    let at = |offset: usize, count: usize| prefix.get(offset..offset.checked_add(count)?);
    let start =
        at(0x3c, 4).and_then(|bytes| bytes.first_chunk()).map(|bytes| u32::from_le_bytes(*bytes)).ok_or(NONE)?;
    let head = usize::try_from(start).ok().and_then(|start| at(start, 26)).ok_or(NONE)?;
    let word = |offset: usize| {
        head.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u16::from_le_bytes(*bytes))
    };
    let bits = if word(24) == 0x20b { 64 } else { 32 };
    let mut library = Library::new(Format::Pe, Machine::of_pe(word(4)), bits);
    let mut tap = Tap::new(source.stream(0, source.len()), 0);
    let mut file = Ranges::new(&mut tap, source.len(), true, RANGE);
    let mut places = needed_pe(&mut file).unwrap_or_default();
    places.sort_unstable();
    let most = places.len().min(SEGMENTS);
    library.cut = most < places.len();
    let names = names_at(&mut file, places.get(..most).unwrap_or_default());
    let names: BTreeSet<String> = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    library.needed = names.into_iter().filter(|name| !name.is_empty()).collect();
    library.dynamic = !library.needed.is_empty();
    Ok(library)
}
