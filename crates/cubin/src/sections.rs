use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64, SHT_NOBITS, SHT_SYMTAB};
use object::read::SymbolIndex;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};

use crate::function::{Function, Record};
use crate::{Error, ErrorKind};

/// One row of the section table, of either ELF class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'data> {
    pub(crate) name: &'data [u8],
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) info: u32,
    pub(crate) size: u64,
    offset: u64,
}

impl<'data> Section<'data> {
    /// Its bytes, empty where they lie outside the file. `.nv.shared*` have none although their type is not always
    /// `NOBITS`, so ask for no such section.
    pub(crate) fn bytes(&self, data: &'data [u8]) -> &'data [u8] {
        let place = || {
            let start = usize::try_from(self.offset).ok()?;
            data.get(start..start.checked_add(usize::try_from(self.size).ok()?)?)
        };
        if self.kind == SHT_NOBITS.0 { &[] } else { place().unwrap_or_default() }
    }
}

/// Section table and functions of a whole cubin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables<'data> {
    pub(crate) sections: Vec<Section<'data>>,
    pub(crate) functions: Vec<Function<'data>>,
    /// Symbols of bound textures, surfaces and samplers.
    pub(crate) images: usize,
}

impl<'data> Tables<'data> {
    /// Reads both; sections without a readable name stay, nameless, so that indexes hold.
    pub(crate) fn read(data: &'data [u8]) -> Result<Self, Error> {
        if data.get(4) == Some(&2) {
            Self::of::<FileHeader64<LittleEndian>>(data)
        } else {
            Self::of::<FileHeader32<LittleEndian>>(data)
        }
    }

    /// Sections alone.
    pub(crate) fn sections(data: &'data [u8]) -> Result<Vec<Section<'data>>, Error> {
        if data.get(4) == Some(&2) {
            Ok(rows(&table::<FileHeader64<LittleEndian>>(data)?))
        } else {
            Ok(rows(&table::<FileHeader32<LittleEndian>>(data)?))
        }
    }

    fn of<Elf: FileHeader<Endian = LittleEndian>>(data: &'data [u8]) -> Result<Self, Error> {
        let table = table::<Elf>(data)?;
        let mut tables = Self { sections: rows(&table), ..Self::default() };
        let endian = LittleEndian;
        let error = Error { kind: ErrorKind::Symbols, offset: 0 };
        let symbols = table.symbols(endian, data, SHT_SYMTAB).map_err(|_| error)?;
        for (index, symbol) in symbols.iter().enumerate() {
            let mut section = u32::from(symbol.st_shndx(endian).0);
            if section == 0xffff {
                section = symbols
                    .symbol_section(endian, symbol, SymbolIndex(index))
                    .ok()
                    .flatten()
                    .map_or(section, |at| u32::try_from(at.0).unwrap_or(section));
            }
            let record = Record {
                info: symbol.st_info().0,
                other: symbol.st_other().0,
                section,
                value: symbol.st_value(endian).into(),
                size: symbol.st_size(endian).into(),
            };
            // STT_CUDA_TEXTURE, STT_CUDA_SURFACE, STT_CUDA_SAMPLER
            if matches!(record.info & 0xf, 10..=12) {
                tables.images = tables.images.saturating_add(1);
            }
            if !record.defines_function() {
                continue;
            }
            let (Ok(name), Ok(index)) = (symbol.name(endian, symbols.strings()), u32::try_from(index)) else {
                continue;
            };
            tables.functions.push(record.function(name, index));
        }
        Ok(tables)
    }
}

fn table<Elf: FileHeader<Endian = LittleEndian>>(data: &[u8]) -> Result<SectionTable<'_, Elf>, Error> {
    let header = Elf::parse(data).map_err(|_| Error { kind: ErrorKind::NotCubin, offset: 0 })?;
    let error = Error { kind: ErrorKind::Sections, offset: header.e_shoff(LittleEndian).into() };
    header.sections(LittleEndian, data).map_err(|_| error)
}

fn rows<'data, Elf: FileHeader<Endian = LittleEndian>>(table: &SectionTable<'data, Elf>) -> Vec<Section<'data>> {
    let endian = LittleEndian;
    let row = |header: &'data Elf::SectionHeader| Section {
        name: table.section_name(endian, header).unwrap_or_default(),
        kind: header.sh_type(endian).0,
        flags: header.sh_flags(endian).0,
        info: header.sh_info(endian),
        size: header.sh_size(endian).into(),
        offset: header.sh_offset(endian).into(),
    };
    table.iter().map(row).collect()
}
