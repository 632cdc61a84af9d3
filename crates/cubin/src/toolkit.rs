//! Which toolkit made a cubin, and with which `-arch`: the notes that ptxas and nvlink leave.

use gpu_arch::Suffix;
use memchr::memmem;
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::NoteIterator;

use crate::digits::number;
use crate::info::u16_at;

/// Major and minor version of a toolkit.
pub(crate) type Version = (u16, u16);

/// One note of `.note.nv.tkinfo`: a tool that worked on a cubin.
///
/// | offset | size | name | evidence |
/// |---|---|---|---|
/// | 0 | 4 | version of the note: 2 in CUDA 13, the toolkit in 12.8 and 12.9 | observed |
/// | 4 | 4 | string: object name | observed |
/// | 8 | 4 | string: tool | observed |
/// | 12 | 4 | string: version | observed |
/// | 16 | 4 | string: branch | observed |
/// | 20 | 4 | string: command line | observed |
/// | 24 | | strings, each ended by NUL; offsets count from here | observed |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ToolNote<'data> {
    /// `ptxas` or `nvlink`.
    pub tool: &'data [u8],
    /// `Cuda compilation tools, release 13.5, V13.5.37`.
    pub version: &'data [u8],
    /// `Build cuda_13.5.r13.5/compiler.39125733_0`.
    pub branch: &'data [u8],
    /// Its arguments: `-arch sm_90a -m 64`.
    pub command_line: &'data [u8],
    /// Major and minor version of its release.
    pub release: Option<(u16, u16)>,
}

/// The notes in a `.note.nv.tkinfo` section: nvlink's first, then one of each input's ptxas. A damaged note ends them.
pub(crate) fn notes(section: &[u8]) -> impl Iterator<Item = ToolNote<'_>> {
    let mut records = NoteIterator::<FileHeader64<LittleEndian>>::new(LittleEndian, 4, section).ok();
    core::iter::from_fn(move || {
        let desc = records.as_mut()?.next().ok()??.desc();
        let text = |field| string(desc, field).unwrap_or_default();
        let version = text(12);
        Some(ToolNote { tool: text(8), version, branch: text(16), command_line: text(20), release: release(version) })
    })
}

/// What [`notes`] say of the architecture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    /// Of the first note that tells it: the tool that wrote the file.
    pub(crate) version: Option<Version>,
    /// The suffix of the last `-arch sm_...`, `None` if no note has one.
    pub(crate) arch_suffix: Option<Suffix>,
}

impl Notes {
    pub(crate) fn read(section: Option<&[u8]>) -> Self {
        let mut read = Self::default();
        for note in section.into_iter().flat_map(notes) {
            read.version = read.version.or(note.release);
            read.arch_suffix = arch_option(note.command_line).or(read.arch_suffix);
        }
        read
    }
}

/// The string whose offset stands at `field` of a tkinfo descriptor.
fn string(desc: &[u8], field: usize) -> Option<&[u8]> {
    let offset = u32::from_le_bytes(*desc.get(field..)?.first_chunk()?);
    let table = desc.get(24..)?;
    let text = table.get(usize::try_from(offset).ok()?..)?;
    text.split(|byte| *byte == 0).next()
}

/// `Cuda compilation tools, release 13.5, V13.5.37` -> (13, 5).
fn release(text: &[u8]) -> Option<(u16, u16)> {
    let at = memmem::find(text, b"release ")?.checked_add(8)?;
    let (major, rest) = number(text.get(at..)?)?;
    let (minor, rest) = number(rest.strip_prefix(b".")?)?;
    (!rest.starts_with(b".")).then_some((major, minor))
}

/// The suffix of the last `-arch sm_NNNx` of a command line.
fn arch_option(text: &[u8]) -> Option<Suffix> {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut found = None;
    let mut is_value = false;
    for word in words {
        let value = match word.strip_prefix(b"-arch=") {
            Some(value) => Some(value),
            None if is_value => Some(word),
            None => None,
        };
        is_value = word == b"-arch";
        found = value.and_then(suffix).or(found);
    }
    found
}

/// `sm_100f` -> `f`.
fn suffix(arch: &[u8]) -> Option<Suffix> {
    match number::<u32>(arch.strip_prefix(b"sm_")?)? {
        (_, b"") => Some(Suffix::None),
        (_, b"a") => Some(Suffix::A),
        (_, b"f") => Some(Suffix::F),
        _ => None,
    }
}

/// The toolkit in `.note.nv.cuinfo` (13.x): `u16` note version, virtual architecture, toolkit, 0.
pub(crate) fn cuinfo(section: &[u8]) -> Option<Version> {
    from_number(u32::from(u16_at(first_desc(section)?, 4)?))
}

/// The virtual architecture in `.note.nv.cuinfo` and in `.note.nv.cuver` (12.8 and 12.9).
pub(crate) fn virtual_arch(section: &[u8]) -> Option<u32> {
    u16_at(first_desc(section)?, 2).map(u32::from)
}

fn first_desc(section: &[u8]) -> Option<&[u8]> {
    let mut records = NoteIterator::<FileHeader64<LittleEndian>>::new(LittleEndian, 4, section).ok()?;
    Some(records.next().ok()??.desc())
}

/// 124 -> (12, 4). Numbers that no toolkit had give nothing.
pub(crate) fn from_number(number: u32) -> Option<(u16, u16)> {
    if !(50..1000).contains(&number) {
        return None;
    }
    let number = u16::try_from(number).ok()?;
    Some((number.checked_div(10)?, number.checked_rem(10)?))
}
