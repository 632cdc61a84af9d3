//! What changed between two wheels, libraries, directories or reports.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a panic here is a failing test"
)]

#[path = "common/run.rs"]
mod run;

use std::path::{Path, PathBuf};

use fatscan::diff::{Diff, Side, diff};
use fatscan::{KernelDepth, Options, json, scan_paths};
use gpu_arch::DriverVersion;
use gpu_arch::rules::Verdict;
use run::{Run, narrow, run, text, write};
use serde_json::Value;
use testkit::cubin::Function;
use testkit::fatbin::Codec;
use testkit::{Cubin, Elf, Entry, Zip, fatbin, ptx_text};

/// A SASS entry of ABI 7: nothing about it asks for a new driver.
fn sass(arch: &str) -> Entry {
    kernels(arch, &["k"])
}

fn kernels(arch: &str, names: &[&str]) -> Entry {
    let function = |name: &&str| Function {
        name: (*name).to_owned(),
        entry: true,
        binding: 1,
        size: 128,
        registers: 8,
        shared: 0,
    };
    let cubin = names.iter().map(function).fold(Cubin::abi7(arch).without_functions(), Cubin::function);
    Entry::sass(arch, cubin.bytes()).isa(1, 7)
}

fn ptx(arch: &str, isa: (u16, u16)) -> Entry {
    Entry::ptx(arch, isa, &ptx_text(&format!("{}.{}", isa.0, isa.1), &format!("sm_{arch}"), "k"))
}

fn library(modules: &[Vec<Entry>]) -> Vec<u8> {
    let mut code = Vec::new();
    for module in modules {
        code.extend(fatbin(module));
        code.resize(code.len().next_multiple_of(8), 0);
    }
    Elf::shared().section(".text", b"code").section(".nv_fatbin", &code).bytes()
}

fn one(entries: &[Entry]) -> Vec<u8> {
    library(&[entries.to_vec()])
}

/// A wheel of these members.
fn wheel(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    members.iter().fold(Zip::new(), |zip, (name, bytes)| zip.deflated(name, bytes)).bytes()
}

// --- the library

fn side(folder: &Path, name: &str, bytes: &[u8]) -> Side {
    let options = Options::for_judging().with_kernels(KernelDepth::Names);
    let mut report = scan_paths(&[write(folder, name, bytes)], &options);
    let artefact = report.artefacts.remove(0);
    Side { artefact: json::Artefact::new(&artefact, false), model: Some(artefact), damaged: false }
}

fn compared(old: &[u8], new: &[u8]) -> Diff {
    let folder = tempfile::tempdir().unwrap();
    diff(&side(folder.path(), "old.whl", old), &side(folder.path(), "new.whl", new))
}

fn libraries(old: &[Entry], new: &[Entry]) -> Diff {
    compared(&wheel(&[("x.so", one(old))]), &wheel(&[("x.so", one(new))]))
}

/// Kind and architecture of what changed, with the images before and after.
fn code(diff: &Diff) -> Vec<(&str, (u64, u64))> {
    diff.members.iter().flat_map(|member| &member.code).map(|row| (row.arch.as_str(), row.count)).collect()
}

#[test]
fn identical_sides_have_no_difference() {
    let module = || vec![sass("80"), sass("90a"), ptx("90", (8, 5)).compressed(Codec::Lz4)];
    let bytes = wheel(&[("x.so", library(&[module(), module()]))]);
    let found = compared(&bytes, &bytes);
    assert!(found.is_empty() && found.judged, "{found:?}");
    assert_eq!(found.size, (bytes.len() as u64, bytes.len() as u64));
}

#[test]
fn size_alone_is_no_difference() {
    let more = Elf::shared().section(".text", &[7; 10_000]).section(".nv_fatbin", &fatbin(&[sass("80")])).bytes();
    let found = compared(&wheel(&[("x.so", one(&[sass("80")]))]), &wheel(&[("x.so", more)]));
    assert!(found.is_empty() && found.size.0 != found.size.1, "{found:?}");
}

