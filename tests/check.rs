//! The gate as it is called: exit codes, formats, levels, configurations. What is expected follows from `docs/RULES.md`
//! and `docs/VERDICTS.md`; every wheel is written for its test.
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

use fatscan::check::{Rule, Severity};
use fatscan::json::Document;
use program::{
    Folder, Run, finish, library, module, packed, program as command, ptx, run, run_into_closed_pipe, sass, wheel,
    wheel_of, words, write_wheel,
};
use serde_json::Value;
use testkit::cubin::Function;
use testkit::fatbin::{Codec, Entry};
use testkit::zip::Central;
use testkit::{Cubin, Zip, ZipMember};

const FORMATS: [&str; 6] = ["table", "json", "sarif", "github", "junit", "markdown"];

/// `fatscan check` with these arguments.
fn check(arguments: &[String]) -> Run {
    run(std::iter::once("check".to_owned()).chain(arguments.iter().cloned()))
}

/// The same with a path and flags that have no blanks.
fn check_with(path: &str, flags: &str) -> Run {
    check(&[vec![path.to_owned()], words(flags)].concat())
}

fn in_format(arguments: &[String], format: &str) -> Run {
    check(&[arguments, &["--format".to_owned(), format.to_owned()]].concat())
}

fn document(run: &Run) -> Document {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// Rules of the findings that a check of these arguments has, with their levels.
fn findings(arguments: &[String]) -> Vec<(String, String)> {
    let document = document(&in_format(arguments, "json"));
    document.findings.unwrap().into_iter().map(|finding| (finding.rule, finding.level)).collect()
}

/// The same exit code in all formats.
fn assert_code(arguments: &[String], code: i32, what: &str) {
    for format in FORMATS {
        let run = in_format(arguments, format);
        assert_eq!(run.code, Some(code), "{what} as {format}: {}{}", run.out, run.err);
    }
}

/// Refused with exit code 2, nothing on standard output, and words on standard error, in every format.
fn assert_refused(arguments: &[String], expected: &[&str]) {
    for format in FORMATS {
        let run = in_format(arguments, format);
        assert_eq!(run.code, Some(2), "{arguments:?} as {format}: {}{}", run.out, run.err);
        assert!(run.out.is_empty(), "{arguments:?} as {format} is half judged: {}", run.out);
        for word in expected {
            assert!(run.err.contains(word), "{arguments:?} as {format}: `{word}` is not in {}", run.err);
        }
    }
}

fn refused(path: &str, flags: &str, expected: &[&str]) {
    assert_refused(&[vec![path.to_owned()], words(flags)].concat(), expected);
}

fn args(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// SASS for 8.0 and 9.0.
fn good() -> Vec<u8> {
    wheel_of(&[module(&["80", "90"])])
}

// --- rules

/// A check that trips a rule, and one as near to it as can be that does not.
struct Case {
    rule: Rule,
    trips: Vec<String>,
    holds: Vec<String>,
}

/// Two checks of one wheel.
fn flags(folder: &Folder, name: &str, rule: Rule, bytes: Vec<u8>, trips: &str, holds: &str) -> Case {
    let path = folder.write(&format!("{name}-1.0-py3-none-any.whl"), bytes);
    let with = |flags: &str| [vec![path.clone()], words(flags)].concat();
    Case { rule, trips: with(trips), holds: with(holds) }
}

fn case(folder: &Folder, rule: Rule) -> Option<Case> {
    let own = |bytes: Vec<u8>, trips: &str, holds: &str| {
        Some(flags(folder, &rule.id().replace('-', "_"), rule, bytes, trips, holds))
    };
    let two = |name: &str, bytes: Vec<u8>| {
        let good = folder.write("good-1.0-py3-none-any.whl", good());
        let other =
            if bytes.is_empty() { folder.file(name).to_str().unwrap().to_owned() } else { folder.write(name, bytes) };
        let require = words("--require 9.0");
        Some(Case {
            rule,
            trips: [vec![good.clone(), other], require.clone()].concat(),
            holds: [vec![good], require].concat(),
        })
    };
    match rule {
        Rule::Unreadable => two("missing.whl", Vec::new()),
        Rule::Damage => {
            let cut = Zip::new().deflated("a/b.so", &library(&[module(&["80", "90"])])).central(Central::Truncated);
            two("cut.whl", cut.bytes())
        }
        // a 7z archive, which is not unpacked
        Rule::Unread => two("more.7z", b"7z\xbc\xaf\x27\x1c\x00\x04".to_vec()),
        Rule::HostMismatch => own(good(), "--host aarch64", "--host x86_64"),
        Rule::NotCovered => own(good(), "--require 12.0", "--require 9.0"),
        Rule::DriverTooOld => {
            // zstd needs the driver of CUDA 12.4, branch 550
            let zstd = vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)];
            own(wheel_of(&[zstd]), "--require 9.0 --driver 535.183.01", "--require 9.0 --driver 550.54.14")
        }
        Rule::Partial => {
            let modules = [module(&["75", "80"]), module(&["80", "90"]), module(&["80", "90"])];
            own(wheel_of(&modules), "--require 7.5", "--require 8.0")
        }
        // one in four is what a file that runs may lack
        Rule::Newer | Rule::Older | Rule::Gap | Rule::Refused => {
            let (last, on) = match rule {
                Rule::Newer => (module(&["100", "120"]), "10.0"),
                Rule::Older => (module(&["70", "75"]), "7.5"),
                _ => (module(&["75", "100"]), "10.0"),
            };
            let all = || module(&["75", "90", "100"]);
            let holds = if rule == Rule::Refused { "7.5" } else { on };
            let refused = vec![sass("75"), Entry::sass("90", Cubin::abi7("80").bytes())];
            let last = if rule == Rule::Refused { refused } else { last };
            let modules = [all(), all(), all(), last];
            own(wheel_of(&modules), "--require 9.0", &format!("--require {holds}"))
        }
        // two of three kernels have a body for 9.0 and none for 8.0
        Rule::EmptyKernels => {
            let cubin = |arch: &str, bytes: [usize; 3]| {
                let mut cubin = Cubin::abi7(arch).without_functions();
                for (name, bytes) in ["k1", "k2", "k3"].into_iter().zip(bytes) {
                    let name = name.to_owned();
                    let own = Function { name, entry: true, binding: 1, size: bytes, registers: 8, shared: 0 };
                    cubin = cubin.function(own);
                }
                Entry::sass(arch, cubin.bytes())
            };
            let module = vec![cubin("80", [128, 128, 512]), cubin("90", [40_960, 81_920, 512])];
            own(wheel_of(&[module]), "--require 8.0", "--require 9.0")
        }
        Rule::Unknown => {
            // whether Orin's own code runs on desktop GPUs, with the driver that united them, is denied by one source
            // and affirmed by another
            let orin = wheel_of(&[module(&["75", "87"])]);
            own(orin, "--require 8.9 --driver-cuda 13.2", "--require 8.7 --driver-cuda 13.2")
        }
        Rule::Jit => {
            let code = vec![sass("75"), ptx("80", (8, 0))];
            own(wheel_of(&[code]), "--require 9.0", "--require 7.5")
        }
        Rule::NoDeviceCode => {
            let pure =
                Zip::wheel("pure", "1.0", "py3-none-any", &[ZipMember::deflated("pure/__init__.py", b"x = 1\n")]);
            let pure = folder.write("pure-1.0-py3-none-any.whl", pure.bytes());
            let good = folder.write("code-1.0-py3-none-any.whl", good());
            let with = |path: String| [vec![path], words("--require 9.0")].concat();
            Some(Case { rule, trips: with(pure), holds: with(good) })
        }
        Rule::Missing => own(good(), "--contains 8.0;9.0+PTX", "--contains 8.0;9.0"),
        Rule::Extra => own(good(), "--contains 8.0 --strict", "--contains 9.0,8.0 --strict"),
        Rule::MaxSize => own(good(), "--max-size 100", "--max-size 1MB"),
        Rule::ExpiredIgnore => {
            let path = folder.write("ignored-1.0-py3-none-any.whl", good());
            let config = |name: &str, day: &str| {
                let text = format!("[[ignore]]\nrule = \"jit\"\nreason = \"known\"\nexpires = \"{day}\"\n");
                args(&[&path, "--require", "9.0", "--config", &folder.write(name, text)])
            };
            Some(Case { rule, trips: config("old.toml", "2020-01-31"), holds: config("new.toml", "9999-12-31") })
        }
        Rule::UnmatchedFiles => {
            let path = folder.write("named-1.0-py3-none-any.whl", good());
            let config = |name: &str, glob: &str| {
                let text = format!("[[files]]\nglob = \"{glob}\"\ncontains = \"9.0\"\n");
                args(&[&path, "--config", &folder.write(name, text)])
            };
            Some(Case { rule, trips: config("away.toml", "libother.so"), holds: config("there.toml", "libpkg.so") })
        }
        Rule::Specialised => {
            let modules = [module(&["80", "90"]), module(&["90a"])];
            own(wheel_of(&modules), "--require 8.0", "--require 9.0")
        }
        _ => None,
    }
}

