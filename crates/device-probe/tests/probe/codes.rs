//! What driver libraries return, and libraries that are not what they should be.

use std::fs;

use device_probe::{Confidence, FindingCode, Level, Status, Way};

use crate::machine::{Machine, advice, codes, finding, judged};

#[test]
fn every_code_of_cu_init_is_told_with_its_advice() {
    for code in [3_u32, 34, 35, 36, 46, 101, 802, 803, 804, 999] {
        let Some(machine) = Machine::new() else { return };
        let probe = machine.cuda(&[("INIT", &code.to_string())]).probe();
        let outcome = probe.way(Way::Cuda).unwrap();
        assert_eq!(outcome.failure_code(), Some(code), "{outcome:?}");
        assert_eq!(outcome.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"), "told although cuInit fails");
        let finding = finding(&probe, FindingCode::CudaError);
        let row = gpu_arch::catalogue::error(code).unwrap();
        assert_eq!((finding.level, finding.error), (Level::Error, Some(code)));
        assert_eq!(advice(finding), row.advice);
        let start = format!("the driver API fails: cuInit returns {code}, {}", row.name);
        assert!(finding.text.starts_with(&start), "{}", finding.text);
        assert!(judged(&probe).is_empty());
        assert_eq!(probe.headline(), finding.text);
    }
}

#[test]
fn a_code_that_is_in_no_table() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("INIT", "4242")]).probe();
    let finding = finding(&probe, FindingCode::CudaError);
    assert_eq!(finding.text, "the driver API fails: cuInit returns 4242");
    assert!(advice(finding).contains("CUresult"));
}

#[test]
fn the_devices_cannot_be_counted() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("COUNT_ERROR", "999")]).probe();
    let finding = finding(&probe, FindingCode::CudaError);
    assert!(finding.text.starts_with("the driver API fails: cuDeviceGetCount returns 999"), "{}", finding.text);
}

#[test]
fn one_device_of_two_cannot_be_described() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("COUNT", "2"), ("ATTRIBUTE_ERROR", "46")]).probe();
    assert_eq!(judged(&probe), ["8.9", "9.0"], "the other is known by its name");
    assert_eq!(probe.devices[1].confidence, Confidence::Derived);
    let finding = finding(&probe, FindingCode::DeviceError);
    assert_eq!(finding.error, Some(46));
    assert_eq!(finding.text, "driver API lists NVIDIA H100 80GB HBM3, but cuDeviceGetAttribute returns 46");
}

#[test]
fn a_device_that_fell_off_the_bus() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[]).nvml(&[("COUNT", "2"), ("LOST", "15")]).probe();
    assert_eq!(judged(&probe), ["8.9"]);
    let finding = finding(&probe, FindingCode::DeviceError);
    assert_eq!(finding.error, None, "the codes of NVML are not those of CUDA");
    assert!(finding.text.ends_with("nvmlDeviceGetHandleByIndex returns 15"), "{}", finding.text);
}

#[test]
fn library_and_kernel_module_differ() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine
        .cuda_named("lib/libcuda.so.550.54.14", &[("INIT", "803")])
        .nvml(&[("INIT", "18")])
        .file(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.183.01  Release\n",
        )
        .file("proc/driver/nvidia/gpus/0000:41:00.0/information", "Model: \t\t NVIDIA GeForce RTX 4090\n")
        .pci_4090(Some("nvidia"))
        .probe();
    assert_eq!(probe.driver.library_version.map(|version| version.to_string()).as_deref(), Some("550.54.14"));
    assert_eq!(probe.driver.version.map(|version| version.to_string()).as_deref(), Some("535.183.01"));
    assert_eq!(codes(&probe), [FindingCode::CudaError]);
    assert_eq!(
        probe.findings[0].text,
        "the driver API fails: cuInit returns 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH \
         (library 550.54.14, kernel module 535.183.01)"
    );
    assert_eq!(judged(&probe), ["8.9"], "by PCI id");
}

