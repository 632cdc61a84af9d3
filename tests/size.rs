//! What device code costs: sums against the bytes of the images, the estimate in an archive, the budget.
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

use std::path::Path;

use fatscan::{
    Artefact, CodeKind, Column, KernelDepth, Member, Options, Size, Source, artefact_sizes, kernel_sizes, member_sizes,
    scan_paths,
};
use run::{Run, narrow, run, text, write};
use serde_json::Value;
use testkit::cubin::Function;
use testkit::fatbin::Codec;
use testkit::truth::all;
use testkit::{Cubin, Elf, Entry, Zip, ZipMember, fatbin, ptx_text};

/// The first file with device code of a scan, and what there was to say.
fn scan_bytes(name: &str, bytes: &[u8], options: &Options) -> (Option<Member>, Vec<fatscan::Diagnostic>) {
    let report = fatscan::scan_bytes(name, bytes, options);
    (report.artefacts.into_iter().flat_map(|artefact| artefact.members).next(), report.diagnostics)
}

fn scanned(name: &str, bytes: &[u8]) -> Member {
    let options = Options::new().with_kernels(KernelDepth::Names);
    scan_bytes(name, bytes, &options).0.unwrap()
}

fn artefact(folder: &Path, name: &str, bytes: &[u8]) -> Artefact {
    let mut report = scan_paths(&[write(folder, name, bytes)], &Options::default());
    report.artefacts.remove(0)
}

fn sass(arch: &str) -> Column {
    Column { relocatable: false, kind: CodeKind::Sass, arch: arch.parse().unwrap() }
}

fn with(arch: &str, kernels: &[(&str, u8, usize)]) -> Entry {
    let function = |(name, binding, size): &(&str, u8, usize)| Function {
        name: (*name).to_owned(),
        entry: true,
        binding: *binding,
        size: *size,
        registers: 8,
        shared: 0,
    };
    Entry::sass(arch, kernels.iter().map(function).fold(Cubin::new(arch).without_functions(), Cubin::function).bytes())
}

fn library(modules: &[Vec<Entry>]) -> Vec<u8> {
    let code: Vec<u8> = modules.iter().flat_map(|module| fatbin(module)).collect();
    Elf::shared().section(".text", &[0x90; 4096]).section(".nv_fatbin", &code).bytes()
}

// --- the library

#[test]
fn sums_of_every_fixture_are_those_of_its_images() {
    let mut compared = 0;
    for truth in all() {
        let Some(member) = scan_bytes(&truth.file, &truth.bytes(), &Options::default()).0 else { continue };
        let sizes = member_sizes(&member);
        let nvidia = member.modules.iter().filter(|module| module.source != Source::OffloadBundle);
        let images: Vec<_> = nvidia.flat_map(|module| &module.images).collect();
        let stored: u64 = images.iter().map(|image| image.stored_bytes).sum();
        assert_eq!((sizes.code.images, sizes.code.stored), (images.len(), stored), "{}", truth.file);
        // damaged ones state what they like
        if !truth.is_hostile() {
            assert!(stored <= truth.size, "{}: {stored} of {}", truth.file, truth.size);
            assert_eq!(sizes.host, truth.size - stored, "{}", truth.file);
        }
        let mut sum = Size::default();
        for size in sizes.by_arch.values() {
            sum.images += size.images;
            sum.stored += size.stored;
            sum.unpacked = sum.unpacked.saturating_add(size.unpacked);
            sum.packed += size.packed;
        }
        // bare intermediate code names no architecture
        if images.iter().all(|image| image.arch.is_some()) {
            assert_eq!(sum, sizes.code, "{}", truth.file);
        }
        // outside an archive nothing is smaller
        assert_eq!(sizes.code.packed, sizes.code.stored, "{}", truth.file);
        compared += 1;
    }
    assert!(compared > 140, "{compared}");
}