#[test]
fn every_rule_has_a_check_that_trips_it_and_one_that_does_not_in_every_format() {
    for rule in Rule::ALL.iter().copied() {
        let folder = Folder::new();
        let case = case(&folder, rule).unwrap_or_else(|| panic!("`{rule}` has no case here"));
        assert_eq!(case.rule, rule);
        let denied = rule.severity() == Severity::Deny;
        assert_code(&case.trips, i32::from(denied), rule.id());
        assert_code(&case.holds, 0, rule.id());
        let level = match rule {
            // a quarter of the modules is more than a note
            Rule::Newer => "warning",
            rule => rule.severity().name(),
        };
        assert!(findings(&case.trips).contains(&(rule.id().to_owned(), level.to_owned())), "{rule}");
        assert!(findings(&case.holds).iter().all(|(own, _)| own != rule.id()), "{rule}");
    }
}

#[test]
fn every_rule_obeys_its_level_in_every_format() {
    for rule in Rule::ALL.iter().copied() {
        let folder = Folder::new();
        let case = case(&folder, rule).unwrap();
        for (flag, code, level) in [("--deny", 1, "error"), ("--warn", 0, "warning"), ("--allow", 0, "allowed")] {
            let arguments = [case.trips.clone(), args(&[flag, rule.id()])].concat();
            assert_code(&arguments, code, &format!("{rule} {flag}"));
            let own: BTreeSet<String> =
                findings(&arguments).into_iter().filter(|(own, _)| own == rule.id()).map(|(_, level)| level).collect();
            assert_eq!(own, BTreeSet::from([level.to_owned()]), "{rule} {flag}");
            // what is allowed is counted and not shown
            for format in ["table", "github", "junit", "markdown"] {
                let run = in_format(&arguments, format);
                let shown = run.out.contains(&format!("[{rule}]"))
                    || run.out.contains(&format!("title=fatscan {rule}"))
                    || run.out.contains(&format!("type=\"{rule}\""))
                    || run.out.contains(&format!("| {rule} |"));
                assert_eq!(shown, flag != "--allow", "{rule} {flag} as {format}: {}", run.out);
            }
            let table = in_format(&arguments, "table").out;
            assert_eq!(table.contains("1 allowed"), flag == "--allow", "{rule} {flag}: {table}");
        }
    }
}

#[test]
fn the_level_of_a_rule_can_be_configured_and_typed_words_beat_it() {
    let folder = Folder::new();
    let path = folder.write("x-1.0-py3-none-any.whl", good());
    for (level, code) in [("deny", 1), ("warn", 0), ("note", 0), ("allow", 0)] {
        let config = folder.write("fatscan.toml", format!("[levels]\nnot-covered = \"{level}\"\n"));
        let arguments = args(&[&path, "--require", "12.0", "--config", &config]);
        assert_code(&arguments, code, level);
        assert_code(&[arguments.clone(), words("--deny not-covered")].concat(), 1, level);
        assert_code(&[arguments, words("--allow not-covered")].concat(), 0, level);
    }
    // several rules of a level, by one flag or by several
    let modules = [vec![sass("75"), ptx("80", (8, 0))], module(&["80", "120"])];
    let path = folder.write(
        "y-1.0-py3-none-any.whl",
        wheel(&[("y/a.so", library(&modules[..1])), ("y/b.so", library(&modules[1..]))]),
    );
    for words in ["--warn jit,not-covered", "--warn jit --warn not-covered"] {
        assert_eq!(check_with(&path, &format!("--require 9.0 {words}")).code, Some(0));
    }
    assert_eq!(check_with(&path, "--require 9.0 --warn jit").code, Some(1));
}

#[test]
fn levels_by_file_count_for_that_file_and_the_last_match_counts() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/own.so", library(&[module(&["80", "90"])])),
            ("x.libs/vendored.so", library(&[module(&["75", "80"])])),
        ]),
    );
    let config = |files: &str| folder.write("fatscan.toml", format!("[fleet.all]\ngpus = [\"9.0\"]\n{files}"));
    let with = |files: &str| args(&[&path, "--config", &config(files)]);
    assert_code(&with(""), 1, "no levels");
    let libs = "[[files]]\nglob = \"*.libs/*\"\nlevels = { not-covered = \"warn\" }\n";
    assert_code(&with(libs), 0, "warned");
    let own = "[[files]]\nglob = \"x/*\"\nlevels = { not-covered = \"warn\" }\n";
    assert_code(&with(own), 1, "the other file");
    let back = "[[files]]\nglob = \"vendored.so\"\nlevels = { not-covered = \"deny\" }\n";
    assert_code(&with(&format!("{libs}{back}")), 1, "the last");
    assert_code(&with(&format!("{back}{libs}")), 0, "the last");
}

// --- what was read

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

// --- words typed

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

// --- demands

#[test]
fn jit_partial_and_unknown_pass_where_they_are_allowed() {
    let folder = Folder::new();
    for (rule, flag) in
        [(Rule::Jit, "--allow-jit"), (Rule::Partial, "--allow-partial"), (Rule::Unknown, "--allow-unknown")]
    {
        let case = case(&folder, rule).unwrap();
        assert_code(&[case.trips.clone(), words(flag)].concat(), 0, flag);
        // the flag that would have let it pass is named
        let run = check(&case.trips);
        assert!(run.out.contains(flag), "{rule}: {}", run.out);
        // and nothing else passes by it
        let other = self::case(&folder, Rule::NotCovered).unwrap();
        assert_code(&[other.trips, words(flag)].concat(), 1, flag);
    }
    for (key, rule) in [
        ("allow-jit = true", Rule::Jit),
        ("allow-partial = 33", Rule::Partial),
        ("allow-unknown = true", Rule::Unknown),
    ] {
        let case = case(&folder, rule).unwrap();
        let config = folder.write("fatscan.toml", key);
        assert_code(&[case.trips, args(&["--config", &config])].concat(), 0, key);
    }
}

