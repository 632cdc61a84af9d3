//! How modules, files and artefacts add up to verdicts, on files written for the purpose. Expected values follow from
//! `docs/VERDICTS.md` and from NVIDIA's rules, as each test says.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

use fatscan::{
    ArtefactKind, Judgement, KernelDepth, LimitKind, Member, MemberVerdict, Options, Policy, Report, judge,
    wants_kernels,
};
use gpu_arch::rules::{Device, Driver, Environment, ReasonCode, Verdict};
use gpu_arch::{CudaVersion, DriverVersion};
use testkit::cubin::{Cubin, Function};
use testkit::elf::Elf;
use testkit::fatbin::{Codec, Entry, fatbin, flag};
use testkit::pe::Pe;

/// A SASS entry of ABI 7 with a kernel. Compressed, it tells nothing of the toolkit that made it.
fn sass(arch: &str) -> Entry {
    packed(arch, Codec::Lz4)
}

fn packed(arch: &str, codec: Codec) -> Entry {
    Entry::sass(arch, Cubin::abi7(arch).toolkit(124).bytes()).isa(1, 7).compressed(codec)
}

fn ptx(arch: &str, isa: (u16, u16)) -> Entry {
    Entry::ptx(arch, isa, &testkit::ptx_text(&format!("{}.{}", isa.0, isa.1), &format!("sm_{arch}"), "k"))
}

