//! What becomes of the exit code where the output cannot be written.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a panic here is a failing test, and what is skipped is said"
)]

mod program;

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use program::{Folder, finish, module, program as command, run, words, write_wheel};

/// A call and the code that it ends with.
type Call = (Vec<String>, i32);

/// Every command in every format, with files that pass and files that do not.
fn calls(folder: &Folder) -> Vec<Call> {
    let good = write_wheel(folder, &[module(&["80", "90"])]);
    let more = folder.write("more/pkg-1.0-py3-none-linux_x86_64.whl", program::wheel_of(&[module(&["80"])]));
    let bad = folder.write("bad.fatbin", testkit::truth::bytes("bad_truncated.fatbin"));
    let recording = folder.write("gpu.json", RECORDING);
    let mut calls = Vec::new();
    let mut add = |code: i32, formats: &[&str], call: String| {
        for format in formats {
            calls.push((words(&format!("{call} --format {format}")), code));
        }
        if formats.is_empty() {
            calls.push((words(&call), code));
        }
    };
    let list = ["table", "json", "ndjson", "csv", "markdown"];
    let kernels = ["table", "json", "csv"];
    let check = ["table", "json", "sarif", "github", "junit", "markdown"];
    let (plain, explain) = (["table", "json"], ["text", "json"]);
    for (code, files) in [(0, good.clone()), (1, format!("{good} {bad}"))] {
        for by in ["artefact", "member", "module"] {
            add(code, &list, format!("list {files} --by {by}"));
        }
        add(code, &plain, format!("list {files} --gpu 9.0"));
        add(code, &explain, format!("explain {files} --gpu 9.0"));
        for flag in ["", "--matrix", "--resources", "--missing sm_75", "--missing-for 8.6"] {
            add(code, &kernels, format!("kernels {files} {flag}"));
        }
        for by in ["arch", "member", "module", "kernel"] {
            add(code, &plain, format!("size {files} --by {by}"));
        }
        add(code, &check, format!("check {files} --require 9.0"));
    }
    add(1, &check, format!("check {good} --require 12.0"));
    add(1, &check, format!("check {good} --require 9.0 --max-size 1B"));
    add(1, &plain, format!("size {good} --budget 1B"));
    add(0, &plain, format!("diff {good} {good} --exit-code --kernels"));
    add(0, &plain, format!("diff {good} {more}"));
    add(1, &plain, format!("diff {good} {more} --exit-code --kernels"));
    add(0, &[], format!("device --recording {recording}"));
    add(0, &[], format!("device --recording {recording} --json"));
    add(2, &[], "check missing.whl --require 9.0".to_owned());
    for (code, call) in [
        (0, "explain --error 209"),
        (0, "arch"),
        (0, "arch 9.0 sm_120a"),
        (2, "arch sm_999"),
        (0, "schema"),
        (0, "completions bash"),
        (0, "man"),
        (0, "man check"),
        (2, "man nothing"),
        (0, "--help"),
        (0, "check --help"),
        (0, "--version"),
        (2, "--nothing"),
        (2, "list missing.whl"),
    ] {
        add(code, &[], call.to_owned());
    }
    calls
}

/// One GPU, as another machine noted it.
const RECORDING: &str = r#"{ "schema": 1, "taken": "2026-11-30T18:04:05Z", "probe": {
    "host": { "architecture": "x86_64", "system": "linux", "wsl": false, "container": false, "device_files": [] },
    "driver": {}, "ways": [], "findings": [], "environment": {}, "devices": [{ "visible": "visible", "index": 0,
    "capability": "9.0", "confidence": "reported", "platform": "discrete", "ways": [] }] } }"#;

fn call(arguments: &[String], prepare: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let mut command = command();
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    prepare(&mut command).spawn().unwrap().wait_with_output().unwrap()
}

/// The end of a pipe that nobody reads.
fn closed() -> Stdio {
    std::io::pipe().unwrap().1.into()
}

#[test]
fn a_closed_pipe_leaves_the_code_of_the_verdict() {
    let folder = Folder::new();
    for (arguments, code) in calls(&folder) {
        let whole = run(&arguments).ending(code);
        let out = call(&arguments, |command| command.stdout(closed()));
        assert_eq!(out.status.code(), Some(code), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&out.stderr), whole.err, "{arguments:?}: nothing is said of it");
        let quiet = call(&arguments, |command| command.stderr(closed()));
        assert_eq!(quiet.status.code(), Some(code), "{arguments:?}");
        // a document of devices holds the time
        assert!(quiet.stdout == whole.bytes || arguments.ends_with(&["--json".to_owned()]), "{arguments:?}");
        let none = call(&arguments, |command| command.stdout(closed()).stderr(closed()));
        assert_eq!(none.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn any_other_error_of_writing_is_2_and_said() {
    let full = || OpenOptions::new().write(true).open("/dev/full");
    if let Err(error) = full() {
        println!("skipped: /dev/full: {error}");
        return;
    }
    let folder = Folder::new();
    for (arguments, code) in calls(&folder) {
        let whole = run(&arguments).ending(code);
        let out = call(&arguments, |command| command.stdout(full().unwrap()));
        let err = String::from_utf8_lossy(&out.stderr);
        // a check that passes has no annotations to write
        let silent = whole.bytes.is_empty();
        assert_eq!(out.status.code(), Some(if silent { code } else { 2 }), "{arguments:?}: {err}");
        let said = err.matches("error: output cannot be written: ").count();
        assert_eq!(said, usize::from(!silent), "{arguments:?}: {err}");
        let quiet = call(&arguments, |command| command.stderr(full().unwrap()));
        let code = if whole.err.is_empty() { code } else { 2 };
        assert_eq!(quiet.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_recording_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let full = Path::new("/dev/full");
    // a folder is no file
    let places = [Some(folder.path()), full.exists().then_some(full)];
    for place in places.into_iter().flatten() {
        let mut command = command();
        command.args(["device", "--record"]).arg(place);
        let run = finish(command).ending(2);
        assert!(run.err.contains("error: --record `"), "{}", run.err);
    }
}

#[test]
fn images_and_their_list_are_lost_to_a_closed_pipe_only() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let full = || OpenOptions::new().write(true).open("/dev/full");
    let folder_of = |name: &str| folder.file(name).display().to_string();
    let calls =
        [format!("extract {path} --stdout --arch sm_90"), format!("extract {path} --force -o {}", folder_of("x"))];
    for arguments in calls.iter().map(|call| words(call)) {
        let out = call(&arguments, |command| command.stdout(closed()));
        assert_eq!((out.status.code(), out.stderr), (Some(0), Vec::new()), "{arguments:?}");
        let Ok(full) = full() else {
            println!("skipped: no /dev/full");
            return;
        };
        let out = call(&arguments, |command| command.stdout(full));
        let err = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains("output cannot be written"), "{err}");
    }
}
