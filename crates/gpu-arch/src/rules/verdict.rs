//! The words of a verdict.

use std::fmt;

/// How code and a device get on.
///
/// The order is from best to worst: an artefact has the worst verdict of its members.
/// [`Verdict::NoDeviceCode`] stands outside: members without device code are neutral.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// Compatible SASS that this driver takes.
    Native,
    /// No such SASS, but PTX that this driver compiles: a slow first start.
    Jit,
    /// Some modules run and others do not. Never the verdict of one module.
    Partial,
    /// Only images on which the rules are uncertain.
    Unknown,
    /// An image fits the device, but the driver is too old for it.
    DriverTooOld,
    /// Nothing fits the device, or no driver for the device takes what fits.
    NotCovered,
    /// Nothing that a driver could load.
    NoDeviceCode,
}

impl Verdict {
    /// Whether code with this verdict runs now, natively or after compilation by the driver.
    pub const fn is_usable(self) -> bool {
        matches!(self, Verdict::Native | Verdict::Jit)
    }

    /// The word in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Native => "native",
            Verdict::Jit => "jit",
            Verdict::Partial => "partial",
            Verdict::Unknown => "unknown",
            Verdict::DriverTooOld => "driver-too-old",
            Verdict::NotCovered => "not-covered",
            Verdict::NoDeviceCode => "no-device-code",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