/// A shared library with these fatbins, 8-aligned, in `.nv_fatbin`.
fn library(modules: &[Vec<Entry>]) -> Elf {
    let mut bytes = Vec::new();
    for module in modules {
        bytes.extend(fatbin(module));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    Elf::shared().section(".text", b"code").section(".nv_fatbin", &bytes)
}

fn member(path: &str, bytes: &[u8]) -> Member {
    let options = Options::for_judging();
    let mut report = fatscan::scan_bytes(path, bytes, &options);
    let diagnostics = &report.diagnostics;
    assert!(diagnostics.iter().all(|d| d.level != fatscan::Level::Error), "{diagnostics:?}");
    let mut member = report.artefacts.remove(0).members.remove(0);
    // as in an archive
    member.path = path.to_owned();
    member
}

fn report(members: Vec<Member>) -> Report {
    let mut report = fatscan::scan_bytes("a.whl", b"", &Options::for_judging());
    report.diagnostics.clear();
    let artefact = &mut report.artefacts[0];
    (artefact.kind, artefact.members_without_code, artefact.members) = (ArtefactKind::Wheel, 0, members);
    report
}

fn device(cc: &str) -> Device {
    Device::of(cc.parse().unwrap())
}

fn with_driver(cc: &str, version: &str) -> Device {
    device(cc).with_driver(Driver::of_version(version.parse().unwrap()))
}

fn judged(members: Vec<Member>, device: Device) -> Judgement {
    judge(&report(members), &[device], &Policy::default()).unwrap()
}

fn verdict(elf: &Elf, device: Device) -> MemberVerdict {
    judged(vec![member("lib/x.so", &elf.bytes())], device).artefacts.remove(0).members.remove(0).verdicts.remove(0)
}

fn codes(verdict: &MemberVerdict) -> Vec<ReasonCode> {
    verdict.reasons.iter().map(|reason| reason.code).collect()
}

#[test]
fn all_general_modules_decide_and_not_their_union() {
    let both = || vec![sass("75"), sass("80")];
    let lacking = || vec![sass("80"), sass("90")];
    let verdict = verdict(&library(&[both(), lacking(), lacking()]), device("7.5"));
    assert_eq!(verdict.verdict, Verdict::Partial);
    assert_eq!((verdict.modules_ok, verdict.modules), (1, 3));
    assert_eq!(verdict.failing, [1, 2]);
    assert_eq!(codes(&verdict), [ReasonCode::NoImage]);
    assert!(verdict.reasons[0].text.starts_with("2 of 3 modules"), "{}", verdict.reasons[0].text);
}

#[test]
fn compiling_ptx_makes_a_file_jit_even_where_others_are_native() {
    let elf = library(&[vec![sass("80"), sass("90")], vec![sass("75"), sass("80"), ptx("80", (8, 0))]]);
    let own = verdict(&elf, with_driver("9.0", "550.54.14"));
    assert_eq!((own.verdict, own.modules_ok), (Verdict::Jit, 2));
    // without the compiler the second module has nothing: error 223
    let policy =
        Policy { environment: Environment { disable_ptx_jit: true, force_ptx_jit: false }, ..Policy::default() };
    let report = report(vec![member("x.so", &elf.bytes())]);
    let judgement = judge(&report, &[with_driver("9.0", "550.54.14")], &policy).unwrap();
    let own = &judgement.artefacts[0].members[0].verdicts[0];
    assert_eq!(own.verdict, Verdict::Partial);
    assert!(own.reasons.iter().any(|reason| reason.error == Some(223)), "{:?}", own.reasons);
}

#[test]
fn specialised_modules_are_reported_beside_and_not_held_against_a_file() {
    let general = || vec![sass("80"), sass("90"), sass("100")];
    let elf = library(&[general(), vec![sass("90")], vec![sass("90a")], vec![sass("100f"), sass("103a")]]);
    for (cc, specialised_ok) in [("8.0", 0), ("9.0", 2), ("10.0", 1), ("10.3", 1)] {
        let own = verdict(&elf, device(cc));
        assert_eq!((own.verdict, own.modules), (Verdict::Native, 1), "{cc}");
        assert_eq!((own.specialised_ok, own.specialised), (specialised_ok, 3), "{cc}");
    }
}

#[test]
fn files_of_specialised_modules_only_are_split_by_architecture() {
    let many = |arch: &str, count: usize| (0..count).map(|_| vec![sass(arch)]).collect::<Vec<_>>();
    // two groups of like size: the library holds code for either device
    let elf = library(&[many("80", 4), many("90", 3)].concat());
    for cc in ["8.0", "9.0"] {
        let own = verdict(&elf, device(cc));
        assert_eq!((own.verdict, codes(&own)), (Verdict::Native, vec![ReasonCode::ArchSplit]), "{cc}");
    }
    // a single one among fifty is a leftover: partial
    let elf = library(&[many("80", 50), many("90a", 1)].concat());
    let own = verdict(&elf, device("9.0"));
    assert_eq!((own.verdict, own.modules_ok, own.modules), (Verdict::Partial, 1, 51));
    // none usable
    assert_eq!(verdict(&elf, device("12.0")).verdict, Verdict::NotCovered);
    // all usable
    assert_eq!(verdict(&library(&many("80", 5)), device("8.6")).verdict, Verdict::Native);
}

#[test]
fn a_known_dispatcher_needs_one_native_module() {
    let elf = library(&[vec![sass("80"), sass("90")], vec![sass("90")], vec![sass("75"), sass("80")]]);
    let own = |path: &str, cc: &str| {
        let judgement = judged(vec![member(path, &elf.bytes())], device(cc));
        judgement.artefacts[0].members[0].verdicts[0].clone()
    };
    let verdict = own("lib/libcublasLt.so.12", "7.5");
    assert_eq!((verdict.verdict, verdict.modules_ok, verdict.modules), (Verdict::Native, 1, 3));
    assert_eq!(codes(&verdict), [ReasonCode::Dispatching]);
    // by another name one of two general modules is for newer GPUs: a limit
    let other = own("lib/libother.so.12", "7.5");
    assert_eq!((other.verdict, other.modules_ok, other.modules), (Verdict::Native, 1, 2));
    assert_eq!(other.limits.iter().map(|limit| limit.kind.name()).collect::<Vec<_>>(), ["specialised", "newer"]);
    assert_eq!(own("lib/libcublasLt.so.12", "12.0").verdict, Verdict::NotCovered);
}

#[test]
fn modules_without_kernels_do_not_count() {
    let stub = |arch: &str| Entry::sass(arch, Cubin::abi7(arch).without_functions().bytes());
    let elf = library(&[vec![sass("80"), sass("90")], vec![stub("52")], vec![stub("52"), stub("60")]]);
    let judgement = judged(vec![member("x.so", &elf.bytes())], device("9.0"));
    let own = &judgement.artefacts[0].members[0];
    assert_eq!((own.verdicts[0].verdict, own.verdicts[0].modules), (Verdict::Native, 1));
    assert_eq!(own.not_counted.stub, 2);
    // an entry point in any image makes the module count: it does not run on 9.0
    let half = vec![stub("60"), sass("52")];
    assert_eq!(verdict(&library(&[vec![sass("80"), sass("90")], half]), device("9.0")).verdict, Verdict::Partial);
    // nothing but stubs
    let own = verdict(&library(&[vec![stub("52")]]), device("9.0"));
    assert_eq!((own.verdict, codes(&own)), (Verdict::NoDeviceCode, vec![ReasonCode::StubsOnly]));
}

#[test]
fn stubs_are_found_behind_compression_and_in_ptx() {
    let empty = testkit::ptx_text("8.0", "sm_52", "k").replace(".entry", ".func");
    for codec in [Codec::None, Codec::Lz4, Codec::Zstd, Codec::Zlib] {
        let stub = Entry::sass("52", Cubin::abi7("52").without_functions().bytes()).compressed(codec);
        let text = Entry::ptx("52", (8, 0), &empty).compressed(codec);
        let elf = library(&[vec![sass("80"), sass("90")], vec![stub, text]]);
        assert_eq!(verdict(&elf, device("9.0")).verdict, Verdict::Native, "{codec:?}");
    }
}

#[test]
fn nothing_that_counts_has_the_first_reason_that_fits() {
    let relocatable = fatbin(&[Entry::sass("90", Cubin::abi7("90").relocatable().bytes())]);
    let elf = Elf::shared().section("__nv_relfatbin", &relocatable);
    let own = verdict(&elf, device("9.0"));
    assert_eq!((own.verdict, codes(&own)), (Verdict::NoDeviceCode, vec![ReasonCode::RelocatableOnly]));
    let elf = library(&[vec![Entry::lto("90", vec![0xed, 0x43, 0x4e, 0x7f, 1, 0x43])]]);
    let own = verdict(&elf, device("9.0"));
    assert_eq!((own.verdict, codes(&own)), (Verdict::NoDeviceCode, vec![ReasonCode::LtoOnly]));
    let hip = member("hip_fatbin.so", &testkit::truth::bytes("hip_fatbin.so"));
    let judgement = judged(vec![hip], device("9.0"));
    assert_eq!(judgement.artefacts[0].verdicts[0].verdict.reasons[0].code, ReasonCode::OtherVendor);
    let judgement = judged(Vec::new(), device("9.0"));
    assert_eq!(judgement.artefacts[0].verdicts[0].verdict.verdict, Verdict::NoDeviceCode);
    assert_eq!(judgement.artefacts[0].verdicts[0].verdict.reasons[0].code, ReasonCode::None_);
}

#[test]
fn lto_ir_beside_code_changes_nothing() {
    let lto = || Entry::lto("120", vec![0xed, 0x43, 0x4e, 0x7f, 1, 0x43]);
    let elf = library(&[vec![sass("80"), sass("90"), lto()], vec![lto()]]);
    let judgement = judged(vec![member("x.so", &elf.bytes())], device("9.0"));
    let own = &judgement.artefacts[0].members[0];
    assert_eq!((own.verdicts[0].verdict, own.not_counted.lto), (Verdict::Native, 1));
    assert_eq!(verdict(&elf, device("12.0")).verdict, Verdict::NotCovered);
}

#[test]
fn zstd_needs_a_driver_for_cuda_12_4() {
    let elf = library(&[vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)]]);
    let own = verdict(&elf, with_driver("9.0", "535.183.01"));
    assert_eq!(own.verdict, Verdict::DriverTooOld);
    assert_eq!((own.modules_ok, own.modules_fit), (0, 1));
    assert_eq!(codes(&own), [ReasonCode::Zstd]);
    assert_eq!(own.reasons[0].error, Some(200));
    assert_eq!(own.needs_driver, Some(DriverVersion::of_branch(550)));
    assert_eq!(verdict(&elf, with_driver("9.0", "550.54.14")).verdict, Verdict::Native);
    // the uncompressed image of the same module is what an old driver takes
    let elf = library(&[vec![packed("80", Codec::Zstd), sass("86")]]);
    assert_eq!(verdict(&elf, with_driver("8.6", "535.183.01")).verdict, Verdict::Native);
    // with an unknown driver it is a condition
    let elf = library(&[vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)]]);
    let own = verdict(&elf, device("9.0"));
    assert_eq!((own.verdict, codes(&own)), (Verdict::Native, vec![ReasonCode::Zstd]));
}

