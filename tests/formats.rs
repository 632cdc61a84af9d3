//! Containers and oddities that the fixtures lack, written by hand: what is found, under which section, and what is
//! not taken for device code.
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

use common::{Random, all_images, codes, errors, scan, words};
use fatscan::{ArtefactKind, Linkage, Member, Options, Report, Source, scan_paths};
use fatscan_containers::{Format, Layout, Ranges, SliceStream, Tap};
use testkit::ar::Flavour;
use testkit::elf::{Names, Section, Table, machine};
use testkit::fatbin::{Codec, concat, kind, wrapper};
use testkit::macho::{cpu, universal};
use testkit::zip::method;
use testkit::{Ar, Coff, Cubin, Elf, Entry, Fatbin, MachO, Pe, Zip, ZipMember, fatbin, ptx_text};

/// A fatbin of one cubin.
fn one(arch: &str) -> Vec<u8> {
    fatbin(&[Entry::sass(arch, Cubin::new(arch).bytes())])
}

/// A fatbin of one cubin and the PTX of the same architecture, both compressed.
fn pair(arch: &str) -> Vec<u8> {
    fatbin(&[
        Entry::sass(arch, Cubin::new(arch).bytes()).compressed(Codec::Zstd),
        Entry::ptx(arch, (8, 5), &ptx_text("8.5", &format!("sm_{arch}"), "k")).compressed(Codec::Lz4),
    ])
}

/// Scans what must be found without a word.
fn clean(name: &str, bytes: &[u8]) -> Member {
    let (member, diagnostics) = scan(name, bytes);
    assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
    member.unwrap_or_else(|| panic!("{name}: nothing found"))
}

/// Section and linkage of every module.
fn labels(member: &Member) -> Vec<(Option<&str>, Linkage)> {
    member.modules.iter().map(|module| (module.section.as_deref(), module.images[0].linkage)).collect()
}

/// The name of the object that holds a module.
fn object_of(module: &fatscan::Module) -> String {
    module.object.as_ref().unwrap().name.clone()
}

/// Writes a file of that name and scans its path.
fn scan_file(name: &str, bytes: &[u8]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    scan_paths(&[path], &Options::default())
}

/// Path and words of every member of the first artefact.
fn members(report: &Report) -> Vec<(String, Vec<String>)> {
    let artefact = report.artefacts.first().expect("an artefact");
    artefact.members.iter().map(|member| (member.path.clone(), words(Some(member)))).collect()
}

// --- host files

#[test]
fn elf_of_every_host_names_its_machine() {
    let base = Elf::shared().section(".nv_fatbin", &pair("90a"));
    for (elf, machine) in [
        (base.clone(), "x86_64"),
        (base.clone().machine(machine::AARCH64), "aarch64"),
        (base.clone().narrow(), "x86"),
        (Elf::object().section(".nv_fatbin", &pair("90a")).machine(machine::AARCH64), "aarch64"),
    ] {
        let member = clean("x.so", &elf.bytes());
        assert_eq!((member.format, member.machine), ("elf", Some(machine)));
        assert_eq!(words(Some(&member)), ["sass sm_90a", "ptx compute_90a"]);
        assert_eq!(labels(&member), [(Some(".nv_fatbin"), Linkage::Loadable)]);
        assert_eq!(member.modules[0].offset, elf.offset_of(".nv_fatbin"));
    }
}

#[test]
fn relocatable_section_is_relocatable_and_others_are_loadable() {
    let elf = Elf::shared()
        .section(".nv_fatbin", &one("90a"))
        .section("__nv_relfatbin", &pair("80"))
        .section(".rodata", &one("75"))
        .section(".cask_resource", &one("86"));
    let member = clean("x.so", &elf.bytes());
    assert_eq!(
        labels(&member),
        [
            (Some(".nv_fatbin"), Linkage::Loadable),
            (Some("__nv_relfatbin"), Linkage::Relocatable),
            (Some(".rodata"), Linkage::Loadable),
            (Some(".cask_resource"), Linkage::Loadable),
        ]
    );
    // an unlinked cubin in `.nv_fatbin` is labelled by its section nevertheless, as old cuBLAS has it
    let unlinked = fatbin(&[Entry::sass("60", Cubin::abi7("60").relocatable().bytes())]);
    let member = clean("x.so", &Elf::shared().section(".nv_fatbin", &unlinked).bytes());
    assert_eq!(labels(&member), [(Some(".nv_fatbin"), Linkage::Loadable)]);
}

#[test]
fn nobits_fatbin_section_is_no_code_and_no_damage() {
    // `objcopy --only-keep-debug` leaves the section without its bytes
    let elf = Elf::shared().with(Section::nobits(".nv_fatbin", 1 << 20)).section(".debug_info", &[9; 4000]);
    let (member, diagnostics) = scan("x.so.debug", &elf.bytes());
    assert_eq!((member, diagnostics), (None, vec![]));
    // and it labels nothing that lies where it would be
    let elf = Elf::shared().with(Section::nobits(".nv_fatbin", 1 << 20)).section(".rodata", &one("90"));
    let member = clean("x.so", &elf.bytes());
    assert_eq!(labels(&member), [(Some(".rodata"), Linkage::Loadable)]);
}

