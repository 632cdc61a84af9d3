//! The program as it is called: exit codes, what goes where, and the formats that others parse.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "a panic here is a failing test"
)]

mod common;

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fatscan::json::Document;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Cubin, Elf, Entry, Zip, ZipMember, fatbin, ptx_text};

/// What a run gave.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fatscan"));
    command.env_remove("COLUMNS").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("FORCE_COLOR");
    command
}

/// Runs to the end, which must come within 20 seconds.
fn finish(mut command: Command, input: &str) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let input = input.to_owned();
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()).ok());
    let out = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| String::from_utf8(text).expect("standard output is UTF-8"))
    });
    let err = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).map(|_| String::from_utf8(text).expect("standard error is UTF-8"))
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    feed.join().unwrap();
    Run { code: status.code(), out: out.join().unwrap().unwrap(), err: err.join().unwrap().unwrap() }
}

fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> Run {
    let mut command = program();
    command.args(arguments);
    finish(command, "")
}

fn fixture(name: &str) -> PathBuf {
    testkit::truth::path(name)
}

fn library(arch: &str) -> Vec<u8> {
    let code = fatbin(&[
        Entry::sass(arch, Cubin::new(arch).bytes()),
        Entry::ptx(arch, (8, 5), &ptx_text("8.5", &format!("sm_{arch}"), "k")),
    ]);
    Elf::shared().section(".nv_fatbin", &code).bytes()
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

fn wheel(folder: &TempDir) -> PathBuf {
    let members = [
        ZipMember::deflated("x/lib/libone.so", &library("90a")),
        ZipMember::stored("x/lib/libtwo.so", &library("80")),
        ZipMember::deflated("x/_c.so", &Elf::shared().section(".text", &[1; 64]).bytes()),
    ];
    write(
        folder,
        "x-1.0-cp312-cp312-linux_x86_64.whl",
        &Zip::wheel("x", "1.0", "cp312-cp312-linux_x86_64", &members).bytes(),
    )
}

// --- exit codes

#[test]
fn what_can_be_read_ends_with_0() {
    let run_of = |name: &str| run([fixture(name)]);
    for name in [
        "libpartial.so",
        "fatbin_sm_90a.fatbin",
        "ptx_90a.ptx",
        "archive.a",
        "empty.fatbin",
        "mislabel_100_is_100a.fatbin",
        "hip_fatbin.so",
    ] {
        let run = run_of(name);
        assert_eq!(run.code, Some(0), "{name}: {}", run.err);
    }
    // without device code too, and it says so
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("plain.so", Elf::shared().section(".text", &[1; 99]).bytes()),
        ("notes.txt", b"some words\n".to_vec()),
        ("pure.whl", Zip::new().deflated("a.py", b"x = 1\n").bytes()),
    ] {
        let run = run([write(&folder, name, &bytes)]);
        assert_eq!(run.code, Some(0), "{name}: {}", run.err);
        assert!(run.out.contains("no device code"), "{name}: {}", run.out);
    }
}

#[test]
fn damage_ends_with_1_and_the_rest_is_listed() {
    let run = run([fixture("bad_fatsize_max.fatbin")]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("sm_90"), "{}", run.out);
    assert!(run.err.contains("error") && run.err.contains("FS0301") && run.err.contains("@0x"), "{}", run.err);
    for name in ["bad_hs_0.fatbin", "bad_truncated.fatbin", "bad_empty_file.fatbin", "bad_concat_count.fatbin"] {
        assert_eq!(self::run([fixture(name)]).code, Some(1), "{name}");
    }
}

#[test]
fn missing_file_ends_with_2_alone_and_with_1_beside_a_good_one() {
    let alone = run(["/no/such/file.whl"]);
    assert_eq!((alone.code, alone.out.as_str()), (Some(2), ""));
    assert!(alone.err.contains("/no/such/file.whl") && alone.err.contains("no such file"), "{}", alone.err);
    let beside = run([PathBuf::from("/no/such/file.whl"), fixture("libpartial.so")]);
    assert_eq!(beside.code, Some(1));
    assert!(beside.out.contains("libpartial.so") && beside.err.contains("/no/such/file.whl"));
    let two = run(["/no/such/a", "/no/such/b"]);
    assert_eq!(two.code, Some(2));
}

