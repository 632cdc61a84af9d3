//! The configuration of the gate: demands of their own for files and fleets, versions, vendored libraries. Every wheel is
//! written for its test.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic here is a failing test"
)]

mod program;

use program::{Folder, Run, library, module, ptx, run, sass, wheel};
use serde_json::Value;

/// `fatscan check` of a wheel with a configuration and flags without blanks.
fn check(folder: &Folder, path: &str, config: &str, flags: &str) -> Run {
    let config = folder.write("fatscan.toml", config);
    run(["check", path, "--config", &config].into_iter().chain(flags.split_ascii_whitespace()))
}

/// Rule, level and place of each finding that is shown.
fn findings(run: &Run) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = run.json()["findings"].as_array().unwrap().clone();
    let place = |value: &Value| text(value).rsplit('/').next().unwrap().to_owned();
    let shown = all.iter().filter(|own| own["level"] != "allowed");
    shown.map(|own| (text(&own["rule"]), text(&own["level"]), place(&own["place"]))).collect()
}

/// The extensions of vllm, each with modules of its own: every one of them is built for another list.
fn vllm(moe: &[&str], fa3: &str) -> Vec<u8> {
    let mut core = module(&["75", "80", "86", "89", "90", "100", "120"]);
    core.push(ptx("120", (8, 7)));
    wheel(&[
        ("vllm/_C.abi3.so", library(&[core, module(&["90a"]), module(&["100a"])])),
        ("vllm/_moe_C.abi3.so", library(&[module(moe)])),
        ("vllm/vllm_flash_attn/_vllm_fa2_C.abi3.so", library(&[module(&["80", "90", "100", "120"])])),
        (fa3, library(&[module(&["90a"]), module(&["90a"])])),
    ])
}

const VLLM: &str = r#"
version = 1
strict = true

[levels]
specialised = "allow"
newer = "allow"
older = "allow"

[[files]]
glob = "vllm/_C.abi3.so"
contains = "7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"
require = ["T4", "A100", "H100", "B200", "RTX 5090"]

[[files]]
glob = "vllm/_moe_C.abi3.so"
contains = "8.0;8.6;8.9;9.0;10.0;12.0"

[[files]]
glob = "_vllm_fa2_C.*"
contains = "8.0;9.0;10.0;12.0"

[[files]]
glob = "_vllm_fa3_C.*"
contains = "9.0a"
require = ["H100"]
"#;
const FA3: &str = "vllm/vllm_flash_attn/_vllm_fa3_C.abi3.so";
const MOE: [&str; 6] = ["80", "86", "89", "90", "100", "120"];

#[test]
fn each_extension_has_its_own_list_in_one_configuration() {
    let folder = Folder::new();
    let path = folder.write("vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl", vllm(&MOE, FA3));
    let run = check(&folder, &path, VLLM, "--format json");
    assert_eq!((run.code, findings(&run)), (Some(0), Vec::new()), "{}", run.err);
    // one list for all could not say it
    let all = "contains = \"7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX\"\n";
    assert_eq!(check(&folder, &path, all, "").code, Some(1));
}

#[test]
fn an_extension_that_loses_an_architecture_fails_by_its_own_list() {
    let folder = Folder::new();
    let finding = |rule: &str, place: &str| (rule.to_owned(), "error".to_owned(), place.to_owned());
    // every architecture of the list is looked for, in the file that has the list
    for lost in MOE {
        let rest: Vec<&str> = MOE.into_iter().filter(|arch| *arch != lost).collect();
        let path = folder.write("vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl", vllm(&rest, FA3));
        let run = check(&folder, &path, VLLM, "--format json");
        assert_eq!(findings(&run), [finding("missing", "_moe_C.abi3.so")]);
        assert_eq!(run.code, Some(1));
        assert!(run.out.contains(&format!("\"subject\":\"sm_{lost}\"")), "{}", run.out);
    }
    // strict holds for each list by itself: 7.5 is in another one
    let more = [&MOE[..], &["75"]].concat();
    let path = folder.write("vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl", vllm(&more, FA3));
    let run = check(&folder, &path, VLLM, "--format json");
    assert_eq!(findings(&run), [finding("extra", "_moe_C.abi3.so")]);
    // an extension under another name is not one that needs nothing
    let path = folder.write(
        "vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl",
        vllm(&MOE, "vllm/vllm_flash_attn/_vllm_flash3_C.abi3.so"),
    );
    let run = check(&folder, &path, VLLM, "--format json");
    assert_eq!(findings(&run), [finding("unmatched-files", "vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl")]);
    assert_eq!(run.code, Some(1));
}

