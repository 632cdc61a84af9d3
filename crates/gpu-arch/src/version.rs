//! Versions of CUDA and of NVIDIA's driver.

use std::fmt;
use std::str::FromStr;

/// Reads numbers joined by points; nothing if a part is empty, has other characters or overflows.
pub(crate) fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split('.')
        .map(
            |part| {
                if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
                    part.parse().ok()
                } else {
                    None
                }
            },
        )
        .collect()
}

/// A CUDA version: of a toolkit, or what a driver implements (`cuDriverGetVersion`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CudaVersion {
    /// The part before the point.
    pub major: u16,
    /// The part behind the point.
    pub minor: u16,
}

impl CudaVersion {
    /// CUDA `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// From the number that `cuDriverGetVersion` and `cudart` report: 12040 is 12.4.
    pub fn from_api_number(number: u32) -> Option<Self> {
        let major = u16::try_from(number / 1000).ok()?;
        let minor = u16::try_from((number % 1000) / 10).ok()?;
        Some(Self { major, minor })
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

/// A driver version: `535.183.01` on Linux, `551.61` on Windows, `550` for a whole branch.
///
/// Ordered part by part; a version with fewer parts comes before a longer one that starts the same,
/// so `550` as a demand means any driver of that branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DriverVersion {
    branch: u16,
    minor: Option<u16>,
    patch: Option<u16>,
}

impl DriverVersion {
    /// Any version of a branch: `550`.
    pub const fn of_branch(branch: u16) -> Self {
        Self { branch, minor: None, patch: None }
    }

    /// A version of two parts: `551.61`.
    pub const fn of_two(branch: u16, minor: u16) -> Self {
        Self { branch, minor: Some(minor), patch: None }
    }

    /// A version of three parts: `535.183.1`.
    pub const fn of_three(branch: u16, minor: u16, patch: u16) -> Self {
        Self { branch, minor: Some(minor), patch: Some(patch) }
    }

    /// The first part. On Linux it names the branch; Windows numbers drift upwards within one
    /// (551.61 is of branch 550).
    pub const fn branch(self) -> u16 {
        self.branch
    }

    /// The second part, if there is one.
    pub const fn minor(self) -> Option<u16> {
        self.minor
    }

    /// The third part, if there is one.
    pub const fn patch(self) -> Option<u16> {
        self.patch
    }
}

impl fmt::Display for DriverVersion {
    /// NVIDIA writes the second part with at least two digits (Windows, `537.13`) and the third
    /// with two (`183.01`).
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.branch)?;
        if let Some(minor) = self.minor {
            write!(out, ".{minor:02}")?;
        }
        if let Some(patch) = self.patch {
            write!(out, ".{patch:02}")?;
        }
        Ok(())
    }
}

/// Why a text is not a version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParseVersionError {
    /// Nothing there.
    Empty,
    /// Something other than numbers joined by points.
    NotNumbers,
    /// Too few or too many parts.
    Parts,
    /// A part is larger than any version has.
    TooLarge,
}

impl fmt::Display for ParseVersionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ParseVersionError::Empty => "the version is empty",
            ParseVersionError::NotNumbers => "a version is numbers joined by points",
            ParseVersionError::Parts => "the version has too few or too many parts",
            ParseVersionError::TooLarge => "a part of the version is too large",
        })
    }
}

impl std::error::Error for ParseVersionError {}

/// The parts of a version as 16-bit numbers.
fn parts(text: &str) -> Result<Vec<u16>, ParseVersionError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ParseVersionError::Empty);
    }
    numbers(text)
        .ok_or(ParseVersionError::NotNumbers)?
        .into_iter()
        .map(|part| u16::try_from(part).map_err(|_| ParseVersionError::TooLarge))
        .collect()
}

impl FromStr for CudaVersion {
    type Err = ParseVersionError;

    /// Reads `12.4`, `12` (12.0), and `12.4.131` (the third part is dropped).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match parts(text)?.as_slice() {
            [major] => Ok(Self::new(*major, 0)),
            [major, minor] | [major, minor, _] => Ok(Self::new(*major, *minor)),
            _ => Err(ParseVersionError::Parts),
        }
    }
}

impl FromStr for DriverVersion {
    type Err = ParseVersionError;

    /// Reads `535.183.01`, `551.61`, `550`, and an `r` before it (`r550`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let text = text.strip_prefix(['r', 'R']).unwrap_or(text);
        match parts(text)?.as_slice() {
            [branch] => Ok(Self::of_branch(*branch)),
            [branch, minor] => Ok(Self::of_two(*branch, *minor)),
            [branch, minor, patch] => Ok(Self::of_three(*branch, *minor, *patch)),
            _ => Err(ParseVersionError::Parts),
        }
    }
}
