//! Writes the files in `fuzz/corpus`, small shapes of damage that readers went wrong with or may go wrong with:
//! `cargo run -p testkit --example fuzz_corpus -- fuzz/corpus`

use std::path::Path;

use testkit::ar::Flavour;
use testkit::elf::Section;
use testkit::fatbin::{Codec, concat, flag, wrapper};
use testkit::macho::{cpu, universal};
use testkit::{Ar, Cubin, Elf, Entry, MachO, Zip, ZipMember, compress, fatbin, ptx_text};

fn sass(arch: &str) -> Entry {
    Entry::sass(arch, Cubin::new(arch).bytes())
}

fn library(arch: &str) -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &fatbin(&[sass(arch)])).bytes()
}

/// `bytes` with `value` at `at`, as far as there is room.
fn with(mut bytes: Vec<u8>, at: usize, value: &[u8]) -> Vec<u8> {
    if let Some(place) = bytes.get_mut(at..at.saturating_add(value.len())) {
        place.copy_from_slice(value);
    }
    bytes
}

/// The first `numerator` of `denominator` parts.
fn cut(mut bytes: Vec<u8>, numerator: usize, denominator: usize) -> Vec<u8> {
    let length = bytes.len().saturating_mul(numerator).checked_div(denominator).unwrap_or_default();
    bytes.truncate(length);
    bytes
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fuzz/corpus".to_owned());
    let put = |targets: &[&str], name: &str, data: &[u8]| {
        targets.iter().try_for_each(|target| {
            let folder = Path::new(&folder).join(target);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(format!("{name}.seed")), data)
        })
    };

    // fatbins: sizes that lie, chains that break, payloads that are none
    let good = fatbin(&[sass("80"), sass("90").compressed(Codec::Lz4)]);
    let mut foreign = Entry::sass("90", vec![7; 64]).flag(flag::ZSTD);
    foreign.uncompressed_size = Some(500);
    let mut bomb = Entry::sass("90", compress::zstd_zeros(1 << 30)).flag(flag::ZSTD);
    bomb.uncompressed_size = Some(1 << 30);
    bomb.payload.truncate(8 << 10);
    let ptx = Entry::ptx("90a", (8, 5), &ptx_text("8.5", "sm_90a", "k"));
    let fatbins = [
        ("size_0", with(good.clone(), 8, &0u64.to_le_bytes())),
        ("size_most", with(good.clone(), 8, &u64::MAX.to_le_bytes())),
        ("size_half", with(good.clone(), 8, &(1u64 << 63).to_le_bytes())),
        ("entry_header_0", with(good.clone(), 20, &0u32.to_le_bytes())),
        ("entry_header_most", with(good.clone(), 20, &u32::MAX.to_le_bytes())),
        ("entry_payload_most", with(good.clone(), 24, &u64::MAX.to_le_bytes())),
        ("cut", cut(good.clone(), 2, 3)),
        ("header_only", cut(good.clone(), 16, good.len())),
        ("damaged_and_whole", [with(good.clone(), 20, &0u32.to_le_bytes()), good.clone()].concat()),
        ("swallows_the_next", [with(good.clone(), 8, &(1u64 << 14).to_le_bytes()), good].concat()),
        ("empty_payload", fatbin(&[sass("80"), Entry::sass("90", Vec::new())])),
        ("foreign_payload", fatbin(&[sass("80"), foreign])),
        ("bomb", fatbin(&[bomb])),
        ("concat_cut", cut(fatbin(&[concat(&[ptx.clone(), ptx], Codec::None)]), 3, 4)),
    ];
    for (name, data) in &fatbins {
        put(&["fatbin", "scan_verify"], name, data)?;
    }

    // cubins: tables that point outside
    let cubin = Cubin::new("90").kernel("_Z1kPf").device_function("d").bytes();
    let cubins = [
        ("sections_behind_the_end", with(cubin.clone(), 0x28, &u64::MAX.to_le_bytes())),
        ("sections_many", with(cubin.clone(), 0x3c, &u16::MAX.to_le_bytes())),
        ("sections_of_no_size", with(cubin.clone(), 0x3a, &0u16.to_le_bytes())),
        ("names_nowhere", with(cubin.clone(), 0x3e, &u16::MAX.to_le_bytes())),
        ("head_only", cut(cubin.clone(), 64, cubin.len())),
        ("cut", cut(cubin, 1, 2)),
    ];
    for (name, data) in &cubins {
        put(&["cubin", "symbol_prefix"], name, data)?;
    }
    put(&["ptx"], "cut", b".version 8.5\n.target sm_90")?;
    put(&["ptx"], "comment_without_end", b".version 8.5\n.target sm_90a\n/* .entry k(")?;

    // libraries: damage of their tables, a cubin's head among data, code that nothing loads
    let mut note = Section::new(".comment", &fatbin(&[sass("90")]));
    note.flags = 0;
    let mut unmapped = Elf::shared().section(".nv_fatbin", &fatbin(&[sass("70")])).with(note);
    unmapped.load = false;
    let head = cut(Cubin::new("90").bytes(), 64, Cubin::new("90").bytes().len());
    let records = [wrapper(1, 0), wrapper(1, 8), wrapper(1, u64::MAX)].concat();
    let slice = MachO::dylib().fatbin(&fatbin(&[sass("90")])).bytes();
    let libraries = [
        ("elf_cut", cut(library("90"), 3, 4)),
        ("elf_sections_behind_the_end", with(library("90"), 0x28, &u64::MAX.to_le_bytes())),
        ("elf_sections_many", with(library("90"), 0x3c, &0u16.to_le_bytes())),
        ("elf_unmapped", unmapped.bytes()),
        ("elf_head_of_a_cubin", Elf::shared().section(".rodata", &[head, vec![0; 400]].concat()).bytes()),
        ("elf_wrappers", Elf::shared().section(".nvFatBinSegment", &records).bytes()),
        ("universal_cut", cut(universal(&[(cpu::X86_64, slice.clone()), (cpu::ARM64, slice)], false), 4, 5)),
    ];
    for (name, data) in &libraries {
        put(&["layout", "sections", "scan_stream"], name, data)?;
    }

    // static libraries that end early
    let object = Elf::object().section(".nv_fatbin", &fatbin(&[sass("90")])).bytes();
    let ar = Ar::new(Flavour::Gnu).symbols(&["f"]).member("a_name_of_more_than_fifteen_characters.o", &object).bytes();
    for (name, data) in [("cut", cut(ar.clone(), 1, 2)), ("cut_in_the_names", cut(ar, 120, 4096))] {
        put(&["archive", "scan"], name, &data)?;
    }

    // zip archives: members that lie, two directories, what ends early
    let zip = Zip::new().deflated("a.so", &library("80")).deflated("b.so", &library("90")).bytes();
    let mut two_ends = Zip::new().deflated("a.so", &library("90"));
    two_ends.comment = Zip::new().deflated("a.so", &library("70")).bytes();
    let mut prefix = Zip::new().deflated("a.so", &library("70"));
    prefix.prefix = fatbin(&[sass("90")]);
    prefix.offsets_include_prefix = true;
    let lying = |member: ZipMember| Zip::new().with(member).deflated("b.so", &library("90")).bytes();
    let zips = [
        ("cut", cut(zip.clone(), 2, 3)),
        ("no_end", cut(zip.clone(), zip.len().saturating_sub(22), zip.len())),
        ("two_ends", two_ends.bytes()),
        ("prefix", prefix.bytes()),
        ("behind_the_end", lying(ZipMember::deflated("a.so", &library("80")).lying_packed(1 << 30))),
        ("size_most", lying(ZipMember::deflated("a.so", &library("80")).lying_size(u64::from(u32::MAX - 1)))),
        ("size_small", lying(ZipMember::deflated("a.so", &library("80")).lying_size(8))),
        ("checksum", lying(ZipMember::stored("a.so", &library("80")).bad_crc())),
        ("encrypted", lying(ZipMember::deflated("a.so", &library("80")).encrypted())),
        ("same_name", Zip::new().deflated("a.so", &library("90")).stored("a.so", &library("70")).bytes()),
        ("in_itself", Zip::new().stored("x.zip", &zip).deflated("a.so", &library("90")).bytes()),
    ];
    for (name, data) in &zips {
        put(&["zip"], name, data)?;
        put(&["scan"], &format!("zip_{name}"), data)?;
    }

    // deflate streams
    let packed = compress::deflate(&library("90"));
    put(&["inflate"], "cut", &cut(packed.clone(), 1, 2))?;
    put(&["inflate"], "damaged", &with(packed.clone(), packed.len() / 2, &[0xff; 8]))?;

    // archives that are read forward, and what is around them
    let tar = testkit::Tar::new().file("a.so", &library("80")).pax(&[("path", "b.so")]).file("b", &library("90"));
    let second = library("80").len().next_multiple_of(512).saturating_add(512);
    put(&["tar", "scan"], "tar_cut", &cut(tar.bytes(), 1, 2))?;
    put(&["tar"], "tar_header", &with(tar.bytes(), second, &[0xff; 4]))?;
    let most = testkit::tar::base_256(u64::MAX);
    put(&["tar"], "tar_size_most", &tar.clone().entry("c.so", &most, b'0', "", b"x").bytes())?;
    put(&["tar"], "pax_size_most", &tar.pax(&[("size", "18446744073709551615")]).file("c", b"x").bytes())?;
    let cpio = testkit::cpio::cpio(&[("./a.so", &library("80")), ("./b.so", &library("90"))]);
    put(&["cpio"], "cpio_cut", &cut(cpio.clone(), 1, 2))?;
    put(&["cpio"], "cpio_size_most", &with(cpio.clone(), 54, b"ffffffff"))?;
    put(&["cpio"], "cpio_name_most", &with(cpio.clone(), 94, b"ffffffff"))?;
    let rpm = testkit::cpio::rpm(1, &compress::gzip(&cpio));
    put(&["package"], "rpm_cut", &cut(rpm.clone(), 1, 2))?;
    put(&["package"], "rpm_entries_most", &with(rpm, 96 + 8, &[0xff; 4]))?;
    put(&["package"], "script", b"#!/bin/sh\n# Makeself\nskip=\"3\"\n\x1f\x8b\x08")?;
    let short = b"a few bytes that repeat, a few bytes that repeat".as_slice();
    for (name, packed) in [
        ("gz", compress::gzip(short)),
        ("bz2", compress::bzip2(short)),
        ("xz", compress::xz_stored(short)),
        ("zst", compress::zstd_window(short, 20)),
    ] {
        put(&["unpack"], &format!("{name}_cut"), &cut(packed.clone(), 1, 2))?;
        put(&["unpack"], &format!("{name}_twice"), &[packed.clone(), packed.clone()].concat())?;
        put(&["unpack"], &format!("{name}_damaged"), &with(packed.clone(), packed.len() / 2, &[0xff; 8]))?;
    }

    // texts
    put(&["spelling"], "suffix_of_nothing", b"sm_a;compute_;+PTX;9.0+PTX+PTX;99999999999999999999.9")?;
    put(&["spelling"], "brackets_open", b"-gencode arch=compute_90,code=[sm_90,compute_90")?;
    put(&["config"], "key_twice", b"allow-jit = true\nallow-jit = false\n")?;
    put(&["config"], "date_of_no_day", b"[[ignore]]\nrule = \"jit\"\nreason = \"r\"\nexpires = \"2027-02-30\"\n")?;
    Ok(())
}
