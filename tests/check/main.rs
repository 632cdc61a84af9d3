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

mod cases;
mod configuration;
mod declared;
mod demands;
mod ends;
mod formats;
mod levels;
#[path = "../program/mod.rs"]
mod program;
mod words;

use std::collections::BTreeSet;

use cases::case;
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