#[cfg(unix)]
#[test]
fn file_without_permission_ends_with_2() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "secret.so", &library("90"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    let alone = run([&path]);
    assert_eq!(alone.code, Some(2), "{}", alone.err);
    assert!(alone.err.contains("permission denied") && alone.err.contains("secret.so"), "{}", alone.err);
    let inside = run([folder.path()]);
    assert_eq!(inside.code, Some(1), "{}", inside.err);
}

#[cfg(unix)]
#[test]
fn pipe_in_the_file_system_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.so");
    match Command::new("mkfifo").arg(&path).status() {
        Ok(status) if status.success() => {}
        _ => {
            eprintln!("skipped: no mkfifo on this system");
            return;
        }
    }
    let alone = run([&path]);
    assert_eq!(alone.code, Some(2), "{}", alone.err);
    assert!(alone.err.contains("FS0102") && alone.err.contains("pipe.so"), "{}", alone.err);
    // in a directory it is left out
    write(&folder, "a.so", &library("90"));
    let inside = run([folder.path()]);
    assert_eq!(inside.code, Some(0), "{}", inside.err);
    assert!(inside.out.contains("a.so") && !inside.out.contains("pipe.so"));
}

#[test]
fn directories_are_read_empty_ones_too() {
    let folder = tempfile::tempdir().unwrap();
    let empty = run([folder.path()]);
    assert_eq!(empty.code, Some(0), "{}", empty.err);
    assert!(empty.out.contains("no device code"), "{}", empty.out);
    write(&folder, "b/libx.so", &library("90"));
    write(&folder, "readme.md", b"words");
    let full = run([folder.path()]);
    assert_eq!((full.code, full.err.as_str()), (Some(0), ""));
    assert!(full.out.contains("b/libx.so"), "{}", full.out);
}

#[test]
fn wrong_arguments_end_with_2() {
    for arguments in [&["--no-such-flag"][..], &[], &["--format", "xml", "x"], &["--threads", "many", "x"], &["list"]] {
        let run = run(arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!run.err.is_empty());
    }
    for arguments in [&["--help"][..], &["list", "--help"], &["--version"], &["schema"]] {
        let run = run(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(!run.out.is_empty());
    }
}

#[test]
fn dash_reads_paths_from_standard_input() {
    let paths = format!("{}\n\n{}\n", fixture("libpartial.so").display(), fixture("cubin_sm_100f.cubin").display());
    let mut command = program();
    command.args(["--format", "json", "-"]);
    let read = finish(command, &paths);
    assert_eq!(read.code, Some(0), "{}", read.err);
    let direct = run([
        OsStr::new("--format"),
        OsStr::new("json"),
        fixture("libpartial.so").as_os_str(),
        fixture("cubin_sm_100f.cubin").as_os_str(),
    ]);
    assert_eq!(read.out, direct.out);
    // without a newline at the end, and beside other paths
    let mut command = program();
    command.args(["--format", "json"]).arg(fixture("libpartial.so")).arg("-");
    assert_eq!(finish(command, &fixture("cubin_sm_100f.cubin").display().to_string()).out, direct.out);
    let mut command = program();
    command.arg("-");
    let nothing = finish(command, "");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("standard input"), "{}", nothing.err);
}

#[cfg(unix)]
#[test]
fn closed_pipe_ends_quietly_with_0() {
    for format in ["table", "json", "ndjson", "csv", "markdown"] {
        let mut child = program()
            .args(["--format", format, "--by", "module"])
            .args(std::iter::repeat_n(fixture("nvfb12.9_all.fatbin"), 300))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // reads a little, then closes, as `head -1` does
        let mut stdout = child.stdout.take().unwrap();
        let mut some = [0; 20];
        stdout.read_exact(&mut some).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
    }
}

// --- formats