#[test]
fn the_runtime_of_the_dependency_table_asks_for_a_driver() {
    // release notes, table 2: 11.x 450.80.02, 12.x 525.60.13, 13.x 580.65.06
    let modules = [vec![sass("80"), sass("90")]];
    for (library_name, old, new, needs) in [
        ("libcudart.so.11.0", "418.87", "450.80.02", (450, 80, 2)),
        ("libcudart.so.12", "520.61.05", "525.60.13", (525, 60, 13)),
        ("libcudart-d0da41ae.so.12", "520.61.05", "525.60.13", (525, 60, 13)),
        ("libcudart.so.13", "575.51.03", "580.65.06", (580, 65, 6)),
    ] {
        let elf = library(&modules).needs("libc.so.6").needs(library_name);
        let cc = "8.0";
        let own = verdict(&elf, with_driver(cc, old));
        // 418 does not know sm_80 at all; every other old driver knows it
        let headline = if old == "418.87" { ReasonCode::DriverUnknownDevice } else { ReasonCode::RuntimeMajor };
        assert_eq!((own.verdict, own.reasons[0].code), (Verdict::DriverTooOld, headline), "{library_name}");
        assert!(codes(&own).contains(&ReasonCode::RuntimeMajor));
        assert_eq!(own.needs_driver, Some(DriverVersion::of_three(needs.0, needs.1, needs.2)), "{library_name}");
        assert_eq!(verdict(&elf, with_driver(cc, new)).verdict, Verdict::Native, "{library_name}");
    }
    // the name alone, in a string that no table points at, is no dependency
    let elf = library(&modules).section(".rodata", b"\0libcudart.so.13\0");
    assert_eq!(verdict(&elf, with_driver("8.0", "525.60.13")).verdict, Verdict::Native);
}

