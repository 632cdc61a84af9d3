//! Which toolkit made a cubin, and with which `-arch`: the notes that ptxas and nvlink leave.

use gpu_arch::{Arch, Suffix};
use memchr::memmem;
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::NoteIterator;

/// What `.note.nv.tkinfo` tells. Layout of a note's descriptor, little-endian: `u32` note version, `u32` object name,
/// then `u32` offsets of tool name, tool version, branch and command line in the string table that follows (24 bytes
/// from the start). Device-linked cubins hold several notes: nvlink's first, then one of each input's ptxas. Observed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    /// Of the first note: the tool that wrote the file.
    pub(crate) version: Option<(u16, u16)>,
    last_arch: Option<Arch>,
}

impl Notes {
    pub(crate) fn read(section: Option<&[u8]>) -> Self {
        let mut notes = Self::default();
        let Some(section) = section else { return notes };
        let Ok(mut records) = NoteIterator::<FileHeader64<LittleEndian>>::new(LittleEndian, 4, section) else {
            return notes;
        };
        while let Ok(Some(record)) = records.next() {
            let desc = record.desc();
            if notes.version.is_none() {
                notes.version = string(desc, 12).and_then(release);
            }
            if let Some(arch) = string(desc, 20).and_then(arch_option) {
                notes.last_arch = Some(arch);
            }
        }
        notes
    }

    /// The suffix of the last `-arch sm_...`, `None` if no note has one.
    pub(crate) fn arch_suffix(&self) -> Option<Suffix> {
        self.last_arch.map(|arch| arch.suffix())
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
    let text = core::str::from_utf8(text.get(at..)?).ok()?;
    let number = text.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The architecture of the last `-arch sm_NNNx` of a command line.
fn arch_option(text: &[u8]) -> Option<Arch> {
    let words = core::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let mut found = None;
    let mut is_value = false;
    for word in words {
        let value = match word.strip_prefix("-arch=") {
            Some(value) => Some(value),
            None if is_value => Some(word),
            None => None,
        };
        is_value = word == "-arch";
        if let Some(arch) = value.and_then(|value| value.strip_prefix("sm_")).and_then(|value| value.parse().ok()) {
            found = Some(arch);
        }
    }
    found
}

/// The toolkit in `.note.nv.cuinfo` (13.x): `u16` note version, virtual architecture, toolkit, 0.
pub(crate) fn cuinfo(section: &[u8]) -> Option<(u16, u16)> {
    let mut records = NoteIterator::<FileHeader64<LittleEndian>>::new(LittleEndian, 4, section).ok()?;
    let desc = records.next().ok()??.desc();
    let number = u16::from_le_bytes(*desc.get(4..)?.first_chunk()?);
    from_number(u32::from(number))
}

/// 124 -> (12, 4). Numbers that no toolkit had give nothing.
pub(crate) fn from_number(number: u32) -> Option<(u16, u16)> {
    if !(50..1000).contains(&number) {
        return None;
    }
    let number = u16::try_from(number).ok()?;
    Some((number.checked_div(10)?, number.checked_rem(10)?))
}
