//! A device and its driver, as plain data.

use crate::capability::Capability;
use crate::catalogue::{Host, Platform, architecture};
use crate::version::{CudaVersion, DriverVersion};

/// What is known of a driver. Either part is derived from the other where only one is given; with
/// neither, the driver is unknown and taken to be new enough for the device and the code.
///
/// A version of one part (`550`) means any driver of that branch. Where both are given they may
/// disagree (the `cuda-compat` package): what the driver library does goes by `cuda`, whether the
/// device is supported by `version`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Driver {
    /// The version of the kernel driver. Not used for Tegra below branch 595, where it is numbered
    /// otherwise.
    pub version: Option<DriverVersion>,
    /// The CUDA version that it implements (`cuDriverGetVersion`).
    pub cuda: Option<CudaVersion>,
}

impl Driver {
    /// A driver known by its version.
    pub const fn of_version(version: DriverVersion) -> Self {
        Self { version: Some(version), cuda: None }
    }

    /// A driver known by the CUDA version that it implements.
    pub const fn of_cuda(cuda: CudaVersion) -> Self {
        Self { version: None, cuda: Some(cuda) }
    }

    /// Whether nothing is known.
    pub const fn is_unknown(&self) -> bool {
        self.version.is_none() && self.cuda.is_none()
    }
}

/// A device that code is judged for: a live one, a recorded one or a named one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Device {
    /// Its name for people.
    pub name: Option<String>,
    /// What it reports.
    pub capability: Capability,
    /// What it is built into.
    pub platform: Platform,
    /// The processor beside it, where that is known: of a live device that of its machine, of a named one what the name
    /// implies.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub host: Option<Host>,
    /// Its driver.
    pub driver: Driver,
}

impl Device {
    /// A device of a capability, on the platform that such devices have, with an unknown driver and host: who names a
    /// number asks about code, not about a machine.
    pub fn of(capability: Capability) -> Self {
        let row = architecture(capability);
        Self {
            name: None,
            capability,
            platform: row.map_or(Platform::Discrete, |row| row.platform),
            host: None,
            driver: Driver::default(),
        }
    }

    /// The same device with a driver.
    pub fn with_driver(self, driver: Driver) -> Self {
        Self { driver, ..self }
    }
}
