//! Devices that CUDA programs do not see.

use gpu_arch::catalogue;

use crate::device::{ProbedDevice, Visibility};
use crate::environment::Environment;
use crate::finding::{Finding, FindingCode, Level};
use crate::way::{Way, WayOutcome};

use super::{NO_DEVICE, View, counted};

pub(super) fn find(view: &View<'_>, environment: &Environment, findings: &mut Vec<Finding>) {
    let hidden: Vec<&ProbedDevice> =
        view.devices.iter().filter(|device| device.visible == Visibility::Hidden).collect();
    if view.sees_nothing() {
        findings.push(nothing_seen(view, environment));
    } else if !hidden.is_empty() {
        let names: Vec<String> = hidden.iter().map(|device| format!("{} {}", device.index, device.label())).collect();
        let text = format!(
            "{} of {} hidden from CUDA programs: {}",
            hidden.len(),
            counted(view.devices.len()),
            names.join(", ")
        );
        findings.push(match environment.get("CUDA_VISIBLE_DEVICES") {
            Some(value) => Finding::new(FindingCode::SomeHidden, Level::Note, text)
                .with_advice(format!("CUDA_VISIBLE_DEVICES is `{value}`")),
            None => Finding::new(FindingCode::SomeHidden, Level::Warning, text)
                .with_advice("look at the compute mode and MIG of the hidden ones, and at /dev/nvidia*: nvidia-smi -q"),
        });
    }
    if let Some(list) = environment.visible_devices()
        && !view.devices.is_empty()
        && !list.is_none()
        && let Some(entry) = list.select(view.devices, environment.is_in_pci_order()).stopped_at
    {
        let text = format!("CUDA_VISIBLE_DEVICES has an entry that names no device: `{entry}`");
        findings.push(
            Finding::new(FindingCode::VisibleEntryInvalid, Level::Warning, text)
                .with_advice("CUDA ignores it and all entries behind it"),
        );
    }
    let has_answer = [Way::Cuda, Way::Nvml].iter().any(|way| view.status(*way).is_answered());
    if has_answer && !view.join.beside.is_empty() {
        let text = format!(
            "on the PCI bus, but not given to this environment or not served by NVIDIA's driver: {}",
            counted(view.join.beside.len())
        );
        findings.push(Finding::new(FindingCode::MoreOnPciBus, Level::Note, text));
    }
}

/// The driver API works, and sees nothing: whose doing that is.
fn nothing_seen(view: &View<'_>, environment: &Environment) -> Finding {
    let general = catalogue::error(NO_DEVICE).map_or("", |row| row.advice);
    let Some((way, count)) = view.lister() else {
        let text = "the driver API sees no device";
        let error = view.way(Way::Cuda).and_then(WayOutcome::failure_code);
        return Finding { error, ..Finding::new(FindingCode::NoDevice, Level::Error, text).with_advice(general) };
    };
    let text = format!("CUDA programs see no device, although {way} lists {}", counted(count));
    let mut causes = Vec::new();
    if let Some(list) = environment.visible_devices() {
        let value = environment.get("CUDA_VISIBLE_DEVICES").unwrap_or_default();
        let is_cause = way == Way::CudaUnfiltered
            || list.is_none()
            || list.select(view.devices, environment.is_in_pci_order()).shown.is_empty();
        if is_cause {
            causes.push(format!("CUDA_VISIBLE_DEVICES hides them: it is `{value}`"));
        }
    }
    // a variable that is known to do it explains all
    if way != Way::CudaUnfiltered {
        if view.devices.iter().any(|device| device.mig == Some(true) && device.instances.is_empty()) {
            causes.push("MIG is on and has no instance: nvidia-smi mig -cgi PROFILE -C".to_owned());
        }
        let is_plain_linux = view.host.system == "linux" && !view.host.wsl && view.host.l4t.is_none();
        if is_plain_linux && !view.host.device_files.iter().any(|name| name == "nvidia-uvm") {
            causes.push(
                "/dev/nvidia-uvm is not here: load the kernel module nvidia_uvm, or give the file to the container"
                    .to_owned(),
            );
        }
    }
    let advice = if causes.is_empty() { general.to_owned() } else { causes.join("; ") };
    let error = view.way(Way::Cuda).and_then(WayOutcome::failure_code);
    Finding { error, ..Finding::new(FindingCode::AllHidden, Level::Error, text).with_advice(advice) }
}
