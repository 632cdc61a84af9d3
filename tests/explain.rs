//! `explain` and `arch` as they are called. Expected words follow from `docs/VERDICTS.md`, expected facts from NVIDIA's
//! published tables.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

mod program;

use std::collections::BTreeSet;

use fatscan::json::{Document, Verdict};
use program::{
    Folder, Run, finish, library, module, packed, program as command, ptx, run, run_into_closed_pipe, sass, wheel,
    write_wheel,
};
use testkit::Zip;
use testkit::fatbin::{Codec, Entry};

/// `fatscan explain` on a terminal of 80 columns.
fn explain(arguments: &[&str]) -> Run {
    let mut command = command();
    command.arg("explain").args(arguments).env("COLUMNS", "80");
    finish(command)
}

fn arch(arguments: &[&str]) -> Run {
    let mut command = command();
    command.arg("arch").args(arguments).env("COLUMNS", "80");
    finish(command)
}

fn document(arguments: &[&str]) -> Document {
    let run = explain(&[arguments, &["--format", "json"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.err);
    serde_json::from_str(&run.out).unwrap()
}

/// Nothing is wider than 80 columns but words that cannot be broken, and lines to be copied.
fn assert_80_columns(text: &str) {
    for line in text.lines().filter(|line| line.chars().count() > 80) {
        let words = line.trim_start();
        let is_copied = ["nvcc ", "CMake ", "torch ", "XLA ", "unset ", "pip ", "export "]
            .iter()
            .any(|label| words.starts_with(label));
        assert!(is_copied || !words.contains(' '), "{line}");
    }
}

/// A file, a GPU, a driver, the word that people read, the word that programs read.
struct Case {
    modules: Vec<Vec<Entry>>,
    gpu: &'static str,
    driver: &'static [&'static str],
    said: &'static str,
    word: &'static str,
}

fn cases() -> Vec<Case> {
    let both = || module(&["80", "90"]);
    let case = |modules, gpu, driver, said, word| Case { modules, gpu, driver, said, word };
    vec![
        case(vec![both()], "9.0", &[], "native", "native"),
        case(vec![vec![sass("75"), ptx("80", (8, 0))]], "9.0", &[], "JIT from PTX", "jit"),
        case(vec![both(), module(&["75", "80"])], "9.0", &[], "partial", "partial"),
        case(vec![module(&["75", "87"])], "8.9", &["--driver-cuda", "13.2"], "unknown", "unknown"),
        case(
            vec![vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)]],
            "9.0",
            &["--driver", "535.183.01"],
            "driver too old",
            "driver-too-old",
        ),
        case(vec![both()], "12.0", &[], "not covered", "not-covered"),
        case(vec![], "9.0", &[], "no device code", "no-device-code"),
    ]
}

#[test]
fn the_first_five_lines_tell_the_verdict_and_nothing_is_wider_than_the_terminal() {
    for case in cases() {
        let folder = Folder::new();
        let path = write_wheel(&folder, &case.modules);
        let arguments = [&[path.as_str(), "--gpu", case.gpu][..], case.driver].concat();
        let run = explain(&arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", case.word);
        let head: Vec<&str> = run.out.lines().take(5).collect();
        assert_eq!(head[0], path);
        assert!(head.iter().any(|line| line.starts_with(case.said)), "{}: {}", case.word, run.out);
        assert!(head.join(" ").contains(&format!("compute capability {}", case.gpu)), "{}", run.out);
        assert_80_columns(&run.out);
        assert!(!run.out.contains('\u{1b}'));
        let document = document(&arguments);
        assert_eq!(document.artefacts[0].verdicts.as_ref().unwrap()[0].verdict, case.word);
    }
}

#[test]
fn what_to_do_names_the_driver_or_the_flags() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let run = explain(&[&path, "--gpu", "RTX 5090"]);
    for words in [
        "error 209",
        "no kernel image is available",
        "another version of `pkg`",
        "-gencode arch=compute_120,code=sm_120",
        "CMAKE_CUDA_ARCHITECTURES=120",
        "TORCH_CUDA_ARCH_LIST=\"12.0",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let path = write_wheel(&folder, &[vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)]]);
    let run = explain(&[&path, "--gpu", "H100", "--driver", "535.183.01"]);
    assert!(run.out.contains("error 200") && run.out.contains("update the driver to 550"), "{}", run.out);
    // nothing is to be done where it runs
    assert!(!explain(&[&path, "--gpu", "H100"]).out.contains("what to do"));
}

