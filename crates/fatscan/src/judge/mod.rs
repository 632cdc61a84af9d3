//! Whether the device code that was found runs on a device, and why.
//!
//! The unit of a judgement is a module on one device with one driver, never the union of a file: a library whose union
//! holds an architecture may lack it in most of its modules. `docs/VERDICTS.md` says what counts and how modules,
//! members and alternatives add up. [`judge`] is pure: it looks at its arguments only.

mod alternatives;
mod artefact;
mod classify;
mod dispatchers;
mod member;
mod modules;
mod runtime;

use gpu_arch::rules::{Device, Environment, Reason, Verdict};
use gpu_arch::{Arch, DriverVersion};

use crate::model::{CodeKind, Report};

pub use classify::{Class, NotCounted, classify};
pub use dispatchers::DISPATCHERS;

/// How to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What the environment asks of the driver's compiler.
    pub environment: Environment,
    /// Whether libraries and directories that are alternatives to each other are judged as one.
    pub alternatives: bool,
    /// Names of libraries that pick among their modules by themselves, with `*` for any characters.
    pub dispatchers: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            environment: Environment::default(),
            alternatives: true,
            dispatchers: DISPATCHERS.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

/// A report judged for some devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The devices, in the order given; every list of verdicts below has theirs in this order.
    pub devices: Vec<Device>,
    /// As in the report.
    pub artefacts: Vec<ArtefactJudgement>,
}

/// An artefact judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtefactJudgement {
    /// One for each device.
    pub verdicts: Vec<ArtefactVerdict>,
    /// As in the report.
    pub members: Vec<MemberJudgement>,
    /// Members that are alternatives to each other.
    pub alternatives: Vec<Alternatives>,
}

/// The verdict on an artefact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtefactVerdict {
    /// The verdict with its sums over the members that decided.
    pub verdict: MemberVerdict,
    /// Indices of the members with this verdict among those that decide.
    pub decided_by: Vec<usize>,
}

/// A member judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberJudgement {
    /// One for each device.
    pub verdicts: Vec<MemberVerdict>,
    /// Modules that do not count, by reason.
    pub not_counted: NotCounted,
    /// Whether it has general modules or is a known dispatcher: such members decide over the artefact.
    pub decides: bool,
}

/// The verdict on a member for one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// Modules that decided: the general ones, or the specialised where there are none.
    pub modules: usize,
    /// Those of them that are native or jit now.
    pub modules_ok: usize,
    /// Those of them whose architecture fits the device, whatever the driver.
    pub modules_fit: usize,
    /// Specialised modules beside the general ones.
    pub specialised: usize,
    /// Those of them that are native or jit now.
    pub specialised_ok: usize,
    /// What the driver would load: images alike with their number, over all modules that load.
    pub loads: Vec<Load>,
    /// Why, the headline first.
    pub reasons: Vec<Reason>,
    /// The oldest driver that meets all conditions.
    pub needs_driver: Option<DriverVersion>,
    /// Indices of the deciding modules that do not load now.
    pub failing: Vec<usize>,
}

/// Images alike that would be loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    /// SASS or PTX.
    pub kind: CodeKind,
    /// Architecture.
    pub arch: Arch,
    /// PTX ISA of PTX.
    pub isa: Option<(u16, u16)>,
    /// In how many modules.
    pub count: usize,
}

/// Members that do the same for different devices or CUDA versions: one of them must fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternatives {
    /// What they have in common, with `*` where they differ: `lib/libfoo_cuda*.so`, `pkg/sm*`.
    pub name: String,
    /// The choices.
    pub choices: Vec<Choice>,
    /// For each device the index of the best choice.
    pub best: Vec<usize>,
}

/// One of several alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// File or directory.
    pub path: String,
    /// Indices of its members.
    pub members: Vec<usize>,
    /// Its verdict for each device: the worst of its members.
    pub verdicts: Vec<Verdict>,
}

/// The image of a module that a device would load with a driver that takes it, if there is one.
pub(crate) fn picked<'m>(
    module: &'m crate::Module,
    device: &Device,
    environment: &Environment,
) -> Option<&'m crate::Image> {
    let (verdict, image) = modules::Judge::new(device, environment, None).module(module);
    image.filter(|_| matches!(verdict.verdict, Verdict::Native | Verdict::Jit))
}

/// Judges a report for devices. Scan with [`crate::Options::entry_functions`], or stubs count as modules.
#[must_use]
pub fn judge(report: &Report, devices: &[Device], policy: &Policy) -> Judgement {
    Judgement {
        devices: devices.to_vec(),
        artefacts: report.artefacts.iter().map(|artefact| artefact::judge(artefact, devices, policy)).collect(),
    }
}
