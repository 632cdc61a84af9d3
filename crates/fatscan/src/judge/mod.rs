//! Whether the device code that was found runs on a device, and why.
//!
//! The unit of a judgement is a module on one device with one driver, never the union of a file: a library whose union
//! holds an architecture may lack it in most of its modules. `docs/VERDICTS.md` says what counts and how modules,
//! members and alternatives add up. [`judge`] is pure: it looks at its arguments only.

mod alternatives;
mod artefact;
mod classify;
mod copies;
mod empty;
mod limits;
mod look;
mod member;
pub(crate) mod modules;
mod named;
mod relink;
mod runtime;

use gpu_arch::rules::{Device, Environment, Reason, Verdict};
use gpu_arch::{Arch, DriverVersion};

use crate::model::{CodeKind, Report};
use crate::pattern::Pattern;

pub use artefact::{Standing, standing};
pub use classify::{Class, NotCounted, classify};
pub use copies::copies;
pub use empty::wants_kernels;
pub use limits::{Limit, LimitKind};
pub(crate) use look::{Look, look};
pub(crate) use member::judge as judge_member;
pub use named::{DISPATCHERS, PROFILERS};

/// How to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What the environment asks of the driver's compiler.
    pub environment: Environment,
    /// Whether libraries and directories that are alternatives to each other are judged as one.
    pub alternatives: bool,
    /// Names of libraries that pick among their modules by themselves.
    pub dispatchers: Vec<Pattern>,
    /// Names of libraries that measure programs: they decide nothing.
    pub profilers: Vec<Pattern>,
}

impl Default for Policy {
    fn default() -> Self {
        // they are patterns, as a test shows
        let patterns = |names: &[&str]| names.iter().filter_map(|name| Pattern::new(name).ok()).collect();
        Self {
            environment: Environment::default(),
            alternatives: true,
            dispatchers: patterns(DISPATCHERS),
            profilers: patterns(PROFILERS),
        }
    }
}

/// A report judged for some devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The devices, in the order given; every list of verdicts below has theirs in this order.
    pub devices: Vec<Device>,
    /// The fleet or group that each is of, for people; may be shorter than the list of devices.
    pub fleets: Vec<Option<String>>,
    /// As in the report.
    pub artefacts: Vec<ArtefactJudgement>,
}

impl Judgement {
    /// The fleet that a device is of.
    #[must_use]
    pub fn fleet(&self, device: usize) -> Option<&str> {
        self.fleets.get(device)?.as_deref()
    }

    /// What reports call the devices, each another: the name or capability; where several have one, with the fleet, and where
    /// that does not tell them apart with a number.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let base = |device: &Device| device.name.clone().unwrap_or_else(|| device.capability.to_string());
        let names: Vec<String> = self.devices.iter().map(base).collect();
        let mut ids: Vec<String> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let shared = names.iter().filter(|other| *other == name).count() > 1;
            let id = match self.fleet(index).filter(|_| shared) {
                Some(fleet) => format!("{name} ({fleet})"),
                None => name.clone(),
            };
            let mut own = id.clone();
            let mut number = 1usize;
            while ids.contains(&own) {
                number = number.saturating_add(1);
                own = format!("{id}#{number}");
            }
            ids.push(own);
        }
        ids
    }
}

/// A report that does not tell which modules are stubs, so that it cannot be judged: scan with
/// [`crate::Options::for_judging`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShallow;

impl core::fmt::Display for TooShallow {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the files were not looked into deep enough to be judged")
    }
}

impl core::error::Error for TooShallow {}

/// An artefact judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtefactJudgement {
    /// One for each device.
    pub verdicts: Vec<ArtefactVerdict>,
    /// As in the report.
    pub members: Vec<MemberJudgement>,
    /// Members that are alternatives to each other.
    pub alternatives: Vec<Alternatives>,
    /// Loose files of device code, which are judged together as the modules of one.
    pub loose: Option<Loose>,
}

/// The verdict on an artefact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtefactVerdict {
    /// The verdict with its sums over the members that count.
    pub verdict: MemberVerdict,
    /// Indices of the members that the verdict comes from: where some run and others do not, those that do not.
    pub decided_by: Vec<usize>,
    /// Indices of the members that do not load here and are features of other GPUs: they decide nothing.
    pub optional: Vec<usize>,
    /// Parts of the artefact (a file, a group of alternatives, the loose files together) that count, optional ones aside.
    pub parts: usize,
    /// Those of them that run.
    pub parts_ok: usize,
}

/// A member judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberJudgement {
    /// One for each device.
    pub verdicts: Vec<MemberVerdict>,
    /// Modules that do not count, by reason.
    pub not_counted: NotCounted,
    /// Whether it is a library that measures programs, by its name: shown, and no part of the artefact's verdict.
    pub is_profiler: bool,
    /// Whether it is a library that picks among its modules by itself, by its name.
    pub dispatches: bool,
    /// The package that it is of, as far as its path tells: in a directory of packages the folder below it. A file that is
    /// a feature of other GPUs is one only beside a file of its own package that runs.
    pub package: String,
}

/// The verdict on a member for one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// General modules, or the specialised where there are none.
    pub modules: usize,
    /// Those of them that are native or jit now.
    pub modules_ok: usize,
    /// Those of them that load now or with a newer driver.
    pub modules_fit: usize,
    /// Specialised modules beside the general ones.
    pub specialised: usize,
    /// Those of them that are native or jit now.
    pub specialised_ok: usize,
    /// Modules, of all of them, that the driver compiles at first use.
    pub compiled: usize,
    /// What the driver would load: images alike with their number, over all modules that load.
    pub loads: Vec<Load>,
    /// Why, the headline first.
    pub reasons: Vec<Reason>,
    /// The oldest driver that meets all conditions among the reasons.
    pub needs_driver: Option<DriverVersion>,
    /// What does not load, by kind.
    pub limits: Vec<Limit>,
    /// Whether all that does not load is a feature of other GPUs: for newer ones, or exact targets only.
    pub optional: bool,
    /// Indices of the modules that do not load now.
    pub failing: Vec<usize>,
}

/// Loose files of device code beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loose {
    /// Indices of the members.
    pub members: Vec<usize>,
    /// One for each device.
    pub verdicts: Vec<MemberVerdict>,
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

/// Judges a report for devices.
///
/// # Errors
/// [`TooShallow`] for a report of a scan that did not look for entry functions: stubs would count as modules.
pub fn judge(report: &Report, devices: &[Device], policy: &Policy) -> Result<Judgement, TooShallow> {
    if !report.depth.entry_functions && !report.artefacts.iter().all(|artefact| artefact.members.is_empty()) {
        return Err(TooShallow);
    }
    Ok(Judgement {
        devices: devices.to_vec(),
        fleets: Vec::new(),
        artefacts: report.artefacts.iter().map(|artefact| judge_artefact(artefact, devices, policy)).collect(),
    })
}

/// One artefact, of a report that is deep enough.
pub(crate) fn judge_artefact(
    artefact: &crate::model::Artefact,
    devices: &[Device],
    policy: &Policy,
) -> ArtefactJudgement {
    artefact::judge(artefact, devices, policy)
}