#[test]
fn errors_are_recognised_by_number_name_and_real_sentences() {
    for (text, code) in [
        ("209", "209 (CUDA_ERROR_NO_BINARY_FOR_GPU"),
        ("222", "222 (CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("200", "200 (CUDA_ERROR_INVALID_IMAGE"),
        ("35", "35 (cudaErrorInsufficientDriver"),
        ("500", "500 (CUDA_ERROR_NOT_FOUND"),
        ("223", "223 (CUDA_ERROR_JIT_COMPILATION_DISABLED"),
        ("100", "100 (CUDA_ERROR_NO_DEVICE"),
        (" 209 ", "209 ("),
        ("error 209", "209 ("),
        ("CUDA error: 222", "222 ("),
        ("cudaErrorNoKernelImageForDevice", "209 ("),
        (
            "RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might \
             be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor \
             debugging consider passing CUDA_LAUNCH_BLOCKING=1",
            "209 (",
        ),
        (
            "ggml_cuda_compute_forward: RMS_NORM failed\nCUDA error: no kernel image is available for execution on the \
             device\n  current device: 0, in function ggml_cuda_compute_forward at ggml-cuda.cu:2366",
            "209 (",
        ),
        (
            "numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in \
             CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "222 (",
        ),
        ("CUDA error: the provided PTX was compiled with an unsupported toolchain.", "222 ("),
        ("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid", "200 ("),
        ("CUDA driver version is insufficient for CUDA runtime version", "35 ("),
        ("RuntimeError: CUDA error: named symbol not found", "500 ("),
        ("CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "100 ("),
        ("cuda error: PTX JIT COMPILATION WAS DISABLED", "223 ("),
    ] {
        let run = explain(&["--error", text]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{text}");
        assert!(run.out.starts_with(&format!("CUDA error {code}")), "{text}: {}", run.out);
        // names of errors stand on one line, as they are searched for
        let rest = run.out.split_once('\n').unwrap().1;
        assert_80_columns(rest);
        assert!(rest.lines().count() >= 2, "{text}");
    }
    for text in ["", "hello", "9999", "it does not work", "error 7", "2090"] {
        let run = explain(&["--error", text]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{text}");
        assert!(run.err.contains("no CUDA error is recognised") && run.err.contains("hint:"), "{text}: {}", run.err);
    }
}

#[test]
fn an_error_is_found_in_the_files_or_said_not_to_come_from_them() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    // a GPU says nothing about an error alone
    let alone = explain(&["--gpu", "12.0", "--error", "209"]);
    assert_eq!(alone.code, Some(2), "{}", alone.err);
    assert!(alone.err.contains("name it too"), "{}", alone.err);
    let run = explain(&[&path, "--gpu", "12.0", "--error", "209"]);
    assert!(run.out.contains("that is what happens here: nothing fits compute capability 12.0"), "{}", run.out);
    let run = explain(&[&path, "--gpu", "9.0", "--error", "209"]);
    assert!(run.out.replace("\n  ", " ").contains("nothing in these files gives this error"), "{}", run.out);
    let run = explain(&[&path, "--gpu", "12.0", "--error", "222"]);
    assert!(run.out.replace("\n  ", " ").contains("nothing in these files gives this error"), "{}", run.out);
    let path = write_wheel(&folder, &[vec![sass("75"), ptx("80", (8, 7))]]);
    let run = explain(&[&path, "--gpu", "9.0", "--driver-cuda", "12.4", "--error", "222"]);
    assert!(run.out.contains("that is what happens here"), "{}", run.out);
    let run = explain(&[&path, "--gpu", "12.0", "--error", "what is this"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
}

#[test]
fn gpus_that_are_unknown_or_ambiguous_are_refused_with_what_was_meant() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for (gpu, expected) in [
        ("RTX 4091", &["no device of that name is known", "RTX 4090"][..]),
        ("Quadro", &["several capabilities", "5.0 (Quadro K", "hint: name one, or all: --gpu 3.0,3.5,5.0"]),
        ("Blackwell", &["12.0 (RTX 50 series, RTX PRO)", "hint: name one, or all: --gpu 10.0,10.3,11.0,12.0,12.1\n"]),
        ("T4,Ampere", &["--gpu: `Ampere` stands for", "--gpu 8.0,8.6,8.7\n"]),
        ("sm_86a", &["there is no such architecture", "86"]),
        ("9.5", &["there is no such architecture"]),
        ("12", &["two digits"]),
        ("sm_90a", &["names code, not a device"]),
        ("", &["empty"]),
        ("8.9,RTX 4091", &["RTX 4091"]),
    ] {
        let run = explain(&[&path, "--gpu", gpu]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{gpu}");
        for word in expected {
            assert!(run.err.contains(word), "{gpu}: `{word}` is not in {}", run.err);
        }
    }
    for driver in [["--driver", "new"], ["--driver", "12.4"], ["--driver-cuda", "535"]] {
        let run = explain(&[&path, "--gpu", "9.0", driver[0], driver[1]]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{driver:?}");
        assert!(run.err.contains(driver[0]), "{}", run.err);
    }
    // none is named, and none is in this machine perhaps
    let run = explain(&[&path]);
    if run.code == Some(2) {
        assert!(run.err.contains("--gpu 8.9") && run.out.is_empty(), "{}{}", run.out, run.err);
    }
    assert_eq!(explain(&["--gpu", "8.9"]).code, Some(2), "neither a path nor an error");
}

#[test]
fn several_gpus_are_judged_one_by_one_in_the_order_given() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for arguments in [&["--gpu", "H100,12.0;sm_80"][..], &["--gpu", "H100", "--gpu", "12.0", "--gpu", "8.0"]] {
        let arguments = [&[path.as_str()][..], arguments].concat();
        let document = document(&arguments);
        let devices = document.devices.unwrap();
        let ids: Vec<&str> = devices.iter().map(|device| device.id.as_str()).collect();
        assert_eq!(ids, ["NVIDIA H100", "12.0", "8.0"]);
        let words: Vec<&str> =
            document.artefacts[0].verdicts.as_ref().unwrap().iter().map(|verdict| verdict.verdict.as_str()).collect();
        assert_eq!(words, ["native", "not-covered", "native"]);
        let run = explain(&arguments);
        assert_eq!(run.out.lines().filter(|line| *line == path).count(), 3, "{}", run.out);
        assert_eq!(run.out.matches("\nnot covered: ").count(), 1);
    }
    // a GPU that is named twice is one
    let document = document(&[&path, "--gpu", "8.0,sm_80"]);
    assert_eq!(document.devices.unwrap().len(), 1);
}

fn assert_verdict(verdict: &Verdict, devices: &BTreeSet<&str>, what: &str) {
    let words = ["native", "jit", "partial", "unknown", "driver-too-old", "not-covered", "no-device-code"];
    assert!(words.contains(&verdict.verdict.as_str()), "{what}: {verdict:?}");
    assert!(devices.contains(verdict.device.as_str()), "{what}: {verdict:?}");
    assert!(verdict.modules_ok <= verdict.modules && verdict.modules_fit <= verdict.modules, "{what}: {verdict:?}");
    assert!(verdict.specialised_ok <= verdict.specialised, "{what}: {verdict:?}");
    if ["not-covered", "partial", "driver-too-old", "unknown", "no-device-code"].contains(&verdict.verdict.as_str()) {
        assert!(!verdict.reasons.is_empty(), "{what}: {verdict:?}");
    }
    for reason in &verdict.reasons {
        let is_code = reason.code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(is_code && !reason.code.is_empty() && !reason.text.is_empty(), "{what}: {reason:?}");
        assert!(!reason.text.ends_with('.'), "{what}: {reason:?}");
    }
    for load in &verdict.loads {
        let prefix = if load.kind == "sass" { "sm_" } else { "compute_" };
        assert!(load.arch.starts_with(prefix) && load.count > 0, "{what}: {load:?}");
        assert_eq!(load.isa.is_some(), load.kind == "ptx", "{what}: {load:?}");
    }
}

#[test]
fn json_holds_the_contract_for_every_verdict() {
    for case in cases() {
        let folder = Folder::new();
        let path = write_wheel(&folder, &case.modules);
        let document = document(&[&[path.as_str(), "--gpu", case.gpu, "--gpu", "H100"][..], case.driver].concat());
        assert_eq!((document.schema, document.tool.name.as_str()), (1, "fatscan"));
        let devices = document.devices.as_ref().unwrap();
        let ids: BTreeSet<&str> = devices.iter().map(|device| device.id.as_str()).collect();
        assert_eq!(ids.len(), devices.len(), "ids are unique");
        assert_eq!(devices[0].cc, case.gpu);
        assert_eq!(devices[1].name.as_deref(), Some("NVIDIA H100"));
        assert!(document.findings.is_none() && document.summary.is_none());
        for artefact in &document.artefacts {
            let verdicts = artefact.verdicts.as_ref().unwrap();
            assert_eq!(verdicts.len(), devices.len());
            for verdict in verdicts.iter().chain(artefact.members.iter().flat_map(|m| m.verdicts.as_ref().unwrap())) {
                assert_verdict(verdict, &ids, case.word);
            }
            assert!(artefact.alternatives.is_some());
        }
        // text in, text out: the same document again
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
    }
}

#[test]
fn the_headline_names_what_fails_apart_from_what_is_not_certain() {
    const OBFUSCATED: u64 = 0x1_0000;
    let folder = Folder::new();
    // for older GPUs; one for newer ones would be an addition for those
    let fails = library(&[module(&["70"])]);
    let runs = library(&[module(&["80"])]);
    let doubtful = library(&[vec![ptx("80", (8, 0)).flag(OBFUSCATED)]]);
    let line = |members: &[(&str, &Vec<u8>)]| {
        let members: Vec<(&str, Vec<u8>)> = members.iter().map(|(name, bytes)| (*name, (*bytes).clone())).collect();
        let run = explain(&[&folder.write("x-1.0-py3-none-any.whl", wheel(&members)), "--gpu", "8.0"]);
        run.out.lines().skip(2).take_while(|line| !line.starts_with("  ")).collect::<Vec<_>>().join(" ")
    };
    let (a, b, c) = ("a/x.so", "b/x.so", "c/y.so");
    assert_eq!(
        line(&[(a, &fails), (b, &runs), (c, &doubtful)]),
        "partial: 1 of 3 libraries does not run in full on this GPU: `a/x.so`; whether `y.so` runs in full is not certain"
    );
    assert_eq!(
        line(&[(a, &runs), (c, &doubtful)]),
        "partial: whether 1 of 2 libraries runs in full is not certain: `y.so`"
    );
    assert_eq!(
        line(&[(a, &fails), (b, &fails), (c, &runs)]),
        "partial: 2 of 3 libraries do not run in full on this GPU: `a/x.so`, `b/x.so`"
    );
}

#[test]
fn the_processor_beside_a_device_is_told_where_its_name_implies_it() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["90"])]);
    let host = |gpu: &str| document(&[&path, "--gpu", gpu]).devices.unwrap()[0].host.clone();
    assert_eq!(host("GH200").as_deref(), Some("aarch64"));
    assert_eq!(host("Jetson Thor").as_deref(), Some("aarch64"));
    assert_eq!((host("H100"), host("9.0")), (None, None));
}

#[test]
fn alternatives_are_one_or_many() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/libx_cuda118.so", library(&[module(&["70", "80"])])),
            ("x/libx_cuda128.so", library(&[module(&["90", "100"])])),
        ]),
    );
    let own = document(&[&path, "--gpu", "10.0"]);
    assert_eq!(own.artefacts[0].verdicts.as_ref().unwrap()[0].verdict, "native");
    let group = &own.artefacts[0].alternatives.as_ref().unwrap()[0];
    assert_eq!((group.name.as_str(), group.choices.len()), ("x/libx_cuda*.so", 2));
    assert_eq!(group.best["10.0"], "x/libx_cuda128.so");
    let own = document(&[&path, "--gpu", "10.0", "--no-alternatives"]);
    let whole = &own.artefacts[0].verdicts.as_ref().unwrap()[0];
    assert_eq!((whole.verdict.as_str(), &whole.decided_by[..]), ("partial", &["x/libx_cuda118.so".to_owned()][..]));
    assert!(own.artefacts[0].alternatives.as_ref().unwrap().is_empty());
}

