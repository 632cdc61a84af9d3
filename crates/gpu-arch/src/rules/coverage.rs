//! Whether the architecture of code fits a device, the driver left aside.

use std::fmt;

use crate::arch::{Arch, Suffix};
use crate::capability::Capability;
use crate::catalogue::architecture;

/// Whether code fits a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Coverage {
    /// It fits.
    Yes,
    /// The sources disagree or say nothing.
    Uncertain,
    /// It does not fit.
    No,
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Coverage::Yes => "yes",
            Coverage::Uncertain => "uncertain",
            Coverage::No => "no",
        })
    }
}

/// Architectures whose binaries are not exchanged with the desktop's ("Binary compatibility" in the
/// CUDA C Programming Guide). Thor as 11.0 and GB10 as 12.1 have the desktop's driver and are not
/// among them. 8.8 has no published product.
const TEGRA: [u32; 7] = [32, 53, 62, 72, 87, 88, 101];

/// Thor is 10.1 up to CUDA 12.9 and 11.0 from 13.0 on.
const OLD_THOR: u32 = 101;
/// Its number from CUDA 13.0 on.
const THOR: u32 = 110;

/// The number by which renamed architectures are compared.
const fn renamed(number: u32) -> u32 {
    if number == OLD_THOR { THOR } else { number }
}

/// Whether code of this number is Tegra code.
pub(crate) fn is_tegra(number: u32) -> bool {
    TEGRA.contains(&number)
}

/// Whether SASS of an architecture fits a device. `unified` says that the driver implements CUDA
/// 13.2 or newer, from which on Orin (8.7) takes the desktop's 8.x code.
///
/// - Plain code fits devices of the same major and the same or a higher minor. Tegra devices take
///   only their own code, and only they do.
/// - `a` code fits exactly its capability, `f` code its family from its minor on.
///
/// Sources: "Binary Compatibility" in NVIDIA's compatibility guides; accepted pairs of nvJitLink
/// 12.4 and 12.9 and of nvlink 13.0 to 13.5; `torch/cuda/__init__.py`.
pub fn sass_covers(code: Arch, device: Capability, unified: bool) -> Coverage {
    let Some(target) = device.arch() else {
        return Coverage::No;
    };
    match code.suffix() {
        Suffix::A => exactly(code, target),
        Suffix::F => family(code, device, target),
        Suffix::None => {
            let (code, device) = (code.number(), target.number());
            if renamed(code) == renamed(device) {
                Coverage::Yes
            } else if code / 10 != device / 10 || code > device {
                Coverage::No
            } else if is_tegra(code) || is_tegra(device) {
                unification(code, unified)
            } else {
                Coverage::Yes
            }
        }
    }
}

/// Tegra code or a Tegra device of the same major: only Orin's generation was ever united with the
/// desktop. That Orin's own code runs on higher minors is accepted by the linker and denied by
/// torch's table.
fn unification(code: u32, unified: bool) -> Coverage {
    match (unified, code / 10) {
        (true, 8) if is_tegra(code) => Coverage::Uncertain,
        (true, 8) => Coverage::Yes,
        _ => Coverage::No,
    }
}

/// Whether PTX of an architecture fits a device.
///
/// Plain PTX fits every device of the same or a higher capability, Tegra included; `a` and `f` as
/// for SASS. Source: `ptxas --help` and what `ptxas` 13.5 compiles.
pub fn ptx_covers(code: Arch, device: Capability) -> Coverage {
    let Some(target) = device.arch() else {
        return Coverage::No;
    };
    match code.suffix() {
        Suffix::A => exactly(code, target),
        Suffix::F => family(code, device, target),
        Suffix::None => {
            let fits = code.number() <= target.number() || renamed(code.number()) == renamed(target.number());
            if fits { Coverage::Yes } else { Coverage::No }
        }
    }
}

/// The first architectures with `a` and with `f` code: a label `sm_89a` is no candidate anywhere.
const FIRST_A: u32 = 90;
const FIRST_F: u32 = 100;

/// `a` code: its capability and no other.
fn exactly(code: Arch, target: Arch) -> Coverage {
    if code.number() < FIRST_A {
        return Coverage::No;
    }
    if renamed(code.number()) == renamed(target.number()) { Coverage::Yes } else { Coverage::No }
}

/// `f` code: the same family, the same or a higher minor. Who belongs to a family is only known of
/// architectures in the table.
fn family(code: Arch, device: Capability, target: Arch) -> Coverage {
    if code.number() < FIRST_F {
        return Coverage::No;
    }
    if renamed(code.number()) == renamed(target.number()) {
        return Coverage::Yes;
    }
    if code.major() != target.major() || code.number() > target.number() {
        return Coverage::No;
    }
    match (architecture(code.capability()).map(|row| row.family), architecture(device).map(|row| row.family)) {
        (Some(Some(code)), Some(Some(device))) if code == device => Coverage::Yes,
        (Some(_), Some(_)) => Coverage::No,
        _ => Coverage::Uncertain,
    }
}
