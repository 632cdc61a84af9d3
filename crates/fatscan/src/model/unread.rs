use core::fmt;

use crate::locator::Locator;

/// Something that may hold device code and was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Unread {
    /// What.
    pub at: Locator,
    /// Why.
    pub why: Why,
}

/// Why something was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Why {
    /// It is encrypted.
    Encrypted,
    /// Its format or its compression is not read here; its name.
    Unsupported(&'static str),
    /// A compression method of a zip archive that is not read here; its name.
    Method(String),
    /// More archives lie within each other than are opened.
    TooDeep,
    /// A limit was reached; its name in [`fatscan_containers::Limits`].
    OverBudget(&'static str),
    /// A link that leads out of the directory that was given.
    Outside,
}

impl Why {
    /// The word in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Unsupported(_) | Self::Method(_) => "unsupported",
            Self::TooDeep => "too-deep",
            Self::OverBudget(_) => "over-budget",
            Self::Outside => "outside",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encrypted => f.write_str("it is encrypted"),
            Self::Unsupported(what) => write!(f, "{what} is not read"),
            Self::Method(what) => write!(f, "compression method {what} is not read"),
            Self::TooDeep => f.write_str("too many archives within each other"),
            Self::OverBudget(limit) => write!(f, "the limit `{limit}` is reached"),
            Self::Outside => f.write_str("the link leads out of the directory"),
        }
    }
}
