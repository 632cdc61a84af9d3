//! All ways together.

use gpu_arch::rules::{Device, Driver};
use gpu_arch::{CudaVersion, DriverVersion};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::device::{ProbedDevice, Visibility};
use crate::environment::Environment;
use crate::finding::{Finding, Level};
use crate::findings;
use crate::host::Host;
use crate::join::join;
use crate::sources::Sources;
use crate::way::{Status, Way, WayOutcome};
use crate::{pci_bus, proc_files, smi, tegra};

/// What is known of the driver.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProbedDriver {
    /// The version of the kernel driver; on WSL that of the Windows driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<DriverVersion>,
    /// The CUDA version that it implements. With `cuda-compat` it belongs to the library, not to the kernel driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda: Option<CudaVersion>,
    /// The file of the driver library that CUDA programs load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The version in the name of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_version: Option<DriverVersion>,
}

/// The devices and the driver of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Probe {
    /// The machine around them.
    pub host: Host,
    /// The driver.
    pub driver: ProbedDriver,
    /// All devices that are known of, in the order of the PCI bus.
    pub devices: Vec<ProbedDevice>,
    /// What each way answered, the most trusted first.
    pub ways: Vec<WayOutcome>,
    /// What a person should know, the worst first.
    pub findings: Vec<Finding>,
    /// The variables that the driver goes by.
    pub environment: Environment,
}

/// Asks all ways at the same time.
///
/// It returns within [`Sources::limit`] and a second, whatever the driver does; `nvidia-smi` before R510 is asked twice
/// and may take the limit twice.
#[must_use]
pub fn probe(sources: &Sources) -> Probe {
    let is_filtered = sources.environment.get("CUDA_VISIBLE_DEVICES").is_some();
    let host = Host::look(&sources.root, &sources.environment);
    let asked = Way::ALL.iter().copied().filter(|way| is_filtered || *way != Way::CudaUnfiltered);
    let ways = std::thread::scope(|scope| {
        let threads: Vec<_> = asked
            .map(|way| {
                let thread = std::thread::Builder::new().spawn_scoped(scope, move || ask(way, sources));
                (way, thread)
            })
            .collect();
        let answers = threads.into_iter().map(|(way, thread)| {
            let failed = |text: String| WayOutcome::without_answer(way, Status::Unusable { text });
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| failed("no answer".to_owned())),
                Err(error) => failed(error.to_string()),
            }
        });
        answers.collect()
    });
    Probe::from_ways(host, sources.environment.clone(), ways)
}

/// Asks one way.
#[must_use]
pub fn ask(way: Way, sources: &Sources) -> WayOutcome {
    match way {
        Way::Cuda | Way::CudaUnfiltered | Way::Nvml => child::ask(way, sources),
        Way::NvidiaSmi => smi::ask(sources),
        Way::Proc => proc_files::ask(&sources.root),
        Way::Pci => pci_bus::ask(&sources.root),
        Way::Tegra => tegra::ask(&sources.root),
    }
}

impl Probe {
    /// Compares the answers of some ways with each other. Looks at nothing but its arguments.
    ///
    /// The capability of a device is what the driver API says, else the management library, else the tables: the chip
    /// of a Jetson, the PCI id, the name. What they disagree on is a [`Finding`].
    #[must_use]
    pub fn from_ways(host: Host, environment: Environment, ways: Vec<WayOutcome>) -> Self {
        let joined = join(&ways);
        let driver = driver(&ways);
        let devices = joined.devices.iter().enumerate();
        let mut devices: Vec<ProbedDevice> =
            devices.map(|(position, one)| one.device(position, &host, driver.cuda)).collect();
        hide(&mut devices, &ways, &environment);
        let view = findings::View { host: &host, driver: &driver, devices: &devices, ways: &ways, join: &joined };
        let mut findings = findings::all(&view, &environment);
        findings.sort_by_key(|finding| finding.level);
        Self { host, driver, devices, ways, findings, environment }
    }

    /// The devices that code is judged for: those that CUDA programs see, and where the driver API cannot say, those
    /// that nothing hides. Without those whose capability is not known.
    #[must_use]
    pub fn devices(&self) -> Vec<Device> {
        self.shown().filter_map(|device| self.judged(device)).collect()
    }

    /// All devices, the hidden ones too. Without those whose capability is not known.
    #[must_use]
    pub fn all_devices(&self) -> Vec<Device> {
        self.devices.iter().filter_map(|device| self.judged(device)).collect()
    }

