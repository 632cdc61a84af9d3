//! One file for each diagnostic that no other test trips, and what the gate makes of it.
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

use fatscan::{Code, Holds, KernelDepth, Level, Mapping, Options, Report, scan_bytes, scan_paths};
use testkit::ar::Flavour;
use testkit::elf::Section;
use testkit::fatbin::{Codec, wrapper};
use testkit::zip::ZipMember;
use testkit::{Ar, Cubin, Elf, Entry, MachO, Zip, fatbin};

/// Code and level of each diagnostic, in their order.
fn said(report: &Report) -> Vec<(Code, Level)> {
    report.diagnostics.iter().map(|diagnostic| (diagnostic.code, diagnostic.level)).collect()
}

fn sass(arch: &str) -> Entry {
    Entry::sass(arch, Cubin::new(arch).bytes())
}

fn library(arch: &str) -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &fatbin(&[sass(arch)])).bytes()
}

fn checked(name: &str, bytes: &[u8]) -> Report {
    scan_bytes(name, bytes, &Options::for_checking())
}

/// Sections that a loader maps, and one behind them that it does not.
fn with_unmapped() -> Vec<u8> {
    let mut note = Section::new(".comment", &fatbin(&[sass("90")]));
    note.flags = 0;
    let mut elf = Elf::shared().section(".nv_fatbin", &fatbin(&[sass("70")])).with(note);
    elf.load = false;
    elf.bytes()
}

#[test]
fn what_cannot_be_unpacked_is_named() {
    // alone it is all that was asked for, in an archive it is a part of it
    for (name, bytes) in [("x.7z", b"7z\xbc\xaf\x27\x1c\x00\x04"), ("x.rar", b"Rar!\x1a\x07\x01\x00")] {
        let report = checked(name, bytes);
        assert_eq!((said(&report), report.unread.len()), (vec![(Code::NotRead, Level::Error)], 1));
        let zip = Zip::new().stored(name, bytes).deflated("a.so", &library("90")).bytes();
        let report = checked("x.zip", &zip);
        assert_eq!((said(&report), report.unread.len()), (vec![(Code::Unread, Level::Warning)], 1));
        assert_eq!(report.artefacts[0].members.len(), 1);
        // compressed it is the same
        let report = checked("x.tgz", &testkit::compress::gzip(&testkit::Tar::new().file(name, bytes).bytes()));
        assert_eq!((said(&report), report.unread.len()), (vec![(Code::Unread, Level::Warning)], 1));
    }
}

#[test]
fn members_behind_the_end_are_missing() {
    let zip = Zip::new()
        .deflated("a.so", &library("80"))
        .with(ZipMember::deflated("b.so", &library("90")).lying_packed(1 << 30));
    assert_eq!(said(&checked("x.zip", &zip.bytes())), [(Code::ZipMemberMissing, Level::Error)]);
}

#[test]
fn two_directories_are_one_too_many() {
    // whoever searches the end record from the end finds the first, whoever reads comments the second
    let mut outer = Zip::new().deflated("a.so", &library("90"));
    outer.comment = Zip::new().deflated("a.so", &library("70")).bytes();
    let report = checked("x-1.0-py3-none-any.whl", &outer.bytes());
    assert!(said(&report).contains(&(Code::ZipAmbiguous, Level::Error)), "{:?}", report.diagnostics);
    // a fatbin before the first member of a wheel
    let mut outer = Zip::new().deflated("a.so", &library("70"));
    outer.prefix = fatbin(&[sass("90")]);
    outer.offsets_include_prefix = true;
    let report = checked("x-1.0-py3-none-any.whl", &outer.bytes());
    assert_eq!(said(&report), [(Code::ZipAmbiguous, Level::Error)]);
    let names: Vec<&str> = report.artefacts[0].members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!(names, ["(before the archive)", "a.so"]);
}

/// The bytes with `from` replaced by `to` at its `which`th place.
fn patched(mut bytes: Vec<u8>, which: usize, from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).enumerate().filter(|(_, part)| *part == from).nth(which).unwrap().0;
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn names_that_readers_read_differently_are_errors() {
    let zip = Zip::new().stored("pkg/a.so", &library("90")).bytes();
    // the header before the member
    let report = checked("x.zip", &patched(zip.clone(), 0, b"pkg/a.so", b"pkg/b.so"));
    assert_eq!(said(&report), [(Code::MemberAmbiguous, Level::Error)]);
    let cut = patched(patched(zip, 0, b"pkg/a.so", b"pkg/a\0so"), 0, b"pkg/a.so", b"pkg/a\0so");
    let report = checked("x.zip", &cut);
    assert_eq!(said(&report), [(Code::MemberAmbiguous, Level::Error)]);
}