#[test]
fn imports_of_a_dll_are_read_and_spelled_as_nvidia_spells_them() {
    let code = fatbin(&[
        sass("80").flags(flag::BITS64 | flag::WINDOWS | flag::LZ4),
        sass("90").flags(flag::BITS64 | flag::WINDOWS | flag::LZ4),
    ]);
    for (name, major) in
        [("cudart64_110.dll", 11), ("cudart64_12.dll", 12), ("cudart64_13.dll", 13), ("cudart64_101.dll", 10)]
    {
        for delayed in [false, true] {
            let dll = Pe::dll().section(".nv_fatb", &code);
            let dll = if delayed { dll.delay_imports(name) } else { dll.imports(name) };
            assert_eq!(member("x.dll", &dll.bytes()).runtime, Some(major), "{name} {delayed}");
        }
    }
    assert_eq!(member("x.dll", &Pe::dll().section(".nv_fatb", &code).bytes()).runtime, None);
}

#[test]
fn a_static_runtime_shows_in_the_cubins() {
    // ABI 8 below sm_100 is written by CUDA 13 only
    let abi8 = |arch: &str| Entry::sass(arch, Cubin::new(arch).bytes()).isa(1, 8);
    let own = verdict(&library(&[vec![abi8("80"), abi8("90")]]), with_driver("9.0", "550.54.14"));
    assert_eq!(own.verdict, Verdict::DriverTooOld);
    assert_eq!(own.reasons[0].code, ReasonCode::RuntimeMajor);
    assert!(codes(&own).contains(&ReasonCode::CubinAbi));
    // ABI 7 notes its toolkit: 12.4 needs a driver for 12.x
    let elf = library(&[vec![packed("80", Codec::None), packed("86", Codec::None)]]);
    let own = verdict(&elf, with_driver("8.6", "515.43.04"));
    assert_eq!((own.verdict, own.reasons[0].code), (Verdict::DriverTooOld, ReasonCode::RuntimeMajor));
    // compressed, nothing notes it, and nothing is asked
    let own = verdict(&library(&[vec![sass("80"), sass("86")]]), with_driver("8.6", "515.43.04"));
    assert_eq!(own.verdict, Verdict::Native);
}

#[test]
fn ptx_newer_than_the_driver_is_error_222() {
    let elf = library(&[vec![sass("75"), ptx("80", (8, 7))]]);
    let own = verdict(&elf, device("9.0").with_driver(Driver::of_cuda(CudaVersion::new(12, 4))));
    assert_eq!((own.verdict, codes(&own)[0]), (Verdict::DriverTooOld, ReasonCode::PtxIsa));
    assert_eq!(own.reasons[0].error, Some(222));
    let own = verdict(&elf, device("9.0").with_driver(Driver::of_cuda(CudaVersion::new(12, 8))));
    assert_eq!(own.verdict, Verdict::Jit);
}

#[test]
fn the_worst_file_with_general_modules_decides_over_an_artefact() {
    let good = || member("a/good.so", &library(&[vec![sass("80"), sass("90")]]).bytes());
    let jit = || member("a/jit.so", &library(&[vec![sass("70"), sass("75"), ptx("80", (8, 0))]]).bytes());
    let only_a = || member("a/fa3.so", &library(&[vec![sass("90a")], vec![sass("90a")]]).bytes());
    let whole =
        |members: Vec<Member>, cc: &str| judged(members, with_driver(cc, "550.54.14")).artefacts[0].verdicts[0].clone();
    assert_eq!(whole(vec![good()], "9.0").verdict.verdict, Verdict::Native);
    let own = whole(vec![good(), jit()], "9.0");
    assert_eq!((own.verdict.verdict, own.decided_by), (Verdict::Jit, vec![1]));
    // a file that is for one architecture only is reported beside, and decides where nothing else does
    let own = whole(vec![good(), only_a()], "8.0");
    assert_eq!((own.verdict.verdict, own.decided_by), (Verdict::Native, vec![0]));
    assert_eq!(whole(vec![only_a()], "8.0").verdict.verdict, Verdict::NotCovered);
    assert_eq!(whole(vec![only_a()], "9.0").verdict.verdict, Verdict::Native);
}