#[test]
fn the_percentage_of_a_partial_file_counts_up_to_its_boundary() {
    let folder = Folder::new();
    // one of three modules holds 7.5: 33.3 percent
    let modules = [module(&["75", "80"]), module(&["80", "90"]), module(&["80", "90"])];
    let path = write_wheel(&folder, &modules);
    for (flag, code) in [
        ("--allow-partial", 0),
        ("--allow-partial=0", 0),
        ("--allow-partial=1", 0),
        ("--allow-partial=33", 0),
        ("--allow-partial=34", 1),
        ("--allow-partial=100", 1),
    ] {
        assert_code(&args(&[&path, "--require", "7.5", flag]), code, flag);
    }
    // a half for newer GPUs are features; `--strict` asks for them all the same
    let path = write_wheel(&folder, &modules[..2]);
    assert_eq!(check_with(&path, "--require 7.5").code, Some(0));
    assert_eq!(check_with(&path, "--require 7.5 --strict").code, Some(1));
    // nothing loads: no percentage lets that pass
    assert_eq!(check_with(&path, "--require 12.0 --allow-partial=0").code, Some(1));
    // the flag takes its number with `=` only, so that a path behind it stays a path
    let run = check(&args(&["--require", "7.5", "--allow-partial", &path]));
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn no_device_code_fails_warns_or_passes() {
    let folder = Folder::new();
    let case = case(&folder, Rule::NoDeviceCode).unwrap();
    for (what, code) in [("fail", 1), ("warn", 0), ("pass", 0)] {
        assert_code(&[case.trips.clone(), args(&["--no-device-code", what])].concat(), code, what);
        let config = folder.write("fatscan.toml", format!("no-device-code = \"{what}\"\n"));
        assert_code(&[case.trips.clone(), args(&["--config", &config])].concat(), code, what);
    }
    // also where code is declared
    let contains = args(&[&case.trips[0], "--contains", "8.0"]);
    assert_code(&contains, 1, "declared");
    assert_code(&[contains, words("--no-device-code pass")].concat(), 0, "declared");
    // relocatable code is no code that a driver loads
    let entry = Entry::sass("90", Cubin::abi7("90").relocatable().bytes());
    let elf = testkit::Elf::shared().section("__nv_relfatbin", &testkit::fatbin(&[entry])).bytes();
    let path = folder.write("rdc.so", elf);
    let run = check_with(&path, "--require 9.0");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("[no-device-code]"), "{}", run.out);
}

#[test]
fn files_are_chosen_by_globs() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/lib/own.so", library(&[module(&["80", "90"])])),
            ("x/lib/other.so", library(&[module(&["80", "90"])])),
            ("x.libs/vendored.so", library(&[module(&["75", "80"])])),
        ]),
    );
    let code = |flags: &str| check_with(&path, &format!("--require 9.0 {flags}")).code;
    assert_eq!(code(""), Some(1));
    assert_eq!(code("--exclude *.libs/*"), Some(0));
    assert_eq!(code("--exclude vendored.so"), Some(0));
    assert_eq!(code("--exclude x/*"), Some(1));
    assert_eq!(code("--member x/**"), Some(0));
    assert_eq!(code("--member own.so --member other.so"), Some(0));
    assert_eq!(code("--member own.so --member vendored.so"), Some(1));
    assert_eq!(code("--member *.so --exclude vendored.so"), Some(0));
    // nothing is left: that is no pass, and nothing was judged
    assert_eq!(code("--member no-such-file.so"), Some(2));
}

#[test]
fn damage_in_a_file_that_is_left_out_does_not_count() {
    let folder = Folder::new();
    let whole = library(&[module(&["80", "90"])]);
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 600].to_vec();
    for damaged in ["x.libs/cut.so", "x.libs/odd!name@0x1.so"] {
        let files = [("x/lib/own.so", whole.clone()), (damaged, cut(&whole))];
        let path = folder.write("x-1.0-py3-none-any.whl", wheel(&files));
        let code = |flags: &str| check_with(&path, &format!("--require 9.0 {flags}"));
        let counted = code("");
        assert!(counted.out.contains("[damage]"), "{damaged}: {}", counted.out);
        assert_eq!(counted.code, Some(1), "{damaged}");
        assert_eq!(code("--exclude *.libs/*").code, Some(0), "{damaged}");
        assert_eq!(code("--member own.so").code, Some(0), "{damaged}");
        assert_eq!(code("--exclude own.so").code, Some(1), "{damaged}");
    }
    // what is wrong with the wheel as a whole stays
    let zip = Zip::new().deflated("a/b.so", &whole).central(Central::Truncated);
    let path = folder.write("cut.whl", zip.bytes());
    assert_eq!(check_with(&path, "--require 9.0 --exclude c.so").code, Some(1));
    // and so does what is wrong with a file that is no archive
    let path = folder.write("cut.so", cut(&whole));
    assert_eq!(check_with(&path, "--require 9.0").code, Some(1));
}

#[test]
fn a_library_that_is_damaged_from_its_first_byte_is_not_overlooked() {
    let folder = Folder::new();
    let good = library(&[module(&["80", "90"])]);
    for name in ["p/lib.so", "p/lib.so.1", "q!lib.so"] {
        let zip = Zip::new().deflated(name, &good).deflated("a.so", &good).bytes();
        for at in [0, 1, 8, 40] {
            let mut bytes = zip.clone();
            // behind the local header and the name
            let start = 30 + name.len() + at;
            bytes[start..start + 8].fill(0xff);
            let path = folder.write("x-1.0-py3-none-any.whl", bytes);
            let run = check_with(&path, "--require 9.0");
            assert_eq!(run.code, Some(1), "{name} at {at}: {}", run.out);
            assert!(run.out.contains("[damage]"), "{name} at {at}: {}", run.out);
            assert_eq!(check_with(&path, &format!("--require 9.0 --exclude {name}")).code, Some(0), "{name} at {at}");
            assert_eq!(check_with(&path, "--require 9.0 --exclude q").code, Some(1), "{name} at {at}");
        }
        // the same without a fault of the archive: a library by its name alone
        let zip = Zip::new().deflated(name, &[0x80, 1, 2, 3].repeat(300)).deflated("a.so", &good);
        let path = folder.write("x-1.0-py3-none-any.whl", zip.bytes());
        assert_eq!(check_with(&path, "--require 9.0").code, Some(1), "{name}");
        // and a script for the linker, which may have such a name
        let zip = Zip::new().deflated(name, b"INPUT(libx.so.1)\n").deflated("a.so", &good);
        let path = folder.write("x-1.0-py3-none-any.whl", zip.bytes());
        assert_eq!(check_with(&path, "--require 9.0").code, Some(0), "{name}");
    }
}

#[test]
fn alternatives_count_as_one_unless_told_otherwise() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/libx_cuda118.so", library(&[module(&["70", "80"])])),
            ("x/libx_cuda128.so", library(&[module(&["90", "100"])])),
        ]),
    );
    for gpu in ["8.0", "10.0", "8.0,10.0"] {
        assert_code(&args(&[&path, "--require", gpu]), 0, gpu);
    }
    // each by itself: code for newer GPUs is a feature of theirs, code for older ones is in the way
    for (gpu, code) in [("8.0", 0), ("10.0", 1), ("8.0,10.0", 1)] {
        assert_code(&args(&[&path, "--require", gpu, "--no-alternatives"]), code, gpu);
    }
    assert_code(&args(&[&path, "--require", "12.0"]), 1, "neither");
    assert_code(&args(&[&path, "--contains", "7.0;8.0"]), 0, "one holds it all");
    assert_code(&args(&[&path, "--contains", "8.0;9.0"]), 1, "none holds it all");
    assert_code(&args(&[&path, "--contains", "7.0;8.0", "--no-alternatives"]), 1, "each must");
}

