//! What is typed, and what cannot be read.

use super::*;

#[test]
fn of_several_paths_one_that_cannot_be_read_fails_and_the_others_are_judged() {
    let folder = Folder::new();
    let good = folder.write("good-1.0-py3-none-any.whl", good());
    let bad = folder.write("bad-1.0-py3-none-any.whl", wheel_of(&[module(&["75", "80"])]));
    let missing = folder.file("missing.whl").to_str().unwrap().to_owned();
    assert_code(&args(&[&good, &missing, "--require", "9.0"]), 1, "one missing");
    let document = document(&in_format(&args(&[&missing, &bad, &good, "--require", "9.0"]), "json"));
    let rules: Vec<String> = document.findings.unwrap().into_iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["unreadable", "not-covered"]);
    // a finding is 1, nothing readable is 2
    assert_code(&args(&[&missing, "--require", "9.0"]), 2, "nothing readable");
    assert_code(&args(&[&missing, "--require", "9.0", "--allow", "unreadable"]), 2, "nothing readable, allowed");
}

#[test]
fn a_wrong_argument_is_said_before_anything_is_read() {
    let folder = Folder::new();
    let missing = folder.file("missing.whl").to_str().unwrap().to_owned();
    refused(&missing, "--require sm_86a", &["sm_86a"]);
    refused(&missing, "", &["nothing is demanded", "--require", "--contains"]);
}

#[test]
fn what_is_typed_wrong_is_refused_with_2_in_every_format() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    // architectures: those that do not exist, and code where a device is wanted
    refused(&path, "--require sm_86a", &["--require: `sm_86a`: there is no such architecture", "nearest"]);
    refused(&path, "--require 9.5", &["`9.5`: there is no such architecture"]);
    refused(&path, "--require 12", &["two digits"]);
    refused(
        &path,
        "--require Ampere",
        &["--require: `Ampere` stands for several capabilities", "8.7 (Jetson Orin)", "all: --require 8.0,8.6,8.7\n"],
    );
    refused(&path, "--contains sm_86a", &["--contains: `sm_86a`: there is no such architecture"]);
    for code in ["sm_90a", "compute_90", "9.0+PTX", "90-real"] {
        refused(&path, &format!("--require {code}"), &["names code, not a device", "--contains"]);
    }
    for word in ["native", "all", "all-major"] {
        refused(
            &path,
            &format!("--contains {word}"),
            &[&format!("--contains: `{word}` depends on"), "name the architectures"],
        );
    }
    assert_refused(&args(&[&path, "--require", ""]), &["--require: the list is empty"]);
    assert_refused(&args(&[&path, "--require", " , ;"]), &["--require: the list is empty"]);
    assert_refused(&args(&[&path, "--contains", ""]), &["--contains: the list is empty"]);
    assert_refused(&args(&[&path, "--contains", "RTX 4090"]), &["--contains"]);
    assert_refused(&args(&[&path, "--require", "RTX 4091"]), &["no device of that name", "RTX 4090"]);
    // drivers
    let require = |rest: &str| format!("--require 9.0 {rest}");
    refused(&path, &require("--driver newest"), &["--driver: `newest` is no version", "535.183.01"]);
    refused(&path, &require("--driver 12.4"), &["--driver: `12.4` is no version of a driver", "--driver-cuda 12.4"]);
    refused(&path, &require("--driver-cuda twelve"), &["--driver-cuda: `twelve` is no version"]);
    refused(&path, &require("--driver-cuda 535.183"), &["--driver-cuda: `535.183` is no version"]);
    refused(&path, &require("--driver 535.183.01 --driver-cuda 11.8"), &["contradict each other", "12.2"]);
    // rules
    refused(&path, &require("--deny jit --allow jit"), &["`jit` is given two levels"]);
    refused(&path, &require("--warn jit,partial --deny partial"), &["`partial` is given two levels"]);
    refused(&path, &require("--deny jitt"), &["--deny: `jitt` is no rule", "not-covered"]);
    // the rest
    refused(&path, &require("--host arm64"), &["--host: `arm64` is neither x86_64 nor aarch64"]);
    refused(&path, &require("--no-device-code maybe"), &["maybe"]);
    refused(&path, &require("--allow-partial=101"), &["101"]);
    refused(&path, &require("--baseline does-not-exist.json"), &["--baseline `does-not-exist.json` cannot be read"]);
    refused(&path, &require("--config does-not-exist.toml"), &["--config `does-not-exist.toml` cannot be read"]);
    refused(&path, &require("--no-such-flag"), &["--no-such-flag"]);
    assert_eq!(check_with(&path, "--require 9.0 --format xml").code, Some(2));
    assert_eq!(check(&words("--require 9.0")).code, Some(2));
}

