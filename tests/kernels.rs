//! Kernels of images: names and figures against what cuobjdump says of every fixture, the matrix by architecture, and
//! what a device would lack.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a panic here is a failing test"
)]

mod common;
#[path = "common/run.rs"]
mod run;

use std::collections::BTreeMap;

use ::fatbin::{Entry as Read, EntryHeader, decode};
use common::{scan_bytes, scan_inflated, scan_steps};
use fatscan::{
    CodeKind, Column, Hole, Image, Kernel, KernelDepth, Matrix, Member, Module, Options, Row, Source, holes,
};
use gpu_arch::Arch;
use gpu_arch::rules::{Device, Environment};
use run::{Run, narrow, program, run, text, write};
use testkit::cubin::Function;
use testkit::fatbin::Codec;
use testkit::truth::{Truth, TruthCubin, all};
use testkit::{Ar, Cubin, Elf, Entry, Zip, fatbin, ptx_text, sha256};

fn options(kernels: KernelDepth) -> Options {
    Options::new().with_kernels(kernels)
}

fn scanned(name: &str, bytes: &[u8], kernels: KernelDepth) -> Member {
    scan_bytes(name, bytes, &options(kernels)).0.unwrap()
}

/// Fixtures that were not made to be damaged and whose entries are known to the end.
fn sound() -> Vec<Truth> {
    all().into_iter().filter(|truth| !truth.is_hostile()).collect()
}

// --- against the truth

/// The unpacked bytes of an image, read through the crate `fatbin` alone.
fn payload(bytes: &[u8], module: &Module, image: &Image) -> Vec<u8> {
    let data = &bytes[(module.base() + image.offset) as usize..];
    if module.source != Source::Fatbin {
        return data[..image.stored_bytes as usize].to_vec();
    }
    let header = EntryHeader::parse(data).unwrap();
    let (start, end) = (header.header_size as usize, header.total_size().unwrap() as usize);
    let entry = Read::new(&data[..start], &data[start..end]).unwrap();
    let mut out = Vec::new();
    decode(&entry, 1 << 30, &mut out).unwrap();
    match image.concat {
        Some(index) => entry.members().nth(index as usize).unwrap().unwrap().bytes(&out).unwrap().to_vec(),
        None => out,
    }
}

/// The hashes that the payload can have: without some of the zeros behind it.
fn hashes(payload: &[u8], most: usize) -> Vec<String> {
    let zeros = payload.iter().rev().take(most).take_while(|byte| **byte == 0).count();
    (0..=zeros).map(|count| sha256(&payload[..payload.len() - count])).collect()
}

fn names(kernels: &[Kernel]) -> Vec<String> {
    let mut names: Vec<String> = kernels.iter().map(|kernel| kernel.name.to_string()).collect();
    names.sort();
    names
}

/// Names and figures of a cubin's kernels against cuobjdump's. It prints 0 where nothing is stated.
fn compare(place: &str, kernels: &[Kernel], truth: &TruthCubin) -> usize {
    assert_eq!(names(kernels), truth.kernels, "{place}");
    let theirs: BTreeMap<&str, BTreeMap<&str, u64>> = truth
        .resources
        .iter()
        .map(|(name, figures)| (name.as_str(), figures.iter().map(|(key, value)| (key.as_str(), *value)).collect()))
        .collect();
    let mut compared = 0;
    for kernel in kernels {
        let Some(figures) = theirs.get(&*kernel.name) else { continue };
        let own = kernel.resources.as_ref().unwrap();
        let pairs = [
            ("REG", u64::from(own.registers.unwrap_or(0))),
            ("STACK", u64::from(own.stack.unwrap_or(0))),
            ("SHARED", own.shared),
            ("LOCAL", own.local),
            ("CONSTANT[0]", own.constant0),
        ];
        for (key, value) in pairs {
            assert_eq!(value, figures.get(key).copied().unwrap_or(0), "{place} {}: {key}", kernel.name);
        }
        assert!(kernel.code_bytes > 0, "{place} {}", kernel.name);
        compared += 1;
    }
    compared
}

