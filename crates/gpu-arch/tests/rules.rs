//! Cases that the vectors lack. Each expectation is reasoned from the published rules, in the
//! comment above it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::catalogue::Platform;
use gpu_arch::rules::{
    Code, Condition, Coverage, Device, Driver, Environment, Met, ModuleVerdict, ReasonCode, Verdict, judge_module,
    runs, runtime_condition,
};
use gpu_arch::{CudaVersion, DriverVersion, Isa, Target};

const PLAIN: Environment = Environment { force_ptx_jit: false, disable_ptx_jit: false };

fn sass(target: &str) -> Code {
    Code::new(target.parse().unwrap())
}

fn ptx(arch: &str, isa: &str) -> Code {
    Code::new(Target::Ptx(arch.parse().unwrap(), Some(isa.parse::<Isa>().unwrap())))
}

fn zstd(code: Code) -> Code {
    Code { zstd: true, ..code }
}

fn abi(code: Code, version: u8) -> Code {
    Code { cubin_abi: Some(version), ..code }
}

fn device(capability: &str) -> Device {
    Device::of(capability.parse().unwrap())
}

fn with_driver(capability: &str, version: &str) -> Device {
    device(capability).with_driver(Driver::of_version(version.parse().unwrap()))
}

fn with_cuda(capability: &str, version: &str) -> Device {
    device(capability).with_driver(Driver::of_cuda(version.parse().unwrap()))
}

fn judged(images: &[Code], device: &Device) -> ModuleVerdict {
    judge_module(images, device, &PLAIN)
}

fn codes(verdict: &ModuleVerdict) -> Vec<ReasonCode> {
    verdict.reasons.iter().map(|reason| reason.code).collect()
}

fn driver(text: &str) -> Option<DriverVersion> {
    Some(text.parse().unwrap())
}

// Drivers before CUDA 12.4 = r550 cannot read zstd entries, even where the SASS matches and the
// runtime's floor (525) is met.
#[test]
fn zstd_needs_driver_550() {
    let images = [zstd(sass("sm_89"))];
    let verdict = judged(&images, &with_driver("8.9", "535.183.01"));
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::DriverTooOld, vec![ReasonCode::Zstd]));
    assert_eq!((verdict.reasons[0].error, verdict.needs_driver), (Some(200), driver("550")));
    assert_eq!(verdict.coverage, Coverage::Yes);
    assert_eq!(judged(&images, &with_driver("8.9", "550.54.14")).verdict, Verdict::Native);
    // the Windows number of the same branch, and the branch by its CUDA version
    assert_eq!(judged(&images, &with_driver("8.9", "551.61")).verdict, Verdict::Native);
    assert_eq!(judged(&images, &with_cuda("8.9", "12.3")).verdict, Verdict::DriverTooOld);
    assert_eq!(judged(&images, &with_cuda("8.9", "12.4")).verdict, Verdict::Native);
}

// The driver selects the cubin and is bound to it; whether it falls back to the PTX that it could compile nobody has
// measured.
#[test]
fn what_is_selected_and_too_new_is_unknown_where_another_image_would_do() {
    let images = [zstd(sass("sm_89")), ptx("80", "7.8")];
    let verdict = judged(&images, &with_driver("8.9", "535.183.01"));
    assert_eq!((verdict.verdict, verdict.picked), (Verdict::Unknown, Some(0)));
    assert_eq!(codes(&verdict), [ReasonCode::Zstd, ReasonCode::Uncertain]);
    assert!(verdict.reasons[1].text.contains("whether it falls back to `compute_80` is not known"));
    assert_eq!(verdict.needs_driver, driver("550"));
    assert_eq!(judged(&images, &with_driver("8.9", "550.54.14")).verdict, Verdict::Native);
    // of two PTX texts the nearer one is selected
    let images = [ptx("86", "8.7"), ptx("80", "7.8")];
    let verdict = judged(&images, &with_cuda("8.9", "12.4"));
    assert_eq!((verdict.verdict, verdict.picked), (Verdict::Unknown, Some(0)));
    // where the other one does not run either, the verdict is the selected one's
    let images = [zstd(sass("sm_89")), ptx("90", "7.8")];
    assert_eq!(judged(&images, &with_driver("8.9", "535.183.01")).verdict, Verdict::DriverTooOld);
}