#[test]
fn variables_of_the_environment_are_obeyed_and_said() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[vec![sass("80"), sass("90"), ptx("80", (8, 0))]]);
    let with = |path: &str, name: &str, value: &str| {
        let mut command = command();
        command.args(["explain", path, "--gpu", "9.0", "--format", "json"]).env(name, value);
        let document: Document = serde_json::from_str(&finish(command).out).unwrap();
        document.artefacts[0].verdicts.as_ref().unwrap()[0].clone()
    };
    assert_eq!(with(&path, "UNUSED", "1").verdict, "native");
    let forced = with(&path, "CUDA_FORCE_PTX_JIT", "1");
    assert_eq!((forced.verdict.as_str(), forced.loads[0].arch.as_str()), ("jit", "compute_80"));
    assert_eq!(with(&path, "CUDA_DISABLE_PTX_JIT", "1").verdict, "native");
    for off in ["", "0"] {
        assert_eq!(with(&path, "CUDA_FORCE_PTX_JIT", off).verdict, "native", "`{off}`");
    }
    let only_ptx = write_wheel(&folder, &[vec![sass("75"), ptx("80", (8, 0))]]);
    let disabled = with(&only_ptx, "CUDA_DISABLE_PTX_JIT", "1");
    assert_eq!((disabled.verdict.as_str(), disabled.reasons[0].error), ("not-covered", Some(223)));
    let mut command = command();
    command.args(["explain", &only_ptx, "--gpu", "9.0"]).env("CUDA_DISABLE_PTX_JIT", "1").env("COLUMNS", "80");
    let run = finish(command);
    assert!(run.out.contains("CUDA_DISABLE_PTX_JIT") && run.out.contains("unset "), "{}", run.out);
    assert_80_columns(&run.out);
}

