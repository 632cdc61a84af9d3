//! The files of the kernel driver: `/proc/driver/nvidia`.
//!
//! Source: the driver's README, "Using the /proc File System Interface".

use std::fs;
use std::path::Path;

use gpu_arch::DriverVersion;

use crate::way::{SeenDevice, Status, Way, WayOutcome};

const FOLDER: &str = "proc/driver/nvidia";

/// Reads the files.
pub(crate) fn ask(root: &Path) -> WayOutcome {
    let folder = root.join(FOLDER);
    let version = match fs::read_to_string(folder.join("version")) {
        Ok(text) => version(&text),
        Err(_) if !folder.exists() => return WayOutcome::without_answer(Way::Proc, Status::Absent),
        Err(_) => None,
    };
    let mut places: Vec<_> = fs::read_dir(folder.join("gpus"))
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    places.sort();
    let devices = places
        .iter()
        .map(|place| {
            let text = fs::read_to_string(place.join("information")).unwrap_or_default();
            let address = place.file_name().and_then(|name| name.to_str()?.parse().ok());
            let seen = device(&text);
            SeenDevice { pci: address.or(seen.pci), ..seen }
        })
        .collect();
    WayOutcome {
        source: Some(format!("/{FOLDER}")),
        driver: version,
        devices,
        ..WayOutcome::without_answer(Way::Proc, Status::Answered)
    }
}

/// The version in `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 …`, which the open kernel
/// module words otherwise.
fn version(text: &str) -> Option<DriverVersion> {
    let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
    line.split_whitespace().filter(|word| word.contains('.')).find_map(|word| word.parse().ok())
}

/// `Model:`, `GPU UUID:`, `Bus Location:` of one device.
fn device(text: &str) -> SeenDevice {
    let field = |name: &str| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim().to_owned())
            .filter(|value| !value.is_empty() && value != "Unknown")
    };
    SeenDevice {
        name: field("Model"),
        // a device that was not used since the driver was loaded has question marks
        uuid: field("GPU UUID").filter(|uuid| uuid.starts_with("GPU-") && !uuid.contains('?')),
        pci: field("Bus Location").and_then(|place| place.parse().ok()),
        kernel_module: Some("nvidia".to_owned()),
        ..SeenDevice::default()
    }
}
