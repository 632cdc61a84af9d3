//! One image on one device.

use crate::catalogue::is_newer_than_branches;
use crate::target::Target;
use crate::version::{CudaVersion, DriverVersion};

use super::code::{Code, Payload};
use super::condition::{self, Condition, Met};
use super::coverage::{Coverage, ptx_covers, sass_covers};
use super::device::Device;
use super::environment::Environment;
use super::explain;
use super::known::Known;
use super::reason::{Reason, ReasonCode};
use super::verdict::Verdict;

/// How one image and one device get on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fit {
    /// The verdict: the worst of all that holds for the image.
    pub verdict: Verdict,
    /// Whether its architecture fits, the driver's age left aside.
    pub coverage: Coverage,
    /// Why, the headline first. Empty for code that runs; with an unknown driver the conditions
    /// under which it does.
    pub reasons: Vec<Reason>,
    /// The oldest driver that meets all conditions. See [`Reason::needs_driver`].
    pub needs_driver: Option<DriverVersion>,
    /// The same as a CUDA version.
    pub needs_cuda: Option<CudaVersion>,
}

/// Judges one image on one device.
pub fn runs(code: &Code, device: &Device, environment: &Environment) -> Fit {
    fit(code, device, &Known::of(device), environment)
}

/// As [`runs`], with the driver's facts looked up before.
pub(crate) fn fit(code: &Code, device: &Device, known: &Known, environment: &Environment) -> Fit {
    let capability = device.capability;
    let labelled = coverage(code, code.target, device, known);
    let found = coverage(code, code.found(), device, known);
    let is_refused = code.payload == Payload::Foreign || (labelled != Coverage::No && found == Coverage::No);
    let coverage = if is_refused { Coverage::No } else { labelled.max(found) };
    let mut fit = Fit {
        verdict: match code.target {
            Target::Sass(_) => Verdict::Native,
            Target::Ptx(..) | Target::Lto(_) => Verdict::Jit,
        },
        coverage,
        reasons: Vec::new(),
        needs_driver: None,
        needs_cuda: None,
    };
    if let Some(condition) = condition::of_device(device, known) {
        fit.hold_to(condition);
    }
    match (labelled, code.target) {
        (Coverage::No, target) => {
            let code_of_reason = match target {
                Target::Lto(_) => ReasonCode::LtoOnly,
                _ => ReasonCode::NoImage,
            };
            let text = explain::no_image(&[*code], capability, known.is_unified());
            fit.refuse(Reason::new(code_of_reason, Some(209), text));
            return fit;
        }
        (_, Target::Sass(_)) if environment.force_ptx_jit => {
            let text = explain::sass_ignored(capability);
            fit.refuse(Reason::new(ReasonCode::NoImage, Some(209), text));
            return fit;
        }
        (_, Target::Ptx(..)) if environment.disable_ptx_jit => {
            let text = explain::jit_disabled(capability);
            fit.refuse(Reason::new(ReasonCode::JitDisabled, Some(223), text));
            return fit;
        }
        (_, target) if is_refused => {
            let error = if matches!(target, Target::Sass(_)) { INVALID_SOURCE } else { INVALID_PTX };
            let text = explain::mismatch(code, capability);
            fit.refuse(Reason::new(ReasonCode::LabelMismatch, Some(error), text));
            return fit;
        }
        _ => {}
    }
    if coverage == Coverage::Uncertain {
        let target = if labelled == Coverage::Uncertain { code.target } else { code.found() };
        fit.doubt(ReasonCode::Uncertain, explain::uncertain(target, capability));
    }
    match code.payload {
        Payload::Obfuscated => fit.doubt(ReasonCode::Obfuscated, explain::obfuscated(code.target)),
        Payload::Unclear => fit.doubt(ReasonCode::Uncertain, explain::unclear(code.target)),
        Payload::Unread | Payload::Is(_) | Payload::Foreign => {}
    }
    for condition in condition::of_image(code, known) {
        fit.hold_to(condition);
    }
    fit
}

/// The error of a cubin whose payload the driver refuses.
const INVALID_SOURCE: u32 = 300;
/// The same of PTX.
const INVALID_PTX: u32 = 218;

/// Whether an architecture, that of the label or of the payload, fits.
pub(super) fn coverage(code: &Code, target: Target, device: &Device, known: &Known) -> Coverage {
    match target {
        _ if code.is_32bit => Coverage::No,
        Target::Sass(arch) => sass_covers(arch, device.capability, known.is_unified()),
        Target::Ptx(arch, _) => ptx_covers(arch, device.capability),
        Target::Lto(_) => Coverage::No,
    }
}

impl Fit {
    /// Makes the verdict no better than a condition allows, and gives its reason unless it is met.
    pub(crate) fn hold_to(&mut self, condition: Condition) {
        hold(condition, &mut self.verdict, &mut self.reasons, &mut self.needs_driver, &mut self.needs_cuda);
    }

    fn add(&mut self, reason: Reason) {
        insert(&mut self.reasons, reason);
    }

    /// Makes the verdict no better than unknown.
    fn doubt(&mut self, code: ReasonCode, text: String) {
        self.verdict = self.verdict.max(Verdict::Unknown);
        self.add(Reason::new(code, None, text));
    }

    fn refuse(&mut self, reason: Reason) {
        self.verdict = Verdict::NotCovered;
        self.needs_driver = None;
        self.needs_cuda = None;
        self.add(reason);
    }
}

/// Puts a reason where its rank wants it, behind others of that rank.
pub(crate) fn insert(reasons: &mut Vec<Reason>, reason: Reason) {
    reasons.push(reason);
    reasons.sort_by_key(|reason| reason.code.rank());
}

/// Applies a condition to a verdict and what belongs to it.
pub(crate) fn hold(
    condition: Condition,
    verdict: &mut Verdict,
    reasons: &mut Vec<Reason>,
    needs_driver: &mut Option<DriverVersion>,
    needs_cuda: &mut Option<CudaVersion>,
) {
    if condition.met == Met::Yes {
        return;
    }
    *verdict = (*verdict).max(condition.met.at_best());
    if *verdict == Verdict::NotCovered {
        (*needs_driver, *needs_cuda) = (None, None);
    } else {
        *needs_driver = (*needs_driver).max(condition.reason.needs_driver);
        *needs_cuda = (*needs_cuda).max(condition.reason.needs_cuda);
        // no driver that the tables know would do
        if needs_cuda.is_some_and(is_newer_than_branches) {
            *needs_driver = None;
        }
    }
    insert(reasons, condition.reason);
}