#[test]
fn exit_codes_are_of_the_reading_and_not_of_the_verdict() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let cut = folder.write("cut.whl", Zip::new().central(testkit::zip::Central::Missing).bytes());
    let missing = folder.file("missing").to_str().unwrap().to_owned();
    for format in ["text", "json"] {
        let code = |paths: &[&str]| explain(&[paths, &["--gpu", "12.0", "--format", format]].concat()).code;
        assert_eq!(code(&[&path]), Some(0));
        assert_eq!(code(&[&path, &missing]), Some(1));
        assert_eq!(code(&[&missing]), Some(2));
        assert_eq!(code(&[&path, &cut]), Some(1));
    }
    let mut closed = command();
    closed.args(["explain", &path, "--gpu", "12.0"]);
    let run = run_into_closed_pipe(closed);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

#[test]
fn colour_is_for_terminals_and_those_who_force_it() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for arguments in [&["explain", path.as_str(), "--gpu", "9.0"][..], &["arch", "9.0"], &["explain", "--error", "209"]]
    {
        let with = |names: &[&str], more: &[&str]| {
            let mut command = command();
            command.args(arguments).args(more);
            for name in names {
                command.env(name, "1");
            }
            finish(command).out.contains('\u{1b}')
        };
        assert!(!with(&[], &[]), "{arguments:?}");
        assert!(with(&["CLICOLOR_FORCE"], &[]), "{arguments:?}");
        assert!(!with(&["NO_COLOR"], &[]), "{arguments:?}");
        if arguments[1] != "--error" {
            assert!(!with(&["CLICOLOR_FORCE"], &["--no-color"]), "{arguments:?}");
        }
    }
}