#[test]
fn two_files_for_one_path_are_errors_unless_they_are_the_same() {
    for other in ["pkg/a.so", "pkg//a.so", "./pkg/../pkg/a.so", "/pkg/a.so"] {
        let twice = |second: &[u8]| Zip::new().deflated("pkg/a.so", &library("90")).stored(other, second).bytes();
        assert_eq!(said(&checked("x.zip", &twice(&library("90")))), [], "{other}");
        let is_same = other != "./pkg/../pkg/a.so";
        let expected = if is_same { vec![(Code::MemberAmbiguous, Level::Error); 2] } else { Vec::new() };
        assert_eq!(said(&checked("x.zip", &twice(&library("70")))), expected, "{other}");
        // what is installed may be no library with code
        let expected = if is_same { vec![(Code::MemberAmbiguous, Level::Error)] } else { Vec::new() };
        assert_eq!(said(&checked("x.zip", &twice(b"a text"))), expected, "{other}");
    }
    let texts = Zip::new().deflated("a.py", b"x = 1").deflated("a.py", b"x = 2").bytes();
    assert_eq!(said(&checked("x.zip", &texts)), []);
}

#[test]
fn members_over_each_other_are_read_once() {
    let data = library("90");
    let zip = Zip::new().stored("a.so", &data).stored("b.so", &data).bytes();
    let second = 30 + 4 + data.len();
    assert_eq!(&zip[second..second + 4], b"PK\x03\x04");
    // the directory sends both names to the first
    let at = zip.len() - 22 - (46 + 4);
    assert_eq!(&zip[at..at + 4], b"PK\x01\x02");
    let mut bytes = zip;
    bytes[at + 42..at + 46].copy_from_slice(&0u32.to_le_bytes());
    let report = checked("x.zip", &bytes);
    assert!(said(&report).contains(&(Code::MemberOverlap, Level::Error)), "{:?}", report.diagnostics);
    assert_eq!(report.artefacts[0].members.len(), 1);
}

#[test]
fn hashes_of_the_record_are_compared_stored_and_deflated() {
    // SHA-256 of the file and of nothing, in the base64 of RECORD
    let data = library("90");
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let digest = |bytes: &[u8]| testkit::sha256::sha256(bytes).as_bytes().chunks(2).map(byte).collect::<Vec<u8>>();
    let hash = |bytes: &[u8]| base64(&digest(bytes));
    for stored in [false, true] {
        for (bytes, expected) in [(&data[..], None), (b"", Some((Code::RecordHash, Level::Error)))] {
            let record = format!("pkg/a.so,sha256={},{}\npkg-1.0.dist-info/RECORD,,\n", hash(bytes), data.len());
            let member =
                if stored { ZipMember::stored("pkg/a.so", &data) } else { ZipMember::deflated("pkg/a.so", &data) };
            let zip = Zip::new().with(member).deflated("pkg-1.0.dist-info/RECORD", record.as_bytes()).bytes();
            let name = "pkg-1.0-py3-none-any.whl";
            assert_eq!(said(&checked(name, &zip)), expected.into_iter().collect::<Vec<_>>(), "stored {stored}");
            // a plain list does not pay for it
            assert_eq!(said(&scan_bytes(name, &zip, &Options::new())), []);
            // what is not compared is said
            let mut options = Options::for_checking();
            options.limits.table_bytes = 8;
            let report = scan_bytes(name, &zip, &options);
            assert!(said(&report).contains(&(Code::LimitTable, Level::Error)), "{:?}", report.diagnostics);
        }
    }
}

/// URL-safe, without padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            out.push(char::from(DIGITS[(word >> (18 - 6 * digit)) as usize & 63]));
        }
    }
    out
}

