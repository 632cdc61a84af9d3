//! Each device by itself.

use gpu_arch::catalogue::{architecture, cuda_of_driver};
use gpu_arch::{Capability, DriverVersion};

use crate::device::{Confidence, ProbedDevice, Visibility};
use crate::finding::{Finding, FindingCode, Level};
use crate::join::{Joined, are_one_chip};
use crate::way::Way;

use super::View;

pub(super) fn find(view: &View<'_>, findings: &mut Vec<Finding>) {
    for (joined, device) in view.join.devices.iter().zip(view.devices) {
        capability(joined, device, findings);
        dropped(view, device, findings);
        mig(device, findings);
        if let Some((way, failure)) = joined.failure() {
            let text = format!("{way} lists {}, but {} returns {}", device.label(), failure.call, failure.code);
            // the codes of NVML are others
            let error = Some(failure.code).filter(|_| way.is_cuda());
            let advice = error.and_then(gpu_arch::catalogue::error).map(|row| row.advice.to_owned());
            findings.push(Finding { error, advice, ..Finding::new(FindingCode::DeviceError, Level::Warning, text) });
        }
    }
}

fn capability(joined: &Joined, device: &ProbedDevice, findings: &mut Vec<Finding>) {
    let label = device.label();
    let Some(capability) = device.capability else {
        let text = format!("the compute capability is not known: {label}");
        findings.push(Finding::new(FindingCode::UnknownCapability, Level::Warning, text));
        return;
    };
    if let (Some(one), Some(other)) = (joined.by_cuda(), joined.by_management())
        && one != other
    {
        let text = format!("driver stack inconsistent: {label} is {one} by the driver API and {other} by NVML");
        findings.push(
            Finding::new(FindingCode::CapabilityConflict, Level::Error, text)
                .with_advice("the libraries belong to different drivers: install the driver again"),
        );
    }
    let by_table = joined.by_table().filter(|table| !are_one_chip(*table, capability));
    if let Some(table) = by_table
        && device.confidence >= Confidence::Reported
    {
        let text = format!("table out of date: {label} is {capability} by the driver and {table} in the table");
        findings.push(Finding::new(FindingCode::TableOutOfDate, Level::Note, text));
    }
    if architecture(capability).is_none() {
        let text = format!("new kind of GPU, whose families are not known: {label} ({capability})");
        findings.push(
            Finding::new(FindingCode::NewGpu, Level::Note, text).with_advice(
                "the rules for code without a suffix hold; for `a` and `f` code a newer version is needed",
            ),
        );
    }
}

/// Whether the driver is of a branch behind the last one that supports the device. Windows numbers drift upwards within
/// a branch, so what they implement is compared.
fn dropped(view: &View<'_>, device: &ProbedDevice, findings: &mut Vec<Finding>) {
    let last = device.capability.and_then(last_driver);
    let (Some(last), Some(version)) = (last, view.driver.version) else {
        return;
    };
    let is_behind = match (cuda_of_driver(version), cuda_of_driver(last)) {
        (Some(cuda), Some(newest)) => cuda > newest,
        _ => false,
    };
    if is_behind && device.visible != Visibility::Visible {
        let text = format!("driver {version} no longer supports {}", device.label());
        findings.push(
            Finding::new(FindingCode::DriverDroppedDevice, Level::Error, text)
                .with_advice(format!("install a driver of the last branch that does: {last}")),
        );
    }
}

fn last_driver(capability: Capability) -> Option<DriverVersion> {
    architecture(capability)?.last_driver.map(DriverVersion::of_branch)
}

fn mig(device: &ProbedDevice, findings: &mut Vec<Finding>) {
    if device.mig != Some(true) {
        return;
    }
    let label = device.label();
    // only NVML tells the instances
    if device.instances.is_empty() && device.instance.is_none() && device.ways.contains(&Way::Nvml) {
        let text = format!("MIG is on, and there is no instance: {label}");
        findings.push(
            Finding::new(FindingCode::MigWithoutInstances, Level::Warning, text)
                .with_advice("make one (nvidia-smi mig -cgi PROFILE -C), or turn MIG off (nvidia-smi -mig 0)"),
        );
    } else {
        let text = format!("MIG splits it, and a CUDA program sees one instance: {label}");
        findings.push(Finding::new(FindingCode::Mig, Level::Note, text));
    }
}
