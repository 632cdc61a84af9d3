//! The limits that no other test reaches, and where exactly some begin. All of them at their defaults, with the memory that
//! they take: `tests/limits_memory.py`.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod common;

use common::{codes, words};
use fatscan::{Code, KernelDepth, Level, Options, Report, Why, has_unread_kernels, scan_bytes, scan_paths};
use testkit::ar::Flavour;
use testkit::elf::Section;
use testkit::fatbin::wrapper;
use testkit::zip::ZipMember;
use testkit::{Ar, Cubin, Elf, Entry, Zip, fatbin};

fn sass(arch: &str) -> Entry {
    Entry::sass(arch, Cubin::new(arch).bytes())
}

fn library(arch: &str) -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &fatbin(&[sass(arch)])).bytes()
}

fn over_budget(report: &Report, limit: &'static str) -> bool {
    report.unread.iter().any(|unread| unread.why == Why::OverBudget(limit))
        && report.diagnostics.iter().any(|said| (said.code, said.level) == (Code::Unread, Level::Error))
}

#[test]
fn members_that_would_unpack_to_too_much_are_not_looked_at() {
    // packed bytes that could become more than the free gigabyte
    let mut large = ZipMember::deflated("b.so", &library("90")).lying_size(1100 << 20);
    large.packed = Some(vec![0; 1100 << 10]);
    let zip = Zip::new().deflated("a.so", &library("80")).with(large).bytes();
    let mut options = Options::for_checking();
    assert!(!over_budget(&scan_bytes("x.zip", &zip, &options), "ratio"));
    options.limits.ratio = 0;
    let report = scan_bytes("x.zip", &zip, &options);
    assert!(over_budget(&report, "ratio"), "{:?}", report.diagnostics);
    assert_eq!(words(report.artefacts[0].members.first()), ["sass sm_80"]);
}

#[test]
fn compressed_archives_are_held_as_far_as_the_limit_goes() {
    let inner = Zip::new().stored("a.so", &library("90")).bytes();
    let zip = Zip::new().deflated("inner.zip", &inner).bytes();
    let mut options = Options::for_checking();
    for (held, members) in [(inner.len() as u64, 1), (inner.len() as u64 - 1, 0)] {
        options.limits.held_bytes = held;
        let report = scan_bytes("x.zip", &zip, &options);
        assert_eq!(report.artefacts[0].members.len(), members);
        assert_eq!(over_budget(&report, "held_bytes"), members == 0, "{:?}", report.diagnostics);
    }
}

#[test]
fn images_with_too_many_functions_are_unread_and_their_siblings_are_not() {
    let text = |names: &[&str]| -> String {
        let bodies: String = names.iter().map(|name| format!(".visible .entry {name}() {{ ret; }}\n")).collect();
        format!(".version 8.5\n.target sm_80\n{bodies}")
    };
    let entries = [Entry::ptx("80", (8, 5), &text(&["a", "b"])), Entry::ptx("80", (8, 5), &text(&["c"]))];
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(&entries)).bytes();
    for depth in [KernelDepth::Names, KernelDepth::Resources] {
        let mut options = Options::new().with_kernels(depth);
        let kernels = |options: &Options| {
            let report = scan_bytes("x.so", &elf, options);
            let member = &report.artefacts[0].members[0];
            let found = member.modules[0].images.iter().map(|image| image.kernels.as_ref().map(Vec::len));
            (found.collect::<Vec<_>>(), has_unread_kernels(member))
        };
        assert_eq!(kernels(&options), (vec![Some(2), Some(1)], false));
        options.limits.functions = 1;
        assert_eq!(kernels(&options), (vec![None, Some(1)], true));
    }
}

#[test]
fn long_names_of_objects_and_sections_are_cut_and_told_of() {
    let object = Elf::object().section(".nv_fatbin", &fatbin(&[sass("90")])).bytes();
    for flavour in [Flavour::Gnu, Flavour::Bsd] {
        for (length, said) in [(4096, vec![]), (4097, vec!["FS0505"]), (40_000, vec!["FS0505"])] {
            let name = "n".repeat(length);
            let ar = Ar::new(flavour).member(&name, &object).member("b.o", &object).bytes();
            let report = scan_bytes("x.a", &ar, &Options::new());
            assert_eq!(codes(&report.diagnostics), said, "{flavour:?}, {length} bytes");
            let modules = &report.artefacts[0].members[0].modules;
            assert_eq!(modules.len(), 2);
            assert_eq!(modules[0].object.as_ref().unwrap().name, "n".repeat(length.min(4096)), "{flavour:?}");
            assert_eq!(modules[0].section.as_deref(), Some(".nv_fatbin"));
        }
    }
    for (length, said) in [(256, vec![]), (257, vec!["FS0505"]), (5000, vec!["FS0505"])] {
        let name = "s".repeat(length);
        let elf = Elf::shared().with(Section::new(&name, &fatbin(&[sass("90")]))).bytes();
        let (member, diagnostics) = common::scan("x.so", &elf);
        assert_eq!(codes(&diagnostics), said, "{length} bytes");
        assert_eq!(member.as_ref().unwrap().modules[0].section.as_deref(), Some(&*"s".repeat(length.min(256))));
        assert_eq!((member, diagnostics), common::scan_inflated("x.so", &elf, &Options::new()));
    }
}