#[test]
fn kernels_and_figures_of_every_fixture_equal_cuobjdumps() {
    let (mut cubins, mut figures, mut texts) = (0, 0, 0);
    for truth in sound() {
        let bytes = truth.bytes();
        let (member, _) = scan_bytes(&truth.file, &bytes, &options(KernelDepth::Resources));
        for (module, image) in
            member.iter().flat_map(|m| &m.modules).flat_map(|m| m.images.iter().map(move |image| (m, image)))
        {
            let place = format!("{} {:#x}", truth.file, module.base() + image.offset);
            if truth.cubin.is_none() && truth.ptx.is_none() && !truth.entries_hold() {
                continue;
            }
            match image.kind {
                CodeKind::Sass => {
                    let kernels = image.kernels.as_ref().unwrap_or_else(|| panic!("{place}: no kernels"));
                    if let Some(known) = &truth.cubin {
                        // cuobjdump refuses cubins of 12.2 for sm_90
                        if known.sm.is_some() {
                            figures += compare(&place, kernels, known);
                        }
                        cubins += 1;
                        continue;
                    }
                    let own = hashes(&payload(&bytes, module, image), 7);
                    let known = truth.extracted_cubins.iter().find(|cubin| own.contains(&cubin.sha256));
                    figures += compare(&place, kernels, known.unwrap_or_else(|| panic!("{place}: not extracted")));
                    cubins += 1;
                }
                CodeKind::Ptx => {
                    let kernels = image.kernels.as_ref().unwrap_or_else(|| panic!("{place}: no kernels"));
                    assert!(kernels.iter().all(|kernel| kernel.code_bytes == 0 && kernel.resources.is_none()));
                    let theirs = match &truth.ptx {
                        Some((_, _, kernels)) => kernels,
                        None => {
                            let own = hashes(&payload(&bytes, module, image), 8);
                            let known = truth.extracted_ptx.iter().find(|ptx| own.contains(&ptx.sha256));
                            &known.unwrap_or_else(|| panic!("{place}: not extracted")).kernels
                        }
                    };
                    assert_eq!(&names(kernels), theirs, "{place}");
                    texts += 1;
                }
                _ => assert_eq!(image.kernels, None, "{place}"),
            }
        }
    }
    assert!(cubins > 140 && figures > 140 && texts > 90, "{cubins} cubins, {figures} kernels, {texts} texts");
}

/// The kernels of all images, by place.
fn read(member: Option<&Member>) -> Vec<(u64, Option<u32>, Option<Vec<Kernel>>)> {
    let images = member.into_iter().flat_map(|member| &member.modules);
    let images = images.flat_map(|module| module.images.iter().map(move |image| (module.base(), image)));
    images.map(|(base, image)| (base + image.offset, image.concat, image.kernels.clone())).collect()
}

#[test]
fn first_part_of_a_cubin_names_what_the_whole_does() {
    let mut compared = 0;
    for truth in sound() {
        let bytes = truth.bytes();
        let part = scan_bytes(&truth.file, &bytes, &options(KernelDepth::Names)).0;
        let mut whole = scan_bytes(&truth.file, &bytes, &options(KernelDepth::Resources)).0;
        for kernel in whole
            .iter_mut()
            .flat_map(|member| &mut member.modules)
            .flat_map(|module| &mut module.images)
            .flat_map(|image| image.kernels.iter_mut().flatten())
        {
            kernel.resources = None;
            compared += 1;
        }
        assert_eq!(read(part.as_ref()), read(whole.as_ref()), "{}", truth.file);
        // and nobody who did not ask gets any
        let none = scan_bytes(&truth.file, &bytes, &Options::default()).0;
        assert!(read(none.as_ref()).iter().all(|(_, _, kernels)| kernels.is_none()), "{}", truth.file);
    }
    assert!(compared > 300, "{compared} kernels");
}

#[test]
fn slices_and_streams_give_the_same_kernels() {
    for truth in all() {
        let bytes = truth.bytes();
        for depth in [KernelDepth::Names, KernelDepth::Resources] {
            let options = options(depth);
            let slice = scan_bytes(&truth.file, &bytes, &options);
            assert_eq!(scan_inflated(&truth.file, &bytes, &options), slice, "{} {depth:?}", truth.file);
            assert_eq!(scan_steps(&truth.file, &bytes, &options), slice, "{} {depth:?}", truth.file);
        }
    }
}

