//! One image on one device.

use crate::catalogue::is_newer_than_branches;
use crate::target::Target;
use crate::version::{CudaVersion, DriverVersion};

use super::code::Code;
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
    let coverage = coverage(code, device, known);
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
    match (coverage, code.target) {
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
        (Coverage::Uncertain, target) => {
            fit.verdict = fit.verdict.max(Verdict::Unknown);
            let text = explain::uncertain(target, capability);
            fit.add(Reason::new(ReasonCode::Uncertain, None, text));
        }
        (Coverage::Yes, _) => {}
    }
    for condition in condition::of_image(code, known) {
        fit.hold_to(condition);
    }
    fit
}

/// Whether the architecture fits.
fn coverage(code: &Code, device: &Device, known: &Known) -> Coverage {
    match code.target {
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
