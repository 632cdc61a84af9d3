//! What stays may be named by GPUs, by a fleet's file, or by labels, and the report says why it stays.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

#[path = "common/run.rs"]
mod run;

use std::path::{Path, PathBuf};

use run::slim;
use serde_json::{Value, json};
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The document of a dry run over `libpartial.so`: of its three fatbins one holds SASS and PTX of 90a and 100f, one SASS of
/// 75, one SASS of 80 and 90 and PTX of 90 (its truth file).
fn partial(words: &[&str]) -> Value {
    let path = fixture("libpartial.so");
    let own = slim(&[&[path.to_str().unwrap(), "--dry-run", "--json"], words].concat());
    assert_eq!(own.code, Some(0), "{}", own.err);
    serde_json::from_str(&own.out).unwrap()
}

/// Architectures of the images that stay, and of those that go, with their numbers.
fn sides(document: &Value) -> [Vec<(String, u64)>; 2] {
    ["kept", "dropped"].map(|side| {
        let own = document["files"][0]["members"][0][side].as_object().unwrap();
        own.iter().map(|(name, tally)| (name.clone(), tally["images"].as_u64().unwrap())).collect()
    })
}

fn named(names: &[(&str, u64)]) -> Vec<(String, u64)> {
    names.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn labels_that_are_kept_stay_and_a_module_without_any_keeps_its_smallest() {
    for spelling in ["sm_90a,sm_80", "90a-real;80-real"] {
        let document = partial(&["--keep", spelling, "--keep-ptx", "none"]);
        let [kept, dropped] = sides(&document);
        // the fatbin with 75 alone would be left with nothing
        assert_eq!(kept, named(&[("sm_75", 1), ("sm_80", 1), ("sm_90a", 1)]), "{spelling}");
        assert_eq!(
            dropped,
            named(&[("compute_100f", 1), ("compute_90", 1), ("compute_90a", 1), ("sm_100f", 1), ("sm_90", 1)])
        );
        let why = &document["files"][0]["why_kept"];
        assert_eq!(why["it is named"]["images"], 2);
        assert_eq!(why["the smallest where nothing else stays"]["images"], 1);
        assert_eq!((&document["keep"], &document["for"]), (&json!(["sm_90a", "sm_80"]), &json!([])));
    }
    // and the newest PTX of each module, unless asked otherwise
    let [kept, _] = sides(&partial(&["--keep", "sm_90a,sm_80"]));
    assert_eq!(kept, named(&[("compute_100f", 1), ("compute_90", 1), ("sm_75", 1), ("sm_80", 1), ("sm_90a", 1)]));
}

#[test]
fn labels_that_are_dropped_go_and_all_else_stays() {
    let [kept, dropped] = sides(&partial(&["--drop", "sm_100f,compute_90"]));
    assert_eq!(dropped, named(&[("compute_90", 1), ("sm_100f", 1)]));
    assert_eq!(
        kept,
        named(&[("compute_100f", 1), ("compute_90a", 1), ("sm_75", 1), ("sm_80", 1), ("sm_90", 1), ("sm_90a", 1)]),
        "a label with a suffix is another one"
    );
}

#[test]
fn a_fleet_is_its_gpus() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.toml");
    std::fs::write(&path, "[fleet.a]\ngpus = [\"A100\"]\n[fleet.b]\ngpus = [\"H100\"]\ndriver = \"580.65.06\"\n")
        .unwrap();
    let own = partial(&["--fleet", path.to_str().unwrap(), "--keep-ptx", "none"]);
    assert_eq!(own["for"], json!(["8.0", "9.0"]));
    assert_eq!(sides(&own)[0], sides(&partial(&["--for", "8.0,9.0", "--keep-ptx", "none"]))[0]);
    std::fs::write(&path, "allow-jit = true\n").unwrap();
    let own = slim(&[fixture("libpartial.so").to_str().unwrap(), "--dry-run", "--fleet", path.to_str().unwrap()]);
    assert!(own.code == Some(2) && own.err.contains("names no GPU"), "{}", own.err);
}

#[test]
fn one_thing_decides() {
    let path = fixture("libpartial.so");
    let path = path.to_str().unwrap();
    for words in [
        &["--dry-run"][..],
        &["--dry-run", "--for", "9.0", "--keep", "sm_90"],
        &["--dry-run", "--drop", "sm_90", "--keep", "sm_90"],
        &["--dry-run", "--drop", "sm_90", "--keep-ptx", "all"],
        &["--dry-run", "--keep", "sm_90", "--driver", "535.183.01"],
        &["--dry-run", "--keep", "sm_91"],
        &["--dry-run", "--for", "9.0", "--driver", "580..535"],
        &["--for", "9.0"],
    ] {
        assert_eq!(slim(&[&[path], words].concat()).code, Some(2), "{words:?}");
    }
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("lib.so");
    let old = std::fs::read(fixture("libpartial.so")).unwrap();
    std::fs::write(&path, &old).unwrap();
    let path = path.to_str().unwrap();
    for words in [vec![path, "-o", path, "--force"], vec![path, "-o", folder.path().to_str().unwrap(), "--force"]] {
        let own = slim(&[words, vec!["--for", "9.0"]].concat());
        assert!(own.code == Some(2) && own.err.contains("not written over by itself"), "{}", own.err);
    }
    assert_eq!(std::fs::read(path).unwrap(), old);
}

#[test]
fn the_report_is_written_beside_in_formats_of_its_own() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, markdown) = (format!("json={}", place("x.json")), format!("markdown={}", place("x.md")));
    let path = fixture("libpartial.so");
    let words = [path.to_str().unwrap(), "--for", "9.0", "--dry-run", "--output", &json, "--output", &markdown];
    let own = slim(&words);
    assert_eq!(own.code, Some(0), "{}", own.err);
    assert!(own.out.contains("a GPU picks it") && own.out.contains("nothing is written"), "{}", own.out);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(place("x.json")).unwrap()).unwrap();
    assert_eq!(document["for"], json!(["9.0"]));
    let text = std::fs::read_to_string(place("x.md")).unwrap();
    assert!(text.contains("| sm\\_80 | 0 | 0 B | 1 |"), "{text}");
}