#[test]
fn every_codec_and_a_large_cubin_name_the_same_kernels() {
    // the symbol table of this one lies beyond the first 64 KiB that are unpacked
    let name = |index: usize| format!("_Z307{}_{index:06}Pf", "k".repeat(300));
    let many = (0..300).fold(Cubin::new("90a").without_functions(), |cubin, index| {
        cubin.kernel(&name(index)).device_function(&format!("device_{index}"))
    });
    let bytes = many.bytes();
    assert!(bytes.len() > 512 * 1024);
    let expected: Vec<String> = (0..300).map(name).collect();
    for codec in [Codec::None, Codec::Lz4, Codec::Lz4Frame, Codec::Zstd, Codec::Zlib] {
        let library =
            Elf::shared().section(".nv_fatbin", &fatbin(&[Entry::sass("90a", bytes.clone()).compressed(codec)]));
        for depth in [KernelDepth::Names, KernelDepth::Resources] {
            let member = scanned("x.so", &library.bytes(), depth);
            let kernels = member.modules[0].images[0].kernels.as_ref().unwrap();
            assert_eq!(names(kernels), expected, "{codec:?} {depth:?}");
            assert!(kernels.iter().all(|kernel| kernel.code_bytes == 128), "{codec:?}");
        }
    }
}

#[test]
fn damaged_and_boundless_payloads_have_no_kernels_and_hurt_nobody() {
    for truth in all().iter().filter(|truth| truth.is_hostile()) {
        for depth in [KernelDepth::Names, KernelDepth::Resources] {
            let (member, _) = scan_bytes(&truth.file, &truth.bytes(), &options(depth));
            let matrix = member.as_ref().map(Matrix::of).unwrap_or_default();
            let images = read(member.as_ref());
            assert_eq!(matrix.unreadable, images.iter().filter(|(_, _, kernels)| kernels.is_none()).count());
        }
    }
    // what is beyond the limit is not unpacked
    let mut small = options(KernelDepth::Resources);
    small.limits.payload_bytes = 100;
    let library = library(&[vec![cubin("90", &["k"]).compressed(Codec::Zstd)]]);
    let (member, _) = scan_bytes("x.so", &library, &small);
    assert_eq!(Matrix::of(&member.unwrap()).unreadable, 1);
}

// --- the matrix

fn function(name: &str, binding: u8, size: usize) -> Function {
    Function { name: name.to_owned(), entry: true, binding, size, registers: 16, shared: 0 }
}

/// A SASS entry with these global kernels.
fn cubin(arch: &str, kernels: &[&str]) -> Entry {
    with(arch, &kernels.iter().map(|name| function(name, 1, 128)).collect::<Vec<_>>())
}

fn with(arch: &str, functions: &[Function]) -> Entry {
    let empty = Cubin::new(arch).without_functions();
    Entry::sass(arch, functions.iter().cloned().fold(empty, Cubin::function).bytes())
}

fn ptx(arch: &str, kernel: &str) -> Entry {
    Entry::ptx(arch, (8, 5), &ptx_text("8.5", &format!("sm_{arch}"), kernel))
}

