//! Another build of the same package, as pip takes it.

use core::cmp::Reverse;

use gpu_arch::CudaVersion;
use gpu_arch::catalogue::{self, Confidence, Host, Platform, TorchBuild};
use gpu_arch::rules::{Device, Verdict};

use super::{About, Fix, FixKind, Part, flags, nvidia, toolkits};
use crate::package::Package;

/// Releases that are named at most.
const RELEASES: usize = 3;

/// The CUDA errors of an image whose label and code are for different devices.
const MISLABELLED: [u32; 2] = [218, 300];

/// What to install in the place of a package or a file that decides.
pub(super) fn fix(part: &Part<'_>, about: &About<'_>) -> Option<Fix> {
    let Some(package) = &part.package else {
        return part.file.filter(|_| part.is_nvidia).map(|file| library(file, about));
    };
    // where only some of it runs, the tables do not tell which release has all
    let known = if about.verdict.verdict == Verdict::Partial { None } else { known(package, about) };
    Some(known.unwrap_or_else(|| search(package, about)))
}

/// What the build must be like.
fn wanted(about: &About<'_>) -> String {
    let capability = about.device.capability;
    match about.verdict.verdict {
        Verdict::DriverTooOld => format!("made for the driver that is there (compute capability {capability})"),
        Verdict::Partial => format!("whose files all have code for this GPU (compute capability {capability})"),
        _ => format!("with code for this GPU (compute capability {capability})"),
    }
}

/// Releases that are known to do.
fn known(package: &Package, about: &About<'_>) -> Option<Fix> {
    if package.name == "torch" { torch(package, about) } else { published(package, about) }
}

fn torch(package: &Package, about: &About<'_>) -> Option<Fix> {
    let host = host(about);
    let is_windows = about.is_windows();
    let fits = catalogue::torch_builds_for(about.device.capability).filter(|build| build.host == host);
    let fits: Vec<&TorchBuild> = fits.filter(|build| !is_this(build, package)).collect();
    let waits = about.verdict.verdict == Verdict::DriverTooOld;
    let met: Vec<&TorchBuild> = fits.iter().copied().filter(|build| is_met(build, about.device)).collect();
    // a build that the driver does not take is advice together with a newer driver only
    let mut builds = if met.is_empty() && !waits { fits } else { met };
    // of a version the variant that pip has by itself, then a sure one, then the one for the oldest drivers
    let is_default = |build: &TorchBuild| build.pypi_default && !is_windows;
    builds.sort_by_key(|build| (!is_default(build), Reverse(build.confidence), variant(build)));
    let mut releases: Vec<&TorchBuild> = Vec::new();
    for build in builds {
        if !releases.iter().any(|known| known.version == build.version) {
            releases.push(build);
        }
    }
    // the version at hand first, then the newest ones; but what is sure before what is not
    let own = release(&package.version);
    releases.sort_by_key(|build| (release(build.version) != own, Reverse(release(build.version))));
    if let Some(sure) = releases.iter().position(|build| build.confidence == Confidence::High) {
        releases.get_mut(..=sure)?.rotate_right(1);
    }
    releases.truncate(RELEASES);
    let line = |build: &&TorchBuild| {
        let index =
            if is_default(build) { String::new() } else { format!(" --index-url $PYTORCH_INDEX/{}", build.cuda) };
        format!("pip install torch=={}{index}", build.release)
    };
    let lines: Vec<String> = releases.iter().map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let what = if waits { "that this driver takes" } else { "that has code for this GPU" };
    let mut text = format!("install a build of torch {what}");
    if lines.iter().any(|line| line.contains('$')) {
        text.push_str("; PYTORCH_INDEX stands for the address of PyTorch's index of wheels");
    }
    let unsure = releases.iter().filter(|build| build.confidence != Confidence::High);
    let unsure: Vec<&str> = unsure.map(|build| build.release).collect();
    if !unsure.is_empty() {
        text.push_str(&format!("; it is not certain that there is {} with this code", unsure.join(" or ")));
    }
    if is_windows {
        text.push_str("; the lists are those of the builds for Linux");
    }
    Some(Fix { kind: FixKind::Variant, text, lines })
}

