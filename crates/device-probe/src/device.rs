//! A device, as all ways together describe it.

use gpu_arch::Capability;
use gpu_arch::catalogue::Platform;
use serde::{Deserialize, Serialize};

use crate::address::PciAddress;
use crate::way::{MigInstance, Way};

/// Whether a CUDA program that starts in this environment would see a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// The driver API lists it.
    Visible,
    /// The driver API does not list it, or a variable hides it.
    Hidden,
    /// The driver API could not say.
    Unknown,
}

/// How well a compute capability is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Not at all.
    None,
    /// Looked up by PCI id, name or chip: the driver was not asked or did not say.
    Derived,
    /// One library or program of the driver says so.
    Reported,
    /// The driver API and the management library say the same.
    Confirmed,
}

/// A device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbedDevice {
    /// Whether CUDA programs see it.
    pub visible: Visibility,
    /// Its number in the order of `nvidia-smi`, which is that of the PCI bus.
    pub index: u32,
    /// Its number for a CUDA program that starts in this environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
    /// Its number in CUDA's own order of all devices, by which `CUDA_VISIBLE_DEVICES` counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda_index: Option<u32>,
    /// Its name; where only the PCI id is known, that of the product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its identifier: `GPU-` and 32 digits. A MIG instance has one that starts with `MIG-`, under
    /// [`instances`](Self::instances).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its compute capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub capability: Option<Capability>,
    /// How well that is known.
    pub confidence: Confidence,
    /// What it is built into.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub platform: Platform,
    /// Where it sits on the PCI bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub pci: Option<PciAddress>,
    /// Its PCI device id (vendor 10de).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pci_id: Option<u16>,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Whether MIG splits it; nothing where it cannot be split, or where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mig: Option<bool>,
    /// Its MIG instances, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<MigInstance>,
    /// The identifier of the MIG instance that CUDA programs see, where they see one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The kernel module that serves it: `nvidia`, `nouveau`, `vfio-pci`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_module: Option<String>,
    /// The ways that list it.
    pub ways: Vec<Way>,
}

impl ProbedDevice {
    /// Its name, or what else tells it from others.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.name, self.pci) {
            (Some(name), _) => name.clone(),
            (None, Some(pci)) => format!("device at {pci}"),
            (None, None) => format!("device {}", self.index),
        }
    }
}
