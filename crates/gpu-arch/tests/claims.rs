//! Wrong claims that circulate in blog posts, each refuted by the tables or the rules.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::catalogue::{
    ProductLookup, architecture, first_toolkit, product, product_by_pci_id, toolkits, torch_builds, torch_builds_for,
};
use gpu_arch::rules::{Code, Device, Driver, Environment, Met, Verdict, judge_module, runtime_condition};
use gpu_arch::spelling::{self, Dialect};
use gpu_arch::{Arch, Capability, CudaVersion};

fn capability(text: &str) -> Capability {
    text.parse().unwrap()
}

fn capability_of(name: &str) -> String {
    match product(name) {
        ProductLookup::Found(row) => row.capability.to_string(),
        other => panic!("{name}: {other:?}"),
    }
}

/// What becomes of SASS for some capabilities on a device with a new enough driver.
fn verdict(sass: &[Capability], device: &str) -> Verdict {
    let images: Vec<Code> =
        sass.iter().map(|sass| Code::new(format!("sm_{}", sass.arch().unwrap()).parse().unwrap())).collect();
    judge_module(&images, &Device::of(capability(device)), &Environment::default()).verdict
}

fn verdict_of(sass: &[&str], device: &str) -> Verdict {
    let sass: Vec<Capability> = sass.iter().map(|text| capability(text)).collect();
    verdict(&sass, device)
}

#[test]
fn the_4060_ti_is_8_9() {
    assert_eq!(capability_of("RTX 4060 Ti"), "8.9");
    for id in [0x2803, 0x2805, 0x2788] {
        assert_eq!(product_by_pci_id(id).unwrap().capability, capability("8.9"), "{id:04x}");
    }
    // 2782 is a 4070 Ti
    assert!(product_by_pci_id(0x2782).unwrap().name.contains("4070 Ti"));
}

#[test]
fn there_is_no_sm_86a() {
    let arch: Arch = "86a".parse().unwrap();
    assert!(!arch.is_known());
    assert!(toolkits().iter().all(|toolkit| !toolkit.archs.contains(&arch)));
    for text in ["sm_86a", "86a", "8.6a", "8,6,8,6a", "-gencode arch=compute_86a,code=sm_86a"] {
        assert!(spelling::code(text).is_err(), "{text}");
    }
    assert!(spelling::code_in("86a", Dialect::Cmake).is_err());
    assert!(spelling::code_in("8.6,8.9", Dialect::Xla).is_ok());
}

#[test]
fn a_capability_need_not_be_in_the_list_literally() {
    // torch 2.0.1 cu118 on a 4060 Ti, torch 1.12 on a 4090: sm_86 runs on 8.9
    for (version, cuda) in [("2.0", "cu118"), ("1.12", "cu116")] {
        let build = torch_builds().iter().find(|row| row.version == version && row.cuda == cuda).unwrap();
        assert!(!build.sass.contains(&capability("8.9")) && !build.sass.contains(&capability("6.1")));
        assert_eq!(verdict(build.sass, "8.9"), Verdict::Native);
        // and 6.1 runs 6.0
        assert_eq!(verdict(build.sass, "6.1"), Verdict::Native);
    }
}

#[test]
fn the_rtx_50_is_12_0_and_9_0_is_hopper() {
    for name in ["RTX 5090", "RTX 5080", "RTX 5070 Ti", "RTX 5060"] {
        assert_eq!(capability_of(name), "12.0", "{name}");
    }
    assert_eq!(architecture(capability("9.0")).unwrap().name, "Hopper");
    assert_eq!(architecture(capability("8.9")).unwrap().name, "Ada Lovelace");
    assert_eq!(verdict_of(&["9.0"], "12.0"), Verdict::NotCovered);
}

#[test]
fn torch_and_hopper() {
    // "torch < 2.3 does not support H100": 2.0 cu118 has sm_90
    assert!(torch_builds_for(capability("9.0")).any(|row| row.version == "2.0" && row.cuda == "cu118"));
}

#[test]
fn torch_2_3_is_not_for_the_rtx_50() {
    let build = torch_builds().iter().find(|row| row.version == "2.3" && row.cuda == "cu121").unwrap();
    assert!(build.ptx.is_empty());
    assert_eq!(verdict(build.sass, "12.0"), Verdict::NotCovered);
    assert!(
        torch_builds_for(capability("12.0"))
            .all(|row| row.version.trim_start_matches("2.").parse::<u32>().unwrap() >= 7)
    );
}

#[test]
fn ada_needs_cuda_11_8() {
    assert_eq!(first_toolkit(Arch::plain(89)), Some(CudaVersion::new(11, 8)));
}

#[test]
fn an_older_runtime_runs_on_a_newer_driver() {
    // "image 11.7 on driver 535 must fail"
    let device = Device::of(capability("8.0")).with_driver(Driver::of_version("535.183.01".parse().unwrap()));
    assert_eq!(runtime_condition(11, &device).met, Met::Yes);
}

#[test]
fn official_wheels_have_more_than_70_75_80() {
    let build = torch_builds().iter().find(|row| row.version == "2.6" && row.pypi_default).unwrap();
    let written: Vec<String> = build.sass.iter().map(ToString::to_string).collect();
    assert_eq!(written, ["5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "9.0"]);
}

#[test]
fn sass_without_ptx_does_not_run_on_newer_majors() {
    // "very compatible", "merely loses speed on H100"
    assert_eq!(verdict_of(&["7.0", "7.5", "8.0"], "9.0"), Verdict::NotCovered);
    assert_eq!(verdict_of(&["7.5", "8.0"], "9.0"), Verdict::NotCovered);
}

#[test]
fn orin_and_official_wheels() {
    // right up to JetPack 7.1, wrong with a driver of CUDA 13.2
    let images = [Code::new("sm_80".parse().unwrap())];
    let orin = |cuda: CudaVersion| Device::of(capability("8.7")).with_driver(Driver::of_cuda(cuda));
    let judged = |cuda| judge_module(&images, &orin(cuda), &Environment::default()).verdict;
    assert_eq!(judged(CudaVersion::new(12, 6)), Verdict::NotCovered);
    assert_eq!(judged(CudaVersion::new(13, 2)), Verdict::Native);
}

#[test]
fn the_a100_is_8_0() {
    // "degraded by the BIOS to 7.5": a chip has one capability
    assert_eq!(capability_of("A100"), "8.0");
}