#[test]
fn stripped_section_table_leaves_the_code_and_an_unknown_linkage() {
    let elf = Elf::shared().section(".nv_fatbin", &pair("90a")).table(Table::None);
    let member = clean("x.so", &elf.bytes());
    assert_eq!(words(Some(&member)), ["sass sm_90a", "ptx compute_90a"]);
    assert_eq!(labels(&member), [(None, Linkage::Unknown)]);
}

#[test]
fn damaged_section_table_is_told_and_hides_nothing() {
    let mut elf = Elf::shared().section(".nv_fatbin", &pair("90a"));
    elf.stated_shoff = Some(1 << 40);
    let (member, diagnostics) = scan("x.so", &elf.bytes());
    assert_eq!(words(member.as_ref()), ["sass sm_90a", "ptx compute_90a"]);
    // a table behind the end is what a cut leaves
    assert_eq!(errors(&diagnostics), ["FS0216"]);
}

#[test]
fn pe_sections_are_named_by_eight_bytes() {
    for (pe, machine) in [(Pe::dll(), "x86_64"), (Pe::dll32(), "x86")] {
        let pe =
            pe.section(".text", &[0xCC; 700]).section(".nv_fatbin", &pair("90a")).section("__nv_relfatbin", &one("80"));
        let member = clean("x.dll", &pe.bytes());
        assert_eq!((member.format, member.machine), ("pe", Some(machine)));
        assert_eq!(labels(&member), [(Some(".nv_fatb"), Linkage::Loadable), (Some("__nv_rel"), Linkage::Relocatable)]);
        assert_eq!(words(Some(&member)), ["sass sm_90a", "ptx compute_90a", "sass sm_80"]);
    }
}

#[test]
fn coff_objects_have_long_names() {
    for coff in [Coff::new(), Coff::new().big()] {
        let coff = coff
            .section(".nv_fatbin", &pair("90a"))
            .section("__nv_relfatbin", &one("80"))
            .section(".nv_fatb", &one("75"));
        let member = clean("x.obj", &coff.bytes());
        assert_eq!((member.format, member.machine), ("coff", Some("x86_64")));
        assert_eq!(
            labels(&member),
            [
                (Some(".nv_fatbin"), Linkage::Loadable),
                (Some("__nv_relfatbin"), Linkage::Relocatable),
                (Some(".nv_fatb"), Linkage::Loadable)
            ]
        );
    }
}

#[test]
fn macho_thin_and_universal_files_are_read() {
    let thin = MachO::dylib().section("__TEXT", "__text", &[0x90; 100]).fatbin(&pair("35")).bytes();
    let member = clean("x.dylib", &thin);
    assert_eq!((member.format, member.machine), ("macho", Some("x86_64")));
    assert_eq!(labels(&member), [(Some("__nv_fatbin"), Linkage::Loadable)]);
    assert_eq!(words(Some(&member)), ["sass sm_35", "ptx compute_35"]);

    let arm = MachO::dylib().cpu(cpu::ARM64).fatbin(&one("50")).bytes();
    for wide in [false, true] {
        let file = universal(&[(cpu::X86_64, thin.clone()), (cpu::ARM64, arm.clone())], wide);
        let member = clean("x.dylib", &file);
        assert_eq!((member.format, member.modules.len()), ("macho", 2));
        assert_eq!(words(Some(&member)), ["sass sm_35", "ptx compute_35", "sass sm_50"]);
        assert!(member.modules.iter().all(|module| module.section.as_deref() == Some("__nv_fatbin")));
        // slices are told apart, each with offsets of its own
        assert_ne!(member.modules[0].object, member.modules[1].object);
        assert_eq!(member.size, file.len() as u64);
    }
}

#[test]
fn wrappers_tell_which_fatbins_the_runtime_is_given() {
    let fatbins = [one("90"), one("80")].concat();
    let second = one("90").len() as u64;
    let place = |elf: &Elf| elf.offset_of(".nv_fatbin");
    let build = |address: u64| {
        Elf::shared()
            .section(".nv_fatbin", &fatbins)
            .section(".lrodata", &one("100"))
            .section(".nvFatBinSegment", &wrapper(1, address))
    };
    let wrapped = |elf: &Elf| -> Vec<Option<bool>> {
        clean("x.so", &elf.bytes()).modules.iter().map(|module| module.wrapped).collect()
    };
    let at = place(&build(0));
    assert_eq!(wrapped(&build(at)), [Some(true), Some(false), Some(false)]);
    assert_eq!(wrapped(&build(at + second)), [Some(false), Some(true), Some(false)]);
    // version 2 is a device link
    let linked = Elf::shared().section(".nv_fatbin", &fatbins).section(".nvFatBinSegment", &wrapper(2, at));
    assert_eq!(place(&linked), at);
    assert_eq!(wrapped(&linked), [Some(true), Some(false)]);
    // pointers left to relocations, and objects: nothing can be told
    assert_eq!(wrapped(&build(0)), [None; 3]);
    let object = Elf::object().section(".nv_fatbin", &fatbins).section(".nvFatBinSegment", &wrapper(1, 0));
    assert_eq!(wrapped(&object), [None; 2]);
    // in a PE image they are addresses with the image base
    let pe = |address: u64| Pe::dll().section(".nv_fatb", &fatbins).section(".nvFatBi", &wrapper(1, address)).bytes();
    let address = 0x1_8000_0000 + 0x1000;
    let member = clean("x.dll", &pe(address));
    assert_eq!(member.modules.iter().map(|module| module.wrapped).collect::<Vec<_>>(), [Some(true), Some(false)]);
    let member = clean("x.dll", &pe(address + second));
    assert_eq!(member.modules.iter().map(|module| module.wrapped).collect::<Vec<_>>(), [Some(false), Some(true)]);
}

