//! The documents say what the code does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn every_diagnostic_is_documented_with_its_level_and_no_other_is() {
    let document = read("docs/DIAGNOSTICS.md");
    let mut rows: Vec<(String, String)> = document
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| FS")?.split(" | ");
            Some((format!("FS{}", cells.next()?), cells.next()?.to_owned()))
        })
        .collect();
    let mut codes: Vec<(String, String)> = fatscan::Code::ALL
        .iter()
        .map(|code| (code.to_string(), format!("{:?}", code.level()).to_lowercase()))
        .collect();
    rows.sort();
    codes.sort();
    assert_eq!(rows, codes);
}

#[test]
fn every_limit_is_documented_with_its_default_and_no_other_is() {
    let number = |text: &str| -> u64 {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        let shift = match unit {
            "" => 0,
            "MiB" => 20,
            "GiB" => 30,
            other => panic!("unit {other}"),
        };
        number.replace(',', "").parse::<u64>().unwrap() << shift
    };
    let document = read("docs/LIMITS.md");
    let rows: Vec<(String, u64)> = document
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?.trim_end_matches('`').to_owned(), number(cells.next()?)))
        })
        .collect();
    let debug = format!("{:?}", fatscan::Limits::default());
    let fields = debug.trim_start_matches("Limits {").trim_end_matches('}').split(", ");
    let fields: Vec<(String, u64)> = fields
        .map(|field| field.trim().split_once(": ").unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect();
    assert!(fields.len() > 15, "{debug}");
    assert_eq!(rows, fields);
}

#[test]
fn links_between_documents_lead_somewhere() {
    for document in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/DESIGN.md",
        "docs/DIAGNOSTICS.md",
        "docs/DECLARED.md",
        "docs/LIMITS.md",
        "docs/PERFORMANCE.md",
        "docs/RULES.md",
        "crates/cli/GLOSSARY.md",
        "docs/ENVIRONMENTS.md",
        "docs/FLEET.md",
        "docs/CI.md",
        "docs/SLIM.md",
        "docs/PYTHON.md",
        "docs/RULES.md",
        "docs/VERDICTS.md",
    ] {
        let text = read(document);
        let folder = Path::new(document).parent().unwrap();
        for (_, rest) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
            let target = rest.split([')', '#']).next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
            assert!(path.exists(), "{document} links to {target}");
        }
    }
}

#[test]
fn the_commands_of_the_readme_are_the_ones_that_ci_runs() {
    let readme = read("README.md");
    let ci = read(".ci/run");
    let block = readme.split("## Start").nth(1).unwrap().split("```").nth(1).unwrap();
    let commands: Vec<&str> = block.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        assert!(ci.lines().any(|line| line == command), "{command}");
    }
}

#[test]
fn every_rule_is_documented_with_its_level_and_no_other_is() {
    let document = read("docs/RULES.md");
    let mut rows: Vec<(String, String)> = document
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
        })
        .collect();
    let mut rules: Vec<(String, String)> = fatscan::check::Rule::ALL
        .iter()
        .map(|rule| (rule.to_string(), format!("{:?}", rule.severity()).to_lowercase()))
        .collect();
    rows.sort();
    rules.sort();
    assert_eq!(rows, rules);
}