// ABI 8 came with CUDA 12.8 for sm_100 and up (r570), with 13.0 for all others (r580).
#[test]
fn cubin_abi_8_needs_570_or_580() {
    let ada = [abi(sass("sm_89"), 8)];
    let verdict = judged(&ada, &with_driver("8.9", "575.57.08"));
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::DriverTooOld, vec![ReasonCode::CubinAbi]));
    assert_eq!(verdict.needs_driver, driver("580"));
    assert_eq!(judged(&ada, &with_driver("8.9", "580.65.06")).verdict, Verdict::Native);
    assert_eq!(judged(&[abi(sass("sm_100"), 8)], &with_driver("10.0", "570.26")).verdict, Verdict::Native);
    // ABI 7 asks nothing
    assert_eq!(judged(&[abi(sass("sm_89"), 7)], &with_driver("8.9", "525.60.13")).verdict, Verdict::Native);
}

// PTX ISA 8.8 and zstd on 535: the need is the maximum of both, 12.9 = r575.
#[test]
fn the_need_is_the_maximum_of_all_conditions() {
    let images = [zstd(ptx("80", "8.8"))];
    let verdict = judged(&images, &with_driver("8.0", "535.54.03"));
    assert_eq!(verdict.verdict, Verdict::DriverTooOld);
    assert_eq!(codes(&verdict), [ReasonCode::PtxIsa, ReasonCode::Zstd]);
    assert_eq!((verdict.needs_driver, verdict.needs_cuda), (driver("575"), Some(CudaVersion::new(12, 9))));
}

// Where no image loads, the one that loads with the older driver is the one to judge.
#[test]
fn the_least_demand_is_judged_where_nothing_loads() {
    let images = [ptx("80", "9.0"), zstd(sass("sm_80"))];
    let verdict = judged(&images, &with_driver("8.0", "535.54.03"));
    assert_eq!((verdict.verdict, verdict.picked), (Verdict::DriverTooOld, Some(1)));
    assert_eq!(verdict.needs_driver, driver("550"));
}

// Pascal: 580 is the last branch; a 590 driver does not list the device (100).
#[test]
fn a_branch_that_dropped_the_device() {
    let images = [sass("sm_61")];
    assert_eq!(judged(&images, &with_driver("6.1", "580.95.05")).verdict, Verdict::Native);
    let verdict = judged(&images, &with_driver("6.1", "590.44.01"));
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::NotCovered, vec![ReasonCode::DriverDroppedDevice]));
    assert_eq!((verdict.reasons[0].error, verdict.needs_driver), (Some(100), None));
    // architecture coverage is stated apart
    assert_eq!(verdict.coverage, Coverage::Yes);
    // Kepler: 470 is the last, in Linux and Windows numbers; by CUDA 11.4 it is that branch
    assert_eq!(judged(&[sass("sm_35")], &with_driver("3.5", "472.50")).verdict, Verdict::Native);
    assert_eq!(judged(&[sass("sm_35")], &with_cuda("3.5", "11.4")).verdict, Verdict::Native);
    assert_eq!(judged(&[sass("sm_35")], &with_driver("3.5", "495.29.05")).verdict, Verdict::NotCovered);
}

// A dropped device and code that does not fit: both are said, the driver first.
#[test]
fn the_order_of_reasons() {
    let verdict = judged(&[sass("sm_80")], &with_driver("6.1", "590.44.01"));
    assert_eq!(codes(&verdict), [ReasonCode::DriverDroppedDevice, ReasonCode::NoImage]);
    let verdict = judged(&[sass("sm_80")], &with_driver("12.0", "535.54.03"));
    assert_eq!(verdict.verdict, Verdict::NotCovered);
    assert_eq!(codes(&verdict), [ReasonCode::DriverUnknownDevice, ReasonCode::NoImage]);
    // the runtime stands between coverage and what the image needs
    let old = with_driver("8.0", "525.60.13");
    let mut verdict = judged(&[zstd(sass("sm_80"))], &old);
    verdict.hold_to(runtime_condition(13, &old));
    assert_eq!(codes(&verdict), [ReasonCode::RuntimeMajor, ReasonCode::Zstd]);
    assert_eq!(verdict.needs_driver, driver("580.65.06"));
}

// Blackwell needs 570; 560 does not know it although the SASS fits.
#[test]
fn a_device_newer_than_the_driver() {
    let verdict = judged(&[sass("sm_120")], &with_driver("12.0", "560.35.03"));
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::DriverTooOld, vec![ReasonCode::DriverUnknownDevice]));
    assert_eq!(verdict.needs_driver, driver("570"));
    // by the CUDA version: 12.6 is that branch
    assert_eq!(judged(&[sass("sm_120")], &with_cuda("12.0", "12.6")).verdict, Verdict::DriverTooOld);
    // B300 came with 575
    assert_eq!(judged(&[sass("sm_103")], &with_driver("10.3", "570.124.06")).verdict, Verdict::DriverTooOld);
    assert_eq!(judged(&[sass("sm_103")], &with_driver("10.3", "575.51.03")).verdict, Verdict::Native);
}

