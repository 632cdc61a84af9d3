//! The files that tell a Jetson or a DRIVE.

use std::fs;
use std::path::Path;

use gpu_arch::Capability;

use crate::way::{SeenDevice, Status, Way, WayOutcome};

/// Chips by their name in the device tree, and the capability of their GPU. Thor was 10.1 under CUDA 12.
/// Source: `/proc/device-tree/compatible` of the boards; CUDA's list of GPUs.
const CHIPS: [(&str, Capability); 6] = [
    ("tegra124", Capability::new(3, 2)),
    ("tegra210", Capability::new(5, 3)),
    ("tegra186", Capability::new(6, 2)),
    ("tegra194", Capability::new(7, 2)),
    ("tegra234", Capability::new(8, 7)),
    ("tegra264", Capability::new(11, 0)),
];

/// Reads the files.
pub(crate) fn ask(root: &Path) -> WayOutcome {
    let compatible = fs::read(root.join("proc/device-tree/compatible")).unwrap_or_default();
    let chip = texts(&compatible).find_map(|text| {
        let chip = text.strip_prefix("nvidia,")?;
        CHIPS.iter().find(|(name, _)| chip == *name)
    });
    // some boards leave the maker out of the model
    let model = fs::read(root.join("proc/device-tree/model")).unwrap_or_default();
    let model = texts(&model).next().filter(|text| text.contains("Jetson") || text.contains("NVIDIA"));
    if chip.is_none() && l4t(root).is_none() && !model.as_deref().is_some_and(|model| model.contains("Jetson")) {
        return WayOutcome::without_answer(Way::Tegra, Status::Absent);
    }
    WayOutcome {
        source: Some(if chip.is_some() { "/proc/device-tree" } else { "/etc/nv_tegra_release" }.to_owned()),
        devices: vec![SeenDevice {
            index: Some(0),
            name: model,
            capability: chip.map(|(_, capability)| *capability),
            integrated: Some(true),
            ..SeenDevice::default()
        }],
        ..WayOutcome::without_answer(Way::Tegra, Status::Answered)
    }
}

/// The release of Jetson Linux: `# R36 (release), REVISION: 4.4, …` is `36.4.4`.
pub(crate) fn l4t(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("etc/nv_tegra_release")).ok()?;
    let line = text.lines().next()?;
    let release: String = line.split_once('R')?.1.chars().take_while(char::is_ascii_digit).collect();
    let revision = line.split_once("REVISION:")?.1.split(',').next()?.trim();
    (!release.is_empty() && !revision.is_empty()).then(|| format!("{release}.{revision}"))
}

/// The texts of a property of the device tree, which end in a zero byte each.
fn texts(property: &[u8]) -> impl Iterator<Item = String> {
    property
        .split(|byte| *byte == 0)
        .filter(|text| !text.is_empty())
        .map(|text| String::from_utf8_lossy(text).trim().to_owned())
}