#[test]
fn alternatives_count_as_the_best_of_them() {
    let old = library(&[vec![sass("70"), sass("80")]]).bytes();
    let new = library(&[vec![sass("90"), sass("100")]]).bytes();
    let paths = [["p/libx_cuda118.so", "p/libx_cuda128.so"], ["p/sm80/ops.so", "p/sm100/ops.so"]];
    for [first, second] in paths {
        let members = || vec![member(first, &old), member(second, &new)];
        for cc in ["8.0", "10.0"] {
            let judgement = judged(members(), device(cc));
            assert_eq!(judgement.artefacts[0].verdicts[0].verdict.verdict, Verdict::Native, "{first} {cc}");
            assert_eq!(judgement.artefacts[0].alternatives.len(), 1);
        }
        assert_eq!(judged(members(), device("12.0")).artefacts[0].verdicts[0].verdict.verdict, Verdict::NotCovered);
        let policy = Policy { alternatives: false, ..Policy::default() };
        let judgement = judge(&report(members()), &[device("8.0")], &policy).unwrap();
        // the one for newer GPUs is a feature of theirs
        assert_eq!(judgement.artefacts[0].verdicts[0].verdict.verdict, Verdict::Native);
        assert_eq!(judgement.artefacts[0].verdicts[0].optional, [1]);
        let judgement = judge(&report(members()), &[device("10.0")], &policy).unwrap();
        let own = &judgement.artefacts[0].verdicts[0];
        assert_eq!((own.verdict.verdict, &own.decided_by), (Verdict::Partial, &vec![0]));
    }
    // one of a kind is no alternative
    let judgement = judged(vec![member("p/libx_cuda118.so", &old)], device("10.0"));
    assert!(judgement.artefacts[0].alternatives.is_empty());
}

#[test]
fn orin_takes_desktop_code_with_a_driver_for_cuda_13_2_only() {
    let elf = library(&[vec![sass("80"), sass("90")]]);
    let cuda = |major, minor| device("8.7").with_driver(Driver::of_cuda(CudaVersion::new(major, minor)));
    assert_eq!(verdict(&elf, cuda(12, 6)).verdict, Verdict::NotCovered);
    assert_eq!(verdict(&elf, cuda(13, 2)).verdict, Verdict::Native);
    assert_eq!(verdict(&elf, device("8.7")).verdict, Verdict::NotCovered);
}

#[test]
fn code_that_a_driver_branch_dropped_is_not_covered() {
    // 580 is the last branch for Volta
    let elf = library(&[vec![sass("70"), sass("80")]]);
    assert_eq!(verdict(&elf, with_driver("7.0", "580.65.06")).verdict, Verdict::Native);
    let own = verdict(&elf, with_driver("7.0", "590.44"));
    assert_eq!((own.verdict, own.reasons[0].code), (Verdict::NotCovered, ReasonCode::DriverDroppedDevice));
}

#[test]
fn code_for_32_bit_processes_does_not_count_for_a_device() {
    let entry = |arch: &str| sass(arch).flags(flag::LINUX | flag::LZ4);
    let own = verdict(&library(&[vec![entry("80"), entry("90")]]), device("9.0"));
    assert_eq!(own.verdict, Verdict::NotCovered);
}

#[test]
fn the_same_is_judged_for_a_slice_and_for_a_stream_and_by_any_number_of_threads() {
    let elf = library(&[vec![sass("80"), sass("90")], vec![sass("90a")]]).needs("libcudart.so.12");
    let bytes = elf.bytes();
    let options = Options::for_judging();
    let packed = testkit::compress::deflate(&bytes);
    let input = fatscan_containers::SliceStream::new(&packed);
    let mut stream = fatscan_containers::Inflater::new(input, bytes.len() as u64, None, true);
    let mut streamed = fatscan::scan_stream("x.so", &mut stream, &options);
    let devices = [device("9.0"), with_driver("8.0", "470.57.02")];
    let policy = Policy::default();
    let one = judge(&report(vec![member("x.so", &bytes)]), &devices, &policy).unwrap();
    let two = judge(&report(streamed.artefacts.remove(0).members), &devices, &policy).unwrap();
    assert_eq!(one, two);
}