/// Exactly these keys, in any order.
fn keys(value: &Value, expected: &[&str]) {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected = expected.to_vec();
    keys.sort_unstable();
    expected.sort_unstable();
    for key in &expected {
        assert!(keys.contains(key), "{key} is missing in {keys:?}");
    }
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(&folder);
    let run = run([
        OsStr::new("--format"),
        OsStr::new("json"),
        path.as_os_str(),
        fixture("bad_fatsize_max.fatbin").as_os_str(),
    ]);
    assert_eq!(run.code, Some(1));
    // people read the messages in the table; here they are in the document
    assert_eq!(run.err, "");
    let document: Document = serde_json::from_str(&run.out).unwrap();
    assert_eq!((document.schema, document.tool.name.as_str()), (1, "fatscan"));
    let value: Value = serde_json::from_str(&run.out).unwrap();
    keys(&value, &["schema", "tool", "artefacts", "diagnostics"]);
    keys(&value["tool"], &["name", "version"]);
    assert_eq!(value["tool"]["version"], env!("CARGO_PKG_VERSION"));
    let artefact = &value["artefacts"][0];
    keys(artefact, &["path", "kind", "size", "members_without_code", "members"]);
    assert_eq!((&artefact["kind"], &artefact["members_without_code"]), (&"wheel".into(), &1.into()));
    assert_eq!(artefact["path"], path.display().to_string());
    assert_eq!(artefact["size"], std::fs::metadata(&path).unwrap().len());
    let member = &artefact["members"][0];
    keys(member, &["path", "format", "machine", "size", "modules", "images", "empty_fatbins", "code"]);
    assert_eq!(
        (&member["path"], &member["format"], &member["machine"]),
        (&"x/lib/libone.so".into(), &"elf".into(), &"x86_64".into())
    );
    assert_eq!((&member["modules"], &member["images"], &member["empty_fatbins"]), (&1.into(), &2.into(), &0.into()));
    assert_eq!(member["size"], library("90a").len());
    let row = |kind: &str| member["code"].as_array().unwrap().iter().find(|row| row["kind"] == kind).unwrap().clone();
    let sass = row("sass");
    keys(
        &sass,
        &["kind", "arch", "isa", "source", "linkage", "count", "stored_bytes", "unpacked_bytes", "compression"],
    );
    assert_eq!((&sass["arch"], &sass["isa"], &sass["source"]), (&"sm_90a".into(), &Value::Null, &"fatbin".into()));
    assert_eq!((&sass["linkage"], &sass["count"]), (&"loadable".into(), &1.into()));
    assert_eq!(sass["stored_bytes"], Cubin::new("90a").bytes().len().next_multiple_of(8));
    assert_eq!(sass["compression"], serde_json::json!({ "none": 1 }));
    let ptx = row("ptx");
    assert_eq!((&ptx["arch"], &ptx["isa"]), (&"compute_90a".into(), &"8.5".into()));
    // its size is no number for the driver, and the file ends before it
    let diagnostics = value["diagnostics"].as_array().unwrap();
    for (diagnostic, code) in diagnostics.iter().zip(["FS0315", "FS0301"]) {
        keys(diagnostic, &["code", "level", "place", "message", "hint"]);
        assert_eq!((&diagnostic["code"], &diagnostic["level"]), (&code.into(), &"error".into()));
    }
    assert_eq!(diagnostics.len(), 2);
}

