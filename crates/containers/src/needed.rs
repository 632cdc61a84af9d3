//! Which libraries a library asks for: `DT_NEEDED` of an ELF, the import tables of a PE image.
//!
//! A stream passes the names before anyone knows which of them count. So the caller remembers where names of interest
//! stood, and the tables, which are small and announced in the first bytes, tell which of these places they point at.

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::dynamic::{DT_NEEDED, DT_STRTAB, Dynamic};
use goblin::elf::program_header::ProgramHeader as GoblinSegment;
use object::elf::{FileHeader32, FileHeader64, PT_DYNAMIC};
use object::pe::{IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, IMAGE_DIRECTORY_ENTRY_IMPORT};
use object::pe::{ImageDosHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::ReadRef;
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::pe::ImageNtHeaders;
use object::{Endianness, LittleEndian};

use crate::format::Format;
use crate::layout::Layout;

/// A table above this is not read.
const TABLE: u64 = 64 * 1024;
/// A section table above this is read a second time instead of being remembered.
const SECTIONS: u64 = 4 << 20;

/// The ranges of a file, announced in its first bytes, that a stream should keep while they pass: section table and
/// dependency tables. Offset and bytes.
#[must_use]
pub fn announced(format: Format, prefix: &[u8]) -> Vec<(u64, usize)> {
    let ranges = match format {
        Format::Elf if prefix.get(4) == Some(&1) => announced_elf::<FileHeader32<Endianness>>(prefix),
        Format::Elf => announced_elf::<FileHeader64<Endianness>>(prefix),
        Format::Pe => import_tables(prefix).map(|tables| tables.iter().map(|table| (table.offset, TABLE)).collect()),
        _ => None,
    };
    let fits = |(start, size): (u64, u64)| Some((start, usize::try_from(size).ok().filter(|size| *size > 0)?));
    ranges.unwrap_or_default().into_iter().filter_map(fits).collect()
}

fn announced_elf<Elf: FileHeader<Endian = Endianness>>(prefix: &[u8]) -> Option<Vec<(u64, u64)>> {
    let header = Elf::parse(prefix).ok()?;
    let endian = header.endian().ok()?;
    let entry = u64::try_from(size_of::<Elf::SectionHeader>()).ok()?;
    let sections = u64::from(header.e_shnum(endian)).saturating_mul(entry);
    let mut ranges = Vec::new();
    if sections <= SECTIONS {
        ranges.push((header.e_shoff(endian).into(), sections));
    }
    for segment in header.program_headers(endian, prefix).unwrap_or_default() {
        let (offset, size) = segment.file_range(endian);
        if segment.p_type(endian) == PT_DYNAMIC && size <= TABLE {
            ranges.push((offset, size));
        }
    }
    Some(ranges)
}

/// Those of `places` (offsets of names in the file) that the file's dependency tables point at.
pub fn needed<'data, R: ReadRef<'data>>(format: Format, data: R, layout: &Layout, places: &[u64]) -> Vec<u64> {
    if places.is_empty() {
        return Vec::new();
    }
    let mut pointed = match format {
        Format::Elf => needed_elf(data, layout),
        Format::Pe => needed_pe(data),
        _ => None,
    }
    .unwrap_or_default();
    pointed.retain(|offset| places.contains(offset));
    pointed
}

fn needed_elf<'data, R: ReadRef<'data>>(data: R, layout: &Layout) -> Option<Vec<u64>> {
    let ident = data.read_bytes_at(4, 2).ok()?;
    let container = if ident.first() == Some(&1) { Container::Little } else { Container::Big };
    let endian = if ident.last() == Some(&2) { Endian::Big } else { Endian::Little };
    let (offset, size) = match container {
        Container::Little => dynamic_range::<FileHeader32<Endianness>, R>(data)?,
        Container::Big => dynamic_range::<FileHeader64<Endianness>, R>(data)?,
    };
    let bytes = data.read_bytes_at(offset, size.min(TABLE)).ok()?;
    let mut segment = GoblinSegment::new();
    segment.p_type = goblin::elf::program_header::PT_DYNAMIC;
    segment.p_filesz = u64::try_from(bytes.len()).ok()?;
    let dynamic = Dynamic::parse(bytes, &[segment], Ctx::new(container, endian)).ok()??;
    let names = dynamic.dyns.iter().find(|entry| entry.d_tag == DT_STRTAB)?.d_val;
    let names = layout.offset_of(names)?;
    let needed = dynamic.dyns.iter().filter(|entry| entry.d_tag == DT_NEEDED);
    Some(needed.filter_map(|entry| names.checked_add(entry.d_val)).collect())
}

fn dynamic_range<'data, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(data: R) -> Option<(u64, u64)> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let segment = segments.iter().find(|segment| segment.p_type(endian) == PT_DYNAMIC)?;
    Some(segment.file_range(endian))
}

/// An import table of a PE image: records of `size` bytes with the address of the library's name at `name`.
struct ImportTable {
    offset: u64,
    size: usize,
    name: usize,
}

fn import_tables<'data, R: ReadRef<'data>>(data: R) -> Option<Vec<ImportTable>> {
    import_tables_of::<ImageNtHeaders64, R>(data).or_else(|| import_tables_of::<ImageNtHeaders32, R>(data))
}

fn import_tables_of<'data, Pe: ImageNtHeaders, R: ReadRef<'data>>(data: R) -> Option<Vec<ImportTable>> {
    let mut offset = ImageDosHeader::parse(data).ok()?.nt_headers_offset().into();
    let (headers, directories) = Pe::parse(data, &mut offset).ok()?;
    let sections = headers.sections(data, offset).ok()?;
    let tables = [(IMAGE_DIRECTORY_ENTRY_IMPORT, 20, 12), (IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, 32, 4)];
    let located = tables.into_iter().filter_map(|(entry, size, name)| {
        let address = directories.get(entry)?.virtual_address.get(LittleEndian);
        Some(ImportTable { offset: file_offset(&sections, address)?, size, name })
    });
    Some(located.collect())
}

fn file_offset(sections: &object::read::coff::SectionTable<'_>, address: u32) -> Option<u64> {
    sections.pe_file_range_at(address).map(|(offset, _)| offset.into())
}

fn needed_pe<'data, R: ReadRef<'data>>(data: R) -> Option<Vec<u64>> {
    let mut offset = ImageDosHeader::parse(data).ok()?.nt_headers_offset().into();
    let sections = match ImageNtHeaders64::parse(data, &mut offset) {
        Ok((headers, _)) => headers.sections(data, offset).ok()?,
        Err(_) => {
            offset = ImageDosHeader::parse(data).ok()?.nt_headers_offset().into();
            let (headers, _) = ImageNtHeaders32::parse(data, &mut offset).ok()?;
            headers.sections(data, offset).ok()?
        }
    };
    let length = data.len().ok()?;
    let mut found = Vec::new();
    for table in import_tables(data)? {
        let size = length.saturating_sub(table.offset).min(TABLE);
        let bytes = data.read_bytes_at(table.offset, size).unwrap_or_default();
        for record in bytes.chunks_exact(table.size) {
            let field = record.get(table.name..).and_then(|field| field.first_chunk());
            match field.map(|field| u32::from_le_bytes(*field)) {
                Some(0) | None => break,
                Some(address) => found.extend(file_offset(&sections, address)),
            }
        }
    }
    Some(found)
}
