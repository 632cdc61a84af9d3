//! `diff`: what it fails on, which files it takes for the same, and what it says of bytes and verdicts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

mod program;

use program::{Folder, library, module, ptx, run, wheel};
use testkit::Cubin;
use testkit::fatbin::{Codec, Entry};

/// SASS of these kernels.
fn kernels(arch: &str, names: &[&str]) -> Entry {
    let cubin = names.iter().fold(Cubin::abi7(arch).without_functions(), |cubin, name| cubin.kernel(name));
    Entry::sass(arch, cubin.bytes()).compressed(Codec::Lz4)
}

/// A wheel of one library under this name.
fn one(folder: &Folder, wheel_name: &str, name: &str, bytes: Vec<u8>) -> String {
    folder.write(wheel_name, wheel(&[(name, bytes)]))
}

const OLD: &str = "x-1.0-cp311-cp311-linux_x86_64.whl";
const NEW: &str = "x-1.1-cp39-abi3-linux_x86_64.whl";

#[test]
fn files_are_the_same_though_tags_and_hashes_change() {
    let folder = Folder::new();
    let libs = |extension: &str, hash: &str| {
        let code = || library(&[module(&["80", "90"])]);
        wheel(&[(extension, code()), (&format!("x.libs/libk-{hash}.so"), code())])
    };
    let old = folder.write(OLD, libs("x/_C.cpython-311-x86_64-linux-gnu.so", "0123abcd"));
    let new = folder.write(NEW, libs("x/_C.abi3.so", "feed4567"));
    let own = run(["diff", &old, &new, "--exit-code"]);
    assert_eq!(own.code, Some(0), "{}", own.out);
    assert!(own.out.contains("no difference in device code"), "{}", own.out);
    assert!(own.out.contains("no verdict changed, on any of"), "{}", own.out);
    // a file alone, too
    let old = folder.write("a/_C.cpython-311-x86_64-linux-gnu.so", library(&[module(&["80"])]));
    let both = [old, folder.write("b/_C.abi3.so", library(&[module(&["80"])]))];
    assert_eq!(run(["diff", &both[0], &both[1], "--exit-code"]).code, Some(0));
    // two of one name that differ in the tag alone keep their partners
    let two = |first: &[&str], second: &[&str]| {
        let (one, two) = (library(&[module(first)]), library(&[module(second)]));
        wheel(&[("x/_C.cpython-311-x86_64-linux-gnu.so", one), ("x/_C.cpython-312-x86_64-linux-gnu.so", two)])
    };
    let old = folder.write(OLD, two(&["80", "90"], &["75", "80"]));
    let new = folder.write(NEW, two(&["80", "90"], &["75", "80"]));
    assert_eq!(run(["diff", &old, &new, "--exit-code"]).code, Some(0));
}

#[test]
fn it_fails_on_what_is_named_and_on_nothing_else() {
    let folder = Folder::new();
    let path = "x/_C.so";
    let old = one(&folder, OLD, path, library(&[vec![kernels("80", &["a", "b"]), kernels("90", &["a", "b"])]]));
    let new = |bytes: Vec<u8>| one(&folder, NEW, path, bytes);
    let on = |new: &str, words: &str| run(["diff", &old, new, "--fail-on", words]);
    let all = "lost-arch,lost-kernel,worse-verdict,bytes=+500%";
    for (bytes, fails, said) in [
        (library(&[vec![kernels("80", &["a", "b"]), kernels("90", &["a", "b"])]]), &[][..], ""),
        // 8.0 code runs on 8.x only: 9.0 loses all
        (library(&[vec![kernels("80", &["a", "b"])]]), &["lost-arch", "worse-verdict"], "lost sm_90"),
        (
            library(&[vec![kernels("80", &["a", "b"]), kernels("90", &["a"])]]),
            &["lost-kernel"],
            "lost 1 kernel: b in sm_90",
        ),
        (library(&[vec![kernels("80", &["a"]), kernels("90", &["a"])]]), &["lost-kernel"], "lost 1 kernel: b"),
        (
            library(&[vec![
                kernels("80", &["a", "b"]),
                kernels("90", &["a", "b"]),
                kernels("100", &["a", "b"]),
                ptx("100", (8, 7)),
            ]]),
            &[],
            "",
        ),
    ] {
        let new = new(bytes);
        for word in all.split(',') {
            let own = on(&new, word);
            let code = i32::from(fails.contains(&word));
            assert_eq!(own.code, Some(code), "{word}: {}{}", own.out, own.err);
            let line = format!("failed [{}]", word.split('=').next().unwrap());
            assert_eq!(own.out.contains(&line), code == 1, "{}", own.out);
        }
        let own = on(&new, all);
        assert!(own.out.contains(if fails.is_empty() { "nothing of --fail-on" } else { said }), "{}", own.out);
        let json = run(["diff", &old, &new, "--fail-on", all, "--json"]).json();
        let mut named: Vec<String> =
            json["failed"].as_array().unwrap().iter().map(|own| own["on"].as_str().unwrap().to_owned()).collect();
        named.dedup();
        assert_eq!(named, fails);
    }
    // without it nothing of it is said
    assert!(!run(["diff", &old, &old]).out.contains("fail-on"));
    assert!(run(["diff", &old, &old, "--json"]).json()["failed"].is_null());
}