#[test]
fn json_is_valid_by_its_own_schema_words() {
    let names = [
        "libpartial.so",
        "librdc.so",
        "tile.o",
        "lto.fatbin",
        "hip_fatbin.so",
        "rodata_raw_cubin_ptx.so",
        "archive.a",
        "raw_90.ltoir",
        "pe_short_names.dll",
        "coff_long_names.obj",
    ];
    let mut arguments: Vec<std::ffi::OsString> = vec!["--format".into(), "json".into(), "--by".into(), "module".into()];
    arguments.extend(names.iter().map(|name| fixture(name).into_os_string()));
    let run = run(arguments);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document.artefacts.len(), names.len());
    for (artefact, name) in document.artefacts.iter().zip(names) {
        assert_eq!(artefact.kind, "file");
        let member = &artefact.members[0];
        // one member of the file's name
        assert_eq!((artefact.members.len(), member.path.as_str()), (1, name));
        assert!(
            ["elf", "pe", "coff", "archive", "fatbin", "lto-ir"].contains(&member.format.as_str()),
            "{}",
            member.format
        );
        let images: u64 = member.code.iter().map(|row| row.count).sum();
        assert_eq!(images, member.images, "{name}");
        for row in &member.code {
            assert!(["sass", "ptx", "lto-ir", "tile-ir", "other"].contains(&row.kind.as_str()));
            assert!(["fatbin", "cubin", "ptx-text", "raw", "offload-bundle"].contains(&row.source.as_str()));
            assert!(["loadable", "relocatable", "unknown"].contains(&row.linkage.as_str()));
            assert_eq!(row.compression.values().sum::<u64>(), row.count, "{name}");
            assert!(
                row.compression
                    .keys()
                    .all(|word| ["none", "zlib", "lz4", "lz4-frame", "zstd"].contains(&word.as_str()))
            );
            assert_eq!(row.isa.is_some(), row.kind == "ptx", "{name}");
            if row.kind == "lto-ir" {
                assert_eq!(row.linkage, "relocatable", "{name}");
            }
        }
        let detail = member.modules_detail.as_ref().unwrap();
        let bundles = detail.iter().filter(|module| module.source == "offload-bundle").count();
        assert_eq!(detail.len(), member.modules as usize + bundles, "{name}");
        assert_eq!(detail.iter().map(|module| module.images.len()).sum::<usize>(), member.images as usize, "{name}");
    }
}

#[test]
fn lines_of_ndjson_are_values_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(&folder);
    for (by, key, count) in [("artefact", "artefact", 1), ("member", "member", 2), ("module", "module", 2)] {
        let run = run([
            OsStr::new("--format"),
            OsStr::new("ndjson"),
            OsStr::new("--by"),
            OsStr::new(by),
            path.as_os_str(),
            fixture("bad_hs_0.fatbin").as_os_str(),
        ]);
        assert_eq!((run.code, run.err.as_str()), (Some(1), ""), "{by}");
        let lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().all(|line| line["schema"] == 1), "{by}");
        let path = path.display().to_string();
        let own = lines.iter().filter(|line| line["path"] == path || line["artefact"]["path"] == path);
        let mut number = 0;
        for line in own {
            // a member's line holds the member, a module's line names it
            assert!(line[key].is_object(), "{by}: {line}");
            number += 1;
        }
        assert_eq!(number, count, "{by}: {}", run.out);
        assert_eq!(lines.iter().filter(|line| line["diagnostic"]["code"] == "FS0302").count(), 1, "{by}");
    }
}

/// Lines come while the scan goes on, the document when it has ended: they say the same.
#[test]
fn lines_of_ndjson_are_the_members_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    wheel(&folder);
    // `a-b` stands before `a` in names, behind it in the order of folders
    for name in ["a/x.fatbin", "a-b/x.fatbin", "a.fatbin"] {
        let path = folder.path().join("files").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(fixture("bad_hs_0.fatbin"), &path).unwrap();
        std::fs::copy(fixture("libpartial.so"), path.with_extension("so")).unwrap();
    }
    for path in [folder.path().join("files"), fixture("libpartial.so"), fixture("bad_hs_0.fatbin")] {
        let call =
            |format| run(["--by", "member", "--format", format].map(OsStr::new).into_iter().chain([path.as_os_str()]));
        let (lines, whole) = (call("ndjson"), call("json"));
        assert_eq!(lines.code, whole.code);
        let document: Value = serde_json::from_str(&whole.out).unwrap();
        let mut expected = Vec::new();
        for artefact in document["artefacts"].as_array().unwrap() {
            let members = artefact["members"].as_array().unwrap();
            if members.is_empty() {
                expected.push(serde_json::json!({ "schema": 1, "artefact": artefact }));
            }
            let line = |member| serde_json::json!({ "schema": 1, "path": artefact["path"], "member": member });
            expected.extend(members.iter().map(line));
        }
        for (list, key) in [("diagnostics", "diagnostic"), ("unread", "unread")] {
            let own = document[list].as_array().unwrap().iter();
            expected.extend(own.map(|value| serde_json::json!({ "schema": 1, key: value })));
        }
        let lines: Vec<Value> = lines.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, expected, "{}", path.display());
        assert!(!lines.is_empty());
    }
}

