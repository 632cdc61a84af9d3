//! What is extracted is what cuobjdump extracts of every fixture; nothing is written outside the directory, over a file
//! that is there, or without bound.
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

#[path = "common/run.rs"]
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ::fatbin::{Entry as Read, EntryHeader, decode};
use fatscan::extract::{ExtractError, Job, Wanted, extract};
use fatscan::{CodeKind, Limits, Mapping, Options, Report, Source, scan_paths};
use run::{Run, program, run, text, write};
use serde_json::Value;
use testkit::fatbin::{Codec, Entry, concat, fatbin};
use testkit::macho::{MachO, cpu, universal};
use testkit::truth::{Truth, all};
use testkit::{Ar, Cubin, Elf, Zip, ZipMember, compress, ptx_text, sha256};

// --- the library

type Outcome = Result<Vec<u8>, String>;

/// The images of the first member of the first artefact, in the order in which they were handed out.
fn images(report: &Report, raw: bool) -> Vec<(Wanted, Outcome)> {
    let Some(member) = report.artefacts[0].members.first() else { return Vec::new() };
    let wanted: Vec<Wanted> = member
        .modules
        .iter()
        .enumerate()
        .filter(|(_, module)| module.source != Source::OffloadBundle)
        .flat_map(|(module, own)| (0..own.images.len()).map(move |image| Wanted { module, image }))
        .collect();
    let mut out = Vec::new();
    let mut take = |_: usize, wanted: Wanted, bytes: Result<&[u8], ExtractError>| {
        out.push((wanted, bytes.map(<[u8]>::to_vec).map_err(|error| error.to_string())));
        ControlFlow::Continue(())
    };
    let jobs = [Job { member, wanted: wanted.clone() }];
    assert!(extract(&jobs, raw, &Limits::default(), Mapping::Auto, &mut take).is_empty());
    assert_eq!(out.len(), wanted.len());
    out
}

fn of_fixture(name: &str, raw: bool) -> (Report, Vec<(Wanted, Outcome)>) {
    let report = scan_paths(&[testkit::truth::path(name)], &Options::default());
    let images = images(&report, raw);
    (report, images)
}

/// Fixtures whose entries cuobjdump listed to the end.
fn listed() -> impl Iterator<Item = Truth> {
    all().into_iter().filter(|truth| truth.entries_hold() && !truth.is_hostile())
}

#[test]
fn cubins_and_texts_of_every_fixture_are_those_of_cuobjdump() {
    let (mut cubins, mut texts) = (0, 0);
    for truth in listed() {
        let (report, images) = of_fixture(&truth.file, false);
        let (mut own_cubins, mut own_texts) = (BTreeSet::new(), BTreeSet::new());
        let theirs: BTreeSet<&str> = truth.extracted_cubins.iter().map(|cubin| cubin.sha256.as_str()).collect();
        for (wanted, bytes) in images {
            let image = &report.artefacts[0].members[0].modules[wanted.module].images[wanted.image];
            let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", truth.file));
            let hash = sha256(&bytes);
            match image.kind {
                CodeKind::Sass => {
                    own_cubins.insert(hash);
                    cubins += 1;
                }
                CodeKind::Ptx => {
                    own_texts.insert(hash);
                    texts += 1;
                }
                // cuobjdump takes kind 0x10 for a cubin too
                CodeKind::Other if theirs.contains(hash.as_str()) => {
                    own_cubins.insert(hash);
                }
                _ => {}
            }
        }
        assert_eq!(own_cubins.iter().map(String::as_str).collect::<BTreeSet<_>>(), theirs, "{}", truth.file);
        let theirs: BTreeSet<String> = truth.extracted_ptx.iter().map(|ptx| ptx.sha256.clone()).collect();
        assert_eq!(own_texts, theirs, "{}", truth.file);
    }
    assert!(cubins > 100 && texts > 90, "{cubins} cubins, {texts} texts");
}

#[test]
fn bare_files_are_extracted_as_they_are() {
    let mut compared = 0;
    for truth in all() {
        let is_bare = truth.cubin.is_some() || truth.ptx.is_some() || truth.file.starts_with("raw_");
        if !is_bare || truth.is_hostile() {
            continue;
        }
        for raw in [false, true] {
            let (_, images) = of_fixture(&truth.file, raw);
            let [(_, Ok(bytes))] = images.as_slice() else { panic!("{}: {images:?}", truth.file) };
            // comments before `.version` do not count
            let whole = truth.bytes();
            assert!(whole.ends_with(bytes) && (truth.ptx.is_some() || *bytes == whole), "{}", truth.file);
        }
        compared += 1;
    }
    assert!(compared > 35, "{compared}");
}

