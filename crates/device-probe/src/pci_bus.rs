//! The devices on the PCI bus: `/sys/bus/pci/devices`.

use std::fs;
use std::path::Path;

use gpu_arch::catalogue::product_by_pci_id;

use crate::way::{SeenDevice, Status, Way, WayOutcome};

const FOLDER: &str = "sys/bus/pci/devices";
/// NVIDIA.
const VENDOR: u32 = 0x10de;
/// Display controllers: VGA (0300), 3D (0302). Audio and USB functions of a card are none.
const CLASS: u32 = 0x03;

/// Reads the files. No driver is needed, and in a container the devices of the whole machine show.
pub(crate) fn ask(root: &Path) -> WayOutcome {
    let Ok(entries) = fs::read_dir(root.join(FOLDER)) else {
        return WayOutcome::without_answer(Way::Pci, Status::Absent);
    };
    let mut places: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    places.sort();
    WayOutcome {
        source: Some(format!("/{FOLDER}")),
        devices: places.iter().filter_map(|place| device(place)).collect(),
        ..WayOutcome::without_answer(Way::Pci, Status::Answered)
    }
}

fn device(place: &Path) -> Option<SeenDevice> {
    if number(&place.join("vendor"))? != VENDOR || number(&place.join("class"))? >> 16 != CLASS {
        return None;
    }
    let pci_id = u16::try_from(number(&place.join("device"))?).ok()?;
    let module = fs::read_link(place.join("driver")).ok();
    Some(SeenDevice {
        name: product_by_pci_id(pci_id).map(|product| product.name.to_owned()),
        pci: place.file_name().and_then(|name| name.to_str()?.parse().ok()),
        pci_id: Some(pci_id),
        kernel_module: module.and_then(|path| Some(path.file_name()?.to_str()?.to_owned())),
        ..SeenDevice::default()
    })
}

/// The number in a file: `0x10de`.
fn number(file: &Path) -> Option<u32> {
    let text = fs::read_to_string(file).ok()?;
    u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}