/// A reader of RFC 4180, written for this test.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted && characters.peek() == Some(&'\n') => {
                characters.next();
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !quoted, "ends inside a row");
    rows
}

#[test]
fn csv_has_as_many_fields_in_every_row() {
    let folder = tempfile::tempdir().unwrap();
    let odd = "a, \"quoted\" name.so";
    let zip = Zip::new().deflated(odd, &library("90a")).deflated("b.so", &library("80"));
    let path = write(&folder, "x.whl", &zip.bytes());
    for (by, rows) in [("artefact", 4), ("member", 4), ("module", 4)] {
        let run =
            run([OsStr::new("--format"), OsStr::new("csv"), OsStr::new("--by"), OsStr::new(by), path.as_os_str()]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let table = csv(&run.out);
        assert_eq!(table.len(), rows + 1, "{by}: {}", run.out);
        assert!(table.iter().all(|row| row.len() == table[0].len()), "{by}: {}", run.out);
        let column = |name: &str| table[0].iter().position(|cell| cell == name).unwrap();
        assert_eq!(table[1][column("artefact")], path.display().to_string());
        let archs: Vec<&str> = table[1..].iter().map(|row| row[column("arch")].as_str()).collect();
        assert!(archs.contains(&"sm_90a") && archs.contains(&"compute_80"), "{archs:?}");
        if by == "member" {
            assert_eq!(table[1][column("member")], odd);
        }
    }
}

#[test]
fn markdown_tables_have_as_many_cells_in_every_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(&folder);
    for by in ["artefact", "member", "module"] {
        let run = run([
            OsStr::new("--format"),
            OsStr::new("markdown"),
            OsStr::new("--by"),
            OsStr::new(by),
            path.as_os_str(),
            fixture("libpartial.so").as_os_str(),
        ]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let rows: Vec<&str> = run.out.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows.len() >= 6, "{}", run.out);
        for row in &rows {
            assert_eq!(unescaped_bars(row), unescaped_bars(rows[0]), "{row}");
            assert!(row.ends_with('|'), "{row}");
        }
        assert!(run.out.contains("90a"), "{}", run.out);
    }
}

fn unescaped_bars(line: &str) -> usize {
    let mut before = ' ';
    let mut count = 0;
    for character in line.chars() {
        if character == '|' && before != '\\' {
            count += 1;
        }
        before = character;
    }
    count
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    wheel(&folder);
    for number in 0..20 {
        write(&folder, &format!("lib/d{number}/lib{number}.so"), &library(["75", "80", "90a", "100f"][number % 4]));
    }
    write(&folder, "lib/bad.so", &testkit::truth::bytes("bad_fatsize_max.fatbin"));
    for format in ["table", "json", "ndjson", "csv", "markdown"] {
        for by in ["artefact", "member", "module"] {
            let with = |threads: &str| {
                run([
                    OsStr::new("--format"),
                    OsStr::new(format),
                    OsStr::new("--by"),
                    OsStr::new(by),
                    OsStr::new("--threads"),
                    OsStr::new(threads),
                    folder.path().as_os_str(),
                    fixture("").as_os_str(),
                ])
            };
            let (one, four) = (with("1"), with("4"));
            assert_eq!(one.out, four.out, "{format} {by}");
            assert_eq!((one.err, one.code), (four.err, four.code), "{format} {by}");
            assert_eq!(four.code, Some(1));
        }
    }
}

#[test]
fn absurd_number_of_threads_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(&folder);
    let with = |threads: &str| run([OsStr::new("--threads"), OsStr::new(threads), path.as_os_str()]);
    let (one, many) = (with("1"), with("100000"));
    assert_eq!((one.out, one.code), (many.out, many.code));
}