/// What the crate `fatbin` gives of the entry of an image.
fn entry(bytes: &[u8], offset: u64, use_it: impl FnOnce(&Read<'_>)) {
    let data = &bytes[offset as usize..];
    let header = EntryHeader::parse(data).unwrap();
    let (start, end) = (header.header_size as usize, header.total_size().unwrap() as usize);
    use_it(&Read::new(&data[..start], &data[start..end]).unwrap());
}

#[test]
fn raw_payloads_are_the_stored_ones_and_others_the_unpacked_ones() {
    let (mut raws, mut kinds) = (0, BTreeSet::new());
    for truth in listed() {
        let bytes = truth.bytes();
        let (report, raw) = of_fixture(&truth.file, true);
        let plain = images(&report, false);
        assert_eq!(raw.len(), plain.len());
        for ((wanted, raw), (same, plain)) in raw.into_iter().zip(plain) {
            assert_eq!(wanted, same);
            let module = &report.artefacts[0].members[0].modules[wanted.module];
            let image = &module.images[wanted.image];
            if module.source != Source::Fatbin {
                continue;
            }
            entry(&bytes, module.base() + image.offset, |entry| {
                assert_eq!(raw.unwrap(), entry.payload().unwrap(), "{}", truth.file);
                let mut whole = Vec::new();
                let Ok(()) = decode(entry, 1 << 30, &mut whole) else {
                    // scrambled: no one but NVIDIA's tools can unpack it
                    assert_eq!(plain.unwrap(), entry.payload().unwrap(), "{}", truth.file);
                    kinds.insert("scrambled");
                    return;
                };
                if let Some(index) = image.concat {
                    whole = entry.members().nth(index as usize).unwrap().unwrap().bytes(&whole).unwrap().to_vec();
                }
                let plain = plain.unwrap();
                assert!(whole.starts_with(&plain), "{}", truth.file);
                assert!(whole[plain.len()..].iter().all(|byte| *byte == 0), "{}", truth.file);
                assert!(whole.len() - plain.len() <= 8, "{}", truth.file);
                kinds.insert(image.kind.name());
            });
            raws += 1;
        }
    }
    assert!(raws > 200, "{raws}");
    for kind in ["sass", "ptx", "lto-ir", "tile-ir", "scrambled"] {
        assert!(kinds.contains(kind), "{kind} of {kinds:?}");
    }
}

#[test]
fn damaged_fixtures_give_what_is_whole_and_a_reason_for_the_rest() {
    for truth in all().iter().filter(|truth| truth.is_hostile()) {
        let (_, images) = of_fixture(&truth.file, false);
        let reasons: Vec<&String> = images.iter().filter_map(|(_, bytes)| bytes.as_ref().err()).collect();
        assert!(
            reasons.iter().all(|reason| !reason.is_empty() && !reason.contains("scanned")),
            "{}: {reasons:?}",
            truth.file
        );
        let number = images.len();
        let expected = match truth.file.as_str() {
            "bad_corrupt_zstd.fatbin"
            | "bad_usize_bomb.fatbin"
            | "bad_usize_small.fatbin"
            | "bad_psize_gt_padded.fatbin" => (1, 1),
            _ => (number, reasons.len()),
        };
        assert_eq!((number, reasons.len()), expected, "{}: {reasons:?}", truth.file);
    }
}

#[test]
fn a_file_that_changed_after_the_scan_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.fatbin", &fatbin(&[Entry::sass("90", Cubin::new("90").bytes())]));
    let report = scan_paths(&[&path], &Options::default());
    let member = &report.artefacts[0].members[0];
    let jobs = [Job { member, wanted: vec![Wanted { module: 0, image: 0 }, Wanted { module: 7, image: 0 }] }];
    std::fs::write(&path, b"short").unwrap();
    let mut results = Vec::new();
    let mut take = |_: usize, _: Wanted, bytes: Result<&[u8], ExtractError>| {
        results.push(bytes.is_ok());
        ControlFlow::Continue(())
    };
    assert!(extract(&jobs, false, &Limits::default(), Mapping::Auto, &mut take).is_empty());
    // what is not in the model is not asked for
    assert_eq!(results, [false]);
    std::fs::remove_file(&path).unwrap();
    let gone = extract(&jobs, false, &Limits::default(), Mapping::Auto, &mut |_, _, _| panic!());
    assert!(matches!(gone.as_slice(), [(0, ExtractError::Io(_))]), "{gone:?}");
}

#[test]
fn limit_of_a_payload_holds_for_what_is_stored_too() {
    let folder = tempfile::tempdir().unwrap();
    let cubin = Cubin::new("90").bytes();
    let path = write(folder.path(), "x.fatbin", &fatbin(&[Entry::sass("90", cubin.clone())]));
    let report = scan_paths(&[&path], &Options::default());
    let mut limits = Limits::default();
    limits.payload_bytes = cubin.len() as u64 / 2;
    let mut failed = false;
    let mut take = |_: usize, _: Wanted, bytes: Result<&[u8], ExtractError>| {
        failed = bytes.is_err();
        ControlFlow::Continue(())
    };
    let jobs = [Job { member: &report.artefacts[0].members[0], wanted: vec![Wanted { module: 0, image: 0 }] }];
    assert!(extract(&jobs, true, &limits, Mapping::Auto, &mut take).is_empty());
    assert!(failed);
}

#[test]
fn whoever_takes_can_have_enough() {
    let folder = tempfile::tempdir().unwrap();
    let code = fatbin(&["80", "90"].map(|arch| Entry::sass(arch, cubin(arch, "k"))));
    let paths = ["a.fatbin", "b.fatbin"].map(|name| write(folder.path(), name, &code));
    let report = scan_paths(&paths, &Options::default());
    let wanted: Vec<Wanted> = (0..2).map(|image| Wanted { module: 0, image }).collect();
    let members = report.artefacts.iter().map(|artefact| &artefact.members[0]);
    let jobs: Vec<Job<'_>> = members.map(|member| Job { member, wanted: wanted.clone() }).collect();
    for (enough, expected) in [(1, 1), (2, 2), (3, 3), (9, 4)] {
        let mut taken = 0;
        let mut take = |_: usize, _: Wanted, _: Result<&[u8], ExtractError>| {
            taken += 1;
            if taken == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        assert!(extract(&jobs, false, &Limits::default(), Mapping::Auto, &mut take).is_empty());
        assert_eq!(taken, expected);
    }
}

// --- the program

/// Every file below a folder, by its path from there.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for item in std::fs::read_dir(folder.join(&below)).unwrap() {
            let item = item.unwrap();
            let path = below.join(item.file_name());
            if item.file_type().unwrap().is_dir() {
                open.push(path);
            } else {
                let name = path.to_str().unwrap().replace('\\', "/");
                files.insert(name, std::fs::read(item.path()).unwrap());
            }
        }
    }
    files
}

/// Runs `extract` and checks the index: every file once, with its size.
fn extracted(folder: &Path, arguments: &[&str]) -> (Run, BTreeMap<String, Vec<u8>>, Vec<Value>) {
    let out = folder.join("out");
    let mut all = vec!["extract", "-o", text(&out)];
    all.extend_from_slice(arguments);
    let run = run(&all);
    let mut files = tree(&out);
    let index: Value = serde_json::from_slice(&files.remove("index.json").expect("index.json")).unwrap();
    assert_eq!(index["schema"], 1);
    let images = index["images"].as_array().unwrap().clone();
    let names: BTreeSet<&str> = images.iter().map(|image| image["file"].as_str().unwrap()).collect();
    assert_eq!(names.len(), images.len(), "a name twice: {images:?}");
    assert_eq!(names, files.keys().map(String::as_str).collect());
    for image in &images {
        assert_eq!(image["bytes"], files[image["file"].as_str().unwrap()].len(), "{image}");
    }
    assert!(run.out.contains(&format!("{} image", images.len())), "{}", run.out);
    (run, files, images)
}

fn cubin(arch: &str, kernel: &str) -> Vec<u8> {
    Cubin::new(arch).without_functions().kernel(kernel).bytes()
}

