//! Every fixture is read as its truth says: what NVIDIA's cuobjdump printed and extracted, or what its maker put in.
//! `fixtures/README.md` tells how the truth is to be read.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

mod common;

use std::collections::BTreeSet;

use common::{all_images, codes, errors, scan, scan_bytes, sorted_words};
use cubin::{Cubin, Family, FileType, Head, PtxHead, TileIrHead, ptx_kernels};
use fatbin::{Compression, EntryHeader, Flags, Kind, decode};
use fatscan::{CodeKind, Level, Linkage, Options, Source};
use gpu_arch::Suffix;
use testkit::sha256;
use testkit::truth::{Truth, TruthCubin, TruthEntry, all};

const LIMIT: u64 = 256 << 20;

/// The words of cuobjdump for the kinds, from the table of the format description.
fn kind_word(kind: Kind) -> &'static str {
    match kind.raw() {
        1 => "ptx",
        2 => "elf",
        4 => "cubin",
        8 => "nvvm",
        0x20 => "index",
        0x40 => "relocatable ptx",
        0x80 => "tile ir",
        0x100 => "concatenated entry",
        _ => "<unknown kind>",
    }
}

fn suffix(flags: Flags) -> String {
    flags.suffix().map(String::from).unwrap_or_default()
}

/// An entry as cuobjdump would list it. Options are compared trimmed, absent and empty ones alike.
fn as_listed(
    header: &EntryHeader,
    in_concat: Option<usize>,
    identifier: Option<&[u8]>,
    options: Option<&[u8]>,
) -> TruthEntry {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let bits = header.flags.bits();
    TruthEntry {
        kind: kind_word(header.kind).to_owned(),
        arch: (!matches!(header.kind, Kind::Concat | Kind::Index))
            .then(|| format!("sm_{}{}", header.arch, suffix(header.flags))),
        compressed: header.compression() != Compression::None,
        debug: bits & 0x2 != 0,
        version: format!("{}.{}", header.code_version.0, header.code_version.1),
        identifier: identifier.map(text),
        options: options.map(text).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()),
        host: match bits {
            b if b & 0x10 != 0 => "linux",
            b if b & 0x20 != 0 => "mac",
            b if b & 0x40 != 0 => "windows",
            _ => "<unknown>",
        }
        .to_owned(),
        bits: if bits & 1 != 0 { 64 } else { 32 },
        in_concat,
        member: None,
    }
}

/// One entry, or one member of a concatenated entry, with its unpacked bytes.
struct Read {
    listed: TruthEntry,
    kind: Kind,
    labelled: String,
    unpacked: Option<Vec<u8>>,
}

/// Every entry of every fatbin in `data`, through the crate `fatbin` alone.
fn read(data: &[u8]) -> Vec<Read> {
    let mut all = Vec::new();
    for found in fatbin::find(data) {
        let mut index = 0;
        for entry in found.entries() {
            let (_, entry) = entry.unwrap();
            let header = entry.header();
            let mut out = Vec::new();
            let unpacked = decode(&entry, LIMIT, &mut out).ok().map(|()| out.clone());
            let concat = index;
            all.push(Read {
                listed: as_listed(header, None, entry.identifier().unwrap(), entry.options().unwrap()),
                kind: header.kind,
                labelled: format!("{}{}", header.arch, suffix(header.flags)),
                unpacked: unpacked.clone(),
            });
            index += 1;
            for member in entry.members() {
                let member = member.unwrap();
                let header = member.header();
                all.push(Read {
                    listed: as_listed(header, Some(concat), member.identifier().unwrap(), member.options().unwrap()),
                    kind: header.kind,
                    labelled: format!("{}{}", header.arch, suffix(header.flags)),
                    unpacked: unpacked.as_deref().map(|blob| member.bytes(blob).unwrap().to_vec()),
                });
                index += 1;
            }
        }
    }
    all
}

