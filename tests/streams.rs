//! However the bytes come, the report is the same: from a slice, from an inflater with its small window, or one at
//! a time. And wherever a window ends, what lies across its end is found.
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

use common::{Steps, all_images, scan, scan_inflated, scan_steps, scan_stream, words};
use fatscan::{Linkage, Member, Options};
use fatscan_containers::{ByteStream, Inflater, SliceStream};
use testkit::ar::Flavour;
use testkit::compress::{crc32, deflate};
use testkit::elf::{Names, Section, Table, machine};
use testkit::fatbin::{Codec, wrapper};
use testkit::truth::all;
use testkit::{Ar, Coff, Cubin, Elf, Entry, MachO, Pe, fatbin, ptx_text};

/// Slice, inflater and single bytes agree on one file.
fn agree(name: &str, bytes: &[u8], what: &str, options: &Options) {
    let slice = common::scan_bytes(name, bytes, options);
    assert_eq!(slice, scan_inflated(name, bytes, options), "{name} {what}: slice (left) and inflater");
    assert_eq!(slice, scan_steps(name, bytes, options), "{name} {what}: slice (left) and single bytes");
}

/// 64 lengths from 0 to just below the whole.
fn cuts(length: usize) -> impl Iterator<Item = usize> {
    (0..64.min(length)).map(move |cut| cut * length / 64.min(length))
}

#[test]
fn every_fixture_reads_the_same_from_slice_inflater_and_single_bytes() {
    let verify = Options::verifying();
    for truth in all() {
        let bytes = truth.bytes();
        agree(&truth.file, &bytes, "whole", &Options::default());
        agree(&truth.file, &bytes, "verified", &verify);
    }
}

#[test]
fn every_cut_of_every_fixture_reads_the_same() {
    for truth in all() {
        let bytes = truth.bytes();
        for cut in cuts(bytes.len()) {
            agree(&truth.file, &bytes[..cut], &format!("cut at {cut}"), &Options::default());
        }
    }
}

#[test]
fn a_size_that_lies_reads_the_same() {
    let sass = |arch: &str| Entry::sass(arch, Cubin::new(arch).bytes());
    for at in [8usize, 20, 24] {
        for value in [0u64, 1, 63, 64, 4096, 1 << 20, 1 << 40, u64::MAX] {
            let mut bytes = fatbin(&[sass("80"), sass("90a")]);
            let width = if at == 20 { 4 } else { 8 };
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            bytes.extend(fatbin(&[sass("100f")]));
            let what = format!("field {at} = {value:#x}");
            agree("x.fatbin", &bytes, &what, &Options::default());
            let library = Elf::shared().section(".nv_fatbin", &bytes).bytes();
            agree("x.so", &library, &what, &Options::default());
        }
    }
}

/// Where the windows of an inflater end when nothing is found before.
fn window_ends(length: usize) -> Vec<usize> {
    let zeros = vec![0; length];
    let packed = deflate(&zeros);
    let mut stream = Inflater::new(SliceStream::new(&packed), length as u64, None, true);
    stream.fill(fatscan_containers::SNIFF_SIZE);
    let mut ends = Vec::new();
    loop {
        let end = stream.position() as usize + stream.window().len();
        if ends.last() != Some(&end) {
            ends.push(end);
        }
        // the step of a search that keeps what may be the start of a match
        stream.skip((stream.window().len() as u64).saturating_sub(23));
        if !stream.fill(24) {
            return ends;
        }
    }
}

/// `thing` at `at` in a file of zeros, `tail` more behind it.
fn placed(thing: &[u8], at: usize, tail: usize) -> Vec<u8> {
    let mut bytes = vec![0; at];
    bytes.extend_from_slice(thing);
    bytes.resize(at + thing.len() + tail, 0);
    bytes
}

/// The thing is found wherever a window ends in its first bytes, or just before or behind it.
fn found_across_window_ends(thing: &[u8], check: impl Fn(&Member, u64)) {
    let ends: Vec<usize> = window_ends(1 << 20).into_iter().take_while(|end| *end < 1 << 20).collect();
    assert!(ends.len() >= 3, "the inflater shows {ends:?}");
    for end in ends.iter().take(3) {
        for inside in 0..110usize {
            let at = end + 4 - inside;
            let bytes = placed(thing, at, 300);
            let (member, diagnostics) = scan_inflated("x.bin", &bytes, &Options::default());
            // a file of zeros is of no known format, and that is all
            assert_eq!(common::codes(&diagnostics), ["FS0104"], "at {at}, {inside} before {end}");
            check(&member.unwrap_or_else(|| panic!("nothing at {at}, {inside} before {end}")), at as u64);
        }
    }
}