fn joined(modules: &[Vec<Entry>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for module in modules {
        bytes.extend(fatbin(module));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes
}

fn library(modules: &[Vec<Entry>]) -> Vec<u8> {
    Elf::shared().section(".text", b"code").section(".nv_fatbin", &joined(modules)).bytes()
}

fn member(modules: &[Vec<Entry>]) -> Member {
    scanned("libx.so", &library(modules), KernelDepth::Resources)
}

fn arch(text: &str) -> Arch {
    text.parse().unwrap()
}

fn sass(text: &str) -> Column {
    Column { relocatable: false, kind: CodeKind::Sass, arch: arch(text) }
}

fn device(capability: &str) -> Device {
    Device::of(capability.parse().unwrap())
}

fn lacking(member: &Member, capability: &str) -> Vec<Hole> {
    holes(member, &device(capability), &Environment::default())
}

fn row_names<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<&'a str> {
    rows.into_iter().map(|row| &*row.name).collect()
}

#[test]
fn global_kernels_are_one_row_and_local_ones_a_row_by_module() {
    let module =
        || vec![with("80", &[function("everyone", 1, 128), function("mine", 0, 128), function("weak", 2, 128)])];
    let member = member(&[module(), module(), module()]);
    let matrix = Matrix::of(&member);
    let rows: Vec<(&str, Option<usize>, usize)> =
        matrix.rows.iter().map(|row| (&*row.name, row.module, row.cells.get(&sass("80")).unwrap().count)).collect();
    assert_eq!(
        rows,
        [("everyone", None, 3), ("mine", Some(0), 1), ("mine", Some(1), 1), ("mine", Some(2), 1), ("weak", None, 3)]
    );
    let totals = matrix.totals(sass("80"));
    assert_eq!((totals.kernels, totals.names, totals.definitions, totals.stubs), (5, 3, 9, 0));
    assert_eq!(totals.code_bytes, 9 * 128);
    assert_eq!(matrix.totals(sass("90")), fatscan::Totals::default());
}

#[test]
fn columns_are_kinds_and_architectures_with_their_suffix_and_linkage() {
    let loadable = joined(&[vec![cubin("90", &["k"]), cubin("90a", &["k"]), cubin("100f", &["k"]), ptx("90", "k")]]);
    let relocatable = joined(&[vec![Entry::sass("90", Cubin::new("90").relocatable().bytes())]]);
    let bytes = Elf::shared().section(".nv_fatbin", &loadable).section("__nv_relfatbin", &relocatable).bytes();
    let matrix = Matrix::of(&scanned("x.so", &bytes, KernelDepth::Resources));
    let columns: Vec<(bool, &str, String)> =
        matrix.columns.iter().map(|c| (c.relocatable, c.kind.name(), c.arch.to_string())).collect();
    assert_eq!(
        columns,
        [
            (false, "sass", "90".to_owned()),
            (false, "sass", "90a".to_owned()),
            (false, "sass", "100f".to_owned()),
            (false, "ptx", "90".to_owned()),
            (true, "sass", "90".to_owned())
        ]
    );
    assert_eq!(matrix.rows.len(), 1);
    assert_eq!(matrix.rows[0].cells.len(), 5);
    // what only a linker takes is missing nowhere
    let only = Elf::shared().section("__nv_relfatbin", &relocatable).bytes();
    let matrix = Matrix::of(&scanned("x.so", &only, KernelDepth::Names));
    assert_eq!((matrix.rows.len(), matrix.missing(CodeKind::Sass, arch("80")).len()), (1, 0));
}

#[test]
fn images_without_kernels_are_no_column() {
    let member = member(&[vec![cubin("80", &["k"]), cubin("90", &[])]]);
    let matrix = Matrix::of(&member);
    assert_eq!((matrix.columns.as_slice(), matrix.unreadable), (&[sass("80")][..], 0));
    assert_eq!(row_names(matrix.missing(CodeKind::Sass, arch("90"))), ["k"]);
}

#[test]
fn kernels_of_one_architecture_only_are_missing_elsewhere() {
    let member = member(&[
        vec![cubin("80", &["a", "b"]), cubin("90", &["a", "b"]), cubin("90a", &["a", "b", "only_90a"])],
        vec![cubin("90a", &["also_90a"])],
    ]);
    let matrix = Matrix::of(&member);
    let missing = |text: &str| row_names(matrix.missing(CodeKind::Sass, arch(text)));
    assert_eq!(missing("80"), ["also_90a", "only_90a"]);
    assert_eq!(missing("90"), ["also_90a", "only_90a"]);
    assert!(missing("90a").is_empty());
    // one that no image is for lacks all
    assert_eq!(missing("75"), ["a", "also_90a", "b", "only_90a"]);
    assert_eq!(matrix.missing(CodeKind::Ptx, arch("90")).len(), 4);

    let held = lacking(&member, "8.6");
    assert_eq!(held.iter().map(|hole| &*hole.name).collect::<Vec<_>>(), ["also_90a", "only_90a"]);
    // its module loads code for sm_80; the other one has nothing for it
    assert_eq!((held[0].loads, held[1].loads), (None, Some(sass("80"))));
    assert!(held.iter().all(|hole| hole.held_by.iter().eq([&sass("90a")]) && hole.module.is_none()));
    // 9.0 picks the more specific image, which has them
    assert_eq!(lacking(&member, "9.0"), []);
    // 12.0 loads nothing at all
    let none = lacking(&member, "12.0");
    assert_eq!(none.len(), 4);
    assert!(none.iter().all(|hole| hole.loads.is_none()));
}

#[test]
fn kernel_of_another_module_that_loads_is_no_hole() {
    let split = member(&[vec![cubin("80", &["k", "rest"]), cubin("90", &["rest"])], vec![cubin("90", &["k"])]]);
    assert_eq!(lacking(&split, "9.0"), []);
    // matched by architecture it is not missing either
    assert!(Matrix::of(&split).missing(CodeKind::Sass, arch("90")).is_empty());
    // a local one is another kernel in another module
    let local = |arch: &str, names: &[&str]| with(arch, &names.iter().map(|n| function(n, 0, 128)).collect::<Vec<_>>());
    let split = member(&[vec![local("80", &["k", "rest"]), local("90", &["rest"])], vec![local("90", &["k"])]]);
    let holes = lacking(&split, "9.0");
    assert_eq!(holes.len(), 1);
    assert_eq!((&*holes[0].name, holes[0].module, holes[0].loads), ("k", Some(0), Some(sass("90"))));
    let missing = Matrix::of(&split);
    let missing = missing.missing(CodeKind::Sass, arch("90"));
    assert_eq!((missing.len(), missing[0].module), (1, Some(0)));
}

#[test]
fn ptx_that_the_driver_would_compile_fills_a_hole() {
    let member = member(&[vec![cubin("80", &["k", "j"]), ptx("90", "k")]]);
    let holes = lacking(&member, "9.0");
    assert_eq!(holes.len(), 1);
    let loads = Column { relocatable: false, kind: CodeKind::Ptx, arch: arch("90") };
    assert_eq!((&*holes[0].name, holes[0].loads), ("j", Some(loads)));
    // without the compiler nothing is loaded
    let environment = Environment { disable_ptx_jit: true, force_ptx_jit: false };
    assert_eq!(fatscan::holes(&member, &device("9.0"), &environment).len(), 2);
}

#[test]
fn objects_of_an_archive_keep_their_kernels_apart() {
    let object = |arch: &str, name: &str| {
        let code = fatbin(&[with(arch, &[function("local", 0, 128), function(name, 1, 128)])]);
        Elf::object().section(".nv_fatbin", &code).bytes()
    };
    let archive = Ar::new(testkit::ar::Flavour::Gnu)
        .member("a.o", &object("80", "first"))
        .member("b.o", &object("80", "second"))
        .bytes();
    let matrix = Matrix::of(&scanned("x.a", &archive, KernelDepth::Names));
    let rows: Vec<(&str, Option<usize>)> = matrix.rows.iter().map(|row| (&*row.name, row.module)).collect();
    assert_eq!(rows, [("first", None), ("local", Some(0)), ("local", Some(1)), ("second", None)]);
}

#[test]
fn stubs_are_small_beside_a_large_copy() {
    let sized = |arch: &str, sizes: [usize; 4]| {
        let functions: Vec<Function> =
            ["away", "close", "large", "small"].iter().zip(sizes).map(|(name, size)| function(name, 1, size)).collect();
        with(arch, &functions)
    };
    // `away` is 128 bytes for sm_80 and 4 KiB for sm_90a; `close` is within four times; `large` is no empty body
    let member = member(&[vec![sized("80", [128, 256, 512, 128]), sized("90a", [4096, 896, 8192, 128])]]);
    let matrix = Matrix::of(&member);
    let stubs: Vec<(&str, Vec<String>)> = matrix
        .rows
        .iter()
        .map(|row| {
            let stubs = row.cells.iter().filter(|(_, cell)| cell.is_stub);
            (&*row.name, stubs.map(|(column, _)| column.arch.to_string()).collect())
        })
        .collect();
    assert_eq!(stubs, [("away", vec!["80".to_owned()]), ("close", vec![]), ("large", vec![]), ("small", vec![])]);
    assert_eq!((matrix.totals(sass("80")).stubs, matrix.totals(sass("90a")).stubs), (1, 0));
    // PTX, which has no code of its own, is none
    let member = self::member(&[vec![sized("90", [4096; 4]), ptx("90", "away")]]);
    let matrix = Matrix::of(&member);
    assert!(matrix.rows.iter().flat_map(|row| row.cells.values()).all(|cell| !cell.is_stub));
}

#[test]
fn cell_of_several_copies_is_that_of_the_largest() {
    let sized = |size: usize, registers: u32| {
        vec![with("80", &[Function { registers, size, shared: 64, ..function("k", 2, size) }])]
    };
    let member = member(&[sized(256, 20), sized(1024, 40), sized(512, 30)]);
    let cell = Matrix::of(&member).rows[0].cells.get(&sass("80")).unwrap().clone();
    assert_eq!((cell.count, cell.code_bytes), (3, 1024));
    let resources = cell.resources.unwrap();
    assert_eq!((resources.registers, resources.shared), (Some(40), 64));
}

// --- the program

const ADD: &str = "_Z3addPfi";

/// A wheel of two libraries: kernels for sm_80 and sm_90a, one for sm_90a only.
fn wheel(folder: &std::path::Path) -> std::path::PathBuf {
    let one = library(&[
        vec![
            with("80", &[function(ADD, 1, 256), function("plain", 1, 128)]),
            with("90a", &[function(ADD, 1, 4096), function("plain", 1, 128), function("_ZN2ns6hopperEv", 1, 512)]),
        ],
        vec![with("80", &[function("own", 0, 128)])],
    ]);
    let two = library(&[vec![cubin("75", &["other"]), ptx("75", "other")]]);
    let zip = Zip::new().deflated("pkg/libone.so", &one).stored("pkg/libtwo.so", &two);
    write(folder, "pkg-1.0-py3-none-any.whl", &zip.bytes())
}

fn kernels(arguments: &[&str]) -> Run {
    run(std::iter::once("kernels").chain(arguments.iter().copied()))
}

#[test]
fn table_sums_by_architecture() {
    let folder = tempfile::tempdir().unwrap();
    let run = kernels(&[text(&wheel(folder.path()))]).ending(0);
    assert_eq!(run.err, "");
    let rows: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    // names, definitions, code, stubs: `add` for sm_80 looks compiled away
    assert!(rows.contains(&vec!["sm_80", "3", "3", "512", "B", "1"]), "{}", run.out);
    assert!(rows.contains(&vec!["sm_90a", "3", "3", "4.7", "kB", "0"]), "{}", run.out);
    assert!(rows.contains(&vec!["compute_75", "1", "1", "-", "0"]), "{}", run.out);
    for name in ["pkg/libone.so", "pkg/libtwo.so"] {
        assert!(run.out.contains(name), "{}", run.out);
    }
}

#[test]
fn matrix_names_each_kernel_with_its_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    let plain = kernels(&["--matrix", text(&path)]).ending(0).out;
    assert!(plain.contains("add(float*, int)") && plain.contains("ns::hopper()"), "{plain}");
    assert!(plain.contains("sm_80 256 B (stub), sm_90a 4.1 kB"), "{plain}");
    assert!(plain.contains("own [local]") && plain.contains("4 of 4") || plain.contains("4 kernels of 4"), "{plain}");
    let mangled = kernels(&["--matrix", "--mangled", text(&path)]).ending(0).out;
    assert!(mangled.contains(ADD) && !mangled.contains("add(float"), "{mangled}");
}

