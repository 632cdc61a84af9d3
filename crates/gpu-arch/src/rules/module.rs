//! The images of one module on one device.

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
use super::select::select_for;
use super::verdict::Verdict;

/// How a module and a device get on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleVerdict {
    /// The verdict: that of the image that the driver selects.
    pub verdict: Verdict,
    /// Whether some image's architecture fits, the driver's age left aside.
    pub coverage: Coverage,
    /// Which image was judged: the one that the driver selects. Nothing where it selects none, or refuses it whatever
    /// its age.
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

/// Judges the images of one module on one device: by the one that the driver selects ([`select`](super::select)).
///
/// Where that one needs a newer driver and another one would do, the verdict is unknown: nobody has measured whether
/// the driver falls back.
pub fn judge_module(images: &[Code], device: &Device, environment: &Environment) -> ModuleVerdict {
    if let Some(reason) = nothing_to_load(images) {
        return without_image(Verdict::NoDeviceCode, Coverage::No, vec![reason]);
    }
    let known = Known::of(device);
    let fits: Vec<Fit> = images.iter().map(|code| fit(code, device, &known, environment)).collect();
    let coverage = fits.iter().map(|fit| fit.coverage).min().unwrap_or(Coverage::No);
    let selected = select_for(images, device, &known, environment)
        .and_then(|index| Some((index, images.get(index)?, fits.get(index)?)));
    let Some((index, code, own)) = selected else {
        return without_image(Verdict::NotCovered, coverage, refusals(images, &fits, device, &known));
    };
    // a driver may or may not fall back where it is too old for what it selects
    let waits =
        own.coverage != Coverage::No && !own.reasons.iter().any(|reason| reason.code == ReasonCode::JitDisabled);
    let waits = waits && matches!(own.verdict, Verdict::DriverTooOld | Verdict::NotCovered);
    let other = images.iter().zip(&fits).find(|(_, fit)| waits && fit.verdict.is_usable());
    if own.verdict == Verdict::NotCovered && other.is_none() {
        return without_image(Verdict::NotCovered, own.coverage, own.reasons.clone());
    }
    let mut verdict = ModuleVerdict {
        verdict: own.verdict,
        coverage: own.coverage,
        picked: Some(index),
        reasons: own.reasons.clone(),
        notes: notes(&fits, own),
        needs_driver: own.needs_driver,
        needs_cuda: own.needs_cuda,
    };
    if let Some((other, _)) = other {
        verdict.verdict = Verdict::Unknown;
        let text = explain::fallback(code.target, other.target);
        insert(&mut verdict.reasons, Reason::new(ReasonCode::Uncertain, None, text));
    }
    verdict
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