#[test]
fn names_from_files_are_shown_and_not_obeyed() {
    let folder = Folder::new();
    let path =
        folder.write("x-1.0-py3-none-any.whl", wheel(&[("x/\u{1b}[2J\nnative.so", library(&[module(&["80", "90"])]))]));
    let run = explain(&[&path, "--gpu", "12.0"]);
    assert!(run.out.contains("\\u{1b}") && !run.out.contains('\u{1b}'), "{}", run.out);
    assert!(!run.out.lines().any(|line| line.starts_with("native")), "{}", run.out);
}

// --- arch

#[test]
fn products_have_the_capability_that_nvidia_lists() {
    for (name, capability, code) in [
        ("RTX 4060 Ti", "8.9", "sm_89"),
        ("GeForce RTX 4060 Ti", "8.9", "sm_89"),
        ("rtx4060ti", "8.9", "sm_89"),
        ("RTX 5090", "12.0", "sm_120"),
        ("RTX 5060", "12.0", "sm_120"),
        ("RTX 3090", "8.6", "sm_86"),
        ("H200", "9.0", "sm_90"),
        ("B200", "10.0", "sm_100"),
        ("B300", "10.3", "sm_103"),
        ("T4", "7.5", "sm_75"),
        ("GTX 1080", "6.1", "sm_61"),
        ("A100", "8.0", "sm_80"),
    ] {
        let run = arch(&[name]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let first = run.out.lines().next().unwrap();
        assert!(first.ends_with(&format!("has compute capability {capability}, code {code}")), "{first}");
        assert_80_columns(&run.out);
    }
}

/// What is behind the first line, which says the name as it was typed.
fn block(name: &str) -> String {
    let run = arch(&["--", name]);
    assert_eq!(run.code, Some(0), "{name}: {}", run.err);
    // the first line names what was typed, and breaks where that is long
    run.out.split_once("\n  is ").unwrap().1.to_owned()
}

#[test]
fn every_spelling_of_an_architecture_gives_the_same_block() {
    for names in [
        &["8.9", "89", "sm_89", "SM_89", "compute_89", "89-real", "89-virtual", "8.9+PTX", " sm_89 ", "RTX 4090"][..],
        &["12.0", "120", "sm_120", "compute_120", "120-real", "12.0+PTX", "-gencode arch=compute_120,code=sm_120"],
        &["9.0a", "90a", "sm_90a", "compute_90a", "90a-real", "9.0a+PTX"],
        &["10.0f", "100f", "sm_100f", "compute_100f"],
    ] {
        for name in names {
            assert_eq!(block(name), block(names[0]), "{name}");
        }
    }
    let own = block("9.0a");
    assert!(own.contains("sm_90a runs on 9.0\n") && own.contains("CUDA 12.0 and newer"), "{own}");
    assert!(own.contains("-gencode arch=compute_90a,code=sm_90a"), "{own}");
    // several at once, in the order given
    let run = arch(&["9.0", "T4"]);
    let heads: Vec<&str> = run.out.split("\n\n").map(|block| block.lines().next().unwrap()).collect();
    assert!(heads.len() == 2 && heads[0].starts_with("9.0 is sm_90") && heads[1].contains("7.5"), "{heads:?}");
}

#[test]
fn a_name_of_several_capabilities_shows_all_of_them() {
    let run = arch(&["Blackwell"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert_eq!(
        run.out,
        "Blackwell stands for several compute capabilities\n  \
         10.0      B200, GB200\n  \
         10.3      B300, GB300\n  \
         11.0      Jetson Thor\n  \
         12.0      RTX 50 series, RTX PRO\n  \
         12.1      GB10, DGX Spark\n  \
         note      Thor is 10.1 up to CUDA 12.9, 11.0 from 13.0\n  \
         name one  or all: --gpu 10.0,10.3,11.0,12.0,12.1\n"
    );
    for (name, expected) in [
        ("Ampere", &["8.0 ", "8.6 ", "8.7       Jetson Orin\n", "--gpu 8.0,8.6,8.7\n"][..]),
        ("GT 730", &["3.0       GK107\n", "3.5       GK208\n"]),
        ("Quadro", &["several compute capabilities", "--gpu 3.0,3.5,5.0"]),
        ("Hopper", &["Hopper has compute capability 9.0, code sm_90\n", "nvcc   -gencode arch=compute_90"]),
        ("RTX 40", &["GeForce RTX 40 series has compute capability 8.9, code sm_89\n"]),
        ("DGX Spark", &["DGX Spark has compute capability 12.1"]),
        ("Jetson Thor", &["capability 11.0, code sm_110\n", "note      Thor is 10.1 up to CUDA 12.9"]),
    ] {
        let run = arch(&[name]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{name}");
        for words in expected {
            assert!(run.out.contains(words), "{name}: `{words}` is not in {}", run.out);
        }
        assert_80_columns(&run.out);
    }
    // lists of code are torch's, as before
    assert!(arch(&["Ampere;Hopper"]).out.contains("sm_86 as SASS"));
}

#[test]
fn what_does_not_exist_is_refused_with_what_is_near() {
    for (name, expected) in [
        ("sm_86a", &["`sm_86a`: there is no such architecture", "nearest", "`86`", "90a"][..]),
        ("sm_89a", &["there is no such architecture"]),
        ("sm_84", &["there is no such architecture", "`86`"]),
        ("13.0", &["there is no such architecture"]),
        ("90f", &["there is no such architecture"]),
        ("12", &["two digits"]),
        ("RTX 4091", &["no device of that name", "RTX 4090"]),
        ("", &["empty"]),
    ] {
        let run = arch(&[name]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
        for word in expected {
            assert!(run.err.contains(word), "{name}: `{word}` is not in {}", run.err);
        }
    }
    // one of several that is wrong: nothing is shown
    assert_eq!(arch(&["9.0", "sm_86a"]).out, "");
}

#[test]
fn the_list_has_a_row_for_each_architecture() {
    let wrong = program::run(["arch", "list", "sm_86a"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{}", wrong.err);
    assert!(program::run(["arch", "list", "sm_90a"]).out.contains("\nsm_90a is sm_90a as SASS"));
    let run = run(["arch", "list"]);
    assert_eq!(run.code, Some(0));
    let rows: Vec<&str> = run.out.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    let expected: Vec<String> =
        gpu_arch::catalogue::architectures().iter().map(|row| row.capability.to_string()).collect();
    assert_eq!(rows, expected);
    for capability in ["5.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"] {
        assert!(rows.contains(&capability), "{capability}");
    }
    assert!(run.out.contains("suffixes") && run.out.contains("90a"));
    assert_80_columns(&run.out);
    assert_eq!(crate::run(["arch"]).out, run.out, "the default");
}