#[test]
fn a_bare_library_and_a_directory_are_checked_like_a_wheel() {
    let folder = Folder::new();
    let path = folder.write("d/lib/x.so", library(&[module(&["80", "90"])]));
    let whole = folder.file("d").to_str().unwrap().to_owned();
    for path in [&path, &whole] {
        assert_code(&args(&[path, "--require", "9.0"]), 0, path);
        assert_code(&args(&[path, "--require", "12.0"]), 1, path);
    }
    let run = check_with(&path, "--require 12.0");
    assert!(run.out.starts_with(&format!("error [not-covered] {path}: does not run on 12.0")), "{}", run.out);
    let run = check_with(&whole, "--require 12.0");
    assert!(run.out.starts_with(&format!("error [not-covered] {whole}/lib/x.so: does not run on 12.0")), "{}", run.out);
}

#[test]
fn a_directory_of_wheels_is_those_wheels() {
    let folder = Folder::new();
    folder.write("dist/a-1.0-py3-none-any.whl", good());
    folder.write("dist/b-1.0-py3-none-any.whl", good());
    folder.write("dist/SHA256SUMS", b"no library");
    let dist = folder.file("dist").to_str().unwrap().to_owned();
    for demand in ["--require 9.0", "--contains 8.0;9.0"] {
        assert_code(&[vec![dist.clone()], words(demand)].concat(), 0, demand);
        assert!(check_with(&dist, demand).out.starts_with("passed: 2 artefacts"));
    }
    assert_code(&args(&[&dist, "--require", "12.0"]), 1, "neither");
    // libraries beside them are an artefact of their own
    folder.write("dist/x.so", library(&[module(&["75", "80"])]));
    assert_code(&args(&[&dist, "--require", "9.0"]), 1, "the library");
    // and a directory with nothing in it still holds no device code
    let empty = folder.file("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_code(&args(&[empty.to_str().unwrap(), "--require", "9.0"]), 1, "empty");
}

#[test]
fn paths_come_from_standard_input_and_globs_of_shells_are_many_paths() {
    let folder = Folder::new();
    let one = folder.write("one-1.0-py3-none-any.whl", good());
    let two = folder.write("two-1.0-py3-none-any.whl", good());
    let run = check(&args(&[&one, &two, "--require", "9.0"]));
    assert_eq!((run.code, run.out.as_str()), (Some(0), "passed: 2 artefacts on 1 GPU, nothing found\n"));
    // standard input is empty here
    let run = check(&words("- --require 9.0"));
    assert_eq!(run.code, Some(2), "{}", run.err);
}

#[test]
fn what_is_assumed_of_many_artefacts_is_one_line() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[vec![packed("90", Codec::Zstd)]]);
    let mut all = vec![path.clone()];
    for number in 0..5 {
        let other = folder.file(&format!("{number}-1.0-py3-none-any.whl"));
        std::fs::copy(&path, &other).unwrap();
        all.push(other.to_str().unwrap().to_owned());
    }
    let mut arguments = args(&all.iter().map(String::as_str).collect::<Vec<_>>());
    arguments.extend(words("--require 9.0"));
    let run = check(&arguments);
    assert_eq!((run.code, run.out.matches("assumes on 9.0").count()), (Some(0), 1), "{}", run.out);
    let line = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains(&format!("{path} and 5 more: assumes on 9.0: driver 550")), "{line}");
}

// --- configuration

#[test]
fn a_fleet_demands_each_of_its_gpus_with_its_own_driver() {
    let folder = Folder::new();
    let zstd = vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)];
    let path = write_wheel(&folder, &[zstd]);
    let code = |text: &str| {
        let config = folder.write("fatscan.toml", text);
        let arguments = args(&[&path, "--config", &config]);
        let run = check(&arguments);
        assert_code(&arguments, run.code.unwrap(), text);
        (run.code.unwrap(), run.out)
    };
    assert_eq!(code("[fleet.a]\ngpus = [\"A100\", \"H100\"]\n").0, 0);
    let (failed, out) = code("[fleet.a]\ngpus = [\"A100\", \"T4\"]\n");
    assert_eq!(failed, 1);
    assert!(out.contains("does not run on NVIDIA T4") && !out.contains("run on NVIDIA A100"), "{out}");
    assert!(out.contains("assumes on NVIDIA A100: driver 550 (CUDA 12.4) or newer: zstd compression"), "{out}");
    // one fleet has the old driver
    let (failed, out) = code(
        "[fleet.new]\ngpus = [\"A100\"]\ndriver = \"550.54.14\"\n[fleet.old]\ngpus = [\"H100\"]\ndriver = \"535.183.01\"\n",
    );
    assert_eq!(failed, 1);
    let findings = out.split("\n\n").next().unwrap();
    assert!(findings.contains("[driver-too-old]") && findings.contains("H100") && !findings.contains("A100"), "{out}");
    assert_eq!(code("[fleet.new]\ngpus = [\"A100\"]\ndriver-cuda = \"12.4\"\n").0, 0);
    assert_eq!(code("[fleet.new]\ngpus = [\"A100\"]\ndriver-cuda = \"12.2\"\n").0, 1);
}

#[test]
fn of_an_any_of_group_one_gpu_is_enough() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let group = |gpus: &str| {
        let config = folder.write("fatscan.toml", format!("[[any-of]]\nname = \"a big one\"\ngpus = {gpus}\n"));
        args(&[&path, "--config", &config])
    };
    assert_code(&group("[\"B200\", \"H100\"]"), 0, "one");
    assert_code(&group("[\"B200\", \"RTX 5090\"]"), 1, "none");
    let run = check(&group("[\"B200\", \"RTX 5090\"]"));
    assert!(run.out.contains("none of `a big one` is met"), "{}", run.out);
    // beside a demand for each
    assert_code(&[group("[\"B200\", \"H100\"]"), words("--require 8.0")].concat(), 0, "both");
    assert_code(&[group("[\"B200\", \"H100\"]"), words("--require 12.0")].concat(), 1, "one of both");
}

