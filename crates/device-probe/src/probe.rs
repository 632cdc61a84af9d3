//! All ways together.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use gpu_arch::rules::{Device, Driver};
use gpu_arch::{CudaVersion, DriverVersion};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::deadline::Deadline;
use crate::device::{ProbedDevice, Visibility};
use crate::environment::Environment;
use crate::finding::{Finding, Level};
use crate::findings;
use crate::host::Host;
use crate::join::join;
use crate::sources::Sources;
use crate::way::{Status, Way, WayOutcome};
use crate::{pci_bus, proc_files, process, smi, tegra};

/// What is known of the driver.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbedDriver {
    /// The version of the kernel driver; on WSL that of the Windows driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub version: Option<DriverVersion>,
    /// The CUDA version that it implements. With `cuda-compat` it belongs to the library, not to the kernel driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub cuda: Option<CudaVersion>,
    /// The file of the driver library that CUDA programs load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The version in the name of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub library_version: Option<DriverVersion>,
}

/// The devices and the driver of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// How long an answer may take to come back after the time is up: a process that was killed may be slow to go.
const GRACE: Duration = process::PATIENCE.saturating_mul(2);

/// Asks all ways at the same time, for as long as [`Sources::limit`] says.
#[must_use]
pub fn probe(sources: &Sources) -> Probe {
    probe_until(sources, Deadline::after(sources.limit))
}

/// Asks all ways at the same time. [`Sources::limit`] does not count.
///
/// It returns by the deadline, or two seconds after it where the system is slow to end a process. Then each way that has
/// not answered is [`Status::TimedOut`], or [`Status::NoTimeLeft`] if it was not asked at all; a thread that still waits
/// for a file or a program is left behind.
#[must_use]
pub fn probe_until(sources: &Sources, deadline: Deadline) -> Probe {
    let is_filtered = sources.environment.get("CUDA_VISIBLE_DEVICES").is_some();
    let host = Host::look(&sources.root, &sources.environment);
    let asked = Way::ALL.iter().copied().filter(|way| is_filtered || *way != Way::CudaUnfiltered);
    let shared = Arc::new(sources.clone());
    let ways = together(asked, deadline, move |way| ask_until(way, &shared, deadline));
    Probe::from_ways(host, sources.environment.clone(), ways)
}

/// Asks one way, for as long as [`Sources::limit`] says.
#[must_use]
pub fn ask(way: Way, sources: &Sources) -> WayOutcome {
    ask_until(way, sources, Deadline::after(sources.limit))
}

/// Asks one way. [`Sources::limit`] does not count. A library or program is not waited for much longer than the
/// deadline; files are.
#[must_use]
pub fn ask_until(way: Way, sources: &Sources, deadline: Deadline) -> WayOutcome {
    if deadline.is_over() {
        return WayOutcome::without_answer(way, deadline.no_time_left());
    }
    match way {
        Way::Cuda | Way::CudaUnfiltered | Way::Nvml => child::ask(way, sources, deadline),
        Way::NvidiaSmi => smi::ask(sources, deadline),
        Way::Proc => proc_files::ask(&sources.root),
        Way::Pci => pci_bus::ask(&sources.root),
        Way::Tegra => tegra::ask(&sources.root),
    }
}

/// Asks some ways, each in a thread of its own, which is left behind if it does not answer in time.
fn together(
    ways: impl Iterator<Item = Way>,
    deadline: Deadline,
    ask: impl Fn(Way) -> WayOutcome + Clone + Send + 'static,
) -> Vec<WayOutcome> {
    let asked: Vec<_> = ways.map(|way| (way, in_thread(way, ask.clone()))).collect();
    let end = Deadline::after(deadline.left().saturating_add(GRACE));
    let answer = |(way, answer): (Way, io::Result<Receiver<WayOutcome>>)| {
        let status = match answer.map(|answer| answer.recv_timeout(end.left())) {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(RecvTimeoutError::Timeout)) => deadline.timed_out(),
            // a thread that panics drops its end of the channel
            Ok(Err(RecvTimeoutError::Disconnected)) => Status::Crashed { text: "no answer".to_owned() },
            Err(error) => Status::Unusable { text: error.to_string() },
        };
        WayOutcome::without_answer(way, status)
    };
    asked.into_iter().map(answer).collect()
}

fn in_thread(way: Way, ask: impl Fn(Way) -> WayOutcome + Send + 'static) -> io::Result<Receiver<WayOutcome>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    // nobody listens any more once the time is up
    let answer = move || drop(sender.send(ask(way)));
    thread::Builder::new().name(format!("device-probe {way}")).spawn(answer)?;
    Ok(receiver)
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
        let capability = device.capability?;
        Some(Device {
            name: device.name.clone(),
            capability,
            platform: device.platform,
            host: self.host.processor(capability),
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

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::{GRACE, together};
    use crate::deadline::Deadline;
    use crate::way::{Status, Way, WayOutcome};

    #[test]
    fn a_way_that_panics_or_never_returns_is_an_outcome() {
        let ask = |way| match way {
            Way::Proc => panic!("on purpose"),
            Way::Cuda | Way::Pci => loop {
                thread::park();
            },
            _ => WayOutcome::without_answer(way, Status::Answered),
        };
        let started = Instant::now();
        let outcomes = together(Way::ALL.into_iter(), Deadline::after(Duration::from_millis(300)), ask);
        // one grace for all
        assert!(started.elapsed() < Duration::from_millis(300) + GRACE + Duration::from_secs(1));
        for (way, outcome) in Way::ALL.into_iter().zip(outcomes) {
            assert_eq!(outcome.way, way);
            let status = match way {
                Way::Proc => Status::Crashed { text: "no answer".to_owned() },
                Way::Cuda | Way::Pci => Status::TimedOut { milliseconds: 300 },
                _ => Status::Answered,
            };
            assert_eq!(outcome.status, status, "{way}");
        }
    }
}
