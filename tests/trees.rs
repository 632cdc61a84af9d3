//! Big trees: what is left out, what is one artefact, where the paths come from.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic here is a failing test"
)]

mod program;

use std::io::Write;
use std::process::Stdio;

use fatscan::json::Document;
use program::{Folder, library, module, program as command, run, wheel};

/// A tree of modules: `software/{a,b}/1.0/lib/x.so`, examples, and a wheel.
fn software() -> Folder {
    let folder = Folder::new();
    let good = library(&[module(&["80", "90"])]);
    for path in ["a/1.0/lib", "a/1.0/tests", "b/1.0/lib", "b/2.0/lib"] {
        std::fs::create_dir_all(folder.file(&format!("software/{path}"))).unwrap();
    }
    folder.write("software/a/1.0/lib/x.so", &good);
    folder.write("software/a/1.0/tests/t.so", library(&[module(&["70"])]));
    folder.write("software/b/1.0/lib/x.so", &good);
    folder.write("software/b/2.0/lib/broken.so", &good[..good.len() / 2]);
    folder.write("software/b/2.0/w.whl", wheel(&[("tests/t.so", good.clone()), ("w/y.so", good)]));
    folder.write("software/readme.txt", "nothing");
    folder
}

fn list(folder: &Folder, arguments: &[&str]) -> (Option<i32>, Document) {
    let path = folder.file("software");
    let run = run([&["list", path.to_str().unwrap(), "--format", "json"], arguments].concat());
    (run.code, serde_json::from_str(&run.out).unwrap())
}

/// Artefacts and their members, from the folder on.
fn paths(folder: &Folder, document: &Document) -> Vec<(String, Vec<String>)> {
    let root = format!("{}/", folder.path().display());
    let own = document.artefacts.iter().map(|artefact| {
        let members = artefact.members.iter().map(|member| member.path.trim_start_matches(&root).to_owned());
        (artefact.path.trim_start_matches(&root).to_owned(), members.collect())
    });
    own.collect()
}

#[test]
fn what_is_left_out_is_not_read() {
    let folder = software();
    assert_eq!(list(&folder, &[]).0, Some(1));
    let (code, document) = list(&folder, &["--exclude", "broken.so", "--exclude", "tests"]);
    assert_eq!(code, Some(0), "{:?}", document.diagnostics);
    let names: Vec<String> = paths(&folder, &document).into_iter().flat_map(|(_, members)| members).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| !name.contains("tests") && !name.contains("broken")), "{names:?}");
    // `b/2.0` alone, from the folder that was given on
    let (code, document) = list(&folder, &["--exclude", "b/2.0"]);
    assert_eq!((code, paths(&folder, &document).len()), (Some(0), 1));
    // what is given itself is read
    let file = folder.file("software/a/1.0/lib/x.so");
    assert_eq!(run(["list", file.to_str().unwrap(), "--exclude", "x.so"]).code, Some(0));
    let bad = run(["list", file.to_str().unwrap(), "--exclude", "a[b"]);
    assert_eq!(bad.code, Some(2));
    assert!(bad.err.contains("--exclude: `a[b` is no pattern"), "{}", bad.err);
}

#[test]
fn a_gate_that_leaves_out_everything_says_so() {
    let folder = software();
    let path = folder.file("software/a");
    let check = |exclude: &str| run(["check", path.to_str().unwrap(), "--require", "9.0", "--exclude", exclude]);
    assert_eq!(run(["check", path.to_str().unwrap(), "--require", "9.0"]).code, Some(1));
    assert_eq!(check("tests").code, Some(0));
    let all = check("1.0");
    assert_eq!(all.code, Some(2));
    assert!(all.err.contains("--exclude leaves out every file with device code"), "{}", all.err);
}