#[test]
fn only_nvml_tells_that_they_differ() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.nvml(&[("INIT", "18")]).pci_4090(Some("nvidia")).probe();
    assert_eq!(codes(&probe), [FindingCode::CudaLibraryMissing, FindingCode::DriverMismatch]);
    assert!(advice(finding(&probe, FindingCode::DriverMismatch)).contains("restart"));
}

#[test]
fn a_stub_library_is_named() {
    let Some(machine) = Machine::new() else { return };
    let machine = machine.cuda_named("cuda/lib64/stubs/libcuda.so.1", &[("INIT", "34")]);
    let probe = machine.probe();
    let finding = finding(&probe, FindingCode::CudaError);
    let library = machine.path("cuda/lib64/stubs/libcuda.so.1").canonicalize().unwrap();
    assert!(finding.text.ends_with(&format!("(loaded `{}`)", library.display())), "{}", finding.text);
}

#[test]
fn forward_compatibility_that_works_is_noted() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda_named("cuda/compat/libcuda.so.580.65.06", &[("VERSION", "13000")]).nvml(&[]).probe();
    let finding = finding(&probe, FindingCode::CompatLibrary);
    assert_eq!(finding.level, Level::Note);
    assert_eq!(finding.text, "the driver library is 580.65.06 and the kernel driver 550.54.14: cuda-compat");
    assert_eq!(probe.driver.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("13.0"), "as programs see it");
}

#[test]
fn links_are_followed_to_the_version() {
    let Some(machine) = Machine::new() else { return };
    let mut machine = machine.cuda_named("lib/libcuda.so.535.288.01", &[]);
    let link = machine.path("lib/libcuda.so.1");
    std::os::unix::fs::symlink("libcuda.so.535.288.01", &link).unwrap();
    machine.sources.cuda_libraries = vec![link];
    let probe = machine.probe();
    assert_eq!(probe.driver.library_version.map(|version| version.to_string()).as_deref(), Some("535.288.01"));
}

#[test]
fn an_old_driver_without_newer_functions_answers() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("OLD", ""), ("CC0", "61"), ("NAME0", "\"GeForce GTX 1080\"")]).probe();
    assert_eq!(judged(&probe), ["6.1"]);
    assert_eq!(probe.devices[0].uuid, None);
    assert_eq!(probe.devices[0].pci.map(|pci| pci.to_string()).as_deref(), Some("0000:41:00.0"));
}

#[test]
fn a_library_without_a_needed_function() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("EMPTY", "")]).probe();
    let missing = Status::MissingFunction { name: "cuDeviceGetAttribute".to_owned() };
    assert_eq!(probe.way(Way::Cuda).unwrap().status, missing);
    assert!(finding(&probe, FindingCode::CudaLibraryUnusable).text.contains("cuDeviceGetAttribute"));
}

#[test]
fn a_file_that_is_no_library() {
    let mut machine = Machine::without_compiler();
    let library = machine.path("libcuda.so.1");
    fs::write(&library, "text").unwrap();
    machine.sources.cuda_libraries = vec![library];
    let probe = machine.probe();
    assert!(matches!(probe.way(Way::Cuda).unwrap().status, Status::Unusable { .. }), "{:?}", probe.ways);
    assert_eq!(codes(&probe), [FindingCode::CudaLibraryUnusable]);
}

#[test]
fn the_next_library_is_taken_where_one_is_missing_or_broken() {
    let Some(machine) = Machine::new() else { return };
    let mut machine = machine.cuda(&[]);
    let broken = machine.path("broken.so");
    fs::write(&broken, "text").unwrap();
    let good = machine.sources.cuda_libraries.remove(0);
    machine.sources.cuda_libraries =
        vec!["libcuda-that-is-not-here.so.1".into(), machine.path("nowhere.so"), broken, good];
    assert_eq!(judged(&machine.probe()), ["8.9"]);
}

#[test]
fn nvml_fails_beside_a_driver_that_works() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[]).nvml(&[("INIT", "9")]).probe();
    assert_eq!(judged(&probe), ["8.9"]);
    let finding = finding(&probe, FindingCode::NvmlError);
    assert_eq!(finding.level, Level::Note);
    assert_eq!(finding.text, "NVML fails: nvmlInit returns 9, the kernel driver is not loaded");
}