fn library(arch: &str, kernel: &str) -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &fatbin(&[Entry::sass(arch, cubin(arch, kernel))])).bytes()
}

fn contents(files: &BTreeMap<String, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = files.values().cloned().collect();
    contents.sort();
    contents
}

fn sorted(mut all: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    all.sort();
    all
}

#[test]
fn one_library_gives_a_file_for_each_image() {
    let folder = tempfile::tempdir().unwrap();
    let (ptx_text, lto) = (ptx_text("8.5", "sm_90", "k"), b"\xed\x43\x4e\x7f-intermediate".to_vec());
    let code = fatbin(&[
        Entry::sass("90a", cubin("90a", "k")).compressed(Codec::Zstd),
        Entry::ptx("90", (8, 5), &ptx_text).compressed(Codec::Lz4),
        Entry::lto("90", lto.clone()),
    ]);
    let path = write(folder.path(), "pkg/libx.so", &Elf::shared().section(".nv_fatbin", &code).bytes());
    let (run, files, images) = extracted(folder.path(), &[text(&path)]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let lto_name = files.keys().find(|name| name.ends_with(".ltoir")).unwrap();
    assert_eq!(files["libx.so/0000.0.sm_90a.cubin"], cubin("90a", "k"));
    assert_eq!(files["libx.so/0000.1.compute_90.ptx"], ptx_text.as_bytes());
    assert!(files[lto_name].starts_with(&lto), "{lto_name}");
    // the same place as in other reports
    let place = format!("{}!.nv_fatbin@", text(&path));
    assert!(images.iter().all(|image| image["place"].as_str().unwrap().starts_with(&place)), "{images:?}");
    assert_eq!(
        (&images[0]["kind"], &images[0]["arch"], &images[0]["raw"]),
        (&"sass".into(), &"sm_90a".into(), &false.into())
    );
}

#[test]
fn raw_files_are_named_by_their_compression() {
    let folder = tempfile::tempdir().unwrap();
    let code = [Codec::None, Codec::Lz4, Codec::Lz4Frame, Codec::Zstd, Codec::Zlib]
        .map(|codec| Entry::sass("90", cubin("90", "k")).compressed(codec));
    let path = write(folder.path(), "x.fatbin", &fatbin(&code));
    let (_, files, _) = extracted(folder.path(), &["--raw", text(&path)]);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["cubin", "cubin.lz4", "cubin.lz4-frame", "cubin.zstd", "cubin.zlib"]
            .iter()
            .enumerate()
            .map(|(index, ending)| format!("x.fatbin/0000.{index}.sm_90.{ending}"))
            .collect::<Vec<_>>()
    );
    for (bytes, entry) in files.values().zip(&code) {
        assert_eq!(*bytes, entry.payload);
    }
}

#[test]
fn members_of_a_concatenated_entry_stand_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text_of = |arch: &str| ptx_text("9.5", &format!("sm_{arch}"), "k");
    let members = [
        Entry::ptx("90a", (9, 5), &text_of("90a")),
        Entry::ptx("100f", (9, 5), &text_of("100f")),
        Entry::sass("90a", cubin("90a", "k")),
    ];
    let path = write(folder.path(), "x.fatbin", &fatbin(&[concat(&members, Codec::Zstd)]));
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = vec![text_of("90a").into_bytes(), text_of("100f").into_bytes(), cubin("90a", "k")];
    assert_eq!(contents(&files), sorted(expected));
    // as it is stored it is one payload, of no single architecture
    let own = tempfile::tempdir().unwrap();
    let (run, files, index) = extracted(own.path(), &["--raw", text(&path)]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(files.keys().map(|name| name.rsplit('/').next().unwrap()).collect::<Vec<_>>(), ["0000.0.concat.zstd"]);
    assert_eq!((&index[0]["kind"], &index[0]["arch"]), (&"concat".into(), &Value::Null));
}

#[test]
fn members_of_one_path_and_size_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    // as stored they have one size; the first has no device code and is no member of the report
    let [first, second] = ["j", "k"].map(|kernel| library("80", kernel));
    let mut without = b"\x7fELF\x02\x01\x01".to_vec();
    without.resize(first.len(), 0);
    assert_eq!(first.len(), second.len());
    let zip = Zip::new().stored("a.so", &without).stored("a.so", &first).stored("a.so", &second);
    let path = write(folder.path(), "x.whl", &zip.bytes());
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    // all are written, and that an installer may choose another one is an error
    assert_eq!((run.code, run.err.matches("FS0214").count()), (Some(1), 3), "{}", run.err);
    assert_eq!(contents(&files), sorted(vec![cubin("80", "j"), cubin("80", "k")]));
}

#[test]
fn archives_universal_files_and_bundles_of_code_are_opened() {
    let object =
        |arch: &str| Elf::object().section(".nv_fatbin", &fatbin(&[Entry::sass(arch, cubin(arch, "k"))])).bytes();
    let archive = Ar::new(testkit::ar::Flavour::Gnu).member("a.o", &object("80")).member("b.o", &object("90a")).bytes();
    let slice = |arch: &str| MachO::dylib().fatbin(&fatbin(&[Entry::sass(arch, cubin(arch, "k"))])).bytes();
    let fat = universal(&[(cpu::X86_64, slice("80")), (cpu::ARM64, slice("90a"))], false);
    for (name, bytes) in [("libx.a", archive), ("libx.dylib", fat)] {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), name, &bytes);
        let (run, files, _) = extracted(folder.path(), &[text(&path)]);
        assert_eq!(run.code, Some(0), "{name}: {}", run.err);
        assert_eq!(contents(&files), sorted(vec![cubin("80", "k"), cubin("90a", "k")]), "{name}");
        // and the same out of a wheel
        for member in [ZipMember::stored(name, &bytes), ZipMember::deflated(name, &bytes)] {
            let folder = tempfile::tempdir().unwrap();
            let path = write(folder.path(), "x-1-py3-none-any.whl", &Zip::new().with(member).bytes());
            let (_, files, _) = extracted(folder.path(), &[text(&path)]);
            assert_eq!(contents(&files), sorted(vec![cubin("80", "k"), cubin("90a", "k")]), "{name}");
        }
    }
}