#[test]
fn tables_are_merged_key_by_key_and_the_last_one_counts() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[("x/a.so", library(&[module(&["80"])])), ("x/b.so", library(&[module(&["80"])]))]),
    );
    let wide = "[[files]]\nglob = \"x/*\"\ncontains = \"8.0;9.0\"\n";
    let narrow = "[[files]]\nglob = \"a.so\"\ncontains = \"8.0\"\n";
    let level = "[[files]]\nglob = \"b.so\"\nlevels = { missing = \"warn\" }\n";
    for (config, code) in [
        (wide.to_owned(), 1),
        (format!("{wide}{narrow}"), 1),
        // a.so has a list of its own, b.so keeps the wide one and weighs it less
        (format!("{wide}{narrow}{level}"), 0),
        (format!("{narrow}{wide}{level}"), 1),
        // an empty list demands nothing, also where the whole package has one
        ("contains = \"9.0\"\n[[files]]\nglob = \"x/*\"\ncontains = \"\"\n".to_owned(), 0),
        ("contains = \"9.0\"\n[[files]]\nglob = \"a.so\"\ncontains = \"\"\n".to_owned(), 1),
    ] {
        let run = check(&folder, &path, &config, "");
        assert_eq!(run.code, Some(code), "{config}: {}{}", run.out, run.err);
    }
}

#[test]
fn files_run_on_their_own_gpus_and_no_other_file_must() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[("x/a.so", library(&[module(&["80"])])), ("x/old.so", library(&[module(&["70", "75"])]))]),
    );
    let fleet = "[fleet.all]\ngpus = [\"8.0\"]\n";
    let own = |gpus: &str| format!("{fleet}[[files]]\nglob = \"old.so\"\nrequire = [{gpus}]\n");
    assert_eq!(check(&folder, &path, fleet, "").code, Some(1), "old.so must run on 8.0");
    assert_eq!(check(&folder, &path, &own("\"7.5\""), "").code, Some(0));
    assert_eq!(check(&folder, &path, &own(""), "").code, Some(0), "it need not run anywhere");
    let run = check(&folder, &path, &own("\"12.0\""), "");
    assert!(run.code == Some(1) && run.out.contains("old.so: does not run on 12.0"), "{}", run.out);
    // of alternatives a named one is asked by itself
    let path = folder.write(
        "y-1.0-py3-none-any.whl",
        wheel(&[("y/sm80/o.so", library(&[module(&["80"])])), ("y/sm90/o.so", library(&[module(&["80"])]))]),
    );
    let one =
        "[fleet.all]\ngpus = [\"8.0\"]\n[[files]]\nglob = \"y/sm90/*\"\nrequire = [\"9.0\"]\ncontains = \"9.0\"\n";
    assert_eq!(check(&folder, &path, fleet, "").code, Some(0), "one of them fits");
    let run = check(&folder, &path, one, "--format json");
    let rules: Vec<String> = findings(&run).into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(rules, ["missing"], "8.0 code runs on no 9.0, sm_80 does: {}", run.out);
}

