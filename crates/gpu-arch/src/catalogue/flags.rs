//! The flags that build for an architecture.

use crate::arch::{Arch, Suffix};
use crate::tables::torch_arch_list::SUPPORTED;
use crate::version::CudaVersion;

use super::architecture::arch_exists;
use super::toolkit::{first_toolkit, last_toolkit};

/// How to build SASS and PTX for one architecture, in the spelling of every build system.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BuildFlags {
    /// For `nvcc` itself.
    pub nvcc: String,
    /// For torch extensions; nothing where torch refuses the architecture.
    pub torch: Option<String>,
    /// For CMake.
    pub cmake: String,
    /// For TensorFlow, XLA and JAX; nothing for suffixed architectures.
    pub xla: Option<String>,
    /// The first toolkit that can, where known.
    pub first_toolkit: Option<CudaVersion>,
    /// The last toolkit that can, if the newest cannot.
    pub last_toolkit: Option<CudaVersion>,
}

/// The flags to build for an architecture, if it exists.
pub fn flags_for(arch: Arch) -> Option<BuildFlags> {
    if !arch_exists(arch) {
        return None;
    }
    let dotted = format!("{}{}", arch.capability(), arch.suffix());
    Some(BuildFlags {
        nvcc: format!("-gencode arch=compute_{arch},code=sm_{arch} -gencode arch=compute_{arch},code=compute_{arch}"),
        torch: SUPPORTED.contains(&arch).then(|| format!("TORCH_CUDA_ARCH_LIST=\"{dotted}+PTX\"")),
        cmake: format!("-DCMAKE_CUDA_ARCHITECTURES={arch}"),
        xla: (arch.suffix() == Suffix::None).then(|| format!("HERMETIC_CUDA_COMPUTE_CAPABILITIES=compute_{arch}")),
        first_toolkit: first_toolkit(arch),
        last_toolkit: last_toolkit(arch),
    })
}
