//! The sentences: lower case, no full stop, the value last.

use crate::arch::{Arch, Suffix};
use crate::capability::Capability;
use crate::catalogue::{architecture, architectures, newest_isa_cuda};
use crate::target::Target;
use crate::version::{CudaVersion, DriverVersion};

use super::code::{Code, Payload};
use super::condition::Met;
use super::coverage::{Coverage, is_tegra, ptx_covers, sass_covers};

/// What a driver must be for something.
pub(crate) fn demand(met: Met, cuda: Option<CudaVersion>, driver: Option<DriverVersion>, by: &str) -> String {
    let wanted = match (driver, cuda, newest_isa_cuda()) {
        (Some(driver), Some(cuda), _) => format!("driver {driver} (CUDA {cuda}) or newer"),
        (Some(driver), None, _) => format!("driver {driver} or newer"),
        (None, Some(cuda), _) => format!("a driver for CUDA {cuda} or newer"),
        (None, None, Some(newest)) => format!("a driver newer than CUDA {newest}"),
        (None, None, None) => "a newer driver".to_owned(),
    };
    match met {
        Met::Never => format!("needs {wanted}, and none of those supports the device: {by}"),
        Met::Uncertain => format!("may need a newer driver, it needs {wanted}: {by}"),
        _ => format!("needs {wanted}: {by}"),
    }
}

/// A driver that no longer supports a device.
pub(crate) fn dropped(device: Capability, branch: u16, last: u16) -> String {
    format!(
        "driver branch {branch} no longer supports compute capability {device}, the last branch that does is {last}"
    )
}

/// The rules are silent on an image and a device.
pub(crate) fn uncertain(target: Target, device: Capability) -> String {
    format!("it is not certain that `{target}` runs on compute capability {device}")
}

/// PTX fits, but its compilation is off.
pub(crate) fn jit_disabled(device: Capability) -> String {
    format!("only PTX fits compute capability {device}, and `CUDA_DISABLE_PTX_JIT` is set")
}

/// SASS fits, but is to be ignored.
pub(crate) fn sass_ignored(device: Capability) -> String {
    format!("`CUDA_FORCE_PTX_JIT` is set, and there is no PTX that fits compute capability {device}")
}

/// The driver refuses what it selected.
pub(crate) fn mismatch(code: &Code, device: Capability) -> String {
    let label = code.target.without_isa();
    if code.payload == Payload::Foreign {
        let what = if matches!(label, Target::Sass(_)) { "cubin" } else { "PTX" };
        return format!("the driver selects what is labelled `{label}`, which holds no {what}, and refuses it");
    }
    let found = code.found().without_isa();
    format!(
        "the driver selects what is labelled `{label}`, which holds code for `{found}`, and refuses it: {}, not on {device}",
        runs_on(found)
    )
}

/// Nobody can look into it.
pub(crate) fn obfuscated(target: Target) -> String {
    format!("the text of `{}` is obfuscated, so that its own target does not show", target.without_isa())
}

/// The payload does not tell what it is for.
pub(crate) fn unclear(target: Target) -> String {
    format!("what the payload of `{}` is for could not be read", target.without_isa())
}

/// The selected image asks for a newer driver than there is, and another one does not.
pub(crate) fn fallback(selected: Target, other: Target) -> String {
    format!(
        "the driver selects `{}`, which it is too old for; whether it falls back to `{}` is not known",
        selected.without_isa(),
        other.without_isa()
    )
}

/// What an architecture runs on.
pub(crate) fn runs_on(target: Target) -> String {
    let arch = target.arch();
    let own = arch.capability();
    match (target, arch.suffix()) {
        (Target::Lto(_), _) => format!("`{target}` is input of a linker, no driver loads it"),
        (_, Suffix::A) => format!("`{target}` runs on {own} only"),
        (_, Suffix::F) => format!("`{target}` runs on its family only: {}", family(arch)),
        (Target::Ptx(..), Suffix::None) => format!("`{target}` runs on {own} and newer"),
        (Target::Sass(_), Suffix::None) if is_tegra(arch.number()) => {
            format!("`{target}` is Tegra code and runs on {own} only")
        }
        (Target::Sass(_), Suffix::None) => {
            format!("`{target}` runs on {}.x from {own} on, not on other majors", own.major)
        }
    }
}

/// The known members of a family.
fn family(arch: Arch) -> String {
    let members: Vec<String> = architectures()
        .iter()
        .filter(|row| {
            let is_yes = sass_covers(arch, row.capability, false) == Coverage::Yes;
            is_yes && ptx_covers(arch, row.capability) == Coverage::Yes
        })
        .map(|row| row.capability.to_string())
        .collect();
    if members.is_empty() { arch.capability().to_string() } else { members.join(", ") }
}

/// Nothing fits: one image says its own rule, several are listed.
pub(crate) fn no_image(images: &[Code], device: Capability, unified: bool) -> String {
    let mut targets: Vec<Target> =
        images.iter().filter(|code| !code.is_32bit).map(|code| code.target.without_isa()).collect();
    if targets.is_empty() {
        return format!(
            "nothing fits compute capability {device}: there is only 32-bit code, which 64-bit processes do not load"
        );
    }
    targets.sort_unstable();
    targets.dedup();
    let tegra = if !unified && takes_desktop_code_later(&targets, device) {
        ", Orin takes desktop code only from driver CUDA 13.2 on"
    } else if architecture(device).is_some() && device.arch().is_some_and(|arch| is_tegra(arch.number())) {
        ", Tegra devices take no desktop code"
    } else {
        ""
    };
    match targets.as_slice() {
        [target] => format!("nothing fits compute capability {device}: {}{tegra}", runs_on(*target)),
        _ => format!("nothing fits compute capability {device}: there are {}{tegra}", listed(&targets)),
    }
}

/// Whether a driver of CUDA 13.2 would take one of them on this device.
fn takes_desktop_code_later(targets: &[Target], device: Capability) -> bool {
    targets
        .iter()
        .any(|target| matches!(target, Target::Sass(arch) if sass_covers(*arch, device, true) == Coverage::Yes))
}

/// `sm_75 80 90, compute_90` or `sm_75 80 90 and no PTX`.
fn listed(targets: &[Target]) -> String {
    let join = |prefix: &str, wanted: fn(&Target) -> bool| {
        let archs: Vec<String> =
            targets.iter().filter(|target| wanted(target)).map(|target| target.arch().to_string()).collect();
        (!archs.is_empty()).then(|| format!("`{prefix}{}`", archs.join(" ")))
    };
    let sass = join("sm_", |target| matches!(target, Target::Sass(_)));
    let ptx = join("compute_", |target| matches!(target, Target::Ptx(..)));
    match (sass, ptx) {
        (Some(sass), Some(ptx)) => format!("{sass} and {ptx}"),
        (Some(sass), None) => format!("{sass} and no PTX"),
        (None, Some(ptx)) => format!("no SASS and {ptx}"),
        (None, None) => "neither SASS nor PTX".to_owned(),
    }
}
