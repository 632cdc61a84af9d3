//! The schemas that `fatscan schema` prints are those of the types, and what the program prints is what the types hold.
//! `tests/schemas.py` asks a validator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

mod program;

use std::path::Path;

use fatscan::json::{Document, arch, difference, extracted, kernels, lines, sizes, slim, variants};
use program::{Folder, Run, library, module, ptx, run, wheel};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn checked_in(name: &str, schema: schemars::Schema) {
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/cli/schema/{name}.schema.json"));
    if std::env::var_os("FATSCAN_WRITE_SCHEMA").is_some() {
        // the program has the file of the next build
        return std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(
        stored == text,
        "run `FATSCAN_WRITE_SCHEMA=1 cargo test --test schema` to write crates/cli/schema/{name}.schema.json anew"
    );
    assert!(run(["schema", name]).out == text, "{name}: the program prints another one");
}

#[test]
fn checked_in_schemas_are_those_of_the_types() {
    checked_in("report", schemars::schema_for!(Document));
    checked_in("fleet", schemars::schema_for!(fatscan::json::Fleet));
    checked_in("lines", schemars::schema_for!(lines::Line));
    checked_in("kernels", schemars::schema_for!(kernels::Kernels));
    checked_in("size", schemars::schema_for!(sizes::Sizes));
    checked_in("diff", schemars::schema_for!(difference::Differences));
    checked_in("arch", schemars::schema_for!(arch::Architectures));
    checked_in("device", schemars::schema_for!(device_probe::Recording));
    checked_in("extract", schemars::schema_for!(extracted::Extracted));
    checked_in("slim", schemars::schema_for!(slim::Slim));
    checked_in("variant", schemars::schema_for!(variants::Variants));
    assert!(run(["schema"]).out == run(["schema", "report"]).out);
    assert_eq!(run(["schema", "else"]).code, Some(2));
}

/// What the program prints is a value of the type, and holds nothing that the type does not.
fn holds<T: DeserializeOwned + Serialize>(what: &str, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{what}: {error}: {text}"));
    let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{what}: {error}: {text}"));
    assert_eq!(serde_json::to_value(read).unwrap(), value, "{what}");
}

/// A good wheel, one that is newer, and a damaged file.
fn files(folder: &Folder) -> [String; 3] {
    let old = wheel(&[("x/_C.cpython-311-x86_64-linux-gnu.so", library(&[module(&["75", "80"]), module(&["90a"])]))]);
    let mut own = module(&["80", "90"]);
    own.push(ptx("90", (8, 0)));
    let new = wheel(&[("x/_C.abi3.so", library(&[own])), ("x/y.so", library(&[module(&["90"])]))]);
    let mut cut = library(&[module(&["80"])]);
    cut.truncate(cut.len() / 2);
    [
        folder.write("x-1.0-cp311-cp311-linux_x86_64.whl", old),
        folder.write("x-1.1-cp39-abi3-linux_x86_64.whl", new),
        folder.write("cut.so", cut),
    ]
}

#[test]
fn every_json_document_is_of_its_type() {
    let folder = Folder::new();
    let [old, new, cut] = &files(&folder);
    let json = |words: &[&str]| run(words.iter().chain(&["--json"])).out;
    for words in [
        vec!["list", old, new, cut],
        vec!["list", "--by", "module", old, cut],
        vec!["list", "--gpu", "9.0", old, cut],
        vec!["explain", "--gpu", "8.9,9.0", old, cut],
        vec!["explain", "--gpu", "8.9", "--error", "CUDA error 209", old],
        vec!["explain", "--error", "CUDA error 209"],
        vec!["check", "--require", "7.5", "--contains", "8.0", "--strict", old, new, cut],
    ] {
        holds::<Document>(&format!("{words:?}"), &json(&words));
    }
    for words in [
        vec!["kernels", old, cut],
        vec!["kernels", "--matrix", "--resources", new],
        vec!["kernels", "--missing", "sm_80", new],
        vec!["kernels", "--missing-for", "9.0", new],
    ] {
        holds::<kernels::Kernels>(&format!("{words:?}"), &json(&words));
    }
    for by in ["arch", "member", "module", "kernel"] {
        holds::<sizes::Sizes>(by, &json(&["size", "--by", by, "--budget", "1kB", old, cut]));
    }
    for words in [vec!["diff", old, new], vec!["diff", "--kernels", "--fail-on", "lost-arch,bytes=+1%", new, old]] {
        holds::<difference::Differences>(&format!("{words:?}"), &json(&words));
    }
    for words in [vec!["arch"], vec!["arch", "sm_90a", "RTX 4090", "Blackwell", "Hopper", "7.0"]] {
        holds::<arch::Architectures>(&format!("{words:?}"), &json(&words));
    }
    holds::<device_probe::Recording>("device", &json(&["device"]));
    for words in [["--for", "9.0"], ["--keep", "sm_90a"], ["--drop", "sm_75"]] {
        let words = [vec!["slim", old, new, "--dry-run"], words.to_vec()].concat();
        holds::<slim::Slim>(&format!("{words:?}"), &json(&words));
    }
    holds::<variants::Variants>("variant", &json(&["variant", old, new, cut]));
    let out = folder.file("out");
    assert_eq!(run(["extract", new, "-o", out.to_str().unwrap()]).code, Some(0));
    holds::<extracted::Extracted>("index.json", &std::fs::read_to_string(out.join("index.json")).unwrap());
    for by in ["artefact", "member", "module"] {
        let text = run(["list", "--format", "ndjson", "--by", by, old, new, cut]).out;
        assert!(text.lines().count() > 2);
        text.lines().for_each(|line| holds::<lines::Line>(by, line));
    }
}

#[test]
fn places_are_lists_of_names_with_section_and_offset() {
    let folder = Folder::new();
    let [old, ..] = &files(&folder);
    let module = |run: Run| run.json()["artefacts"][0]["members"][0].clone();
    let own = module(run(["size", "--by", "module", "--json", old]));
    let names: Vec<&str> = own["modules"][0]["at"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, [old.as_str(), "x/_C.cpython-311-x86_64-linux-gnu.so"]);
    assert_eq!(own["modules"][0]["at"]["section"], ".nv_fatbin");
    assert_eq!(own["modules"][0]["at"]["offset"], own["modules"][0]["offset"]);
    // the same places in each document
    let at = |words: &[&str]| module(run(words.iter().chain(&["--json", old])))["at"].clone();
    assert_eq!(at(&["kernels"]), own["at"]);
    assert_eq!(at(&["list"]), own["at"]);
}