#[test]
fn members_of_one_name_are_told_apart() {
    let plain = Elf::shared().section(".text", b"no device code").bytes();
    let zip = |deflate: bool| {
        let member = |bytes: &[u8]| {
            if deflate { ZipMember::deflated("lib/x.so", bytes) } else { ZipMember::stored("lib/x.so", bytes) }
        };
        // one without device code first: it is no member of the report
        let all = [plain.clone(), library("80", "first"), library("80", "other"), library("90", "third_and_longer")];
        all.iter().fold(Zip::new(), |zip, bytes| zip.with(member(bytes))).bytes()
    };
    for deflate in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "x.zip", &zip(deflate));
        let (run, files, _) = extracted(folder.path(), &[text(&path)]);
        assert_eq!((run.code, run.err.matches("FS0214").count()), (Some(1), 4), "{}", run.err);
        let expected = vec![cubin("80", "first"), cubin("80", "other"), cubin("90", "third_and_longer")];
        assert_eq!(contents(&files), sorted(expected), "{deflate}");
    }
}

#[test]
fn hostile_names_lead_nowhere_and_stand_apart() {
    let long = format!("{}/x.so", "n".repeat(32_000));
    let names = [
        "../x",
        "../../x",
        "/etc/x",
        "C:\\x",
        "..\\x",
        "",
        ".",
        "..",
        "...",
        "a/b",
        "a_b",
        "A_B",
        "a/b.",
        "x/./y",
        "~",
        "a\0b",
        "nul",
        "NUL.so",
        "index.json",
        "INDEX.JSON",
        "a:b",
        "con\u{1b}[2J",
        "-rf",
        "\u{202e}x",
        "a~2",
        "a",
        "a",
        &long,
        &long,
    ];
    let mut zip = Zip::new();
    for (index, name) in names.iter().enumerate() {
        zip = zip.stored(name, &library("90", &format!("kernel_{index:03}")));
    }
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("deep/er");
    let path = write(&below, "x.whl", &zip.bytes());
    let (run, files, images) = extracted(&below, &[text(&path)]);
    // whatever the reader of the archive takes for a member comes out
    let report = scan_paths(&[&path], &Options::default());
    assert_eq!(images.len(), report.artefacts[0].members.len(), "{}", run.err);
    assert!(images.len() + 3 >= names.len(), "{} of {}: {}", images.len(), names.len(), run.err);
    let distinct: BTreeSet<&Vec<u8>> = files.values().collect();
    assert_eq!(distinct.len(), files.len(), "one was written over another");
    // systems that do not tell upper from lower case keep them apart too
    let lower: BTreeSet<String> = files.keys().map(|name| name.to_lowercase()).collect();
    assert_eq!(lower.len(), files.len());
    for name in files.keys() {
        assert!(name.len() < 160 && name.is_ascii() && name.split('/').count() == 2, "{name}");
        assert!(!name.starts_with(['.', '/']) && !name.contains(['\\', ':', '\0']), "{name}");
    }
    // nothing beside: the wheel and the directory
    assert_eq!(tree(folder.path()).keys().filter(|name| !name.starts_with("deep/er/out/")).count(), 1);
    assert!(!run.err.contains('\u{1b}'));
}

#[test]
fn directories_are_read_by_the_paths_below_them() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "in/a/libx.so", &library("80", "a"));
    write(folder.path(), "in/b/libx.so", &library("90", "b"));
    write(folder.path(), "in/c.whl", &Zip::new().deflated("libx.so", &library("90", "c")).bytes());
    let (run, files, images) = extracted(folder.path(), &[text(&folder.path().join("in"))]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(contents(&files), sorted(vec![cubin("80", "a"), cubin("90", "b"), cubin("90", "c")]));
    assert!(
        images.iter().any(|image| image["place"].as_str().unwrap().contains("a/libx.so!.nv_fatbin@")),
        "{images:?}"
    );
}

#[test]
fn nothing_is_written_over_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.so", &library("90", "k"));
    let (first, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!(first.code, Some(0));
    let (name, good) = files.iter().next().unwrap();
    let own = folder.path().join("out").join(name);
    std::fs::write(&own, b"mine").unwrap();
    let out = folder.path().join("out");
    let again = run(["extract", "-o", text(&out), text(&path)]).ending(1);
    assert!(again.err.contains("--force"), "{}", again.err);
    assert_eq!(std::fs::read(&own).unwrap(), b"mine");
    let forced = run(["extract", "--force", "-o", text(&out), text(&path)]).ending(0);
    assert_eq!((&std::fs::read(&own).unwrap(), forced.err.as_str()), (good, ""));
    // a longer old file leaves no end behind
    std::fs::write(&own, vec![7; good.len() + 100]).unwrap();
    run(["extract", "--force", "-o", text(&out), text(&path)]).ending(0);
    assert_eq!(&std::fs::read(&own).unwrap(), good);
}

#[test]
fn file_in_the_way_is_told_and_the_others_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.fatbin", &two());
    let out = folder.path().join("out");
    let mine = write(&out, "x.fatbin/0000.0.sm_80.cubin", b"mine");
    let first = run(["extract", "-o", text(&out), text(&path)]).ending(1);
    let said: Vec<&str> = first.err.lines().collect();
    let [line] = said.as_slice() else { panic!("{}", first.err) };
    assert!(line.ends_with("`x.fatbin/0000.0.sm_80.cubin`: the file exists; --force writes over it"), "{line}");
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
    assert_eq!(indexed(&out), ["x.fatbin/0000.1.sm_90.cubin"]);
    // an index of other files is no longer one
    std::fs::remove_file(&mine).unwrap();
    std::fs::remove_file(out.join("x.fatbin/0000.1.sm_90.cubin")).unwrap();
    let old = std::fs::read(out.join("index.json")).unwrap();
    let again = run(["extract", "-o", text(&out), text(&path)]).ending(1);
    assert_eq!(again.err, "error: `index.json`: the file exists; --force writes over it\n");
    assert_eq!(tree(&out), BTreeMap::from([("index.json".to_owned(), old)]));
    run(["extract", "--force", "-o", text(&out), text(&path)]).ending(0);
    assert_eq!(indexed(&out), ["x.fatbin/0000.0.sm_80.cubin", "x.fatbin/0000.1.sm_90.cubin"]);
}

/// A fatbin of two cubins.
fn two() -> Vec<u8> {
    fatbin(&["80", "90"].map(|arch| Entry::sass(arch, cubin(arch, "k"))))
}