#[test]
fn names_of_kernels_beyond_the_limit_are_told_of() {
    let cubin = |arch: &str, kernel: &str| Entry::sass(arch, Cubin::new(arch).kernel(kernel).bytes());
    let entries = [cubin("80", &"a".repeat(600)), cubin("90", &"b".repeat(600))];
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(&entries)).bytes();
    let mut options = Options::new().with_kernels(KernelDepth::Names);
    for (text, said) in [(2000, vec![]), (1000, vec!["FS0505"])] {
        options.limits.text_bytes = text;
        for threads in [1, 4] {
            let report = scan_bytes("x.so", &elf, &options.with_threads(threads));
            assert_eq!(codes(&report.diagnostics), said, "{text} bytes, {threads} threads");
        }
    }
}

#[test]
fn texts_behind_the_limit_of_an_entry_header_are_told_of() {
    for (before, said) in [(100, vec![]), (1 << 20, vec!["FS0305"])] {
        let mut entry = sass("90").bytes();
        let name = 64 + before;
        let mut header = vec![0; before];
        header.extend_from_slice(b"name\0\0\0\0");
        entry[4..8].copy_from_slice(&u32::try_from(64 + header.len()).unwrap().to_le_bytes());
        entry[0x20..0x24].copy_from_slice(&u32::try_from(name).unwrap().to_le_bytes());
        entry[0x24..0x28].copy_from_slice(&4u32.to_le_bytes());
        entry.splice(64..64, header);
        let mut chain = fatbin(&[]);
        chain[8..16].copy_from_slice(&(entry.len() as u64).to_le_bytes());
        chain.extend(entry);
        let elf = Elf::shared().section(".nv_fatbin", &chain).bytes();
        let (member, diagnostics) = common::scan("x.so", &elf);
        assert_eq!(codes(&diagnostics), said, "{before} bytes");
        assert_eq!(words(member.as_ref()), ["sass sm_90"]);
    }
}

#[test]
fn a_bare_text_is_searched_for_kernels_as_far_as_the_limit_goes() {
    let text = format!(".version 8.5\n.target sm_90\n.visible .entry k() {{ ret; }}\n{}", "// \n".repeat(50_000));
    let mut options = Options::new().with_kernels(KernelDepth::Names);
    assert_eq!(codes(&scan_bytes("x.ptx", text.as_bytes(), &options).diagnostics), [""; 0]);
    options.limits.ptx_bytes = 1000;
    let report = scan_bytes("x.ptx", text.as_bytes(), &options);
    assert_eq!(codes(&report.diagnostics), ["FS0506"]);
    assert!(has_unread_kernels(&report.artefacts[0].members[0]));
}

#[test]
fn as_many_wrappers_as_the_limit_are_not_too_many() {
    let records = [wrapper(1, 0), wrapper(1, 8)].concat();
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(&[sass("80")])).section(".nvFatBinSegment", &records).bytes();
    let mut options = Options::new();
    for (limit, said) in [(2, vec![]), (1, vec!["FS0511"])] {
        options.limits.wrappers = limit;
        assert_eq!(codes(&scan_bytes("x.so", &elf, &options).diagnostics), said);
    }
}

#[test]
fn diagnostics_of_a_run_are_limited_and_the_rest_is_counted() {
    let mut zip = Zip::new();
    for number in 0..2100 {
        zip = zip.with(ZipMember::stored(&format!("{number}.so"), b"").encrypted());
    }
    let bytes = zip.bytes();
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.zip", "b.zip"] {
        std::fs::write(folder.path().join(name), &bytes).unwrap();
    }
    let mut options = Options::for_checking();
    options.limits.diagnostics = 1;
    let alone = scan_paths(&[folder.path().join("a.zip")], &options);
    for (report, more) in
        [(&alone, "100 more of all files"), (&scan_paths(&[folder.path()], &options), "2200 more of all files")]
    {
        let (shown, rest): (Vec<_>, Vec<_>) = report.diagnostics.iter().partition(|said| said.code == Code::Encrypted);
        assert_eq!(shown.len(), 2000);
        let rest: Vec<_> = rest.iter().map(|said| (said.code, said.level, said.detail.as_str())).collect();
        assert_eq!(rest, [(Code::LimitDiagnostics, Level::Error, more)]);
    }
    assert_eq!(alone.unread.len(), 2100);
    assert_eq!(scan_paths(&[folder.path()], &options.with_threads(1)), scan_paths(&[folder.path()], &options));
}