#[test]
fn directories_some_levels_down_are_artefacts() {
    let folder = software();
    let of = |levels: &str| {
        let (_, document) = list(&folder, &["--group-by", levels, "--exclude", "broken.so"]);
        paths(&folder, &document).into_iter().map(|(path, members)| (path, members.len())).collect::<Vec<_>>()
    };
    let named =
        |all: &[(&str, usize)]| all.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect::<Vec<_>>();
    let wheel = "software/b/2.0/w.whl";
    assert_eq!(of("0"), named(&[("software", 3), (wheel, 2)]));
    assert_eq!(of("1"), named(&[("software/a", 2), ("software/b", 1), (wheel, 2)]));
    let two = of("2");
    assert_eq!(two[..2], named(&[("software/a/1.0", 2), ("software/b/1.0", 1)])[..]);
    assert!(two.contains(&(wheel.to_owned(), 2)), "{two:?}");
    // those without device code are counted, and what is damaged stays
    for path in ["c/1.0", "d/1.0"] {
        std::fs::create_dir_all(folder.file(&format!("software/{path}"))).unwrap();
        folder.write(&format!("software/{path}/readme.txt"), "nothing");
    }
    let (_, document) = list(&folder, &["--group-by", "2", "--exclude", "w.whl", "--exclude", "tests"]);
    let names: Vec<String> = paths(&folder, &document).into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, ["software/a/1.0", "software/b/1.0", "software/b/2.0"]);
    let said = document.diagnostics.iter().find(|said| said.code == "FS0109").unwrap();
    assert!(said.message.ends_with("2 of 5 directories"), "{}", said.message);
    let (code, document) = list(&folder, &["--group-by", "2", "--exclude", "a", "--exclude", "b"]);
    assert_eq!((code, paths(&folder, &document)), (Some(0), vec![("software".to_owned(), Vec::new())]));
    // the verdict is each directory's own
    let path = folder.file("software");
    let path = path.to_str().unwrap();
    let run = run(["check", path, "--group-by", "2", "--require", "9.0", "--exclude", "broken.so", "--format", "json"]);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    let verdicts = document.artefacts.iter().filter_map(|artefact| {
        let word = artefact.verdicts.as_ref()?.first()?.verdict.clone();
        Some((artefact.path.rsplit_once("software/")?.1.to_owned(), word))
    });
    let verdicts: Vec<(String, String)> = verdicts.collect();
    let word = |path: &str| verdicts.iter().find(|(own, _)| own == path).map(|(_, word)| word.as_str());
    assert_eq!((word("a/1.0"), word("b/1.0")), (Some("partial"), Some("native")), "{verdicts:?}");
}

#[test]
fn paths_come_as_find_print0_writes_them() {
    let folder = Folder::new();
    let good = library(&[module(&["80"])]);
    let names = ["one.so", "two\nlines.so", " blank .so"];
    let paths: Vec<String> = names.iter().map(|name| folder.write(name, &good)).collect();
    let mut child = command();
    child.args(["list", "-", "--format", "json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let text: String = paths.iter().map(|path| format!("{path}\0")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    let document: Document = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(document.artefacts.len(), 3);
}

/// A note of many files is said once, with the first of them; an error of each.
#[test]
fn what_is_said_of_many_files_is_said_once() {
    let folder = Folder::new();
    let whole = library(&[module(&["80"])]);
    for at in 0..5 {
        folder.write(&format!("data{at}.7z"), b"7z\xbc\xaf\x27\x1c and more");
        folder.write(&format!("cut{at}.so"), &whole[..100]);
    }
    folder.write("whole.so", &whole);
    let run = run(["list", folder.path().to_str().unwrap()]);
    let lines = |start: &str| run.err.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(run.code, Some(1));
    assert_eq!(lines("warning[FS0211]"), 1, "{}", run.err);
    assert!(run.err.contains("data2.7z`\n  and in 2 more files\n"), "{}", run.err);
    let errors = run.err.lines().filter(|line| line.contains("/cut")).count();
    assert!(errors >= 5 && lines("error[") >= 5, "{}", run.err);
}

/// Broken files that by their names are no libraries and no packages are a warning in a directory; alone, and by another
/// name, an error.
#[test]
fn broken_data_beside_libraries_is_a_warning() {
    let folder = Folder::new();
    let good = library(&[module(&["80"])]);
    let texts = wheel(&[("a.txt", vec![b'x'; 5000])]);
    let cut = |bytes: &[u8]| bytes[..bytes.len() * 2 / 3].to_vec();
    let gzip = testkit::compress::gzip(&vec![b'x'; 5000]);
    let code = |name: &str, bytes: &[u8]| {
        let own = Folder::new();
        own.write("x.so", &good);
        own.write(name, bytes);
        run(["check", own.path().to_str().unwrap(), "--require", "8.0"]).code.unwrap()
    };
    for (name, bytes, expected) in [
        ("part.npz", cut(&texts), 0),
        ("data.csv.gz", cut(&gzip), 0),
        ("whole.csv.gz", gzip.clone(), 0),
        ("x.whl", cut(&texts), 1),
        ("x.jar", cut(&texts), 1),
        ("x.tar.gz", cut(&gzip), 1),
        ("x.tgz", cut(&gzip), 1),
        ("libx.so.gz", cut(&gzip), 1),
        // what is in it counts, whatever it is called
        ("w.npz", cut(&wheel(&[("w/y.so", good.clone()), ("a.txt", vec![b'x'; 5000])])), 1),
    ] {
        assert_eq!(code(name, &bytes), expected, "{name}");
    }
    let alone = folder.write("part.npz", cut(&texts));
    assert_eq!(run(["list", &alone]).code, Some(1));
}