fn sorted<T: core::fmt::Debug>(rows: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

/// Fixtures whose entries cuobjdump listed to the end.
fn listed() -> impl Iterator<Item = Truth> {
    all().into_iter().filter(|truth| truth.entries_hold() && !truth.is_hostile())
}

#[test]
fn every_fixture_is_the_file_that_its_truth_describes() {
    for truth in all() {
        assert_eq!(sha256(&truth.bytes()), truth.sha256, "{}", truth.file);
    }
}

#[test]
fn entries_equal_what_cuobjdump_lists() {
    let mut compared = 0;
    for truth in listed() {
        let plain = |entry: &TruthEntry| TruthEntry {
            member: None,
            options: entry.options.clone().filter(|options| !options.is_empty()),
            // an index in its own fatbin; which of several concatenated entries is seen by the members' order
            in_concat: entry.in_concat,
            ..entry.clone()
        };
        let own = read(&truth.bytes());
        assert_eq!(
            sorted(own.iter().map(|read| &read.listed)),
            sorted(truth.entries.iter().map(plain)),
            "{}",
            truth.file
        );
        compared += own.len();
    }
    assert!(compared > 250, "{compared} entries");
}

/// The codec of a compressed entry: the truth only says that it is compressed. By the description of the format
/// zstd is the default from 13.0, LZ4 before and with `speed`; files made by hand name theirs.
fn codec(file: &str) -> Compression {
    let lz4 = ["comp_all_lz4", "comp_mode_speed", "concat_ptx_lz4", "craft_lz4_block", "nvfb12."];
    if file.starts_with("craft_zlib") {
        Compression::Zlib
    } else if file.starts_with("craft_lz4_frame") {
        Compression::Lz4Frame
    } else if lz4.iter().any(|start| file.starts_with(start)) {
        Compression::Lz4
    } else {
        Compression::Zstd
    }
}

#[test]
fn codecs_are_those_of_the_tool_that_packed() {
    let mut seen = BTreeSet::new();
    for truth in listed() {
        for found in fatbin::find(&truth.bytes()) {
            for entry in found.entries() {
                let own = entry.unwrap().1.header().compression();
                assert!(own == Compression::None || own == codec(&truth.file), "{}: {own}", truth.file);
                seen.insert(own);
            }
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}

/// Bytes without the zeros that pad a cubin to a multiple of 8, for each number of them that may be padding.
fn unpadded(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let zeros = bytes.iter().rev().take(7).take_while(|byte| **byte == 0).count();
    (0..=zeros).map(|count| &bytes[..bytes.len() - count])
}

fn without_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

fn sorted_names(names: &[&[u8]]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| String::from_utf8(name.to_vec()).unwrap()).collect();
    names.sort();
    names
}

/// What a cubin says of itself, against what cuobjdump says of it.
fn compare_cubin(file: &str, bytes: &[u8], truth: &TruthCubin) {
    let cubin = Cubin::parse(bytes).unwrap();
    assert_eq!(sorted_names(&Cubin::kernels(bytes).unwrap()), truth.kernels, "{file} {}", truth.name);
    assert_eq!(cubin.has_kernels, Some(!truth.kernels.is_empty()), "{file}");
    if let Some(sm) = &truth.sm {
        // cuobjdump knows no f
        let own = cubin.arch.to_string();
        assert_eq!(own.strip_suffix('f').unwrap_or(&own), sm, "{file} {}", truth.name);
    }
    if let Some(abi) = truth.abi {
        let own = match cubin.head.abi {
            cubin::Abi::V7 => 7,
            cubin::Abi::V8 => 8,
        };
        assert_eq!(own, abi, "{file}");
    }
    if let Some(flags) = truth.flags {
        assert_eq!(u64::from(cubin.head.flags), flags, "{file}");
    }
    if let Some(toolkit) = &truth.toolkit {
        let (major, minor) = cubin.toolkit.unwrap();
        // of an older cubin cuobjdump prints the raw number, 124 for 12.4
        assert_eq!(format!("{major}{minor}"), toolkit.replace('.', ""), "{file}");
    }
    if let Some(kind) = &truth.elf_type {
        let own = match cubin.head.file_type {
            FileType::Executable => "ET_EXEC",
            FileType::Relocatable => "ET_REL",
            FileType::Other(_) => "other",
        };
        // of an older cubin cuobjdump prints the number
        let kind = match kind.as_str() {
            "2" => "ET_EXEC",
            "1" => "ET_REL",
            word => word,
        };
        assert_eq!(own, kind, "{file}");
        assert_eq!(cubin.is_executable(), kind == "ET_EXEC", "{file}");
    }
}

#[test]
fn unpacked_cubins_are_the_extracted_ones() {
    let mut compared = 0;
    for truth in listed() {
        let mut hashes = BTreeSet::new();
        for read in read(&truth.bytes()) {
            // cuobjdump extracts kind 0x10 as a cubin too
            if !matches!(read.kind, Kind::Elf | Kind::AlternateElf) {
                continue;
            }
            let bytes = read.unpacked.unwrap();
            let found = unpadded(&bytes).find_map(|bytes| {
                let hash = sha256(bytes);
                truth.extracted_cubins.iter().find(|cubin| cubin.sha256 == hash).map(|cubin| (bytes, cubin))
            });
            let (exact, cubin) =
                found.unwrap_or_else(|| panic!("{}: sm_{} was not extracted", truth.file, read.labelled));
            assert_eq!(exact.len() as u64, cubin.size, "{}", truth.file);
            compare_cubin(&truth.file, exact, cubin);
            // padding does no harm
            assert_eq!(Cubin::parse(&bytes), Cubin::parse(exact), "{}", truth.file);
            assert!(Head::parse(&bytes).unwrap().extent <= exact.len() as u64, "{}", truth.file);
            hashes.insert(cubin.sha256.clone());
            compared += 1;
        }
        let theirs: BTreeSet<String> = truth.extracted_cubins.iter().map(|cubin| cubin.sha256.clone()).collect();
        assert_eq!(hashes, theirs, "{}", truth.file);
    }
    assert!(compared > 100, "{compared} cubins");
}

#[test]
fn unpacked_ptx_is_the_extracted_one() {
    let mut compared = 0;
    for truth in listed() {
        let mut hashes = BTreeSet::new();
        for read in read(&truth.bytes()) {
            if !matches!(read.kind, Kind::Ptx | Kind::RelocatablePtx) {
                continue;
            }
            let bytes = read.unpacked.unwrap();
            let text = without_nul(&bytes);
            let hash = sha256(text);
            let ptx = truth.extracted_ptx.iter().find(|ptx| ptx.sha256 == hash);
            let ptx = ptx.unwrap_or_else(|| panic!("{}: compute_{} was not extracted", truth.file, read.labelled));
            assert_eq!(text.len() as u64, ptx.size, "{}", truth.file);
            for text in [text, &bytes] {
                assert_eq!(sorted_names(&ptx_kernels(text)), ptx.kernels, "{} {}", truth.file, ptx.name);
            }
            let head = PtxHead::find(&bytes).unwrap();
            assert_eq!(format!("{}.{}", head.version.0, head.version.1), read.listed.version, "{}", truth.file);
            assert_eq!(head.target.to_string(), read.labelled, "{}", truth.file);
            hashes.insert(hash);
            compared += 1;
        }
        let theirs: BTreeSet<String> = truth.extracted_ptx.iter().map(|ptx| ptx.sha256.clone()).collect();
        assert_eq!(hashes, theirs, "{}", truth.file);
    }
    assert!(compared > 90, "{compared} texts");
}

#[test]
fn suffix_of_a_cubin_in_a_fatbin_is_that_of_its_entry_unless_mislabelled() {
    for truth in listed() {
        // CUDA Tile cubins of nvcc 13.5 are labelled sm_100 and are sm_100a, as shipped
        if truth.file.starts_with("mislabel_") || truth.file == "tile.o" {
            continue;
        }
        for read in read(&truth.bytes()) {
            if read.kind == Kind::Elf {
                let cubin = Cubin::parse(&read.unpacked.unwrap()).unwrap();
                assert_eq!(cubin.arch.to_string(), read.labelled, "{}", truth.file);
            }
        }
    }
}

#[test]
fn mislabelled_entries_are_told_of() {
    let expect = [
        ("mislabel_100_is_100a.fatbin", "100", "100a"),
        ("mislabel_100f_is_100a.fatbin", "100f", "100a"),
        ("mislabel_90a_is_90.fatbin", "90a", "90"),
    ];
    for (file, label, own) in expect {
        let truth = Truth::load(file);
        let (member, diagnostics) = scan(file, &truth.bytes());
        // the report keeps the label
        assert_eq!(sorted_words(member.as_ref()), [format!("sass sm_{label}")], "{file}");
        let codes = codes(&diagnostics);
        assert!(codes.iter().any(|code| ["FS0401", "FS0402"].contains(code)), "{file}: {diagnostics:?}");
        assert!(errors(&diagnostics).is_empty(), "{file}");
        assert!(diagnostics[0].at.to_string().starts_with(&format!("{file}@0x10#0")), "{file}: {}", diagnostics[0].at);
        let reads = read(&truth.bytes());
        assert_eq!(Cubin::parse(reads[0].unpacked.as_ref().unwrap()).unwrap().arch.to_string(), own, "{file}");
    }
    // the cubins of CUDA Tile
    let (_, diagnostics) = scan("tile.o", &testkit::truth::bytes("tile.o"));
    assert!(codes(&diagnostics).iter().any(|code| ["FS0401", "FS0402"].contains(code)), "{diagnostics:?}");
    assert!(errors(&diagnostics).is_empty());
}

#[test]
fn bare_cubins_are_what_their_truth_says() {
    let mut compared = 0;
    for truth in all().into_iter().filter(|truth| truth.cubin.is_some()) {
        let bytes = truth.bytes();
        let arch = truth.cubin_arch().unwrap();
        let cubin = Cubin::parse(&bytes).unwrap();
        let known = truth.cubin.as_ref().unwrap();
        assert_eq!(cubin.arch.to_string(), arch, "{}", truth.file);
        // cuobjdump 13.5 refuses the cubins of 12.2 for sm_90; their names are the truth
        if known.sm.is_some() {
            compare_cubin(&truth.file, &bytes, known);
        }
        assert_eq!(cubin.family == Family::Yes, arch.ends_with('f'), "{}", truth.file);
        if let Some(toolkit) = truth.file.strip_prefix("tk") {
            let (major, minor) = cubin.toolkit.unwrap();
            assert!(toolkit.starts_with(&format!("{major}.{minor}_")), "{}", truth.file);
        }
        if let Some((_, version, _)) = known.tkinfo.first() {
            let (major, minor) = cubin.toolkit.unwrap();
            assert!(version.contains(&format!("release {major}.{minor},")), "{}: {version}", truth.file);
        }
        assert_eq!(cubin.head.extent, bytes.len() as u64, "{}", truth.file);

        let (member, diagnostics) = scan(&truth.file, &bytes);
        let member = member.unwrap();
        assert_eq!((member.format, diagnostics.len()), ("cubin", 0), "{}: {diagnostics:?}", truth.file);
        assert_eq!(sorted_words(Some(&member)), truth.images().unwrap(), "{}", truth.file);
        let image = &member.modules[0].images[0];
        assert_eq!(member.modules[0].source, Source::Cubin, "{}", truth.file);
        assert_eq!((image.stored_bytes, image.unpacked_bytes), (truth.size, Some(truth.size)), "{}", truth.file);
        let relocatable = matches!(known.elf_type.as_deref(), Some("ET_REL" | "1"));
        let linkage = if relocatable { Linkage::Relocatable } else { Linkage::Loadable };
        assert_eq!(image.linkage, linkage, "{}", truth.file);
        compared += 1;
    }
    assert!(compared > 30, "{compared} cubins");
}

#[test]
fn bare_ptx_is_what_its_truth_says() {
    let mut compared = 0;
    for truth in all() {
        let Some((version, target, kernels)) = &truth.ptx else { continue };
        let bytes = truth.bytes();
        let head = PtxHead::find(&bytes).unwrap();
        assert_eq!(&format!("{}.{}", head.version.0, head.version.1), version, "{}", truth.file);
        assert_eq!(&format!("sm_{}", head.target), target, "{}", truth.file);
        assert_eq!(&sorted_names(&ptx_kernels(&bytes)), kernels, "{}", truth.file);
        let (member, diagnostics) = scan(&truth.file, &bytes);
        let member = member.unwrap();
        assert_eq!((member.format, diagnostics.len()), ("ptx", 0), "{}", truth.file);
        assert_eq!(sorted_words(Some(&member)), truth.images().unwrap(), "{}", truth.file);
        let image = &member.modules[0].images[0];
        assert_eq!(image.version, Some(head.version), "{}", truth.file);
        // comments before `.version` are not counted
        assert_eq!(image.offset + image.stored_bytes, truth.size, "{}", truth.file);
        compared += 1;
    }
    assert_eq!(compared, 4);
}

#[test]
fn bare_intermediate_code_is_one_image_without_architecture() {
    for (file, kind, format, linkage) in [
        ("raw_90.ltoir", CodeKind::LtoIr, "lto-ir", Linkage::Relocatable),
        ("raw_tile.tilebc", CodeKind::TileIr, "tile-ir", Linkage::Loadable),
    ] {
        let truth = Truth::load(file);
        let (member, diagnostics) = scan(file, &truth.bytes());
        let member = member.unwrap();
        assert!(diagnostics.is_empty(), "{file}: {diagnostics:?}");
        assert_eq!((member.format, member.modules.len(), member.modules[0].source), (format, 1, Source::Raw), "{file}");
        let image = &member.modules[0].images[0];
        assert_eq!((image.kind, image.arch, image.linkage), (kind, None, linkage), "{file}");
        assert_eq!(image.stored_bytes, truth.size, "{file}");
    }
    let tile = TileIrHead::parse(&testkit::truth::bytes("raw_tile.tilebc")).unwrap();
    // the entry of tile.o states 3333.0, which is 0x0d05: 13.5
    assert_eq!((tile.major, tile.minor), (13, 5));
}

/// Compressed bundles hide the names of their targets: an image of another vendor, without a name.
fn hides_its_targets(file: &str) -> bool {
    file.contains("_ccob_")
}

#[test]
fn images_of_the_report_equal_the_truth() {
    let mut compared = 0;
    for truth in all() {
        let Some(mut images) = truth.images() else { continue };
        if hides_its_targets(&truth.file) {
            images = images.iter().map(|image| image.split(' ').next().unwrap().to_owned()).collect();
        }
        let (member, diagnostics) = scan(&truth.file, &truth.bytes());
        let own = sorted_words(member.as_ref());
        assert_eq!(own, images, "{}", truth.file);
        if !truth.is_hostile() {
            assert!(errors(&diagnostics).is_empty(), "{}: {diagnostics:?}", truth.file);
        }
        compared += 1;
    }
    assert!(compared > 140, "{compared} fixtures");
}

#[test]
fn details_of_the_report_equal_the_truth() {
    for truth in listed() {
        // all but the entry that only holds others
        let theirs = truth.entries.iter().filter(|entry| entry.kind != "concatenated entry").map(|entry| {
            let concat = entry.in_concat.is_some();
            let options = entry.options.clone().unwrap_or_default();
            let compressed = entry.compressed || (concat && codec(&truth.file) != Compression::None);
            (compressed, entry.debug, entry.identifier.clone(), options, concat)
        });
        let (member, _) = scan(&truth.file, &truth.bytes());
        let own = all_images(member.as_ref()).into_iter().map(|image| {
            let options = image.options.as_deref().unwrap_or_default().trim().to_owned();
            let compressed = image.compression != Compression::None;
            assert!(!compressed || image.compression == codec(&truth.file), "{}", truth.file);
            let identifier = image.identifier.as_deref().map(ToOwned::to_owned);
            (compressed, image.is_debug(), identifier, options, image.concat.is_some())
        });
        assert_eq!(sorted(own), sorted(theirs), "{}", truth.file);
    }
}

#[test]
fn number_of_fatbins_is_that_of_the_maker() {
    for truth in all() {
        let Some(fatbins) = truth.expect.as_ref().and_then(|expect| expect.fatbins) else { continue };
        let (member, diagnostics) = scan(&truth.file, &truth.bytes());
        assert_eq!(member.unwrap().modules.len(), fatbins, "{}", truth.file);
        assert!(errors(&diagnostics).is_empty(), "{}", truth.file);
        assert_eq!(fatbin::find(&truth.bytes()).count(), fatbins, "{}", truth.file);
    }
    // 24 bytes each, as many as fatbins over both sections
    for (file, modules) in [("libpartial.so", 3), ("librdc.so", 3), ("exe_dyn", 1), ("aarch64_align256.so", 2)] {
        let (member, _) = scan(file, &testkit::truth::bytes(file));
        assert_eq!(member.unwrap().modules.len(), modules, "{file}");
    }
    let (member, diagnostics) = scan("empty.fatbin", &testkit::truth::bytes("empty.fatbin"));
    let member = member.unwrap();
    assert_eq!((member.modules.len(), member.empty_fatbins, diagnostics.len()), (0, 1, 0));
}

/// `-all` lists relocatable code besides; without it cuobjdump shows what the driver loads.
#[test]
fn relocatable_code_is_told_apart_by_its_section() {
    let truth = Truth::load("librdc.so");
    let (member, _) = scan("librdc.so", &truth.bytes());
    let member = member.unwrap();
    let loadable = truth.entries_without_all.as_ref().unwrap().len();
    let images = all_images(Some(&member));
    assert_eq!(images.iter().filter(|image| image.linkage == Linkage::Loadable).count(), loadable);
    assert_eq!(
        images.iter().filter(|image| image.linkage == Linkage::Relocatable).count(),
        truth.entries.len() - loadable
    );
    for module in &member.modules {
        let section = module.section.as_deref().unwrap();
        let linkage = if section == ".nv_fatbin" { Linkage::Loadable } else { Linkage::Relocatable };
        assert!(section == ".nv_fatbin" || section == "__nv_relfatbin");
        assert!(module.images.iter().all(|image| image.linkage == linkage), "{section}");
        assert_eq!(module.wrapped, Some(true), "{section}");
    }
    for (file, linkage) in [
        ("librdc_a.o", Linkage::Relocatable),
        ("dlink.o", Linkage::Loadable),
        ("lto_obj.o", Linkage::Relocatable),
        ("obj.o", Linkage::Loadable),
        ("rdc.fatbin", Linkage::Relocatable),
        ("reloc_0x40.fatbin", Linkage::Relocatable),
        ("ptx_only.fatbin", Linkage::Loadable),
        ("multi_kernel.fatbin", Linkage::Loadable),
    ] {
        let (member, _) = scan(file, &testkit::truth::bytes(file));
        let images = all_images(member.as_ref());
        assert!(images.iter().all(|image| image.linkage == linkage), "{file}: {images:?}");
    }
}

#[test]
fn archive_members_are_named_in_the_modules() {
    let truth = Truth::load("archive.a");
    let (member, _) = scan("archive.a", &truth.bytes());
    let member = member.unwrap();
    let own = member.modules.iter().flat_map(|module| {
        module.images.iter().map(|image| (module.object.as_ref().unwrap().name.clone(), common::word(image)))
    });
    let theirs = truth.entries.iter().map(|entry| {
        let number = entry.arch.as_deref().unwrap().trim_start_matches("sm_").to_owned();
        let kind = if entry.kind == "elf" { "sass sm" } else { "ptx compute" };
        (entry.member.clone().unwrap(), format!("{kind}_{number}"))
    });
    assert_eq!(sorted(own), sorted(theirs));
}

#[test]
fn flags_keep_what_nobody_knows() {
    let bytes = testkit::truth::bytes("craft_unknown_flag_bits.fatbin");
    let (member, _) = scan("x.fatbin", &bytes);
    assert_eq!(all_images(member.as_ref())[0].flags, 0x11 | 1 << 40 | 1 << 25);
    let bytes = testkit::truth::bytes("craft_unknown_kind_0x200.fatbin");
    let kinds: Vec<u16> = fatbin::find(&bytes)
        .flat_map(|fatbin| fatbin.entries().map(|entry| entry.unwrap().1.header().kind.raw()).collect::<Vec<_>>())
        .collect();
    assert_eq!(kinds, [0x200, 2]);
}

#[test]
fn crafted_entries_are_listed_and_decode_as_expected() {
    let verify = Options::verifying();
    for truth in all() {
        let Some(expect) = &truth.expect else { continue };
        let (member, diagnostics) = scan_bytes(&truth.file, &truth.bytes(), &verify);
        if let Some(entries) = expect.entries {
            assert_eq!(all_images(member.as_ref()).len(), entries, "{}", truth.file);
        }
        match expect.decodes {
            Some(true) => assert!(errors(&diagnostics).is_empty(), "{}: {diagnostics:?}", truth.file),
            Some(false) => assert!(codes(&diagnostics).contains(&"FS0308"), "{}: {diagnostics:?}", truth.file),
            None => {}
        }
    }
}

/// Of each hostile fixture, what is listed nevertheless and what is said. By construction: all are one entry of
/// sm_90, or the two entries of `fatbin_sm_90.fatbin`, with one lie.
const HOSTILE: [(&str, &str, &[&str]); 24] = [
    ("bad_concat_count.fatbin", "FS0307", &[]),
    ("bad_corrupt_zstd.fatbin", "FS0308", &["sass sm_90"]),
    ("bad_elf_shoff.fatbin", "FS0309", &["sass sm_90"]),
    ("bad_empty_file.fatbin", "FS0103", &[]),
    ("bad_fatsize_max.fatbin", "FS0301", &["sass sm_90"]),
    ("bad_fatsize_mid_entry.fatbin", "FS0302", &[]),
    ("bad_fatsize_too_big.fatbin", "FS0301", &["sass sm_90"]),
    ("bad_hs_0.fatbin", "FS0302", &[]),
    ("bad_hs_8.fatbin", "FS0302", &[]),
    ("bad_hs_huge.fatbin", "FS0302", &[]),
    ("bad_magic.fatbin", "FS0105", &["sass sm_90"]),
    ("bad_name_past_hdr.fatbin", "FS0305", &["sass sm_90"]),
    ("bad_old_magic.fatbin", "FS0304", &[]),
    ("bad_opt_past_hdr.fatbin", "FS0305", &["sass sm_90"]),
    ("bad_padded_overflow.fatbin", "FS0302", &[]),
    ("bad_padded_past_end.fatbin", "FS0302", &[]),
    ("bad_psize_gt_padded.fatbin", "FS0306", &["sass sm_90"]),
    ("bad_real_bomb.fatbin", "FS0309", &["sass sm_90"]),
    ("bad_truncated.fatbin", "FS0301", &["sass sm_90"]),
    ("bad_truncated_hdr.fatbin", "FS0301", &[]),
    ("bad_usize_bomb.fatbin", "FS0506", &["sass sm_90"]),
    ("bad_usize_small.fatbin", "FS0308", &["sass sm_90"]),
    // odd, but whole
    ("craft_trailing_garbage.fatbin", "", &["ptx compute_90", "sass sm_90"]),
    ("craft_two_padded_248.fatbin", "", &["ptx compute_90", "ptx compute_90", "sass sm_90", "sass sm_90"]),
];

#[test]
fn hostile_fixtures_list_what_is_whole_and_say_what_is_not() {
    let known: BTreeSet<&str> = HOSTILE.iter().map(|(file, ..)| *file).collect();
    for truth in all().iter().filter(|truth| truth.is_hostile()) {
        assert!(known.contains(truth.file.as_str()), "{} has no expectation here", truth.file);
    }
    let verify = Options::verifying();
    for (file, code, images) in HOSTILE {
        for options in [Options::default(), verify] {
            let (member, diagnostics) = scan_bytes(file, &testkit::truth::bytes(file), &options);
            assert_eq!(sorted_words(member.as_ref()), images, "{file}");
            if code.is_empty() {
                assert!(diagnostics.is_empty(), "{file}: {diagnostics:?}");
                continue;
            }
            // without --verify there is less memory for payloads
            let code = if file == "bad_real_bomb.fatbin" && !options.verify { "FS0509" } else { code };
            let said = diagnostics.iter().find(|diagnostic| diagnostic.code.to_string() == code);
            let said = said.unwrap_or_else(|| panic!("{file}: no {code} in {diagnostics:?}"));
            let place = said.at.to_string();
            assert!(place.starts_with(file), "{file}: {place}");
            assert!(!said.message().is_empty(), "{file}");
            // what is only unsupported is a warning
            let level = if code == "FS0304" { Level::Warning } else { Level::Error };
            assert_eq!(said.level, level, "{file}");
            if !["FS0103", "FS0105"].contains(&code) {
                assert!(place.contains("@0x"), "{file}: {place}");
            }
        }
    }
}

#[test]
fn verify_finds_nothing_in_what_nvidias_tools_made() {
    let verify = Options::verifying();
    for truth in listed() {
        if truth.file.starts_with("mislabel_") || truth.file.starts_with("craft_") || truth.file == "tile.o" {
            continue;
        }
        let (member, diagnostics) = scan_bytes(&truth.file, &truth.bytes(), &verify);
        assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", truth.file);
        assert_eq!(sorted_words(member.as_ref()), truth.images().unwrap(), "{}", truth.file);
        for image in all_images(member.as_ref()) {
            assert!(image.has_kernels.is_some() || image.kind != CodeKind::Sass, "{}", truth.file);
            assert!(image.arch.is_some_and(|arch| arch.suffix() != Suffix::A || arch.number() >= 90), "{}", truth.file);
        }
    }
}
