use object::LittleEndian;
use object::elf::{SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, SectionTable, Sym};

/// Bit of `st_other` that marks a kernel.
const STO_CUDA_ENTRY: u8 = 0x10;

/// Names of the entry functions, or `None` without a readable symbol table. Mercury copies have a table of their own
/// (`.nv.merc.symtab`, another section type) and are not seen here.
pub(crate) fn kernels<'data, Elf: FileHeader<Endian = LittleEndian>>(
    sections: &SectionTable<'data, Elf>,
    data: &'data [u8],
) -> Option<Vec<&'data [u8]>> {
    let endian = LittleEndian;
    let table = sections.symbols(endian, data, SHT_SYMTAB).ok()?;
    if table.is_empty() {
        return None;
    }
    let entries = table.iter().filter(|symbol| {
        symbol.st_type() == STT_FUNC && symbol.st_other().0 & STO_CUDA_ENTRY != 0 && symbol.st_shndx(endian).0 != 0
    });
    Some(entries.filter_map(|symbol| symbol.name(endian, table.strings()).ok()).collect())
}
