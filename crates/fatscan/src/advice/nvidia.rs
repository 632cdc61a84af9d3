//! Which libraries are NVIDIA's: nobody else builds them.

use gpu_arch::rules::Device;

use super::flags;

/// The first CUDA version whose libraries are in packages without its number: `nvidia-curand` is of 13 or newer.
const UNNUMBERED: u16 = 13;

/// The package of the same library for the CUDA version nearest to `name`'s whose toolkits build for the device, where those
/// of `name`'s do not: `nvidia-cublas-cu12` for `nvidia-cublas` on a device that CUDA 13 dropped.
pub(super) fn other_major(name: &str, device: &Device) -> Option<String> {
    if !name.starts_with("nvidia-") {
        return None;
    }
    let flags = flags(device)?;
    let numbered = name.rsplit_once("-cu").and_then(|(stem, major)| Some((stem, major.parse::<u16>().ok()?)));
    let (stem, major) = numbered.unwrap_or((name, UNNUMBERED));
    let first = flags.first_toolkit.map_or(major, |first| first.major);
    let last = flags.last_toolkit.map_or(u16::MAX, |last| last.major);
    let fits = major.max(first).min(last);
    // before 11 there were no packages, and from 13 on their names differ
    (fits != major && (11..UNNUMBERED).contains(&fits)).then(|| format!("{stem}-cu{fits}"))
}

/// Names of libraries, without `lib` before and what is behind.
const NAMES: &[&str] = &[
    "cublas",
    "cublaslt",
    "cublasmp",
    "cudart",
    "cudensitymat",
    "cudnn",
    "cufft",
    "cufftmp",
    "cufftw",
    "cufile",
    "curand",
    "cusolver",
    "cusolvermg",
    "cusolvermp",
    "cusparse",
    "cusparselt",
    "custatevec",
    "cutensor",
    "cutensormg",
    "cutensornet",
    "nccl",
    "nvblas",
    "nvinfer",
    "nvjitlink",
    "nvjpeg",
    "nvrtc",
    "nvshmem",
    "nvvm",
];

/// Beginnings of names of libraries that come in parts.
const PARTS: &[&str] = &["cudnn_", "nvinfer_", "nvrtc-builtins", "nvshmem_"];

/// Whether a file is a library of NVIDIA's by its name: `libcublasLt.so.12`, `cudnn_ops64_9.dll`, `libcudart-d0da41ae.so.11.0`.
pub(crate) fn is_library(path: &str) -> bool {
    let name = path.rsplit(['/', '\\', '!']).next().unwrap_or_default().to_ascii_lowercase();
    let ends = [".so", ".dll", ".dylib", ".lib", ".a"];
    let Some(name) = ends.iter().find_map(|end| name.split_once(end)).map(|(stem, _)| stem) else { return false };
    let name = name.strip_prefix("lib").unwrap_or(name);
    let name = name.split_once("64_").map_or(name, |(name, _)| name);
    // a version or a hash may stand before the ending
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name.split_once('.').filter(|(_, rest)| rest.split('.').all(is_number)).map_or(name, |(name, _)| name);
    // what repairs wheels puts a hash behind
    let is_hash = |text: &str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name.rsplit_once('-').filter(|(_, hash)| is_hash(hash)).map_or(name, |(name, _)| name);
    let name = name.strip_suffix("_static").unwrap_or(name);
    let is_npp = name.strip_prefix("npp").is_some_and(|part| (1..=4).contains(&part.len()));
    NAMES.contains(&name) || is_npp || PARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use gpu_arch::Capability;
    use gpu_arch::rules::Device;

    use super::{is_library, other_major};

    /// CUDA 12.9 is the last toolkit for 6.1 and 7.0, 12.8 the first for 12.0, 10.2 the last for 3.0.
    #[test]
    fn packages_of_another_cuda_version() {
        let other = |name, major, minor| other_major(name, &Device::of(Capability::new(major, minor)));
        assert_eq!(other("nvidia-cublas-cu13", 6, 1).as_deref(), Some("nvidia-cublas-cu12"));
        assert_eq!(other("nvidia-curand", 7, 0).as_deref(), Some("nvidia-curand-cu12"));
        assert_eq!(other("nvidia-cublas-cu11", 12, 0).as_deref(), Some("nvidia-cublas-cu12"));
        for (name, major, minor) in [
            ("nvidia-cublas-cu12", 6, 1),
            ("nvidia-curand", 9, 0),
            ("nvidia-cublas-cu11", 3, 0),
            ("nvidia-cublas-cu12", 11, 0),
            ("cupy-cuda13x", 6, 1),
        ] {
            assert_eq!(other(name, major, minor), None, "{name}");
        }
    }

    #[test]
    fn nvidia_s_libraries_are_known_by_name_and_others_are_not() {
        for name in [
            "nvidia/cublas/lib/libcublas.so.12",
            "libcublasLt.so.13",
            "libcudnn.so.9",
            "torch/lib/libcudnn_engines_precompiled.so.9",
            "libcufft.so.11",
            "libcusparse.so.12.5.1.3",
            "libcusparseLt.so.0",
            "libcusolverMg.so.11",
            "libnccl.so.2",
            "libcurand.so",
            "libnvrtc.so.12",
            "libnvrtc-builtins.so.12.9",
            "torch/lib/libcudart-d0da41ae.so.11.0",
            "bin/cublas64_12.dll",
            "cudnn_ops64_9.dll",
            "libnppig.so.12",
            "libcublas_static.a",
            "x.zip!lib/libcublas.so",
        ] {
            assert!(is_library(name), "{name}");
        }
        for name in [
            "torch/lib/libtorch_cuda.so",
            "libtorch_nvshmem.so",
            "libcublas_wrapper.so",
            "libnccl_net_mine.so",
            "libonnxruntime_providers_cuda.so",
            "libcuda_kernels.so",
            "cudnn",
            "libcublas.txt",
            "",
        ] {
            assert!(!is_library(name), "{name}");
        }
    }
}
