//! One item of a list, in the forms that all build systems share.

use crate::arch::{Arch, ParseArchError, parse_dotted, parse_number};
use crate::capability::Capability;
use crate::catalogue::{ProductLookup, nearest_archs, product};
use crate::target::Target;

use super::error::{SpecialWord, SpellingError, SpellingErrorKind};
use super::torch;

/// An item and where it starts in the text that was read, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'text> {
    pub(crate) text: &'text str,
    pub(crate) offset: usize,
}

impl Item<'_> {
    /// This item, refused.
    pub(crate) fn refuse(&self, kind: SpellingErrorKind) -> SpellingError {
        SpellingError { item: self.text.to_owned(), offset: self.offset, kind }
    }

    /// An architecture that was read from this item, if it exists.
    pub(crate) fn existing(&self, parsed: Result<Arch, ParseArchError>) -> Result<Arch, SpellingError> {
        match parsed {
            Ok(arch) if arch.is_known() => Ok(arch),
            Ok(arch) => Err(self.refuse(SpellingErrorKind::UnknownArch { arch, nearest: nearest_archs(arch) })),
            Err(ParseArchError::TwoDigits) => Err(self.refuse(SpellingErrorKind::TwoDigits)),
            Err(ParseArchError::Shape) => Err(self.refuse(SpellingErrorKind::Unrecognised)),
        }
    }
}

/// The word before the number of `sm_90`, `compute_90`, `lto_90`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Sass,
    Ptx,
    Lto,
}

impl Kind {
    /// Code of this kind for an architecture.
    pub(crate) const fn target(self, arch: Arch) -> Target {
        match self {
            Kind::Sass => Target::Sass(arch),
            Kind::Ptx => Target::Ptx(arch, None),
            Kind::Lto => Target::Lto(arch),
        }
    }
}

/// Takes `prefix` from the front, in any case.
fn strip_prefix_any_case<'text>(text: &'text str, prefix: &str) -> Option<&'text str> {
    let (front, rest) = text.split_at_checked(prefix.len())?;
    front.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Takes `suffix` from the end, in any case.
pub(crate) fn strip_suffix_any_case<'text>(text: &'text str, suffix: &str) -> Option<&'text str> {
    let (rest, end) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
    end.eq_ignore_ascii_case(suffix).then_some(rest)
}

/// Splits `sm_90a` into its kind and `90a`, in any case, with `_`, `-` or nothing between.
pub(crate) fn split_kind(text: &str) -> Option<(Kind, &str)> {
    [("sm", Kind::Sass), ("compute", Kind::Ptx), ("lto", Kind::Lto)]
        .into_iter()
        .find_map(|(word, kind)| {
            let rest = strip_prefix_any_case(text, word)?;
            Some((kind, rest.strip_prefix(['_', '-']).unwrap_or(rest)))
        })
        // a product or family may start with the same letters
        .filter(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// A word without a fixed meaning.
pub(crate) fn special(text: &str) -> Option<SpecialWord> {
    let word = text.to_ascii_lowercase().replace('_', "-");
    match word.as_str() {
        "all" => Some(SpecialWord::All),
        "all-major" => Some(SpecialWord::AllMajor),
        "native" => Some(SpecialWord::Native),
        "off" | "false" | "no" | "none" => Some(SpecialWord::Off),
        _ => None,
    }
}

/// SASS and PTX of one architecture.
pub(crate) fn both(arch: Arch) -> Vec<Target> {
    vec![Target::Sass(arch), Target::Ptx(arch, None)]
}

/// Reads one item by its own form.
pub(crate) fn read(item: &Item<'_>) -> Result<Vec<Target>, SpellingError> {
    let text = item.text;
    if let Some(word) = special(text) {
        return Err(item.refuse(SpellingErrorKind::Special(word)));
    }
    if let Some(list) = torch::family(text) {
        return torch::expand(item, list);
    }
    if let Some((kind, rest)) = split_kind(text) {
        let arch = item.existing(parse_number(rest))?;
        return Ok(vec![kind.target(arch)]);
    }
    if let Some(rest) = strip_suffix_any_case(text, "-real") {
        return Ok(vec![Target::Sass(item.existing(parse_number(rest))?)]);
    }
    if let Some(rest) = strip_suffix_any_case(text, "-virtual") {
        return Ok(vec![Target::Ptx(item.existing(parse_number(rest))?, None)]);
    }
    if let Some(rest) = strip_suffix_any_case(text, "+PTX") {
        return Ok(both(item.existing(parse_dotted(rest))?));
    }
    let dotted = text.contains('.');
    let parsed = if dotted { parse_dotted(text) } else { parse_number(text) };
    if parsed == Err(ParseArchError::Shape)
        && let Some(capability) = device(text)
    {
        return Err(item.refuse(SpellingErrorKind::NamesDevice { capability }));
    }
    let arch = item.existing(parsed)?;
    Ok(if dotted { vec![Target::Sass(arch)] } else { both(arch) })
}

/// The capability of all devices that have a name.
fn device(name: &str) -> Option<Capability> {
    match product(name) {
        ProductLookup::Found(row) => Some(row.capability),
        ProductLookup::Family(family) => match family.members {
            [only] => Some(only.capability),
            _ => None,
        },
        _ => None,
    }
}
