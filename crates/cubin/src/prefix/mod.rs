mod records;
mod strings;

use crate::function::Function;
use crate::head::{HEAD_SIZE, Head};
use crate::limits::Limits;
use records::{End, Records, Symbols};
use strings::Strings;

/// What the first bytes of a cubin told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrefixOutcome<'data> {
    /// All functions of the cubin, as [`Functions::parse`](crate::Functions::parse) would give them.
    Complete(Vec<Function<'data>>),
    /// The tables go on behind the prefix. A prefix of so many bytes is worth the next try, more than were given and no
    /// more than the tables can take; where the cubin is shorter it is damaged.
    NeedMore(usize),
    /// Not the layout that tells its functions early, or not provably so, or more functions than the limit: read the whole
    /// cubin, which says what is wrong.
    Unsupported,
}

/// Reads the functions of a cubin from its first bytes, so that a compressed one need not be decompressed to its end,
/// where the section table is.
///
/// Cubins of CUDA 10.2 to 13.5 start with `.shstrtab` at 0x40, `.strtab` and `.symtab`, then comes code or debugging
/// data. Nothing before the section table says where these three end, so that the reader finds each border and proves
/// it; where a proof fails it says [`PrefixOutcome::Unsupported`].
///
/// 1. At 0x40 are the names `.shstrtab`, `.strtab`, `.symtab`. Both string tables hold names and zeros only (gaps of
///    zeros are between and within them). The first other byte therefore belongs to the first symbol behind the null
///    symbol, and the table begins, aligned to 8, with 24 zeros before that one.
/// 2. Symbols are read while they can be symbols: type, binding, section index, addresses below 2^40. The table ends
///    where a record cannot be one **and** a section that is known to follow begins, told by its first bytes: call frames,
///    the note of the toolkit, `.nv.info`, the call graph, `.nv.rel.action`.
/// 3. `.strtab` begins at a zero behind a zero. Only one such place may give every symbol a name that starts where a
///    string starts.
/// 4. The lists must agree: each string `.text.K` needs a function K, and each kernel K a string `.text.K`. A symbol that
///    was missed or misread breaks one of the two.
///
/// All this assumes that nobody built the file to deceive: a section table may point at other tables than those at the
/// start, and the prefix cannot know.
///
/// ```
/// let cubin = testkit::Cubin::new("90a").bytes();
/// let cubin::PrefixOutcome::NeedMore(more) = cubin::SymbolPrefix::parse(&cubin[..100]) else { panic!() };
/// let cubin::PrefixOutcome::Complete(functions) = cubin::SymbolPrefix::parse(&cubin[..more]) else { panic!() };
/// assert_eq!(functions[0].name, b"k");
/// ```
#[derive(Clone, Debug)]
pub struct SymbolPrefix {
    /// Bytes of the string tables that were searched for their end.
    searched: usize,
    /// The most functions.
    limit: usize,
}

impl Default for SymbolPrefix {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the first section begins.
const TABLES: usize = HEAD_SIZE;
/// The start of `.shstrtab`.
const FIRST_NAMES: &[u8] = b"\0.shstrtab\0.strtab\0.symtab\0";
/// Bytes that are asked for at once: zstd unpacks blocks of this size.
const STEP: usize = 128 << 10;

/// Why a reading stopped before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The bytes at hand end.
    Short,
    Unsupported,
}

impl SymbolPrefix {
    /// A reader of one cubin, for who gets its bytes step by step, within [`Limits::default`].
    #[must_use]
    pub const fn new() -> Self {
        Self::within(&Limits::DEFAULT)
    }

    /// As [`SymbolPrefix::new`], within the caller's limits. Besides its functions the reader keeps four bytes of each
    /// symbol, which takes 24 in the cubin.
    #[must_use]
    pub const fn within(limits: &Limits) -> Self {
        Self { searched: 0, limit: limits.functions }
    }

    /// Reads the functions from `prefix`, the first bytes of a cubin or all of it. Given more than is needed it tells the
    /// same.
    #[must_use]
    pub fn parse(prefix: &[u8]) -> PrefixOutcome<'_> {
        Self::new().read(prefix)
    }

    /// As [`SymbolPrefix::parse`]. After [`PrefixOutcome::NeedMore`], `prefix` must go on where it ended before: what was
    /// searched is not searched again.
    pub fn read<'data>(&mut self, prefix: &'data [u8]) -> PrefixOutcome<'data> {
        if prefix.len() < HEAD_SIZE {
            let magic = b"\x7fELF";
            let same = prefix.iter().zip(magic).all(|(byte, magic)| byte == magic);
            return if same { PrefixOutcome::NeedMore(STEP) } else { PrefixOutcome::Unsupported };
        }
        let Some(layout) = Layout::read(prefix) else { return PrefixOutcome::Unsupported };
        // what lies behind the start of the section table cannot be one of the three tables
        let body = prefix.get(..layout.end).unwrap_or(prefix);
        match layout.functions(body, &mut self.searched, self.limit) {
            Ok(functions) => PrefixOutcome::Complete(functions),
            Err(Stop::Short) if body.len() < layout.end => {
                let next = prefix.len().saturating_add(STEP.max(prefix.len() / 4));
                PrefixOutcome::NeedMore(next.saturating_sub(next % STEP).min(layout.end))
            }
            Err(_) => PrefixOutcome::Unsupported,
        }
    }
}

/// What the ELF header says of the tables.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Where the section table begins.
    end: usize,
    /// Number of sections.
    sections: u32,
}

impl Layout {
    /// `None` for ELF32, for a section table before the tables, and for counts that do not fit the header.
    fn read(prefix: &[u8]) -> Option<Self> {
        Head::parse(prefix).ok()?;
        let half = |offset: usize| Some(u16::from_le_bytes(*prefix.get(offset..)?.first_chunk()?));
        let class = *prefix.get(4)?;
        let end = usize::try_from(u64::from_le_bytes(*prefix.get(40..)?.first_chunk()?)).ok()?;
        let (row, sections, names) = (half(58)?, half(60)?, half(62)?);
        let known =
            class == 2 && row == 64 && sections > 3 && names == 1 && end > TABLES.checked_add(FIRST_NAMES.len())?;
        known.then_some(Self { end, sections: sections.into() })
    }

    fn functions<'data>(
        self,
        body: &'data [u8],
        searched: &mut usize,
        limit: usize,
    ) -> Result<Vec<Function<'data>>, Stop> {
        let strings = Strings::find(body, searched)?;
        let whole = body.len() >= self.end;
        let (start, sections, length) = (strings.end, self.sections, strings.length());
        let records = Records { data: body, start, sections, strings: length, whole };
        let mut symbols = Symbols::new(limit);
        let end = records.read(&mut symbols)?;
        if end == End::OfData && !whole {
            return Err(Stop::Short);
        }
        if symbols.functions.is_empty() {
            return if strings.code_names(strings.length()).next().is_none() {
                Ok(Vec::new())
            } else {
                Err(Stop::Unsupported)
            };
        }
        let table = strings.second_table(symbols.names).ok_or(Stop::Unsupported)?;
        let functions = strings.functions(table, &symbols.functions).ok_or(Stop::Unsupported)?;
        if strings.agree(table, &functions) { Ok(functions) } else { Err(Stop::Unsupported) }
    }
}
