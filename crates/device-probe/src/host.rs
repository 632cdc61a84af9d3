//! The machine around the devices.

use std::fs;
use std::path::Path;

use gpu_arch::{Capability, catalogue};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::tegra;

/// What is known of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// The instruction set of the process that looked, as Rust names it: `x86_64`, `aarch64`. It is that of the programs
    /// to be judged, also in WSL and in a container; empty in a recording that does not tell it.
    #[serde(default)]
    pub architecture: String,
    /// Its operating system as Rust names it: `linux`, `windows`.
    pub system: String,
    /// Whether it is Linux inside Windows.
    pub wsl: bool,
    /// Whether it is a container, as far as that shows.
    pub container: bool,
    /// The release of Jetson Linux: `36.4.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l4t: Option<String>,
    /// The names of the driver's device files in `/dev`, sorted.
    #[serde(default)]
    pub device_files: Vec<String>,
}

impl Host {
    /// Looks at the machine whose files are under `root`.
    #[must_use]
    pub fn look(root: &Path, environment: &Environment) -> Self {
        let device_files = device_files(root);
        let kernel = fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
        Self {
            architecture: std::env::consts::ARCH.to_owned(),
            system: std::env::consts::OS.to_owned(),
            wsl: kernel.to_ascii_lowercase().contains("microsoft") || device_files.iter().any(|name| name == "dxg"),
            container: [".dockerenv", "run/.containerenv"].iter().any(|file| root.join(file).exists())
                || environment.get("NVIDIA_VISIBLE_DEVICES").is_some(),
            l4t: tegra::l4t(root),
            device_files,
        }
    }

    /// The processor beside its devices; where the machine does not tell it, that of all devices of a capability. Nothing
    /// where it is another one than the tables know.
    #[must_use]
    pub fn processor(&self, capability: Capability) -> Option<catalogue::Host> {
        match self.architecture.as_str() {
            "" => catalogue::architecture(capability)?.host,
            told => told.parse().ok(),
        }
    }

    /// Whether the driver made any device file.
    #[must_use]
    pub const fn has_device_files(&self) -> bool {
        !self.device_files.is_empty()
    }
}

fn device_files(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root.join("dev")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("nvidia") || matches!(name.as_str(), "dxg" | "nvhost-gpu" | "nvgpu"))
        .collect();
    names.sort();
    names
}