#[test]
fn long_tables_of_names_leave_the_objects() {
    let object = Elf::object().section(".nv_fatbin", &fatbin(&[sass("90")])).bytes();
    let ar = Ar::new(Flavour::Gnu).member("a_name_of_more_than_fifteen_characters.o", &object).bytes();
    let mut options = Options::new();
    options.limits.table_bytes = 20;
    let report = scan_bytes("x.a", &ar, &options);
    assert!(said(&report).contains(&(Code::LimitNames, Level::Error)), "{:?}", report.diagnostics);
    assert_eq!(common::words(report.artefacts[0].members.first()), ["sass sm_90"]);
}

#[test]
fn code_that_nothing_loads_is_shown_and_is_no_answer() {
    let report = checked("x.so", &with_unmapped());
    assert_eq!(said(&report), [(Code::NotLoaded, Level::Warning)]);
    let member = &report.artefacts[0].members[0];
    let mapped: Vec<Option<bool>> = member.modules.iter().map(|module| module.mapped).collect();
    assert_eq!(mapped, [Some(true), Some(false)]);
    let archs =
        |coverage: fatscan::Coverage| coverage.images.keys().map(|(_, arch)| arch.to_string()).collect::<Vec<_>>();
    assert_eq!(archs(fatscan::Coverage::of(member, false)), ["70"]);
    assert_eq!(archs(fatscan::Coverage::unmapped(member)), ["90"]);
}

#[test]
fn payloads_that_are_none_are_errors() {
    let empty = Entry::sass("90", Vec::new());
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(&[sass("80"), empty])).bytes();
    for options in [Options::new(), Options::for_checking()] {
        let report = scan_bytes("x.so", &elf, &options);
        assert_eq!(said(&report), [(Code::PayloadMissing, Level::Error)]);
    }
    // what states zstd and holds something else
    let mut foreign = Entry::sass("90", vec![7; 64]).flag(testkit::fatbin::flag::ZSTD);
    foreign.uncompressed_size = Some(500);
    for entry in [foreign, Entry::sass("90", vec![7; 64])] {
        let elf = Elf::shared().section(".nv_fatbin", &fatbin(&[sass("80"), entry])).bytes();
        let report = checked("x.so", &elf);
        assert!(said(&report).contains(&(Code::PayloadForeign, Level::Error)), "{:?}", report.diagnostics);
        let images = &report.artefacts[0].members[0].modules[0].images;
        assert!(matches!(images[0].holds, Some(Holds::Code { .. })), "{images:?}");
        assert_eq!(images[1].holds, Some(Holds::Foreign));
    }
    // each codec as its writer makes it
    for codec in [Codec::Zstd, Codec::Lz4, Codec::Zlib, Codec::Lz4Frame] {
        let elf = Elf::shared().section(".nv_fatbin", &fatbin(&[sass("90").compressed(codec)])).bytes();
        assert_eq!(said(&checked("x.so", &elf)), [], "{codec:?}");
    }
}

#[test]
fn a_header_of_a_cubin_among_data_is_a_note() {
    let head = Cubin::new("90").bytes()[..64].to_vec();
    let elf =
        Elf::shared().section(".nv_fatbin", &fatbin(&[sass("80")])).section(".rodata", &[head, vec![0; 4000]].concat());
    assert_eq!(said(&checked("x.so", &elf.bytes())), [(Code::LooksLikeCubin, Level::Note)]);
}

#[test]
fn limits_of_a_run_are_told_of() {
    let two = [fatbin(&[sass("80")]), fatbin(&[sass("90")])].concat();
    let records = [wrapper(1, 0), wrapper(1, 8), wrapper(1, 16)].concat();
    let elf = Elf::shared().section(".nv_fatbin", &two).section(".nvFatBinSegment", &records).bytes();
    let mut options = Options::new();
    options.limits.wrappers = 1;
    assert_eq!(said(&scan_bytes("x.so", &elf, &options)), [(Code::LimitWrappers, Level::Error)]);
    let mut options = Options::new().with_kernels(KernelDepth::Names);
    options.limits.kernels = 1;
    let cubin = |arch: &str| Entry::sass(arch, Cubin::new(arch).kernel("a").kernel("b").bytes());
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(&[cubin("80"), cubin("90")])).bytes();
    for threads in [1, 4] {
        let report = scan_bytes("x.so", &elf, &options.with_threads(threads));
        assert_eq!(said(&report), [(Code::LimitKernels, Level::Error)]);
    }
    let mut options = Options::new();
    options.limits.directory_bytes = 60;
    let zip = Zip::new().deflated("a.so", &library("80")).deflated("b.so", &library("90")).bytes();
    let report = scan_bytes("x.zip", &zip, &options);
    assert!(said(&report).contains(&(Code::LimitTable, Level::Error)), "{:?}", report.diagnostics);
    assert_eq!(report.artefacts[0].members.len(), 0);
}