#[test]
fn wrappers_of_a_32_bit_host_are_16_bytes() {
    // magic, version, and two pointers of 4 bytes
    let fatbins = [one("20"), one("30")].concat();
    let narrow = |address: u32| {
        let mut record = wrapper(1, u64::from(address));
        record.truncate(16);
        Elf::shared().narrow().section(".nv_fatbin", &fatbins).section(".nvFatBinSegment", &record)
    };
    let at = narrow(0).offset_of(".nv_fatbin") as u32;
    let member = clean("x.so", &narrow(at).bytes());
    assert_eq!(member.modules.iter().map(|module| module.wrapped).collect::<Vec<_>>(), [Some(true), Some(false)]);
}

// --- static archives

#[test]
fn archives_of_every_flavour_name_their_objects() {
    let object = |arch: &str| Elf::object().section(".nv_fatbin", &one(arch)).bytes();
    let long = "a_name_of_more_than_fifteen_characters.o";
    for flavour in [Flavour::Gnu, Flavour::Bsd, Flavour::Coff] {
        for symbols in [false, true] {
            let mut ar = Ar::new(flavour)
                .member("a.o", &object("80"))
                .member("odd.txt", b"odd")
                .member(long, &object("90a"))
                .member("c.o", &object("75"));
            if symbols {
                ar = ar.symbols(&["f", "g"]);
            }
            let (member, diagnostics) = scan("x.a", &ar.bytes());
            assert!(errors(&diagnostics).is_empty(), "{flavour:?}: {diagnostics:?}");
            let member = member.unwrap();
            assert_eq!((member.format, member.machine), ("archive", Some("x86_64")), "{flavour:?}");
            let found: Vec<_> =
                member.modules.iter().map(|module| (object_of(module), module.section.as_deref().unwrap())).collect();
            let found: Vec<_> = found.iter().map(|(object, section)| (object.as_str(), *section)).collect();
            assert_eq!(found, [("a.o", ".nv_fatbin"), (long, ".nv_fatbin"), ("c.o", ".nv_fatbin")], "{flavour:?}");
            assert_eq!(words(Some(&member)), ["sass sm_80", "sass sm_90a", "sass sm_75"], "{flavour:?}");
        }
    }
}

#[test]
fn fatbins_at_odd_offsets_of_an_archive_are_found() {
    // the objects start at even offsets, their sections where they like
    let object = Elf::object().with(Section::new(".nv_fatbin", &one("80")).align(1)).section(".x", b"x");
    for junk in 1..9usize {
        let elf = Elf::object().with(Section::new(".junk", &vec![1; junk]).align(1)).with(object.sections[0].clone());
        let ar = Ar::new(Flavour::Gnu).member("a.o", &elf.bytes()).bytes();
        let member = clean("x.a", &ar);
        assert_eq!(member.modules[0].offset, elf.offset_of(".nv_fatbin"), "{junk}");
    }
    let mut ar = Ar::new(Flavour::Gnu).member("a.o", &object.bytes());
    ar.members[0].1.push(0);
    ar.unpadded_end = true;
    assert_eq!(words(Some(&clean("x.a", &ar.bytes()))), ["sass sm_80"]);
}

#[test]
fn archive_of_coff_objects_is_read() {
    let object = Coff::new().section(".nv_fatbin", &one("89")).bytes();
    let member = clean("x.lib", &Ar::new(Flavour::Coff).symbols(&["f"]).member("dir\\x.obj", &object).bytes());
    assert_eq!(object_of(&member.modules[0]), "dir\\x.obj");
    assert_eq!(labels(&member), [(Some(".nv_fatbin"), Linkage::Loadable)]);
}

#[test]
fn thin_archive_says_that_its_objects_are_elsewhere() {
    let ar = Ar::new(Flavour::Thin).member("dir/a.o", &Elf::object().bytes()).bytes();
    let (member, diagnostics) = scan("x.a", &ar);
    assert_eq!((member, codes(&diagnostics)), (None, vec!["FS0208"]));
    assert!(errors(&diagnostics).is_empty());
}

#[test]
fn archive_with_a_damaged_header_is_searched_on() {
    let object = |arch: &str| Elf::object().section(".nv_fatbin", &one(arch)).bytes();
    let mut bytes = Ar::new(Flavour::Gnu).member("a.o", &object("80")).member("b.o", &object("90")).bytes();
    let second = 8 + 60 + object("80").len().next_multiple_of(2);
    assert_eq!(&bytes[second..second + 4], b"b.o/");
    bytes[second + 58] = b'?';
    let (member, diagnostics) = scan("x.a", &bytes);
    assert_eq!(words(member.as_ref()), ["sass sm_80", "sass sm_90"]);
    assert!(codes(&diagnostics).contains(&"FS0207"), "{diagnostics:?}");
    assert!(diagnostics.iter().any(|d| d.at.to_string().ends_with(&format!("@{second:#x}"))), "{diagnostics:?}");
}

// --- zip