#[test]
fn lines_of_the_table_fit_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    // a library with every architecture there is, in modules of many sets
    let archs = [
        "50", "52", "60", "61", "70", "75", "80", "86", "87", "89", "90", "90a", "100", "100a", "100f", "103", "103a",
        "103f", "110", "120", "120a", "121",
    ];
    let mut modules = Vec::new();
    for skip in 0..archs.len() {
        let entries: Vec<Entry> = archs
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != skip)
            .flat_map(|(_, arch)| [Entry::sass(arch, Cubin::new(arch).bytes()), Entry::ptx(arch, (8, 5), "x")])
            .collect();
        modules.extend(fatbin(&entries));
        modules.extend(fatbin(&[Entry::sass(archs[skip], Cubin::new(archs[skip]).bytes())]));
    }
    let bytes = Elf::shared().section(".nv_fatbin", &modules).section("__nv_relfatbin", &modules).bytes();
    let path = write(&folder, "libmany.so", &bytes);
    for columns in [80usize, 200] {
        for by in ["artefact", "member", "module"] {
            let mut command = program();
            command.current_dir(folder.path()).env("COLUMNS", columns.to_string()).args(["--by", by, "libmany.so"]);
            let run = finish(command, "");
            assert_eq!(run.code, Some(0), "{}", run.err);
            for line in run.out.lines() {
                let length = line.chars().count();
                assert!(length <= columns, "{by}: {length} columns of {columns}: {line}");
            }
            assert!(run.out.lines().any(|line| line.chars().count() > columns / 2), "{}", run.out);
        }
    }
    // and the fixtures, whose folder is short
    let mut command = program();
    command
        .current_dir(fixture(""))
        .env("COLUMNS", "80")
        .arg("--")
        .args(testkit::truth::all().iter().map(|truth| truth.file.clone()));
    for line in finish(command, "").out.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(path.exists());
}

// --- for people

#[test]
fn nothing_but_text_goes_where_no_terminal_is() {
    for variable in [None, Some("NO_COLOR")] {
        let mut command = program();
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        command.arg(fixture("libpartial.so")).arg(fixture("bad_hs_0.fatbin"));
        let run = finish(command, "");
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{} {}", run.out, run.err);
        assert!(!run.err.contains('\r') && !run.out.contains('\r'));
    }
    let mut command = program();
    command.env("CLICOLOR_FORCE", "1").arg("--no-color").arg(fixture("libpartial.so"));
    assert!(!finish(command, "").out.contains('\u{1b}'));
}

#[test]
fn hostile_names_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "a\nerror: faked.so",
        "b\u{1b}[2J\u{1b}]0;title\u{7}.so",
        "c|d`e<b>*x*.so",
        "f\u{202e}gpj.so",
        "g\u{2066}h\u{2069}\u{200e}\u{200f}.so",
        "i\u{9b}31m.so",
        "j\r\u{8}\u{7f}k.so",
        "l\u{2028}m\u{2029}n.so",
    ];
    let mut zip = Zip::new();
    for name in names {
        zip = zip.deflated(name, &library("90"));
        // and a diagnostic with the name in its place
        zip = zip.with(ZipMember::deflated(&format!("bad/{name}"), &library("80")).bad_crc());
    }
    let path = write(&folder, "x.whl", &zip.bytes());
    for format in ["table", "markdown"] {
        for by in ["member", "module"] {
            let run =
                run([OsStr::new("--format"), OsStr::new(format), OsStr::new("--by"), OsStr::new(by), path.as_os_str()]);
            assert_eq!(run.code, Some(1));
            for text in [&run.out, &run.err] {
                let bad = text.chars().find(|character| {
                    (character.is_control() && *character != '\n')
                        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                });
                assert_eq!(bad, None, "{format} {by}: {text}");
                // a name gives no line of its own
                assert!(!text.lines().any(|line| line.starts_with("error: faked")), "{text}");
            }
            if format == "markdown" {
                let rows: Vec<&str> = run.out.lines().filter(|line| line.starts_with('|')).collect();
                assert!(rows.iter().all(|row| unescaped_bars(row) == unescaped_bars(rows[0])), "{}", run.out);
                assert!(!run.out.contains("<b>") || run.out.contains("\\<b>"), "{}", run.out);
            }
        }
    }
    // other programs get the names as they are
    let run = run([OsStr::new("--format"), OsStr::new("json"), path.as_os_str()]);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    let mut found: Vec<&str> = document.artefacts[0]
        .members
        .iter()
        .map(|member| member.path.as_str())
        .filter(|path| !path.starts_with("bad/"))
        .collect();
    found.sort_unstable();
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn hostile_identifiers_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let entry = Entry::sass("90", Cubin::new("90").bytes()).name("a\u{1b}[31m\nb.cu").options("x\u{7}y");
    let object = Elf::object().section(".nv\u{1b}[2J", &fatbin(&[entry])).bytes();
    let archive = testkit::Ar::new(testkit::ar::Flavour::Gnu).member("o\u{1b}[3m.o", &object).bytes();
    for (name, bytes) in [("x.o", object), ("x.a", archive)] {
        let path = write(&folder, name, &bytes);
        for format in ["table", "markdown"] {
            let run = run([
                OsStr::new("--by"),
                OsStr::new("module"),
                OsStr::new("--format"),
                OsStr::new(format),
                path.as_os_str(),
            ]);
            assert!(!run.out.contains('\u{1b}') && !run.out.contains('\u{7}'), "{name} {format}: {}", run.out);
        }
    }
}

