//! Damaged and hostile input: no panic, bounded memory, a message with a place, and everything that is whole is
//! still listed.
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

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Random, all_images, codes, errors, scan, scan_bytes, scan_inflated, scan_steps, words};
use fatscan::{Code, Diagnostic, Level, Member, Options, Report, scan_paths};
use testkit::compress::{deflate_bomb, zstd_zeros};
use testkit::fatbin::{Codec, concat};
use testkit::truth::all;
use testkit::zip::{Central, method};
use testkit::{Cubin, Elf, Entry, Fatbin, Zip, ZipMember, fatbin, ptx_text};

/// Architectures that no fixture holds: siblings are told by them.
const BEFORE: &str = "61";
const BEHIND: &str = "62";

fn sibling(arch: &str) -> Vec<u8> {
    let mut bytes = fatbin(&[Entry::sass(arch, Cubin::abi7(arch).bytes()).isa(1, 7)]);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// The middle between two good fatbins, each 8-aligned, as in a section; and where the middle starts.
fn between(middle: &[u8]) -> (Vec<u8>, u64) {
    let mut bytes = sibling(BEFORE);
    let at = bytes.len() as u64;
    bytes.extend_from_slice(middle);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(sibling(BEHIND));
    (bytes, at)
}

fn assert_siblings(member: Option<&Member>, what: &str) {
    let words = words(member);
    for arch in [BEFORE, BEHIND] {
        let count = words.iter().filter(|word| **word == format!("sass sm_{arch}")).count();
        assert_eq!(count, 1, "{what}: sm_{arch} in {words:?}");
    }
}

/// Every error says where.
fn assert_placed(name: &str, diagnostics: &[Diagnostic], what: &str) {
    for diagnostic in diagnostics {
        assert!(diagnostic.at.to_string().contains(name) && !diagnostic.message().is_empty(), "{what}: {diagnostic:?}");
    }
}

/// A field of a header: where it stands, how many bytes.
#[derive(Clone, Copy, Debug)]
struct Field {
    at: usize,
    width: usize,
    name: &'static str,
    /// Offset of its entry, or nothing for the fatbin's own header.
    entry: Option<u64>,
}

const ENTRY_FIELDS: [(usize, usize, &str); 8] = [
    (0x04, 4, "header size"),
    (0x08, 8, "padded size"),
    (0x10, 4, "compressed size"),
    (0x14, 4, "options table"),
    (0x20, 4, "identifier offset"),
    (0x24, 4, "identifier length"),
    (0x28, 8, "flags"),
    (0x38, 8, "uncompressed size"),
];

/// All size fields of the fatbin that is `bytes`, the tables of concatenated entries included.
fn fields(bytes: &[u8]) -> Vec<Field> {
    let mut fields = vec![Field { at: 8, width: 8, name: "fatbin size", entry: None }];
    let fatbin = ::fatbin::Fatbin::parse(bytes).unwrap();
    for (offset, entry) in fatbin.entries().map_while(Result::ok) {
        let start = offset as usize;
        let mut records = vec![start];
        records.extend(entry.members().map_while(Result::ok).map(|member| start + member.record_offset() as usize));
        for record in &records {
            fields.extend(ENTRY_FIELDS.iter().map(|(at, width, name)| Field {
                at: record + at,
                width: *width,
                name,
                entry: Some(offset),
            }));
        }
        let table = entry.header().options_table as usize;
        if table > 0 {
            for (at, name) in [(table, "table, first word"), (table + 4, "table, second word")] {
                fields.push(Field { at: start + at, width: 4, name, entry: Some(offset) });
            }
        }
    }
    fields
}

/// The fatbins of all fixtures, each once.
fn fatbins() -> Vec<(String, Vec<u8>)> {
    let mut seen = BTreeSet::new();
    let mut fatbins = Vec::new();
    for truth in all().iter().filter(|truth| !truth.is_hostile()) {
        let bytes = truth.bytes();
        for found in ::fatbin::find(&bytes) {
            let own = bytes[found.offset()..found.offset() + found.len()].to_vec();
            if seen.insert(own.clone()) {
                fatbins.push((format!("{}@{:#x}", truth.file, found.offset()), own));
            }
        }
    }
    assert!(fatbins.len() > 80, "{}", fatbins.len());
    fatbins
}

#[test]
fn every_size_field_at_0_1_and_its_maximum_leaves_the_siblings() {
    let mut cases = 0;
    for (name, good) in fatbins() {
        let (whole, at) = between(&good);
        let (member, diagnostics) = scan("x.fatbin", &whole);
        // an entry without a payload is listed, and is no cubin
        let odd = name.starts_with("craft_entry_size_0");
        assert!(odd || errors(&diagnostics).is_empty(), "{name}: {diagnostics:?}");
        assert_siblings(member.as_ref(), &name);
        let member = member.unwrap();
        let pristine = member.modules.iter().find(|module| module.offset == at).map(|module| module.images.as_slice());
        let pristine = pristine.unwrap_or_default();
        for field in fields(&good) {
            for value in [0, 1, u64::MAX] {
                let mut bad = good.clone();
                bad[field.at..field.at + field.width].copy_from_slice(&value.to_le_bytes()[..field.width]);
                let what = format!("{name}: {} of the entry at {:?} = {value:#x}", field.name, field.entry);
                let (bytes, _) = between(&bad);
                let (member, diagnostics) = scan("x.fatbin", &bytes);
                assert_siblings(member.as_ref(), &what);
                assert_placed("x.fatbin", &diagnostics, &what);
                cases += 1;

                // entries before the damaged one stay
                let before = |images: &[fatscan::Image]| -> Vec<String> {
                    let place = field.entry.unwrap_or(0) + at;
                    images.iter().filter(|image| image.offset < place).map(common::word).collect()
                };
                let expected = before(pristine);
                let module =
                    member.as_ref().and_then(|member| member.modules.iter().find(|module| module.offset == at));
                assert_eq!(module.map(|module| before(&module.images)).unwrap_or_default(), expected, "{what}");

                // a break of the chain is an error at the entry
                let breaks = matches!((field.name, value), ("header size", _) | ("padded size", u64::MAX));
                if breaks
                    && bad[field.at - 4..field.at] != [0; 4]
                    && field.entry.is_some_and(|e| e as usize + 8 >= field.at)
                {
                    let place = format!("x.fatbin@{:#x}", field.entry.unwrap() + at);
                    let said = diagnostics.iter().find(|d| d.at.to_string() == place && d.level == Level::Error);
                    assert!(said.is_some(), "{what}: nothing at {place} in {diagnostics:?}");
                }
                if field.name == "fatbin size" && value != 0 && good.len() > 16 {
                    assert!(!errors(&diagnostics).is_empty(), "{what}");
                }

                // in a library, with every payload decoded
                let library = Elf::shared().section(".nv_fatbin", &bytes).bytes();
                let verify = Options::verifying();
                let (member, _) = scan_bytes("x.so", &library, &verify);
                assert_siblings(member.as_ref(), &what);
            }
        }
    }
    assert!(cases > 7000, "{cases} cases");
}

#[test]
fn every_fixture_survives_size_fields_of_its_own_file() {
    // in place, whatever the container is, and from every kind of stream
    for truth in all() {
        let good = truth.bytes();
        let places: Vec<usize> = ::fatbin::find(&good).map(|found| found.offset()).collect();
        for at in places {
            for (offset, width) in [(8usize, 8usize), (16 + 4, 4), (16 + 8, 8), (16 + 0x10, 4), (16 + 0x38, 8)] {
                for value in [0, 1, u64::MAX] {
                    let mut bytes = good.clone();
                    if bytes.len() < at + offset + width {
                        continue;
                    }
                    bytes[at + offset..at + offset + width].copy_from_slice(&value.to_le_bytes()[..width]);
                    bytes.resize(bytes.len().next_multiple_of(8), 0);
                    bytes.extend(sibling(BEHIND));
                    let what = format!("{} @{at:#x}+{offset} = {value:#x}", truth.file);
                    let slice = scan(&truth.file, &bytes);
                    let found = words(slice.0.as_ref());
                    // in an archive the sibling stands behind the last member, in a damaged file inside what it states
                    if truth.file != "archive.a" && !truth.is_hostile() {
                        assert!(found.contains(&format!("sass sm_{BEHIND}")), "{what}: {found:?}");
                    }
                    assert_eq!(slice, scan_inflated(&truth.file, &bytes, &Options::default()), "{what}");
                    assert_eq!(slice, scan_steps(&truth.file, &bytes, &Options::default()), "{what}");
                }
            }
        }
    }
}

#[test]
fn truncated_file_keeps_every_entry_that_is_whole() {
    for (name, bytes) in fatbins() {
        let ends: Vec<usize> = ::fatbin::Fatbin::parse(&bytes)
            .unwrap()
            .entries()
            .map(|entry| {
                let (offset, entry) = entry.unwrap();
                offset as usize + entry.header().total_size().unwrap() as usize
            })
            .collect();
        let whole = scan("x.fatbin", &bytes).0;
        let images = all_images(whole.as_ref());
        let at_cut = |cut: usize| {
            let (member, diagnostics) = scan("x.fatbin", &bytes[..cut]);
            let kept = ends.iter().filter(|end| **end <= cut).count();
            let starts: Vec<u64> =
                ends.iter().take(kept).enumerate().map(|(i, _)| if i == 0 { 16 } else { ends[i - 1] as u64 }).collect();
            let expected: Vec<String> =
                images.iter().filter(|image| starts.contains(&image.offset)).map(|image| common::word(image)).collect();
            assert_eq!(words(member.as_ref()), expected, "{name} cut at {cut}: {diagnostics:?}");
            if cut < bytes.len() {
                let said = errors(&diagnostics);
                let cut_codes = ["FS0103", "FS0105", "FS0301", "FS0303"];
                assert!(said.iter().any(|code| cut_codes.contains(code)), "{name} cut at {cut}: {diagnostics:?}");
            }
        };
        (0..64.min(bytes.len())).for_each(|cut| at_cut(cut * bytes.len() / 64.min(bytes.len())));
        // and around every border
        for border in ends.iter().flat_map(|end| [*end, end + 16, end + 64, end + 72, end + 80]) {
            for cut in [border.wrapping_sub(1), border, border + 1] {
                if cut <= bytes.len() {
                    at_cut(cut);
                }
            }
        }
    }
}

#[test]
fn cut_library_keeps_its_code_and_says_that_it_is_cut() {
    let (code, _) = between(&fatbin(&[Entry::sass("90a", Cubin::new("90a").bytes())]));
    let elf = Elf::shared().section(".nv_fatbin", &code).section(".rodata", &[1; 3000]);
    let bytes = elf.bytes();
    let end = elf.offset_of(".nv_fatbin") as usize + code.len();
    for cut in [bytes.len() - 1, bytes.len() - 700, end] {
        let (member, diagnostics) = scan("x.so", &bytes[..cut]);
        assert_siblings(member.as_ref(), "cut behind the code");
        assert!(errors(&diagnostics).contains(&"FS0216"), "{diagnostics:?}");
    }
    let (member, diagnostics) = scan("x.so", &bytes[..end - 20]);
    assert_eq!(words(member.as_ref()), [format!("sass sm_{BEFORE}"), "sass sm_90a".to_owned()]);
    assert!(codes(&diagnostics).contains(&"FS0301"), "{diagnostics:?}");
}

/// A fatbin whose second entry states too long a payload.
fn broken(arch: &str) -> Vec<u8> {
    let mut second = Entry::sass("99", vec![0; 64]);
    second.stated_padded_size = Some(1 << 40);
    fatbin(&[Entry::sass(arch, vec![0; 64]), second])
}

#[test]
fn damaged_fatbins_are_read_behind_however_many_there_are() {
    for count in [1, 8, 9, 100] {
        let mut bytes = Vec::new();
        for _ in 0..count {
            bytes.extend(broken("50"));
            bytes.extend(sibling("70"));
        }
        let (member, diagnostics) = scan("x.fatbin", &bytes);
        let words = words(member.as_ref());
        assert_eq!(words.iter().filter(|word| *word == "sass sm_50").count(), count);
        assert_eq!(words.iter().filter(|word| *word == "sass sm_70").count(), count);
        assert_eq!(errors(&diagnostics).iter().filter(|code| **code == "FS0302").count(), count, "{diagnostics:?}");
        assert!(!codes(&diagnostics).contains(&"FS0504"));
    }
}

#[test]
fn the_limit_of_what_is_searched_twice_is_told_of_once() {
    let mut bytes = Vec::new();
    for _ in 0..20 {
        bytes.extend(broken("50"));
        bytes.extend(sibling("70"));
    }
    let mut options = Options::default();
    options.limits.reread_bytes = 0;
    let slice = common::scan_bytes("x.fatbin", &bytes, &options);
    let said = codes(&slice.1).into_iter().filter(|code| *code == "FS0504").count();
    assert_eq!(said, 1, "{:?}", slice.1);
    // at the eighth all that came before has been read again four times
    let words = words(slice.0.as_ref());
    assert!(words.iter().filter(|word| *word == "sass sm_70").count() >= 7, "{words:?}");
    assert!(words.iter().filter(|word| *word == "sass sm_50").count() >= 8, "{words:?}");
    assert_eq!(slice, scan_inflated("x.fatbin", &bytes, &options));
    assert_eq!(slice, scan_steps("x.fatbin", &bytes, &options));
}

#[test]
fn payload_of_a_damaged_fatbin_is_no_finding_of_its_own_but_a_fatbin_in_it_is() {
    // two cubins and a PTX text in a chain that breaks at the fourth entry
    let mut last = Entry::sass("99", vec![0; 64]);
    last.stated_header_size = Some(8);
    let entries = [
        Entry::sass("80", Cubin::new("80").bytes()),
        Entry::ptx("80", (8, 5), &ptx_text("8.5", "sm_80", "k")),
        Entry::sass("90", Cubin::new("90").bytes()),
        last,
    ];
    let (bytes, at) = between(&fatbin(&entries));
    let (member, diagnostics) = scan("x.fatbin", &bytes);
    let member = member.unwrap();
    assert_eq!(
        words(Some(&member)),
        [
            format!("sass sm_{BEFORE}"),
            "sass sm_80".into(),
            "ptx compute_80".into(),
            "sass sm_90".into(),
            format!("sass sm_{BEHIND}")
        ]
    );
    let damaged: Vec<bool> = member.modules.iter().map(|module| module.damaged).collect();
    assert_eq!(damaged, [false, true, false]);
    assert_eq!(member.modules[1].offset, at);
    assert_eq!(codes(&diagnostics), ["FS0302"]);

    // one whose stated size swallows the rest of the file: what follows is found nevertheless
    let mut greedy = Fatbin::new(&entries[..3]);
    greedy.stated_size = Some(1 << 30);
    let (bytes, _) = between(&greedy.bytes());
    let (member, diagnostics) = scan("x.fatbin", &bytes);
    assert_siblings(member.as_ref(), "greedy");
    assert_eq!(member.unwrap().modules.len(), 3);
    assert!(!errors(&diagnostics).is_empty());
}

/// An entry of `arch` in a fatbin, both of which state to reach `over` bytes further than they do.
fn swallowing(arch: &str, over: u64) -> Vec<u8> {
    let mut entry = Entry::sass(arch, Cubin::new(arch).bytes());
    let own = entry.payload.len().next_multiple_of(8) as u64;
    entry.stated_padded_size = Some(own + over);
    let mut container = Fatbin::new(&[Entry::sass("50", Cubin::abi7("50").bytes()).isa(1, 7), entry]);
    container.stated_size = Some(1 << 50);
    container.bytes()
}

#[test]
fn sizes_that_agree_on_a_lie_hide_no_fatbin_behind_them() {
    // over a part of the next fatbin, over all of it, to the end of the file and past it
    let next = sibling(BEHIND).len() as u64;
    for over in [8, 16, 80, next - 8, next, next + 8, 1 << 20, 1 << 40] {
        let (mut bytes, _) = between(&swallowing("90a", over));
        bytes.extend([0xAA; 64]);
        bytes.extend(sibling("70"));
        let slice = scan("x.fatbin", &bytes);
        let what = format!("{over} bytes too many");
        assert_siblings(slice.0.as_ref(), &what);
        let words = words(slice.0.as_ref());
        assert_eq!(words.iter().filter(|word| *word == "sass sm_70").count(), 1, "{what}: {words:?}");
        // what stood before the lie
        assert_eq!(words.iter().filter(|word| *word == "sass sm_50").count(), 1, "{what}: {words:?}");
        // the cubin of the lying entry belongs to the damaged fatbin: it is listed once at the most
        assert!(words.iter().filter(|word| *word == "sass sm_90a").count() <= 1, "{what}: {words:?}");
        assert!(!errors(&slice.1).is_empty(), "{what}");
        assert_eq!(slice, scan_inflated("x.fatbin", &bytes, &Options::default()), "{what}");
        assert_eq!(slice, scan_steps("x.fatbin", &bytes, &Options::default()), "{what}");
    }
}

#[test]
fn several_swallowing_fatbins_are_each_read_behind() {
    let mut bytes = Vec::new();
    for _ in 0..12 {
        bytes.extend(swallowing("90a", 1 << 40));
        bytes.extend(sibling("70"));
    }
    let slice = scan("x.fatbin", &bytes);
    let words = words(slice.0.as_ref());
    assert_eq!(words.iter().filter(|word| *word == "sass sm_70").count(), 12, "{words:?}");
    assert!(!codes(&slice.1).contains(&"FS0504"), "{:?}", slice.1);
    assert_eq!(slice, scan_inflated("x.fatbin", &bytes, &Options::default()));
    assert_eq!(slice, scan_steps("x.fatbin", &bytes, &Options::default()));
}

#[test]
fn diagnostics_of_one_file_are_limited_and_the_rest_is_counted() {
    let mut entries = Vec::new();
    for _ in 0..5000 {
        let mut entry = Entry::sass("90", vec![0; 8]).name("x");
        entry.stated_name_len = Some(1 << 20);
        entries.push(entry);
    }
    let (member, diagnostics) = scan("x.fatbin", &fatbin(&entries));
    assert_eq!(all_images(member.as_ref()).len(), 5000);
    assert!(diagnostics.len() < 1000, "{}", diagnostics.len());
    let last = diagnostics.iter().find(|d| d.code == Code::LimitDiagnostics).expect("the rest is counted");
    assert!(last.message().contains("more"), "{last:?}");
}

#[test]
fn image_limit_stops_the_reading_with_a_message() {
    let mut options = Options::default();
    options.limits.images = 100;
    let entries = vec![Entry::sass("90", vec![0; 8]); 500];
    let (member, diagnostics) = scan_bytes("x.fatbin", &fatbin(&entries).repeat(3), &options);
    assert!(all_images(member.as_ref()).len() <= 101);
    assert!(codes(&diagnostics).contains(&"FS0503"), "{diagnostics:?}");
}

#[test]
fn texts_beyond_the_limit_are_left_out_with_a_message() {
    let mut options = Options::default();
    options.limits.text_bytes = 1000;
    let entries = vec![Entry::sass("90", Cubin::new("90").bytes()).name(&"n".repeat(400)); 5];
    let library = Elf::shared().section(".nv_fatbin", &fatbin(&entries)).bytes();
    let (member, diagnostics) = scan_bytes("x.so", &library, &options);
    let kept = all_images(member.as_ref()).iter().filter(|image| image.identifier.is_some()).count();
    assert_eq!((all_images(member.as_ref()).len(), kept), (5, 2));
    assert_eq!(codes(&diagnostics), ["FS0505"]);
}

#[test]
fn concatenated_entry_with_a_lying_table_keeps_the_members_that_fit() {
    let parts = [
        Entry::ptx("75", (8, 5), &ptx_text("8.5", "sm_75", "k")),
        Entry::ptx("80", (8, 5), &ptx_text("8.5", "sm_80", "k")),
    ];
    let mut entry = concat(&parts, Codec::Zstd);
    let mut table = entry.member_table.clone().unwrap();
    table[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    entry.member_table = Some(table);
    let (bytes, _) = between(&fatbin(&[entry]));
    let (member, diagnostics) = scan("x.fatbin", &bytes);
    assert_siblings(member.as_ref(), "count");
    let words = words(member.as_ref());
    assert!(words.contains(&"ptx compute_75".to_owned()) && words.contains(&"ptx compute_80".to_owned()), "{words:?}");
    assert!(codes(&diagnostics).contains(&"FS0307"), "{diagnostics:?}");
}

// --- archives

fn library(arch: &str) -> Vec<u8> {
    Elf::shared()
        .section(".nv_fatbin", &fatbin(&[Entry::sass(arch, Cubin::new(arch).bytes())]))
        .section(".rodata", &[5; 9000])
        .bytes()
}

fn scan_file(name: &str, bytes: &[u8]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    scan_paths(&[path], &Options::default())
}

/// Path and words of the members.
fn listed(report: &Report) -> Vec<String> {
    let members = report.artefacts.iter().flat_map(|artefact| &artefact.members);
    members.map(|member| format!("{} {}", member.path, words(Some(member)).join(" "))).collect()
}

#[test]
fn members_that_lie_about_themselves_are_told_of_and_keep_their_code() {
    let good = library("90");
    let size = good.len() as u64;
    let cases = [
        ("shorter.so", ZipMember::deflated("shorter.so", &good).lying_size(size + 1), "FS0206"),
        ("far_shorter.so", ZipMember::deflated("far_shorter.so", &good).lying_size(1 << 33).zip64(), "FS0206"),
        ("longer.so", ZipMember::deflated("longer.so", &good).lying_size(size - 1), "FS0206"),
        ("crc.so", ZipMember::deflated("crc.so", &good).bad_crc(), "FS0206"),
        ("stored_longer.so", ZipMember::stored("stored_longer.so", &good).lying_size(size - 1), "FS0206"),
    ];
    for (name, member, code) in cases {
        let zip = Zip::new().deflated("a.so", &library("80")).with(member).deflated("z.so", &library("75"));
        let report = scan_file("x.whl", &zip.bytes());
        let listed = listed(&report);
        for line in ["a.so sass sm_80".to_owned(), format!("{name} sass sm_90"), "z.so sass sm_75".to_owned()] {
            assert!(listed.contains(&line), "{name}: {listed:?}");
        }
        let said: Vec<_> = report.diagnostics.iter().filter(|d| d.level == Level::Error).collect();
        assert_eq!(said.iter().map(|d| d.code.to_string()).collect::<Vec<_>>(), [code], "{name}: {said:?}");
        assert!(said[0].at.to_string().ends_with(&format!("x.whl!{name}")), "{said:?}");
    }
}

#[test]
fn stored_member_with_a_wrong_checksum_is_told_of() {
    let zip = Zip::new().with(ZipMember::stored("a.so", &library("90")).bad_crc());
    let report = scan_file("x.whl", &zip.bytes());
    assert_eq!(listed(&report), ["a.so sass sm_90"]);
    assert_eq!(codes(&report.diagnostics), ["FS0206"]);
    assert_eq!(report.diagnostics[0].level, Level::Error);
    assert!(report.diagnostics[0].at.to_string().ends_with("x.whl!a.so"), "{:?}", report.diagnostics);
}

#[test]
fn damaged_deflate_stream_keeps_what_came_before() {
    let good = library("90");
    let mut packed = testkit::compress::deflate(&good);
    let half = packed.len() - 40;
    packed[half..].fill(0xFF);
    let mut member = ZipMember::deflated("a.so", &good);
    member.packed = Some(packed);
    let zip = Zip::new().with(member).deflated("z.so", &library("75"));
    let report = scan_file("x.whl", &zip.bytes());
    let listed = listed(&report);
    assert!(listed.contains(&"z.so sass sm_75".to_owned()), "{listed:?}");
    assert!(
        report.diagnostics.iter().any(|d| d.code == Code::MemberDamaged && d.at.to_string().ends_with("a.so")),
        "{:?}",
        report.diagnostics
    );
}

#[test]
fn packed_size_past_the_end_of_the_archive_is_told_of() {
    let zip = Zip::new()
        .deflated("a.so", &library("80"))
        .with(ZipMember::deflated("b.so", &library("90")).lying_packed(1 << 30));
    let report = scan_file("x.whl", &zip.bytes());
    assert!(listed(&report).contains(&"a.so sass sm_80".to_owned()));
    assert!(
        report.diagnostics.iter().any(|d| d.level == Level::Error && d.at.to_string().ends_with("b.so")),
        "{:?}",
        report.diagnostics
    );
}

#[test]
fn broken_directory_of_an_archive_hides_no_member() {
    for central in [Central::Missing, Central::Truncated, Central::BadSignature, Central::BadOffset, Central::BadCount]
    {
        for descriptor in [false, true] {
            let mut zip = Zip::new();
            for (name, arch) in [("a.so", "80"), ("b.so", "90a"), ("c.so", "100")] {
                let member = ZipMember::deflated(name, &library(arch));
                zip = zip.with(if descriptor { member.data_descriptor() } else { member });
            }
            let report = scan_file("x.whl", &zip.central(central).bytes());
            assert_eq!(
                listed(&report),
                ["a.so sass sm_80", "b.so sass sm_90a", "c.so sass sm_100"],
                "{central:?}, data descriptors {descriptor}: {:?}",
                report.diagnostics
            );
            let said = errors(&report.diagnostics);
            assert!(said.iter().any(|code| ["FS0201", "FS0202"].contains(code)), "{central:?}: {said:?}");
        }
    }
}

#[test]
fn cut_wheel_lists_the_members_before_the_cut() {
    let zip = Zip::new()
        .deflated("a.so", &library("80"))
        .with(ZipMember::stored("b.so", &library("90a")))
        .deflated("c.so", &library("100"));
    let bytes = zip.bytes();
    let ends: Vec<usize> = {
        let mut end = 0;
        zip.members
            .iter()
            .map(|member| {
                let packed = if member.method == method::STORED {
                    member.data.clone()
                } else {
                    testkit::compress::deflate(&member.data)
                };
                end += 30 + member.name.len() + packed.len();
                end
            })
            .collect()
    };
    let lines = ["a.so sass sm_80", "b.so sass sm_90a", "c.so sass sm_100"];
    for cut in (0..64).map(|cut| cut * bytes.len() / 64) {
        let report = scan_file("x.whl", &bytes[..cut]);
        let listed = listed(&report);
        for (line, end) in lines.iter().zip(&ends) {
            if *end <= cut {
                assert!(listed.iter().any(|own| own == line), "cut at {cut}: {listed:?}");
            }
        }
        assert!(!errors(&report.diagnostics).is_empty(), "cut at {cut}");
    }
}

#[test]
fn member_limit_is_told_of() {
    let mut options = Options::default();
    options.limits.entries = 2;
    let zip =
        Zip::new().deflated("a.so", &library("80")).deflated("b.so", &library("90")).deflated("c.so", &library("75"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.whl");
    std::fs::write(&path, zip.bytes()).unwrap();
    let report = scan_paths(&[&path], &options);
    assert_eq!(listed(&report), ["a.so sass sm_80", "b.so sass sm_90"]);
    assert_eq!(codes(&report.diagnostics), ["FS0501"]);
    options.limits.entries = 10;
    options.limits.member_bytes = 1000;
    let report = scan_paths(&[&path], &options);
    assert_eq!(codes(&report.diagnostics), ["FS0502"; 3]);
}

// --- memory

/// Runs the program and returns the most anonymous memory that was seen, with its exit code and output. None where
/// the system does not tell.
fn peak(arguments: &[&str], paths: &[&Path]) -> Option<(u64, Option<i32>, String)> {
    if common::anonymous_memory().is_none() {
        eprintln!("skipped: no RssAnon in /proc/self/status on this system");
        return None;
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_fatscan"))
        .args(arguments)
        .args(paths)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("RssAnon:"));
        let kilobytes = line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0);
        most = most.max(kilobytes * 1024);
        std::thread::sleep(Duration::from_micros(500));
    }
    let output = child.wait_with_output().unwrap();
    Some((most, output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

const MB: u64 = 1_000_000;

#[test]
fn deflate_bomb_is_scanned_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.whl");
    let head = library("90");
    let zeros = 512u64 << 20;
    let (packed, crc) = deflate_bomb(&head, zeros);
    let mut zip = Zip::new();
    for name in ["a.so", "b.so", "c.so"] {
        let mut member = ZipMember::deflated(name, &[]);
        member.packed = Some(packed.clone());
        member.stated_size = Some(head.len() as u64 + zeros);
        member.stated_crc = Some(crc);
        zip = zip.with(member);
    }
    // and one that states to be small
    let mut member = ZipMember::deflated("d.so", &[]);
    member.packed = Some(packed);
    member.stated_size = Some(head.len() as u64);
    member.stated_crc = Some(crc);
    std::fs::write(&path, zip.with(member).bytes()).unwrap();
    let Some((most, code, output)) = peak(&["--threads", "2", "--format", "json"], &[&path]) else { return };
    assert!(most < 64 * MB, "{most} bytes");
    assert_eq!(code, Some(1));
    let document: fatscan::json::Document = serde_json::from_str(&output).unwrap();
    assert_eq!(document.artefacts[0].members.len(), 4);
    assert_eq!(document.diagnostics.len(), 1);
    assert_eq!(
        (document.diagnostics[0].code.as_str(), document.diagnostics[0].place.ends_with("d.so")),
        ("FS0206", true)
    );
}

#[test]
fn bombs_in_payloads_are_bounded_under_verify() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = |unpacked: u64, stated: u64| {
        let mut entry = Entry::sass("90", zstd_zeros(unpacked)).flag(testkit::fatbin::flag::ZSTD);
        entry.uncompressed_size = Some(stated);
        entry
    };
    let check = |name: &str, entry: Entry, limit: u64, said: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, Elf::shared().section(".nv_fatbin", &between(&fatbin(&[entry])).0).bytes()).unwrap();
        let Some((most, code, output)) = peak(&["--verify", "--threads", "1", "--format", "json"], &[&path]) else {
            return;
        };
        assert!(most < limit, "{name}: {most} bytes");
        assert_eq!(code, Some(1), "{name}");
        let document: fatscan::json::Document = serde_json::from_str(&output).unwrap();
        assert!(document.diagnostics.iter().any(|d| d.code == said), "{name}: {:?}", document.diagnostics);
        assert_eq!(document.artefacts[0].members[0].images, 3, "{name}");
    };
    // states 1 TiB: refused by the limit, nothing is unpacked
    check("stated.so", bomb(1 << 20, 1 << 40), 32 * MB, "FS0506");
    // states little and is 4 GiB: unpacked to a byte more than stated
    check("true.so", bomb(4 << 30, 1000), 32 * MB, "FS0308");
    // a true one takes what it unpacks to with its window, once, and no more; if that is more than 192 MiB it is not unpacked
    check("within.so", bomb(64 << 20, 64 << 20), 220 * MB, "FS0309");
    check("beyond.so", bomb(128 << 20, 128 << 20), 32 * MB, "FS0509");
    // a raw LZ4 block that states more than it could hold reserves nothing
    let mut lz4 = Entry::sass("90", Cubin::new("90").bytes()).compressed(Codec::Lz4);
    lz4.stated_uncompressed_size = Some(100 << 20);
    check("lz4.so", lz4, 32 * MB, "FS0308");
}

#[test]
fn list_reads_no_payload_of_a_bomb() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.so");
    let mut entry = Entry::sass("90", zstd_zeros(4 << 30)).flag(testkit::fatbin::flag::ZSTD);
    entry.uncompressed_size = Some(4 << 30);
    std::fs::write(&path, Elf::shared().section(".nv_fatbin", &fatbin(&[entry])).bytes()).unwrap();
    let Some((most, code, _)) = peak(&["--threads", "1"], &[&path]) else { return };
    assert_eq!(code, Some(0));
    assert!(most < 32 * MB, "{most} bytes");
}

