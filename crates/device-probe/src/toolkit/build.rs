//! Whether a toolkit can build for a device, and how.

use gpu_arch::catalogue::{flags_for, toolkit, toolkits};
use gpu_arch::rules::{Coverage, ptx_covers, sass_covers};
use gpu_arch::{Arch, Capability, CudaVersion, Suffix};
use serde::{Deserialize, Serialize};

/// What a toolkit can build for a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildKind {
    /// Code of the device's own architecture.
    Native,
    /// Code of a lower architecture that runs on the device as it is.
    Compatible,
    /// Only PTX, which the driver compiles on the device.
    Jit,
    /// Nothing that runs on the device.
    No,
    /// The toolkit is in no table.
    Unknown,
}

/// How to build, in the spelling of every build system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flags {
    /// For `nvcc` itself.
    pub nvcc: String,
    /// For torch extensions; nothing where torch refuses the architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torch: Option<String>,
    /// For CMake.
    pub cmake: String,
    /// For TensorFlow, XLA and JAX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xla: Option<String>,
}

/// What a toolkit can build for a capability.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Build {
    /// The capability.
    pub capability: Capability,
    /// What it can build.
    pub kind: BuildKind,
    /// The architecture to build for, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<Arch>,
    /// The flags to do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<Flags>,
    /// The first toolkit that builds for the device's own architecture, where this one does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_toolkit: Option<CudaVersion>,
    /// The last toolkit that does, if newer ones do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_toolkit: Option<CudaVersion>,
}

/// What a toolkit of a version can build for a capability. Orin is taken to have a driver before CUDA 13.2, which does
/// not take the desktop's code.
#[must_use]
pub fn builds_for(version: CudaVersion, capability: Capability) -> Build {
    let own = capability.arch();
    let flags = own.and_then(flags_for);
    let unbuilt = |kind| Build {
        capability,
        kind,
        arch: None,
        flags: None,
        first_toolkit: flags.as_ref().and_then(|flags| flags.first_toolkit),
        last_toolkit: flags.as_ref().and_then(|flags| flags.last_toolkit),
    };
    let Some(row) = toolkit(version) else {
        let is_older = toolkits().first().is_some_and(|oldest| version < oldest.version);
        let is_too_old = is_older && unbuilt(BuildKind::No).first_toolkit.is_some_and(|first| version < first);
        return unbuilt(if is_too_old { BuildKind::No } else { BuildKind::Unknown });
    };
    let plain = || row.archs.iter().copied().filter(|arch| arch.suffix() == Suffix::None);
    let highest = |covers: &dyn Fn(Arch) -> Coverage| {
        plain().filter(|arch| covers(*arch) == Coverage::Yes).max_by_key(|arch| arch.number())
    };
    let sass = highest(&|arch| sass_covers(arch, capability, false));
    let ptx = highest(&|arch| ptx_covers(arch, capability));
    let (kind, arch) = match (sass, ptx) {
        _ if own.is_some_and(|own| row.archs.contains(&own)) => (BuildKind::Native, own),
        (Some(arch), _) => (BuildKind::Compatible, Some(arch)),
        (None, Some(arch)) => (BuildKind::Jit, Some(arch)),
        (None, None) => (BuildKind::No, None),
    };
    let (first_toolkit, last_toolkit) = match kind {
        BuildKind::Native => (None, None),
        _ => (unbuilt(kind).first_toolkit, unbuilt(kind).last_toolkit),
    };
    let flags = arch.and_then(flags_for).map(|flags| Flags {
        // the SASS beside it would be of no use
        nvcc: match (kind, arch) {
            (BuildKind::Jit, Some(arch)) => format!("-gencode arch=compute_{arch},code=compute_{arch}"),
            _ => flags.nvcc,
        },
        torch: flags.torch,
        cmake: match kind {
            BuildKind::Jit => format!("{}-virtual", flags.cmake),
            _ => flags.cmake,
        },
        xla: flags.xla,
    });
    Build { capability, kind, arch, flags, first_toolkit, last_toolkit }
}
