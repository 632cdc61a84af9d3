//! The schema that `fatscan schema` prints is the one of the types.

use std::path::Path;

#[test]
fn checked_in_schema_is_the_schema_of_the_types() {
    let schema = schemars::schema_for!(fatscan::json::Document);
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/cli/report.schema.json");
    if std::env::var_os("FATSCAN_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        stored, text,
        "run `FATSCAN_WRITE_SCHEMA=1 cargo test --test schema` to write crates/cli/report.schema.json anew"
    );
}
