//! One device out of what several ways say of it.

use gpu_arch::catalogue::{Platform, ProductLookup, architecture, product, product_by_pci_id};
use gpu_arch::{Capability, CudaVersion};

use crate::address::PciAddress;
use crate::device::{Confidence, ProbedDevice, Visibility};
use crate::host::Host;
use crate::way::{SeenDevice, Way, WayOutcome};

/// What the ways say of one device, the most trusted way first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined {
    seen: Vec<(Way, SeenDevice)>,
}

/// What [`join`] found.
#[derive(Debug, Default)]
pub(crate) struct Join {
    pub(crate) devices: Vec<Joined>,
    /// Devices on the PCI bus that the driver does not list: they belong to the machine, not to this environment.
    pub(crate) beside: Vec<SeenDevice>,
}

/// Joins by identifier, else by place on the PCI bus.
pub(crate) fn join(ways: &[WayOutcome]) -> Join {
    let mut join = Join::default();
    for way in [Way::CudaUnfiltered, Way::Cuda, Way::Nvml, Way::NvidiaSmi, Way::Proc, Way::Pci, Way::Tegra] {
        // what only files tell counts where no part of the driver lists anything
        let adds =
            matches!(way, Way::CudaUnfiltered | Way::Cuda | Way::Nvml | Way::NvidiaSmi) || join.devices.is_empty();
        let seen = ways.iter().filter(|outcome| outcome.way == way).flat_map(|outcome| &outcome.devices);
        let seen: Vec<&SeenDevice> = seen.collect();
        for device in &seen {
            match place(&join.devices, way, device, seen.len()) {
                Some(position) => {
                    if let Some(joined) = join.devices.get_mut(position) {
                        joined.seen.push((way, (*device).clone()));
                    }
                }
                None if adds => join.devices.push(Joined { seen: vec![(way, (*device).clone())] }),
                None if way == Way::Pci => join.beside.push((*device).clone()),
                None => {}
            }
        }
    }
    for joined in &mut join.devices {
        joined.seen.sort_by_key(|(way, _)| *way);
    }
    if join.devices.iter().all(|joined| joined.pci().is_some()) {
        join.devices.sort_by_key(Joined::pci);
    }
    join
}

/// The position of the device that is the same as one that `way` lists among `count`.
fn place(devices: &[Joined], way: Way, seen: &SeenDevice, count: usize) -> Option<usize> {
    let free = || devices.iter().enumerate().filter(|(_, joined)| joined.by(way).is_none());
    if let Some((position, _)) = free().find(|(_, joined)| joined.is_same(seen) == Some(true)) {
        return Some(position);
    }
    // on a Jetson some ways tell neither identifier nor place
    let mut open = free().filter(|(_, joined)| joined.is_same(seen).is_none());
    match (open.next(), open.next()) {
        (Some((position, _)), None) if count == 1 => Some(position),
        _ => None,
    }
}

/// The digits of an identifier without what it is the identifier of.
fn digits(uuid: &str) -> String {
    uuid.trim_start_matches("GPU-").trim_start_matches("MIG-").to_ascii_lowercase()
}

fn identifiers(seen: &SeenDevice) -> impl Iterator<Item = String> {
    let instances = seen.instances.iter().map(|instance| instance.uuid.as_str());
    seen.uuid.as_deref().into_iter().chain(instances).map(digits)
}

impl Joined {
    /// What one way says.
    pub(crate) fn by(&self, way: Way) -> Option<&SeenDevice> {
        self.seen.iter().find(|(by, _)| *by == way).map(|(_, seen)| seen)
    }

    /// The first that is told, by the most trusted way.
    fn first<T>(&self, of: impl Fn(&SeenDevice) -> Option<T>) -> Option<T> {
        self.seen.iter().find_map(|(_, seen)| of(seen))
    }

    /// The first that is told by a way that knows the whole device where the driver API knows a MIG instance.
    fn whole<T>(&self, of: impl Fn(&SeenDevice) -> Option<T>) -> Option<T> {
        let whole = self.seen.iter().filter(|(way, _)| !way.is_cuda());
        whole.map(|(_, seen)| seen).find_map(&of).or_else(|| self.first(of))
    }

    fn pci(&self) -> Option<PciAddress> {
        self.first(|seen| seen.pci)
    }

    /// Whether another description is of this device; nothing where nothing can be compared.
    fn is_same(&self, other: &SeenDevice) -> Option<bool> {
        let known: Vec<String> = self.seen.iter().flat_map(|(_, seen)| identifiers(seen)).collect();
        let others: Vec<String> = identifiers(other).collect();
        if others.iter().any(|uuid| known.contains(uuid)) {
            return Some(true);
        }
        match (self.pci(), other.pci) {
            (Some(one), Some(two)) => Some((one.domain, one.bus, one.device) == (two.domain, two.bus, two.device)),
            _ if !known.is_empty() && !others.is_empty() => Some(false),
            _ => None,
        }
    }

    /// What the driver API says of the capability.
    pub(crate) fn by_cuda(&self) -> Option<Capability> {
        [Way::Cuda, Way::CudaUnfiltered].iter().find_map(|way| self.by(*way)?.capability)
    }