#[test]
fn compiling_is_allowed_by_fleet_and_by_file() {
    let folder = Folder::new();
    let jit = || library(&[vec![sass("80"), ptx("80", (8, 0))]]);
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&[("x/a.so", jit()), ("x/b.so", jit())]));
    let fleet = |jit: &str| format!("[fleet.new]\ngpus = [\"10.0\"]\n{jit}");
    let old = "[fleet.old]\ngpus = [\"9.0\"]\n";
    for (config, code) in [
        (fleet(""), 1),
        (fleet("allow-jit = true\n"), 0),
        (fleet("allow-jit = 99\n"), 1),
        // of one fleet only
        (format!("{}{old}", fleet("allow-jit = true\n")), 1),
        (format!("allow-jit = true\n{}{old}", fleet("")), 0),
        // what is nearer counts
        (format!("allow-jit = true\n{}", fleet("allow-jit = false\n")), 1),
        (format!("{}[[files]]\nglob = \"x/*\"\nallow-jit = true\n", fleet("")), 0),
        (format!("{}[[files]]\nglob = \"a.so\"\nallow-jit = true\n", fleet("")), 1),
        (format!("{}[[files]]\nglob = \"a.so\"\nallow-jit = false\n", fleet("allow-jit = true\n")), 1),
        ("[[any-of]]\nname = \"one\"\ngpus = [\"10.0\", \"12.0\"]\nallow-jit = true\n".to_owned(), 0),
        ("[[any-of]]\nname = \"one\"\ngpus = [\"10.0\", \"12.0\"]\n".to_owned(), 1),
    ] {
        let run = check(&folder, &path, &config, "");
        assert_eq!(run.code, Some(code), "{config}: {}{}", run.out, run.err);
    }
}

#[test]
fn an_ignore_may_be_for_one_fleet() {
    let folder = Folder::new();
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&[("x/a.so", library(&[module(&["80"])]))]));
    let fleets = "[fleet.lab]\ngpus = [\"9.0\"]\n[fleet.shop]\ngpus = [\"9.0\"]\n";
    let ignore = |fleet: &str| {
        format!(
            "{fleets}[[ignore]]\nrule = \"not-covered\"\nfleet = \"{fleet}\"\nreason = \"old\"\nexpires = \"9999-12-31\"\n"
        )
    };
    let run = check(&folder, &path, &ignore("lab"), "--format json");
    let of: Vec<(Value, bool)> = run.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| (own["fleet"].clone(), own["ignored_by"].is_null()))
        .collect();
    assert_eq!(of, [(Value::from("lab"), false), (Value::from("shop"), true)]);
    assert_eq!(run.code, Some(1));
    let both = format!("{}{}", ignore("lab"), ignore("shop").replace(fleets, ""));
    assert_eq!(check(&folder, &path, &both, "").code, Some(0));
    let run = check(&folder, &path, &ignore("labs"), "");
    assert!(run.code == Some(2) && run.err.contains("at line 7, column 9: `labs` is no fleet"), "{}", run.err);
}

#[test]
fn a_table_that_only_permits_and_matches_nothing_is_said() {
    let folder = Folder::new();
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&[("x/a.so", library(&[module(&["90"])]))]));
    let config = |table: &str| format!("[fleet.all]\ngpus = [\"9.0\"]\n[[files]]\n{table}\n");
    let idle = "glob = \"b.so\"\nlevels = { jit = \"warn\"";
    let run = check(&folder, &path, &config(&format!("{idle} }}")), "--format json");
    assert_eq!(
        (run.code, findings(&run)[0].clone()),
        (Some(0), ("unmatched-files".into(), "warning".into(), String::new()))
    );
    for (table, flags, code) in [
        (format!("{idle}, unmatched-files = \"deny\" }}"), "", 1),
        (format!("{idle} }}"), "--deny unmatched-files", 1),
        // the table is nearer than a flag
        (
            "glob = \"b.so\"\ncontains = \"9.0\"\nlevels = { unmatched-files = \"allow\" }".to_owned(),
            "--deny unmatched-files",
            0,
        ),
        ("glob = \"b.so\"\ncontains = \"9.0\"".to_owned(), "", 1),
        // what was left out by name is not missing
        ("glob = \"a.so\"\ncontains = \"9.0\"".to_owned(), "--member *.so", 0),
        // it is about other artefacts
        ("glob = \"b.so\"\nartefact = \"y-*.whl\"\ncontains = \"9.0\"".to_owned(), "", 0),
        ("glob = \"b.so\"\nartefact = \"x-*.whl\"\ncontains = \"9.0\"".to_owned(), "", 1),
    ] {
        let run = check(&folder, &path, &config(&table), flags);
        assert_eq!(run.code, Some(code), "{table} {flags}: {}{}", run.out, run.err);
    }
    // of two artefacts each must have it
    let other = folder.write("y-1.0-py3-none-any.whl", wheel(&[("y/b.so", library(&[module(&["90"])]))]));
    let two = config("glob = \"a.so\"\ncontains = \"9.0\"");
    assert_eq!(check(&folder, &path, &two, &other).code, Some(1));
    let two = config("glob = \"a.so\"\nlevels = { jit = \"warn\" }");
    let run = check(&folder, &path, &two, &other);
    assert!(run.code == Some(0) && !run.out.contains("unmatched"), "{}", run.out);
    // `--member` chooses: what is said of other files is not judged
    let both = folder.write(
        "z-1.0-py3-none-any.whl",
        wheel(&[("z/a.so", library(&[module(&["90"])])), ("z/b.so", library(&[module(&["90"])]))]),
    );
    let run = check(&folder, &both, &config("glob = \"a.so\"\ncontains = \"9.0\""), "--member b.so");
    assert_eq!(run.code, Some(0), "{}", run.out);
}