    /// The devices of [`Probe::devices`], as they were probed.
    pub fn shown(&self) -> impl Iterator<Item = &ProbedDevice> {
        self.devices.iter().filter(|device| device.visible != Visibility::Hidden)
    }

    /// What one way answered.
    #[must_use]
    pub fn way(&self, way: Way) -> Option<&WayOutcome> {
        self.ways.iter().find(|outcome| outcome.way == way)
    }

    /// One sentence: lower case, no full stop.
    #[must_use]
    pub fn headline(&self) -> String {
        let shown: Vec<String> = self.shown().map(described).collect();
        if shown.is_empty() {
            let worst = self.findings.first().filter(|finding| finding.level == Level::Error);
            return worst.map_or_else(|| "no NVIDIA GPU was found".to_owned(), |finding| finding.text.clone());
        }
        let driver = match (self.driver.version, self.driver.cuda) {
            (Some(version), Some(cuda)) => format!("driver {version} for CUDA {cuda}"),
            (Some(version), None) => format!("driver {version}"),
            (None, Some(cuda)) => format!("a driver for CUDA {cuda}"),
            (None, None) => "an unknown driver".to_owned(),
        };
        format!("{}, with {driver}", shown.join(", "))
    }

    fn judged(&self, device: &ProbedDevice) -> Option<Device> {
        Some(Device {
            name: device.name.clone(),
            capability: device.capability?,
            platform: device.platform,
            driver: Driver { version: self.driver.version, cuda: self.driver.cuda },
        })
    }
}

fn described(device: &ProbedDevice) -> String {
    match device.capability {
        Some(capability) => format!("{} ({capability})", device.label()),
        None => device.label(),
    }
}

/// The version is the kernel driver's, by whoever tells it; the CUDA version is that of the library that programs load,
/// unless that one does not work.
fn driver(ways: &[WayOutcome]) -> ProbedDriver {
    let by = |way: Way| ways.iter().find(|outcome| outcome.way == way);
    let library = by(Way::Cuda).or_else(|| by(Way::CudaUnfiltered)).filter(|outcome| outcome.source.is_some());
    let works = library
        .is_some_and(|outcome| outcome.status.is_answered() || outcome.failure_code() == Some(findings::NO_DEVICE));
    let by_library = library.and_then(|outcome| outcome.cuda);
    let by_management = by(Way::Nvml).and_then(|outcome| outcome.cuda);
    let version = [Way::Nvml, Way::NvidiaSmi, Way::Proc].iter().find_map(|way| by(*way)?.driver);
    ProbedDriver {
        version,
        cuda: match by_library {
            Some(cuda) if works => Some(cuda),
            // a library that fails may be that of cuda-compat, or stale
            _ => by_management.or_else(|| by_library.filter(|_| version.is_none())),
        },
        library: library.and_then(|outcome| outcome.source.clone()),
        library_version: library.and_then(|outcome| version_in(outcome.source.as_deref()?)),
    }
}

/// The version in `libcuda.so.535.183.01`; `libcuda.so.1.1` of WSL and Jetson has none.
fn version_in(path: &str) -> Option<DriverVersion> {
    let (_, version) = path.rsplit_once(".so.")?;
    version.parse().ok().filter(|version: &DriverVersion| version.branch() >= 100 && version.minor().is_some())
}

/// Marks the devices that CUDA programs do not see.
fn hide(devices: &mut [ProbedDevice], ways: &[WayOutcome], environment: &Environment) {
    let cuda = ways.iter().find(|outcome| outcome.way == Way::Cuda);
    let has_said =
        cuda.is_some_and(|outcome| outcome.status.is_answered() || outcome.failure_code() == Some(findings::NO_DEVICE));
    let mut hidden: Vec<usize> = Vec::new();
    if has_said {
        hidden.extend(0..devices.len());
    } else if let Some(list) = environment.visible_devices() {
        let selection = list.select(devices, environment.is_in_pci_order());
        if selection.uncertain.is_none() {
            hidden.extend((0..devices.len()).filter(|position| !selection.shown.contains(position)));
        }
    }
    for position in hidden {
        if let Some(device) = devices.get_mut(position).filter(|device| device.visible == Visibility::Unknown) {
            device.visible = Visibility::Hidden;
        }
    }
}
