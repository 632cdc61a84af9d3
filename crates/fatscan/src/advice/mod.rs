//! What a person can do about a verdict, the nearest first. It looks at its arguments only.

mod driver;
mod error;
mod install;
mod nvidia;

use gpu_arch::Arch;
use gpu_arch::catalogue::{self, BuildFlags};
use gpu_arch::rules::{Device, Reason, ReasonCode, Verdict};

use crate::judge::{ArtefactJudgement, MemberVerdict};
use crate::model::{Artefact, ArtefactKind};
use crate::package::{Package, package};

pub(crate) use nvidia::is_library as is_nvidia_library;

pub use error::{Cause, When, cause_of, reasons_of_error};

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What kind of change it is.
    pub kind: FixKind,
    /// One sentence, lower case, without a full stop.
    pub text: String,
    /// Lines to copy: commands, flags.
    pub lines: Vec<String>,
}

/// Kinds of changes, from the nearest to the farthest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FixKind {
    /// A variable of the environment.
    Setting,
    /// Another variant or release of the same package.
    Variant,
    /// A newer driver.
    Driver,
    /// The `cuda-compat` package beside the driver that is there.
    Compat,
    /// A build of one's own.
    Build,
}

impl FixKind {
    /// The word in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Variant => "variant",
            Self::Driver => "driver",
            Self::Compat => "compat",
            Self::Build => "build",
        }
    }
}

/// Packages that are named at most; of a directory there may be hundreds.
const PACKAGES: usize = 3;

/// What to do about the verdict on an artefact for the `index`th device of its judgement. Empty where it runs. `owners` are
/// the packages of the artefact's files in their order ([`crate::Owners::of`]), or nothing.
#[must_use]
pub fn advise(
    artefact: &Artefact,
    judged: &ArtefactJudgement,
    devices: &[Device],
    index: usize,
    owners: &[Option<Package>],
) -> Vec<Fix> {
    let (Some(whole), Some(device)) = (judged.verdicts.get(index), devices.get(index)) else { return Vec::new() };
    let verdict = &whole.verdict;
    let mut fixes = Vec::new();
    if verdict.reasons.iter().any(is_setting) {
        fixes.push(Fix {
            kind: FixKind::Setting,
            text: "unset the variables that keep the driver from what would load".to_owned(),
            lines: vec!["unset CUDA_FORCE_PTX_JIT CUDA_DISABLE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_JIT".to_owned()],
        });
    }
    // where all that is missing is a newer driver, that is what to say
    let is_driver = |reason: &Reason| reason.needs_driver.is_some() || reason.needs_cuda.is_some();
    let waits = !device.driver.is_unknown() && !verdict.reasons.is_empty() && verdict.reasons.iter().all(is_driver);
    let waiting = MemberVerdict { verdict: Verdict::DriverTooOld, ..verdict.clone() };
    let verdict = if waits && verdict.verdict == Verdict::Partial { &waiting } else { verdict };
    let lacks = matches!(verdict.verdict, Verdict::NotCovered | Verdict::Partial | Verdict::Unknown);
    let other_host = verdict.reasons.iter().any(|reason| reason.code == ReasonCode::HostMismatch);
    if let (true, Some(host)) = (other_host, device.host) {
        fixes.push(for_host(artefact, &whole.decided_by, owners, &host.to_string()));
        return fixes;
    }
    let about = About { artefact, device, verdict };
    let parts = parts(artefact, &whole.decided_by, owners);
    if lacks || verdict.verdict == Verdict::DriverTooOld {
        fixes.extend(parts.iter().take(PACKAGES).filter_map(|part| install::fix(part, &about)));
        let more = parts.len().saturating_sub(PACKAGES);
        if let (Some(last), true) = (fixes.last_mut(), more > 0) {
            let what = if more == 1 { "package that decides" } else { "packages that decide" };
            last.text.push_str(&format!("; the same goes for {more} more {what}"));
        }
    }
    fixes.extend(driver::update(&about));
    fixes.extend(driver::compat(&about));
    // nobody but NVIDIA builds its libraries
    let is_ours = parts.is_empty() || parts.iter().any(|part| !part.is_nvidia);
    // nor does anybody build a whole environment
    let is_environment = artefact.kind == ArtefactKind::Directory && parts.len() > 1;
    if lacks && is_ours && !is_environment {
        fixes.extend(build(device));
    }
    fixes.sort_by_key(|fix| fix.kind);
    fixes
}

