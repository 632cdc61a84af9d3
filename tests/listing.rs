//! What a list says: what is in every module and what in some, labels that their payload refutes, files that were not
//! read whole; in every format.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use fatscan::json::{CoveredArch, Document};
use fatscan::{CodeKind, Count, Coverage, Options, Specialised};
use gpu_arch::Arch;
use tempfile::TempDir;
use testkit::ar::Flavour;
use testkit::{Ar, Cubin, Elf, Entry, Zip, ZipMember, fatbin, ptx_text};

/// Standard output with the exit code.
fn list(paths: &[&Path], arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fatscan"));
    command.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1").args(arguments).args(paths);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn module(archs: &[&str]) -> Vec<u8> {
    fatbin(&archs.iter().map(|arch| Entry::sass(arch, Cubin::new(arch).bytes())).collect::<Vec<_>>())
}

fn library(modules: &[Vec<u8>]) -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &modules.concat()).bytes()
}

/// A library whose label says 8.0 twice where the cubin is for 7.5, once in a module with a good image.
fn mislabelled() -> Vec<u8> {
    let wrong = || Entry::sass("80", Cubin::new("75").bytes());
    library(&[
        fatbin(&[wrong(), Entry::sass("90", Cubin::new("90").bytes())]),
        module(&["80", "90"]),
        fatbin(&[Entry::sass("90", Cubin::new("90").bytes()), wrong()]),
    ])
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The lines below the head of the first block, blanks made one.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The cells of comma-separated values without commas in them, by name of the column.
fn cell<'a>(text: &'a str, row: usize, column: &str) -> &'a str {
    let place = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
    text.lines().nth(row).unwrap().split(',').nth(place).unwrap()
}

