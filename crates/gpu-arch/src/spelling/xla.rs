//! `HERMETIC_CUDA_COMPUTE_CAPABILITIES` and `TF_CUDA_COMPUTE_CAPABILITIES`.

use crate::arch::{Suffix, parse_dotted, parse_number};
use crate::target::Target;

use super::error::{SpellingError, SpellingErrorKind};
use super::item::{self, Item, Kind, both, special, split_kind};
use super::list::Dialect;

/// Reads `sm_90` as SASS and `compute_90` as SASS and PTX. In a list of `9.0` alone the highest is
/// read as `compute_`, the others as `sm_`; in a mixed list each is read as `compute_` (so
/// TensorFlow's `cuda_configure.bzl`, which was not read again for this).
pub(crate) fn read(items: &[Item<'_>]) -> Result<Vec<Target>, SpellingError> {
    let mut found = Vec::new();
    let mut dotted = Vec::new();
    for item in items {
        match split_kind(item.text) {
            Some((kind, rest)) => {
                let arch = item.existing(parse_number(rest))?;
                match kind {
                    Kind::Sass => found.push(Target::Sass(arch)),
                    Kind::Ptx => found.extend(both(arch)),
                    Kind::Lto => {
                        return Err(item.refuse(SpellingErrorKind::NotInDialect(Dialect::Xla)));
                    }
                }
            }
            None if special(item.text).is_none() && parse_dotted(item.text).is_ok() => {
                let arch = item.existing(parse_dotted(item.text))?;
                if arch.suffix() != Suffix::None {
                    return Err(item.refuse(SpellingErrorKind::NotInDialect(Dialect::Xla)));
                }
                dotted.push(arch);
            }
            None => {
                item::read(item)?;
                return Err(item.refuse(SpellingErrorKind::NotInDialect(Dialect::Xla)));
            }
        }
    }
    dotted.sort_unstable();
    let is_mixed = !found.is_empty();
    let highest = dotted.last().copied();
    for arch in dotted {
        if is_mixed || Some(arch) == highest {
            found.extend(both(arch));
        } else {
            found.push(Target::Sass(arch));
        }
    }
    Ok(found)
}