#[test]
fn files_come_and_go() {
    let old = wheel(&[("a.so", one(&[sass("80")])), ("gone.so", one(&[sass("70"), ptx("70", (7, 0))]))]);
    let new = wheel(&[("a.so", one(&[sass("80")])), ("new.so", one(&[sass("90")]))]);
    let found = compared(&old, &new);
    let files: Vec<(&str, (bool, bool))> = found.members.iter().map(|m| (m.path.as_str(), m.present)).collect();
    assert_eq!(files, [("gone.so", (true, false)), ("new.so", (false, true))]);
    assert_eq!(code(&found), [("compute_70", (1, 0)), ("sm_70", (1, 0)), ("sm_90", (0, 1))]);
    assert!(found.members[0].size.0 > 0 && found.members[0].size.1 == 0);
}

#[test]
fn architectures_are_told_apart_by_suffix_and_linkage() {
    let found = libraries(&[sass("90"), sass("100"), sass("80")], &[sass("90a"), sass("100f"), sass("80"), sass("80")]);
    assert_eq!(
        code(&found),
        [("sm_100", (1, 0)), ("sm_100f", (0, 1)), ("sm_80", (1, 2)), ("sm_90", (1, 0)), ("sm_90a", (0, 1))]
    );
    let linked = |section: &str| {
        let code = fatbin(&[sass("90")]);
        wheel(&[("x.so", Elf::shared().section(section, &code).bytes())])
    };
    let found = compared(&linked(".nv_fatbin"), &linked("__nv_relfatbin"));
    let rows: Vec<(bool, (u64, u64))> = found.members[0].code.iter().map(|row| (row.relocatable, row.count)).collect();
    assert_eq!(rows, [(false, (1, 0)), (true, (0, 1))]);
}

#[test]
fn ptx_isa_and_compression_are_changes() {
    let found = libraries(&[sass("80"), ptx("90", (8, 5))], &[sass("80"), ptx("90", (8, 8))]);
    let row = &found.members[0].code[0];
    let only = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join("+");
    assert_eq!((row.arch.as_str(), only(&row.isa.0), only(&row.isa.1)), ("compute_90", "8.5".into(), "8.8".into()));
    let found =
        libraries(&[sass("80").compressed(Codec::Lz4), sass("90")], &[sass("80").compressed(Codec::Zstd), sass("90")]);
    assert_eq!(found.members[0].code.len(), 1);
    let row = &found.members[0].code[0];
    assert_eq!((only(&row.compression.0), only(&row.compression.1)), ("lz4".into(), "zstd".into()));
}

#[test]
fn a_kernel_that_only_one_architecture_lost_is_told() {
    let both = |arch: &str| kernels(arch, &["_Z3addPfi", "_Z3mulPfi"]);
    let found = libraries(&[both("80"), both("90")], &[both("80"), kernels("90", &["_Z3addPfi"])]);
    let own = found.members[0].kernels.as_ref().unwrap();
    assert!(own.came.is_empty() && own.went.is_empty());
    assert_eq!(own.lost.len(), 1);
    assert_eq!((own.lost[0].0.contains("mul"), own.lost[0].1.as_slice()), (true, ["sm_90".to_owned()].as_slice()));
    // an architecture that went as a whole is said once, as code
    let found = libraries(&[both("80"), both("90")], &[both("80")]);
    assert!(found.members[0].kernels.as_ref().unwrap().is_empty());
}

#[test]
fn what_an_unreadable_image_holds_neither_came_nor_went() {
    let both = |arch: &str| kernels(arch, &["_Z3addPfi", "_Z3mulPfi"]).compressed(Codec::Zstd);
    let mut bad = both("90");
    bad.payload.fill(0xff);
    let own = kernels("80", &["_Z3addPfi"]);
    let found = libraries(&[own.clone(), both("90")], &[own.clone(), bad.clone()]);
    let kernels = found.members[0].kernels.as_ref().unwrap();
    assert_eq!(kernels.unreadable, (0, 1));
    assert!(kernels.came.is_empty() && kernels.went.is_empty() && kernels.lost.is_empty(), "{kernels:?}");
    let found = libraries(&[own.clone(), bad], &[own, both("90")]);
    let kernels = found.members[0].kernels.as_ref().unwrap();
    assert_eq!(kernels.unreadable, (1, 0));
    assert!(kernels.came.is_empty() && kernels.went.is_empty() && kernels.lost.is_empty(), "{kernels:?}");
}

