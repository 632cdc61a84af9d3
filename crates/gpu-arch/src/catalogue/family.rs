//! Names of many products at once: generations, series, systems.

use std::fmt;

use crate::capability::Capability;
use crate::tables::families::FAMILIES;

use super::host::Host;
use super::name::words;

/// The devices of one capability in a family.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FamilyMember {
    /// What they report.
    pub capability: Capability,
    /// Some of their names; none where no product is published.
    pub examples: &'static [&'static str],
}

/// A name that stands for many products.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Family {
    /// The name: `Blackwell`, `GeForce RTX 50 series`.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// Its capabilities, ascending; never none.
    pub members: &'static [FamilyMember],
    /// The host of all its devices, where that is one.
    pub host: Option<Host>,
    /// A remark for people; may be empty.
    pub note: &'static str,
}

impl Family {
    /// What it stands for.
    pub fn meanings(&self) -> Vec<Meaning> {
        let meaning =
            |member: &FamilyMember| Meaning { capability: member.capability, examples: member.examples.to_vec() };
        self.members.iter().map(meaning).collect()
    }
}

/// One of the capabilities that a name may mean. It is written `10.0 (B200, GB200)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// The capability.
    pub capability: Capability,
    /// What tells it from the others: names of products, else of chips. There may be none.
    pub examples: Vec<&'static str>,
}

impl fmt::Display for Meaning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.examples.is_empty() {
            return write!(out, "{}", self.capability);
        }
        write!(out, "{} ({})", self.capability, self.examples.join(", "))
    }
}

/// All families: generations, superchips and systems, Tegra, series.
pub fn families() -> &'static [Family] {
    FAMILIES
}

/// Finds a family by name, forgiving case, `NVIDIA`, `GeForce`, `series`, blanks and punctuation.
pub fn family(name: &str) -> Option<&'static Family> {
    let wanted = key(name);
    if wanted.is_empty() {
        return None;
    }
    FAMILIES.iter().find(|family| [family.name].iter().chain(family.aliases).any(|own| key(own) == wanted))
}

/// The letters of a name that count.
fn key(name: &str) -> String {
    let mut words = words(name);
    while let Some("SERIES" | "FAMILY" | "GENERATION" | "ARCHITECTURE" | "SUPERCHIP" | "GPU" | "GPUS") =
        words.last().map(String::as_str)
    {
        words.pop();
    }
    words.concat()
}
