use super::Stop;
use crate::function::Record;

/// Bytes of an `Elf64_Sym`.
const SYMBOL: usize = 24;
/// No address and no size of device code or data reaches this.
const GREATEST: u64 = 1 << 40;

/// What is kept of the symbol table.
#[derive(Debug)]
pub(super) struct Symbols {
    /// Offsets in `.strtab` of all symbols that have a name.
    pub(super) names: Vec<u32>,
    /// Those that define a function, no more than the limit.
    pub(super) functions: Vec<Symbol>,
    limit: usize,
}

impl Symbols {
    pub(super) const fn new(limit: usize) -> Self {
        Self { names: Vec::new(), functions: Vec::new(), limit }
    }

    fn push(&mut self, symbol: Symbol) -> Result<(), Stop> {
        if symbol.name > 0 {
            self.names.push(symbol.name);
        }
        if symbol.record.defines_function() {
            if self.functions.len() >= self.limit {
                return Err(Stop::Unsupported);
            }
            self.functions.push(symbol);
        }
        Ok(())
    }
}

/// One symbol of the table, its name not looked up yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    /// Offset in `.strtab`.
    pub(super) name: u32,
    pub(super) index: u32,
    pub(super) record: Record,
}

/// How the symbol table ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A section begins that is known to follow.
    Section,
    /// The data end with the last symbol.
    OfData,
}

/// The symbol table from its null symbol on.
pub(super) struct Records<'data> {
    pub(super) data: &'data [u8],
    pub(super) start: usize,
    pub(super) sections: u32,
    /// Bytes of both string tables: no name lies farther.
    pub(super) strings: usize,
    /// Whether the section table begins behind the data, so that no more can come.
    pub(super) whole: bool,
}

impl Records<'_> {
    /// Reads all symbols but the null one.
    pub(super) fn read(&self, symbols: &mut Symbols) -> Result<End, Stop> {
        let mut rest = self.data.get(self.start..).unwrap_or_default();
        rest = rest.get(SYMBOL..).ok_or(Stop::Short)?;
        let mut index = 1_u32;
        loop {
            if rest.is_empty() {
                return Ok(End::OfData);
            }
            let Some((bytes, behind)) = rest.split_first_chunk::<SYMBOL>() else {
                // the last section of all may be shorter than a symbol
                let mut bytes = [0; SYMBOL];
                bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                let ends = self.whole && begins_section(&bytes, index);
                return if ends { Ok(End::Section) } else { Err(Stop::Short) };
            };
            let Some(symbol) = self.symbol(bytes, index) else {
                return if begins_section(bytes, index) { Ok(End::Section) } else { Err(Stop::Unsupported) };
            };
            symbols.push(symbol)?;
            rest = behind;
            index = index.checked_add(1).ok_or(Stop::Unsupported)?;
        }
    }

    /// The record as a symbol, `None` if it cannot be one. A record of zeros is none.
    fn symbol(&self, bytes: &[u8; SYMBOL], index: u32) -> Option<Symbol> {
        let (name, rest) = bytes.split_first_chunk::<4>()?;
        let (&[info, other, low, high], rest) = rest.split_first_chunk::<4>()?;
        let (value, size) = rest.split_first_chunk::<8>()?;
        let name = u32::from_le_bytes(*name);
        let section = u32::from(u16::from_le_bytes([low, high]));
        let record = Record {
            info,
            other,
            section,
            value: u64::from_le_bytes(*value),
            size: u64::from_le_bytes(*size.first_chunk()?),
        };
        // NOTYPE OBJECT FUNC SECTION FILE COMMON, and CUDA's TEXTURE SURFACE SAMPLER and 13 (shared and constant data)
        let known = matches!(info & 0xf, 0..=5 | 10..=13)
            && info >> 4 <= 2
            && (section < self.sections || matches!(section, 0xfff1 | 0xfff2))
            && usize::try_from(name).is_ok_and(|name| name < self.strings)
            && record.value < GREATEST
            && record.size < GREATEST
            && bytes.iter().any(|byte| *byte != 0);
        // a function has its code in a section of its own file
        let sound = !record.defines_function() || (section < self.sections && name > 0);
        (known && sound).then_some(Symbol { name, index, record })
    }
}

/// Whether `bytes` are the start of a section that follows the symbol table; it has `symbols` symbols.
fn begins_section(bytes: &[u8; SYMBOL], symbols: u32) -> bool {
    match bytes {
        // .debug_frame: the mark of 64-bit DWARF
        [0xff, 0xff, 0xff, 0xff, ..] => true,
        // .note.nv.tkinfo: name size, size, type, name
        [12, 0, 0, 0, _, _, _, _, _, _, _, _, name @ ..] => name == b"NVIDIA Corp\0",
        // .nv.info: REGCOUNT, FRAME_SIZE or MIN_STACK_SIZE of one of the symbols
        [4, 0x2f | 0x11 | 0x12, 8, 0, a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]) < symbols,
        // .nv.callgraph: pairs of caller and callee, the first ones special
        [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, ..] => true,
        // .nv.rel.action
        [0x73, 0, 0, 0, 0, 0, 0, 0, ..] => true,
        _ => false,
    }
}