#[test]
fn kernels_of_several_scans_share_their_rows() {
    let cubin = |arch: &str| scanned(arch, &Cubin::new(arch).kernel("_Z3addPfi").bytes(), KernelDepth::Names);
    // each scan keeps the names by itself
    let mut member = cubin("80");
    member.modules.extend(cubin("90").modules);
    member.modules.extend(cubin("90").modules);
    let matrix = Matrix::of(&member);
    let rows: Vec<(&str, Vec<usize>)> =
        matrix.rows.iter().map(|row| (&*row.name, row.cells.values().map(|cell| cell.count).collect())).collect();
    assert_eq!(rows, [("_Z3addPfi", vec![1, 2]), ("k", vec![1, 2])]);
    let totals = matrix.totals(matrix.columns[1]);
    assert_eq!((totals.names, totals.kernels, totals.definitions), (2, 2, 4));
}

#[test]
fn kernels_of_one_architecture_only_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let library = testkit::fatbin(&[
        Entry::sass("80", Cubin::new("80").kernel("both").bytes()),
        Entry::sass("90a", Cubin::new("90a").kernel("both").kernel("own").bytes()),
    ]);
    let path = write(folder.path(), "x.fatbin", &library);
    let only = run(["kernels", "--only", "sm_90a", text(&path)]).ending(0);
    assert!(only.out.contains("  1 kernel of 3 only in images of sm_90a\n  own\n      sm_90a "), "{}", only.out);
    let none = run(["kernels", "--only", "sm_80", text(&path)]).ending(0);
    assert!(none.out.contains("  0 kernels of 3 only in images of sm_80\n"), "{}", none.out);
    let json = run(["kernels", "--only", "90a", "--format", "json", text(&path)]).ending(0).json();
    let kernels = json["artefacts"][0]["members"][0]["kernels"].as_array().unwrap();
    assert_eq!(kernels.iter().map(|kernel| kernel["name"].as_str().unwrap()).collect::<Vec<_>>(), ["own"]);
    // one architecture, that exists, and one question
    for wrong in [&["--only", "8.0;9.0"][..], &["--only", "sm_86a"], &["--only", "90a", "--missing", "80"]] {
        run([&["kernels", text(&path)], wrong].concat()).ending(2);
    }
    run(["kernels", "--missing", "8.0;9.0", text(&path)]).ending(2);
}