/// The same package for the host that the device is in.
fn for_host(artefact: &Artefact, deciding: &[usize], owners: &[Option<Package>], host: &str) -> Fix {
    let parts = parts(artefact, deciding, owners);
    let name = parts.iter().find_map(|part| part.package.as_ref()).map(|package| format!("`{}`", package.name));
    let members = deciding.iter().filter_map(|index| artefact.members.get(*index));
    let machine =
        members.filter_map(|member| member.machine).find(|machine| *machine != host).unwrap_or("another host");
    let name = name.unwrap_or_else(|| "these files".to_owned());
    let text = format!("get the build of {name} for {host} hosts; this one is for {machine}");
    Fix { kind: FixKind::Variant, text, lines: Vec::new() }
}

/// What is asked.
struct About<'a> {
    artefact: &'a Artefact,
    device: &'a Device,
    verdict: &'a MemberVerdict,
}

impl About<'_> {
    /// Whether its files are those of Windows.
    fn is_windows(&self) -> bool {
        self.artefact.members.iter().any(|member| member.format == "pe")
    }
}

/// A package among those that decide, or files that decide and are of no known package.
struct Part<'a> {
    package: Option<Package>,
    /// Whether all its files that decide are NVIDIA's.
    is_nvidia: bool,
    /// The first of them.
    file: Option<&'a str>,
}

/// The packages of the files that decide, in their order.
fn parts<'a>(artefact: &'a Artefact, deciding: &[usize], owners: &[Option<Package>]) -> Vec<Part<'a>> {
    let whole = package(artefact).and_then(|(name, version)| Package::new(name, version));
    let mut parts: Vec<Part<'a>> = Vec::new();
    for index in deciding {
        let Some(member) = artefact.members.get(*index) else { continue };
        let package = owners.get(*index).cloned().flatten().or_else(|| whole.clone());
        let of_nvidia = package.as_ref().is_some_and(|package| package.name.starts_with("nvidia-"));
        let is_nvidia = of_nvidia || nvidia::is_library(&member.path);
        // without a package NVIDIA's libraries and others are told apart
        let same = |part: &&mut Part<'_>| part.package == package && (package.is_some() || part.is_nvidia == is_nvidia);
        match parts.iter_mut().find(same) {
            Some(part) => part.is_nvidia &= is_nvidia,
            None => parts.push(Part { package, is_nvidia, file: Some(&member.path) }),
        }
    }
    parts
}

fn build(device: &Device) -> Option<Fix> {
    let flags = flags(device)?;
    let with = toolkits(&flags).map(|toolkits| format!(" with {toolkits}")).unwrap_or_default();
    let mut lines = vec![format!("nvcc   {}", flags.nvcc), format!("CMake  {}", flags.cmake)];
    lines.extend(flags.torch.map(|torch| format!("torch  {torch}")));
    lines.extend(flags.xla.map(|xla| format!("XLA    {xla}")));
    Some(Fix { kind: FixKind::Build, text: format!("build it for this GPU{with}"), lines })
}

/// How to build for a device.
fn flags(device: &Device) -> Option<BuildFlags> {
    catalogue::flags_for(device.capability.arch().map(|arch| Arch::plain(arch.number()))?)
}

/// The toolkits that can: `CUDA 8.0 to 12.9`.
fn toolkits(flags: &BuildFlags) -> Option<String> {
    match (flags.first_toolkit?, flags.last_toolkit) {
        (first, Some(last)) => Some(format!("CUDA {first} to {last}")),
        (first, None) => Some(format!("CUDA {first} or newer")),
    }
}

/// Whether a reason is a variable of the environment.
fn is_setting(reason: &Reason) -> bool {
    let by_variable = reason.text.contains("CUDA_FORCE_PTX_JIT");
    reason.code == ReasonCode::JitDisabled || (reason.code == ReasonCode::NoImage && by_variable)
}