#[test]
fn a_newer_driver_never_makes_a_file_worse() {
    let abi8 = |arch: &str| Entry::sass(arch, Cubin::new(arch).bytes()).isa(1, 8).compressed(Codec::Zstd);
    let files = [
        library(&[vec![sass("80"), sass("86"), ptx("86", (7, 8))], vec![sass("80"), ptx("80", (8, 4))]]),
        library(&[vec![abi8("80"), abi8("90"), abi8("100"), ptx("90", (9, 0))]]).needs("libcudart.so.13"),
        library(&[vec![packed("75", Codec::Zstd), sass("80")], vec![sass("90a")]]).needs("libcudart.so.12"),
        library(&[vec![sass("80")], vec![sass("90")], vec![sass("90")]]),
    ];
    let drivers =
        ["450.80.02", "470.57.02", "525.60.13", "535.183.01", "550.54.14", "570.86.10", "580.65.06", "595.45.04"];
    for (number, file) in files.iter().enumerate() {
        for cc in ["7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"] {
            let verdicts: Vec<Verdict> =
                drivers.iter().map(|driver| verdict(file, with_driver(cc, driver)).verdict).collect();
            assert!(verdicts.is_sorted_by(|old, new| new <= old), "file {number} on {cc}: {verdicts:?}");
        }
    }
}

#[test]
fn a_file_of_another_host_runs_nowhere_there() {
    let elf = library(&[vec![sass("80"), sass("87")]]).bytes();
    let orin = Device { host: Some("aarch64".parse().unwrap()), ..device("8.7") };
    let own = judged(vec![member("x.so", &elf)], orin.clone()).artefacts.remove(0).verdicts.remove(0);
    assert_eq!((own.verdict.verdict, codes(&own.verdict)), (Verdict::NotCovered, vec![ReasonCode::HostMismatch]));
    // a number asks nothing of the host
    assert_eq!(
        judged(vec![member("x.so", &elf)], device("8.7")).artefacts[0].verdicts[0].verdict.verdict,
        Verdict::Native
    );
    // bare code has no host
    let cubin = Cubin::abi7("87").bytes();
    assert_eq!(judged(vec![member("k.cubin", &cubin)], orin).artefacts[0].verdicts[0].verdict.verdict, Verdict::Native);
}

#[test]
fn labels_that_the_payload_refutes_do_not_pass() {
    let claims = |label: &str, payload: &str| Entry::sass(label, Cubin::abi7(payload).bytes()).isa(1, 7);
    // selection commits: the good image beside it does not help, and the label of the other one is never read
    let own = verdict(&library(&[vec![claims("90", "70"), ptx("80", (8, 0))]]), device("9.0"));
    assert_eq!((own.verdict, own.reasons[0].error), (Verdict::NotCovered, Some(300)));
    assert_eq!(own.reasons[0].code, ReasonCode::LabelMismatch);
    let own = verdict(&library(&[vec![claims("70", "90"), ptx("80", (8, 0))]]), device("9.0"));
    assert_eq!(own.verdict, Verdict::Jit);
    // behind compression too
    for codec in [Codec::Lz4, Codec::Zstd, Codec::Zlib, Codec::Lz4Frame] {
        let own = verdict(&library(&[vec![claims("90", "70").compressed(codec)]]), device("9.0"));
        assert_eq!((own.verdict, own.reasons[0].code), (Verdict::NotCovered, ReasonCode::LabelMismatch), "{codec:?}");
        let text = testkit::ptx_text("8.0", "sm_90a", "k");
        let own = verdict(&library(&[vec![Entry::ptx("90", (8, 0), &text).compressed(codec)]]), device("10.0"));
        assert_eq!((own.verdict, own.reasons[0].error), (Verdict::NotCovered, Some(218)), "{codec:?}");
    }
}

#[test]
fn relocatable_ptx_beside_linked_code_may_be_linked_anew() {
    let linked = fatbin(&[sass("80")]);
    let objects = fatbin(&[Entry::ptx("80", (8, 0), &testkit::ptx_text("8.0", "sm_80", "k"))]);
    let elf = Elf::shared().section(".nv_fatbin", &linked).section("__nv_relfatbin", &objects);
    assert_eq!(verdict(&elf, device("8.6")).verdict, Verdict::Native);
    let own = verdict(&elf, device("12.0"));
    assert_eq!((own.verdict, codes(&own)), (Verdict::Unknown, vec![ReasonCode::MayRelink]));
    // PTX for newer GPUs only does not fit either
    assert_eq!(verdict(&elf, device("7.5")).verdict, Verdict::NotCovered);
}

/// Modules that load on 9.0, and others.
fn mixed(loads: usize, others: &[(&[&str], usize)]) -> Elf {
    let module = |archs: &[&str]| archs.iter().map(|arch| sass(arch)).collect::<Vec<_>>();
    let mut modules = vec![module(&["80", "90"]); loads];
    for (archs, number) in others {
        modules.extend(vec![module(archs); *number]);
    }
    library(&modules)
}

