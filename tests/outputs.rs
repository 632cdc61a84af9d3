//! `--output`: several formats at once, in files that are there when they are whole.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

mod program;

use program::{Folder, library, module, run, wheel_of, write_wheel};

/// Names in a folder, sorted.
fn names(folder: &Folder) -> Vec<String> {
    let all = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = all.map(|own| own.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.file(name)).unwrap()
}

#[test]
fn files_hold_what_standard_output_would_for_every_command() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let other = folder.write("other-1.0-py3-none-any.whl", wheel_of(&[module(&["80"])]));
    let path = path.as_str();
    for (words, formats) in [
        (vec!["list", path], &["table", "json", "ndjson", "csv", "markdown"][..]),
        (vec!["explain", path, "--gpu", "9.0"], &["text", "json", "csv", "markdown"]),
        (vec!["check", path, "--require", "9.0"], &["table", "json", "sarif", "github", "junit", "markdown"]),
        (vec!["kernels", path], &["table", "json", "csv", "markdown"]),
        (vec!["kernels", path, "--matrix"], &["table", "json", "csv", "markdown"]),
        (vec!["size", path, "--by", "kernel"], &["table", "json", "csv", "markdown"]),
        (vec!["diff", path, &other], &["table", "json", "csv", "markdown"]),
        (vec!["arch", "9.0", "Blackwell"], &["text", "json", "csv", "markdown"]),
        (vec!["device"], &["json"]),
    ] {
        let outputs: Vec<String> = formats
            .iter()
            .flat_map(|format| ["--output".to_owned(), format!("{format}={}", folder.file(format).display())])
            .collect();
        let plain = run(&words);
        let with = run(words.iter().map(|word| (*word).to_owned()).chain(outputs));
        assert_eq!((with.code, &with.out), (plain.code, &plain.out), "{words:?}: {}", with.err);
        for format in formats.iter().filter(|format| words[0] != "device" || **format != "json") {
            let alone = run(words.iter().copied().chain(["--format", format]));
            // annotations are of findings, and there are none
            assert!(!alone.out.is_empty() || *format == "github", "{words:?} {format}");
            assert_eq!(read(&folder, format), alone.out, "{words:?} {format}");
        }
        // `--json` is short for it
        if words[0] != "device" {
            assert_eq!(run(words.iter().copied().chain(["--json"])).out, read(&folder, "json"), "{words:?}");
        }
    }
    assert!(!names(&folder).iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_anything_is_read() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    std::fs::create_dir(folder.file("there")).unwrap();
    let before = names(&folder);
    let place = |name: &str| folder.file(name).display().to_string();
    for (output, expected) in [
        (format!("json={}", place("there")), "it is a directory"),
        (format!("json={}", place("away/x.json")), "cannot be written"),
        (format!("json={path}/x.json"), "cannot be written"),
        (format!("json={path}"), "this file is read"),
        ("jsn=x".to_owned(), "`jsn` is no format; there are table, json, sarif"),
        ("x.json".to_owned(), "write it like json=FILE"),
        ("json=".to_owned(), "no file is named"),
    ] {
        let run = run(["check", &path, "--require", "9.0", "--output", &output]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{output}: {}", run.err);
        assert!(run.err.contains(expected), "{output}: {}", run.err);
    }
    let twice = ["--output", &format!("json={}", place("x")), "--output", &format!("sarif={}", place("there/../x"))];
    let run = run(["check", &path, "--require", "9.0"].iter().chain(&twice));
    assert!(run.code == Some(2) && run.err.contains("named twice"), "{}", run.err);
    assert_eq!(names(&folder), before, "nothing is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_other_files_stay_as_they_are() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let old = folder.write("x.json", "old");
    let outputs = ["--output", &format!("json={old}"), "--output", "markdown=/dev/full"];
    for command in [&["list"][..], &["check", "--require", "9.0"], &["size"], &["kernels"]] {
        let own = run(command.iter().chain(&[path.as_str()]).chain(&outputs));
        assert_eq!(own.code, Some(2), "{command:?}: {}", own.err);
        assert!(own.err.contains("--output markdown=/dev/full: cannot be written: No space left"), "{}", own.err);
        assert!(!own.out.is_empty(), "what is printed is printed");
    }
    assert_eq!(read(&folder, "x.json"), "old");
    assert_eq!(names(&folder).len(), 2, "{:?}", names(&folder));
    // what is no file is written to as it is
    assert_eq!(run(["list", &path, "--output", "json=/dev/null"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_file_is_replaced_and_keeps_its_link_and_its_rights() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.write("x.so", library(&[module(&["90"])]));
    let real = folder.write("real.json", "old and longer than what comes, which must not show".repeat(500));
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.json", folder.file("link.json")).unwrap();
    let output = format!("json={}", folder.file("link.json").display());
    assert_eq!(run(["list", &path, "--output", &output]).code, Some(0));
    assert!(folder.file("link.json").symlink_metadata().unwrap().is_symlink());
    assert_eq!(read(&folder, "real.json"), run(["list", &path, "--json"]).out);
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    // a command that gives up leaves what was there
    assert_eq!(run(["check", &path, "--output", &output]).code, Some(2));
    assert_eq!(read(&folder, "real.json"), run(["list", &path, "--json"]).out);
    assert_eq!(names(&folder), ["link.json", "real.json", "x.so"]);
}

#[test]
fn a_file_has_neither_colours_nor_the_width_of_the_terminal() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let mut command = program::program();
    command.env("COLUMNS", "40").env("CLICOLOR_FORCE", "1").args(["explain", &path, "--gpu", "7.0"]);
    command.arg("--output").arg(format!("text={}", folder.file("x.txt").display()));
    let own = program::finish(command);
    assert!(own.out.contains('\u{1b}') && own.out.lines().count() > 10);
    assert_eq!(read(&folder, "x.txt"), run(["explain", &path, "--gpu", "7.0"]).out);
}

#[test]
fn of_many_findings_ten_are_annotated_and_the_log_has_the_rest() {
    let folder = Folder::new();
    let names: Vec<String> =
        (0..12).map(|index| folder.write(&format!("{index:02}.so"), library(&[module(&["90"])]))).collect();
    let words = ["check", "--require", "8.0", "--format", "github"];
    let own = run(words.into_iter().chain(names.iter().map(String::as_str))).ending(1).out;
    let told: Vec<&str> = own.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(told.len(), 10, "{own}");
    assert!(told[..9].iter().all(|line| line.starts_with("::error file=")), "{own}");
    assert_eq!(told[9], "::error title=fatscan::3 more: 3 errors; the log has them");
    let rest: Vec<&str> = own.lines().filter(|line| line.starts_with("error [not-covered]")).collect();
    assert!(rest.len() == 3 && rest[2].contains("11.so"), "{own}");
    // ten are annotated, and nothing is counted
    let own = run(words.into_iter().chain(names[..10].iter().map(String::as_str))).ending(1).out;
    assert!(own.lines().count() == 10 && !own.contains("more:"), "{own}");
}
