//! Which libraries a library asks for: `DT_NEEDED` of an ELF, the import tables of a PE image.
//!
//! A stream passes the names before anyone knows which of them count. So the caller remembers where names of interest
//! stood, and the tables, which are small and announced in the first bytes, tell which of these places they point at.
//! `object` reads headers, sections and symbols everywhere in this project; `goblin` what belongs to linkage.

use std::collections::HashSet;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::dynamic::{DT_NEEDED, DT_STRTAB, Dynamic};
use goblin::elf::program_header::ProgramHeader as GoblinSegment;
use object::LittleEndian;
use object::pe::{IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, IMAGE_DIRECTORY_ENTRY_IMPORT};
use object::pe::{ImageDosHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::pe::ImageNtHeaders;

use crate::format::Format;
use crate::layout::{Layout, PREFIX_SIZE};
use crate::ranges::Ranges;
use crate::stream::ByteStream;

/// Bytes of a dependency table of a PE image that are kept while they pass, or read at a time.
const TABLE: u64 = 64 * 1024;
/// Bytes of the name of a library.
const NAME: usize = 256;

/// Where in the file the names of the libraries stand that its dependency tables ask for.
pub fn needed<S: ByteStream>(format: Format, file: &mut Ranges<'_, S>, layout: &Layout) -> Vec<u64> {
    match format {
        Format::Elf => needed_elf(file, layout),
        Format::Pe => needed_pe(file),
        _ => None,
    }
    .unwrap_or_default()
}

/// The names at those places, 256 bytes of each at most.
pub fn names_at<S: ByteStream>(file: &mut Ranges<'_, S>, places: &[u64]) -> Vec<Vec<u8>> {
    file.texts(places, NAME).into_iter().flatten().collect()
}

fn needed_elf<S: ByteStream>(file: &mut Ranges<'_, S>, layout: &Layout) -> Option<Vec<u64>> {
    let ident = file.one(4, 2)?;
    let container = if ident.first() == Some(&1) { Container::Little } else { Container::Big };
    let endian = if ident.last() == Some(&2) { Endian::Big } else { Endian::Little };
    let (offset, size) = layout.dynamic?;
    let bytes = file.one(offset, size.min(file.length().saturating_sub(offset)))?;
    let entries = dynamic_entries(&bytes, Ctx::new(container, endian))?;
    let (_, names) = *entries.iter().find(|(tag, _)| *tag == DT_STRTAB)?;
    let names = layout.offset_of(names)?;
    let needed = entries.iter().filter(|(tag, _)| *tag == DT_NEEDED);
    let places: HashSet<u64> = needed.filter_map(|(_, place)| names.checked_add(*place)).collect();
    Some(places.into_iter().collect())
}

/// The entries of a dynamic section, tags and values, up to its end.
pub(crate) fn dynamic_entries(bytes: &[u8], context: Ctx) -> Option<Vec<(u64, u64)>> {
    let mut segment = GoblinSegment::new();
    segment.p_type = goblin::elf::program_header::PT_DYNAMIC;
    segment.p_filesz = u64::try_from(bytes.len()).ok()?;
    let dynamic = Dynamic::parse(bytes, &[segment], context).ok()??;
    Some(dynamic.dyns.iter().map(|entry| (entry.d_tag, entry.d_val)).collect())
}

/// An import table of a PE image: records of `size` bytes with the address of the library's name at `name`.
struct ImportTable {
    offset: u64,
    size: usize,
    name: usize,
}

/// The import tables and the section table of a PE image.
struct Imports<'data> {
    tables: Vec<ImportTable>,
    sections: object::read::coff::SectionTable<'data>,
}

pub(crate) fn announced_pe(prefix: &[u8]) -> Option<Vec<(u64, u64)>> {
    Some(Imports::read(prefix)?.tables.iter().map(|table| (table.offset, TABLE)).collect())
}

impl<'data> Imports<'data> {
    fn read(prefix: &'data [u8]) -> Option<Self> {
        Self::of::<ImageNtHeaders64>(prefix).or_else(|| Self::of::<ImageNtHeaders32>(prefix))
    }

    fn of<Pe: ImageNtHeaders>(prefix: &'data [u8]) -> Option<Self> {
        let mut offset = ImageDosHeader::parse(prefix).ok()?.nt_headers_offset().into();
        let (headers, directories) = Pe::parse(prefix, &mut offset).ok()?;
        let sections = headers.sections(prefix, offset).ok()?;
        let kinds = [(IMAGE_DIRECTORY_ENTRY_IMPORT, 20, 12), (IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, 32, 4)];
        let mut imports = Self { tables: Vec::new(), sections };
        for (entry, size, name) in kinds {
            let address = directories.get(entry).map(|own| own.virtual_address.get(LittleEndian));
            if let Some(offset) = address.and_then(|address| imports.file_offset(address)) {
                imports.tables.push(ImportTable { offset, size, name });
            }
        }
        Some(imports)
    }

    fn file_offset(&self, address: u32) -> Option<u64> {
        self.sections.pe_file_range_at(address).map(|(offset, _)| offset.into())
    }
}

pub(crate) fn needed_pe<S: ByteStream>(file: &mut Ranges<'_, S>) -> Option<Vec<u64>> {
    let prefix = file.one(0, file.length().min(PREFIX_SIZE as u64))?;
    let imports = Imports::read(&prefix)?;
    let mut found = HashSet::new();
    for table in &imports.tables {
        // a table ends with a record of zeros
        let mut at = table.offset;
        'table: loop {
            let step = file.length().saturating_sub(at).min(TABLE);
            let bytes = file.one(at, step).unwrap_or_default();
            let records = bytes.chunks_exact(table.size);
            let read = records.len().saturating_mul(table.size);
            for record in records {
                let field = record.get(table.name..).and_then(|field| field.first_chunk());
                match field.map(|field| u32::from_le_bytes(*field)) {
                    Some(0) | None => break 'table,
                    Some(address) => found.extend(imports.file_offset(address)),
                }
            }
            if read == 0 {
                break;
            }
            at = at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        }
    }
    Some(found.into_iter().collect())
}
