//! The processors beside GPUs.

use std::fmt;
use std::str::FromStr;

/// The processor of a machine, which host code is made for: that of a wheel, or of the machine around a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Host {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Host::X86_64 => "x86_64",
            Host::Aarch64 => "aarch64",
        })
    }
}

/// The text is no host that is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParseHostError;

impl fmt::Display for ParseHostError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a host is `x86_64` or `aarch64`")
    }
}

impl std::error::Error for ParseHostError {}

impl FromStr for Host {
    type Err = ParseHostError;

    /// Reads `x86_64`, `aarch64`: the spelling of [`std::env::consts::ARCH`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "x86_64" => Ok(Host::X86_64),
            "aarch64" => Ok(Host::Aarch64),
            _ => Err(ParseHostError),
        }
    }
}