/// The files that an index lists.
fn indexed(out: &Path) -> Vec<String> {
    let index: Value = serde_json::from_slice(&std::fs::read(out.join("index.json")).unwrap()).unwrap();
    index["images"].as_array().unwrap().iter().map(|image| image["file"].as_str().unwrap().to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn link_in_the_directory_is_not_written_through() {
    use std::os::unix::fs::symlink;
    for force in [&["--force"][..], &[]] {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "x.fatbin", &two());
        let outside = write(folder.path(), "outside/file", b"mine");
        let elsewhere = outside.parent().unwrap();
        let extract = |out: &Path| run([&["extract", "-o", text(out), text(&path)], force].concat());
        let untouched = |name: &str| {
            let files = BTreeMap::from([("file".to_owned(), b"mine".to_vec())]);
            assert_eq!(tree(elsewhere), files, "{name}");
        };
        // of a file, whether anything is behind it or not
        for behind in ["file", "nothing"] {
            let out = folder.path().join(behind);
            std::fs::create_dir_all(out.join("x.fatbin")).unwrap();
            symlink(elsewhere.join(behind), out.join("x.fatbin/0000.0.sm_80.cubin")).unwrap();
            let run = extract(&out).ending(1);
            let said = "`x.fatbin/0000.0.sm_80.cubin`: a link is there, and nothing is written through it\n";
            assert!(run.err.ends_with(said) && run.err.lines().count() == 1, "{}", run.err);
            assert_eq!(indexed(&out), ["x.fatbin/0000.1.sm_90.cubin"]);
            assert!(out.join("x.fatbin/0000.0.sm_80.cubin").is_symlink());
            untouched(behind);
        }
        // of a folder
        let out = folder.path().join("folder");
        std::fs::create_dir_all(&out).unwrap();
        symlink(elsewhere, out.join("x.fatbin")).unwrap();
        let run = extract(&out).ending(1);
        let said = "`x.fatbin`: a link is there, and nothing is written through it\n";
        assert_eq!(run.err.matches(said).count(), 2, "{}", run.err);
        assert!(indexed(&out).is_empty());
        untouched("folder");
        // of the index: nothing is written
        let out = folder.path().join("index");
        std::fs::create_dir_all(&out).unwrap();
        symlink(&outside, out.join("index.json")).unwrap();
        let run = extract(&out).ending(1);
        assert_eq!(run.err, "error: `index.json`: a link is there, and nothing is written through it\n");
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
        untouched("index");
    }
}

#[cfg(unix)]
#[test]
fn directory_that_is_given_may_be_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.fatbin", &two());
    std::fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("out")).unwrap();
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(contents(&files), sorted(vec![cubin("80", "k"), cubin("90", "k")]));
    assert_eq!(tree(&folder.path().join("real")).len(), 3);
}

#[cfg(unix)]
#[test]
fn name_that_is_linked_elsewhere_gets_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.fatbin", &two());
    let mine = write(folder.path(), "mine", b"mine");
    let out = folder.path().join("out");
    std::fs::create_dir_all(out.join("x.fatbin")).unwrap();
    std::fs::hard_link(&mine, out.join("x.fatbin/0000.0.sm_80.cubin")).unwrap();
    run(["extract", "--force", "-o", text(&out), text(&path)]).ending(0);
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
    assert_eq!(std::fs::read(out.join("x.fatbin/0000.0.sm_80.cubin")).unwrap(), cubin("80", "k"));
}

/// Names of files that were being written.
fn is_unfinished(name: &str) -> bool {
    let own = name.rsplit('/').next().unwrap();
    own.starts_with(".fatscan-") && own.ends_with(".tmp")
}

/// `extract` where files may have 2 MiB at most; the system kills who writes more, or refuses where that is ignored.
#[cfg(unix)]
fn with_small_files(ignored: bool, out: &Path, path: &Path) -> Run {
    let trap = if ignored { "trap '' XFSZ; " } else { "" };
    let script = format!("{trap}ulimit -c 0; ulimit -f 4096 || exit 99; exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).arg(program().get_program());
    command.args(["extract", "--threads", "1", "-o", text(out), text(path)]);
    run::finish(command)
}

#[cfg(unix)]
#[test]
fn file_that_does_not_fit_leaves_nothing_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let large: Vec<u8> = (0..16 << 20).map(|at: u32| (at >> 7) as u8).collect();
    let code = [
        Entry::lto("80", b"small-80".to_vec()),
        Entry::lto("86", large.clone()),
        Entry::lto("90", b"small-90".to_vec()),
    ];
    let path = write(folder.path(), "x.so", &Elf::shared().section(".nv_fatbin", &fatbin(&code)).bytes());
    let small = ["x.so/0000.0.lto_80.ltoir", "x.so/0000.2.lto_90.ltoir"];
    // the system says so: the others are written and listed
    let out = folder.path().join("refused");
    let refused = with_small_files(true, &out, &path);
    if refused.code == Some(99) {
        eprintln!("skipped: the shell limits no sizes of files");
        return;
    }
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    let said: Vec<&str> = refused.err.lines().collect();
    assert!(matches!(said.as_slice(), [one] if one.contains("`x.so/0000.1.lto_86.ltoir`: ")), "{}", refused.err);
    assert_eq!(indexed(&out), small);
    assert_eq!(tree(&out).into_keys().collect::<Vec<_>>(), ["index.json", small[0], small[1]]);
    // the system kills: what is there is whole, and there is no index
    let out = folder.path().join("killed");
    let killed = with_small_files(false, &out, &path);
    assert_eq!(killed.code, None, "{}", killed.err);
    let (unfinished, whole): (Vec<_>, Vec<_>) = tree(&out).into_iter().partition(|(name, _)| is_unfinished(name));
    assert_eq!(whole, [(small[0].to_owned(), b"small-80".to_vec())]);
    assert_eq!(unfinished.len(), 2, "the image and the index");
    // a run that may write over files is not kept from it by what was left
    run(["extract", "--force", "-o", text(&out), text(&path)]).ending(0);
    let files = tree(&out);
    assert_eq!(files["x.so/0000.1.lto_86.ltoir"], large);
    assert_eq!(indexed(&out), [small[0], "x.so/0000.1.lto_86.ltoir", small[1]]);
    // the next index is of all that is there, and what was left stands aside
    let left = files.keys().filter(|name| is_unfinished(name)).count();
    assert_eq!((left, files.len()), (2, 6));
}