// --- anything

#[test]
fn empty_file_is_told_of() {
    for name in ["x.so", "x.whl", "x.fatbin", "x"] {
        let report = scan_file(name, b"");
        assert_eq!(codes(&report.diagnostics), ["FS0103"], "{name}");
        assert_eq!(listed(&report), [""; 0]);
    }
}

#[test]
fn mutated_fixtures_never_panic_and_read_the_same_from_every_stream() {
    let fixtures: Vec<(String, Vec<u8>)> = all()
        .iter()
        .map(|truth| (truth.file.clone(), truth.bytes()))
        .filter(|(_, bytes)| !bytes.is_empty() && bytes.len() < 13_000)
        .collect();
    let mut random = Random::new(20_261_130);
    let verify = Options::verifying();
    for number in 0..2000 {
        let (name, good) = &fixtures[random.below(fixtures.len())];
        let mut bytes = good.clone();
        for _ in 0..=random.below(6) {
            mutate(&mut bytes, &fixtures, &mut random);
        }
        let what = format!("input {number} from {name}");
        for options in [&Options::default(), &verify] {
            let slice = scan_bytes(name, &bytes, options);
            assert_placed(name, &slice.1, &what);
            assert_eq!(slice, scan_inflated(name, &bytes, options), "{what}");
            assert_eq!(slice, scan_steps(name, &bytes, options), "{what}");
        }
        for found in ::fatbin::find(&bytes) {
            let mut out = Vec::new();
            for (_, entry) in found.entries().map_while(Result::ok) {
                let _ = ::fatbin::decode(&entry, 1 << 20, &mut out);
                let _ = ::fatbin::decode_prefix(&entry, 256, 1 << 20, &mut out);
                let _ = (cubin::Cubin::parse(&out), cubin::Cubin::kernels(&out), cubin::ptx_kernels(&out));
                let _ = entry.members().count().min(1 << 20);
            }
        }
        let _ = (cubin::Cubin::parse(&bytes), cubin::Cubin::kernels(&bytes), cubin::ptx_kernels(&bytes));
    }
}