#[test]
fn fatbin_across_a_window_end_is_found_at_every_offset() {
    let cubin = Cubin::new("90a").bytes();
    let thing = fatbin(&[
        Entry::sass("90a", cubin).name("a.cu").compressed(Codec::Zstd),
        Entry::ptx("90a", (8, 5), &ptx_text("8.5", "sm_90a", "k")).options("-O3"),
    ]);
    found_across_window_ends(&thing, |member, at| {
        assert_eq!(words(Some(member)), ["sass sm_90a", "ptx compute_90a"]);
        assert_eq!((member.modules[0].offset, member.modules[0].damaged), (at, false));
        assert_eq!(member.modules[0].images[0].identifier.as_deref(), Some("a.cu"));
        assert_eq!(member.modules[0].images[1].options.as_deref(), Some("-O3"));
    });
}

#[test]
fn bare_cubin_across_a_window_end_is_found_at_every_offset() {
    let thing = Cubin::new("100f").bytes();
    let size = thing.len() as u64;
    found_across_window_ends(&thing, |member, at| {
        assert_eq!(words(Some(member)), ["sass sm_100f"]);
        let image = &member.modules[0].images[0];
        assert_eq!((image.offset, image.stored_bytes, image.has_kernels), (at, size, Some(true)));
    });
}

#[test]
fn ptx_across_a_window_end_is_found_at_every_offset() {
    let thing =
        ".version 8.5\n// a comment between\n.target sm_90a, debug\n.address_size 64\n.visible .entry k() { ret; }\n";
    found_across_window_ends(thing.as_bytes(), |member, at| {
        assert_eq!(words(Some(member)), ["ptx compute_90a"]);
        let image = &member.modules[0].images[0];
        assert_eq!((image.offset, image.stored_bytes, image.version), (at, thing.len() as u64, Some((8, 5))));
    });
}

#[test]
fn empty_fatbin_across_a_window_end_is_counted_at_every_offset() {
    found_across_window_ends(&fatbin(&[]), |member, _| {
        assert_eq!((member.modules.len(), member.empty_fatbins), (0, 1));
    });
}

/// `__CLANG_OFFLOAD_BUNDLE__`, a count, then offset, size, length and name of each.
fn clang_bundle() -> Vec<u8> {
    let name = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend(1u64.to_le_bytes());
    out.extend(256u64.to_le_bytes());
    out.extend(16u64.to_le_bytes());
    out.extend((name.len() as u64).to_le_bytes());
    out.extend(name);
    out.resize(272, 0);
    out
}

#[test]
fn bundles_across_a_window_end_are_found_at_every_offset() {
    for (thing, word) in
        [(clang_bundle(), "other gfx942"), (testkit::truth::bytes("clang_bundle_ccob_v3_zstd.hipfb"), "other")]
    {
        let ends = window_ends(1 << 20);
        for inside in 0..110usize {
            let at = ends[1] + 4 - inside;
            let (member, _) = scan_inflated("x.bin", &placed(&thing, at, 300), &Options::default());
            assert_eq!(words(member.as_ref()), [word], "at {at}");
            assert_eq!(member.unwrap().modules[0].offset, at as u64);
        }
    }
}

/// Small fatbins back to back in a stride that no window size divides, so that every end of a window, whatever its
/// size, cuts one of them, and in the course of the shifts at every offset.
#[test]
fn dense_fatbins_are_all_found_whatever_the_windows_are() {
    let one = fatbin(&[Entry::sass("80", vec![1; 8])]);
    let stride = one.len() + 31;
    assert_eq!(stride, 16 + 64 + 8 + 31);
    for shift in 0..stride {
        let mut bytes = vec![0; shift];
        let count = 300_000 / stride;
        for _ in 0..count {
            bytes.extend_from_slice(&one);
            bytes.resize(bytes.len() + 31, 0xAA);
        }
        let (member, _) = scan_inflated("x.bin", &bytes, &Options::default());
        let offsets: Vec<usize> = member.unwrap().modules.iter().map(|module| module.offset as usize).collect();
        let expected: Vec<usize> = (0..count).map(|number| shift + number * stride).collect();
        assert_eq!(offsets, expected, "shift {shift}");
    }
    // and with windows of other sizes
    let mut bytes = vec![7; 5];
    for _ in 0..40 {
        bytes.extend_from_slice(&one);
        bytes.resize(bytes.len() + 31, 0xAA);
    }
    for step in 1..200 {
        let (member, _) = scan_stream("x.bin", &mut Steps::new(&bytes, step), &Options::default());
        assert_eq!(member.unwrap().modules.len(), 40, "steps of {step}");
    }
}