#[test]
fn bytes_are_compared_with_a_share_or_a_size() {
    let folder = Folder::new();
    let sized =
        |name: &str, size: usize| folder.write(name, [library(&[module(&["80", "90"])]), vec![0; size]].concat());
    let old = sized("old.so", 100_000);
    let base = std::fs::metadata(&old).unwrap().len();
    let grown = |more: u64| sized("new.so", usize::try_from(100_000 + more).unwrap());
    let share = base * 25 / 1000;
    for (more, limit, code) in [
        (share, "bytes=+2.5%", 0),
        (share + 1, "bytes=+2.5%", 1),
        (5_000, "bytes=+5kB", 0),
        (5_001, "bytes=5kB", 1),
        (0, "bytes=0%", 0),
        (1, "bytes=0%", 1),
    ] {
        let own = run(["diff", &old, &grown(more), "--fail-on", limit]);
        assert_eq!(own.code, Some(code), "{more} {limit}: {}", own.out);
    }
    for wrong in ["bytes=5parts", "smaller", "bytes"] {
        let own = run(["diff", &old, &old, "--fail-on", wrong]);
        assert!(own.code == Some(2) && own.out.is_empty() && own.err.contains(wrong), "{}", own.err);
    }
}

#[test]
fn a_report_that_does_not_hold_kernels_is_no_reason_to_pass() {
    let folder = Folder::new();
    let path = folder.write(OLD, wheel(&[("x/a.so", library(&[module(&["80"])]))]));
    let report = folder.write("old.json", run(["list", &path, "--json"]).bytes);
    for (word, code) in [("lost-arch", 0), ("bytes=+1%", 0), ("lost-kernel", 2), ("worse-verdict", 2)] {
        let own = run(["diff", &report, &path, "--fail-on", word]);
        assert_eq!(own.code, Some(code), "{word}: {}{}", own.out, own.err);
    }
}

#[test]
fn bytes_by_architecture_are_those_of_the_images() {
    let folder = Folder::new();
    let entry = |arch: &str, size: usize| Entry::sass(arch, [Cubin::abi7(arch).bytes(), vec![0; size]].concat());
    let old = folder.write("a.so", library(&[vec![entry("80", 0), entry("90", 0)]]));
    let new = folder.write("b.so", library(&[vec![entry("80", 0), entry("100", 4096)]]));
    let json = run(["diff", &old, &new, "--json"]).json();
    let list = |path: &str| run(["list", path, "--json"]).json()["artefacts"][0]["members"][0]["code"].clone();
    let stored = |code: &serde_json::Value, arch: &str| {
        let own = code.as_array().unwrap().iter().filter(|row| row["arch"] == arch);
        own.map(|row| row["stored_bytes"].as_u64().unwrap()).sum::<u64>()
    };
    let (before, after) = (list(&old), list(&new));
    for row in json["differences"][0]["code"].as_array().unwrap() {
        let arch = row["arch"].as_str().unwrap();
        assert_eq!(row["stored_bytes"], serde_json::json!([stored(&before, arch), stored(&after, arch)]), "{arch}");
    }
    let table = run(["diff", &old, &new]).out;
    let row = |arch: &str| {
        let own = table.lines().find(|line| line.trim_start().starts_with(&format!("{arch} ")));
        own.unwrap_or_else(|| panic!("{arch}: {table}"))
            .split_whitespace()
            .skip(1)
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!((row("sm_90"), row("sm_100")), ("1 0".to_owned(), "0 1".to_owned()));
    assert!(!table.lines().any(|line| line.trim_start().starts_with("sm_80 ")), "it did not change: {table}");
}
