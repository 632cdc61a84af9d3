//! Why a spelling is refused, and where.

use std::fmt;

use crate::arch::Arch;
use crate::capability::Capability;
use crate::catalogue::Meaning;

use super::list::Dialect;

/// A word that build systems take and that names no fixed architecture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SpecialWord {
    /// `all`: every architecture of whichever toolkit compiles.
    All,
    /// `all-major`: one architecture for each major version of whichever toolkit compiles.
    AllMajor,
    /// `native`: the devices of the host that compiles.
    Native,
    /// `OFF` and other false values of CMake: no architecture at all.
    Off,
}

impl fmt::Display for SpecialWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            SpecialWord::All => "`all` depends on the toolkit that compiles",
            SpecialWord::AllMajor => "`all-major` depends on the toolkit that compiles",
            SpecialWord::Native => "`native` depends on the host that compiles",
            SpecialWord::Off => "`OFF` names no architecture",
        })
    }
}

/// What is wrong with an item.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SpellingErrorKind {
    /// There is no item at all.
    Empty,
    /// A word without a fixed meaning.
    Special(SpecialWord),
    /// A well spelled architecture that does not exist (`sm_86a`, `sm_84`, `13.0`).
    UnknownArch {
        /// What was spelled.
        arch: Arch,
        /// Architectures that exist and are near it.
        nearest: Vec<Arch>,
    },
    /// Two digits from 10 to 19, which mean 1.0 to 1.9 and never 10.x or 12.x.
    TwoDigits,
    /// No spelling of an architecture.
    Unrecognised,
    /// An architecture or form that exists, but that this dialect does not take.
    NotInDialect(Dialect),
    /// Code where a device is wanted (`sm_90a`, `compute_90`, `9.0+PTX`, `90-real`).
    NamesCode,
    /// A device where code is wanted (`RTX 4090`).
    NamesDevice {
        /// The device's capability.
        capability: Capability,
    },
    /// No device of this name.
    UnknownDevice {
        /// Names that are spelled alike.
        nearest: Vec<&'static str>,
    },
    /// Devices of several capabilities have this name (`Blackwell`, `GT 730`).
    AmbiguousDevice {
        /// All that it stands for, ascending.
        meanings: Vec<Meaning>,
    },
    /// An `nvcc` flag without its parts, or with parts that it does not take.
    MalformedFlag,
    /// `nvcc` flags that ask to compile PTX of one architecture to an architecture that cannot run
    /// it.
    IncompatibleCode {
        /// `compute_86` of `arch=compute_86,code=sm_80`.
        virtual_arch: Arch,
        /// `sm_80` of the same.
        code: Arch,
    },
}

/// A refused spelling: which item, where, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpellingError {
    /// The item as it was written; empty where there is none.
    pub item: String,
    /// Where the item starts in the text that was read, in bytes.
    pub offset: usize,
    /// What is wrong with it.
    pub kind: SpellingErrorKind,
}

/// `a`, `b` or `c`.
fn alternatives<T: fmt::Display>(out: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        let joint = match position {
            0 => "",
            _ if position.checked_add(1) == Some(items.len()) => " or ",
            _ => ", ",
        };
        write!(out, "{joint}`{item}`")?;
    }
    Ok(())
}

impl fmt::Display for SpellingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = &self.item;
        match &self.kind {
            SpellingErrorKind::Empty => out.write_str("the list is empty"),
            SpellingErrorKind::Special(word) => {
                write!(out, "{word}; name the architectures instead")
            }
            SpellingErrorKind::UnknownArch { nearest, .. } => {
                write!(out, "`{item}`: there is no such architecture")?;
                if !nearest.is_empty() {
                    out.write_str("; the nearest are ")?;
                    alternatives(out, nearest)?;
                }
                Ok(())
            }
            SpellingErrorKind::TwoDigits => write!(
                out,
                "`{item}`: two digits from 10 to 19 mean 1.0 to 1.9; the last digit is the minor, as in `100` for 10.0"
            ),
            SpellingErrorKind::Unrecognised => {
                write!(out, "`{item}` is no spelling of an architecture")
            }
            SpellingErrorKind::NotInDialect(dialect) => {
                write!(out, "`{item}` is not taken by {dialect}")
            }
            SpellingErrorKind::NamesCode => write!(out, "`{item}` names code, not a device"),
            SpellingErrorKind::NamesDevice { capability } => {
                write!(out, "`{item}` names a device of compute capability {capability}, not code")
            }
            SpellingErrorKind::UnknownDevice { nearest } => {
                write!(out, "`{item}`: no device of that name is known")?;
                if !nearest.is_empty() {
                    out.write_str("; the nearest are ")?;
                    alternatives(out, nearest)?;
                }
                Ok(())
            }
            SpellingErrorKind::AmbiguousDevice { meanings } => {
                write!(out, "`{item}` stands for several capabilities: ")?;
                for (position, meaning) in meanings.iter().enumerate() {
                    write!(out, "{}{meaning}", if position == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            SpellingErrorKind::MalformedFlag => {
                write!(out, "`{item}` is not complete; it is written `-gencode arch=compute_90,code=sm_90`")
            }
            SpellingErrorKind::IncompatibleCode { virtual_arch, code } => {
                write!(out, "`{item}`: code for `{code}` cannot be made from `compute_{virtual_arch}`")
            }
        }
    }
}

impl std::error::Error for SpellingError {}