#[test]
fn zip_members_of_every_kind_are_read() {
    let library = Elf::shared().section(".nv_fatbin", &pair("90a")).bytes();
    let zip = Zip::new()
        .with(ZipMember::directory("pkg"))
        .with(ZipMember::stored("pkg/a_stored.so", &library))
        .with(ZipMember::deflated("pkg/b_deflated.so", &library))
        .with(ZipMember::deflated("pkg/c_zip64.so", &library).zip64())
        .with(ZipMember::deflated("pkg/d_descriptor.so", &library).data_descriptor())
        .with(ZipMember::deflated("pkg/e_both.so", &library).zip64().data_descriptor())
        .with(ZipMember::stored("pkg/f_stored_zip64.so", &library).zip64())
        .with(ZipMember::stored("pkg/plain.py", b"import torch\n"))
        .with(ZipMember::deflated("pkg/g_native.so", &Elf::shared().section(".text", &[1; 99]).bytes()));
    for (prefix, include, end64, comment) in [
        (false, false, false, false),
        (true, false, false, true),
        (true, true, false, false),
        (false, false, true, true),
    ] {
        let mut zip = zip.clone();
        zip.zip64_end = end64;
        zip.offsets_include_prefix = include;
        if prefix {
            // the file is this archive by its end only: a reader that goes forward finds another one
            zip.prefix = b"PK\x03\x04junk that begins like one\n".to_vec();
        }
        if comment {
            zip.comment = b"a comment".to_vec();
        }
        let report = scan_file("x.zip", &zip.bytes());
        let what = format!("prefix {prefix}, include {include}, zip64 end {end64}");
        // what stands before an archive is named
        let said: &[&str] = if prefix { &["FS0212"] } else { &[] };
        assert_eq!(codes(&report.diagnostics), said, "{what}: {:?}", report.diagnostics);
        let artefact = &report.artefacts[0];
        assert_eq!((artefact.kind, artefact.members_without_code), (ArtefactKind::Zip, 1), "{what}");
        let found = members(&report);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "pkg/a_stored.so",
                "pkg/b_deflated.so",
                "pkg/c_zip64.so",
                "pkg/d_descriptor.so",
                "pkg/e_both.so",
                "pkg/f_stored_zip64.so"
            ],
            "{what}"
        );
        for member in &artefact.members {
            assert_eq!(words(Some(member)), ["sass sm_90a", "ptx compute_90a"], "{what}");
            assert_eq!(member.size, library.len() as u64, "{what}");
            assert_eq!(labels(member), [(Some(".nv_fatbin"), Linkage::Loadable)], "{what}");
        }
    }
}

#[test]
fn wheel_is_a_wheel_by_its_name() {
    let library = Elf::shared().section(".nv_fatbin", &one("90a")).bytes();
    let wheel = Zip::wheel("x", "1.0", "py3-none-any", &[ZipMember::deflated("x/lib.so", &library)]).bytes();
    let report = scan_file("x-1.0-py3-none-any.whl", &wheel);
    assert_eq!(report.artefacts[0].kind, ArtefactKind::Wheel);
    assert_eq!(report.artefacts[0].size, wheel.len() as u64);
    assert_eq!(scan_file("x.jar", &wheel).artefacts[0].kind, ArtefactKind::Zip);
}

#[test]
fn same_names_in_one_archive_stay_apart() {
    let library = |arch: &str| Elf::shared().section(".nv_fatbin", &one(arch)).bytes();
    let zip = Zip::new()
        .deflated("a/sm_90/lib.so", &library("90"))
        .deflated("a/sm_80/lib.so", &library("80"))
        // the very same path twice: both are in the file
        .deflated("b/lib.so", &library("75"))
        .deflated("b/lib.so", &library("86"));
    let report = scan_file("x.whl", &zip.bytes());
    // which of them is installed depends on the installer
    assert_eq!(codes(&report.diagnostics), ["FS0214"; 2]);
    let found = members(&report);
    assert_eq!(
        found,
        [
            ("a/sm_80/lib.so".to_owned(), vec!["sass sm_80".to_owned()]),
            ("a/sm_90/lib.so".to_owned(), vec!["sass sm_90".to_owned()]),
            ("b/lib.so".to_owned(), vec!["sass sm_75".to_owned()]),
            ("b/lib.so".to_owned(), vec!["sass sm_86".to_owned()]),
        ]
    );
}

#[test]
fn members_that_cannot_be_unpacked_are_named_and_the_others_read() {
    let library = Elf::shared().section(".nv_fatbin", &one("90")).bytes();
    let zip = Zip::new()
        .with(ZipMember::deflated("secret.so", &library).encrypted())
        .with(ZipMember::deflated("strange.so", &library).method(method::LZMA))
        .with(ZipMember::deflated("good.so", &library));
    let report = scan_file("x.whl", &zip.bytes());
    assert_eq!(members(&report), [("good.so".to_owned(), vec!["sass sm_90".to_owned()])]);
    let said: Vec<(String, bool, bool)> = report
        .diagnostics
        .iter()
        .map(|d| (d.code.to_string(), d.at.to_string()))
        .map(|(code, at)| (code, at.ends_with("x.whl!secret.so"), at.ends_with("x.whl!strange.so")))
        .collect();
    assert_eq!(said, [("FS0205".to_owned(), true, false), ("FS0204".to_owned(), false, true)]);
}

