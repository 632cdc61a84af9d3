//! The driver library is not here: what else is.

use crate::device::ProbedDevice;
use crate::environment::Environment;
use crate::finding::{Finding, FindingCode, Level};
use crate::way::Way;

use super::View;

/// What brings the driver into a container.
const CONTAINER: &str = "start the container with the NVIDIA Container Toolkit (docker run --gpus all)";

pub(super) fn find(view: &View<'_>, environment: &Environment) -> Finding {
    let error = |code, text: String, advice: String| Finding::new(code, Level::Error, text).with_advice(advice);
    if view.status(Way::Nvml).is_answered() || view.status(Way::NvidiaSmi).is_answered() {
        let text = "the management library works, but the driver library that CUDA programs load is not here";
        return error(FindingCode::CudaLibraryMissing, text.to_owned(), compute_part(view, environment).to_owned());
    }
    if view.has_driver() {
        // a kernel driver alone, or a management library that fails
        let text = "the driver library that CUDA programs load is not here";
        let advice =
            if view.host.container { CONTAINER.to_owned() } else { format!("install the driver, or {CONTAINER}") };
        return error(FindingCode::CudaLibraryMissing, text.to_owned(), advice);
    }
    if !view.devices.is_empty() {
        let names: Vec<String> = view.devices.iter().map(ProbedDevice::label).collect();
        let text = format!("an NVIDIA GPU is here, but no driver: {}", names.join(", "));
        return error(FindingCode::NoDriver, text, driver_for(view));
    }
    if view.host.has_device_files() {
        let files = view.host.device_files.join(", ");
        let text = format!("the driver's device files are here, but no driver library: {files}");
        return error(FindingCode::NoDriverLibrary, text, format!("{CONTAINER}, which brings the libraries"));
    }
    let text = match view.host.system.as_str() {
        "linux" => "no NVIDIA GPU was found: no driver, no device file, no device on the PCI bus",
        _ => "no NVIDIA GPU was found: no driver",
    };
    let advice = "name a GPU or a compute capability instead";
    let advice = if view.host.container { format!("{advice}, or {CONTAINER}") } else { advice.to_owned() };
    error(FindingCode::NoGpu, text.to_owned(), advice)
}

/// How to get the part of the driver that is missing beside the others.
fn compute_part(view: &View<'_>, environment: &Environment) -> &'static str {
    let lacks = environment
        .get("NVIDIA_DRIVER_CAPABILITIES")
        .is_some_and(|list| !list.split(',').any(|item| matches!(item.trim(), "compute" | "all")));
    if lacks {
        "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    } else if view.host.container {
        "give the container the `compute` capability: NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    } else {
        "install the part of the driver that has libcuda.so.1 (nvidia-driver-cuda, libcuda1, libnvidia-compute)"
    }
}

/// How to get a driver for devices that have none.
fn driver_for(view: &View<'_>) -> String {
    let modules = view.devices.iter().filter_map(|device| device.kernel_module.as_deref());
    match modules.into_iter().find(|module| *module != "nvidia") {
        Some("nouveau") => {
            "the kernel module `nouveau` serves it, which has no CUDA: install NVIDIA's driver".to_owned()
        }
        Some(module) => format!("another kernel module serves it: `{module}`"),
        None if view.host.container => CONTAINER.to_owned(),
        None => "install NVIDIA's driver".to_owned(),
    }
}
