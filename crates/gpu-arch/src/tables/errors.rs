//! Error codes of the CUDA driver and runtime.
//!
//! Generated from `tables/errors.toml` by `tables/generate.py`; the sources of the facts are named there.

use crate::catalogue::CudaError;

/// The errors that have to do with devices, drivers and device code, ascending.
#[rustfmt::skip]
pub(crate) static ERRORS: &[CudaError] = &[
    CudaError { code: 3, name: "CUDA_ERROR_NOT_INITIALIZED", runtime_name: "cudaErrorInitializationError", messages: &["initialization error"], advice: "cuInit not called or failed earlier; rerun the probe in a fresh process (forked child of a CUDA process gives this)." },
    CudaError { code: 34, name: "CUDA_ERROR_STUB_LIBRARY", runtime_name: "cudaErrorStubLibrary", messages: &["CUDA driver is a stub library"], advice: "The toolkit stub libcuda (…/lib64/stubs) was loaded. Remove it from LD_LIBRARY_PATH." },
    CudaError { code: 35, name: "cudaErrorInsufficientDriver", runtime_name: "cudaErrorInsufficientDriver", messages: &["CUDA driver version is insufficient for CUDA runtime version"], advice: "Driver older than the CUDA runtime major in the binary: 11.x>=450.80.02, 12.x>=525.60.13, 13.x>=580.65.06." },
    CudaError { code: 36, name: "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", runtime_name: "cudaErrorCallRequiresNewerDriver", messages: &["API call is not supported in the installed CUDA driver"], advice: "API newer than the driver (minor-version feature); update driver." },
    CudaError { code: 46, name: "CUDA_ERROR_DEVICE_UNAVAILABLE", runtime_name: "cudaErrorDevicesUnavailable", messages: &["CUDA-capable device(s) is/are busy or unavailable"], advice: "Exclusive/prohibited compute mode or busy; nvidia-smi -q -d COMPUTE." },
    CudaError { code: 100, name: "CUDA_ERROR_NO_DEVICE", runtime_name: "cudaErrorNoDevice", messages: &["no CUDA-capable device is detected"], advice: "Driver loaded, no device visible: check CUDA_VISIBLE_DEVICES (empty string or -1), container --gpus / NVIDIA_VISIBLE_DEVICES, /dev/nvidia*, MIG with no compute instance, GPU too old for this driver branch." },
    CudaError { code: 101, name: "CUDA_ERROR_INVALID_DEVICE", runtime_name: "cudaErrorInvalidDevice", messages: &["invalid device ordinal"], advice: "Ordinal out of range for the visible set." },
    CudaError { code: 200, name: "CUDA_ERROR_INVALID_IMAGE", runtime_name: "cudaErrorInvalidKernelImage", messages: &["device kernel image is invalid"], advice: "Image malformed for this driver: zstd/--compress-mode fatbin on driver <550, cubin format newer than driver (ABI 8), truncated file." },
    CudaError { code: 209, name: "CUDA_ERROR_NO_BINARY_FOR_GPU", runtime_name: "cudaErrorNoKernelImageForDevice", messages: &["no kernel image is available"], advice: "No loadable SASS and no usable PTX: rebuild with the printed -gencode, or install a wheel with this CC." },
    CudaError { code: 218, name: "CUDA_ERROR_INVALID_PTX", runtime_name: "cudaErrorInvalidPtx", messages: &["a PTX JIT compilation failed"], advice: "PTX JIT failed (target above device, arch-specific instruction, corrupt PTX)." },
    CudaError { code: 221, name: "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", runtime_name: "cudaErrorJitCompilerNotFound", messages: &["PTX JIT compiler library not found"], advice: "libnvidia-ptxjitcompiler.so.1 missing: container lacks the compute driver capability or a partial driver install." },
    CudaError { code: 222, name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", runtime_name: "cudaErrorUnsupportedPtxVersion", messages: &["the provided PTX was compiled with an unsupported toolchain"], advice: "PTX ISA newer than the driver JIT: update driver to the printed CUDA version or ship SASS for this CC." },
    CudaError { code: 223, name: "CUDA_ERROR_JIT_COMPILATION_DISABLED", runtime_name: "cudaErrorJitCompilationDisabled", messages: &["PTX JIT compilation was disabled"], advice: "CUDA_DISABLE_PTX_JIT (or CUDA_DISABLE_JIT) is set and only PTX matches." },
    CudaError { code: 500, name: "CUDA_ERROR_NOT_FOUND", runtime_name: "cudaErrorSymbolNotFound", messages: &["named symbol not found"], advice: "'named symbol not found': with lazy loading this can be the first visible symptom of a module without the kernel for this arch." },
    CudaError { code: 802, name: "CUDA_ERROR_SYSTEM_NOT_READY", runtime_name: "cudaErrorSystemNotReady", messages: &["system not yet initialized"], advice: "NVSwitch system: nvidia-fabricmanager not running or version mismatch." },
    CudaError { code: 803, name: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", runtime_name: "cudaErrorSystemDriverMismatch", messages: &["system has unsupported display driver / cuda driver combination"], advice: "libcuda.so and kernel module versions differ: reboot after driver update, or remove cuda-compat / stale libcuda from LD_LIBRARY_PATH; in containers the host driver must match." },
    CudaError { code: 804, name: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", runtime_name: "cudaErrorCompatNotSupportedOnDevice", messages: &["forward compatibility was attempted on non supported HW"], advice: "cuda-compat (forward compatibility) loaded on a GPU that does not support it (GeForce): remove /usr/local/cuda/compat from the loader path." },
    CudaError { code: 999, name: "CUDA_ERROR_UNKNOWN", runtime_name: "cudaErrorUnknown", messages: &["unknown error"], advice: "Usually nvidia_uvm not loaded or broken after suspend: modprobe nvidia_uvm (rmmod/modprobe after resume), check dmesg, permissions of /dev/nvidia-uvm." },
];