#[test]
fn archive_in_an_archive_is_opened() {
    let inner = Zip::new().deflated("lib.so", &Elf::shared().section(".nv_fatbin", &one("90")).bytes()).bytes();
    for outer in [Zip::new().deflated("inner.zip", &inner), Zip::new().stored("inner.zip", &inner)] {
        let report = scan_file("x.whl", &outer.bytes());
        assert_eq!(report.diagnostics, []);
        assert_eq!(report.artefacts.len(), 1);
        assert_eq!(members(&report), [("inner.zip!lib.so".to_owned(), vec!["sass sm_90".to_owned()])]);
    }
}

// --- fatbins

#[test]
fn zero_padding_between_fatbins_is_no_damage() {
    for padding in (0..=248).step_by(8) {
        let bytes = [one("80"), vec![0; padding], fatbin(&[]), vec![0; padding], one("90a"), vec![0; padding]].concat();
        for (name, bytes) in [
            ("x.fatbin", bytes.clone()),
            ("x.so", Elf::shared().section(".nv_fatbin", &bytes).bytes()),
            ("x.dll", Pe::dll().section(".nv_fatb", &bytes).bytes()),
        ] {
            let member = clean(name, &bytes);
            assert_eq!(words(Some(&member)), ["sass sm_80", "sass sm_90a"], "{name} {padding}");
            assert_eq!((member.modules.len(), member.empty_fatbins), (2, 1), "{name} {padding}");
        }
    }
}

#[test]
fn empty_fatbins_are_counted_and_are_no_modules() {
    let bytes = Elf::shared().section(".nv_fatbin", &fatbin(&[]).repeat(3)).bytes();
    let member = clean("x.so", &bytes);
    assert_eq!((member.modules.len(), member.empty_fatbins), (0, 3));
}

