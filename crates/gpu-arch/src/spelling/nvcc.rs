//! Flags of `nvcc`.

use crate::arch::{Arch, Suffix, parse_number};
use crate::rules::{Coverage, ptx_covers};
use crate::target::Target;

use super::error::{SpellingError, SpellingErrorKind};
use super::item::{Item, Kind, special, split_kind};
use super::list::{split, unquoted};

/// Reads `-gencode arch=compute_90,code=sm_90`, `-arch=sm_90` and `-arch=compute_90 -code=sm_90`
/// with their long names, and skips all other flags.
pub(crate) fn read(list: Item<'_>) -> Result<Vec<Target>, SpellingError> {
    let mut found = Vec::new();
    let mut arch = None;
    let mut codes = Vec::new();
    let words = split(list, char::is_whitespace);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let word = unquoted(word);
        let (flag, value) = match word.text.split_once('=') {
            Some((flag, value)) => {
                let skipped = word.text.len().saturating_sub(value.len());
                let offset = word.offset.saturating_add(skipped);
                (flag, Some(Item { text: value, offset }))
            }
            None => (word.text, None),
        };
        match flag {
            "-gencode" | "--generate-code" => {
                let value = argument(&word, value, &mut words)?;
                found.extend(generate_code(&value)?);
            }
            "-arch" | "--gpu-architecture" => arch = Some(argument(&word, value, &mut words)?),
            "-code" | "--gpu-code" => codes.push(argument(&word, value, &mut words)?),
            other if other.starts_with('-') => {}
            _ => return Err(word.refuse(SpellingErrorKind::Unrecognised)),
        }
    }
    match (arch, codes.as_slice()) {
        (Some(arch), []) => found.extend(arch_alone(&arch)?),
        (Some(arch), codes) => {
            let (_, base) = target(&arch)?;
            for list in codes {
                for code in code_list(*list) {
                    found.push(compiled(&code, base)?);
                }
            }
        }
        (None, [code, ..]) => return Err(code.refuse(SpellingErrorKind::MalformedFlag)),
        (None, []) => {}
    }
    Ok(found)
}

/// The value of a flag: behind `=`, or the next word.
fn argument<'text>(
    flag: &Item<'text>,
    value: Option<Item<'text>>,
    words: &mut impl Iterator<Item = Item<'text>>,
) -> Result<Item<'text>, SpellingError> {
    match value.or_else(|| words.next()) {
        Some(value) if !value.text.is_empty() => Ok(unquoted(value)),
        _ => Err(flag.refuse(SpellingErrorKind::MalformedFlag)),
    }
}

/// `-arch=sm_90` is SASS and PTX, `-arch=compute_90` is PTX.
fn arch_alone(item: &Item<'_>) -> Result<Vec<Target>, SpellingError> {
    match target(item)? {
        (Kind::Sass, arch) => Ok(super::item::both(arch)),
        (kind, arch) => Ok(vec![kind.target(arch)]),
    }
}

/// `arch=compute_90,code=[sm_90,compute_90]`; torch prints `compute=` for `arch=`.
fn generate_code(item: &Item<'_>) -> Result<Vec<Target>, SpellingError> {
    let malformed = || item.refuse(SpellingErrorKind::MalformedFlag);
    let (base, codes) = item.text.split_once(',').ok_or_else(malformed)?;
    let base_name = base.strip_prefix("arch=").or_else(|| base.strip_prefix("compute=")).ok_or_else(malformed)?;
    let codes = codes.strip_prefix("code=").ok_or_else(malformed)?;
    let end = |text: &str| item.offset.saturating_add(text.len());
    let base = Item { text: base_name, offset: end(base).saturating_sub(base_name.len()) };
    let codes = Item { text: codes, offset: end(item.text).saturating_sub(codes.len()) };
    let (kind, base_arch) = target(&base)?;
    if kind != Kind::Ptx {
        return Err(base.refuse(SpellingErrorKind::MalformedFlag));
    }
    let codes = code_list(codes);
    if codes.is_empty() {
        return Err(malformed());
    }
    codes.iter().map(|code| compiled(code, base_arch)).collect()
}

/// `sm_90`, `sm_90,compute_90`, with or without brackets and quotes.
fn code_list(item: Item<'_>) -> Vec<Item<'_>> {
    split(item, |letter| matches!(letter, ',' | '[' | ']' | '"' | '\'' | '\\'))
}

/// An architecture with its kind.
fn target(item: &Item<'_>) -> Result<(Kind, Arch), SpellingError> {
    if let Some(word) = special(item.text) {
        return Err(item.refuse(SpellingErrorKind::Special(word)));
    }
    let (kind, rest) = split_kind(item.text).ok_or_else(|| item.refuse(SpellingErrorKind::Unrecognised))?;
    Ok((kind, item.existing(parse_number(rest))?))
}

/// What `nvcc` makes of one `code=` for a virtual architecture. Plain code of a family's PTX is
/// family code: `compute_100f,code=sm_103` gives `sm_103f` (seen with CUDA 13.5).
fn compiled(item: &Item<'_>, base: Arch) -> Result<Target, SpellingError> {
    let (kind, code) = target(item)?;
    let fits = match base.suffix() {
        Suffix::A => code == base,
        _ => ptx_covers(base, code.capability()) == Coverage::Yes,
    };
    if !fits {
        return Err(item.refuse(SpellingErrorKind::IncompatibleCode { virtual_arch: base, code }));
    }
    Ok(match (base.suffix(), code.suffix()) {
        (Suffix::F, Suffix::None) => kind.target(Arch::new(code.number(), Suffix::F)),
        _ => kind.target(code),
    })
}
