//! Names of devices.

use crate::arch::{ParseArchError, Suffix, parse_dotted, parse_number};
use crate::capability::Capability;
use crate::catalogue::{Host, ProductLookup, architecture, product};

use super::error::{SpellingError, SpellingErrorKind};
use super::item::{self, Item, Kind, special, split_kind};
use super::list::{split, trimmed, unquoted};

/// A device that someone named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedDevice {
    /// Its capability.
    pub capability: Capability,
    /// The name of the product or family as the table spells it, where it was named so.
    pub name: Option<&'static str>,
    /// The host that it always sits beside, where the name or the capability implies one.
    pub host: Option<Host>,
}

/// Reads a list of devices: `9.0`, `sm_90`, `90`, `RTX 4090`, `Hopper`, separated by `,` or `;`.
///
/// The name of a family is a device where all of it has one capability, and refused with all that it stands for
/// ([`SpellingErrorKind::AmbiguousDevice`]) where it has several: nothing is chosen for who typed it.
///
/// # Errors
///
/// The first item that is refused. Items that name code ([`SpellingErrorKind::NamesCode`]) are
/// among them, and capabilities that do not exist.
pub fn devices(text: &str) -> Result<Vec<NamedDevice>, SpellingError> {
    let whole = unquoted(Item { text, offset: 0 });
    let items = split(whole, |letter| letter == ',' || letter == ';');
    if items.is_empty() {
        return Err(whole.refuse(SpellingErrorKind::Empty));
    }
    let mut found: Vec<NamedDevice> = Vec::with_capacity(items.len());
    for item in items {
        let named = read(&unquoted(item))?;
        if !found.contains(&named) {
            found.push(named);
        }
    }
    Ok(found)
}

/// Reads one device.
///
/// # Errors
///
/// As [`devices`].
pub fn device(text: &str) -> Result<NamedDevice, SpellingError> {
    let item = trimmed(Item { text, offset: 0 });
    if item.text.is_empty() {
        return Err(item.refuse(SpellingErrorKind::Empty));
    }
    read(&item)
}

fn read(item: &Item<'_>) -> Result<NamedDevice, SpellingError> {
    if let Some(word) = special(item.text) {
        return Err(item.refuse(SpellingErrorKind::Special(word)));
    }
    let parsed = match split_kind(item.text) {
        Some((Kind::Sass, rest)) => parse_number(rest),
        Some((Kind::Ptx | Kind::Lto, _)) => return Err(item.refuse(SpellingErrorKind::NamesCode)),
        None if item.text.contains('.') => parse_dotted(item.text),
        None => parse_number(item.text),
    };
    match parsed {
        Ok(arch) if arch.suffix() == Suffix::None => Ok(named(item.existing(Ok(arch))?.capability(), None, None)),
        Ok(arch) => Err(match item.existing(Ok(arch)) {
            Ok(_) => item.refuse(SpellingErrorKind::NamesCode),
            Err(unknown) => unknown,
        }),
        Err(ParseArchError::TwoDigits) => Err(item.refuse(SpellingErrorKind::TwoDigits)),
        Err(ParseArchError::Shape) => by_name(item),
    }
}

fn named(capability: Capability, name: Option<&'static str>, host: Option<Host>) -> NamedDevice {
    NamedDevice { capability, name, host: host.or_else(|| name.and_then(|_| architecture(capability)?.host)) }
}

/// A product or a family; what is neither but code in some dialect is said to be code.
fn by_name(item: &Item<'_>) -> Result<NamedDevice, SpellingError> {
    let several = |meanings| Err(item.refuse(SpellingErrorKind::AmbiguousDevice { meanings }));
    match product(item.text) {
        ProductLookup::Found(row) => Ok(named(row.capability, Some(row.name), row.host)),
        ProductLookup::Family(family) => match family.members {
            [only] => Ok(named(only.capability, Some(family.name), family.host)),
            _ => several(family.meanings()),
        },
        ProductLookup::Ambiguous(meanings) => several(meanings),
        ProductLookup::Unknown { nearest } => Err(match item::read(item) {
            Ok(_) => item.refuse(SpellingErrorKind::NamesCode),
            Err(_) => item.refuse(SpellingErrorKind::UnknownDevice { nearest }),
        }),
    }
}