#[test]
fn devices_are_taken_in_every_spelling_and_named_in_the_findings() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for gpus in ["9.0", "sm_90", "90", "H100", "8.0,9.0", "8.0;9.0", "A100, H100", " 9.0 "] {
        assert_code(&args(&[&path, "--require", gpus]), 0, gpus);
    }
    assert_code(&args(&[&path, "--require", "8.0", "--require", "9.0"]), 0, "twice");
    let run = check(&args(&[&path, "--require", "RTX 5090"]));
    assert!(run.out.contains("does not run on NVIDIA GeForce RTX 5090"), "{}", run.out);
    let run = check(&args(&[&path, "--require", "12.0"]));
    assert!(run.out.contains("does not run on 12.0"), "{}", run.out);
}

#[test]
fn the_driver_may_be_newer_by_a_compatibility_package() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    assert_eq!(check_with(&path, "--require 9.0 --driver 535.183.01 --driver-cuda 12.4").code, Some(0));
    assert_eq!(check_with(&path, "--require 9.0 --driver 535.183.01 --driver-cuda 12.2").code, Some(0));
}

#[test]
fn sizes_are_read_in_every_spelling() {
    let folder = Folder::new();
    // 3,000,000 bytes exactly
    let zip = Zip::new().deflated("x.so", &library(&[module(&["80", "90"])]));
    let rest = 3_000_000 - zip.clone().stored("rest.txt", b"").bytes().len();
    let zip = zip.stored("rest.txt", &vec![b'#'; rest]);
    let path = folder.write("x-1.0-py3-none-any.whl", zip.bytes());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 3_000_000);
    for size in
        ["3MB", "3 MB", "3mb", "3m", "3.0MB", "3000000", "3000000B", "3000kB", "0.003GB", "3GB", "2.862MiB", "2930KiB"]
    {
        assert_eq!(check(&args(&[&path, "--max-size", size])).code, Some(0), "{size}");
    }
    for size in ["2.999MB", "2999999", "2.86MiB", "2929KiB", "0.002GiB", "0"] {
        let run = check(&args(&[&path, "--max-size", size]));
        assert_eq!(run.code, Some(1), "{size}");
        assert!(run.out.contains("[max-size]") && run.out.contains("3000000 bytes"), "{}", run.out);
    }
    for size in ["", "MB", "-1", "3 TB", "3,5MB", "1.2345MB", "1.5.5MB", "99999999999GB", "1e6", "0x10"] {
        assert_refused(&args(&[&path, &format!("--max-size={size}")]), &["--max-size", "no size", "500MB"]);
    }
}

#[test]
fn contains_takes_what_build_systems_take() {
    let folder = Folder::new();
    let general = vec![sass("80"), sass("90"), ptx("90", (8, 0))];
    let path = write_wheel(&folder, &[general]);
    for code in
        ["8.0;9.0+PTX", "8.0 9.0+PTX", "sm_80,sm_90,compute_90", "80-real;90", "TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX"]
    {
        assert_code(&args(&[&path, "--contains", code, "--strict"]), 0, code);
    }
    for code in ["8.0+PTX;9.0", "9.0a", "sm_90a", "sm_86", "compute_80"] {
        assert_code(&args(&[&path, "--contains", code]), 1, code);
    }
    let run = check(&args(&[&path, "--contains", "8.0", "--strict"]));
    let extra: Vec<&str> = run.out.lines().filter(|line| line.contains("[extra]")).collect();
    assert_eq!(extra.len(), 2, "{}", run.out);
    assert!(run.out.contains("`sm_90` was not declared") && run.out.contains("`compute_90` was not declared"));
    assert!(run.out.contains("without --strict"), "{}", run.out);
}

#[test]
fn strict_holds_for_general_modules_only() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"]), module(&["90a"])]);
    assert_eq!(check_with(&path, "--contains 8.0;9.0 --strict").code, Some(0));
    assert_eq!(check_with(&path, "--contains 9.0 --strict").code, Some(1));
}
