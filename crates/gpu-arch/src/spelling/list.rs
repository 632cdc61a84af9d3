//! Whole lists, in the dialect of a build system or in a mixture.

use std::fmt;

use crate::target::Target;

use super::error::{SpellingError, SpellingErrorKind};
use super::item::{self, Item};
use super::{cmake, nvcc, torch, xla};

/// Whose spelling a list is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Every item by its own form: `sm_90` is SASS, `compute_90` PTX, `90` both (CMake), `9.0` SASS
    /// and `9.0+PTX` both (torch), `Hopper` torch's list for it.
    #[default]
    Any,
    /// Flags of `nvcc`: `-gencode arch=compute_90,code=sm_90`, `-arch=sm_90`, `-code=…`.
    Nvcc,
    /// `CMAKE_CUDA_ARCHITECTURES`: `90`, `90-real`, `90a-virtual`, separated by `;`.
    Cmake,
    /// `TORCH_CUDA_ARCH_LIST`: `9.0`, `9.0+PTX`, family names, separated by blanks or `;`.
    Torch,
    /// `HERMETIC_CUDA_COMPUTE_CAPABILITIES` and `TF_CUDA_COMPUTE_CAPABILITIES`: `sm_90` is SASS,
    /// `compute_90` SASS and PTX, and of a list of `9.0` the highest has both; separated by `,`.
    Xla,
}

impl fmt::Display for Dialect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Dialect::Any => "any build system",
            Dialect::Nvcc => "`nvcc`",
            Dialect::Cmake => "`CMAKE_CUDA_ARCHITECTURES`",
            Dialect::Torch => "`TORCH_CUDA_ARCH_LIST`",
            Dialect::Xla => "`HERMETIC_CUDA_COMPUTE_CAPABILITIES`",
        })
    }
}

/// Reads a list of code in whatever spelling it has: items separated by `;`, `,` or blanks, flags of
/// `nvcc`, or a build system's variable with its value (`TORCH_CUDA_ARCH_LIST="9.0+PTX"`).
///
/// The order is that of the list, without repetitions. No PTX target has a version.
///
/// # Errors
///
/// The first item that is refused: see [`SpellingErrorKind`].
pub fn code(text: &str) -> Result<Vec<Target>, SpellingError> {
    let (dialect, item) = declared(text);
    read(item, dialect)
}

/// Reads a list of code in one dialect.
///
/// # Errors
///
/// The first item that is refused: see [`SpellingErrorKind`].
pub fn code_in(text: &str, dialect: Dialect) -> Result<Vec<Target>, SpellingError> {
    read(unquoted(Item { text, offset: 0 }), dialect)
}

fn read(list: Item<'_>, dialect: Dialect) -> Result<Vec<Target>, SpellingError> {
    let found = match dialect {
        Dialect::Nvcc => nvcc::read(list)?,
        _ => {
            let items = split(list, |letter| letter == ';' || letter == ',' || letter.is_whitespace());
            match dialect {
                Dialect::Xla => xla::read(&items)?,
                Dialect::Torch => each(&items, torch::read)?,
                Dialect::Cmake => each(&items, cmake::read)?,
                Dialect::Any | Dialect::Nvcc => each(&items, item::read)?,
            }
        }
    };
    if found.is_empty() {
        return Err(list.refuse(SpellingErrorKind::Empty));
    }
    let mut unique = Vec::with_capacity(found.len());
    for target in found {
        if !unique.contains(&target) {
            unique.push(target);
        }
    }
    Ok(unique)
}

fn each(
    items: &[Item<'_>],
    read: impl Fn(&Item<'_>) -> Result<Vec<Target>, SpellingError>,
) -> Result<Vec<Target>, SpellingError> {
    let mut found = Vec::new();
    for item in items {
        found.extend(read(item)?);
    }
    Ok(found)
}

/// The parts between separators, trimmed, empty ones left out.
pub(crate) fn split<'text>(list: Item<'text>, is_separator: impl Fn(char) -> bool) -> Vec<Item<'text>> {
    let mut items = Vec::new();
    let mut offset = list.offset;
    for part in list.text.split_inclusive(&is_separator) {
        let body = part.strip_suffix(&is_separator).unwrap_or(part);
        let item = trimmed(Item { text: body, offset });
        if !item.text.is_empty() {
            items.push(item);
        }
        offset = offset.saturating_add(part.len());
    }
    items
}

/// Without blanks at both ends.
pub(crate) fn trimmed(item: Item<'_>) -> Item<'_> {
    let start = item.text.trim_start();
    Item { text: start.trim_end(), offset: item.offset.saturating_add(item.text.len().saturating_sub(start.len())) }
}

/// Without blanks and one pair of quotes.
pub(crate) fn unquoted(item: Item<'_>) -> Item<'_> {
    let item = trimmed(item);
    for quote in ['"', '\''] {
        if let Some(inner) = item.text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return trimmed(Item { text: inner, offset: item.offset.saturating_add(1) });
        }
    }
    item
}

/// Variables and the dialect of their values.
const VARIABLES: [(&str, Dialect); 6] = [
    ("TORCH_CUDA_ARCH_LIST", Dialect::Torch),
    ("CMAKE_CUDA_ARCHITECTURES", Dialect::Cmake),
    ("CUDAARCHS", Dialect::Cmake),
    ("HERMETIC_CUDA_COMPUTE_CAPABILITIES", Dialect::Xla),
    ("TF_CUDA_COMPUTE_CAPABILITIES", Dialect::Xla),
    ("NVCC_APPEND_FLAGS", Dialect::Nvcc),
];

/// The dialect that a text declares by itself, and the list in it.
fn declared(text: &str) -> (Dialect, Item<'_>) {
    let whole = unquoted(Item { text, offset: 0 });
    // the variable may stand behind `export`, `-D`, `--repo_env=`, and before a CMake type
    for (name, dialect) in VARIABLES {
        let Some((before, value)) = whole.text.split_once(name) else {
            continue;
        };
        let plain = value.strip_prefix(":STRING").unwrap_or(value);
        let Some(list) = plain.strip_prefix('=') else {
            continue;
        };
        let is_wrapper =
            before.is_empty() || ["export ", "set ", "-D", "-D "].contains(&before) || before.ends_with("_env=");
        if is_wrapper {
            let skipped = whole.text.len().saturating_sub(list.len());
            let item = Item { text: list, offset: whole.offset.saturating_add(skipped) };
            return (dialect, unquoted(item));
        }
    }
    let dialect = if whole.text.starts_with('-') { Dialect::Nvcc } else { Dialect::Any };
    (dialect, whole)
}