#[test]
fn what_is_in_every_module_of_every_file_is_told_from_what_is_in_some() {
    let folder = tempfile::tempdir().unwrap();
    // three general modules, and a specialised one beside them
    let one = library(&[module(&["75", "80"]), module(&["80", "90"]), module(&["90a"])]);
    let two = library(&[module(&["80", "90"])]);
    let zip = || Zip::new().deflated("lib/one.so", &one).deflated("lib/two.so", &two);
    let path = write(&folder, "x.whl", &zip().bytes());
    let (code, out) = list(&[&path], &["--by", "artefact"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        lines(&out)[1..5],
        [
            "SASS sm_80",
            "in some of 3 modules only: sm_75 (1) 90 (2)",
            "PTX none",
            "special 1 specialised module: 1 x sm_90a",
        ],
        "{out}"
    );
    assert!(lines(&out)[5].starts_with("code 4 modules, 7 images, "), "{out}");

    let (_, out) = list(&[&path], &["--by", "artefact", "--format", "markdown"]);
    let row =
        "| 2 files | sm_80; in some of 3 modules: sm_75 (1) 90 (2) |  | specialised modules: 1 x sm_90a | 4 | 7 |";
    assert!(out.lines().any(|line| line.starts_with(row)), "{out}");

    let (_, out) = list(&[&path], &["--by", "artefact", "--format", "csv"]);
    let columns = ["arch", "count", "everywhere", "modules", "of_modules", "specialised_modules"];
    let rows: Vec<Vec<&str>> =
        (1..=4).map(|row| columns.iter().map(|column| cell(&out, row, column)).collect()).collect();
    assert_eq!(
        rows,
        [
            ["sm_75", "1", "false", "1", "3", "0"],
            ["sm_80", "3", "true", "3", "3", "0"],
            ["sm_90", "2", "false", "2", "3", "0"],
            ["sm_90a", "1", "false", "0", "3", "1"],
        ]
    );
    // by member each file is counted by itself
    let (_, out) = list(&[&path], &["--format", "csv"]);
    let shares: Vec<[&str; 4]> =
        (1..=6).map(|row| ["member", "arch", "modules", "of_modules"].map(|column| cell(&out, row, column))).collect();
    assert_eq!(
        shares,
        [
            ["lib/one.so", "sm_75", "1", "2"],
            ["lib/one.so", "sm_80", "2", "2"],
            ["lib/one.so", "sm_90", "1", "2"],
            ["lib/one.so", "sm_90a", "0", "2"],
            ["lib/two.so", "sm_80", "1", "1"],
            ["lib/two.so", "sm_90", "1", "1"],
        ]
    );

    // a third file that is for one architecture only runs nowhere else: nothing is everywhere any more
    let path = write(&folder, "y.whl", &zip().deflated("lib/three.so", &library(&[module(&["70"])])).bytes());
    let (_, out) = list(&[&path], &["--by", "artefact"]);
    assert_eq!(lines(&out)[1], "SASS in some of 4 modules only: sm_70 (1) 75 (1) 80 (3) 90 (2)", "{out}");
}

#[test]
fn an_artefact_is_listed_with_the_code_for_a_device_link() {
    let folder = tempfile::tempdir().unwrap();
    let linked = |arch: &str| {
        let code = fatbin(&[Entry::sass(arch, Cubin::new(arch).relocatable().bytes())]);
        Elf::shared().section("__nv_relfatbin", &code).bytes()
    };
    let zip = Zip::new().deflated("a.so", &linked("80")).deflated("b.so", &linked("90"));
    let path = write(&folder, "x.whl", &zip.deflated("c.so", &library(&[module(&["75", "80"])])).bytes());
    let (_, out) = list(&[&path], &["--by", "artefact"]);
    assert_eq!(
        lines(&out)[1..6],
        [
            "SASS sm_75 80",
            "PTX none",
            "for a device link only, not loaded by the driver as it is:",
            "SASS in some of 2 modules only: sm_80 (1) 90 (1)",
            "PTX none",
        ],
        "{out}"
    );
}

#[test]
fn everywhere_in_a_sum_is_everywhere_in_each_file() {
    let loadable = |name: &str| {
        let report = fatscan::scan_bytes(name, &testkit::truth::bytes(name), &Options::new());
        let member = report.artefacts[0].members.first().map(|member| Coverage::of(member, false));
        member.filter(|coverage| coverage.modules() > 0)
    };
    let all: Vec<Coverage> = testkit::truth::all().iter().filter_map(|truth| loadable(&truth.file)).collect();
    assert!(all.len() > 100, "{}", all.len());
    for one in &all {
        for two in &all {
            let sum = Coverage::sum([one.clone(), two.clone()]);
            for kind in [CodeKind::Sass, CodeKind::Ptx, CodeKind::LtoIr, CodeKind::TileIr, CodeKind::Other] {
                let mut both = one.everywhere(kind);
                both.retain(|arch| two.everywhere(kind).contains(arch));
                assert_eq!(sum.everywhere(kind), both);
            }
            assert_eq!(sum.modules(), one.modules() + two.modules());
            assert_eq!(sum.deciding(), one.deciding() + two.deciding());
        }
    }
}

#[test]
fn labels_that_the_payload_refutes_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let object = Elf::object().section(".nv_fatbin", &fatbin(&[Entry::sass("80", Cubin::new("75").bytes())])).bytes();
    let good = Elf::object().section(".nv_fatbin", &module(&["80"])).bytes();
    let archive = Ar::new(Flavour::Gnu).member("good.o", &good).member("wrong.o", &object).bytes();
    let zip = Zip::new().deflated("lib/x.so", &mislabelled()).deflated("lib/y.so", &library(&[module(&["80"])]));
    let wheel = write(&folder, "x.whl", &zip.bytes());
    let library = write(&folder, "libx.a", &archive);
    for by in ["member", "artefact"] {
        let (code, out) = list(&[&wheel], &["--by", by]);
        assert_eq!(code, Some(0));
        let mark = "* sm_80 in 2 images: the payload disagrees, the cubin says sm_75";
        assert_eq!(lines(&out).iter().filter(|line| *line == mark).count(), 1, "{by}: {out}");
        let marked = if by == "member" { "SASS sm_80* 90" } else { "SASS sm_80*" };
        assert!(lines(&out).iter().any(|line| line == marked), "{by}: {out}");
        // the other file is not marked
        assert_eq!(
            lines(&out).iter().filter(|line| *line == "SASS sm_80").count(),
            usize::from(by == "member"),
            "{out}"
        );
    }
    let (_, out) = list(&[&wheel], &["--by", "module"]);
    let sets: Vec<String> = lines(&out).into_iter().filter(|line| line.contains('@')).collect();
    let marks: Vec<bool> = sets.iter().map(|line| line.contains("sm_80*") || line.contains("sm_90 80*")).collect();
    assert_eq!(marks, [true, false, true, false], "{out}");
    assert!(sets[2].contains("sm_80* 90") || sets[2].contains("sm_90 80*"), "{out}");

    let (_, out) = list(&[&library], &[]);
    assert!(lines(&out).contains(&"SASS sm_80*".to_owned()), "{out}");
    assert!(
        lines(&out).contains(&"* sm_80 in 1 image: the payload disagrees, the cubin says sm_75".to_owned()),
        "{out}"
    );

    let (_, out) = list(&[&wheel], &["--format", "markdown"]);
    assert!(out.contains("| lib/x.so | sm_80\\* 90 |"), "{out}");
    assert!(out.contains("| lib/y.so | sm_80 |"), "{out}");
    let legend = "\\* sm\\_80 in 2 images\\: the payload disagrees, the cubin says sm\\_75";
    assert_eq!(out.lines().filter(|line| *line == legend).count(), 1, "{out}");

    let (_, out) = list(&[&wheel], &["--format", "csv"]);
    let rows: Vec<[&str; 4]> =
        (1..=3).map(|row| ["member", "arch", "count", "payload_says"].map(|column| cell(&out, row, column))).collect();
    assert_eq!(
        rows,
        [
            ["lib/x.so", "sm_80", "3", "the cubin says sm_75 (2)"],
            ["lib/x.so", "sm_90", "3", ""],
            ["lib/y.so", "sm_80", "1", ""],
        ]
    );
    let (_, out) = list(&[&wheel], &["--format", "csv", "--by", "module"]);
    let says = "the cubin says sm_75";
    let column: Vec<&str> = (1..=7).map(|row| cell(&out, row, "payload_says")).collect();
    assert_eq!(column, [says, "", "", "", "", says, ""], "{out}");
}