#[test]
fn members_of_an_artefact_add_up_by_architecture() {
    let folder = tempfile::tempdir().unwrap();
    let one = library(&[vec![with("80", &[("k", 1, 1000)]), with("90a", &[("k", 1, 2000)])]]);
    let two = library(&[vec![with("80", &[("k", 1, 3000)])], vec![with("80", &[("j", 1, 100)])]]);
    let zip = Zip::new().deflated("a.so", &one).stored("b.so", &two).bytes();
    let artefact = artefact(folder.path(), "x.whl", &zip);
    let sizes = artefact_sizes(&artefact);
    assert_eq!(sizes.by_arch.keys().copied().collect::<Vec<_>>(), [sass("80"), sass("90a")]);
    let images = |column: Column| {
        let images = artefact.members.iter().flat_map(|m| &m.modules).flat_map(|m| &m.images);
        images.filter(move |image| image.arch == Some(column.arch)).map(|image| image.stored_bytes)
    };
    for (column, size) in &sizes.by_arch {
        assert_eq!((size.images, size.stored), (images(*column).count(), images(*column).sum()));
        assert_eq!(size.unpacked, size.stored);
    }
}

#[test]
fn estimate_lets_compressed_payloads_be_and_shrinks_others_like_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let plain = with("80", &[("k", 1, 100_000)]);
    let compressed = with("90", &[("k", 1, 20_000)]).compressed(Codec::Zstd);
    let bytes = library(&[vec![plain, compressed]]);
    let member =
        |deflate: bool| if deflate { ZipMember::deflated("x.so", &bytes) } else { ZipMember::stored("x.so", &bytes) };
    for deflate in [false, true] {
        let artefact = artefact(folder.path(), "x.whl", &Zip::new().with(member(deflate)).bytes());
        let own = &artefact.members[0];
        let sizes = member_sizes(own);
        let (plain, packed) = (sizes.by_arch[&sass("80")], sizes.by_arch[&sass("90")]);
        assert_eq!(packed.packed, packed.stored, "a compressed payload does not shrink again");
        if deflate {
            // zeros shrink to next to nothing, but for the compressed payload, which is left aside
            let whole = own.packed.unwrap();
            assert!(whole < own.size / 2, "{whole} of {}", own.size);
            let rest = whole.saturating_sub(packed.stored);
            let expected = plain.stored * rest / (own.size - packed.stored);
            assert_eq!(plain.packed, expected);
        } else {
            assert_eq!((own.packed, plain.packed), (Some(own.size), plain.stored));
        }
        assert!(sizes.code.packed <= sizes.code.stored);
        assert_eq!(sizes.code.packed, plain.packed + packed.packed);
    }
}

#[test]
fn estimate_is_never_above_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    // random code: deflate makes it larger than it was
    let mut state = 1u64;
    let noise: Vec<u8> = (0..50_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let bytes = Elf::shared().section(".nv_fatbin", &fatbin(&[Entry::lto("90", noise)])).bytes();
    for member in [ZipMember::deflated("x.so", &bytes), ZipMember::stored("x.so", &bytes)] {
        let artefact = artefact(folder.path(), "x.whl", &Zip::new().with(member).bytes());
        let code = member_sizes(&artefact.members[0]).code;
        assert!(code.packed <= code.stored, "{code:?}");
    }
}

#[test]
fn kernels_that_several_modules_hold_are_counted_again() {
    let member = scanned(
        "x.so",
        &library(&[
            vec![with("80", &[("shared", 1, 1024), ("local", 0, 256)]), with("90", &[("shared", 1, 2048)])],
            vec![with("80", &[("shared", 1, 1024), ("local", 0, 256)]), with("90", &[("shared", 1, 2048)])],
            vec![with("80", &[("shared", 1, 1024), ("once", 1, 128)])],
        ]),
    );
    let kernels = kernel_sizes(&member);
    let rows: Vec<(&str, u64, usize, u64)> =
        kernels.iter().map(|kernel| (&*kernel.name, kernel.code_bytes, kernel.modules, kernel.duplicated)).collect();
    assert_eq!(
        rows,
        [("shared", 3 * 1024 + 2 * 2048, 3, 2 * 1024 + 2048), ("local", 2 * 256, 2, 256), ("once", 128, 1, 0)]
    );
    // PTX has no code: a kernel of it alone costs nothing
    let ptx = scanned("x.ptx", ptx_text("8.5", "sm_90", "k").as_bytes());
    assert_eq!(kernel_sizes(&ptx).iter().map(|kernel| kernel.code_bytes).collect::<Vec<_>>(), [0]);
}

// --- the program

