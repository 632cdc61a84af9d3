//! Which NVIDIA devices and driver are here, as plain data.
//!
//! Nothing of CUDA is needed to build or start a program with this crate: the driver's libraries are loaded while it
//! runs, if they are there. Three kinds of [`Way`] are asked independently, each usable alone by [`ask`]:
//!
//! - the driver API (`libcuda.so.1`, `nvcuda.dll`), which says what CUDA programs see; no context is made;
//! - the management library NVML, which lists all devices;
//! - text: `nvidia-smi`, `/proc/driver/nvidia`, the PCI bus, and the files that tell a Jetson.
//!
//! [`probe`] asks all of them and compares the answers. The types to know are [`Sources`] (where to look), [`Probe`]
//! (what is here, with a [`Finding`] for everything that a person should know) and [`Recording`] (a probe in a file).
//! [`toolkits`] lists the CUDA toolkits, and [`builds_for`] says what they can build.
//!
//! A driver may hang, crash, print or start processes. So the libraries are called in a child process, which is the
//! program itself: it calls [`run_child_if_asked`] in the first line of `main`. Without that call they are called in
//! this process; see [`Isolation`]. All that is asked has one [`Deadline`] and a limit of its output, and what it starts
//! ends with it.
//!
//! ```
//! device_probe::run_child_if_asked();
//! let probe = device_probe::probe(&device_probe::Sources::system());
//! for device in probe.devices() {
//!     assert!(device.capability.major > 0);
//! }
//! assert!(!probe.headline().is_empty());
//! ```

mod address;
mod child;
mod deadline;
mod device;
mod environment;
mod finding;
mod findings;
mod host;
mod join;
mod libraries;
mod pci_bus;
mod probe;
mod proc_files;
mod process;
mod program;
mod recording;
mod smi;
mod sources;
mod tegra;
mod toolkit;
mod visible;
mod way;

pub use address::{ParsePciAddressError, PciAddress};
pub use child::{CHILD_ARGUMENT, child_is, run_child, run_child_if_asked};
pub use deadline::Deadline;
pub use device::{Confidence, ProbedDevice, Visibility};
pub use environment::Environment;
pub use finding::{Finding, FindingCode, Level};
pub use host::Host;
pub use probe::{Probe, ProbedDriver, ask, ask_until, probe, probe_until};
pub use program::answer;
pub use recording::{Recording, RecordingError, SCHEMA, load, record};
pub use sources::{Isolation, Sources};
pub use toolkit::{Build, BuildKind, Flags, FoundBy, Toolkit, ToolkitSources, builds_for, toolkits};
pub use visible::{Selection, VisibleDevices, VisibleEntry};
pub use way::{Failure, MigInstance, SeenDevice, Status, Way, WayOutcome};