// --- directories and archives

#[cfg(unix)]
#[test]
fn links_in_circles_and_to_listed_files_list_each_file_once() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("lib")).unwrap();
    std::fs::write(root.join("lib/libx.so.1.2"), library("90")).unwrap();
    symlink("libx.so.1.2", root.join("lib/libx.so.1")).unwrap();
    symlink("libx.so.1", root.join("lib/libx.so")).unwrap();
    symlink("..", root.join("lib/up")).unwrap();
    symlink(&root, root.join("self")).unwrap();
    symlink("loop_b", root.join("loop_a")).unwrap();
    symlink("loop_a", root.join("loop_b")).unwrap();
    symlink("/no/such/target", root.join("dangling.so")).unwrap();
    // one outside is named, and read by the name of its link where that is asked for
    std::fs::write(folder.path().join("outside.so"), library("80")).unwrap();
    symlink(folder.path().join("outside.so"), root.join("linked.so")).unwrap();
    symlink(folder.path().join("outside.so"), root.join("zlinked.so")).unwrap();
    for (flag, expected, said) in [
        (None, &["lib/libx.so.1.2"][..], &["FS0107"][..]),
        (Some("--follow-links"), &["lib/libx.so.1.2", "linked.so"], &[]),
    ] {
        let words = flag.into_iter().chain(["--format", "json"]).map(OsStr::new);
        let run = run(words.chain([root.as_os_str()]));
        assert_eq!(run.code, Some(0), "{}", run.err);
        let document: Document = serde_json::from_str(&run.out).unwrap();
        assert_eq!(document.artefacts.len(), 1);
        assert_eq!(document.artefacts[0].kind, "directory");
        let paths: Vec<&str> = document.artefacts[0].members.iter().map(|member| member.path.as_str()).collect();
        assert_eq!(paths, expected);
        let codes: Vec<&str> = document.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert_eq!(codes, said, "{:?}", document.diagnostics);
    }
}

#[test]
fn archives_of_a_directory_are_artefacts_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(&folder);
    write(&folder, "libloose.so", &library("75"));
    write(&folder, "text.txt", b"words");
    write(&folder, "plain.so", &Elf::shared().section(".text", &[1; 64]).bytes());
    let run = run([OsStr::new("--format"), OsStr::new("json"), folder.path().as_os_str()]);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    let kinds: Vec<(&str, usize, u64)> =
        document.artefacts.iter().map(|a| (a.kind.as_str(), a.members.len(), a.members_without_code)).collect();
    assert_eq!(kinds, [("directory", 1, 1), ("wheel", 2, 1)]);
    assert_eq!(document.artefacts[0].members[0].path, "libloose.so");
    assert_eq!(document.artefacts[1].path, path.display().to_string());
}

