//! The generated tables are those of the TOML files.

use std::path::Path;
use std::process::Command;

#[test]
fn the_tables_are_up_to_date() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/generate.py");
    let has_toml = Command::new("python3").args(["-c", "import tomllib"]).output();
    if !has_toml.is_ok_and(|output| output.status.success()) {
        println!("skipped: no python3 of 3.11 or newer here");
        return;
    }
    let output = Command::new("python3").arg(&script).arg("--check").output().unwrap();
    assert!(output.status.success(), "run {}: {}", script.display(), String::from_utf8_lossy(&output.stdout));
}