// Code that needs a driver which no longer supports the device can never run there: PTX ISA 9.1 is
// CUDA 13.1 = r590, and 580 is Pascal's last.
#[test]
fn a_demand_that_no_driver_for_the_device_meets() {
    for device in [with_driver("6.1", "580.65.06"), device("6.1")] {
        let verdict = judged(&[ptx("60", "9.1")], &device);
        assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::NotCovered, vec![ReasonCode::PtxIsa]));
        assert_eq!(verdict.needs_driver, None);
    }
    // 9.0 is CUDA 13.0 = r580
    assert_eq!(judged(&[ptx("60", "9.0")], &with_driver("6.1", "575.57.08")).verdict, Verdict::DriverTooOld);
}

// Without a driver: new enough is assumed, every condition is given, except those that each driver
// for the device meets.
#[test]
fn an_unknown_driver() {
    let hopper = device("9.0");
    assert!(hopper.driver.is_unknown());
    let verdict = judged(&[zstd(sass("sm_90"))], &hopper);
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::Native, vec![ReasonCode::Zstd]));
    assert_eq!(verdict.needs_driver, driver("550"));
    let verdict = judged(&[ptx("80", "8.7")], &hopper);
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::Jit, vec![ReasonCode::PtxIsa]));
    assert_eq!(verdict.needs_driver, driver("570"));
    // an RTX 50 has 570 or newer: no condition
    let verdict = judged(&[abi(zstd(sass("sm_120")), 8)], &device("12.0"));
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::Native, vec![]));
    // but not the unification of 13.2: Orin takes sm_80 only with a driver that is known to
    assert_eq!(judged(&[sass("sm_80")], &device("8.7")).verdict, Verdict::NotCovered);
    assert_eq!(judged(&[sass("sm_87")], &device("8.7")).verdict, Verdict::Native);
}

// Without a driver and with a runtime: its floor is a condition.
#[test]
fn the_runtime_as_a_condition() {
    let met = |major, device: &Device| runtime_condition(major, device).met;
    assert_eq!(met(12, &device("8.0")), Met::Assumed);
    assert_eq!(runtime_condition(12, &device("8.0")).reason.needs_driver, driver("525.60.13"));
    // 11.x runs from 450.80.02 on, not on 450.51.06 which came with 11.0
    assert_eq!(met(11, &with_driver("8.0", "450.51.06")), Met::No);
    assert_eq!(met(11, &with_driver("8.0", "450.80.02")), Met::Yes);
    assert_eq!(met(12, &with_driver("8.0", "520.61.05")), Met::No);
    assert_eq!(met(12, &with_driver("8.0", "525.60.13")), Met::Yes);
    // newer drivers run older runtimes
    assert_eq!(met(11, &with_driver("8.0", "535.54.03")), Met::Yes);
    assert_eq!(met(13, &with_cuda("8.0", "12.9")), Met::No);
    assert_eq!(met(13, &with_cuda("8.0", "13.0")), Met::Yes);
    // a branch alone is its newest driver
    assert_eq!(met(12, &with_driver("8.0", "525")), Met::Yes);
    // Kepler ends with 470 = CUDA 11.4
    assert_eq!(met(12, &with_driver("3.5", "470.82.01")), Met::Never);
    let Condition { met, reason } = runtime_condition(14, &with_cuda("8.0", "13.4"));
    assert_eq!((met, reason.error, reason.needs_cuda), (Met::No, Some(35), Some(CudaVersion::new(14, 0))));
}

// cuda-compat: the kernel driver is 535, the library implements 12.8. The library reads zstd and
// PTX 8.7, and the runtime asks the library.
#[test]
fn the_compat_package_counts_by_its_library() {
    let driver = Driver { version: driver("535.183.01"), cuda: Some(CudaVersion::new(12, 8)) };
    let hopper = device("9.0").with_driver(driver);
    assert_eq!(judged(&[zstd(sass("sm_90"))], &hopper).verdict, Verdict::Native);
    assert_eq!(judged(&[ptx("90", "8.7")], &hopper).verdict, Verdict::Jit);
    assert_eq!(runtime_condition(12, &hopper).met, Met::Yes);
    // but the device must be known to the kernel driver
    assert_eq!(judged(&[sass("sm_100")], &device("10.0").with_driver(driver)).verdict, Verdict::DriverTooOld);
}