/// Releases of a package that publishes what it holds.
fn published(package: &Package, about: &About<'_>) -> Option<Fix> {
    if about.verdict.verdict == Verdict::DriverTooOld {
        return None;
    }
    let is_of =
        |name: &str| package.name == name || package.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    let rows = catalogue::published_lists().iter().rev().filter(|row| row.package.split('/').any(is_of));
    let rows = rows.filter(|row| row.covers(about.device.capability) == Some(true));
    let found = rows.filter_map(|row| Some((row, row.pip?)));
    let found = found.filter(|(_, pip)| pip.rsplit("==").next() != Some(package.version.as_str()));
    let found: Vec<_> = found.take(RELEASES).collect();
    let (first, _) = found.first()?;
    // brackets mean something to a shell
    let lines = found.iter().map(|(_, pip)| format!("pip install \"{pip}\"")).collect();
    let text = format!(
        "install a release of {} that is published with code for this GPU ({} is, with {})",
        package.name, first.versions, first.archs
    );
    Some(Fix { kind: FixKind::Variant, text, lines })
}

/// How to look for another version of a package of which nothing is known.
fn search(package: &Package, about: &About<'_>) -> Fix {
    let other = nvidia::other_major(&package.name, about.device);
    let name = other.as_ref().unwrap_or(&package.name);
    let what = if other.is_some() { "a version" } else { "another version" };
    let mut text = format!("look for {what} of `{name}` {}", wanted(about));
    if about.verdict.reasons.iter().any(|reason| reason.error.is_some_and(|error| MISLABELLED.contains(&error))) {
        text.push_str(": in this one labels and code do not fit together");
    }
    if name.starts_with("nvidia-") {
        text.push_str(&made_by_nvidia(about.device));
    }
    if let Some(hint) = catalogue::torch_hint(about.device.capability).filter(|_| name == "torch") {
        text.push_str(&format!("; known of torch: {}, variant {}", hint.torch, hint.variant));
    }
    text.push_str("; VERSION stands for one of those that pip lists");
    let lines = vec![
        format!("pip index versions {name}"),
        format!("pip download --no-deps --dest wheels {name}==VERSION"),
        format!("fatscan explain wheels {}", target(about.device)),
    ];
    Fix { kind: FixKind::Variant, text, lines }
}

/// Another version of a library of NVIDIA's that is of no known package.
fn library(file: &str, about: &About<'_>) -> Fix {
    let name = file.rsplit(['/', '\\', '!']).next().unwrap_or_default();
    let text = format!("look for another version of `{name}` {}{}", wanted(about), made_by_nvidia(about.device));
    Fix { kind: FixKind::Variant, text, lines: Vec::new() }
}

/// Why nobody else can build it, and which versions are worth a try.
fn made_by_nvidia(device: &Device) -> String {
    let toolkits = flags(device).and_then(|flags| toolkits(&flags));
    let toolkits = toolkits.map(|toolkits| format!(", those of {toolkits} can have such code")).unwrap_or_default();
    format!("; it is made by NVIDIA and comes with its packages and toolkits{toolkits}")
}

/// The device in the words of the command line.
fn target(device: &Device) -> String {
    let driver = match (device.driver.version, device.driver.cuda) {
        (Some(version), None) => format!(" --driver {version}"),
        (None, Some(cuda)) => format!(" --driver-cuda {cuda}"),
        (Some(version), Some(cuda)) => format!(" --driver {version} --driver-cuda {cuda}"),
        (None, None) => String::new(),
    };
    format!("--gpu {}{driver}", device.capability)
}

/// The host that the package is for.
fn host(about: &About<'_>) -> Host {
    let members = &about.artefact.members;
    let is_arm = match members.iter().find_map(|member| member.machine) {
        Some(machine) => machine == "aarch64",
        None => about.artefact.path.contains("aarch64"),
    };
    if is_arm || about.device.platform == Platform::Tegra { Host::Aarch64 } else { Host::X86_64 }
}

/// Whether a build is the package at hand.
fn is_this(build: &TorchBuild, package: &Package) -> bool {
    match package.version.split_once('+') {
        Some((version, variant)) => version == build.release && variant == build.cuda,
        None => package.version == build.release && build.pypi_default,
    }
}

/// Major and minor number of a version.
fn release(version: &str) -> Option<(u16, u16)> {
    let mut parts = version.split(['.', '+']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The number of a variant: 126 of `cu126`.
fn variant(build: &TorchBuild) -> Option<u16> {
    build.cuda.strip_prefix("cu")?.parse().ok()
}

/// Whether the driver that is there takes the runtime of a build (`cu126` needs a driver for CUDA 12).
fn is_met(build: &TorchBuild, device: &Device) -> bool {
    let floor = variant(build).and_then(|number| number.checked_div(10)).and_then(catalogue::runtime_floor);
    match (floor, device.driver.version, device.driver.cuda) {
        (Some(floor), _, Some(cuda)) => cuda >= CudaVersion::new(floor.major, 0),
        (Some(floor), Some(version), None) => version >= floor.linux,
        _ => true,
    }
}
