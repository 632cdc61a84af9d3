use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64, SHT_NOBITS, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use object::read::{SectionIndex, SymbolIndex};

use crate::function::{Function, Record, STO_CUDA_ENTRY};
use crate::limits::{Budget, Limits, REACHED};
use crate::{Error, ErrorKind};

/// How often the bytes of a cubin may be read as names.
const NAMES: usize = 4;

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
    /// In the order of the symbol table.
    pub(crate) functions: Vec<Function<'data>>,
    /// Symbols of bound textures, surfaces and samplers.
    pub(crate) images: usize,
}

impl<'data> Tables<'data> {
    /// Reads both; sections without a readable name stay, nameless, so that indexes hold.
    pub(crate) fn read(data: &'data [u8], limits: &Limits) -> Result<Self, Error> {
        if data.get(4) == Some(&2) {
            Table::<FileHeader64<LittleEndian>>::parse(data)?.tables(limits)
        } else {
            Table::<FileHeader32<LittleEndian>>::parse(data)?.tables(limits)
        }
    }

    /// Sections alone.
    pub(crate) fn sections(data: &'data [u8], limits: &Limits) -> Result<Vec<Section<'data>>, Error> {
        let mut names = Budget::of(data, NAMES);
        if data.get(4) == Some(&2) {
            Table::<FileHeader64<LittleEndian>>::parse(data)?.rows(limits, &mut names)
        } else {
            Table::<FileHeader32<LittleEndian>>::parse(data)?.rows(limits, &mut names)
        }
    }
}

/// The section table of a cubin, as it lies in the file.
#[derive(Debug)]
pub(crate) struct Table<'data, Elf: FileHeader<Endian = LittleEndian>> {
    data: &'data [u8],
    table: SectionTable<'data, Elf>,
    names: &'data [u8],
}

impl<'data, Elf: FileHeader<Endian = LittleEndian>> Table<'data, Elf> {
    pub(crate) fn parse(data: &'data [u8]) -> Result<Self, Error> {
        let endian = LittleEndian;
        let header = Elf::parse(data).map_err(|_| Error { kind: ErrorKind::NotCubin, offset: 0 })?;
        let error = Error { kind: ErrorKind::Sections, offset: header.e_shoff(endian).into() };
        let table = header.sections(endian, data).map_err(|_| error)?;
        let mut parsed = Self { data, table, names: &[] };
        if let Ok(index) = header.section_strings_index(endian, data) {
            parsed.names = parsed.strings(index);
        }
        Ok(parsed)
    }

    /// The bytes of the first section of that name. `.nv.shared*` have none although their type is not `NOBITS`, so
    /// ask for no such section.
    pub(crate) fn section(&self, name: &[u8]) -> Option<&'data [u8]> {
        let endian = LittleEndian;
        let is_name = |header: &&Elf::SectionHeader| {
            let start = usize::try_from(header.sh_name(endian)).ok();
            let named = start.and_then(|start| self.names.get(start..)?.strip_prefix(name));
            matches!(named, Some([0, ..]))
        };
        self.table.iter().find(is_name)?.data(endian, self.data).ok()
    }

    /// Whether there is an entry function: a FUNC symbol with `STO_CUDA_ENTRY`. `None` without a readable symbol table.
    /// Mercury copies have a table of their own (`.nv.merc.symtab`, another section type) and are not seen here.
    pub(crate) fn has_kernels(&self) -> Option<bool> {
        let endian = LittleEndian;
        let symbols = self.table.symbols(endian, self.data, SHT_SYMTAB).ok()?;
        if symbols.is_empty() {
            return None;
        }
        let is_kernel = |symbol: &Elf::Sym| {
            symbol.st_type() == STT_FUNC && symbol.st_other().0 & STO_CUDA_ENTRY != 0 && symbol.st_shndx(endian).0 != 0
        };
        Some(symbols.iter().any(is_kernel))
    }

    /// The bytes of a string table, as far as the file has them.
    fn strings(&self, index: SectionIndex) -> &'data [u8] {
        let place = || {
            let (start, size) = self.table.section(index).ok()?.file_range(LittleEndian)?;
            let rest = self.data.get(usize::try_from(start).ok()?..)?;
            Some(usize::try_from(size).ok().and_then(|size| rest.get(..size)).unwrap_or(rest))
        };
        place().unwrap_or_default()
    }

    fn rows(&self, limits: &Limits, names: &mut Budget) -> Result<Vec<Section<'data>>, Error> {
        let endian = LittleEndian;
        if self.table.len() > limits.sections {
            return Err(REACHED);
        }
        let row = |header: &'data Elf::SectionHeader| {
            let name = usize::try_from(header.sh_name(endian)).unwrap_or(usize::MAX);
            Ok(Section {
                name: names.string(self.names, name)?.unwrap_or_default(),
                kind: header.sh_type(endian).0,
                flags: header.sh_flags(endian).0,
                info: header.sh_info(endian),
                size: header.sh_size(endian).into(),
                offset: header.sh_offset(endian).into(),
            })
        };
        let mut rows = Vec::with_capacity(self.table.len());
        for section in self.table.iter().map(row) {
            rows.push(section?);
        }
        Ok(rows)
    }

    fn tables(&self, limits: &Limits) -> Result<Tables<'data>, Error> {
        let endian = LittleEndian;
        let mut names = Budget::of(self.data, NAMES);
        let mut tables = Tables { sections: self.rows(limits, &mut names)?, ..Tables::default() };
        let error = Error { kind: ErrorKind::Symbols, offset: 0 };
        let symbols = self.table.symbols(endian, self.data, SHT_SYMTAB).map_err(|_| error)?;
        let strings = self.strings(symbols.string_section());
        let record = |index: usize, symbol: &'data Elf::Sym| {
            let mut section = u32::from(symbol.st_shndx(endian).0);
            if section == 0xffff {
                let extended = symbols.symbol_section(endian, symbol, SymbolIndex(index)).ok().flatten();
                section = extended.and_then(|at| u32::try_from(at.0).ok()).unwrap_or(section);
            }
            Record {
                info: symbol.st_info().0,
                other: symbol.st_other().0,
                section,
                value: symbol.st_value(endian).into(),
                size: symbol.st_size(endian).into(),
            }
        };
        // counted first, so that the list takes no more than its functions
        let mut count = 0_usize;
        for (index, symbol) in symbols.enumerate() {
            let record = record(index.0, symbol);
            count = count.saturating_add(usize::from(record.defines_function()));
            // STT_CUDA_TEXTURE, STT_CUDA_SURFACE, STT_CUDA_SAMPLER
            tables.images = tables.images.saturating_add(usize::from(matches!(record.info & 0xf, 10..=12)));
        }
        if count > limits.functions {
            return Err(REACHED);
        }
        tables.functions.reserve_exact(count);
        for (index, symbol) in symbols.enumerate() {
            let record = record(index.0, symbol);
            if !record.defines_function() {
                continue;
            }
            let name = usize::try_from(symbol.st_name(endian)).unwrap_or(usize::MAX);
            if let (Some(name), Ok(index)) = (names.string(strings, name)?, u32::try_from(index.0)) {
                tables.functions.push(record.function(name, index));
            }
        }
        Ok(tables)
    }
}