fn two_sections() -> Elf {
    let loaded = fatbin(&[Entry::sass("90a", Cubin::new("90a").bytes()), Entry::sass("80", Cubin::new("80").bytes())]);
    let linked = fatbin(&[Entry::sass("75", Cubin::new("75").relocatable().bytes()).compressed(Codec::Zstd)]);
    Elf::shared()
        .section(".text", &[0x90; 3000])
        .section(".nv_fatbin", &loaded)
        .section("__nv_relfatbin", &linked)
        .section(".rodata", &[0x55; 5000])
}

/// By construction: two images to load, one relocatable; sections by name where there are names.
fn labelled(bytes: &[u8], named: bool, what: &str) {
    agree("x.so", bytes, what, &Options::default());
    for (member, diagnostics) in [scan("x.so", bytes), scan_inflated("x.so", bytes, &Options::default())] {
        assert!(diagnostics.is_empty(), "{what}: {diagnostics:?}");
        let member = member.unwrap();
        let sections: Vec<Option<&str>> = member.modules.iter().map(|module| module.section.as_deref()).collect();
        let linkages: Vec<Linkage> = all_images(Some(&member)).iter().map(|image| image.linkage).collect();
        if named {
            assert_eq!(sections, [Some(".nv_fatbin"), Some("__nv_relfatbin")], "{what}");
            assert_eq!(linkages, [Linkage::Loadable, Linkage::Loadable, Linkage::Relocatable], "{what}");
        } else {
            assert_eq!(sections, [None, None], "{what}");
            assert_eq!(linkages, [Linkage::Unknown; 3], "{what}");
        }
    }
}

#[test]
fn sections_of_a_streamed_elf_are_named_wherever_the_table_stands() {
    for table in [Table::Last, Table::First, Table::Inside(5000), Table::Inside(700_000), Table::None] {
        for names in [Names::Last, Names::First] {
            for extended in [false, true] {
                for narrow in [false, true] {
                    let mut elf = two_sections().table(table).names(names);
                    if extended {
                        elf = elf.extended_numbering();
                    }
                    if narrow {
                        elf = elf.narrow();
                    }
                    let what = format!("{table:?}, names {names:?}, extended {extended}, narrow {narrow}");
                    labelled(&elf.bytes(), table != Table::None, &what);
                }
            }
        }
    }
}

#[test]
fn section_names_far_from_the_table_are_found() {
    // more than a window lies between names, fatbins and table
    for names in [Names::First, Names::Last] {
        for table in [Table::First, Table::Last, Table::Inside(300_000)] {
            let elf = two_sections().with(Section::new(".filler", &vec![3; 700_000])).names(names).table(table);
            labelled(&elf.bytes(), true, &format!("far {names:?} {table:?}"));
        }
    }
}

#[test]
fn section_names_longer_than_what_is_remembered_are_read_again() {
    // `.shstrtab` is the first or the last of 400 names of 45 bytes: both ends of the table of names lie more than
    // 4,096 bytes from it
    for names in [Names::First, Names::Last] {
        let mut elf = two_sections().names(names);
        for number in 0..200 {
            elf = elf.section(&format!(".text.a_rather_long_name_of_a_function_{number:09}"), b"x");
        }
        let long = elf.sections.split_off(4);
        let (before, behind) = long.split_at(100);
        elf.sections = before.iter().cloned().chain(elf.sections).chain(behind.iter().cloned()).collect();
        labelled(&elf.clone().bytes(), true, &format!("long names {names:?}"));
        labelled(&elf.extended_numbering().bytes(), true, &format!("long names {names:?}, extended"));
    }
}

#[test]
fn false_section_names_do_not_hide_the_true_ones() {
    // as in a linker: its own data is full of the word
    let decoy = b"\0.symtab\0.strtab\0.shstrtab\0.text\0".repeat(40);
    for names in [Names::First, Names::Last] {
        let mut elf = two_sections().names(names);
        elf.sections.insert(0, Section::new(".rodata.decoy", &decoy));
        labelled(&elf.bytes(), true, &format!("decoys, {names:?}"));
    }
}