#[test]
fn what_is_wrong_in_a_configuration_has_a_line_and_a_column() {
    let folder = Folder::new();
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&[("x/a.so", library(&[module(&["90"])]))]));
    for (config, expected) in [
        (
            "# new\nversion = 2\nfleets = 3\n",
            &["at line 2, column 11", "version = 2 is newer than this fatscan reads"][..],
        ),
        ("version = 0\n", &["line 1, column 11", "no version"]),
        ("version = \"1\"\n", &["line 1, column 11", "invalid type"]),
        ("allow-jit = true\ncolour = \"red\"\n", &["line 2, column 1", "unknown field `colour`", "`allow-jit`"]),
        ("[[files]]\nglob = \"a\"\nlevles = {}\n", &["line 3, column 1", "unknown field `levles`"]),
        ("[[files]]\ncontains = \"9.0\"\n", &["line 1, column 1", "missing field `glob`"]),
        ("[[files]]\nglob = \"a\"\ncontains = \"9.9\"\n", &["line 3, column 12", "`9.9`"]),
        ("[[files]]\nglob = \"a\"\nrequire = [\"H1000\"]\n", &["line 3, column 11", "H1000"]),
        ("[[files]]\nglob = \"a\"\ndriver = \"580.65.06\"\n", &["line 3, column 10", "require"]),
        ("[[files]]\nglob = \"a[\"\n", &["line 2, column 8", "a["]),
        ("[[files]]\nglob = \"a\"\nallow-jit = 101\n", &["line 3, column 13", "percentage"]),
        ("[fleet.a]\ngpus = [\"9.0\"]\nallow-jit = \"no\"\n", &["line 3, column 13", "allow-jit"]),
        ("vendored = \"maybe\"\n", &["line 1, column 12", "run, ignore, check"]),
    ] {
        let run = check(&folder, &path, config, "");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{config}: {}", run.err);
        for word in expected {
            assert!(run.err.contains(word), "{config}: `{word}` is not in {}", run.err);
        }
    }
}

/// A wheel as auditwheel repairs it, with a library of NVIDIA for a list of its own, and one of the owner's.
fn repaired(own: &[&str]) -> Vec<u8> {
    wheel(&[
        ("x/_C.abi3.so", library(&[module(&["80", "90"])])),
        ("x.libs/libnvjpeg-4a0b5c81.so.13", library(&[module(&["75", "80", "90", "120"])])),
        ("x.libs/libxcuda-aa62252d.so", library(&[module(own)])),
    ])
}