#[test]
fn cuts_of_archives_and_slices_are_damage() {
    let object = |arch: &str| Elf::object().section(".nv_fatbin", &fatbin(&[sass(arch)])).bytes();
    let ar =
        Ar::new(Flavour::Gnu).symbols(&["f", "g"]).member("a.o", &object("80")).member("b.o", &object("90")).bytes();
    // the index of the writer names the first member only: behind it the file could end
    let behind = ar.len() - 60 - object("90").len();
    assert_eq!(&ar[behind..behind + 4], b"b.o/");
    for cut in (9..ar.len()).filter(|cut| *cut != behind) {
        let report = checked("x.a", &ar[..cut]);
        assert!(said(&report).iter().any(|(_, level)| *level == Level::Error), "cut at {cut} of {}", ar.len());
    }
    let thin = MachO::dylib().fatbin(&fatbin(&[sass("90")])).bytes();
    let slices = [(testkit::macho::cpu::X86_64, thin.clone()), (testkit::macho::cpu::ARM64, thin)];
    let file = testkit::macho::universal(&slices, false);
    for cut in (4100..file.len()).step_by(37) {
        let report = checked("x.dylib", &file[..cut]);
        assert!(said(&report).contains(&(Code::FileCut, Level::Error)), "cut at {cut}: {:?}", report.diagnostics);
    }
    let elf = library("90");
    for cut in (64..elf.len()).step_by(7) {
        let report = checked("x.so", &elf[..cut]);
        assert!(said(&report).iter().any(|(_, level)| *level == Level::Error), "cut at {cut} of {}", elf.len());
    }
}

#[test]
fn how_many_diagnostics_are_shown_changes_no_level() {
    // 101 disagreements, which are warnings
    let entries = |count: usize| -> Vec<u8> {
        let label = |_| Entry { arch: 90, ..Entry::sass("80", Cubin::new("80").bytes()) };
        fatbin(&(0..count).map(label).collect::<Vec<_>>())
    };
    for count in [100, 101, 300] {
        let report = scan_bytes("x.so", &Elf::shared().section(".nv_fatbin", &entries(count)).bytes(), &Options::new());
        assert!(
            said(&report).iter().all(|(_, level)| *level != Level::Error),
            "{count}: {:?}",
            report.diagnostics.last()
        );
        let more = report.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::LimitDiagnostics).count();
        assert_eq!(more, usize::from(count > 100), "{count}");
    }
}

#[test]
fn a_file_that_changes_or_shrinks_while_it_is_open_is_told_of() {
    use fatscan::{ByteSource as _, open_file};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.so");
    for (mapping, length) in [(Mapping::Always, 1 << 20), (Mapping::Never, 1 << 20), (Mapping::Auto, 1 << 20)] {
        std::fs::write(&path, vec![1; length]).unwrap();
        let source = open_file(&path, mapping, 8, |_| true).unwrap().unwrap();
        assert!(!source.changed());
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(4096).unwrap();
        // the pages that are gone: read without dying, and said
        let mut buffer = [0; 64];
        let _ = source.read_at(length as u64 - 64, &mut buffer);
        if let Some(slice) = source.as_slice() {
            assert_eq!(slice[length - 1], 0);
        }
        assert!(source.changed(), "{mapping:?}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_a_directory_is_read_unless_asked() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(folder.path().join("out.so"), library("90")).unwrap();
    symlink("../out.so", root.join("in.so")).unwrap();
    let mut options = Options::for_checking();
    let report = scan_paths(&[&root], &options);
    assert_eq!(said(&report), [(Code::LeadsOutside, Level::Note)]);
    assert_eq!((report.unread.len(), report.artefacts.iter().map(|a| a.members.len()).sum::<usize>()), (1, 0));
    options.follow_links = true;
    let report = scan_paths(&[&root], &options);
    assert_eq!((said(&report), report.unread.len(), report.artefacts[0].members.len()), (vec![], 0, 1));
}
