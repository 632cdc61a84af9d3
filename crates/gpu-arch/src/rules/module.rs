//! The images of one module on one device.

use std::cmp::Reverse;

use crate::arch::{Arch, Suffix};
use crate::target::Target;
use crate::version::{CudaVersion, DriverVersion};

use super::code::Code;
use super::condition::Condition;
use super::coverage::Coverage;
use super::device::Device;
use super::environment::Environment;
use super::explain;
use super::fit::{Fit, fit, hold, insert};
use super::known::Known;
use super::reason::{Reason, ReasonCode};
use super::verdict::Verdict;

/// How a module and a device get on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleVerdict {
    /// The verdict: the best of its images.
    pub verdict: Verdict,
    /// Whether some image's architecture fits, the driver's age left aside.
    pub coverage: Coverage,
    /// Which image was judged: the one that the driver takes, or, where it takes none, the one that
    /// would load with the oldest of new enough drivers. Nothing where nothing fits.
    pub picked: Option<usize>,
    /// Why, the headline first. Empty for code that runs; with an unknown driver the conditions
    /// under which it does.
    pub reasons: Vec<Reason>,
    /// What other images that fit ask of the driver without getting it. It is not held against the
    /// module.
    pub notes: Vec<Reason>,
    /// The oldest driver that meets all conditions of the picked image, the device and what was
    /// added with [`ModuleVerdict::hold_to`]; nothing where no driver would help. See
    /// [`Reason::needs_driver`].
    pub needs_driver: Option<DriverVersion>,
    /// The same as a CUDA version.
    pub needs_cuda: Option<CudaVersion>,
}

impl ModuleVerdict {
    /// Makes the verdict no better than a further condition allows (that of the CUDA runtime:
    /// [`super::runtime_condition`]), and puts its reason in its place.
    pub fn hold_to(&mut self, condition: Condition) {
        if self.verdict == Verdict::NoDeviceCode {
            return;
        }
        hold(condition, &mut self.verdict, &mut self.reasons, &mut self.needs_driver, &mut self.needs_cuda);
    }
}

/// Judges the images of one module on one device.
///
/// SASS comes first, the highest compatible architecture of it, and of equal numbers `a` before `f`
/// before plain; then PTX likewise. Images that the driver does not take are passed over.
pub fn judge_module(images: &[Code], device: &Device, environment: &Environment) -> ModuleVerdict {
    if let Some(reason) = nothing_to_load(images) {
        return without_image(Verdict::NoDeviceCode, Coverage::No, vec![reason]);
    }
    let known = Known::of(device);
    let fits: Vec<Fit> = images.iter().map(|code| fit(code, device, &known, environment)).collect();
    let coverage = fits.iter().map(|fit| fit.coverage).min().unwrap_or(Coverage::No);
    let best = images.iter().zip(&fits).enumerate().min_by_key(|(_, (code, fit))| (fit.verdict, preference(code, fit)));
    match best {
        Some((index, (_, best))) if best.verdict != Verdict::NotCovered => ModuleVerdict {
            verdict: best.verdict,
            coverage,
            picked: Some(index),
            reasons: best.reasons.clone(),
            notes: notes(&fits, best),
            needs_driver: best.needs_driver,
            needs_cuda: best.needs_cuda,
        },
        _ => {
            let reasons = refusals(images, &fits, device, &known);
            without_image(Verdict::NotCovered, coverage, reasons)
        }
    }
}

/// Why a module has nothing that a driver could load.
fn nothing_to_load(images: &[Code]) -> Option<Reason> {
    if images.is_empty() {
        let text = "there is no device code";
        Some(Reason::new(ReasonCode::None_, None, text))
    } else if images.iter().all(|code| matches!(code.target, Target::Lto(_))) {
        let text = "there is only LTO-IR, which no driver loads";
        Some(Reason::new(ReasonCode::LtoOnly, Some(209), text))
    } else {
        None
    }
}

fn without_image(verdict: Verdict, coverage: Coverage, reasons: Vec<Reason>) -> ModuleVerdict {
    ModuleVerdict { verdict, coverage, picked: None, reasons, notes: Vec::new(), needs_driver: None, needs_cuda: None }
}

/// What decides between images of one verdict; the least is taken. Code that no driver takes yet is
/// judged by what it needs first: a demand newer than the tables is the largest.
fn preference(code: &Code, fit: &Fit) -> impl Ord + use<> {
    let need = match fit.verdict {
        Verdict::DriverTooOld => (fit.needs_cuda.is_none(), fit.needs_cuda),
        _ => (false, None),
    };
    let is_sass = matches!(code.target, Target::Sass(_));
    (need, Reverse(is_sass), Reverse(strength(code.target.arch())))
}

/// Higher numbers are better, then `a`, `f`, plain. Source: nvlink 13.5.
const fn strength(arch: Arch) -> (u32, u8) {
    let suffix = match arch.suffix() {
        Suffix::None => 0,
        Suffix::F => 1,
        Suffix::A => 2,
    };
    (arch.number(), suffix)
}

/// What images other than the judged one ask of the driver without getting it.
fn notes(fits: &[Fit], best: &Fit) -> Vec<Reason> {
    let mut notes: Vec<Reason> = Vec::new();
    for reason in fits.iter().flat_map(|fit| &fit.reasons) {
        let is_of_image =
            matches!(reason.code, ReasonCode::PtxIsa | ReasonCode::Zstd | ReasonCode::CubinAbi | ReasonCode::Uncertain);
        if is_of_image && !best.reasons.contains(reason) && !notes.contains(reason) {
            insert(&mut notes, reason.clone());
        }
    }
    notes
}

/// The reasons where nothing loads: those of an image that fits (its compilation is off, no driver
/// takes it) before the plain one that nothing fits.
fn refusals(images: &[Code], fits: &[Fit], device: &Device, known: &Known) -> Vec<Reason> {
    let fitting = fits
        .iter()
        .filter(|fit| fit.coverage != Coverage::No)
        .min_by_key(|fit| fit.reasons.iter().any(|reason| reason.code == ReasonCode::NoImage));
    if let Some(fit) = fitting {
        return fit.reasons.clone();
    }
    // what the driver says of the device is the same for every image
    let mut reasons = fits.first().map(|fit| fit.reasons.clone()).unwrap_or_default();
    reasons.retain(|reason| !matches!(reason.code, ReasonCode::NoImage | ReasonCode::LtoOnly));
    let text = explain::no_image(images, device.capability, known.is_unified());
    insert(&mut reasons, Reason::new(ReasonCode::NoImage, Some(209), text));
    reasons
}