#[test]
fn a_broken_configuration_is_refused_with_line_and_column() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let ignore = "[[ignore]]\nrule = \"jit\"\nreason = \"known\"\nexpires = \"2999-01-01\"\n";
    for (text, expected) in [
        ("allow-jit = \n", &["line 1", "column 13"][..]),
        ("\n\nallow-jit = 300\n", &["line 3", "column 13", "nor a percentage"]),
        ("alow-jit = true\n", &["line 1", "column 1", "alow-jit", "allow-jit"]),
        ("[fleet.a]\ngpus = [\"T4\"]\ndrivr = \"1\"\n", &["line 3", "column 1", "drivr"]),
        ("[fleet.a]\ndriver = \"1\"\n", &["line 1", "gpus"]),
        ("[[ignore]]\nrule = \"jit\"\nexpires = \"2999-01-01\"\n", &["line 1", "reason"]),
        ("[[ignore]]\nrule = \"jit\"\nreason = \"known\"\n", &["line 1", "expires"]),
        (&ignore.replace("known", "  "), &["line 3, column 10", "an ignore needs a reason"]),
        (&ignore.replace("jit", "jitt"), &["line 2, column 8", "`jitt` is no rule"]),
        (&ignore.replace("2999-01-01", "tomorrow"), &["line 4, column 11", "`tomorrow` is no date"]),
        (&ignore.replace("2999-01-01", "2999-02-29"), &["`2999-02-29` is no date"]),
        (&ignore.replace("rule", "device = \"T5\"\nrule"), &["T5"]),
        ("allow-partial = 200\n", &["line 1, column 17", "200 is no percentage"]),
        ("[fleet.p]\ngpus = [\"RTX 99999\"]\n", &["--config", "fleet `p`", "RTX 99999"]),
        ("[fleet.p]\ngpus = [\"T4\"]\ndriver = \"abc\"\n", &["--config", "fleet `p`: driver: `abc`"]),
        ("contains = \"sm_999\"\n", &["--config: contains"]),
        ("[levels]\njitt = \"warn\"\n", &["line 2, column 1", "`jitt` is no rule"]),
        ("[levels]\njit = \"loud\"\n", &["line 2, column 7", "`loud` is none of deny, warn, note, allow"]),
        ("[[files]]\nglob = \"*\"\nlevels = { jit = \"loud\" }\n", &["line 3, column 18", "`loud` is none of"]),
        ("no-device-code = \"maybe\"\n", &["line 1, column 18", "`maybe` is none of fail, warn, pass"]),
        ("[fleet.empty]\ngpus = []\n", &["fleet `empty`: no GPU is named"]),
        ("[fleet.code]\ngpus = [\"sm_90a\"]\n", &["fleet `code`", "names code, not a device"]),
        ("[fleet.old]\ngpus = [\"T4\"]\ndriver = \"12.4\"\n", &["12.4"]),
        (
            "[fleet.family]\ngpus = [\"Volta\"]\n",
            &["fleet `family`: `Volta` stands for", "7.2 (Jetson Xavier)", "all: gpus = [\"7.0\", \"7.2\"]\n"],
        ),
        ("[[any-of]]\nname = \"g\"\ngpus = [\"RTX 4091\"]\n", &["any-of `g`", "RTX 4090"]),
        ("contains = \"native\"\n", &["native"]),
        ("host = \"arm64\"\n", &["arm64"]),
    ] {
        let config = folder.write("fatscan.toml", text);
        assert_refused(&args(&[&path, "--require", "9.0", "--config", &config]), expected);
    }
}

#[test]
fn the_configuration_demands_by_itself() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for (text, code) in [
        ("contains = \"8.0;9.0\"\nstrict = true\n", 0),
        ("contains = \"9.0\"\nstrict = true\n", 1),
        ("contains = \"9.0\"\n", 0),
        ("contains = \"9.0+PTX\"\n", 1),
        ("max-size = 1000000\n", 0),
        ("max-size = 10\n", 1),
        ("host = \"x86_64\"\n", 0),
        ("host = \"aarch64\"\n", 1),
        ("", 2),
        ("allow-jit = true\n", 2),
    ] {
        let config = folder.write("fatscan.toml", text);
        assert_code(&args(&[&path, "--config", &config]), code, text);
    }
}

#[test]
fn an_ignore_covers_its_rule_file_artefact_and_device_until_its_last_day() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/lib/a.so", library(&[module(&["61", "90"])])),
            ("x/lib/b.so", library(&[module(&["75", "80", "90"])])),
        ]),
    );
    let code = |lines: &str, expires: &str| {
        let text = format!(
            "[fleet.a]\ngpus = [\"T4\", \"H100\"]\n[[ignore]]\n{lines}\nreason = \"why not\"\nexpires = \"{expires}\"\n"
        );
        let config = folder.write("fatscan.toml", text);
        let arguments = args(&[&path, "--config", &config]);
        let code = check(&arguments).code.unwrap();
        assert_code(&arguments, code, lines);
        code
    };
    let never = "9999-12-31";
    for (lines, expected) in [
        ("rule = \"not-covered\"", 0),
        ("rule = \"partial\"", 1),
        ("rule = \"not-covered\"\nmember = \"x/lib/a.so\"", 0),
        ("rule = \"not-covered\"\nmember = \"a.so\"", 0),
        ("rule = \"not-covered\"\nmember = \"x/*/a.*\"", 0),
        ("rule = \"not-covered\"\nmember = \"x/lib/b.so\"", 1),
        ("rule = \"not-covered\"\nartefact = \"x-*.whl\"", 0),
        ("rule = \"not-covered\"\nartefact = \"y-*.whl\"", 1),
        ("rule = \"not-covered\"\ndevice = \"T4\"", 0),
        ("rule = \"not-covered\"\ndevice = \"NVIDIA T4\"", 0),
        ("rule = \"not-covered\"\ndevice = \"H100\"", 1),
    ] {
        assert_eq!(code(lines, never), expected, "{lines}");
        // the day has passed: what it covered counts, and so does that it ended
        assert_eq!(code(lines, "2020-12-31"), 1, "{lines}");
    }
    let run = check(&args(&[&path, "--config", folder.file("fatscan.toml").to_str().unwrap()]));
    assert!(run.out.contains("[expired-ignore]") && run.out.contains("ended on 2020-12-31: why not"), "{}", run.out);
    // with a future day it is counted, and told with its reason where findings are data
    code("rule = \"not-covered\"\ndevice = \"T4\"", never);
    let arguments = args(&[&path, "--config", folder.file("fatscan.toml").to_str().unwrap()]);
    assert!(check(&arguments).out.ends_with("1 ignored\n"));
    let document = document(&in_format(&arguments, "json"));
    assert_eq!(document.findings.unwrap()[0].ignored_by.as_deref(), Some("why not"));
    assert_eq!(document.summary.unwrap().ignored, 1);
    let sarif: Value = serde_json::from_str(&in_format(&arguments, "sarif").out).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"][0]["justification"], "why not");
}

#[test]
fn a_baseline_accepts_what_was_known_in_the_next_build_and_nothing_else() {
    let folder = Folder::new();
    let modules = |last: &[&str]| [module(&["80", "90"]), module(last)];
    let path = folder.write("1/x-1.0-cp312-cp312-linux_x86_64.whl", wheel_of(&modules(&["80", "90"])));
    let report = in_format(&args(&[&path, "--require", "7.5,9.0"]), "json");
    assert_eq!(report.code, Some(1));
    let baseline = folder.write("baseline.json", &report.out);
    let with = |path: &str, gpus: &str| args(&[path, "--require", gpus, "--baseline", &baseline]);
    assert_code(&with(&path, "7.5,9.0"), 0, "the same");
    assert!(check(&with(&path, "7.5,9.0")).out.contains("1 ignored"));
    // another version in another folder
    let next = folder.write("2/x-1.1-cp313-cp313-linux_x86_64.whl", wheel_of(&modules(&["80", "90"])));
    assert_code(&with(&next, "7.5,9.0"), 0, "the next version");
    // another device, another package, another rule
    assert_code(&with(&path, "7.5,12.0"), 1, "another device");
    let other = folder.write("3/y-1.0-py3-none-any.whl", wheel_of(&modules(&["80", "90"])));
    assert_code(&with(&other, "7.5"), 1, "another package");
    let more = [modules(&["75", "80"]).to_vec(), vec![module(&["80", "90"])]].concat();
    let partial = folder.write("4/x-1.2-py3-none-any.whl", wheel_of(&more));
    assert_code(&with(&partial, "7.5"), 1, "another rule");
}