#[test]
fn kernels_come_and_go_by_their_plain_name() {
    let found = libraries(&[kernels("80", &["_Z3addPfi", "same"])], &[kernels("80", &["_Z3mulPfi", "same"])]);
    let own = found.members[0].kernels.as_ref().unwrap();
    let list = |names: &[std::sync::Arc<str>]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((list(&own.came), list(&own.went)), (vec!["mul(float*, int)".into()], vec!["add(float*, int)".into()]));
    assert_eq!(found.members[0].code, []);
}

#[test]
fn hash_of_an_anonymous_namespace_is_no_change() {
    let of = |hash: &str| {
        let namespace = format!("_GLOBAL__N__{hash}_7_file_cu_{hash}");
        format!("_ZN{}{namespace}6kernelEPf", namespace.len())
    };
    let (old, new) = (of("0a1b2c3d"), of("99887766"));
    assert_ne!(cubin::demangle(old.as_bytes()), None);
    let found = libraries(&[kernels("80", &[&old])], &[kernels("80", &[&new])]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn hashes_of_repaired_wheels_are_no_change() {
    let old = wheel(&[("x.libs/libnv-0a1b2c3d.so.13", one(&[sass("80")]))]);
    let same = wheel(&[("x.libs/libnv-99887766.so.13", one(&[sass("80")]))]);
    assert!(compared(&old, &same).is_empty());
    let other = wheel(&[("x.libs/libnv-99887766.so.13", one(&[sass("80"), sass("90")]))]);
    let found = compared(&old, &other);
    let paths: Vec<(&str, (bool, bool))> = found.members.iter().map(|m| (m.path.as_str(), m.present)).collect();
    assert_eq!(paths, [("x.libs/libnv-*.so.13", (true, true))]);
}

#[test]
fn files_that_differ_in_a_hash_only_are_all_compared() {
    // two of one wheel whose names look alike without the hash
    let of =
        |arch: &str| wheel(&[("k-20240101.so", one(&[sass("80")])), ("k-20250101.so", one(&[sass("80"), sass(arch)]))]);
    assert!(compared(&of("90"), &of("90")).is_empty());
    assert_eq!(code(&compared(&of("90"), &of("100"))), [("sm_100", (0, 1)), ("sm_90", (1, 0))]);
    let fewer = wheel(&[("k-20250101.so", one(&[sass("80"), sass("90")]))]);
    let found = compared(&of("90"), &fewer);
    assert_eq!(found.members.iter().map(|member| member.present).collect::<Vec<_>>(), [(true, false)]);
    // and members of one name
    let twice = |second: &str| wheel(&[("x.so", one(&[sass("80")])), ("x.so", one(&[sass(second)]))]);
    assert!(compared(&twice("90"), &twice("90")).is_empty());
    assert_eq!(code(&compared(&twice("90"), &twice("100"))), [("sm_100", (0, 1)), ("sm_90", (1, 0))]);
}

#[test]
fn verdicts_change_by_capability_and_driver() {
    let found = libraries(&[sass("70"), sass("80")], &[sass("80"), sass("90")]);
    let of = |cc: &str| {
        let own = found.verdicts.iter().find(|own| own.capability.to_string() == cc);
        own.map(|own| own.verdict)
    };
    assert_eq!(of("7.0"), Some((Verdict::Native, Verdict::NotCovered)));
    assert_eq!(of("7.5"), Some((Verdict::Native, Verdict::NotCovered)));
    assert_eq!(of("9.0"), Some((Verdict::NotCovered, Verdict::Native)));
    for same in ["8.0", "8.6", "8.9", "12.0"] {
        assert_eq!(of(same), None, "{same}");
    }
    // compressed with zstd it asks for a driver of CUDA 12.4
    let found = libraries(
        &[sass("80").compressed(Codec::Lz4), sass("90").compressed(Codec::Lz4)],
        &[sass("80").compressed(Codec::Zstd), sass("90").compressed(Codec::Zstd)],
    );
    let own = found.verdicts.iter().find(|own| own.capability.to_string() == "8.0").unwrap();
    assert_eq!(own.verdict, (Verdict::Native, Verdict::Native));
    assert_eq!(own.needs_driver.1, Some(DriverVersion::of_branch(550)));
    assert_ne!(own.needs_driver.0, own.needs_driver.1);
}

#[test]
fn report_on_one_side_is_compared_without_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let old = side(folder.path(), "old.whl", &wheel(&[("x.so", one(&[sass("80")]))]));
    let new = side(folder.path(), "new.whl", &wheel(&[("x.so", one(&[sass("90")]))]));
    let report = Side { model: None, ..old };
    let found = diff(&report, &new);
    assert_eq!(code(&found), [("sm_80", (1, 0)), ("sm_90", (0, 1))]);
    assert!(!found.judged && found.verdicts.is_empty() && found.members[0].kernels.is_none());
}

// --- the program

struct Two {
    folder: tempfile::TempDir,
    old: PathBuf,
    new: PathBuf,
}

/// The same package twice.
fn two(old: &[u8], new: &[u8]) -> Two {
    let folder = tempfile::tempdir().unwrap();
    let name = |version: &str| format!("pkg-{version}-cp312-cp312-linux_x86_64.whl");
    let old = write(folder.path(), &name("1.0"), old);
    let new = write(folder.path(), &name("2.0"), new);
    Two { folder, old, new }
}

fn typical() -> Two {
    two(
        &wheel(&[
            (
                "pkg/_c.so",
                library(&[vec![kernels("70", &["_Z3addPfi"]), kernels("80", &["_Z3addPfi"]), ptx("80", (8, 0))]]),
            ),
            ("pkg/gone.so", one(&[sass("80")])),
        ]),
        &wheel(&[
            (
                "pkg/_c.so",
                library(&[vec![kernels("80", &["_Z3mulPfi"]), kernels("90a", &["_Z3mulPfi"]), ptx("80", (8, 5))]]),
            ),
            ("pkg/came.so", one(&[sass("90").compressed(Codec::Zstd)])),
        ]),
    )
}

fn diff_of(two: &Two, arguments: &[&str]) -> Run {
    run([&["diff"], arguments, &[text(&two.old), text(&two.new)]].concat())
}

#[test]
fn table_says_what_came_went_and_changed() {
    let two = typical();
    let run = diff_of(&two, &[]).ending(0);
    for part in [
        "pkg 1.0 -> pkg 2.0",
        "pkg/came.so  came,",
        "pkg/gone.so  went,",
        "sm_90a (1 image)",
        "sm_70 (1 image)",
        "PTX ISA 8.0 -> 8.5",
        "1 kernel",
        "what it means for GPUs",
        "was native, is not covered",
    ] {
        assert!(run.out.contains(part), "{part} in {}", run.out);
    }
    assert!(!run.out.contains("add(float"), "{}", run.out);
    let run = diff_of(&two, &["--kernels"]).ending(0);
    assert!(run.out.contains("add(float*, int)") && run.out.contains("mul(float*, int)"), "{}", run.out);
    assert_eq!(run.err, "");
}

#[test]
fn exit_code_is_asked_for() {
    let two = typical();
    diff_of(&two, &[]).ending(0);
    for format in ["table", "json"] {
        diff_of(&two, &["--exit-code", "--format", format]).ending(1);
    }
    let bytes = wheel(&[("x.so", one(&[sass("80")]))]);
    let same = self::two(&bytes, &bytes);
    let run = diff_of(&same, &["--exit-code"]).ending(0);
    assert!(run.out.contains("no difference in device code"), "{}", run.out);
    // neither side has any
    let plain = wheel(&[("x.py", b"x = 1\n".to_vec())]);
    let run = diff_of(&self::two(&plain, &plain), &["--exit-code"]).ending(0);
    assert!(run.out.contains("no difference"), "{}", run.out);
}

#[test]
fn sides_that_cannot_be_read_end_with_2() {
    let two = typical();
    let nowhere = two.folder.path().join("nowhere.whl");
    for (old, new) in [(&two.old, &nowhere), (&nowhere, &two.new)] {
        let run = run(["diff", text(old), text(new)]).ending(2);
        assert!(run.err.contains("nowhere.whl") && run.out.is_empty(), "{}", run.err);
    }
    for (name, content) in [
        ("no.json", "words"),
        ("empty.json", ""),
        ("other.json", "{\"a\": 1}"),
        ("absent.json", ""),
        ("newer.json", r#"{"schema":99,"tool":{"name":"fatscan","version":"9"},"artefacts":[],"diagnostics":[]}"#),
    ] {
        let path = two.folder.path().join(name);
        if name != "absent.json" {
            std::fs::write(&path, content).unwrap();
        }
        for (old, new) in [(&two.old, &path), (&path, &two.new)] {
            let run = run(["diff", text(old), text(new)]).ending(2);
            assert!(run.err.contains(name) && run.out.is_empty(), "{name}: {}", run.err);
            assert!(name != "newer.json" || run.err.contains("schema 99"), "{}", run.err);
        }
    }
}

#[test]
fn report_that_will_be_newer_is_refused_by_its_schema() {
    // fields that this program does not know, and lacks of those that it does
    let two = typical();
    let path = write(two.folder.path(), "next.json", br#"{"schema": 2, "things": [], "tool": {"name": "fatscan"}}"#);
    let run = run(["diff", text(&path), text(&two.new)]).ending(2);
    assert!(run.err.contains("schema 2"), "{}", run.err);
}

fn report(of: &Path, to: &Path) {
    let run = run(["list", "--format", "json", text(of)]).ending(0);
    std::fs::write(to, run.bytes).unwrap();
}

#[test]
fn report_stands_for_its_file() {
    let two = typical();
    let old = two.folder.path().join("old.json");
    report(&two.old, &old);
    let run = run::run(["diff", text(&old), text(&two.new)]).ending(0);
    assert!(run.out.contains("sm_90a (1 image)") && run.out.contains("verdicts are not compared"), "{}", run.out);
    let document = run::run(["diff", "--format", "json", text(&old), text(&two.new)]).ending(0).json();
    assert_eq!(document["differences"][0]["judged"], false);
    // against its own file nothing changed
    let run = run::run(["diff", "--exit-code", text(&old), text(&two.old)]).ending(0);
    assert!(run.out.contains("no difference"), "{}", run.out);
    let run = run::run(["diff", "--exit-code", text(&old), text(&old)]).ending(0);
    assert!(run.out.contains("no difference"), "{}", run.out);
}

#[test]
fn report_of_several_wheels_is_matched_by_package() {
    let folder = tempfile::tempdir().unwrap();
    let place = |version: &str, package: &str, arch: &str| {
        let name = format!("{version}/{package}-{version}-py3-none-any.whl");
        write(folder.path(), &name, &wheel(&[("x.so", one(&[sass(arch)]))]));
    };
    for (version, second) in [("1.0", "80"), ("2.0", "90")] {
        place(version, "one", "80");
        place(version, "two", second);
    }
    let (old, new) = (folder.path().join("1.0"), folder.path().join("2.0"));
    let saved = folder.path().join("old.json");
    report(&old, &saved);
    for before in [&old, &saved] {
        let run = run(["diff", "--exit-code", text(before), text(&new)]).ending(1);
        assert!(run.out.contains("one 1.0 -> one 2.0"), "{}", run.out);
        assert_eq!(run.out.matches("no difference").count(), 1, "{}", run.out);
        assert!(run.out.contains("sm_90 (1 image)") && !run.out.contains("x.so  came"), "{}", run.out);
    }
}

#[test]
fn directories_are_compared_by_the_paths_below_them() {
    let folder = tempfile::tempdir().unwrap();
    for (side, arch) in [("old", "80"), ("new", "90")] {
        write(folder.path(), &format!("{side}/lib/x.so"), &one(&[sass(arch)]));
        write(folder.path(), &format!("{side}/lib/same.so"), &one(&[sass("75")]));
    }
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    let run = run(["diff", "--exit-code", text(&old), text(&new)]).ending(1);
    assert!(run.out.contains("lib/x.so") && !run.out.contains("same.so"), "{}", run.out);
    // with a wheel beside, the loose files are still those of the other directory
    for side in [&old, &new] {
        write(side, "pkg-1-py3-none-any.whl", &wheel(&[("y.so", one(&[sass("80")]))]));
    }
    let run = self::run(["diff", text(&old), text(&new)]).ending(0);
    assert_eq!(run.out.matches("no difference").count(), 1, "{}", run.out);
    assert!(!run.out.contains("x.so  came") && !run.out.contains("x.so  went"), "{}", run.out);
}

#[test]
fn wheels_of_one_package_for_several_pythons_are_each_compared() {
    let folder = tempfile::tempdir().unwrap();
    let place = |version: &str, python: &str, arch: &str| {
        let name = format!("{version}/pkg-{version}-{python}-{python}-linux_x86_64.whl");
        write(folder.path(), &name, &wheel(&[("x.so", one(&[sass(arch)]))]));
    };
    for (python, arch) in [("cp39", "70"), ("cp310", "80"), ("cp311", "90")] {
        place("1.0", python, arch);
    }
    for (python, arch) in [("cp310", "80"), ("cp311", "90"), ("cp312", "100")] {
        place("2.0", python, arch);
    }
    let (old, new) = (folder.path().join("1.0"), folder.path().join("2.0"));
    let document = run(["diff", "--format", "json", text(&old), text(&new)]).ending(0).json();
    let all = document["differences"].as_array().unwrap();
    let pairs: Vec<(bool, usize)> = all
        .iter()
        .map(|own| {
            let python = |key: &str| own[key].as_str().unwrap().rsplit('-').nth(1).unwrap().to_owned();
            (python("old") == python("new"), own["members"].as_array().unwrap().len())
        })
        .collect();
    // cp310 and cp311 with their like, the rest with each other
    assert_eq!(pairs, [(true, 0), (true, 0), (false, 1)], "{document:#}");
}

#[test]
fn wheel_that_came_is_compared_with_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = |side: &str, package: &str| {
        let name = format!("{side}/{package}-1.0-py3-none-any.whl");
        write(folder.path(), &name, &wheel(&[("x.so", one(&[sass("80")]))]));
    };
    place("old", "stays");
    place("old", "gone");
    place("new", "stays");
    place("new", "comes");
    let sides = (folder.path().join("old"), folder.path().join("new"));
    let document = run(["diff", "--format", "json", text(&sides.0), text(&sides.1)]).ending(0).json();
    let all = document["differences"].as_array().unwrap();
    let present: Vec<&Value> =
        all.iter().flat_map(|own| own["members"].as_array().unwrap()).map(|m| &m["present"]).collect();
    assert_eq!((all.len(), present.len()), (3, 2));
    assert!(all.iter().all(|own| own["judged"] == true), "{document:#}");
}

#[test]
fn any_two_inputs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let cubin = |arch: &str| Cubin::abi7(arch).bytes();
    let old = write(folder.path(), "a.cubin", &cubin("80"));
    let wheel_path = write(folder.path(), "b.whl", &wheel(&[("lib/x.so", one(&[sass("80")]))]));
    let fatbin_path = write(folder.path(), "c.fatbin", &fatbin(&[sass("80")]));
    for new in [&wheel_path, &fatbin_path] {
        let run = run(["diff", text(&old), text(new)]).ending(0);
        assert!(run.out.contains("->"), "{}", run.out);
    }
    // two files of other names are one file before and after
    let run = run(["diff", "--exit-code", text(&old), text(&fatbin_path)]);
    assert!([Some(0), Some(1)].contains(&run.code), "{}", run.err);
}

#[test]
fn json_holds_the_differences() {
    let two = typical();
    let document = diff_of(&two, &["--format", "json"]).ending(0).json();
    assert_eq!((&document["schema"], &document["tool"]["name"]), (&1.into(), &"fatscan".into()));
    let own = &document["differences"][0];
    assert_eq!((own["old"].as_str(), own["new"].as_str()), (Some(text(&two.old)), Some(text(&two.new))));
    let members: Vec<&str> = own["members"].as_array().unwrap().iter().map(|m| m["path"].as_str().unwrap()).collect();
    assert_eq!(members, ["pkg/_c.so", "pkg/came.so", "pkg/gone.so"]);
    let first = &own["members"][0];
    assert_eq!(
        (&first["kernels_came"][0], &first["kernels_went"][0]),
        (&"mul(float*, int)".into(), &"add(float*, int)".into())
    );
    let row = first["code"].as_array().unwrap().iter().find(|row| row["arch"] == "compute_80").unwrap();
    assert_eq!((row["isa"][0][0].as_str(), row["isa"][1][0].as_str()), (Some("8.0"), Some("8.5")));
    let verdicts = own["verdicts"].as_array().unwrap();
    let seven = verdicts.iter().find(|own| own["cc"] == "7.0").unwrap();
    assert_eq!(seven["verdict"], serde_json::json!(["native", "not-covered"]));
}

#[test]
fn lines_keep_to_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let many = ["50", "52", "60", "61", "70", "75", "80", "86", "87", "89", "90", "90a"];
    let later = ["80", "90", "90a", "100", "100a", "100f", "103", "103a", "103f", "110", "120", "120a", "121"];
    let all = |archs: &[&str], isa: (u16, u16), codec: Codec| -> Vec<Entry> {
        archs.iter().flat_map(|arch| [sass(arch).compressed(codec), ptx(arch, isa).compressed(codec)]).collect()
    };
    let old = all(&many, (7, 8), Codec::Lz4);
    let new = all(&later, (8, 8), Codec::Zstd);
    let files = |entries: &[Entry]| {
        let names: Vec<String> = (0..3).map(|index| format!("pkg/lib/libfile_number_{index}.so")).collect();
        names.iter().fold(Zip::new(), |zip, name| zip.deflated(name, &one(entries))).bytes()
    };
    write(folder.path(), "a_package_with_a_name-1.0.post1-cp312-cp312-manylinux_2_28_x86_64.whl", &files(&old));
    write(folder.path(), "a_package_with_a_name-2.0.post1-cp312-cp312-manylinux_2_28_x86_64.whl", &files(&new));
    let path = |version: &str| format!("a_package_with_a_name-{version}.post1-cp312-cp312-manylinux_2_28_x86_64.whl");
    let run = narrow(folder.path(), ["diff", &path("1.0"), &path("2.0")]).ending(0);
    assert!(run.out.lines().any(|line| line.len() > 60), "{}", run.out);
    let fixtures = testkit::truth::folder();
    narrow(&fixtures, ["diff", "libpartial.so", "librdc.so"]).ending(0);
    narrow(&fixtures, ["diff", "concat_all.fatbin", "comp_all_lz4.fatbin"]);
}