#[test]
fn the_thresholds_of_what_may_be_missing() {
    const OLDER: &[&str] = &["75", "80"];
    const NEWER: &[&str] = &["100", "120"];
    const GAP: &[&str] = &["80", "100"];
    let on = |elf: &Elf| verdict(elf, device("9.0"));
    // a quarter of the general modules may be older or in a gap, together
    for others in [&[(OLDER, 2)][..], &[(GAP, 2)], &[(OLDER, 1), (GAP, 1)]] {
        assert_eq!(on(&mixed(6, others)).verdict, Verdict::Native, "{others:?}");
        assert_eq!(on(&mixed(5, others)).verdict, Verdict::Partial, "{others:?}");
    }
    // a half may be newer
    assert_eq!(on(&mixed(4, &[(NEWER, 4)])).verdict, Verdict::Native);
    assert_eq!(on(&mixed(4, &[(NEWER, 5)])).verdict, Verdict::Partial);
    let own = on(&mixed(8, &[(NEWER, 3), (OLDER, 2), (GAP, 1)]));
    let limits: Vec<(&str, usize, usize)> =
        own.limits.iter().map(|limit| (limit.kind.name(), limit.count, limit.of)).collect();
    assert_eq!(limits, [("newer", 3, 14), ("older", 2, 14), ("gap", 1, 14)]);
    assert_eq!(own.limits[0].text, "3 of 14 modules are for 10.0 and newer");
    assert_eq!(own.limits[1].text, "2 of 14 modules are for 8.0 and older");
    assert_eq!(own.limits[2].text, "1 of 14 modules holds code for other GPUs (`sm_80 100`) and none for 9.0");
    // specialised modules for older GPUs, more than half of all, and none for this one
    assert_eq!(on(&mixed(2, &[(&["70"], 3)])).verdict, Verdict::Partial);
    assert_eq!(on(&mixed(3, &[(&["70"], 3)])).verdict, Verdict::Native);
    assert_eq!(on(&mixed(2, &[(&["70"], 3), (&["90"], 1)])).verdict, Verdict::Native);
    assert_eq!(on(&mixed(2, &[(&["100a"], 3)])).verdict, Verdict::Native);
    // of specialised modules only, one in fifty must be for this GPU
    assert_eq!(on(&mixed(0, &[(&["100"], 49), (&["90"], 1)])).verdict, Verdict::Native);
    assert_eq!(on(&mixed(0, &[(&["100"], 50), (&["90"], 1)])).verdict, Verdict::Partial);
}

#[test]
fn a_file_is_native_where_nine_tenths_of_what_loads_is() {
    let library = |native: usize, jit: usize| {
        let compiled = || vec![sass("75"), ptx("80", (8, 0))];
        library(&[vec![vec![sass("80"), sass("90")]; native], vec![compiled(); jit]].concat())
    };
    let own = verdict(&library(9, 1), device("9.0"));
    assert_eq!((own.verdict, own.compiled), (Verdict::Native, 1));
    let own = verdict(&library(8, 1), device("9.0"));
    assert_eq!((own.verdict, own.compiled), (Verdict::Jit, 1));
}

#[test]
fn files_that_fail_are_named_and_features_of_other_gpus_are_none() {
    let file =
        |path: &str, archs: &[&str]| member(path, &library(&[archs.iter().map(|arch| sass(arch)).collect()]).bytes());
    let whole = |members: Vec<Member>| judged(members, device("9.0")).artefacts[0].verdicts[0].clone();
    let good = || file("a.so", &["80", "90"]);
    // for newer GPUs, and for exact targets
    let own = whole(vec![good(), file("b.so", &["100", "120"]), file("c.so", &["80a"]), file("d.so", &["100a"])]);
    assert_eq!((own.verdict.verdict, own.optional, own.parts), (Verdict::Native, vec![1, 2, 3], 1));
    // plain code for older GPUs is in the way
    let own = whole(vec![good(), file("b.so", &["70", "75"])]);
    assert_eq!((own.verdict.verdict, own.decided_by), (Verdict::Partial, vec![1]));
    assert_eq!((own.parts, own.parts_ok), (2, 1));
    // where nothing else loads a feature is no feature
    assert_eq!(whole(vec![file("b.so", &["100", "120"])]).verdict.verdict, Verdict::NotCovered);
    // what measures programs decides nothing
    assert_eq!(whole(vec![good(), file("lib/libcupti.so.13", &["70", "75"])]).verdict.verdict, Verdict::Native);
    assert_eq!(whole(vec![file("lib/libcupti.so.13", &["70", "75"])]).verdict.verdict, Verdict::NoDeviceCode);
}