// nvlink 13.5: sm_100 + sm_100f + sm_100a on 10.0 takes a, on 10.3 (where a does not run) f.
#[test]
fn the_picked_image_is_a_then_f_then_plain() {
    let images = [sass("sm_100"), sass("sm_100a"), sass("sm_100f")];
    assert_eq!(judged(&images, &with_cuda("10.0", "13.0")).picked, Some(1));
    assert_eq!(judged(&images, &with_cuda("10.3", "13.0")).picked, Some(2));
    assert_eq!(judged(&images[..1], &with_cuda("10.3", "13.0")).picked, Some(0));
    // the higher number first: 86 before 80 on 8.9
    assert_eq!(judged(&[sass("sm_80"), sass("sm_86")], &with_cuda("8.9", "12.4")).picked, Some(1));
    // SASS before PTX, also of a higher number (the guides: a compatible cubin is used as is)
    assert_eq!(judged(&[ptx("86", "7.8"), sass("sm_80")], &with_cuda("8.9", "12.4")).picked, Some(1));
    // PTX: the highest that fits; 100f on 10.3, plain 100 on 12.0
    let ptx_images = [ptx("100", "8.8"), ptx("100f", "8.8")];
    assert_eq!(judged(&ptx_images, &with_cuda("10.3", "13.0")).picked, Some(1));
    assert_eq!(judged(&ptx_images, &with_cuda("12.0", "13.0")).picked, Some(0));
    assert_eq!(judged(&[ptx("80", "7.8"), ptx("86", "7.8")], &with_cuda("8.9", "12.4")).picked, Some(1));
}

// Tegra: driver numbers of L4T (540.4.0 with CUDA 12.6) are not those of the desktop, so only the
// CUDA version counts and no desktop driver is recommended.
#[test]
fn tegra_goes_by_cuda_version() {
    let orin = |version: &str, cuda: CudaVersion| {
        device("8.7").with_driver(Driver { version: driver(version), cuda: Some(cuda) })
    };
    let images = [zstd(sass("sm_87"))];
    assert_eq!(judged(&images, &orin("540.4.0", CudaVersion::new(12, 6))).verdict, Verdict::Native);
    let verdict = judged(&images, &orin("540.3.0", CudaVersion::new(12, 2)));
    assert_eq!((verdict.verdict, verdict.needs_driver), (Verdict::DriverTooOld, None));
    assert_eq!(verdict.needs_cuda, Some(CudaVersion::new(12, 4)));
    // JetPack 7.2 has the desktop's driver 595 = CUDA 13.2
    assert_eq!(judged(&[sass("sm_86")], &with_driver("8.7", "595.45.04")).verdict, Verdict::Native);
    assert_eq!(judged(&[sass("sm_86")], &with_cuda("8.7", "13.1")).verdict, Verdict::NotCovered);
    // under the SBSA stack it is judged alike
    let sbsa = Device { platform: Platform::Sbsa, ..with_cuda("8.7", "13.2") };
    assert_eq!(judged(&[sass("sm_80")], &sbsa).verdict, Verdict::Native);
}

// PTX ISA 9.5 is CUDA 13.5. The table ends with branch 615 = 13.4; what 620 implements is not
// known, so neither is this.
#[test]
fn a_driver_beyond_the_table_is_uncertain_where_it_matters() {
    let images = [ptx("80", "9.5")];
    let verdict = judged(&images, &with_driver("8.0", "615.10"));
    assert_eq!((verdict.verdict, verdict.needs_driver), (Verdict::DriverTooOld, None));
    assert_eq!(verdict.needs_cuda, Some(CudaVersion::new(13, 5)));
    assert_eq!(judged(&images, &with_driver("8.0", "620.10")).verdict, Verdict::Unknown);
    assert_eq!(judged(&images, &with_cuda("8.0", "13.5")).verdict, Verdict::Jit);
    assert_eq!(judged(&[ptx("80", "9.4")], &with_driver("8.0", "620.10")).verdict, Verdict::Jit);
    // an ISA that no table knows
    assert_eq!(judged(&[ptx("80", "12.0")], &with_cuda("8.0", "13.5")).verdict, Verdict::DriverTooOld);
    assert_eq!(judged(&[ptx("80", "12.0")], &with_cuda("8.0", "15.0")).verdict, Verdict::Unknown);
}

