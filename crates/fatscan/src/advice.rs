//! What a person can do about a verdict, the nearest first.

use gpu_arch::catalogue::{self, Host, TorchBuild};
use gpu_arch::rules::{Device, ReasonCode, Verdict};
use gpu_arch::{Arch, CudaVersion};

use crate::judge::{ArtefactJudgement, MemberVerdict};
use crate::model::Artefact;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What kind of change it is.
    pub kind: FixKind,
    /// One sentence, lower case, without a full stop.
    pub text: String,
    /// Words to copy: flags, versions.
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
    /// A build of one's own.
    Build,
}

/// What to do about the verdict on an artefact for the `index`th device of its judgement. Empty where it runs.
#[must_use]
pub fn advise(artefact: &Artefact, judged: &ArtefactJudgement, devices: &[Device], index: usize) -> Vec<Fix> {
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
    let lacks = matches!(verdict.verdict, Verdict::NotCovered | Verdict::Partial | Verdict::Unknown);
    let waits = verdict.verdict == Verdict::DriverTooOld;
    if verdict.verdict == Verdict::Partial {
        fixes.extend(hint(artefact, device));
    } else if lacks || waits {
        fixes.extend(variant(artefact, device, waits));
    }
    if let Some(fix) = driver(verdict, device) {
        fixes.push(fix);
    }
    if lacks {
        fixes.extend(build(device));
    }
    fixes.sort_by_key(|fix| fix.kind);
    fixes
}

/// Name and version of the package in the name of a wheel: `torch-2.15.0-cp312-...whl`.
#[must_use]
pub fn package(artefact: &Artefact) -> Option<(&str, &str)> {
    let file = artefact.path.rsplit(['/', '\\']).next()?;
    let mut parts = file.strip_suffix(".whl")?.split('-');
    Some((parts.next()?, parts.next()?))
}

/// What is known of releases of the package, where no single one can be named.
fn hint(artefact: &Artefact, device: &Device) -> Option<Fix> {
    let (name, _) = package(artefact)?;
    let capability = device.capability;
    let text = format!("look for a release or a variant of `{name}` whose files all have code for {capability}");
    let known = catalogue::torch_hint(capability).filter(|_| name == "torch");
    let lines = known.map(|hint| format!("torch for {capability}: {}; variant {}", hint.torch, hint.variant));
    Some(Fix { kind: FixKind::Variant, text, lines: lines.into_iter().collect() })
}

fn variant(artefact: &Artefact, device: &Device, waits: bool) -> Option<Fix> {
    let (name, version) = package(artefact)?;
    let capability = device.capability;
    if name != "torch" {
        let what = if waits { "made for the driver that is there" } else { "with code for this GPU" };
        let text = format!("look for a release or a variant of `{name}` {what} (compute capability {capability})");
        return Some(Fix { kind: FixKind::Variant, text, lines: published(name) });
    }
    let is_arm = artefact.path.contains("aarch64");
    let host = if is_arm { Host::Aarch64 } else { Host::X86_64 };
    let mut builds: Vec<&TorchBuild> = catalogue::torch_builds_for(capability)
        .filter(|build| build.host == host && (!waits || is_met(build, device)))
        .collect();
    builds.reverse();
    // the version at hand first, then the newest ones
    let short = version.rsplitn(2, '.').last().unwrap_or(version);
    builds.sort_by_key(|build| build.version != short);
    let mut lines: Vec<String> = Vec::new();
    for build in builds {
        let line = format!("torch {} in the variant {}", build.version, build.cuda);
        let seen = |line: &String| line.split(' ').nth(1) == Some(build.version);
        if lines.len() < 3 && !lines.iter().any(seen) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return None;
    }
    let why = if waits { "that this driver takes" } else { "that still has code for this GPU" };
    let text = format!("install a build of torch {why}: a variant is the tag behind the index of PyTorch's wheels");
    if let Some(hint) = catalogue::torch_hint(capability).filter(|_| !waits) {
        lines.push(format!("in general for {capability}: torch {}; variant {}", hint.torch, hint.variant));
    }
    Some(Fix { kind: FixKind::Variant, text, lines })
}

/// What releases of a package are published with, as far as that is known.
fn published(name: &str) -> Vec<String> {
    let rows = catalogue::published_lists().iter().filter(|row| row.package.split('/').any(|part| part == name));
    rows.map(|row| format!("{name} {} is published with {}", row.versions, row.archs)).collect()
}

/// Whether the driver that is there takes the runtime of a build (`cu126` needs a driver for CUDA 12).
fn is_met(build: &TorchBuild, device: &Device) -> bool {
    let digits = build.cuda.trim_start_matches("cu");
    let major = digits.get(..2).and_then(|major| major.parse::<u16>().ok());
    let floor = major.and_then(catalogue::runtime_floor);
    match (floor, device.driver.version, device.driver.cuda) {
        (Some(floor), Some(version), _) => version >= floor.linux,
        (Some(floor), None, Some(cuda)) => cuda >= CudaVersion::new(floor.major, 0),
        _ => true,
    }
}

fn driver(verdict: &MemberVerdict, device: &Device) -> Option<Fix> {
    if device.driver.is_unknown() || verdict.verdict.is_usable() {
        return None;
    }
    let wanted = verdict.needs_driver?;
    let branch = wanted.branch();
    let last = catalogue::architecture(device.capability).and_then(|row| row.last_driver);
    let text = match last {
        Some(last) if last < branch => return None,
        Some(last) => format!("update the driver to {wanted} or newer (branch {branch}, at most {last} on this GPU)"),
        None => format!("update the driver to {wanted} or newer (branch {branch})"),
    };
    Some(Fix { kind: FixKind::Driver, text, lines: Vec::new() })
}

fn build(device: &Device) -> Option<Fix> {
    let flags = catalogue::flags_for(device.capability.arch().map(|arch| Arch::plain(arch.number()))?)?;
    let range = match (flags.first_toolkit, flags.last_toolkit) {
        (Some(first), Some(last)) => format!(" with CUDA {first} to {last}"),
        (Some(first), None) => format!(" with CUDA {first} or newer"),
        _ => String::new(),
    };
    let mut lines = vec![format!("nvcc   {}", flags.nvcc), format!("CMake  {}", flags.cmake)];
    lines.extend(flags.torch.map(|torch| format!("torch  {torch}")));
    lines.extend(flags.xla.map(|xla| format!("XLA    {xla}")));
    Some(Fix { kind: FixKind::Build, text: format!("build it for this GPU{range}"), lines })
}

/// The reasons that give a CUDA error.
#[must_use]
pub fn reasons_of_error(error: u32) -> &'static [ReasonCode] {
    match error {
        35 => &[ReasonCode::RuntimeMajor],
        100 => &[ReasonCode::DriverUnknownDevice, ReasonCode::DriverDroppedDevice],
        200 => &[ReasonCode::Zstd, ReasonCode::CubinAbi],
        98 | 209 | 500 => &[ReasonCode::NoImage],
        222 => &[ReasonCode::PtxIsa],
        223 => &[ReasonCode::JitDisabled],
        _ => &[],
    }
}

/// Whether a reason is a variable of the environment.
fn is_setting(reason: &gpu_arch::rules::Reason) -> bool {
    let by_variable = reason.text.contains("CUDA_FORCE_PTX_JIT");
    reason.code == ReasonCode::JitDisabled || (reason.code == ReasonCode::NoImage && by_variable)
}