#[test]
fn filter_takes_mangled_and_demangled_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    for (filter, expected) in [
        ("^_Z3add", vec![ADD]),
        (r"^add\(float\*", vec![ADD]),
        ("hopper", vec!["_ZN2ns6hopperEv"]),
        ("ns::", vec!["_ZN2ns6hopperEv"]),
        ("^(plain|other)$", vec!["plain", "other"]),
        ("nothing_like_it", vec![]),
    ] {
        let document = kernels(&["--filter", filter, "--format", "json", text(&path)]).ending(0).json();
        let found: Vec<&str> = document["artefacts"][0]["members"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|member| member["kernels"].as_array().unwrap())
            .map(|kernel| kernel["name"].as_str().unwrap())
            .collect();
        assert_eq!(found, expected, "{filter}");
    }
}

#[test]
fn wrong_arguments_end_with_2_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    for (arguments, part) in [
        (["--filter", "("], "--filter"),
        (["--missing", "bad"], "--missing"),
        (["--missing", "gfx942"], "--missing"),
        (["--missing", "lto_90"], "--missing"),
        (["--missing-for", "no such GPU"], "no such GPU"),
        (["--missing-for", "8.9,9.0"], "--missing-for"),
    ] {
        let run = kernels(&[arguments[0], arguments[1], text(&path)]).ending(2);
        assert!(run.err.contains(part) && run.out.is_empty(), "{arguments:?}: {} {}", run.out, run.err);
    }
    kernels(&["--missing", "sm_80", "--missing-for", "8.9", text(&path)]).ending(2);
    kernels(&[text(&folder.path().join("nowhere.so"))]).ending(2);
}

