use foldhash::{HashMap, HashMapExt};
use memchr::memmem;

use super::records::Symbol;
use super::{FIRST_NAMES, Stop, TABLES};
use crate::function::Function;
use crate::limits::Budget;

/// Bytes of the null symbol.
const NULL_SYMBOL: usize = 24;
/// Looked at in one step; the compiler makes vector code of it.
const BLOCK: usize = 64;
/// Tests of a place for `.strtab`, for each byte of the tables: an honest file needs a small part of it.
const WORK: usize = 8;
/// How often the bytes of the tables may be read as names.
const NAMES: usize = 4;

/// The two string tables at the start of a cubin, with zeros between and behind them.
pub(super) struct Strings<'data> {
    /// From the start of `.shstrtab` to the start of `.symtab`.
    region: &'data [u8],
    /// Where `.symtab` begins in the cubin.
    pub(super) end: usize,
}

/// A byte that is in no name of a section or symbol: control characters, blank, `!`, `"`. Among them is the type byte of
/// every common kind of symbol.
const fn is_foreign(byte: u8) -> bool {
    (byte != 0 && byte < b'#') || byte == 0x7f
}

impl<'data> Strings<'data> {
    /// Finds where the strings end and the symbols begin; so many bytes were `searched` before.
    pub(super) fn find(body: &'data [u8], searched: &mut usize) -> Result<Self, Stop> {
        let rest = body.get(TABLES..).ok_or(Stop::Short)?;
        let shared = rest.len().min(FIRST_NAMES.len());
        if rest.get(..shared) != FIRST_NAMES.get(..shared) {
            return Err(Stop::Unsupported);
        }
        let foreign = first_foreign(rest, *searched);
        *searched = foreign.unwrap_or(rest.len());
        let foreign = foreign.ok_or(Stop::Short)?;
        // the section starts at a multiple of 8, and so does the table
        let symbols = (foreign & !7).checked_sub(NULL_SYMBOL).ok_or(Stop::Unsupported)?;
        let (region, behind) = rest.split_at_checked(symbols).ok_or(Stop::Unsupported)?;
        let null = behind.get(..NULL_SYMBOL).ok_or(Stop::Short)?;
        // the last name ends with a zero of its own
        if region.last() != Some(&0) || null.iter().any(|byte| *byte != 0) {
            return Err(Stop::Unsupported);
        }
        Ok(Self { region, end: symbols.checked_add(TABLES).ok_or(Stop::Unsupported)? })
    }

    pub(super) const fn length(&self) -> usize {
        self.region.len()
    }

    /// Names of sections of code, without `.text.`, as far as `.strtab`, which repeats them.
    pub(super) fn code_names(&self, table: usize) -> impl Iterator<Item = &'data [u8]> {
        let prefix = b"\0.text.";
        let names = self.region.get(..table).unwrap_or_default();
        let name = |at: usize| {
            let rest = self.region.get(at.checked_add(prefix.len())?..)?;
            rest.get(..memchr::memchr(0, rest)?)
        };
        memmem::find_iter(names, prefix).filter_map(name)
    }

    /// Where `.strtab` begins in the region: the only place from which each symbol gets a whole name.
    pub(super) fn second_table(&self, mut names: Vec<u32>) -> Option<usize> {
        names.sort_unstable_by(|a, b| b.cmp(a));
        names.dedup();
        let mut work = self.region.len().saturating_mul(WORK);
        let mut found = None;
        let mut from = FIRST_NAMES.len().checked_sub(1)?;
        let zeros = memmem::Finder::new(b"\0\0");
        // the name that lies farthest in the table lies in the region too
        let region = self.region.get(..self.region.len().checked_sub(usize::try_from(*names.first()?).ok()?)?)?;
        while let Some(at) = zeros.find(region.get(from..)?) {
            let mut place = from.checked_add(at)?.checked_add(1)?;
            while region.get(place) == Some(&0) {
                let mut fits = true;
                for name in &names {
                    work = work.checked_sub(1)?;
                    if !self.starts_string(place.checked_add(usize::try_from(*name).ok()?)?) {
                        fits = false;
                        break;
                    }
                }
                if fits && found.replace(place).is_some() {
                    return None;
                }
                place = place.checked_add(1)?;
            }
            from = place;
        }
        found
    }

    fn starts_string(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.region.get(before..));
        matches!(before, Some([0, first, ..]) if *first != 0)
    }

    /// The functions with their names, from the table that begins at `table`.
    pub(super) fn functions(&self, table: usize, symbols: &[Symbol]) -> Option<Vec<Function<'data>>> {
        let mut names = Budget::of(self.region, NAMES);
        let mut functions = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            let place = table.checked_add(usize::try_from(symbol.name).ok()?)?;
            let name = names.string(self.region, place).ok()?.filter(|name| !name.is_empty())?;
            functions.push(symbol.record.function(name, symbol.index));
        }
        Some(functions)
    }

    /// Whether sections of code and functions name each other: no `.text.K` without a function K, and no kernel without
    /// its section.
    pub(super) fn agree(&self, table: usize, functions: &[Function<'_>]) -> bool {
        let mut seen: HashMap<&[u8], bool> = HashMap::with_capacity(functions.len());
        for name in self.code_names(table) {
            seen.insert(name, false);
            // one at least has no function
            if seen.len() > functions.len() {
                return false;
            }
        }
        for function in functions {
            match seen.get_mut(function.name) {
                Some(seen) => *seen = true,
                None if function.is_kernel() => return false,
                None => {}
            }
        }
        seen.into_values().all(|seen| seen)
    }
}

fn first_foreign(data: &[u8], from: usize) -> Option<usize> {
    let mut start = from;
    for block in data.get(from..)?.chunks(BLOCK) {
        if block.iter().fold(false, |any, byte| any | is_foreign(*byte)) {
            let at = block.iter().position(|byte| is_foreign(*byte))?;
            return start.checked_add(at);
        }
        start = start.checked_add(block.len())?;
    }
    None
}