#[test]
fn loose_cubins_are_the_modules_of_one_program() {
    let cubin = |path: &str, arch: &str| member(path, &Cubin::abi7(arch).bytes());
    let files = |path: &str, arch: &str, count: usize| {
        (0..count).map(|index| cubin(&format!("{path}{index}.cubin"), arch)).collect::<Vec<_>>()
    };
    let both = || [files("a", "80", 4), files("b", "90", 3)].concat();
    let own = judged(both(), device("9.0")).artefacts.remove(0);
    assert_eq!(own.verdicts[0].verdict.verdict, Verdict::Native);
    let loose = own.loose.unwrap();
    assert_eq!((loose.members.len(), loose.verdicts[0].modules_ok, loose.verdicts[0].modules), (7, 3, 7));
    // fewer than one in fifty
    let own = judged([files("a", "80", 60), files("b", "90", 1)].concat(), device("9.0")).artefacts.remove(0);
    assert_eq!(own.verdicts[0].verdict.verdict, Verdict::Partial);
    assert_eq!(judged(both(), device("12.0")).artefacts[0].verdicts[0].verdict.verdict, Verdict::NotCovered);
}

/// Kernels of so many bytes in images of one module, for 8.0 and for 9.0.
fn sized(kernels: &[(usize, usize)]) -> Vec<Entry> {
    let cubin = |arch: &str, sizes: &mut dyn Iterator<Item = usize>| {
        let function = |(index, size)| Function {
            name: format!("k{index}"),
            entry: true,
            binding: 1,
            size,
            registers: 8,
            shared: 0,
        };
        let cubin = sizes.enumerate().map(function).fold(Cubin::abi7(arch).without_functions(), Cubin::function);
        Entry::sass(arch, cubin.bytes())
    };
    vec![cubin("80", &mut kernels.iter().map(|sizes| sizes.0)), cubin("90", &mut kernels.iter().map(|sizes| sizes.1))]
}

/// A stub has at most 256 bytes and a quarter of the largest copy; more than half of the kernels are a limit, nine tenths of
/// them decide (docs/VERDICTS.md).
#[test]
fn the_thresholds_of_empty_kernels() {
    let limits = |modules: &[Vec<Entry>]| {
        let options = Options::for_judging().with_kernels(KernelDepth::Names);
        let report = fatscan::scan_bytes("x.so", &library(modules).bytes(), &options);
        let judgement = judge(&report, &[Device::of("8.0".parse().unwrap())], &Policy::default()).unwrap();
        let own = &judgement.artefacts[0].members[0].verdicts[0];
        let limit = own.limits.iter().find(|limit| limit.kind == LimitKind::EmptyKernels);
        (limit.map(|limit| (limit.count, limit.of)), own.verdict)
    };
    let (empty, full) = ((128, 4096), (4096, 4096));
    for (kernels, expected) in [
        // a quarter of the largest, and a little more than a quarter
        (vec![(256, 1024)], Some((1, 1))),
        (vec![(256, 1023)], None),
        // 256 bytes, and 257
        (vec![(257, 40_960)], None),
        // half of them, and more than half
        (vec![empty, full], None),
        (vec![empty, empty, full], Some((2, 3))),
        (vec![empty, empty, full, full], None),
    ] {
        assert_eq!(limits(&[sized(&kernels)]).0, expected, "{kernels:?}");
    }
    let share = |empties: usize, all: usize| {
        let kernels: Vec<(usize, usize)> = (0..all).map(|at| if at < empties { empty } else { full }).collect();
        limits(&[sized(&kernels)]).1
    };
    assert_eq!(share(9, 10), Verdict::Partial);
    assert_eq!(share(17, 19), Verdict::Native);
}

/// Kernels are read where what loads is at most a quarter of the largest image beside it in at least half of the modules.
#[test]
fn where_what_loads_is_small_kernels_are_wanted() {
    let wants = |modules: &[Vec<Entry>]| {
        let report = report(vec![member("x.so", &library(modules).bytes())]);
        let judgement = judge(&report, &[Device::of("8.0".parse().unwrap())], &Policy::default()).unwrap();
        wants_kernels(&report, &judgement)
    };
    let (small, like) = (sized(&[(128, 65_536)]), sized(&[(4096, 4096)]));
    assert_eq!(wants(core::slice::from_ref(&small)), [(0, 0)]);
    assert_eq!(wants(&[small.clone(), like.clone()]), [(0, 0)]);
    assert_eq!(wants(&[small, like.clone(), like.clone()]), []);
    assert_eq!(wants(&[like]), []);
}