fn size(arguments: &[&str]) -> Run {
    run(std::iter::once("size").chain(arguments.iter().copied()))
}

fn wheel(folder: &Path) -> std::path::PathBuf {
    let one = library(&[
        vec![with("80", &[("_Z3addPfi", 1, 100_000)]), with("90a", &[("_Z3addPfi", 1, 200_000)])],
        vec![with("80", &[("_Z3addPfi", 1, 100_000), ("small", 1, 128)])],
    ]);
    let two = library(&[vec![with("75", &[("k", 1, 50_000)]).compressed(Codec::Lz4)]]);
    let zip = Zip::new().deflated("pkg/libone.so", &one).stored("pkg/libtwo.so", &two);
    write(folder, "pkg-1.0-py3-none-any.whl", &zip.bytes())
}

#[test]
fn tables_name_architectures_members_modules_and_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    for (by, words) in [
        ("arch", vec!["sm_75", "sm_80", "sm_90a", "all device code", "in archive: estimated"]),
        ("member", vec!["pkg/libone.so", "pkg/libtwo.so", "sm_90a", "host code and the rest"]),
        ("module", vec!["module 0 .nv_fatbin@0x", "sm_80 sm_90a", "module 1"]),
        ("kernel", vec!["add(float*, int) in 2 modules, 100.0 kB again", "small", "of machine code"]),
    ] {
        let run = size(&["--by", by, text(&path)]).ending(0);
        for word in words {
            assert!(run.out.contains(word), "{by}: {word} in {}", run.out);
        }
        assert_eq!(run.err, "");
    }
    let run = size(&["--by", "kernel", "--top", "1", text(&path)]).ending(0);
    assert!(run.out.contains("and 1 kernel more (--top N)") && !run.out.contains("small"), "{}", run.out);
    let run = size(&["--by", "module", "--top", "1", text(&path)]).ending(0);
    assert!(run.out.contains("and 1 module more (--top N)") && !run.out.contains("module 1 "), "{}", run.out);
}

#[test]
fn code_without_an_architecture_counts_in_the_sum() {
    for file in ["raw_90.ltoir", "raw_tile.tilebc"] {
        let run = size(&[text(&testkit::truth::path(file))]).ending(0);
        assert!(run.out.contains("without architecture") && run.out.contains("all device code"), "{}", run.out);
        let json = size(&["--format", "json", text(&testkit::truth::path(file))]).ending(0).json();
        let row = &json["artefacts"][0]["code"][0];
        assert_eq!((&row["arch"], &row["images"]), (&Value::Null, &1.into()), "{json}");
        assert_eq!(row["stored_bytes"], json["artefacts"][0]["size"], "{json}");
    }
    let folder = tempfile::tempdir().unwrap();
    let plain = write(folder.path(), "plain.so", &Elf::shared().section(".text", b"code").bytes());
    for path in [plain, testkit::truth::path("empty.fatbin"), testkit::truth::path("hip_fatbin.so")] {
        let run = size(&[text(&path)]).ending(0);
        assert!(run.out.contains("no device code"), "{}", run.out);
    }
}

#[test]
fn budget_decides_the_exit_code_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    let bytes = std::fs::metadata(&path).unwrap().len();
    for (budget, code) in [
        (format!("{bytes}"), 0),
        (format!("{}", bytes - 1), 1),
        ("0".to_owned(), 1),
        ("1GB".to_owned(), 0),
        ("0.001MB".to_owned(), 1),
        ("1 GiB".to_owned(), 0),
        ("1.5mib".to_owned(), 0),
    ] {
        for format in ["table", "json"] {
            let run = size(&["--budget", &budget, "--format", format, text(&path)]).ending(code);
            let says = run.out.contains("over the budget of");
            assert_eq!(says, code == 1 && format == "table", "{budget}: {}", run.out);
        }
    }
    for bad in ["", "many", "1.5XB", "-1", "1e9", "1.2345GB", "99999999999999999999"] {
        let run = size(&[&format!("--budget={bad}"), text(&path)]).ending(2);
        assert!(run.err.contains("--budget"), "{bad}: {}", run.err);
    }
    // one of several is enough
    let small = write(folder.path(), "small.ptx", ptx_text("8.5", "sm_90", "k").as_bytes());
    size(&["--budget", "1000", text(&small), text(&path)]).ending(1);
    size(&["--budget", "1000", text(&small)]).ending(0);
    // damage is no better with a large budget
    let bad = testkit::truth::path("bad_fatsize_too_big.fatbin");
    size(&["--budget", "1GB", text(&bad)]).ending(1);
}