#[test]
fn run_that_is_killed_leaves_whole_files_and_no_index() {
    const SIZE: usize = 16 << 20;
    let folder = tempfile::tempdir().unwrap();
    let mut large = Entry::lto("90", Vec::new()).flag(Codec::Zstd.flag());
    large.payload = compress::zstd_zeros(SIZE as u64);
    large.uncompressed_size = Some(SIZE as u64);
    let path = write(folder.path(), "x.so", &Elf::shared().section(".nv_fatbin", &fatbin(&vec![large; 24])).bytes());
    let out = folder.path().join("out");
    // the index of an earlier run goes first
    write(&out, "index.json", b"{}");
    let mut command = program();
    command.args(["extract", "--force", "-o", text(&out), text(&path)]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let begun = |item: std::io::Result<std::fs::DirEntry>| !is_unfinished(item.unwrap().file_name().to_str().unwrap());
    let folder_of = out.join("x.so");
    // until there is one file and another one begins
    let mut ended = false;
    while !ended && !std::fs::read_dir(&folder_of).is_ok_and(|mut items| items.any(begun)) {
        ended = child.try_wait().unwrap().is_some();
    }
    child.kill().unwrap();
    if child.wait().unwrap().success() {
        eprintln!("skipped: the run ended before it was killed");
        return;
    }
    assert!(!out.join("index.json").exists());
    let files = tree(&out);
    let whole: Vec<_> = files.iter().filter(|(name, _)| !is_unfinished(name)).collect();
    assert!(!whole.is_empty() && whole.len() < 24, "{} files", whole.len());
    for (name, bytes) in whole {
        assert_eq!(bytes.len(), SIZE, "{name}");
    }
}

#[test]
fn bytes_written_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let code = fatbin(&["80", "86", "90"].map(|arch| Entry::lto(arch, vec![7; 4096])));
    let path = write(folder.path(), "x.so", &Elf::shared().section(".nv_fatbin", &code).bytes());
    let names = ["80", "86", "90"].map(|arch| format!("lto_{arch}.ltoir"));
    // two images and their lines in the index
    for (bytes, number) in [("10000", 2), ("10kB", 2), ("4096", 0), ("0", 0), ("1MB", 3)] {
        let own = tempfile::tempdir().unwrap();
        let (run, files, _) = extracted(own.path(), &["--max-bytes", bytes, text(&path)]);
        assert_eq!(run.code, Some(i32::from(number < 3)), "{bytes}: {}", run.err);
        assert_eq!(files.len(), number, "{bytes}");
        assert!(files.keys().zip(&names).all(|(file, name)| file.ends_with(name)), "{files:?}");
        if let Some(next) = names.get(number) {
            let said: Vec<&str> = run.err.lines().collect();
            let [error, hint] = said.as_slice() else { panic!("{bytes}: {}", run.err) };
            let file = format!("error: `x.so/0000.{number}.{next}` and what follows is not written");
            assert!(error.starts_with(&file) && hint.contains("--max-bytes"), "{}", run.err);
        }
    }
    let one = ["extract", "--stdout", "--arch", "lto_86", text(&path), "--max-bytes"];
    assert_eq!(run([&one[..], &["4096"]].concat()).ending(0).bytes, vec![7; 4096]);
    let more = run([&one[..], &["4095"]].concat()).ending(1);
    assert!(more.bytes.is_empty() && more.err.contains("--max-bytes"), "{}", more.err);
    for wrong in ["", "x", "-1", "1XB"] {
        let out = folder.path().join("out");
        let run = run(["extract", "-o", text(&out), &format!("--max-bytes={wrong}"), text(&path)]).ending(2);
        assert!(run.err.contains("--max-bytes") && !out.exists(), "{}", run.err);
    }
}

/// A concatenated entry whose members have these ranges of `payload`, offset and length.
fn concat_of(ranges: &[(u32, u64)], payload: Vec<u8>, unpacked: u64) -> Entry {
    let member = |&(offset, length): &(u32, u64)| {
        let member = Entry::lto("90", Vec::new());
        Entry { stated_header_size: Some(offset), stated_padded_size: Some(length), ..member }
    };
    let members: Vec<Entry> = ranges.iter().map(member).collect();
    Entry { payload, uncompressed_size: Some(unpacked), ..concat(&members, Codec::Zstd) }
}

#[test]
fn members_that_lie_over_each_other_do_not_multiply() {
    const SIZE: u64 = 64 << 20;
    let folder = tempfile::tempdir().unwrap();
    let bomb = concat_of(&[(0, SIZE); 40], compress::zstd_zeros(SIZE), SIZE);
    let library = Elf::shared().section(".nv_fatbin", &fatbin(&[bomb])).bytes();
    let wheel = Zip::new().deflated("a.so", &library).bytes();
    assert!(wheel.len() < 1000, "{}", wheel.len());
    let path = write(folder.path(), "x-1-py3-none-any.whl", &wheel);
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let sizes: Vec<(&str, usize)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.len())).collect();
    assert_eq!(sizes, [("a.so/0000.0.lto_90.ltoir", 64 << 20)]);
    for image in 1..40 {
        let said = format!("#{image}`: member of a concatenated entry lies over another one\n");
        assert_eq!(run.err.matches(&said).count(), 1, "{image}: {}", run.err);
    }
    assert_eq!(run.err.lines().count(), 39);
    // as it is stored it is one payload
    let own = tempfile::tempdir().unwrap();
    let (run, files, _) = extracted(own.path(), &["--raw", text(&path)]);
    assert_eq!((run.code, contents(&files)), (Some(0), vec![compress::zstd_zeros(SIZE)]), "{}", run.err);
}

#[test]
fn members_that_stand_apart_are_extracted_beside_those_that_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let payload: Vec<u8> = (0..64).collect();
    // in no order; the second lies over the first and the third, the fifth begins with the fourth; two are empty
    let ranges = [(0, 16), (8, 16), (16, 16), (40, 8), (40, 24), (32, 8), (40, 0), (64, 0)];
    let path = write(
        folder.path(),
        "x.so",
        &Elf::shared()
            .section(".nv_fatbin", &fatbin(&[concat_of(&ranges, compress::zstd_stored(&payload), 64)]))
            .bytes(),
    );
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    for (image, (start, length)) in ranges.iter().enumerate() {
        let (start, length) = (*start as usize, *length as usize);
        let file = files.get(&format!("x.so/0000.{image}.lto_90.ltoir"));
        let said = run.err.contains(&format!("#{image}`: member of a concatenated entry lies over another one"));
        let expected = (![1, 4].contains(&image)).then(|| payload[start..start + length].to_vec());
        assert_eq!((file, said), (expected.as_ref(), expected.is_none()), "{image}: {}", run.err);
    }
}