#[test]
fn two_files_are_compared_whatever_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let old = write(folder.path(), "old.so", &one(&[sass("80"), sass("90")]));
    let new = write(folder.path(), "new.so", &one(&[sass("80")]));
    let run = run(["diff", text(&old), text(&new)]);
    assert!(run.out.contains("went") && run.out.contains("sm_90") && !run.out.contains("came"), "{}", run.out);
    let same = write(folder.path(), "same.so", &one(&[sass("80"), sass("90")]));
    let run = crate::run::run(["diff", "--exit-code", text(&old), text(&same)]).ending(0);
    assert!(run.out.contains("no difference in device code"), "{}", run.out);
}

#[test]
fn damage_of_a_side_is_said_and_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let whole = wheel(&[("a.so", one(&[sass("80"), sass("90")])), ("b.so", one(&[sass("80")]))]);
    let old = write(folder.path(), "x-1-py3-none-any.whl", &whole);
    let new = write(folder.path(), "x-2-py3-none-any.whl", &whole[..whole.len() * 2 / 3]);
    let run = run(["diff", text(&old), text(&new)]).ending(1);
    assert!(run.out.contains("the new side is damaged: what is missing may only be unreadable"), "{}", run.out);
    let json = crate::run::run(["diff", "--format", "json", text(&new), text(&old)]).ending(1).json();
    assert_eq!(json["differences"][0]["damaged"], serde_json::json!([true, false]), "{json}");
}

#[test]
fn hostile_names_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let old =
        write(folder.path(), "a.whl", &wheel(&[("a\u{1b}[2J\nerror: faked.so", one(&[kernels("80", &["x\u{1b}y"])]))]));
    let new = write(
        folder.path(),
        "b.whl",
        &wheel(&[("a\u{1b}[2J\nerror: faked.so", one(&[kernels("80", &["z\u{202e}"])]))]),
    );
    let run = run(["diff", "--kernels", text(&old), text(&new)]).ending(0);
    assert!(!run.out.contains('\u{1b}') && !run.out.contains('\u{202e}'), "{}", run.out);
    assert!(!run.out.lines().any(|line| line.starts_with("error: faked")), "{}", run.out);
}