#[test]
fn members_of_a_concatenated_entry_share_its_bytes_by_length() {
    let text = |target: &str, count: usize| ptx_text("9.5", target, &"k".repeat(count));
    let parts = [
        Entry::ptx("90a", (9, 5), &text("sm_90a", 1)).name("n.cu"),
        Entry::ptx("100f", (9, 5), &text("sm_100f", 300)).options("-v"),
        Entry::sass("80", Cubin::new("80").bytes()),
    ];
    let lengths: Vec<u64> = parts.iter().map(|part| part.payload.len().next_multiple_of(8) as u64).collect();
    for codec in [Codec::Zstd, Codec::Lz4, Codec::Zlib, Codec::Lz4Frame] {
        let whole = concat(&parts, codec);
        let stored = whole.payload.len() as u64;
        let bytes = fatbin(&[Entry::sass("75", Cubin::new("75").bytes()), whole, Entry::lto("90", vec![1; 16])]);
        let member = clean("x.so", &Elf::shared().section(".nv_fatbin", &bytes).bytes());
        let images = all_images(Some(&member));
        assert_eq!(
            words(Some(&member)),
            ["sass sm_75", "ptx compute_90a", "ptx compute_100f", "sass sm_80", "lto-ir lto_90"]
        );
        let shares: Vec<u64> = images[1..4].iter().map(|image| image.stored_bytes).collect();
        assert_eq!(shares.iter().sum::<u64>(), stored, "{codec:?}: {shares:?}");
        let total: u64 = lengths.iter().sum();
        assert_eq!(shares[..2], [stored * lengths[0] / total, stored * lengths[1] / total], "{codec:?}");
        assert_eq!(images[1..4].iter().map(|image| image.unpacked_bytes.unwrap()).collect::<Vec<_>>(), lengths);
        assert_eq!(images[1..4].iter().map(|image| image.concat).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
        assert_eq!((images[1].identifier.as_deref(), images[2].options.as_deref()), (Some("n.cu"), Some("-v")));
        // one word for the compression of all
        assert!(images[1..4].iter().all(|image| image.compression == images[1].compression));
    }
}

#[test]
fn every_kind_of_entry_has_its_word() {
    let entries = [
        Entry::new(kind::OLD_CUBIN, 10, vec![1; 8]),
        Entry::new(0x10, 90, vec![1; 8]),
        Entry::new(kind::INDEX, 0, vec![1; 8]),
        Entry::new(kind::RELOCATABLE_PTX, 90, ptx_text("8.5", "sm_90", "k").into_bytes()).isa(8, 5),
        Entry::new(kind::TILE_IR, 100, b"\x7fTileIR\0\x0d\x05\0\0".to_vec()).isa(0x0d05, 0),
        Entry::lto("90a", vec![0xED, 0x43, 0x4E, 0x7F]),
        Entry::new(0x8000, 120, vec![1; 8]),
    ];
    let member = clean("x.so", &Elf::shared().section(".nv_fatbin", &fatbin(&entries)).bytes());
    assert_eq!(
        words(Some(&member)),
        ["other sm_10", "other sm_90", "other", "ptx compute_90", "tile-ir sm_100", "lto-ir lto_90a", "other sm_120"]
    );
    let linkages: Vec<Linkage> = all_images(Some(&member)).iter().map(|image| image.linkage).collect();
    let (load, link) = (Linkage::Loadable, Linkage::Relocatable);
    assert_eq!(linkages, [load, load, load, link, load, link, load]);
}

#[test]
fn both_suffix_bits_read_as_a_and_several_codec_bits_as_the_lowest() {
    // as cuobjdump does
    let entry = Entry::sass("100", vec![0; 8]).flag(testkit::fatbin::flag::ARCH_A | testkit::fatbin::flag::ARCH_F);
    let mut two = Entry::sass("90", vec![7; 64]).compressed(Codec::Zlib);
    two.flags |= testkit::fatbin::flag::ZSTD;
    let (member, _) = scan("x.so", &Elf::shared().section(".nv_fatbin", &fatbin(&[entry, two])).bytes());
    let images = all_images(member.as_ref());
    assert_eq!(images[0].arch_name().unwrap(), "sm_100a");
    assert_eq!(images[1].compression.name(), "zlib");
}

#[test]
fn entries_as_cuda_8_wrote_them_are_read() {
    // PTX header of 72 bytes, padding of 8 behind a payload whose size is a multiple of 8
    let mut entry = Entry::ptx("60", (5, 0), &ptx_text("5.0", "sm_60", "k")).compressed(Codec::Lz4);
    entry.extra_padding = 8;
    let bytes = fatbin(&[entry, Entry::sass("60", Cubin::abi7("60").bytes()).isa(1, 7)]);
    let member = clean("x.so", &Elf::shared().section(".nv_fatbin", &bytes).bytes());
    assert_eq!(words(Some(&member)), ["ptx compute_60", "sass sm_60"]);
}

// --- what is no device code

#[test]
fn false_magics_in_program_code_give_nothing() {
    let mut random = Random::new(5);
    let magic = [0x50, 0xED, 0x55, 0xBA];
    let mut code = Vec::new();
    for _ in 0..400 {
        // `mov eax, 0xBA55ED50` and whatever follows
        code.push(0xB8);
        code.extend(magic);
        code.extend(random.bytes(91));
    }
    // right magic, wrong version or header size, before what would be a good entry
    let good = one("90");
    for (at, value) in [(4usize, 2u8), (4, 0), (5, 1), (6, 17), (6, 0), (7, 1)] {
        let mut bad = good[..80].to_vec();
        bad[at] = value;
        code.extend(bad);
        code.extend([0xCC; 32]);
    }
    // right header, no entry behind it
    let mut header = good[..16].to_vec();
    header.extend([0xAB; 100]);
    code.extend(header);
    // wrapper magics and cubin magics as immediates
    for word in [&[0xB1, 0x43, 0x62, 0x46][..], b"\x7fELF", b"CCOB", &[0x10, 0xFF, 0x10, 0xAD]] {
        code.extend(word);
        code.extend(random.bytes(60));
    }
    let (member, diagnostics) = scan("x.so", &Elf::shared().section(".text", &code).bytes());
    assert_eq!((member, diagnostics), (None, vec![]));
    // and hide nothing that follows
    let elf = Elf::shared().section(".text", &code).section(".nv_fatbin", &one("90"));
    assert_eq!(words(Some(&clean("x.so", &elf.bytes()))), ["sass sm_90"]);
}

#[test]
fn host_elf_inside_a_library_is_not_a_cubin() {
    let inner = Elf::shared().section(".text", &[0x90; 50]).bytes();
    let (member, diagnostics) = scan("x.so", &Elf::shared().section(".data", &inner).bytes());
    assert_eq!((member, diagnostics), (None, vec![]));
}

#[test]
fn messages_of_compilers_are_no_ptx() {
    let strings: [&[u8]; 8] = [
        b"PTX with .target sm_90a can be compiled only for that architecture\0",
        b".version directive must precede .target directive\0",
        b"Unsupported .version %s; current version is '%s'\0",
        b".version\0.target\0.address_size\0",
        b".version 8.5\0.target sm_90\0",
        b"\t.version \0sm_\0.target sm_\0",
        b".version 8.5 is required for .target sm_100f\0",
        b".version %u.%u\n.target sm_%u\n.address_size %u\n\0",
    ];
    let (member, diagnostics) = scan("libnvrtc.so", &Elf::shared().section(".rodata", &strings.concat()).bytes());
    assert_eq!((member, diagnostics), (None, vec![]));
}

#[test]
fn target_far_behind_the_version_is_no_ptx() {
    let near = format!(".version 8.5\n//{}\n.target sm_90\n", "x".repeat(400));
    let far = format!(".version 8.5\n//{}\n.target sm_90\n", "x".repeat(600));
    let library = |text: &str| Elf::shared().section(".rodata", text.as_bytes()).bytes();
    assert_eq!(words(scan("x.so", &library(&near)).0.as_ref()), ["ptx compute_90"]);
    assert_eq!(scan("x.so", &library(&far)).0, None);
}

// --- code outside fatbins

#[test]
fn ptx_without_newlines_is_found() {
    let text = b".version 3.2.target sm_35.address_size 64 .visible .entry k() { ret; }\0";
    let elf = Elf::shared().section(".rodata", &[&b"before\0"[..], text, b"after\0"].concat());
    let member = clean("x.so", &elf.bytes());
    assert_eq!(words(Some(&member)), ["ptx compute_35"]);
    let image = &member.modules[0].images[0];
    assert_eq!(image.version, Some((3, 2)));
    assert_eq!(image.stored_bytes, text.len() as u64 - 1);
    assert_eq!(image.offset, elf.offset_of(".rodata") + 7);
}

#[test]
fn ptx_text_ends_where_text_ends_or_the_next_begins() {
    let first = ".version 8.5\n.target sm_90a\n.address_size 64\n.entry a() { ret; }\n";
    let second = ".version 7.0\n.target sm_80, debug\n.address_size 64\n.entry b() { ret; }\n";
    let (a, b) = (first.len() as u64, second.len() as u64);
    for (bytes, sizes) in [
        ([first.as_bytes(), second.as_bytes()].concat(), [a, b]),
        ([first.as_bytes(), b"\0", second.as_bytes(), b"\0"].concat(), [a, b]),
        ([first.as_bytes(), b"\x01\x02", second.as_bytes(), b"\x7f"].concat(), [a, b]),
        // a comment before the second belongs to the first
        ([first.as_bytes(), b"// more\n", second.as_bytes()].concat(), [a + 8, b]),
    ] {
        let elf = Elf::shared().section(".rodata", &[&bytes[..], &[0]].concat()).section(".data", &[0xFF, 0, 1]);
        let member = clean("x.so", &elf.bytes());
        assert_eq!(words(Some(&member)), ["ptx compute_90a", "ptx compute_80"]);
        assert_eq!(all_images(Some(&member)).iter().map(|image| image.stored_bytes).collect::<Vec<_>>(), sizes);
        assert!(member.modules.iter().all(|module| module.source == Source::PtxText));
    }
}

#[test]
fn ptx_with_carriage_returns_and_comments_is_found() {
    let text = "\r\n\r\n// a\r\n/* b */ .version 8.5\r\n/* c\r\n */\r\n.target sm_100f\r\n.address_size 64\r\n";
    let member = clean("x.ptx", text.as_bytes());
    assert_eq!((member.format, words(Some(&member))), ("ptx", vec!["ptx compute_100f".to_owned()]));
    let member = clean("x.ptx", [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat().as_slice());
    assert_eq!(member.format, "ptx");
}

#[test]
fn debug_ptx_inside_a_bare_cubin_is_not_reported() {
    let cubin = Cubin::new("90a").debug_ptx(&ptx_text("8.5", "sm_90a", "k")).bytes();
    let elf =
        Elf::shared().section(".rodata", &[&cubin[..], &ptx_text("8.0", "sm_80", "k").into_bytes(), &[0]].concat());
    let member = clean("x.so", &elf.bytes());
    assert_eq!(words(Some(&member)), ["sass sm_90a", "ptx compute_80"]);
    let bare = clean("x.cubin", &cubin);
    assert_eq!(words(Some(&bare)), ["sass sm_90a"]);
    // nor the PTX inside a fatbin's own payload
    let plain = fatbin(&[Entry::ptx("90", (8, 5), &ptx_text("8.5", "sm_90", "k")), Entry::sass("90a", cubin)]);
    let member = clean("x.so", &Elf::shared().section(".nv_fatbin", &plain).bytes());
    assert_eq!(
        (member.modules.len(), words(Some(&member))),
        (1, vec!["ptx compute_90".to_owned(), "sass sm_90a".to_owned()])
    );
}

#[test]
fn bare_cubins_in_data_are_read_with_their_suffix() {
    let cubins = [
        (Cubin::new("100f"), "sass sm_100f", Linkage::Loadable),
        (Cubin::new("100a").toolkit(129), "sass sm_100a", Linkage::Loadable),
        (Cubin::abi7("90a"), "sass sm_90a", Linkage::Loadable),
        (Cubin::new("90").relocatable(), "sass sm_90", Linkage::Relocatable),
        // without its notes nobody can tell that it is f
        (Cubin::new("103f").without_tkinfo(), "sass sm_103", Linkage::Loadable),
        // the flag of `a` meant something else before sm_90
        (
            {
                let mut old = Cubin::abi7("60");
                old.stated_flags = Some(0x3c_0d3c);
                old
            },
            "sass sm_60",
            Linkage::Loadable,
        ),
    ];
    let mut data = b"odd".to_vec();
    for (cubin, ..) in &cubins {
        data.extend(cubin.bytes());
        data.extend(b"\0\0\0\0\0");
    }
    let member = clean("x.so", &Elf::shared().section(".rodata", &data).bytes());
    let expected: Vec<&str> = cubins.iter().map(|(_, word, _)| *word).collect();
    assert_eq!(words(Some(&member)), expected);
    for (module, (cubin, _, linkage)) in member.modules.iter().zip(&cubins) {
        assert_eq!((module.source, module.images[0].linkage), (Source::Cubin, *linkage));
        assert_eq!(module.images[0].stored_bytes, cubin.bytes().len() as u64);
        assert_eq!(module.section.as_deref(), Some(".rodata"));
    }
}

#[test]
fn cubin_above_the_limit_is_listed_by_its_number_and_told_of() {
    let mut options = Options::default();
    options.limits.cubin_bytes = 1000;
    let bytes = Elf::shared().section(".rodata", &Cubin::new("100a").bytes()).bytes();
    let (member, diagnostics) = common::scan_bytes("x.so", &bytes, &options);
    assert_eq!(words(member.as_ref()), ["sass sm_100"]);
    assert_eq!(codes(&diagnostics), ["FS0310"]);
}

#[test]
fn old_and_other_fatbins_do_not_count() {
    let mut old = 0x1EE5_5A01u32.to_le_bytes().to_vec();
    old.resize(200, 0);
    let (member, diagnostics) = scan("x.fatbin", &old);
    assert_eq!((member, codes(&diagnostics)), (None, vec!["FS0304"]));
    // HIP: bundles are noticed and named
    let (member, diagnostics) = scan("x.so", &testkit::truth::bytes("hip_fatbin.so"));
    assert_eq!(member.unwrap().modules[0].source, Source::OffloadBundle);
    assert_eq!(codes(&diagnostics), ["FS0601"]);
    assert!(errors(&diagnostics).is_empty());
}

#[test]
fn entry_header_of_32_kilobytes_is_read() {
    // an identifier of 32,000 characters has been seen in libnccl
    let name = "n".repeat(32_500);
    let bytes = fatbin(&[Entry::sass("70", Cubin::abi7("70").bytes()).name(&name), Entry::sass("80", vec![0; 8])]);
    let (member, _) = scan("x.so", &Elf::shared().section(".nv_fatbin", &bytes).bytes());
    assert_eq!(words(member.as_ref()), ["sass sm_70", "sass sm_80"]);
    assert_eq!(all_images(member.as_ref())[0].identifier.as_deref(), Some(name.as_str()));
}

#[test]
fn fatbin_version_other_than_one_is_no_fatbin() {
    let mut container = Fatbin::new(&[Entry::sass("90", Cubin::new("90").bytes())]);
    container.version = 2;
    // as the start of a file it is said, elsewhere it is data; the cubin in it is found by itself
    let (member, diagnostics) = scan("x.fatbin", &container.bytes());
    assert_eq!(codes(&diagnostics), ["FS0303"]);
    assert_eq!(member.unwrap().modules[0].source, Source::Cubin);
}

// --- the section tables, against a second reader

/// Name, offset and size of the sections with bytes, by goblin.
fn goblin_sections(format: Format, bytes: &[u8]) -> Option<Vec<(String, u64, u64)>> {
    if format == Format::Elf {
        let elf = goblin::elf::Elf::parse(bytes).ok()?;
        let nobits = goblin::elf::section_header::SHT_NOBITS;
        let used =
            elf.section_headers.iter().filter(|row| row.sh_type != nobits && row.sh_type != 0 && row.sh_size > 0);
        let name = |at| elf.shdr_strtab.get_at(at).unwrap().to_owned();
        return Some(used.map(|row| (name(row.sh_name), row.sh_offset, row.sh_size)).collect());
    }
    let pe = goblin::pe::PE::parse(bytes).ok()?;
    let rows = pe.sections.iter().map(|row| {
        let name = String::from_utf8_lossy(&row.name);
        // the bytes in use, as the table of the format description says
        let size = row.virtual_size.min(row.size_of_raw_data);
        (name.trim_end_matches('\0').to_owned(), u64::from(row.pointer_to_raw_data), u64::from(size))
    });
    Some(rows.collect())
}

#[test]
fn sections_equal_those_that_goblin_reads() {
    let mut files: Vec<(String, Vec<u8>)> =
        testkit::truth::all().into_iter().map(|truth| (truth.file.clone(), truth.bytes())).collect();
    let code = pair("90a");
    for table in [Table::Last, Table::First, Table::Inside(5000)] {
        for names in [Names::Last, Names::First] {
            let elf = Elf::shared()
                .section(".text", &[1; 33])
                .section(".nv_fatbin", &code)
                .with(Section::nobits(".bss", 4096))
                .needs("libcudart.so.13")
                .table(table)
                .names(names);
            files.push((format!("{table:?} {names:?}"), elf.bytes()));
            files.push((format!("{table:?} {names:?} narrow"), elf.clone().narrow().bytes()));
            files.push((format!("{table:?} {names:?} object"), Elf { kind: 1, load: false, ..elf }.bytes()));
        }
    }
    for pe in [Pe::dll(), Pe::dll32()] {
        let pe = pe.section(".text", &[1; 700]).section(".nv_fatbin", &code).imports("cudart64_13.dll");
        files.push(("pe".to_owned(), pe.bytes()));
        let mut odd = pe.clone();
        odd.sections[0].virtual_size = Some(100);
        odd.sections[1].virtual_size = Some(1 << 20);
        files.push(("pe, odd sizes".to_owned(), odd.bytes()));
    }
    let mut compared = 0;
    for (name, bytes) in files {
        let Some(format @ (Format::Elf | Format::Pe)) = Format::sniff(&bytes) else { continue };
        let mut tap = Tap::new(SliceStream::new(&bytes), 1 << 20);
        let mut ranges = Ranges::new(&mut tap, bytes.len() as u64, true, 1 << 20);
        let places: Vec<u64> = (0..bytes.len() as u64).collect();
        let layout = Layout::read(format, &mut ranges, &places).unwrap();
        let theirs = goblin_sections(format, &bytes).unwrap_or_else(|| panic!("{name}: goblin reads nothing"));
        let own: Vec<(String, u64, u64)> = layout
            .sections
            .iter()
            .map(|section| (layout.name(section).unwrap_or_default(), section.offset, section.size))
            .collect();
        let used = |rows: Vec<(String, u64, u64)>| {
            let mut rows: Vec<_> = rows.into_iter().filter(|row| row.2 > 0).collect();
            rows.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
            rows
        };
        assert_eq!(used(own), used(theirs), "{name}");
        compared += 1;
    }
    assert!(compared > 30, "{compared} files");
}