/// The bytes of the last name of an image's place.
fn last_name(image: &Value) -> Vec<u8> {
    let step = image["at"]["steps"].as_array().unwrap().last().unwrap().clone();
    match step["bytes"].as_str() {
        Some(hex) => {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            hex.as_bytes().chunks(2).map(byte).collect()
        }
        None => step["name"].as_str().unwrap().as_bytes().to_vec(),
    }
}

#[test]
fn members_whose_names_are_no_text_are_extracted() {
    let folder = tempfile::tempdir().unwrap();
    // no UTF-8, one like the other where it is replaced
    let names: [(&str, &[u8]); 3] =
        [("one-AA.so", b"\xff\xfe"), ("one-BB.so", b"\xfe\xff"), ("one-CC.so", b"\xc3\xa4")];
    let mut zip = Zip::new();
    for (index, (name, _)) in names.iter().enumerate() {
        zip = zip.stored(name, &library("90", &format!("k{index}")));
    }
    let mut bytes = zip.bytes();
    let mut wanted = Vec::new();
    for (name, raw) in names {
        let own: Vec<u8> = [b"one-", raw, b".so"].concat();
        for at in 0..bytes.len() - name.len() {
            if &bytes[at..at + name.len()] == name.as_bytes() {
                bytes[at..at + name.len()].copy_from_slice(&own);
            }
        }
        wanted.push(own);
    }
    let path = write(folder.path(), "x-1-py3-none-any.whl", &bytes);
    let (run, files, images) = extracted(folder.path(), &[text(&path)]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert_eq!(images.len(), names.len());
    for (index, own) in wanted.iter().enumerate() {
        let image = images.iter().find(|image| last_name(image) == *own).unwrap();
        assert_eq!(files[image["file"].as_str().unwrap()], cubin("90", &format!("k{index}")), "{image}");
    }
}

#[cfg(unix)]
#[test]
fn files_whose_names_are_no_text_are_extracted() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let outer = folder.path().join(OsStr::from_bytes(b"in-\xff"));
    if std::fs::create_dir(&outer).is_err() {
        eprintln!("skipped: the file system takes no such names");
        return;
    }
    let names: [&[u8]; 2] = [b"lib-\xff.so", b"lib-\xfe.so"];
    for (index, name) in names.iter().enumerate() {
        std::fs::write(outer.join(OsStr::from_bytes(name)), library("90", &format!("k{index}"))).unwrap();
    }
    // the directory, and then a file by itself, into a directory of such a name
    let out = folder.path().join(OsStr::from_bytes(b"out-\xff"));
    for (given, number) in [(outer.clone(), 2), (outer.join(OsStr::from_bytes(names[0])), 1)] {
        let arguments = [OsStr::new("extract"), OsStr::new("--force"), OsStr::new("-o"), out.as_os_str()];
        let run = run([&arguments[..], &[given.as_os_str()]].concat()).ending(0);
        assert_eq!(run.err, "");
        let index: Value = serde_json::from_slice(&std::fs::read(out.join("index.json")).unwrap()).unwrap();
        let images = index["images"].as_array().unwrap();
        assert_eq!(images.len(), number);
        for image in images {
            let name = last_name(image);
            let index = names.iter().position(|own| name.ends_with(own)).unwrap();
            let written = std::fs::read(out.join(image["file"].as_str().unwrap())).unwrap();
            assert_eq!(written, cubin("90", &format!("k{index}")), "{image}");
        }
    }
}

#[test]
fn directory_that_cannot_be_made_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.so", &library("90", "k"));
    let file = write(folder.path(), "file", b"");
    let run = run(["extract", "-o", text(&file.join("below")), text(&path)]).ending(2);
    assert!(run.err.contains("cannot be made"), "{}", run.err);
}

#[test]
fn standard_output_takes_one_image_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let ptx = ptx_text("8.5", "sm_90", "k");
    let code = fatbin(&[
        Entry::sass("90", cubin("90", "k")).compressed(Codec::Zstd),
        Entry::sass("90a", cubin("90a", "k")),
        Entry::ptx("90", (8, 5), &ptx),
    ]);
    let path = write(folder.path(), "x.fatbin", &code);
    let one = run(["extract", "--stdout", "--arch", "sm_90", text(&path)]).ending(0);
    assert_eq!((one.bytes, one.err.as_str()), (cubin("90", "k"), ""));
    let one = run(["extract", "--stdout", "--kind", "ptx", text(&path)]).ending(0);
    assert_eq!(one.bytes, ptx.as_bytes());
    let many = run(["extract", "--stdout", text(&path)]).ending(2);
    assert!(many.bytes.is_empty() && many.err.contains("3 images match"), "{}", many.err);
    let none = run(["extract", "--stdout", "--arch", "sm_75", text(&path)]).ending(2);
    assert!(none.bytes.is_empty() && none.err.contains("no image matches"), "{}", none.err);
    // one of the two is needed, both are too many
    run(["extract", text(&path)]).ending(2);
    run(["extract", "--stdout", "-o", text(folder.path()), text(&path)]).ending(2);
    // what cannot be unpacked is damage
    let bad = testkit::truth::path("bad_corrupt_zstd.fatbin");
    let bad = run(["extract", "--stdout", text(&bad)]).ending(1);
    assert!(bad.bytes.is_empty() && !bad.err.is_empty());
}