// Which driver compiles PTX of an unknown version is not known; an unknown driver is new enough.
#[test]
fn ptx_without_a_version() {
    let of = |arch: &str| Code::new(Target::Ptx(arch.parse().unwrap(), None));
    assert_eq!(judged(&[of("80")], &with_cuda("9.0", "12.4")).verdict, Verdict::Unknown);
    assert_eq!(judged(&[of("80")], &device("9.0")).verdict, Verdict::Jit);
}

// 32-bit code needs a 32-bit process, LTO-IR a linker.
#[test]
fn code_that_no_driver_loads() {
    let narrow = Code { is_32bit: true, ..sass("sm_86") };
    let verdict = judged(&[narrow], &with_cuda("8.6", "12.4"));
    assert_eq!((verdict.verdict, codes(&verdict)), (Verdict::NotCovered, vec![ReasonCode::NoImage]));
    assert_eq!(judged(&[narrow, sass("sm_80")], &with_cuda("8.6", "12.4")).picked, Some(1));
    let fit = runs(&sass("lto_90"), &with_cuda("9.0", "12.4"), &PLAIN);
    assert_eq!((fit.verdict, fit.reasons[0].code), (Verdict::NotCovered, ReasonCode::LtoOnly));
    assert_eq!(codes(&judged(&[sass("lto_90")], &device("9.0"))), [ReasonCode::LtoOnly]);
    assert_eq!(judged(&[], &device("9.0")).verdict, Verdict::NoDeviceCode);
    assert_eq!(judged(&[sass("lto_90"), sass("sm_90")], &device("9.0")).picked, Some(1));
}

// An unknown capability: the plain rules by major and minor hold, families are not known.
#[test]
fn a_device_that_no_table_knows() {
    let future = with_cuda("13.2", "14.0");
    assert_eq!(judged(&[sass("sm_130")], &future).verdict, Verdict::Native);
    assert_eq!(judged(&[sass("sm_120")], &future).verdict, Verdict::NotCovered);
    assert_eq!(judged(&[ptx("120", "8.7")], &future).verdict, Verdict::Jit);
    assert_eq!(judged(&[sass("sm_130f")], &future).verdict, Verdict::Unknown);
    assert_eq!(judged(&[sass("sm_132a")], &future).verdict, Verdict::Native);
}

#[test]
fn the_environment_reads_its_variables() {
    let read = |pairs: &[(&str, &str)]| Environment::from_vars(pairs.iter().copied());
    assert_eq!(read(&[]), PLAIN);
    assert!(read(&[("CUDA_FORCE_PTX_JIT", "1")]).force_ptx_jit);
    assert!(read(&[("CUDA_DISABLE_JIT", "1")]).disable_ptx_jit);
    assert_eq!(read(&[("CUDA_FORCE_PTX_JIT", "0"), ("CUDA_DISABLE_PTX_JIT", "")]), PLAIN);
    // forced: SASS is not a note, and disabled PTX beside SASS is not one either
    let forced = read(&[("CUDA_FORCE_PTX_JIT", "1")]);
    let images = [sass("sm_80"), ptx("80", "7.8")];
    let verdict = judge_module(&images, &with_cuda("8.0", "12.4"), &forced);
    assert_eq!((verdict.picked, verdict.notes.len()), (Some(1), 0));
    let disabled = read(&[("CUDA_DISABLE_PTX_JIT", "1")]);
    let verdict = judge_module(&images, &with_cuda("8.0", "12.4"), &disabled);
    assert_eq!((verdict.picked, verdict.notes.len()), (Some(0), 0));
}

#[test]
fn reasons_are_one_sentence_for_people() {
    let text = |images: &[Code], device: &Device| judged(images, device).reasons[0].text.clone();
    assert_eq!(
        text(&[zstd(sass("sm_89"))], &with_driver("8.9", "535.54.03")),
        "needs driver 550 (CUDA 12.4) or newer: zstd compression"
    );
    assert_eq!(
        text(&[sass("sm_50"), sass("sm_60"), sass("sm_90")], &device("12.0")),
        "nothing fits compute capability 12.0: there are `sm_50 60 90` and no PTX"
    );
    assert_eq!(
        text(&[sass("sm_86")], &device("8.0")),
        "nothing fits compute capability 8.0: `sm_86` runs on 8.x from 8.6 on, not on other majors"
    );
    assert_eq!(
        text(&[sass("sm_90a")], &device("10.0")),
        "nothing fits compute capability 10.0: `sm_90a` runs on 9.0 only"
    );
}