#[test]
fn marks_say_what_the_payload_says_of_suffixes_and_versions() {
    for (file, set, says) in [
        (
            "mislabel_90a_is_90.fatbin",
            "SASS sm_90a*",
            "* sm_90a in 1 image: the payload disagrees, the cubin says sm_90",
        ),
        (
            "mislabel_100_is_100a.fatbin",
            "SASS sm_100*",
            "* sm_100 in 1 image: the payload disagrees, the record says for exactly one architecture (a)",
        ),
    ] {
        let (_, out) = list(&[&testkit::truth::path(file)], &[]);
        assert!(lines(&out).contains(&set.to_owned()) && lines(&out).contains(&says.to_owned()), "{out}");
    }
    let folder = tempfile::tempdir().unwrap();
    let code = fatbin(&[Entry::ptx("90", (8, 5), &ptx_text("8.4", "sm_90", "k"))]);
    let (_, out) = list(&[&write(&folder, "x.fatbin", &code)], &[]);
    assert!(lines(&out).contains(&"PTX compute_90*".to_owned()), "{out}");
    let says = "* compute_90 in 1 image: the payload disagrees, the text says .version 8.4";
    assert!(lines(&out).contains(&says.to_owned()), "{out}");
    // good labels have no mark
    let (_, out) = list(&[&testkit::truth::path("libpartial.so")], &[]);
    assert!(!out.contains('*'), "{out}");
}

#[test]
fn marks_that_the_limit_of_diagnostics_hides_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = || fatbin(&[Entry::sass("80", Cubin::new("75").bytes())]);
    let bytes = library(&std::iter::repeat_with(wrong).take(150).collect::<Vec<_>>());
    let (_, out) = list(&[&write(&folder, "x.so", &bytes)], &[]);
    let own: Vec<String> = lines(&out).into_iter().filter(|line| line.starts_with('*')).collect();
    assert_eq!(
        own,
        [
            "* sm_80 in 100 images: the payload disagrees, the cubin says sm_75",
            "* there are more problems than are told: other labels may be wrong too",
        ]
    );
}