#[test]
fn a_baseline_does_not_hide_other_code_that_is_missing() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let known = in_format(&args(&[&path, "--contains", "8.9"]), "json");
    let baseline = folder.write("baseline.json", &known.out);
    assert_code(&args(&[&path, "--contains", "8.9", "--baseline", &baseline]), 0, "the same");
    assert_code(&args(&[&path, "--contains", "8.9;10.0", "--baseline", &baseline]), 1, "more is missing");
    // a size that was too large once must not hide that it grew
    let known = in_format(&args(&[&path, "--max-size", "10"]), "json");
    let baseline = folder.write("baseline.json", &known.out);
    assert_code(&args(&[&path, "--max-size", "10", "--baseline", &baseline]), 1, "too large");
}

#[test]
fn sarif_names_the_file_and_tells_findings_apart() {
    let folder = Folder::new();
    let path = folder.write("we!rd.whl", wheel_of(&[module(&["80", "90"])]));
    let log: Value = serde_json::from_str(&in_format(&args(&[&path, "--contains", "8.9;10.0"]), "sarif").out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert!(uri.as_str().unwrap().ends_with("we%21rd.whl"), "{uri}");
    }
    let print = |index: usize| results[index]["partialFingerprints"]["fatscan/v1"].clone();
    assert_ne!(print(0), print(1));
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let report: Value = serde_json::from_str(&in_format(&args(&[&path, "--require", "9.0"]), "json").out).unwrap();
    let schema = report["schema"].as_u64().unwrap();
    let mut newer = report;
    newer["schema"] = (schema + 1).into();
    newer["findings"] = "of another shape".into();
    let list = run(["list", "--format", "json", &path]).out;
    let explained = run(["explain", "--format", "json", "--gpu", "9.0", &path]).out;
    for (text, expected) in [
        (newer.to_string(), vec![format!("schema {}", schema + 1), "newer than".to_owned()]),
        (list, vec!["no findings".to_owned(), "fatscan check --format json".to_owned()]),
        (explained, vec!["no findings".to_owned()]),
        ("{}".to_owned(), vec!["no JSON report".to_owned()]),
        (String::new(), vec!["no JSON report".to_owned(), "line 1".to_owned()]),
        ("[1, 2".to_owned(), vec!["no JSON report".to_owned()]),
    ] {
        let baseline = folder.write("baseline.json", text);
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        assert_refused(&args(&[&path, "--require", "9.0", "--baseline", &baseline]), &expected);
    }
    // no text at all
    let baseline = folder.write("baseline.json", [0xff, 0xfe]);
    assert_refused(&args(&[&path, "--require", "9.0", "--baseline", &baseline]), &["cannot be read"]);
}

// --- formats

/// A wheel with a name that every format must escape, and findings of three levels in it.
fn awkward(folder: &Folder, name: &str) -> Vec<String> {
    let path = folder.write(
        name,
        wheel(&[
            ("x/<a>&\"b\" 100%,c:d.so", library(&[module(&["80", "90"]), module(&["90a"])])),
            ("x/e|f`g.so", library(&[vec![sass("75"), ptx("80", (8, 0))]])),
        ]),
    );
    args(&[&path, "--require", "7.5,8.0", "--warn", "jit", "--contains", "8.0"])
}

/// Names that Windows has no files for.
#[cfg(unix)]
const AWKWARD: &str = "a b/100%25 <&>\"',;:\n\u{1b}[31mé—x-1.0-py3-none-any.whl";
#[cfg(not(unix))]
const AWKWARD: &str = "a b/100%25 &',;é—x-1.0-py3-none-any.whl";

#[test]
fn the_table_has_one_line_a_finding_and_the_summary_last() {
    let folder = Folder::new();
    let run = check(&awkward(&folder, AWKWARD));
    assert_eq!(run.code, Some(1));
    let lines: Vec<&str> = run.out.lines().collect();
    let starts = |line: &&&str| ["error ", "warning ", "note ", "assumes "].iter().any(|level| line.starts_with(level));
    let findings = lines.iter().filter(starts).count();
    let hints = lines.iter().filter(|line| line.starts_with("    hint: ")).count();
    // two GPUs have a table, between two empty lines
    let ends: Vec<usize> = (0..lines.len()).filter(|index| lines[*index].is_empty()).collect();
    assert_eq!(ends.len(), 2, "{}", run.out);
    let table = ends[1] - ends[0] + 1;
    assert_eq!(table, 4, "a head, an artefact: {}", run.out);
    assert_eq!(findings + hints + table + 1, lines.len(), "{}", run.out);
    assert!(lines.last().unwrap().starts_with("failed: 1 artefact on 2 GPUs, "), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "a terminal would obey");
    // what is not forced to be wide is not
    let mut command = command();
    command.args(["check"]).args(awkward(&folder, "x.whl")).env("COLUMNS", "80");
    let run = finish(command);
    for line in run.out.lines() {
        assert!(line.chars().count() <= 80 || !line.trim_start().contains(' '), "{line}");
    }
}

#[test]
fn colour_is_for_terminals_and_those_who_force_it() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let with = |name: &str, more: &[&str]| {
        let mut command = command();
        command.args(["check", &path, "--require", "9.0"]).args(more).env(name, "1");
        finish(command).out
    };
    assert!(!with("UNUSED", &[]).contains('\u{1b}'));
    assert!(with("CLICOLOR_FORCE", &[]).contains('\u{1b}'));
    assert!(!with("CLICOLOR_FORCE", &["--no-color"]).contains('\u{1b}'));
    assert!(!with("NO_COLOR", &[]).contains('\u{1b}'));
}

#[test]
fn json_is_the_contract_with_findings_and_their_sum() {
    let folder = Folder::new();
    let arguments = awkward(&folder, AWKWARD);
    let run = in_format(&arguments, "json");
    let document = document(&run);
    let findings = document.findings.unwrap();
    let summary = document.summary.unwrap();
    let count = |level: &str| findings.iter().filter(|finding| finding.level == level).count() as u64;
    assert_eq!((summary.errors, summary.warnings, summary.notes), (count("error"), count("warning"), count("note")));
    assert!(summary.errors > 0 && summary.warnings > 0 && summary.notes > 0, "{summary:?}");
    assert!(!summary.passed);
    for finding in &findings {
        assert!(finding.rule.parse::<Rule>().is_ok());
        assert!(finding.place.starts_with(&arguments[0]), "{}", finding.place);
    }
    assert_eq!(document.devices.unwrap().len(), 2);
    assert_eq!(run.out.lines().count(), 1);
}