#[test]
fn missing_and_missing_for_name_kernels_of_another_architecture() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    let run = kernels(&["--missing", "sm_80", text(&path)]).ending(0);
    assert!(run.out.contains("1 kernel not in any sm_80 image\n  ns::hopper()\n      in sm_90a\n"), "{}", run.out);
    // a suffix is matched exactly
    let run = kernels(&["--missing", "90", "--format", "csv", text(&path)]).ending(0);
    assert!(run.out.lines().any(|line| line.contains(",plain,")), "{}", run.out);
    for gpu in ["8.9", "RTX 4090"] {
        let run = kernels(&["--missing-for", gpu, text(&path)]).ending(0);
        assert!(run.out.contains("ns::hopper()\n      in sm_90a; loads sm_80\n"), "{}", run.out);
        assert!(!run.out.contains("add(float"), "{}", run.out);
    }
    let document = kernels(&["--missing-for", "9.0", "--format", "json", text(&path)]).ending(0).json();
    let members = document["artefacts"][0]["members"].as_array().unwrap();
    let of = |index: usize| members[index]["kernels"].as_array().unwrap().len();
    // `own` has code for sm_80 only; 9.0 compiles the PTX of the second library
    assert_eq!((of(0), of(1)), (1, 0));
    assert_eq!(members[0]["kernels"][0]["name"], "own");
    assert_eq!(members[0]["kernels"][0]["module"], 1);
}

