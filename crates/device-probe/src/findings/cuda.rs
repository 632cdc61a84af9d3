//! The driver API: missing, broken, or in error.

use gpu_arch::catalogue;

use crate::environment::Environment;
use crate::finding::{Finding, FindingCode, Level};
use crate::way::{Failure, Status, Way, WayOutcome};

use super::{NO_DEVICE, View};

pub(super) fn find(view: &View<'_>, environment: &Environment, findings: &mut Vec<Finding>) {
    let Some(outcome) = view.way(Way::Cuda) else {
        absent(view, environment, findings);
        return;
    };
    match &outcome.status {
        Status::Answered => {}
        Status::Absent | Status::NotAsked { .. } => absent(view, environment, findings),
        Status::Unusable { text } => {
            let text = format!("the driver library cannot be loaded: {text}");
            findings.push(Finding::new(FindingCode::CudaLibraryUnusable, Level::Error, text).with_advice(
                "install the driver's library for this kind of program (64 bit, this machine's host architecture)",
            ));
        }
        Status::MissingFunction { name } => {
            let text = format!("the driver library has no function `{name}`");
            findings.push(
                Finding::new(FindingCode::CudaLibraryUnusable, Level::Error, text)
                    .with_advice("the library is older than CUDA 2 or none of NVIDIA's: install a driver"),
            );
        }
        // with devices elsewhere or without, that has findings of its own
        Status::Failed(failure) if failure.code == NO_DEVICE => {}
        Status::Failed(failure) => findings.push(failed(view, outcome, failure)),
        Status::TimedOut { milliseconds } => {
            let text = format!("the driver API does not answer within {milliseconds} ms");
            findings.push(Finding::new(FindingCode::CudaHung, Level::Error, text).with_advice(
                "the kernel driver hangs, or a device takes long to start: look for NVRM and Xid in dmesg, turn on \
                 persistence mode, restart the machine",
            ));
        }
        Status::Crashed { text } => {
            let text = format!("the driver API ends the process that asks it: {text}");
            findings.push(Finding::new(FindingCode::CudaCrashed, Level::Error, text).with_advice(
                "the driver library is damaged or does not belong to the kernel driver: install the driver again, and \
                 look for other copies of it in LD_LIBRARY_PATH and LD_PRELOAD",
            ));
        }
    }
    if outcome.on_loader_path == Some(false)
        && let Some(source) = &outcome.source
    {
        let folder = source.rsplit_once('/').map_or(source.as_str(), |(folder, _)| folder);
        let text = format!("the driver library is in a folder where programs do not look for it: `{folder}`");
        findings.push(
            Finding::new(FindingCode::NotOnLoaderPath, Level::Warning, text).with_advice(format!(
                "add it to LD_LIBRARY_PATH, or to /etc/ld.so.conf.d and run ldconfig: `{folder}`"
            )),
        );
    }
}

fn absent(view: &View<'_>, environment: &Environment, findings: &mut Vec<Finding>) {
    if view.status(Way::Nvml).is_answered() || view.status(Way::NvidiaSmi).is_answered() {
        let text = "the management library works, but the driver library that CUDA programs load is not here";
        let lacks = environment
            .get("NVIDIA_DRIVER_CAPABILITIES")
            .is_some_and(|list| !list.split(',').any(|item| matches!(item.trim(), "compute" | "all")));
        let advice = if lacks {
            "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        } else if view.host.container {
            "give the container the `compute` capability: NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        } else {
            "install the part of the driver that has libcuda.so.1 (nvidia-driver-cuda, libcuda1, libnvidia-compute)"
        };
        findings.push(Finding::new(FindingCode::CudaLibraryMissing, Level::Error, text).with_advice(advice));
    } else if view.has_driver() {
        // a kernel driver alone, or a management library that fails
        let text = "the driver library that CUDA programs load is not here";
        findings.push(Finding::new(FindingCode::CudaLibraryMissing, Level::Error, text).with_advice(
            "install the driver, or start the container with the NVIDIA Container Toolkit (docker run --gpus all)",
        ));
    } else if view.devices.is_empty() && view.host.has_device_files() {
        let files = view.host.device_files.join(", ");
        let text = format!("the driver's device files are here, but no driver library: {files}");
        findings.push(Finding::new(FindingCode::NoDriverLibrary, Level::Error, text).with_advice(
            "start the container with the NVIDIA Container Toolkit (docker run --gpus all), which brings the libraries",
        ));
    } else if view.devices.is_empty() {
        let text = "no NVIDIA GPU was found: no driver, no device file, no device on the PCI bus";
        findings.push(
            Finding::new(FindingCode::NoGpu, Level::Error, text)
                .with_advice("name a GPU or a compute capability instead"),
        );
    } else {
        let names: Vec<String> = view.devices.iter().map(crate::device::ProbedDevice::label).collect();
        let text = format!("an NVIDIA GPU is here, but no driver: {}", names.join(", "));
        let other = view.devices.iter().filter_map(|device| device.kernel_module.as_deref()).find(|m| *m != "nvidia");
        let advice = match other {
            Some("nouveau") => {
                "the kernel module `nouveau` serves it, which has no CUDA: install NVIDIA's driver".to_owned()
            }
            Some(module) => format!("another kernel module serves it: `{module}`"),
            None if view.host.container => {
                "start the container with the NVIDIA Container Toolkit (docker run --gpus all)".to_owned()
            }
            None => "install NVIDIA's driver".to_owned(),
        };
        findings.push(Finding::new(FindingCode::NoDriver, Level::Error, text).with_advice(advice));
    }
}

/// An error code, in words, with what the table advises.
fn failed(view: &View<'_>, outcome: &WayOutcome, failure: &Failure) -> Finding {
    let row = catalogue::error(failure.code);
    let mut text = format!("the driver API fails: {} returns {}", failure.call, failure.code);
    if let Some(row) = row {
        text.push_str(&format!(", {}", row.name));
    }
    // 803 is about two versions, 34 and 804 about a file that should not be loaded
    match (failure.code, view.driver.library_version, view.driver.version, &outcome.source) {
        (803, Some(library), Some(kernel), _) if library != kernel => {
            text.push_str(&format!(" (library {library}, kernel module {kernel})"));
        }
        (34 | 803 | 804, _, _, Some(source)) => text.push_str(&format!(" (loaded `{source}`)")),
        _ => {}
    }
    let advice = row.map_or("see CUresult in NVIDIA's cuda.h", |row| row.advice);
    Finding::new(FindingCode::CudaError, Level::Error, text).with_error(failure.code).with_advice(advice)
}