fn total(rows: &Value, key: &str) -> u64 {
    rows.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
}

#[test]
fn json_adds_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    let document = size(&["--format", "json", text(&path)]).ending(0).json();
    assert_eq!((&document["schema"], &document["tool"]["name"]), (&1.into(), &"fatscan".into()));
    let artefact = &document["artefacts"][0];
    assert_eq!(artefact["size"], std::fs::metadata(&path).unwrap().len());
    let report = scan_paths(&[&path], &Options::default());
    let images: Vec<u64> = report.artefacts[0]
        .members
        .iter()
        .flat_map(|member| &member.modules)
        .flat_map(|module| &module.images)
        .map(|image| image.stored_bytes)
        .collect();
    assert_eq!(total(&artefact["code"], "stored_bytes"), images.iter().sum::<u64>());
    assert_eq!(total(&artefact["code"], "images"), images.len() as u64);
    for key in ["images", "stored_bytes", "unpacked_bytes", "archive_bytes_estimate"] {
        let members = artefact["members"].as_array().unwrap();
        assert_eq!(
            members.iter().map(|member| total(&member["code"], key)).sum::<u64>(),
            total(&artefact["code"], key)
        );
    }
    for member in artefact["members"].as_array().unwrap() {
        let code = total(&member["code"], "stored_bytes");
        assert_eq!(member["size"].as_u64().unwrap(), code + member["host_bytes"].as_u64().unwrap());
        assert_eq!(member["kernels"].as_array().unwrap().len(), 0);
    }
    let document = size(&["--by", "kernel", "--format", "json", text(&path)]).ending(0).json();
    let kernels = &document["artefacts"][0]["members"][0]["kernels"];
    assert_eq!(kernels[0]["name"], "_Z3addPfi");
    assert_eq!((kernels[0]["code_bytes"].as_u64(), kernels[0]["modules"].as_u64()), (Some(400_000), Some(2)));
    assert_eq!(kernels[0]["duplicated_bytes"].as_u64(), Some(100_000));
}

#[test]
fn lines_keep_to_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let archs =
        ["50", "52", "60", "61", "70", "75", "80", "86", "89", "90", "90a", "100", "100a", "100f", "103", "120"];
    let module: Vec<Entry> =
        archs.iter().map(|arch| with(arch, &[("_Z3addPfi", 1, 1_234_567), ("k", 0, 128)])).collect();
    write(folder.path(), "libmany.so", &library(&[module.clone(), module]));
    wheel(folder.path());
    for by in ["arch", "member", "module", "kernel"] {
        narrow(folder.path(), ["size", "--by", by, "libmany.so", "pkg-1.0-py3-none-any.whl"]).ending(0);
    }
}

#[test]
fn what_slim_would_save_is_said_before_anybody_slims() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl");
    let sample = sample.to_str().unwrap();
    let size = run(["size", sample, "--for", "9.0", "--json"]).json();
    let slim = run(["slim", sample, "--for", "9.0", "--dry-run", "--json"]).json();
    let (size, slim) = (&size["artefacts"][0]["slim"], &slim["files"][0]);
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!(size["for"], serde_json::json!(["9.0"]));
    // the same planner, so the same bytes
    assert_eq!(number(&size["zeroed_bytes"]), number(&slim["zeroed_bytes"]));
    assert!(number(&size["zeroed_bytes"]) > 0);
    let dropped =
        slim["members"].as_array().unwrap().iter().flat_map(|own| own["dropped"].as_object().unwrap().values());
    assert_eq!(number(&size["images"]), dropped.map(|own| number(&own["images"])).sum::<u64>());
    let text = run(["size", sample, "--for", "9.0"]).ending(0).out;
    assert!(text.contains("slim --for 9.0: leaves out "), "{text}");
    assert_eq!(run(["size", sample, "--json"]).json()["artefacts"][0]["slim"], serde_json::Value::Null);
    run(["size", sample, "--driver", "535.183.01"]).ending(2);
}