#[test]
fn csv_and_json_hold_the_figures_only_if_they_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = wheel(folder.path());
    let csv = kernels(&["--resources", "--format", "csv", text(&path)]).ending(0).out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "artefact,member,kernel,demangled,module,kind,arch,relocatable,definitions,code_bytes,stub,registers,stack,\
         shared,local,constant0"
    );
    assert!(lines.iter().all(|line| !line.contains('\r')));
    let start =
        format!("{},pkg/libone.so,_Z3addPfi,\"add(float*, int)\",,sass,sm_80,false,1,256,true,16,0,0,0,", text(&path));
    assert!(lines.iter().any(|line| line.starts_with(&start)), "{csv}");
    let plain = kernels(&["--matrix", "--format", "csv", text(&path)]).ending(0).out;
    assert!(plain.lines().any(|line| line.ends_with("sass,sm_80,false,1,256,true,,,,,")), "{plain}");
    assert_eq!(plain.lines().count(), lines.len());

    let document = kernels(&["--resources", "--format", "json", text(&path)]).ending(0).json();
    let member = &document["artefacts"][0]["members"][0];
    let add = member["kernels"].as_array().unwrap().iter().find(|kernel| kernel["name"] == ADD).unwrap();
    assert_eq!(add["demangled"], "add(float*, int)");
    assert_eq!(add["images"][0]["registers"], 16);
    assert_eq!(add["images"][0]["stub"], true);
    assert_eq!(member["unreadable_images"], 0);
    assert_eq!(member["totals"][0]["definitions"], 3);
    let document = kernels(&["--format", "json", text(&path)]).ending(0).json();
    assert_eq!(document["artefacts"][0]["members"][0]["kernels"].as_array().unwrap().len(), 0);
}

#[test]
fn damage_is_counted_and_ends_with_1() {
    let path = testkit::truth::path("bad_corrupt_zstd.fatbin");
    let run = kernels(&[text(&path)]).ending(1);
    assert!(run.err.contains("FS0308"), "{}", run.err);
    assert!(run.out.contains("1 image could not be read for kernels"), "{}", run.out);
    let path = testkit::truth::path("bad_fatsize_too_big.fatbin");
    kernels(&[text(&path)]).ending(1);
    kernels(&[text(&testkit::truth::path("empty.fatbin"))]).ending(0);
}

#[test]
fn lines_keep_to_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let archs = [
        "50", "52", "60", "61", "70", "75", "80", "86", "87", "89", "90", "90a", "100", "100a", "100f", "103", "103f",
        "110", "120", "120a", "121",
    ];
    let one = |arch: &&str| Entry::sass(arch, Cubin::new(arch).kernel("everywhere").kernel("_Z3addPfi").bytes());
    let mut module: Vec<Entry> = archs.iter().map(one).collect();
    let large = Function { registers: 255, shared: 232_448, ..function("large", 1, 1_234_567) };
    module.push(with("101a", &[large]));
    let code = joined(&[module]);
    let elf = Elf::shared().section(".nv_fatbin", &code).section("__nv_relfatbin", &code).bytes();
    write(folder.path(), "libmany.so", &elf);
    for arguments in [
        vec!["kernels", "libmany.so"],
        vec!["kernels", "--matrix", "libmany.so"],
        vec!["kernels", "--resources", "libmany.so"],
        vec!["kernels", "--missing", "sm_101a", "libmany.so"],
        vec!["kernels", "--missing-for", "RTX PRO 6000 Blackwell Server Edition", "libmany.so"],
        vec!["kernels", "--missing-for", "7.2", "libmany.so"],
    ] {
        let run = narrow(folder.path(), &arguments);
        assert!([Some(0), Some(2)].contains(&run.code), "{arguments:?}: {}", run.err);
    }
    // in a pipe a line stays a line
    let mut command = program();
    command.current_dir(folder.path()).args(["kernels", "--missing", "sm_101a", "libmany.so"]);
    let run = run::finish(command).ending(0);
    assert!(run.out.lines().any(|line| line.len() > 150), "{}", run.out);
}

#[test]
fn hostile_names_of_kernels_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a\u{1b}[31mb", "c\nerror: faked", "d,\"e\"", "f\u{202e}g"];
    let path = write(folder.path(), "x.so", &library(&[vec![cubin("90", &names)]]));
    for arguments in [vec!["--matrix"], vec!["--missing", "sm_80"], vec!["--resources"]] {
        let run = kernels(&[&arguments[..], &[text(&path)]].concat()).ending(0);
        assert!(!run.out.contains('\u{1b}') && !run.out.contains('\u{202e}'), "{}", run.out);
        assert!(!run.out.lines().any(|line| line.starts_with("error: faked")), "{}", run.out);
    }
    let document = kernels(&["--matrix", "--format", "json", text(&path)]).ending(0).json();
    let mut own: Vec<&str> = document["artefacts"][0]["members"][0]["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| kernel["name"].as_str().unwrap())
        .collect();
    own.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(own, expected);
}
