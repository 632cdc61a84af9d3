//! The arrows between the crates of this workspace are those that are drawn in `docs/DESIGN.md`, and no others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic here is a failing test")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate and the crates of this workspace that it may use. A new arrow changes the drawing first.
const ARROWS: [(&str, &[&str]); 9] = [
    ("gpu-arch", &[]),
    ("fatbin", &[]),
    ("cubin", &["gpu-arch"]),
    ("fatscan-containers", &[]),
    ("fatscan-core", &["gpu-arch", "fatbin", "cubin", "fatscan-containers"]),
    ("device-probe", &["gpu-arch"]),
    ("fatscan-cli", &["fatscan-core", "device-probe", "gpu-arch"]),
    ("fatscan", &["fatscan-core", "gpu-arch", "device-probe", "fatscan-cli"]),
    ("fatscan-python", &["fatscan-core", "gpu-arch", "device-probe", "fatscan-cli"]),
];

/// For tests only.
const TESTKIT: &str = "testkit";

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Package, the packages of the workspace that it depends on, by the kind of the dependency (empty for a normal one).
fn arrows(metadata: &Value) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let mut arrows = BTreeMap::new();
    for package in packages {
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        let own = dependencies
            .filter(|dependency| names.contains(text(dependency, "name")))
            .map(|dependency| (text(dependency, "name").to_owned(), text(dependency, "kind").to_owned()));
        arrows.insert(text(package, "name").to_owned(), own.collect());
    }
    arrows
}

#[test]
fn arrows_between_crates_are_those_of_the_drawing() {
    for (package, own) in arrows(&metadata()) {
        let normal: BTreeSet<&str> =
            own.iter().filter(|(_, kind)| kind != "dev").map(|(name, _)| name.as_str()).collect();
        if package == TESTKIT {
            assert!(normal.is_empty(), "{TESTKIT} must stay a second, independent reading of the formats: {normal:?}");
            continue;
        }
        let row = ARROWS.iter().find(|(name, _)| *name == package);
        let (_, drawn) = row.unwrap_or_else(|| panic!("crate {package} is not in the drawing"));
        let drawn: BTreeSet<&str> = drawn.iter().copied().collect();
        let extra: Vec<&&str> = normal.difference(&drawn).collect();
        assert!(extra.is_empty(), "new arrows from {package} to {extra:?}: change the drawing first");
        let missing: Vec<&&str> = drawn.difference(&normal).collect();
        assert!(missing.is_empty(), "{package} no longer uses {missing:?}: take the arrow out of the drawing");
    }
}

#[test]
fn every_crate_of_the_drawing_exists() {
    let arrows = arrows(&metadata());
    for (package, _) in ARROWS {
        assert!(arrows.contains_key(package), "{package} is gone");
    }
}

#[test]
fn test_support_is_used_by_tests_only() {
    for (package, own) in arrows(&metadata()) {
        for (name, kind) in own {
            assert!(name != TESTKIT || kind == "dev", "{package} uses {TESTKIT} outside of tests");
        }
    }
}