    /// What the management library says of it, itself or through its program.
    pub(crate) fn by_management(&self) -> Option<Capability> {
        [Way::Nvml, Way::NvidiaSmi].iter().find_map(|way| self.by(*way)?.capability)
    }

    /// What the table of products says: by PCI id, which is exact, else by a name that the table has as it is.
    pub(crate) fn by_table(&self) -> Option<Capability> {
        if let Some(product) = self.first(|seen| seen.pci_id).and_then(product_by_pci_id) {
            return Some(product.capability);
        }
        let name = self.whole(|seen| seen.name.clone())?;
        let name = name.split(" MIG ").next()?;
        match product(name) {
            ProductLookup::Found(row) if bare(row.name).eq_ignore_ascii_case(bare(name)) => Some(row.capability),
            _ => None,
        }
    }

    /// The capability, and how well it is known. `cuda` is what the driver implements: Thor was renamed with 13.0.
    fn capability(&self, cuda: Option<CudaVersion>) -> (Option<Capability>, Confidence) {
        match (self.by_cuda(), self.by_management()) {
            (Some(one), Some(other)) if one == other => (Some(one), Confidence::Confirmed),
            (Some(one), _) | (None, Some(one)) => (Some(one), Confidence::Reported),
            (None, None) => {
                let chip = self.by(Way::Tegra).and_then(|seen| seen.capability);
                let found = chip.or_else(|| self.by_table());
                let is_old = cuda.is_some_and(|cuda| cuda.major < 13);
                match found {
                    Some(THOR) if is_old => (Some(OLD_THOR), Confidence::Derived),
                    Some(found) => (Some(found), Confidence::Derived),
                    None => (None, Confidence::None),
                }
            }
        }
    }

    /// The identifier of the MIG instance that the driver API shows instead of the whole device.
    fn instance(&self, whole: Option<&str>) -> Option<String> {
        let seen = self.by(Way::Cuda)?;
        let own = digits(seen.uuid.as_deref()?);
        let is_named_so = seen.name.as_deref().is_some_and(|name| name.contains(" MIG "));
        let differs = whole.is_some_and(|whole| digits(whole) != own);
        (is_named_so || differs).then(|| format!("MIG-{own}"))
    }

    /// The device, at a position among all. Its visibility is what the driver API says, or unknown.
    pub(crate) fn device(&self, position: usize, host: &Host, cuda: Option<CudaVersion>) -> ProbedDevice {
        let (capability, confidence) = self.capability(cuda);
        let mig = self.first(|seen| seen.mig);
        let uuid = self.whole(|seen| seen.uuid.clone());
        let instance = self.instance(uuid.as_deref());
        let integrated = self.first(|seen| seen.integrated);
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        let listed = [Way::Nvml, Way::NvidiaSmi].iter().find_map(|way| self.by(*way)?.index);
        ProbedDevice {
            visible: if self.by(Way::Cuda).is_some() { Visibility::Visible } else { Visibility::Unknown },
            index: listed.unwrap_or(position),
            ordinal: self.by(Way::Cuda).and_then(|seen| seen.index),
            cuda_index: self.by(Way::CudaUnfiltered).and_then(|seen| seen.index),
            name: if instance.is_some() {
                self.whole(|seen| seen.name.clone())
            } else {
                self.first(|seen| seen.name.clone())
            },
            // the only identifier that is known may be that of an instance
            uuid: uuid.filter(|uuid| instance.as_deref().map(digits) != Some(digits(uuid))),
            capability,
            confidence,
            platform: platform(capability, integrated, host),
            pci: self.pci(),
            pci_id: self.first(|seen| seen.pci_id),
            memory: self.whole(|seen| seen.memory),
            mig,
            instances: self
                .first(|seen| (!seen.instances.is_empty()).then(|| seen.instances.clone()))
                .unwrap_or_default(),
            instance,
            kernel_module: self.first(|seen| seen.kernel_module.clone()),
            ways: self.seen.iter().map(|(way, _)| *way).collect(),
        }
    }

    /// The first call about it that failed.
    pub(crate) fn failure(&self) -> Option<(Way, &crate::way::Failure)> {
        self.seen.iter().find_map(|(way, seen)| Some((*way, seen.failure.as_ref()?)))
    }
}

/// Thor under CUDA 13, and under CUDA 12.
const THOR: Capability = Capability::new(11, 0);
const OLD_THOR: Capability = Capability::new(10, 1);

/// Whether two capabilities are of one chip that was renamed.
pub(crate) fn are_one_chip(one: Capability, other: Capability) -> bool {
    one == other || [(THOR, OLD_THOR), (OLD_THOR, THOR)].contains(&(one, other))
}

/// A name without the maker.
fn bare(name: &str) -> &str {
    name.trim().strip_prefix("NVIDIA ").unwrap_or(name.trim())
}

/// What a device is built into: by the table, and for what is not in it by what the driver says.
fn platform(capability: Option<Capability>, integrated: Option<bool>, host: &Host) -> Platform {
    match capability.and_then(architecture) {
        Some(row) => row.platform,
        None if integrated != Some(true) => Platform::Discrete,
        None if host.l4t.is_some() => Platform::Tegra,
        None => Platform::Sbsa,
    }
}