/// Flips, overwrites with telling numbers, cuts, moves or mixes.
fn mutate(bytes: &mut Vec<u8>, fixtures: &[(String, Vec<u8>)], random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(7) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => {
            let value = [0, 1, 63, 64, 0xFFFF, 1 << 31, u64::MAX, 1 << 40][random.below(8)];
            let at = at & !3;
            let end = (at + [4, 8][random.below(2)]).min(bytes.len());
            bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
        3 => bytes.truncate(at),
        4 => {
            let length = random.below(200).min(bytes.len() - at);
            bytes.drain(at..at + length);
        }
        5 => {
            let (_, other) = &fixtures[random.below(fixtures.len())];
            let from = random.below(other.len());
            let part = other[from..(from + random.below(3000)).min(other.len())].to_vec();
            bytes.splice(at..at, part);
        }
        _ => {
            // headers are where it hurts
            let at = random.below(bytes.len().min(160));
            bytes[at] = random.next() as u8;
        }
    }
}

#[test]
fn mutated_archives_never_panic() {
    let mut random = Random::new(77);
    let good = Zip::wheel(
        "x",
        "1",
        "py3-none-any",
        &[
            ZipMember::deflated("a.so", &library("80")),
            ZipMember::stored("b.so", &library("90a")),
            ZipMember::deflated("c.so", &library("100")).zip64(),
            ZipMember::deflated("d.so", &library("75")).data_descriptor(),
        ],
    )
    .bytes();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.whl");
    let tail = good.len() - 900;
    for number in 0..600 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(4) {
            match random.below(4) {
                // the directory and the ends of members
                0 | 1 => {
                    let at = tail + random.below(bytes.len().saturating_sub(tail));
                    if at < bytes.len() {
                        bytes[at] = random.next() as u8;
                    }
                }
                2 => {
                    let at = random.below(bytes.len());
                    bytes[at] = random.next() as u8;
                }
                _ => {
                    let cut = bytes.len() - random.below(300).min(bytes.len() / 2);
                    bytes.truncate(cut);
                }
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        let report = scan_paths(&[&path], &Options::default());
        assert_eq!(report.artefacts.len(), 1, "archive {number}");
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(3);
    for size in (0..400).chain([4095, 4096, 4097, 70_000]) {
        let mut bytes = random.bytes(size);
        for magic in [
            &b"\x7fELF\x02\x01\x01"[..],
            b"MZ",
            b"!<arch>\n",
            b"PK\x03\x04",
            &[0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0],
            &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2],
            &[0xCF, 0xFA, 0xED, 0xFE],
            &[0x64, 0x86, 1, 0],
            b".version 8.5 .target sm_",
        ] {
            let count = magic.len().min(bytes.len());
            bytes[..count].copy_from_slice(&magic[..count]);
            let slice = scan("x", &bytes);
            assert_eq!(slice, scan_steps("x", &bytes, &Options::default()), "{size} bytes");
        }
    }
}
