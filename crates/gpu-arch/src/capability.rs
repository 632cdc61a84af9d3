//! The compute capability of a device.

use std::fmt;
use std::str::FromStr;

use crate::arch::{Arch, Suffix};

/// What a driver reports for a device: `9.0` for an H100, `12.1` for a GB10.
///
/// Source: `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR` of the CUDA driver API. Any
/// pair is representable: a capability that no table knows is a value, not an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Capability {
    /// The part before the point.
    pub major: u32,
    /// The part behind the point.
    pub minor: u32,
}

impl Capability {
    /// The capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The plain architecture of this capability (`9.0` gives `90`), or nothing if it has no number
    /// of that shape (a minor of two digits).
    pub const fn arch(self) -> Option<Arch> {
        if self.minor > 9 {
            return None;
        }
        match self.major.checked_mul(10) {
            Some(tens) => match tens.checked_add(self.minor) {
                Some(number) => Some(Arch::new(number, Suffix::None)),
                None => None,
            },
            None => None,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

/// The text is not `major.minor`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParseCapabilityError;

impl fmt::Display for ParseCapabilityError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a compute capability is written `major.minor`, as in `9.0`")
    }
}

impl std::error::Error for ParseCapabilityError {}

impl FromStr for Capability {
    type Err = ParseCapabilityError;

    /// Reads `9.0`: digits, a point, one digit.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.trim().split_once('.').ok_or(ParseCapabilityError)?;
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(major) || !digits(minor) || minor.len() != 1 {
            return Err(ParseCapabilityError);
        }
        match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => Ok(Self { major, minor }),
            _ => Err(ParseCapabilityError),
        }
    }
}
