//! An architecture: a number and perhaps a suffix, as in `sm_90a`.

use std::fmt;
use std::str::FromStr;

use crate::capability::Capability;

/// What stands behind the number of an architecture.
///
/// The order is the order of a list for people: `90 90a 100 100a 100f`. Which of them a driver
/// prefers is [`crate::rules`]' business.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Suffix {
    /// Nothing: code for this and higher minors (SASS), or for everything newer (PTX).
    #[default]
    None,
    /// `a`, architecture specific: code for exactly one capability.
    A,
    /// `f`, family specific (CUDA 12.9 and newer): code for this and higher minors of one family.
    F,
}

impl fmt::Display for Suffix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Suffix::None => "",
            Suffix::A => "a",
            Suffix::F => "f",
        })
    }
}

/// An architecture as a fatbin entry, a cubin or a compiler names it: `90`, `90a`, `100f`.
///
/// Every number is representable; [`Arch::is_known`] tells whether it exists. The order is by
/// number, then plain, `a`, `f`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arch {
    number: u32,
    suffix: Suffix,
}

impl Arch {
    /// The architecture with this number (major times ten plus minor, as in a fatbin entry's
    /// header) and suffix.
    pub const fn new(number: u32, suffix: Suffix) -> Self {
        Self { number, suffix }
    }

    /// The architecture with this number and no suffix.
    pub const fn plain(number: u32) -> Self {
        Self::new(number, Suffix::None)
    }

    /// Major times ten plus minor.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// What stands behind the number.
    pub const fn suffix(self) -> Suffix {
        self.suffix
    }

    /// All digits but the last.
    pub const fn major(self) -> u32 {
        self.number / 10
    }

    /// The last digit.
    pub const fn minor(self) -> u32 {
        self.number % 10
    }

    /// The compute capability of the same number.
    pub const fn capability(self) -> Capability {
        Capability::new(self.major(), self.minor())
    }

    /// Whether the tables know this architecture, suffix included: `sm_86` exists, `sm_86a` and
    /// `sm_84` do not.
    pub fn is_known(self) -> bool {
        crate::catalogue::arch_exists(self)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.number, self.suffix)
    }
}

/// Why a text is not an architecture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParseArchError {
    /// Not a number of two or three digits (or `major.minor`) with an optional `a` or `f`.
    Shape,
    /// Two digits from 10 to 19: they mean the capabilities 1.0 to 1.9, never 10.x and up.
    TwoDigits,
}

impl fmt::Display for ParseArchError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ParseArchError::Shape => "an architecture is written `90`, `90a`, `9.0` or `sm_90a`",
            ParseArchError::TwoDigits => {
                "two digits from 10 to 19 mean 1.0 to 1.9; the last digit is the minor, as in `100` for 10.0"
            }
        })
    }
}

impl std::error::Error for ParseArchError {}

impl FromStr for Arch {
    type Err = ParseArchError;

    /// Reads `90a`, `9.0a`, `sm_90a`, `SM-90`, `compute_90`, `lto_90`; the kind of code is dropped.
    /// It is the shape that is checked, not whether the architecture exists.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        match crate::spelling::split_kind(text) {
            Some((_, rest)) => parse_number(rest),
            None if text.contains('.') => parse_dotted(text),
            None => parse_number(text),
        }
    }
}

/// Takes an `a` or `f` (either case) from the end.
fn split_suffix(text: &str) -> (&str, Suffix) {
    if let Some(rest) = text.strip_suffix(['a', 'A']) {
        (rest, Suffix::A)
    } else if let Some(rest) = text.strip_suffix(['f', 'F']) {
        (rest, Suffix::F)
    } else {
        (text, Suffix::None)
    }
}

/// Reads `90a`: two or three digits, the first not 0, and a suffix.
pub(crate) fn parse_number(text: &str) -> Result<Arch, ParseArchError> {
    let (digits, suffix) = split_suffix(text);
    if !(2..=3).contains(&digits.len()) || digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(ParseArchError::Shape);
    }
    let number = digits.parse().map_err(|_| ParseArchError::Shape)?;
    if digits.len() == 2 && digits.starts_with('1') {
        return Err(ParseArchError::TwoDigits);
    }
    Ok(Arch::new(number, suffix))
}

/// Reads `9.0a`: a major of one or two digits, a point, a minor of one digit, and a suffix.
pub(crate) fn parse_dotted(text: &str) -> Result<Arch, ParseArchError> {
    let (digits, suffix) = split_suffix(text);
    let capability: Capability = digits.parse().map_err(|_| ParseArchError::Shape)?;
    if !(1..=99).contains(&capability.major) || digits.starts_with('0') {
        return Err(ParseArchError::Shape);
    }
    let plain = capability.arch().ok_or(ParseArchError::Shape)?;
    Ok(Arch::new(plain.number(), suffix))
}
