//! The schemas that `fatscan schema` prints are those of the types.
#![allow(clippy::unwrap_used, reason = "a panic here is a failing test")]

use std::path::Path;

#[test]
fn checked_in_schema_is_the_schema_of_the_types() {
    same("report", &schemars::schema_for!(fatscan::json::Document));
}

#[test]
fn checked_in_schema_of_fleets_is_the_schema_of_the_types() {
    same("fleet", &schemars::schema_for!(fatscan::json::Fleet));
}

fn same(name: &str, schema: &schemars::Schema) {
    let text = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{name}.schema.json"));
    if std::env::var_os("FATSCAN_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        stored, text,
        "run `FATSCAN_WRITE_SCHEMA=1 cargo test --test schema` to write docs/{name}.schema.json anew"
    );
}
