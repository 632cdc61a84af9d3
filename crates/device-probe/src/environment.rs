//! The variables that decide what CUDA programs see.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::visible::VisibleDevices;

/// The variables that have to do with devices, and only those: no paths, nothing about the person.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// The names that are read.
    pub const NAMES: [&'static str; 9] = [
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_MODULE_LOADING",
        "CUDA_FORCE_PTX_JIT",
        "CUDA_DISABLE_PTX_JIT",
        "CUDA_FORCE_JIT",
        "CUDA_DISABLE_JIT",
        "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_DRIVER_CAPABILITIES",
    ];

    /// Those of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::from_vars(std::env::vars_os())
    }

    /// Those among some variables. What is not Unicode is replaced by the replacement character.
    pub fn from_vars(variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>) -> Self {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .filter(|(name, _)| Self::NAMES.contains(&name.as_str()))
            .collect();
        Self { variables }
    }

    /// The value of a variable, if it is set; an empty value is a value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `CUDA_VISIBLE_DEVICES`, if it is set.
    #[must_use]
    pub fn visible_devices(&self) -> Option<VisibleDevices> {
        self.get("CUDA_VISIBLE_DEVICES").map(VisibleDevices::parse)
    }

    /// Whether CUDA numbers devices by their place on the PCI bus. Without that the fastest is number 0.
    #[must_use]
    pub fn is_in_pci_order(&self) -> bool {
        self.get("CUDA_DEVICE_ORDER") == Some("PCI_BUS_ID")
    }

    /// What the variables ask of the driver's compiler, for judging code.
    #[must_use]
    pub fn jit(&self) -> gpu_arch::rules::Environment {
        gpu_arch::rules::Environment::from_vars(self.iter())
    }

    /// The same without a variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }
}
