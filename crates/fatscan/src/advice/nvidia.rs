//! Which libraries are NVIDIA's: nobody else builds them.

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
pub(super) fn is_library(path: &str) -> bool {
    let name = path.rsplit(['/', '\\', '!']).next().unwrap_or_default().to_ascii_lowercase();
    let ends = [".so", ".dll", ".dylib", ".lib", ".a"];
    let Some(name) = ends.iter().find_map(|end| name.split_once(end)).map(|(stem, _)| stem) else { return false };
    let name = name.strip_prefix("lib").unwrap_or(name);
    let name = name.split_once("64_").map_or(name, |(name, _)| name);
    // what repairs wheels puts a hash behind
    let is_hash = |text: &str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name.rsplit_once('-').filter(|(_, hash)| is_hash(hash)).map_or(name, |(name, _)| name);
    let name = name.strip_suffix("_static").unwrap_or(name);
    let is_npp = name.strip_prefix("npp").is_some_and(|part| (1..=4).contains(&part.len()));
    NAMES.contains(&name) || is_npp || PARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::is_library;

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
