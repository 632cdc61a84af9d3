//! The ways to ask, and what each of them answered.

use std::fmt;

use gpu_arch::{Capability, CudaVersion, DriverVersion};
use serde::{Deserialize, Serialize};

use crate::address::PciAddress;

/// A way to learn of devices. None needs another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Way {
    /// The driver API: what a CUDA program sees that starts in this environment.
    Cuda,
    /// The driver API without `CUDA_VISIBLE_DEVICES`; asked only where that is set.
    CudaUnfiltered,
    /// The management library, which lists devices whatever `CUDA_VISIBLE_DEVICES` says.
    Nvml,
    /// The text of `nvidia-smi`.
    NvidiaSmi,
    /// The files of the kernel driver, `/proc/driver/nvidia`.
    Proc,
    /// The devices on the PCI bus, `/sys/bus/pci/devices`.
    Pci,
    /// The files that tell a Jetson: `/etc/nv_tegra_release`, `/proc/device-tree`.
    Tegra,
}

impl Way {
    /// All ways, the most trusted first.
    pub const ALL: [Way; 7] =
        [Way::Cuda, Way::CudaUnfiltered, Way::Nvml, Way::NvidiaSmi, Way::Proc, Way::Pci, Way::Tegra];

    /// Whether the way is the driver API.
    #[must_use]
    pub const fn is_cuda(self) -> bool {
        matches!(self, Way::Cuda | Way::CudaUnfiltered)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Way::Cuda => "driver API",
            Way::CudaUnfiltered => "driver API without CUDA_VISIBLE_DEVICES",
            Way::Nvml => "NVML",
            Way::NvidiaSmi => "nvidia-smi",
            Way::Proc => "/proc/driver/nvidia",
            Way::Pci => "PCI bus",
            Way::Tegra => "Jetson files",
        })
    }
}

/// A call that a driver library refused.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// What it returned: a `CUresult` from the driver API, an `nvmlReturn_t` from NVML.
    pub code: u32,
    /// The function.
    pub call: String,
}

/// How asking went.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// It answered; the list of devices may be empty.
    Answered,
    /// The library, the program or the files are not here.
    Absent,
    /// It was not asked.
    NotAsked {
        /// Why.
        text: String,
    },
    /// It is here, but cannot be loaded or started, or its answer cannot be read.
    Unusable {
        /// What the system or the program said.
        text: String,
    },
    /// The library lacks a function that every driver has had for many years.
    MissingFunction {
        /// The function.
        name: String,
    },
    /// The library refused.
    Failed(Failure),
    /// It did not answer in time, and was ended; a thread was left behind.
    TimedOut {
        /// The limit for all ways together, in milliseconds.
        milliseconds: u64,
    },
    /// It was not asked, because the time for all ways together was up.
    NoTimeLeft {
        /// That time in milliseconds.
        milliseconds: u64,
    },
    /// It printed too much, and was ended.
    TooMuchOutput {
        /// The limit in bytes: 1 MiB for the standard output, 64 KiB for the standard error.
        bytes: u64,
    },
    /// It ended without an answer.
    Crashed {
        /// The signal or exit code that it ended with.
        text: String,
    },
}

impl Status {
    /// Whether there is an answer.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        matches!(self, Status::Answered)
    }

    /// Whether nothing is here to ask.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Status::Absent | Status::NotAsked { .. })
    }
}

/// What one way answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayOutcome {
    /// The way.
    pub way: Way,
    /// How asking went.
    pub status: Status,
    /// The library, program or folder that answered, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether a library was found by its bare name, as programs look for it. Nothing where no bare name was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_loader_path: Option<bool>,
    /// The version of the kernel driver that it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub driver: Option<DriverVersion>,
    /// The CUDA version that it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub cuda: Option<CudaVersion>,
    /// The devices, in its own order.
    #[serde(default)]
    pub devices: Vec<SeenDevice>,
}

impl WayOutcome {
    /// An outcome without an answer.
    #[must_use]
    pub const fn without_answer(way: Way, status: Status) -> Self {
        Self { way, status, source: None, on_loader_path: None, driver: None, cuda: None, devices: Vec::new() }
    }

    /// What a call of a library returned, where that is why there is no answer.
    #[must_use]
    pub const fn failure_code(&self) -> Option<u32> {
        match &self.status {
            Status::Failed(failure) => Some(failure.code),
            _ => None,
        }
    }
}

/// One device, as one way describes it. What the way does not tell is nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SeenDevice {
    /// Its number in the way's own order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its identifier, `GPU-` and 32 digits. The driver API tells that of the MIG instance, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its compute capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub capability: Option<Capability>,
    /// Where it sits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub pci: Option<PciAddress>,
    /// Its PCI device id (vendor 10de).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pci_id: Option<u16>,
    /// Whether it is part of a system on a chip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrated: Option<bool>,
    /// Its memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Whether it is split into MIG instances; nothing where it cannot be, or where that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mig: Option<bool>,
    /// Its MIG instances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<MigInstance>,
    /// The kernel module that serves it: `nvidia`, `nouveau`, `vfio-pci`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_module: Option<String>,
    /// The first call about it that failed, apart from those that a device need not support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A part of a device that MIG makes a device of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MigInstance {
    /// `MIG-` and 32 digits.
    pub uuid: String,
    /// Its name, with its size: `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