#[test]
fn damaged_files_are_named_where_the_list_ends() {
    let folder = tempfile::tempdir().unwrap();
    let good = library(&[module(&["80", "90"])]);
    let zip = Zip::new().deflated("good.so", &good).with(ZipMember::deflated("bad.so", &good).bad_crc());
    let wheel = write(&folder, "x.whl", &zip.bytes());
    let cut = testkit::truth::path("bad_truncated.fatbin");
    let missing = folder.path().join("missing.so");
    let heading = "3 files are damaged or could not be read whole: the list may lack something";
    for by in ["artefact", "member", "module"] {
        let (code, out) = list(&[&wheel, &cut, &missing], &["--by", by]);
        assert_eq!(code, Some(1));
        let end: Vec<&str> = out.lines().rev().take(4).collect();
        assert_eq!(end[3], heading, "{by}: {out}");
        for name in ["x.whl!bad.so: ", "bad_truncated.fatbin: ", "missing.so: "] {
            // in the order of their places, which are those of this machine
            assert!(end[..3].iter().any(|line| line.contains(name)), "{by}: {out}");
        }
        let (_, out) = list(&[&wheel, &cut, &missing], &["--by", by, "--format", "markdown"]);
        let end: Vec<&str> = out.lines().rev().take(6).collect();
        assert_eq!(end[5], format!("{heading}:"), "{by}: {out}");
        assert!(end[1..4].iter().all(|line| line.starts_with("- ")) && end[0].is_empty(), "{by}: {out}");
        assert!(end[1..4].iter().any(|line| line.contains("x.whl!bad.so\\: ")));
    }
    for format in ["table", "markdown"] {
        let (code, out) = list(&[&testkit::truth::path("libpartial.so")], &["--format", format]);
        assert_eq!((code, out.contains("damaged")), (Some(0), false), "{out}");
    }
}

#[test]
fn many_damaged_files_are_counted_and_the_first_five_named() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = testkit::truth::bytes("bad_truncated.fatbin");
    for index in 0..8 {
        write(&folder, &format!("{index}.fatbin"), &bytes);
    }
    let (code, out) = list(&[folder.path()], &[]);
    assert_eq!(code, Some(1));
    let end: Vec<&str> = out.lines().rev().take(7).collect();
    assert!(end[6].starts_with("8 files are damaged"), "{out}");
    for (index, line) in end[1..6].iter().rev().enumerate() {
        assert!(line.contains(&format!("/{index}.fatbin: the fatbin is cut")), "{out}");
    }
    assert_eq!(end[0], "  and 3 more files");
    let (_, out) = list(&[folder.path()], &["--format", "markdown"]);
    assert!(out.contains("\n8 files are damaged") && out.trim_end().ends_with("- and 3 more files"), "{out}");
}

#[test]
fn files_that_were_not_read_are_named_in_markdown_too() {
    let folder = tempfile::tempdir().unwrap();
    let zip = Zip::new().deflated("a.so", &library(&[module(&["80"])])).deflated("b.7z", b"7z\xbc\xaf\x27\x1c\x00\x04");
    let path = write(&folder, "x.whl", &zip.bytes());
    let (_, out) = list(&[&path], &["--format", "markdown"]);
    assert!(out.contains("\n1 file was not read and may hold device code:\n"), "{out}");
    assert!(out.lines().any(|line| line.starts_with("- ") && line.contains("b.7z\\: ")), "{out}");
}

#[test]
fn lines_of_marks_and_damage_fit_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let zip = Zip::new().with(ZipMember::deflated("bad.so", &mislabelled()).bad_crc());
    write(&folder, "x.whl", &zip.bytes());
    for columns in ["80", "200"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fatscan"));
        let output = command.current_dir(folder.path()).env("COLUMNS", columns).arg("x.whl").output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains("disagrees") && out.contains("damaged"), "{out}");
        assert!(out.lines().all(|line| line.chars().count() <= columns.parse().unwrap()), "{out}");
    }
}

// --- JSON

fn kind(word: &str) -> CodeKind {
    let kinds = [CodeKind::Sass, CodeKind::Ptx, CodeKind::LtoIr, CodeKind::TileIr, CodeKind::Other];
    kinds.into_iter().find(|kind| kind.name() == word).unwrap()
}

fn key(word: &str, arch: &str) -> (CodeKind, Arch) {
    let (prefix, own) = arch.split_once('_').unwrap();
    let expected = match word {
        "ptx" => "compute",
        "lto-ir" => "lto",
        _ => "sm",
    };
    assert_eq!(prefix, expected);
    (kind(word), own.parse().unwrap())
}

