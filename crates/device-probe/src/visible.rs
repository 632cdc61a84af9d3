//! `CUDA_VISIBLE_DEVICES`.

use crate::device::ProbedDevice;

/// What `CUDA_VISIBLE_DEVICES` lists.
///
/// CUDA takes the entries in their order and stops at the first that names no device: `0,2,-1,1` is devices 0 and 2,
/// and an empty value is none. Source: CUDA C Programming Guide, "CUDA Environment Variables".
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VisibleDevices {
    entries: Vec<VisibleEntry>,
}

/// One entry of the list.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum VisibleEntry {
    /// A number in CUDA's own order, which is not that of `nvidia-smi` unless `CUDA_DEVICE_ORDER=PCI_BUS_ID`.
    Index(u32),
    /// The identifier of a device, or as many of its first characters as make it unique: `GPU-8932f937`.
    Gpu(String),
    /// The identifier of a MIG instance: `MIG-` and an identifier, or before R470 `MIG-GPU-…/1/0`.
    Mig(String),
    /// Anything else: CUDA ignores it and all that follows.
    Invalid(String),
}

impl std::fmt::Display for VisibleEntry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index(index) => write!(out, "{index}"),
            Self::Gpu(text) | Self::Mig(text) | Self::Invalid(text) => out.write_str(text),
        }
    }
}

/// Which devices a list shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Positions in the given list of devices, in the order of the entries.
    pub shown: Vec<usize>,
    /// The first entry that names no device, at which CUDA stops.
    pub stopped_at: Option<VisibleEntry>,
    /// The first entry of which it cannot be told which device it names.
    pub uncertain: Option<VisibleEntry>,
}

impl VisibleDevices {
    /// Reads the value of the variable. Nothing is refused: what CUDA would not understand is an entry too.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        Self { entries: value.split(',').map(entry).collect() }
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> &[VisibleEntry] {
        &self.entries
    }

    /// Whether the list names no device at all, whatever devices there are: empty, `-1`, `NoDevFiles`.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self.entries.first(), None | Some(VisibleEntry::Invalid(_)))
    }

    /// What it shows of some devices. An index counts by [`ProbedDevice::cuda_index`]; where that is not known, by the
    /// place in the list if `in_pci_order` or if all devices are alike, else it is uncertain.
    #[must_use]
    pub fn select(&self, devices: &[ProbedDevice], in_pci_order: bool) -> Selection {
        let mut selection = Selection::default();
        for entry in &self.entries {
            match find(entry, devices, in_pci_order) {
                Found::One(position) if selection.shown.contains(&position) => {}
                Found::One(position) => selection.shown.push(position),
                Found::None => {
                    selection.stopped_at = Some(entry.clone());
                    break;
                }
                Found::Uncertain => {
                    selection.uncertain = Some(entry.clone());
                    break;
                }
            }
        }
        selection
    }
}

fn entry(text: &str) -> VisibleEntry {
    let text = text.trim();
    if !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(index) = text.parse()
    {
        return VisibleEntry::Index(index);
    }
    if text.starts_with("GPU-") {
        return VisibleEntry::Gpu(text.to_owned());
    }
    if text.starts_with("MIG-") {
        return VisibleEntry::Mig(text.to_owned());
    }
    VisibleEntry::Invalid(text.to_owned())
}

enum Found {
    One(usize),
    None,
    Uncertain,
}

fn find(entry: &VisibleEntry, devices: &[ProbedDevice], in_pci_order: bool) -> Found {
    match entry {
        VisibleEntry::Index(index) => by_index(*index, devices, in_pci_order),
        VisibleEntry::Gpu(prefix) => {
            let starts = |device: &ProbedDevice| {
                device.uuid.as_deref().is_some_and(|uuid| {
                    uuid.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
                })
            };
            let unknown = devices.iter().any(|device| device.uuid.is_none());
            by(devices, starts, unknown)
        }
        VisibleEntry::Mig(text) => {
            let parent = text.strip_prefix("MIG-").filter(|rest| rest.starts_with("GPU-"));
            let parent = parent.and_then(|rest| rest.split('/').next());
            let holds = |device: &ProbedDevice| match parent {
                Some(parent) => device.uuid.as_deref().is_some_and(|uuid| uuid.eq_ignore_ascii_case(parent)),
                None => device.instances.iter().any(|instance| instance.uuid.eq_ignore_ascii_case(text)),
            };
            // without NVML nobody tells the instances
            let unknown = devices.iter().any(|device| device.mig != Some(false) && device.instances.is_empty());
            by(devices, holds, unknown)
        }
        VisibleEntry::Invalid(_) => Found::None,
    }
}

fn by(devices: &[ProbedDevice], is_it: impl Fn(&ProbedDevice) -> bool, unknown: bool) -> Found {
    let mut fitting = devices.iter().enumerate().filter(|(_, device)| is_it(device)).map(|(position, _)| position);
    match (fitting.next(), fitting.next()) {
        (Some(position), None) => Found::One(position),
        // an abbreviation of several names none
        (Some(_), Some(_)) => Found::None,
        (None, _) if unknown => Found::Uncertain,
        (None, _) => Found::None,
    }
}

fn by_index(index: u32, devices: &[ProbedDevice], in_pci_order: bool) -> Found {
    let position = usize::try_from(index).unwrap_or(usize::MAX);
    if position >= devices.len() {
        return Found::None;
    }
    if devices.iter().all(|device| device.cuda_index.is_some()) {
        let place = devices.iter().position(|device| device.cuda_index == Some(index));
        return place.map_or(Found::None, Found::One);
    }
    let are_alike = devices.windows(2).all(|pair| match pair {
        [one, other] => one.capability == other.capability && one.name == other.name,
        _ => true,
    });
    if in_pci_order || are_alike { Found::One(position) } else { Found::Uncertain }
}