#[test]
fn same_names_of_a_wheel_stay_apart_by_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let zip = Zip::new()
        .deflated("pkg/sm_80/libk.so", &library("80"))
        .deflated("pkg/sm_90/libk.so", &library("90a"))
        .deflated("other/libk.so", &library("75"));
    let path = write(&folder, "x.whl", &zip.bytes());
    let run = run([&path]);
    for text in ["pkg/sm_80/libk.so", "pkg/sm_90/libk.so", "other/libk.so", "sm_80", "sm_90a", "sm_75"] {
        assert!(run.out.contains(text), "{text}: {}", run.out);
    }
    assert!(run.out.contains("3 files with device code"), "{}", run.out);
}

#[test]
fn architectures_of_some_modules_only_are_marked() {
    // three translation units: 90a and 100f, 75, 80 and 90; only the last is for several plain architectures
    let run = run([fixture("libpartial.so")]);
    assert_eq!(run.code, Some(0));
    let sass = run.out.lines().find(|line| line.trim_start().starts_with("SASS")).expect("a line of SASS");
    for arch in ["75", "90a", "100f"] {
        assert!(!sass.contains(arch), "a plain union overstates it: {sass}");
        assert!(run.out.contains(&format!("sm_{arch}")), "{}", run.out);
    }

    // two general modules that share one architecture
    let folder = tempfile::tempdir().unwrap();
    let module = |archs: &[&str]| {
        fatbin(&archs.iter().map(|arch| Entry::sass(arch, Cubin::new(arch).bytes())).collect::<Vec<_>>())
    };
    let code = [module(&["75", "80"]), module(&["80", "90"])].concat();
    let path = write(&folder, "libtwo.so", &Elf::shared().section(".nv_fatbin", &code).bytes());
    let run = self::run([path]);
    let lines: Vec<&str> = run.out.lines().collect();
    let everywhere = lines.iter().position(|line| line.trim_start().starts_with("SASS")).unwrap();
    assert_eq!(lines[everywhere].split_ascii_whitespace().collect::<Vec<_>>(), ["SASS", "sm_80"]);
    let some = lines[everywhere + 1];
    assert!(some.contains("only") && some.contains("75 (1)") && some.contains("90 (1)"), "{some}");
}

#[test]
fn sample_wheel_of_the_readme_lists_its_two_libraries() {
    let path = fixture("sample").join(testkit::sample::NAME);
    let run = run([OsStr::new("--format"), OsStr::new("json"), path.as_os_str()]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let document: Document = serde_json::from_str(&run.out).unwrap();
    let artefact = &document.artefacts[0];
    assert_eq!((artefact.kind.as_str(), artefact.members_without_code), ("wheel", 1));
    for (member, file) in artefact.members.iter().zip(["libpartial.so", "librdc.so"]) {
        assert_eq!(member.path, format!("fatscan_sample/lib/{file}"));
        let rows = member.code.iter().flat_map(|row| {
            let word = format!("{} {}", row.kind, row.arch.as_deref().unwrap());
            std::iter::repeat_n(word, row.count as usize)
        });
        let mut own: Vec<String> = rows.collect();
        own.sort();
        assert_eq!(own, testkit::Truth::load(file).images().unwrap(), "{file}");
    }
    assert_eq!(artefact.members.len(), 2);
}

#[test]
fn same_path_twice_is_reported_twice() {
    let path = fixture("cubin_sm_90.cubin");
    let run = run([OsStr::new("--format"), OsStr::new("json"), path.as_os_str(), path.as_os_str()]);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document.artefacts.len(), 2);
    assert_eq!(document.artefacts[0], document.artefacts[1]);
}

#[cfg(unix)]
#[test]
fn name_that_is_no_utf8_is_read() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"lib\xff\xfe.so"));
    if std::fs::write(&path, library("90")).is_err() {
        eprintln!("skipped: the file system takes only UTF-8");
        return;
    }
    let inside = run([folder.path()]);
    assert_eq!(inside.code, Some(0), "{}", inside.err);
    assert!(inside.out.contains("sm_90"), "{}", inside.out);
}

#[cfg(unix)]
#[test]
fn path_that_is_no_utf8_is_an_argument_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"lib\xff\xfe.so"));
    std::fs::write(&path, library("90")).unwrap();
    let direct = run([Path::new(&path)]);
    assert_eq!(direct.code, Some(0), "{}", direct.err);
    assert!(direct.out.contains("sm_90"), "{}", direct.out);
}