#[test]
fn github_annotations_are_escaped_as_the_runner_reads_them() {
    let folder = Folder::new();
    let arguments = awkward(&folder, AWKWARD);
    let run = in_format(&arguments, "github");
    let expected = document(&in_format(&arguments, "json")).findings.unwrap();
    let mut expected: Vec<_> = expected.iter().filter(|finding| finding.level != "allowed").collect();
    // the gravest first
    expected.sort_by_key(|finding| ["error", "warning", "note"].iter().position(|level| *level == finding.level));
    let lines: Vec<&str> = run.out.split_terminator('\n').collect();
    assert_eq!(lines.len(), expected.len(), "{}", run.out);
    for (line, finding) in lines.iter().zip(expected) {
        // `::error file=F,title=T::message`, as actions/runner takes it apart
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (level, properties) = head.split_once(' ').unwrap();
        assert_eq!(level, if finding.level == "note" { "notice" } else { &finding.level });
        let properties: Vec<(&str, &str)> = properties.split(',').map(|pair| pair.split_once('=').unwrap()).collect();
        assert_eq!(properties.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["file", "title"], "{line}");
        let unescaped = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",");
            text.replace("%25", "%")
        };
        assert_eq!(unescaped(properties[0].1), arguments[0].replace('\u{1b}', "\\u{1b}"), "{line}");
        assert!(!properties[0].1.contains([':', '\n', '\r']), "{line}");
        assert_eq!(properties[1].1, format!("fatscan {}", finding.rule));
        assert!(unescaped(message).contains(&finding.message), "{line}");
    }
}

/// Places are written with `!` and `@`, which stand in names too.
#[test]
fn damage_is_told_of_the_artefact_whatever_its_name() {
    let folder = Folder::new();
    let cut = testkit::truth::bytes("bad_truncated.fatbin");
    for name in ["bad.fatbin", "a@b/bad.fatbin", "a!b/bad@0x10.fatbin"] {
        let path = folder.write(name, &cut);
        let arguments = args(&[&path, "--require", "9.0"]);
        let line = in_format(&arguments, "github").out;
        assert!(line.contains(&format!("file={path},title=fatscan damage::")), "{line}");
        let root = parse_xml(&in_format(&arguments, "junit").out);
        let names: Vec<&str> = root.children[0].children.iter().map(|case| case.get("name")).collect();
        assert_eq!(names, [path.as_str()]);
    }
}

/// An element of XML: its name, its attributes, its text, its children.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn get(&self, name: &str) -> &str {
        self.attributes.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }
}

/// Characters that XML 1.0 has (section 2.2).
fn is_xml_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn xml_text(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').expect("an entity ends");
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => char::from_u32(number.strip_prefix("#x").map_or_else(
                || number.strip_prefix('#').unwrap().parse().unwrap(),
                |hex| u32::from_str_radix(hex, 16).unwrap(),
            ))
            .unwrap(),
        });
        out.push_str(rest);
    }
    assert!(!out.contains('\u{0}'));
    out
}

/// The root of a document of elements, attributes in double quotes and text: what is well formed beyond that is not
/// needed here.
fn parse_xml(text: &str) -> Element {
    assert!(text.chars().all(is_xml_character), "characters that XML has not");
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    let mut open = vec![Element::default()];
    while let Some(at) = rest.find('<') {
        let before = xml_text(&rest[..at]);
        open.last_mut().unwrap().text.push_str(&before);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let element = open.pop().unwrap();
            assert_eq!(element.name, name, "tags nest");
            open.last_mut().unwrap().children.push(element);
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut element = Element { name: name.to_owned(), ..Element::default() };
        while !attributes.is_empty() {
            let (key, value) = attributes.split_once("=\"").expect("an attribute has a value in quotes");
            let (value, more) = value.split_once('"').expect("the value ends");
            element.attributes.push((key.trim().to_owned(), xml_text(value)));
            attributes = more.trim_start();
        }
        open.push(element);
    }
    assert_eq!(open.len(), 1, "every tag is closed");
    let mut top = open.pop().unwrap();
    assert_eq!(top.children.len(), 1, "one root");
    top.children.remove(0)
}

#[test]
fn junit_is_well_formed_xml_with_a_case_for_each_artefact() {
    let folder = Folder::new();
    let mut arguments = awkward(&folder, AWKWARD);
    arguments.push(folder.write("good-1.0-py3-none-any.whl", wheel_of(&[module(&["75", "80"])])));
    let missing = folder.file("missing.whl").to_str().unwrap().to_owned();
    arguments.push(missing.clone());
    let run = in_format(&arguments, "junit");
    assert_eq!(run.code, Some(1));
    let root = parse_xml(&run.out);
    assert_eq!(root.name, "testsuites");
    let suite = &root.children[0];
    assert_eq!((suite.name.as_str(), suite.get("name")), ("testsuite", "fatscan check"));
    assert_eq!(suite.get("tests").parse(), Ok(suite.children.len()));
    let failed: Vec<&Element> =
        suite.children.iter().filter(|case| case.children.iter().any(|child| child.name == "failure")).collect();
    assert_eq!(suite.get("failures").parse(), Ok(failed.len()));
    assert_eq!((suite.children.len(), failed.len()), (3, 2));
    for case in &suite.children {
        assert_eq!((case.name.as_str(), case.get("classname")), ("testcase", "fatscan"));
        for child in &case.children {
            assert!(["failure", "system-out"].contains(&child.name.as_str()));
            assert!(child.name != "failure" || child.get("type").parse::<Rule>().is_ok());
        }
    }
    let own = suite.children.iter().find(|case| case.get("name").contains("100%25")).unwrap();
    // what misleads in a name is written out, and XML has no control characters
    assert_eq!(own.get("name"), arguments[0].replace('\n', "\\n").replace('\u{1b}', "\\u{1b}"));
    assert!(own.children.iter().any(|child| child.text.contains("<a>&\"b\" 100%,c:d.so")), "{own:?}");
    // what has no artefact has a case too
    assert!(failed.iter().any(|case| case.children.iter().any(|child| child.get("message").contains("FS0101"))));
}

#[test]
fn markdown_keeps_its_columns_and_obeys_no_name() {
    let folder = Folder::new();
    let run = in_format(&awkward(&folder, AWKWARD), "markdown");
    let rows: Vec<&str> = run.out.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows[..2], ["| level | rule | where | what |", "|---|---|---|---|"]);
    for row in &rows[2..] {
        let bars = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(bars, 5, "{row}");
        assert!(!row.contains("x/<a>") && !row.contains('\u{1b}'), "{row}");
    }
    assert!(run.out.lines().last().unwrap().starts_with("failed: "));
    // nothing found: no table
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let run = in_format(&args(&[&path, "--require", "9.0"]), "markdown");
    assert!(!run.out.contains('|'), "{}", run.out);
}

/// Required properties, types and enumerations of SARIF 2.1.0 (OASIS, sections 3.13 to 3.35), as far as they are used.
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    for run in log["runs"].as_array().unwrap() {
        let driver = &run["tool"]["driver"];
        assert!(driver["name"].is_string());
        let rules = driver["rules"].as_array().unwrap();
        let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
        let level = |value: &Value| ["none", "note", "warning", "error"].contains(&value.as_str().unwrap());
        for rule in rules {
            assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
            assert!(level(&rule["defaultConfiguration"]["level"]));
        }
        for result in run["results"].as_array().unwrap() {
            assert!(level(&result["level"]));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(ids[index], result["ruleId"].as_str().unwrap());
            for location in result["locations"].as_array().unwrap() {
                if let Some(physical) = location.get("physicalLocation") {
                    let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                    assert_uri(uri);
                }
                for logical in location["logicalLocations"].as_array().unwrap() {
                    assert!(logical["fullyQualifiedName"].is_string());
                }
            }
            for (key, value) in result["partialFingerprints"].as_object().unwrap() {
                assert!(!key.is_empty() && value.is_string());
            }
            for suppression in result["suppressions"].as_array().into_iter().flatten() {
                assert!(["inSource", "external"].contains(&suppression["kind"].as_str().unwrap()));
            }
        }
    }
}