#[test]
fn filters_choose_by_architecture_kind_kernel_module_and_member() {
    let folder = tempfile::tempdir().unwrap();
    let first = fatbin(&[
        Entry::sass("80", cubin("80", "_Z3addPfi")),
        Entry::sass("90a", cubin("90a", "_Z3addPfi")),
        Entry::ptx("90", (8, 5), &ptx_text("8.5", "sm_90", "_Z3addPfi")),
    ]);
    let second = fatbin(&[Entry::sass("80", cubin("80", "other")), Entry::lto("90", b"\xed\x43\x4e\x7f....".to_vec())]);
    let library_two = Elf::shared().section(".nv_fatbin", &[first, second].concat()).bytes();
    let zip = Zip::new().deflated("pkg/libtwo.so", &library_two).deflated("pkg/libone.so", &library("75", "one"));
    let path = write(folder.path(), "x.whl", &zip.bytes());
    for (arguments, expected) in [
        (vec!["--arch", "sm_80"], vec!["0000.0.sm_80.cubin", "0001.0.sm_80.cubin"]),
        (vec!["--arch", "90a,compute_90"], vec!["0000.1.sm_90a.cubin", "0000.2.compute_90.ptx"]),
        (vec!["--arch", "lto_90"], vec!["0001.1.lto_90.ltoir"]),
        (vec!["--kind", "sass", "--module", "1"], vec!["0001.0.sm_80.cubin"]),
        (vec!["--kernel", "^add\\(float"], vec!["0000.0.sm_80.cubin", "0000.1.sm_90a.cubin", "0000.2.compute_90.ptx"]),
        (vec!["--kernel", "^other$"], vec!["0001.0.sm_80.cubin"]),
        (vec!["--member", "*libone*"], vec!["0000.0.sm_75.cubin"]),
    ] {
        let own = tempfile::tempdir().unwrap();
        let (run, files, _) = extracted(own.path(), &[&arguments[..], &[text(&path)]].concat());
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.err);
        let mut names: Vec<&str> = files.keys().map(|name| name.rsplit('/').next().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{arguments:?}");
    }
    // nothing: no directory is made either
    for arguments in [["--arch", "sm_100"], ["--module", "9"], ["--member", "*.dll"], ["--kernel", "^nobody$"]] {
        let out = folder.path().join("none");
        let run = run(["extract", "-o", text(&out), arguments[0], arguments[1], text(&path)]).ending(2);
        assert!(run.err.contains("no image matches") && !out.exists(), "{arguments:?}: {}", run.err);
    }
    for arguments in [["--arch", "gfx942"], ["--kernel", "("], ["--kind", "elf"], ["--module", "-1"]] {
        run(["extract", "-o", "out", arguments[0], arguments[1], text(&path)]).ending(2);
    }
}

#[test]
fn rest_of_a_damaged_library_is_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let mut bad = Entry::sass("86", cubin("86", "k")).compressed(Codec::Zstd);
    let middle = bad.payload.len() / 2;
    bad.payload.truncate(middle);
    let mut lies = Entry::sass("89", cubin("89", "k")).compressed(Codec::Lz4);
    lies.stated_uncompressed_size = Some(1 << 40);
    let code = [
        fatbin(&[Entry::sass("80", cubin("80", "k")), bad, Entry::sass("90", cubin("90", "k"))]),
        fatbin(&[lies, Entry::sass("100", cubin("100", "k")).compressed(Codec::Lz4)]),
    ];
    let path = write(folder.path(), "x.so", &Elf::shared().section(".nv_fatbin", &code.concat()).bytes());
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert_eq!(contents(&files), sorted(vec![cubin("80", "k"), cubin("90", "k"), cubin("100", "k")]));
    assert_eq!(run.err.lines().filter(|line| line.contains(".nv_fatbin@")).count(), 2, "{}", run.err);
    assert!(run.err.contains("#1`") && run.err.contains("#0`"), "{}", run.err);
}

#[test]
fn truncated_library_gives_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let code = fatbin(&[Entry::sass("80", cubin("80", "k")), Entry::sass("90", cubin("90", "k"))]);
    let path = write(folder.path(), "x.fatbin", &code[..code.len() - 100]);
    let (run, files, _) = extracted(folder.path(), &[text(&path)]);
    assert_eq!((run.code, contents(&files)), (Some(1), vec![cubin("80", "k")]), "{}", run.err);
    assert!(!run.err.contains("when it was scanned"), "{}", run.err);
}

/// Runs with little memory, where the shell can limit it.
fn with_little_memory(arguments: &[&str]) -> Run {
    if cfg!(not(target_os = "linux")) {
        return run(arguments);
    }
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -v 700000; exec \"$0\" \"$@\""]).arg(program().get_program()).args(arguments);
    run::finish(command)
}

#[test]
fn bombs_stay_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    // 64 MiB in 2 KB: allowed, and no more than that
    let mut bomb = Entry::sass("90", Vec::new()).flag(Codec::Zstd.flag());
    bomb.payload = compress::zstd_zeros(64 << 20);
    bomb.uncompressed_size = Some(64 << 20);
    assert!(bomb.payload.len() < 4096);
    // beyond the limit: a true 1 GiB, and 2^40 that are not there
    let mut large = bomb.clone();
    large.payload = compress::zstd_zeros(1 << 30);
    large.uncompressed_size = Some(1 << 30);
    let mut claimed = bomb.clone();
    claimed.stated_uncompressed_size = Some(1 << 40);
    let mut small = bomb.clone();
    small.stated_uncompressed_size = Some(100);
    let good = Entry::sass("80", cubin("80", "k"));
    let path = write(folder.path(), "x.fatbin", &fatbin(&[large, claimed, small, good, bomb]));
    let out = folder.path().join("out");
    let run = with_little_memory(&["extract", "--threads", "1", "-o", text(&out), text(&path)]).ending(1);
    let sizes: Vec<usize> =
        tree(&out).iter().filter(|(name, _)| name.ends_with(".cubin")).map(|(_, b)| b.len()).collect();
    assert_eq!(sizes, [cubin("80", "k").len(), 64 << 20], "{}", run.err);
    // each is said once; a fourth error is that zeros are no cubin
    for image in 0..3 {
        assert_eq!(run.err.matches(&format!("#{image}`")).count(), 1, "{}", run.err);
    }
    assert_eq!(run.err.lines().filter(|line| line.starts_with("error")).count(), 4, "{}", run.err);
    // the fixtures of the kind
    for file in ["bad_usize_bomb.fatbin", "bad_real_bomb.fatbin"] {
        let path = testkit::truth::path(file);
        let out = folder.path().join(file);
        let run = with_little_memory(&["extract", "--threads", "1", "-o", text(&out), text(&path)]);
        assert_eq!(run.code, Some(1), "{file}: {}", run.err);
    }
}

#[test]
fn nothing_to_extract_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let plain = write(folder.path(), "plain.so", &Elf::shared().section(".text", b"code").bytes());
    for path in
        [plain, testkit::truth::path("empty.fatbin"), testkit::truth::path("hip_fatbin.so"), folder.path().join("no")]
    {
        let run = run(["extract", "-o", text(&out), text(&path)]).ending(2);
        assert!(!run.err.is_empty() && !out.exists(), "{}", path.display());
    }
}