#[test]
fn wrappers_of_a_streamed_library_are_matched() {
    let first = fatbin(&[Entry::sass("90", Cubin::new("90").bytes())]);
    let second = fatbin(&[Entry::sass("80", Cubin::new("80").bytes())]);
    let both = [first.clone(), second].concat();
    let probe = Elf::shared().section(".nv_fatbin", &both).section(".nvFatBinSegment", &wrapper(1, 0));
    let address = probe.offset_of(".nv_fatbin");
    let elf = Elf::shared().section(".nv_fatbin", &both).section(".nvFatBinSegment", &wrapper(1, address));
    let bytes = elf.bytes();
    agree("x.so", &bytes, "wrapper", &Options::default());
    let (member, _) = scan_inflated("x.so", &bytes, &Options::default());
    let wrapped: Vec<Option<bool>> = member.unwrap().modules.iter().map(|module| module.wrapped).collect();
    assert_eq!(wrapped, [Some(true), Some(false)]);
}

#[test]
fn every_container_reads_the_same_from_a_stream() {
    let code = fatbin(&[
        Entry::sass("90a", Cubin::new("90a").bytes()).compressed(Codec::Lz4),
        Entry::ptx("90a", (8, 5), &ptx_text("8.5", "sm_90a", "k")).compressed(Codec::Zlib),
    ]);
    let object = Elf::object().section(".nv_fatbin", &code).bytes();
    let thin = MachO::dylib().fatbin(&code).bytes();
    let slices = [(testkit::macho::cpu::X86_64, thin.clone()), (testkit::macho::cpu::ARM64, thin.clone())];
    let archive = |flavour| {
        Ar::new(flavour).symbols(&["f"]).member("odd.o", &object).member("a_long_name_of_an_object.o", &object)
    };
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("arm.so", Elf::shared().machine(machine::AARCH64).section(".nv_fatbin", &code).bytes()),
        ("x.dll", Pe::dll().section(".nv_fatb", &code).section("__nv_rel", &code).bytes()),
        ("x32.dll", Pe::dll32().section(".nv_fatb", &code).bytes()),
        ("x.obj", Coff::new().section(".nv_fatbin", &code).bytes()),
        ("big.obj", Coff::new().big().section(".nv_fatbin", &code).bytes()),
        ("universal.dylib", testkit::macho::universal(&slices, false)),
        ("universal64.dylib", testkit::macho::universal(&slices, true)),
        ("x.dylib", thin),
        ("gnu.a", archive(Flavour::Gnu).bytes()),
        ("bsd.a", archive(Flavour::Bsd).bytes()),
        ("x.lib", archive(Flavour::Coff).bytes()),
        ("thin.a", archive(Flavour::Thin).bytes()),
        ("zip.bin", testkit::Zip::new().deflated("a", b"x").bytes()),
        ("text.txt", b"neither here nor there".repeat(300)),
    ];
    for (name, bytes) in files {
        agree(name, &bytes, "whole", &Options::default());
        for cut in cuts(bytes.len()) {
            agree(name, &bytes[..cut], &format!("cut at {cut}"), &Options::default());
        }
    }
}

#[test]
fn inflater_hands_out_the_bytes_it_was_given() {
    let mut random = common::Random::new(11);
    let mut bytes = random.bytes(700_000);
    bytes[100_000..400_000].fill(0);
    let packed = deflate(&bytes);
    let mut stream = Inflater::new(SliceStream::new(&packed), bytes.len() as u64, Some(crc32(&bytes)), true);
    let mut position = 0usize;
    while position < bytes.len() {
        let want = random.below(5000) + 1;
        stream.fill(want);
        let window = stream.window();
        assert!(window.len() >= want.min(bytes.len() - position));
        assert_eq!(window, &bytes[position..position + window.len()]);
        let behind = stream.behind();
        assert_eq!(behind, &bytes[position - behind.len()..position]);
        let step = random.below(9000) + 1;
        position += stream.skip(step as u64) as usize;
        assert_eq!(stream.position(), position as u64);
    }
    assert_eq!(stream.fault(), None);
    for back in [699_999usize, 5, 300_000] {
        stream.rewind(back as u64);
        stream.fill(1);
        assert_eq!((stream.position(), stream.window()[0]), (back as u64, bytes[back]));
    }
}