/// A reference of RFC 3986: its characters only, and every `%` before two hexadecimal digits.
fn assert_uri(uri: &str) {
    assert!(!uri.is_empty());
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            assert!(bytes.next().unwrap().is_ascii_hexdigit() && bytes.next().unwrap().is_ascii_hexdigit(), "{uri}");
        } else {
            assert!(byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte), "{uri}");
        }
    }
}

fn unpercent(uri: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
            out.push(u8::from_str_radix(core::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn sarif_keeps_the_rules_of_2_1_0() {
    let folder = Folder::new();
    let arguments = awkward(&folder, AWKWARD);
    let run = in_format(&arguments, "sarif");
    let log: Value = serde_json::from_str(&run.out).unwrap();
    assert_sarif(&log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let expected = document(&in_format(&arguments, "json")).findings.unwrap();
    assert_eq!(results.len(), expected.len());
    for (result, finding) in results.iter().zip(&expected) {
        assert_eq!(
            (result["ruleId"].as_str(), result["level"].as_str()),
            (Some(&*finding.rule), Some(&*finding.level))
        );
        assert_eq!(result["message"]["text"], finding.message.as_str());
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert_eq!(unpercent(uri), arguments[0]);
    }
    let ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    // every rule's own findings, and a run without any
    for rule in Rule::ALL.iter().copied() {
        let folder = Folder::new();
        let case = case(&folder, rule).unwrap();
        for arguments in [&case.trips, &case.holds] {
            assert_sarif(&serde_json::from_str(&in_format(arguments, "sarif").out).unwrap());
        }
    }
}

#[test]
fn nothing_but_the_format_is_on_standard_output_and_nothing_else_on_standard_error() {
    let folder = Folder::new();
    let case = case(&folder, Rule::Unreadable).unwrap();
    for format in FORMATS {
        let run = in_format(&case.trips, format);
        assert!(run.err.is_empty(), "{format}: {}", run.err);
        assert!(run.out.ends_with('\n'), "{format}");
    }
}

// --- many artefacts

#[test]
fn two_hundred_wheels_are_reported_in_a_stable_order_one_line_a_finding() {
    let folder = Folder::new();
    let (good, bad) = (good(), wheel_of(&[module(&["75", "80"]), module(&["80", "90"])]));
    let mut paths = Vec::new();
    let mut expected = Vec::new();
    for number in 0..200 {
        // as a shell would not sort them: the order given is the order reported
        let name = format!("w{:03}-1.0-py3-none-any.whl", (number * 77) % 200);
        let path = folder.write(&name, if number % 5 == 0 { &bad } else { &good });
        if number % 5 == 0 {
            expected.push(path.clone());
        }
        paths.push(path);
    }
    let mut outputs = Vec::new();
    for threads in ["1", "4", "0"] {
        for format in FORMATS {
            let flags = words(&format!("--require 9.0 --threads {threads} --format {format}"));
            let run = check(&[paths.clone(), flags].concat());
            assert_eq!(run.code, Some(1), "{}", run.err);
            outputs.push((format, run.out));
        }
    }
    for (index, (format, out)) in outputs.iter().enumerate() {
        assert_eq!(*out, outputs[index % FORMATS.len()].1, "{format} differs by the number of threads");
    }
    let found: Vec<&str> =
        outputs[0].1.lines().filter_map(|line| line.strip_prefix("error [partial] ")?.split('!').next()).collect();
    assert_eq!(found, expected);
    assert!(outputs[0].1.ends_with("failed: 200 artefacts on 1 GPU, 40 errors\n"));
    let root = parse_xml(&outputs[4].1);
    let names: Vec<&str> = root.children[0].children.iter().map(|case| case.get("name")).collect();
    assert_eq!(names, paths);
    // a directory of them is one artefact each, by name
    let run = check_with(folder.path().to_str().unwrap(), "--require 9.0");
    assert!(run.out.contains("failed: 200 artefacts on 1 GPU, 40 errors"), "{}", run.out);
}

// --- where the output goes

#[test]
fn a_closed_pipe_ends_quietly_and_leaves_the_verdict() {
    let folder = Folder::new();
    let mut many = Vec::new();
    for number in 0..300 {
        many.push((format!("x/{}{number}.so", "long".repeat(40)), library(&[module(&["80", "90"])])));
    }
    let many: Vec<(&str, Vec<u8>)> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&many));
    for format in FORMATS {
        for (gpu, code) in [("12.0", 1), ("9.0", 0)] {
            let mut command = command();
            command.args(["check", &path, "--require", gpu, "--format", format]);
            let run = run_into_closed_pipe(command);
            assert_eq!((run.code, run.err.as_str()), (Some(code), ""), "{format}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for format in FORMATS {
        // a check that passes has nothing to annotate
        let gpus = if format == "github" { &["12.0"][..] } else { &["9.0", "12.0"] };
        for gpu in gpus {
            let mut command = command();
            command.args(["check", &path, "--require", gpu, "--format", format]);
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            command.stdout(full).stderr(std::process::Stdio::piped()).stdin(std::process::Stdio::null());
            let output = command.output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{format}: {err}");
            assert!(err.contains("output cannot be written"), "{format}: {err}");
            assert_eq!(err.matches("error").count(), 2, "one sentence and the system's number: {err}");
        }
    }
}

// --- the shell

#[test]
fn completions_are_printed_for_every_shell() {
    for (shell, words) in [
        ("bash", &["complete -F", "--require"][..]),
        ("zsh", &["#compdef fatscan", "--require"]),
        ("fish", &["complete -c fatscan", "require"]),
        ("elvish", &["edit:completion", "--require"]),
        ("powershell", &["Register-ArgumentCompleter", "--require"]),
    ] {
        let run = run(["completions", shell]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{shell}");
        for word in words {
            assert!(run.out.contains(word), "{shell}: {word}");
        }
        for command in ["list", "explain", "check", "arch", "schema", "completions", "man"] {
            assert!(run.out.contains(command), "{shell}: {command}");
        }
    }
    assert_eq!(run(["completions", "tcsh"]).code, Some(2));
    assert_eq!(run(["completions"]).code, Some(2));
    let mut command = command();
    command.args(["completions", "bash"]);
    assert_eq!(run_into_closed_pipe(command).code, Some(0));
}

#[test]
fn the_manual_has_a_page_for_the_program_and_one_for_each_command() {
    let page = run(["man"]);
    assert_eq!((page.code, page.err.as_str()), (Some(0), ""));
    assert!(page.out.contains(".TH fatscan 1"), "{}", page.out);
    for section in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
        assert!(page.out.contains(section), "{section}");
    }
    for name in ["list", "explain", "check", "arch", "schema", "completions", "man"] {
        assert!(page.out.contains(&format!("fatscan\\-{name}(1)")), "{name}");
        let own = run(["man", name]);
        assert_eq!((own.code, own.err.as_str()), (Some(0), ""), "{name}");
        let title = format!(".TH fatscan-{name} 1  \"fatscan {}\"", env!("CARGO_PKG_VERSION"));
        assert!(own.out.contains(&title), "{}", own.out);
    }
    assert!(run(["man", "check"]).out.contains("\\-\\-allow\\-jit"));
    let run = run(["man", "nothing"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("`nothing` is no command") && run.err.contains("explain"), "{}", run.err);
    let mut command = command();
    command.arg("man");
    assert_eq!(run_into_closed_pipe(command).code, Some(0));
}
