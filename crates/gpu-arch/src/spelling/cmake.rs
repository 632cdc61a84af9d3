//! `CMAKE_CUDA_ARCHITECTURES`.

use crate::arch::parse_number;
use crate::target::Target;

use super::error::{SpellingError, SpellingErrorKind};
use super::item::{self, Item, split_kind, strip_suffix_any_case};
use super::list::Dialect;

/// Reads `90`, `90a-real`, `90-virtual`.
pub(crate) fn read(item: &Item<'_>) -> Result<Vec<Target>, SpellingError> {
    let number = strip_suffix_any_case(item.text, "-real")
        .or_else(|| strip_suffix_any_case(item.text, "-virtual"))
        .unwrap_or(item.text);
    let targets = item::read(item)?;
    if split_kind(item.text).is_some() || parse_number(number).is_err() {
        return Err(item.refuse(SpellingErrorKind::NotInDialect(Dialect::Cmake)));
    }
    Ok(targets)
}
