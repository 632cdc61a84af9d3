//! `TORCH_CUDA_ARCH_LIST`.

use crate::arch::parse_dotted;
use crate::tables::torch_arch_list::{FAMILY_NAMES, SUPPORTED};
use crate::target::Target;

use super::error::{SpellingError, SpellingErrorKind};
use super::item::{self, Item, both, strip_suffix_any_case};
use super::list::Dialect;

/// The list that a family name stands for, in any case.
pub(crate) fn family(text: &str) -> Option<&'static str> {
    FAMILY_NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, list)| *list)
}

/// The code of a family's list; refusals name the item that the user wrote.
pub(crate) fn expand(item: &Item<'_>, list: &str) -> Result<Vec<Target>, SpellingError> {
    let mut found = Vec::new();
    for element in list.split(';') {
        let (dotted, with_ptx) = match strip_suffix_any_case(element, "+PTX") {
            Some(rest) => (rest, true),
            None => (element, false),
        };
        let arch = item.existing(parse_dotted(dotted))?;
        if with_ptx {
            found.extend(both(arch));
        } else {
            found.push(Target::Sass(arch));
        }
    }
    Ok(found)
}

/// Reads `9.0`, `9.0a+PTX`, `Hopper`: what torch itself takes, no more.
pub(crate) fn read(item: &Item<'_>) -> Result<Vec<Target>, SpellingError> {
    let targets = item::read(item)?;
    let dotted = strip_suffix_any_case(item.text, "+PTX").unwrap_or(item.text);
    let taken = family(item.text).is_some() || parse_dotted(dotted).is_ok_and(|arch| SUPPORTED.contains(&arch));
    if !taken {
        return Err(item.refuse(SpellingErrorKind::NotInDialect(Dialect::Torch)));
    }
    Ok(targets)
}