#[test]
fn vendored_libraries_of_nvidia_need_not_hold_what_was_declared() {
    let folder = Folder::new();
    let path = folder.write("x-1.0-py3-none-any.whl", repaired(&["80", "90"]));
    let strict = ["check", &path, "--contains", "8.0;9.0", "--strict"];
    let with = |flags: &[&str]| run(strict.iter().chain(flags));
    let told = "must run, and need not hold what was declared: x.libs/libnvjpeg-4a0b5c81.so.13";
    let own = with(&[]);
    assert!(own.code == Some(0) && own.out.contains(told), "{}", own.out);
    assert_eq!(with(&["--vendored", "run"]).out, own.out);
    // nothing is silent in any format
    for format in ["sarif", "github", "junit"] {
        let own = with(&["--format", format]);
        assert!(own.code == Some(0) && own.err.contains(told), "{format}: {}", own.err);
    }
    let json = with(&["--format", "json"]).json();
    assert_eq!(json["vendored"], serde_json::json!({ "asked": "run", "files": ["x.libs/libnvjpeg-4a0b5c81.so.13"] }));
    assert!(with(&["--format", "markdown"]).out.contains("need not hold"));
    let checked = with(&["--vendored", "check"]);
    assert!(checked.code == Some(1) && checked.out.contains("libnvjpeg-4a0b5c81.so.13: `sm_75` was not declared"));
    assert!(!checked.out.contains("vendored code"));
    // a library of the owner's in the same folder is asked all
    let path = folder.write("x-1.0-py3-none-any.whl", repaired(&["80"]));
    let own = run(["check", &path, "--contains", "8.0;9.0", "--strict"]);
    assert!(own.code == Some(1) && own.out.contains("libxcuda-aa62252d.so: `sm_90` is in none"), "{}", own.out);
}

#[test]
fn vendored_libraries_must_run_unless_they_are_left_out() {
    let folder = Folder::new();
    let own = [
        ("x/_C.abi3.so", library(&[module(&["80", "90"])])),
        ("x.libs/libnvjpeg-4a0b5c81.so.13", library(&[module(&["75", "80"])])),
    ];
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&own));
    let with = |how: &str| run(["check", &path, "--require", "9.0", "--vendored", how]);
    assert_eq!(["run", "check", "ignore"].map(|how| with(how).code), [Some(1), Some(1), Some(0)]);
    let ignored = with("ignore").out;
    assert!(ignored.contains("was not looked at: x.libs/libnvjpeg-4a0b5c81.so.13"), "{ignored}");
    let config = "vendored = \"ignore\"\n[fleet.a]\ngpus = [\"9.0\"]\n";
    assert_eq!(check(&folder, &path, config, "").code, Some(0));
    assert_eq!(check(&folder, &path, config, "--vendored run").code, Some(1), "the flag counts");
    // a gate that leaves out everything says so
    let path = folder.write("y-1.0-py3-none-any.whl", wheel(&own[1..]));
    let run = run(["check", &path, "--require", "8.0", "--vendored", "ignore"]);
    assert!(run.code == Some(2) && run.err.contains("leaves out every file"), "{}", run.err);
}

#[test]
fn one_command_asks_every_library_for_the_list_and_ptx_for_the_newest() {
    let folder = Folder::new();
    let list = |extra: &[&str], with_ptx: bool| {
        let mut own = module(&[&["80", "86", "90"], extra].concat());
        if with_ptx {
            own.push(ptx("90", (8, 0)));
        }
        library(&[own])
    };
    let flags = ["--contains", "8.0;8.6;9.0+PTX", "--strict", "--no-alternatives"];
    let with = |second: Vec<u8>| {
        let path = folder.write(
            "x-1.0-py3-none-any.whl",
            wheel(&[("x/lib/libx_cuda118.so", list(&[], true)), ("x/lib/libx_cuda130.so", second)]),
        );
        run(["check", &path].iter().chain(&flags))
    };
    assert_eq!(with(list(&[], true)).code, Some(0));
    let run = with(list(&[], false));
    assert!(run.code == Some(1) && run.out.contains("libx_cuda130.so: `compute_90` is missing"), "{}", run.out);
    let run = with(list(&["120"], true));
    assert!(run.code == Some(1) && run.out.contains("`sm_120` was not declared"), "{}", run.out);
    let run = with(library(&[vec![sass("80"), sass("90"), ptx("90", (8, 0))]]));
    assert!(run.code == Some(1) && run.out.contains("`sm_86` is missing"), "{}", run.out);
}