/// The coverage that a program reads out of the document.
fn read(json: &fatscan::json::Coverage) -> Coverage {
    let size = |number: u64| usize::try_from(number).unwrap();
    let mut coverage = Coverage { general: size(json.general), ..Coverage::default() };
    let set = |archs: &[CoveredArch]| archs.iter().map(|own| key(&own.kind, &own.arch)).collect::<BTreeSet<_>>();
    coverage.specialised =
        json.specialised.iter().map(|own| Specialised { archs: set(&own.archs), modules: size(own.modules) }).collect();
    for own in &json.images {
        let count = Count { images: size(own.images), general: size(own.general), specialised: size(own.specialised) };
        assert_eq!(coverage.images.insert(key(&own.kind, &own.arch), count), None);
    }
    coverage
}

#[test]
fn coverage_in_json_is_that_of_the_library_on_every_fixture() {
    let mut counted = [0; 3];
    for truth in testkit::truth::all() {
        let report = fatscan::scan_bytes(&truth.file, &truth.bytes(), &Options::new());
        let text = serde_json::to_string(&Document::new(&report, false)).unwrap();
        let document: Document = serde_json::from_str(&text).unwrap();
        let members = report.artefacts.iter().flat_map(|artefact| &artefact.members);
        let views = document.artefacts.iter().flat_map(|artefact| &artefact.members);
        for (member, view) in members.zip(views) {
            let json = &view.coverage;
            let pairs = [
                (&json.loadable, Coverage::of(member, false)),
                (&json.relocatable, Coverage::of(member, true)),
                (&json.unmapped, Coverage::unmapped(member)),
            ];
            for (part, (json, own)) in pairs.into_iter().enumerate() {
                assert_eq!(read(json), own, "{}", truth.file);
                counted[part] += own.modules();
            }
        }
    }
    assert!(counted[0] > 100 && counted[1] > 10, "{counted:?}");
}

#[test]
fn coverage_in_json_has_the_numbers_of_a_library_made_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = library(&[module(&["75", "80", "80"]), module(&["80", "90"]), module(&["90a"]), module(&["90a"])]);
    let (_, out) = list(&[&write(&folder, "x.so", &bytes)], &["--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let row = |arch: &str, numbers: [u64; 3]| {
        let [images, general, specialised] = numbers;
        serde_json::json!({ "kind": "sass", "arch": arch, "images": images, "general": general, "specialised": specialised })
    };
    let none = serde_json::json!({ "general": 0, "specialised": [], "images": [] });
    assert_eq!(
        value["artefacts"][0]["members"][0]["coverage"],
        serde_json::json!({
            "loadable": {
                "general": 2,
                "specialised": [{ "archs": [{ "kind": "sass", "arch": "sm_90a" }], "modules": 2 }],
                "images": [row("sm_75", [1, 1, 0]), row("sm_80", [3, 2, 0]), row("sm_90", [1, 1, 0]), row("sm_90a", [2, 0, 2])],
            },
            "relocatable": none,
            "unmapped": none,
        })
    );
}

#[test]
fn files_of_bare_intermediate_code_are_one_block_and_called_what_they_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let ir = [0xed, 0x43, 0x4e, 0x7f, 1, 2, 3, 4].repeat(100);
    let mut zip = Zip::new().deflated("p/a.so", &library(&[module(&["80"])]));
    for number in 0..75 {
        zip = zip.deflated(&format!("p/cuda/kernel{number:02}.ir"), &ir);
    }
    let path = write(&folder, "x.whl", &zip.deflated("q/one.ir", &ir).bytes());
    let (_, out) = list(&[&path], &[]);
    assert!(out.contains("p/cuda/  75 files of LTO-IR or OptiX-IR, 60.0 kB\n"), "{out}");
    assert!(out.contains("  names   kernel00.ir to kernel74.ir\n"), "{out}");
    assert!(out.contains("q/one.ir  LTO-IR or OptiX-IR, 800 B\n"), "{out}");
    assert!(out.lines().count() < 25, "{out}");
    let (_, out) = list(&[&path], &["--gpu", "8.0"]);
    assert!(!out.contains("no driver loads"), "{out}");
}
