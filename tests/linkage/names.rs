//! Which names are CUDA's, and which CUDA their numbers stand for: as the wheels of NVIDIA have them.

use fatscan::linkage::CudaLibrary;

fn of(name: &str) -> Option<(&'static str, Option<u32>, Vec<u32>)> {
    CudaLibrary::of(name).map(|own| (own.family, own.number, own.cuda))
}

#[test]
fn numbers_are_those_of_the_wheels() {
    // nvidia-*-cu11 of CUDA 11.8, nvidia-*-cu12 of 12.9, nvidia-* of 13.2
    let wheels: [(u32, &[&str]); 3] = [
        (
            11,
            &[
                "libcudart.so.11.0",
                "libcublas.so.11",
                "libcublasLt.so.11",
                "libcufft.so.10",
                "libcurand.so.10",
                "libcusolver.so.11",
                "libcusparse.so.11",
                "libcupti.so.11.8",
                "libnvrtc.so.11.2",
                "libnvrtc-builtins.so.11.8",
            ],
        ),
        (
            12,
            &[
                "libcudart.so.12",
                "libcublas.so.12",
                "libcublasLt.so.12",
                "libnvblas.so.12",
                "libcufft.so.11",
                "libcufftw.so.11",
                "libcurand.so.10",
                "libcusolver.so.11",
                "libcusolverMg.so.11",
                "libcusparse.so.12",
                "libcupti.so.12",
                "libnvrtc.so.12",
                "libnvrtc.alt.so.12",
                "libnvrtc-builtins.so.12.9",
                "libnvJitLink.so.12",
                "libnvfatbin.so.12",
                "libnvjpeg.so.12",
                "libnppc.so.12",
                "libnppial.so.12",
            ],
        ),
        (
            13,
            &[
                "libcudart.so.13",
                "libcublas.so.13",
                "libcufft.so.12",
                "libcurand.so.10",
                "libcusolver.so.12",
                "libcusparse.so.12",
                "libcupti.so.13",
                "libnvrtc.so.13",
                "libnvrtc-builtins.so.13.2",
                "libnvJitLink.so.13",
                "libnvfatbin.so.13",
                "libnvjpeg.so.13",
                "libnpps.so.13",
            ],
        ),
    ];
    for (cuda, names) in wheels {
        for name in names {
            let own = CudaLibrary::of(name).unwrap_or_else(|| panic!("{name}"));
            assert!(own.cuda.contains(&cuda), "{name} of CUDA {cuda}: {own:?}");
            assert!(!own.is_driver && !own.is_private, "{name}");
        }
    }
    assert_eq!(of("libcufft.so.11"), Some(("libcufft", Some(11), vec![12])));
    assert_eq!(of("libcusolver.so.11"), Some(("libcusolver", Some(11), vec![11, 12])));
    assert_eq!(of("libcusparse.so.12"), Some(("libcusparse", Some(12), vec![12, 13])));
    assert_eq!(CudaLibrary::of("libcusparse.so.12").unwrap().major(), None);
    assert_eq!(CudaLibrary::of("libcusparse.so.11").unwrap().major(), Some(11));
}

#[test]
fn some_numbers_tell_nothing_of_cuda() {
    for name in [
        "libcudnn.so.9",
        "libcudnn_ops.so.9",
        "libnccl.so.2",
        "libcusparseLt.so.0",
        "libnvToolsExt.so.1",
        "libnvshmem_host.so.3",
        "libcufile.so.0",
        "libcudss.so.0",
        "libcutensor.so.2",
        "libcudart.so",
    ] {
        let own = CudaLibrary::of(name).unwrap_or_else(|| panic!("{name}"));
        assert!(own.cuda.is_empty() && !own.is_driver, "{own:?}");
    }
    for name in ["libcuda.so.1", "libnvidia-ml.so.1", "nvcuda.dll"] {
        assert!(CudaLibrary::of(name).unwrap().is_driver, "{name}");
    }
    for name in
        ["libc.so.6", "libcudartx.so.12", "libcudart.sox.12", "libtorch_cuda.so", "", ".so", "64_.dll", "x64_1.dll"]
    {
        assert_eq!(of(name), None, "{name}");
    }
    // no number of this world
    assert_eq!(of("libcudart.so.99999999999"), Some(("libcudart", None, vec![])));
}

#[test]
fn copies_of_a_wheel_and_names_of_windows_are_known() {
    for name in ["libcudart.3eda8113.so.13", "libcudart-d0da41ae.so.13.0"] {
        let own = CudaLibrary::of(name).unwrap_or_else(|| panic!("{name}"));
        assert!(own.is_private && own.family == "libcudart" && own.cuda == [13], "{own:?}");
    }
    for (name, family, cuda) in [
        ("cudart64_12.dll", "libcudart", vec![12]),
        ("cudart64_110.dll", "libcudart", vec![11]),
        ("cublasLt64_13.dll", "libcublasLt", vec![13]),
        ("nvrtc64_120_0.dll", "libnvrtc", vec![12]),
        ("cufft64_11.dll", "libcufft", vec![12]),
    ] {
        let own = CudaLibrary::of(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((own.family, own.cuda), (family, cuda), "{name}");
    }
}
