//! The version of the PTX language.

use std::fmt;
use std::str::FromStr;

/// A PTX ISA version, the `.version 8.5` of a PTX text and the version of a PTX fatbin entry.
///
/// Which driver can compile it: [`Isa::first_cuda`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Isa {
    /// The part before the point.
    pub major: u16,
    /// The part behind the point.
    pub minor: u16,
}

impl Isa {
    /// PTX ISA `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

/// The text is not `major.minor`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParseIsaError;

impl fmt::Display for ParseIsaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a PTX ISA version is written `major.minor`, as in `8.5`")
    }
}

impl std::error::Error for ParseIsaError {}

impl FromStr for Isa {
    type Err = ParseIsaError;

    /// Reads `8.5`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match crate::version::numbers(text.trim()).as_deref() {
            Some([major, minor]) => match (u16::try_from(*major), u16::try_from(*minor)) {
                (Ok(major), Ok(minor)) => Ok(Self { major, minor }),
                _ => Err(ParseIsaError),
            },
            _ => Err(ParseIsaError),
        }
    }
}
