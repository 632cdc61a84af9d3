//! Packages and archives that are read forward: the same libraries in all of them, cuts, lies and bombs.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic here is a failing test"
)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{codes, errors};
use fatscan::extract::{Job, Wanted, extract};
use fatscan::gpu_arch::rules::Device;
use fatscan::{
    ArtefactKind, Code, Level, Limits, Mapping, Options, Policy, Report, Why, judge, scan_bytes, scan_paths,
};
use fatscan_containers::SliceStream;
use testkit::ar::Flavour;
use testkit::compress::{bzip2, gzip, xz_dictionary, xz_stored, zstd_stored, zstd_window, zstd_zeros};
use testkit::zip::{ZipMember, method};
use testkit::{Ar, Cubin, Elf, Entry, Tar, Zip, cpio, fatbin, tar};

const LIBRARIES: [&str; 3] = ["aarch64_align256.so", "libpartial.so", "librdc.so"];

fn libraries() -> Vec<(String, Vec<u8>)> {
    LIBRARIES.iter().map(|name| (format!("lib/{name}"), testkit::truth::bytes(name))).collect()
}

fn library(arch: &str) -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &fatbin(&[Entry::sass(arch, Cubin::new(arch).bytes())])).bytes()
}

fn options() -> Options {
    Options::for_checking()
}

/// All that is said of the device code, by the last name of each file, and what is judged of it for some GPUs.
fn found(report: &Report) -> Vec<String> {
    let devices = ["7.5", "8.0", "9.0", "10.0"].map(|cc| Device::of(cc.parse().unwrap()));
    let judgement = judge(report, &devices, &Policy::default()).unwrap();
    let mut out = Vec::new();
    for (artefact, judged) in report.artefacts.iter().zip(&judgement.artefacts) {
        for (member, own) in artefact.members.iter().zip(&judged.members) {
            let name = member.path.rsplit('/').next().unwrap();
            out.push(format!("{name} {:?} {:?} {:?} {:?}", member.machine, member.size, member.modules, own.verdicts));
        }
    }
    out.sort();
    out
}

fn expected() -> Vec<String> {
    let mut zip = Zip::new();
    for (name, bytes) in libraries() {
        zip = zip.deflated(&name, &bytes);
    }
    let report = scan_bytes("x-1.0-py3-none-any.whl", &zip.bytes(), &options());
    let found = found(&report);
    assert_eq!(found.len(), 3);
    found
}

fn tar_of_three() -> Vec<u8> {
    libraries().iter().fold(Tar::new(), |tar, (name, bytes)| tar.file(name, bytes)).bytes()
}

fn cpio_of_three() -> Vec<u8> {
    let files = libraries();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    cpio::cpio(&files)
}

fn deb(data: (&str, &[u8])) -> Vec<u8> {
    let control = gzip(&Tar::new().file("./control", b"Package: x\n").bytes());
    let ar = Ar::new(Flavour::Gnu).member("debian-binary", b"2.0\n").member("control.tar.gz", &control);
    ar.member(data.0, data.1).bytes()
}

/// A script as makeself writes it, with the lines that matter.
fn script(payload: &[u8]) -> Vec<u8> {
    let script = "#!/bin/sh\n# This script was generated using Makeself 2.4.5\nskip=\"5\"\noffset=`head -n \"$skip\" \"$0\"`\nexit 0\n";
    [script.as_bytes(), payload].concat()
}

/// The three libraries in everything that is read forward.
fn all() -> Vec<(&'static str, Vec<u8>)> {
    let tar = tar_of_three();
    let cpio = cpio_of_three();
    let tgz = gzip(&tar);
    vec![
        ("x.tar", tar.clone()),
        ("x.tar.gz", tgz.clone()),
        ("x.tar.bz2", bzip2(&tar)),
        ("x.tar.xz", xz_stored(&tar)),
        ("x.tar.zst", zstd_stored(&tar)),
        // by bytes and not by name
        ("x.bin", xz_stored(&tar)),
        ("x.cpio", cpio.clone()),
        ("x.conda", Zip::new().stored("pkg-x-1-0.tar.zst", &zstd_stored(&tar)).bytes()),
        ("x.deb", deb(("data.tar.xz", &xz_stored(&tar)))),
        ("x-plain.deb", deb(("data.tar", &tar))),
        ("x.rpm", cpio::rpm(3, &zstd_stored(&cpio))),
        ("x-gz.rpm", cpio::rpm(3, &gzip(&cpio))),
        ("x-plain.rpm", cpio::rpm(3, &cpio)),
        ("x.run", script(&tgz)),
        ("x-xz.run", script(&xz_stored(&tar))),
        ("x-plain.run", script(&tar)),
        ("tgz-in-zip-in.tar", Tar::new().file("in.zip", &Zip::new().deflated("x.tgz", &tgz).bytes()).bytes()),
        ("zip-in.tar.gz", gzip(&Tar::new().file("in.zip", &zip_of_three()).bytes())),
        ("tar-in.zip", Zip::new().deflated("x.tar", &tar).bytes()),
        ("methods.zip", zip_of_methods()),
    ]
}

fn zip_of_three() -> Vec<u8> {
    libraries().iter().fold(Zip::new(), |zip, (name, bytes)| zip.deflated(name, bytes)).bytes()
}

/// What compresses bytes.
type Pack = fn(&[u8]) -> Vec<u8>;

/// Each library by a method of its own: bzip2, zstd, xz.
fn zip_of_methods() -> Vec<u8> {
    let codecs: [(u16, Pack); 3] = [(method::BZIP2, bzip2), (method::ZSTD, zstd_stored), (95, xz_stored)];
    let members = libraries().into_iter().zip(codecs).map(|((name, bytes), (number, pack))| {
        let mut member = ZipMember::stored(&name, &bytes).method(number);
        member.packed = Some(pack(&bytes));
        member
    });
    members.fold(Zip::new(), Zip::with).bytes()
}

#[test]
fn three_libraries_are_the_same_in_every_package() {
    let expected = expected();
    for (name, bytes) in all() {
        let report = scan_bytes(name, &bytes, &options());
        assert_eq!(found(&report), expected, "{name}");
        assert_eq!((&report.diagnostics[..], &report.unread[..]), (&[][..], &[][..]), "{name}");
        // a stream that cannot go back
        let whole = common::scan_stream(name, &mut common::Steps::new(&bytes, 4096), &options());
        assert!(errors(&whole.1).is_empty(), "{name}: {:?}", whole.1);
        let forward = fatscan::scan_stream(name, &mut SliceStream::new(&bytes), &options());
        assert_eq!(found(&forward), expected, "{name}");
    }
}

#[test]
fn packages_are_shown_by_the_paths_in_them() {
    let paths = |name: &str| {
        let (_, bytes) = all().into_iter().find(|(own, _)| *own == name).unwrap();
        let report = scan_bytes(name, &bytes, &options());
        let artefact = &report.artefacts[0];
        (artefact.kind, artefact.members[0].path.clone(), artefact.members[0].at.to_string())
    };
    let lib = "lib/aarch64_align256.so";
    let own = |kind, path: &str, at: &str| (kind, path.to_owned(), at.to_owned());
    assert_eq!(paths("x.tar.gz"), own(ArtefactKind::Archive, lib, &format!("x.tar.gz!{lib}")));
    assert_eq!(paths("x.deb"), own(ArtefactKind::Package, lib, &format!("x.deb!data.tar.xz!{lib}")));
    assert_eq!(paths("x.rpm"), own(ArtefactKind::Package, lib, &format!("x.rpm!{lib}")));
    assert_eq!(paths("x.run"), own(ArtefactKind::Archive, lib, &format!("x.run!{lib}")));
    let inside = format!("pkg-x-1-0.tar.zst!{lib}");
    assert_eq!(paths("x.conda"), own(ArtefactKind::Package, lib, &format!("x.conda!{inside}")));
    let inside = format!("in.zip!x.tgz!{lib}");
    assert_eq!(paths("tgz-in-zip-in.tar"), own(ArtefactKind::Archive, &inside, &format!("tgz-in-zip-in.tar!{inside}")));
}

#[test]
fn packages_made_by_their_own_tools_hold_the_same() {
    let expected = expected();
    for name in ["sample.deb", "sample.rpm", "sample.run", "sample.conda"] {
        let path = testkit::truth::folder().join("packages").join(name);
        let report = scan_paths(&[path], &options());
        assert_eq!(found(&report), expected, "{name}");
        assert_eq!((&report.diagnostics[..], &report.unread[..]), (&[][..], &[][..]), "{name}");
    }
}

/// Runs a tool; `None` where it is not installed.
fn tool(folder: &Path, name: &str, args: &[&str]) -> Option<()> {
    match Command::new(name).args(args).current_dir(folder).output() {
        Ok(output) => {
            assert!(output.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            Some(())
        }
        Err(error) => {
            eprintln!("skipped: {name}: {error}");
            None
        }
    }
}

#[test]
fn archives_of_the_tools_that_are_here_hold_the_same() {
    let expected = expected();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    for (name, bytes) in libraries() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let root = folder.path();
    let formats = ["gnu", "pax", "ustar", "v7", "oldgnu"];
    let mut made: Vec<PathBuf> = Vec::new();
    for format in formats {
        let name = format!("{format}.tar");
        if tool(root, "tar", &["--format", format, "-cf", &name, "lib"]).is_some() {
            made.push(root.join(name));
        }
    }
    let packers: [(&str, &[&str], &str); 6] = [
        ("gzip", &["-k", "pax.tar"], "pax.tar.gz"),
        ("bzip2", &["-k", "pax.tar"], "pax.tar.bz2"),
        ("xz", &["-k", "pax.tar"], "pax.tar.xz"),
        ("xz", &["-k", "--x86", "--lzma2", "--check=sha256", "--suffix=.x86.xz", "pax.tar"], "pax.tar.x86.xz"),
        ("xz", &["-k", "-T2", "--block-size=20000", "--suffix=.mt.xz", "pax.tar"], "pax.tar.mt.xz"),
        ("zstd", &["-q", "-19", "--long=27", "pax.tar"], "pax.tar.zst"),
    ];
    for (packer, args, name) in packers.iter().filter(|_| root.join("pax.tar").exists()) {
        if tool(root, packer, args).is_some() {
            made.push(root.join(name));
        }
    }
    assert!(!made.is_empty() || cfg!(not(target_os = "linux")), "no tool at all");
    for path in made {
        let report = scan_paths(&[&path], &options());
        assert_eq!(found(&report), expected, "{}", path.display());
        assert_eq!((&report.diagnostics[..], &report.unread[..]), (&[][..], &[][..]), "{}", path.display());
    }
}

#[test]
fn images_are_extracted_from_every_package() {
    let cubins: Vec<Vec<u8>> = ["80", "90"].map(|arch| Cubin::new(arch).bytes()).to_vec();
    let tar = Tar::new().file("a.so", &library("80")).file("note.txt", b"x").file("b.so", &library("90")).bytes();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("x.tar", tar.clone()),
        ("x.tgz", gzip(&tar)),
        ("x.tar.xz", xz_stored(&tar)),
        ("x.deb", deb(("data.tar.zst", &zstd_stored(&tar)))),
        ("x.conda", Zip::new().stored("pkg.tar.bz2", &bzip2(&tar)).bytes()),
        ("x.rpm", cpio::rpm(2, &gzip(&cpio::cpio(&[("./a.so", &library("80")), ("./b.so", &library("90"))])))),
        ("x.run", script(&gzip(&tar))),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let report = scan_paths(&[&path], &options());
        let members: Vec<_> = report.artefacts.iter().flat_map(|artefact| &artefact.members).collect();
        // forward, and the other way round
        for order in [[0, 1], [1, 0]] {
            let jobs = order.map(|at: usize| Job { member: members[at], wanted: vec![Wanted { module: 0, image: 0 }] });
            let mut got = Vec::new();
            let failed = extract(&jobs, false, &Limits::default(), Mapping::Auto, &mut |index, _, bytes| {
                got.push((order[index], bytes.unwrap().to_vec()));
                std::ops::ControlFlow::Continue(())
            });
            assert!(failed.is_empty(), "{name}: {failed:?}");
            assert_eq!(got, order.map(|at| (at, cubins[at].clone())), "{name}");
        }
    }
}

#[test]
fn a_package_that_is_cut_says_so() {
    let tar = Tar::new().file("a.so", &library("80")).file("b.so", &library("90")).bytes();
    let cpio = cpio::cpio(&[("./a.so", &library("80")), ("./b.so", &library("90"))]);
    let files = [
        ("x.tar", tar.clone()),
        ("x.tgz", gzip(&tar)),
        ("x.tar.bz2", bzip2(&tar)),
        ("x.tar.xz", xz_stored(&tar)),
        ("x.tar.zst", zstd_stored(&tar)),
        ("x.cpio", cpio.clone()),
        ("x.rpm", cpio::rpm(2, &gzip(&cpio))),
        ("x.deb", deb(("data.tar.xz", &xz_stored(&tar)))),
        ("x.run", script(&gzip(&tar))),
    ];
    for (name, bytes) in files {
        // what stands behind the end of the archive is no loss
        let end = if name == "x.tar" { bytes.len() - 1024 } else { bytes.len() };
        let start = if name.ends_with("run") { 200 } else { 64 };
        for place in 0..32 {
            let cut = start + (end - start) * place / 32;
            let report = scan_bytes(name, &bytes[..cut], &options());
            let said = !report.unread.is_empty() || !report.diagnostics.is_empty();
            assert!(said, "{name} cut at {cut} of {}", bytes.len());
            let images: usize = report.artefacts.iter().flat_map(|a| &a.members).map(|m| m.modules.len()).sum();
            assert!(images <= 2, "{name} cut at {cut}");
        }
    }
}

#[test]
fn what_stands_before_the_cut_is_listed() {
    let a = library("80");
    let tar = Tar::new().file("a.so", &a).file("b.so", &library("90")).without_end();
    let cut = &tar[..512 + a.len().next_multiple_of(512) + 512 + 100];
    let report = scan_bytes("x.tar", cut, &options());
    assert_eq!(report.artefacts[0].members.iter().map(|member| &*member.path).collect::<Vec<_>>(), ["a.so"]);
    assert!(errors(&report.diagnostics).contains(&"FS0216"), "{:?}", report.diagnostics);
    // whole entries, and no end
    let report = scan_bytes("x.tar", &tar, &options());
    assert_eq!((report.artefacts[0].members.len(), errors(&report.diagnostics)), (2, vec!["FS0216"]));
}

#[test]
fn lying_sizes_are_told_and_held_by_nothing() {
    let (a, b) = (library("80"), library("90"));
    let lies: Vec<(&str, Vec<u8>)> = vec![
        ("octal.tar", Tar::new().file("a.so", &a).entry("b.so", b"77777777777\0", b'0', "", &b).bytes()),
        ("base256.tar", Tar::new().file("a.so", &a).entry("b.so", &tar::base_256(u64::MAX), b'0', "", &b).bytes()),
        (
            "wide.tar",
            Tar::new().file("a.so", &a).entry("b.so", &[&[0x80][..], &[0xff; 11]].concat(), b'0', "", &b).bytes(),
        ),
        ("long.tar", Tar::new().file("a.so", &a).entry("L", b"77777777777\0", b'L', "", b"x").file("b.so", &b).bytes()),
        ("pax.tar", Tar::new().file("a.so", &a).pax(&[("size", "18446744073709551615")]).file("b.so", &b).bytes()),
        ("x.cpio", {
            let mut bytes = cpio::file("./a.so", &a);
            bytes.extend(cpio::entry("./b.so", 0o100_755, 1, u32::MAX, &b));
            bytes
        }),
        ("x.rpm", cpio::rpm(u32::MAX, &gzip(&cpio::cpio(&[("./a.so", &a)])))),
    ];
    for (name, bytes) in lies {
        for packed in [false, true] {
            let bytes = if packed { gzip(&bytes) } else { bytes.clone() };
            let report = scan_bytes(name, &bytes, &options());
            assert!(!errors(&report.diagnostics).is_empty(), "{name}: {:?}", report.diagnostics);
            let paths: Vec<&str> =
                report.artefacts.iter().flat_map(|a| &a.members).map(|member| member.path.as_str()).collect();
            let first = if name.ends_with("rpm") { None } else { Some("a.so") };
            assert_eq!(paths.first().copied(), first, "{name}");
        }
    }
}

#[test]
fn two_sizes_of_one_entry_are_ambiguous() {
    let (a, b) = (library("80"), library("90"));
    // a reader that knows no pax goes by the header, and finds what stands in the file
    let hidden = Tar::new().file("b.so", &b).bytes();
    let tar =
        Tar::new().pax(&[("size", &hidden.len().to_string())]).entry("x.txt", &tar::octal(512), b'0', "", &hidden);
    let report = scan_bytes("x.tar", &tar.file("a.so", &a).bytes(), &options());
    assert!(codes(&report.diagnostics).contains(&"FS0214"), "{:?}", report.diagnostics);
    // the header of a file of more than 8 GiB states none
    let report = scan_bytes(
        "x.tar",
        &Tar::new().pax(&[("size", "0000")]).file("empty.so", &[]).file("a.so", &a).bytes(),
        &options(),
    );
    assert_eq!(codes(&report.diagnostics), [""; 0]);
}

#[test]
fn a_damaged_header_hides_no_entry_behind_it() {
    let (a, b, c) = (library("75"), library("80"), library("90"));
    let mut bytes = Tar::new().file("a.so", &a).file("b.so", &b).file("c.so", &c).bytes();
    let second = 512 + a.len().next_multiple_of(512);
    bytes[second] ^= 1;
    let report = scan_bytes("x.tar", &bytes, &options());
    let paths: Vec<&str> = report.artefacts[0].members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!((paths, errors(&report.diagnostics)), (vec!["a.so", "c.so"], vec!["FS0219"]));
    assert!(report.diagnostics[0].at.to_string().ends_with(&format!("@{second:#x}")), "{:?}", report.diagnostics);
    let mut bytes = cpio::cpio(&[("a.so", &a), ("b.so", &b), ("c.so", &c)]);
    let second = cpio::file("a.so", &a).len();
    bytes[second + 20] = b'?';
    let report = scan_bytes("x.cpio", &bytes, &options());
    let paths: Vec<&str> = report.artefacts[0].members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!((paths, errors(&report.diagnostics)), (vec!["a.so", "c.so"], vec!["FS0219"]));
}

#[test]
fn long_names_links_and_sparse_files_are_what_they_are() {
    let a = library("90");
    let long = format!("{}/libx.so", "folder/".repeat(30).trim_end_matches('/'));
    let other = format!("{}/liby.so", "other/".repeat(40).trim_end_matches('/'));
    let tar = Tar::new()
        .gnu_long(&long, &a)
        .pax(&[("path", &other), ("mtime", "1.5")])
        .file("short", &a)
        .file("./lib/libx.so", &a)
        .hard_link("lib/libx.so.1", "lib/libx.so")
        .hard_link("doc/readme", "doc/README")
        .entry("lib/liblink.so", &tar::octal(0), b'2', "libx.so", &[])
        .entry("sparse.so", &tar::octal(a.len()), b'S', "", &a)
        .pax(&[("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "pax-sparse.so")])
        .file("GNUSparseFile.0/x", &a);
    let report = scan_bytes("x.tar", &tar.bytes(), &options());
    let paths: Vec<&str> = report.artefacts[0].members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!(paths, [long.as_str(), "lib/libx.so", other.as_str()]);
    let unread: Vec<(String, &Why)> = report.unread.iter().map(|own| (own.at.to_string(), &own.why)).collect();
    let sparse = Why::Unsupported("a sparse file");
    let names = ["x.tar!pax-sparse.so", "x.tar!sparse.so"];
    assert_eq!(unread, names.map(|name| (name.to_owned(), &sparse)));
    let links: Vec<_> = report.diagnostics.iter().filter(|said| said.code == Code::HardLink).collect();
    assert_eq!(links.len(), 1, "{:?}", report.diagnostics);
    assert_eq!((links[0].at.to_string().as_str(), links[0].level), ("x.tar!lib/libx.so.1", Level::Note));
    assert!(links[0].detail.contains("lib/libx.so"), "{:?}", links[0]);
    // of a file with two names in cpio the last one holds the data
    let mut bytes = cpio::entry("./lib/one.so", 0o100_755, 2, 0, &[]);
    bytes.extend(cpio::entry("./lib/two.so", 0o100_755, 2, u32::try_from(a.len()).unwrap(), &a));
    bytes.extend(cpio::entry("TRAILER!!!", 0, 1, 0, &[]));
    let report = scan_bytes("x.cpio", &bytes, &options());
    assert_eq!(
        (report.artefacts[0].members[0].path.as_str(), codes(&report.diagnostics)),
        ("lib/two.so", vec!["FS0220"])
    );
}

#[test]
fn several_streams_in_a_row_are_one_file() {
    let tar = tar_of_three();
    let (one, two) = tar.split_at(tar.len() / 2);
    let expected = expected();
    let skippable = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let files = [
        ("x.gz", [gzip(one), gzip(two)].concat()),
        ("x.gz", [gzip(one), gzip(b""), gzip(two), vec![0; 100]].concat()),
        ("x.bz2", [bzip2(one), bzip2(two)].concat()),
        ("x.xz", [xz_stored(one), vec![0; 8], xz_stored(two)].concat()),
        ("x.zst", [&skippable[..], &zstd_stored(one), &skippable, &zstd_window(two, 20)].concat()),
    ];
    for (name, bytes) in files {
        let report = scan_bytes(name, &bytes, &options());
        assert_eq!(found(&report), expected, "{name}");
        assert!(report.diagnostics.is_empty(), "{name}: {:?}", report.diagnostics);
    }
}

#[test]
fn damaged_checksums_are_told_and_all_is_listed() {
    let tar = tar_of_three();
    let expected = expected();
    let damaged = |mut bytes: Vec<u8>, from_end: usize| {
        let at = bytes.len() - from_end;
        bytes[at] ^= 0x40;
        bytes
    };
    // the CRC-32 of gzip and its size, that of the bzip2 stream, of the xz block
    for (name, bytes) in [
        ("x.gz", damaged(gzip(&tar), 8)),
        ("x.gz", damaged(gzip(&tar), 2)),
        ("x.bz2", damaged(bzip2(&tar), 3)),
        ("x.xz", damaged(xz_stored(&tar), 12 + 12 + 1)),
    ] {
        let report = scan_bytes(name, &bytes, &options());
        assert_eq!(errors(&report.diagnostics), ["FS0206"], "{name}");
        assert_eq!(found(&report), expected, "{name}");
    }
}

#[test]
fn single_compressed_files_are_looked_into() {
    let csv = b"a,b\n1,2\n".repeat(1000);
    let zip = Zip::new()
        .deflated("data.csv.gz", &gzip(&csv))
        .deflated("data.csv.bz2", &bzip2(&csv))
        .stored("data.csv.xz", &xz_stored(&csv))
        .stored("data.csv.zst", &zstd_stored(&csv))
        .stored("lib/libx.so.xz", &xz_stored(&library("90")));
    let report = scan_bytes("x.zip", &zip.bytes(), &options());
    assert_eq!((codes(&report.diagnostics).len(), report.unread.len()), (0, 0), "{:?}", report.diagnostics);
    let paths: Vec<&str> = report.artefacts[0].members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!(paths, ["lib/libx.so.xz"]);
    assert_eq!(report.artefacts[0].members_without_code, 0);
    let report = scan_bytes("libx.so.gz", &gzip(&library("90")), &options());
    assert_eq!(
        (report.artefacts[0].kind, report.artefacts[0].members[0].path.as_str()),
        (ArtefactKind::File, "libx.so.gz")
    );
    let report = scan_bytes("data.csv.gz", &gzip(&csv), &options());
    assert_eq!((codes(&report.diagnostics), report.artefacts[0].members_without_code), (vec!["FS0104"], 1));
}

#[test]
fn packages_in_a_directory_are_artefacts_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let tar = Tar::new().file("lib/a.so", &library("90")).bytes();
    for (name, bytes) in [
        ("a.tar.xz", xz_stored(&tar)),
        ("b.deb", deb(("data.tar.gz", &gzip(&tar)))),
        ("c.csv.gz", gzip(b"1,2\n")),
        ("d.so.gz", gzip(&library("80"))),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    for threads in [1, 2] {
        let report = scan_paths(&[folder.path()], &options().with_threads(threads));
        let rows: Vec<(String, ArtefactKind, Vec<&str>)> = report
            .artefacts
            .iter()
            .map(|own| (own.at.file_name(), own.kind, own.members.iter().map(|member| member.path.as_str()).collect()))
            .collect();
        let root = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(
            rows,
            [
                (root, ArtefactKind::Directory, vec!["d.so.gz"]),
                ("a.tar.xz".to_owned(), ArtefactKind::Archive, vec!["lib/a.so"]),
                ("b.deb".to_owned(), ArtefactKind::Package, vec!["lib/a.so"]),
            ]
        );
        assert!(report.diagnostics.is_empty(), "{:?}", report.diagnostics);
    }
}

#[test]
fn packages_in_archives_are_artefacts_of_their_own() {
    let tar = Tar::new().file("lib/a.so", &library("90")).bytes();
    let outer = Tar::new()
        .file("x.deb", &deb(("data.tar.gz", &gzip(&tar))))
        .file("x.rpm", &cpio::rpm(1, &cpio::cpio(&[("./lib/a.so", &library("80"))])))
        .file("x.conda", &Zip::new().stored("pkg.tar.zst", &zstd_stored(&tar)).bytes())
        .file("y-1.0-py3-none-any.whl", &Zip::new().deflated("a.so", &library("75")).bytes())
        .file("own.so", &library("70"));
    let report = scan_bytes("x.tar.gz", &gzip(&outer.bytes()), &options());
    let rows: Vec<(&str, ArtefactKind, usize)> =
        report.artefacts.iter().map(|own| (own.path.as_str(), own.kind, own.members.len())).collect();
    let mut kinds = rows.clone();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            ("x.tar.gz", ArtefactKind::Archive, 1),
            ("x.tar.gz!x.conda", ArtefactKind::Package, 1),
            ("x.tar.gz!x.deb", ArtefactKind::Package, 1),
            ("x.tar.gz!x.rpm", ArtefactKind::Package, 1),
            ("x.tar.gz!y-1.0-py3-none-any.whl", ArtefactKind::Wheel, 1),
        ]
    );
}

#[test]
fn a_bomb_is_stopped_in_every_codec() {
    const PIECE: usize = 16 << 20;
    let zeros = vec![0u8; PIECE];
    let xz = std::fs::read(testkit::truth::folder().join("packages/zeros_16M.xz")).unwrap();
    // a file that would have zeros for more than the free gigabyte
    let head = tar::header("zeros.so", &tar::base_256(4 << 30), b'0', "");
    let codecs: [(&str, Vec<u8>, Vec<u8>); 4] = [
        ("gz", gzip(&head), gzip(&zeros)),
        ("bz2", bzip2(&head), bzip2(&zeros)),
        ("xz", xz_stored(&head), xz),
        ("zst", zstd_stored(&head), zstd_zeros(PIECE as u64)),
    ];
    let mut options = options();
    options.limits.ratio = 1;
    for (name, head, piece) in codecs {
        let bomb = [head, piece.repeat(80)].concat();
        let report = scan_bytes(&format!("x.tar.{name}"), &bomb, &options);
        assert!(
            report.unread.iter().any(|own| own.why == Why::OverBudget("ratio")),
            "{name}: {:?}",
            report.diagnostics
        );
        assert!(report.diagnostics.iter().any(|own| (own.code, own.level) == (Code::Unread, Level::Error)), "{name}");
    }
}

/// A library in a zip archive by a method of its own.
fn packed_zip(number: u16, packed: Vec<u8>) -> Vec<u8> {
    let mut member = ZipMember::stored("a.so", &library("90")).method(number);
    member.packed = Some(packed);
    Zip::new().with(member).bytes()
}

#[test]
fn windows_beyond_the_limit_are_not_made() {
    let tar = Tar::new().file("a.so", &library("90")).bytes();
    // zstd with a window of 1 GiB, xz with dictionaries of 4 GiB and of 64 MiB
    for (name, bytes, reads) in [
        ("x.tar.zst", zstd_window(&tar, 30), false),
        ("x.tar.zst", zstd_window(&tar, 27), true),
        ("x.tar.xz", xz_dictionary(&tar, 40), false),
        ("x.tar.xz", xz_dictionary(&tar, 28), true),
        ("x.zip", packed_zip(93, zstd_window(&library("90"), 30)), false),
        ("x.zip", packed_zip(93, zstd_window(&library("90"), 27)), true),
        ("x.zip", packed_zip(95, xz_dictionary(&library("90"), 28)), true),
    ] {
        for folder in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            std::fs::write(place.path().join("other.so"), library("80")).unwrap();
            let given = if folder { place.path().to_path_buf() } else { path };
            let report = scan_paths(&[given], &options().with_threads(2));
            let why: Vec<&Why> = report.unread.iter().map(|own| &own.why).collect();
            let members: usize = report.artefacts.iter().map(|artefact| artefact.members.len()).sum();
            let expected = if reads { vec![] } else { vec![&Why::OverBudget("window_bytes")] };
            assert_eq!((members, why), (usize::from(reads) + usize::from(folder), expected), "{name} {folder}");
        }
    }
}

#[test]
fn bytes_that_change_make_no_panic() {
    let mut random = common::Random::new(7);
    let small = Tar::new().file("a.so", &library("90")).pax(&[("path", "b.so")]).file("x", &library("80")).bytes();
    let cpio = cpio::cpio(&[("./a.so", &library("80")), ("./b.so", &library("90"))]);
    let xz = std::fs::read(testkit::truth::folder().join("packages/sample.deb")).unwrap();
    let files = [
        ("x.tar", small.clone()),
        ("x.gz", gzip(&small)),
        ("x.bz2", bzip2(&small)),
        ("x.xz", xz_stored(&small)),
        ("x.zst", zstd_stored(&small)),
        ("x.cpio", cpio.clone()),
        ("x.rpm", cpio::rpm(2, &gzip(&cpio))),
        ("x.run", script(&gzip(&small))),
        ("x.deb", xz),
    ];
    let mut said = 0;
    for (name, bytes) in files {
        for _ in 0..60 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            let report = scan_bytes(name, &bytes, &options());
            said += usize::from(!report.diagnostics.is_empty());
        }
    }
    assert!(said > 100, "{said}");
}

#[test]
fn damage_in_a_package_is_that_of_the_file() {
    let code = |said: &fatscan::Diagnostic| (said.code, said.at.section.clone(), said.at.offset, said.detail.clone());
    let all = |report: &Report| {
        let mut codes: Vec<_> = report.diagnostics.iter().map(code).collect();
        codes.sort();
        let members = report.artefacts.iter().flat_map(|artefact| &artefact.members);
        let modules = members.flat_map(|member| &member.modules).cloned().map(|mut module| {
            let object = module.object.take().map(|object| (object.name.clone(), object.base));
            (object, module)
        });
        (modules.collect::<Vec<_>>(), codes)
    };
    let names: Vec<String> = testkit::truth::all().into_iter().map(|truth| truth.file).collect();
    assert!(names.len() > 50);
    for name in names {
        let bytes = testkit::truth::bytes(&name);
        let zip = scan_bytes("x.zip", &Zip::new().deflated(&name, &bytes).bytes(), &options());
        let tar = Tar::new().file(&name, &bytes).bytes();
        for (package, bytes) in [("x.tar", tar.clone()), ("x.tgz", gzip(&tar)), ("x.tar.xz", xz_stored(&tar))] {
            assert_eq!(all(&scan_bytes(package, &bytes, &options())), all(&zip), "{name} in {package}");
        }
    }
}

#[test]
fn stored_packages_have_the_checksum_of_their_archive() {
    let tgz = gzip(&Tar::new().file("a.so", &library("90")).bytes());
    for (member, said) in [
        (ZipMember::stored("x.tgz", &tgz), vec![]),
        (ZipMember::stored("x.tgz", &tgz).bad_crc(), vec!["FS0206"]),
        (ZipMember::stored("x.zip", &zip_of_three()).bad_crc(), vec!["FS0206"]),
        (ZipMember::deflated("x.tgz", &tgz).bad_crc(), vec!["FS0206"]),
    ] {
        let report = scan_bytes("y.zip", &Zip::new().with(member).bytes(), &options());
        assert_eq!(codes(&report.diagnostics), said);
        assert!(!report.artefacts[0].members.is_empty());
    }
}

#[test]
fn what_unpacks_to_itself_ends() {
    let mut bytes = library("90");
    for level in 1..=8 {
        bytes = gzip(&bytes);
        let report = scan_bytes("x.gz", &bytes, &options());
        let members: usize = report.artefacts.iter().map(|artefact| artefact.members.len()).sum();
        // each but the first counts as an archive within another
        let why: Vec<&Why> = report.unread.iter().map(|own| &own.why).collect();
        if level <= 4 {
            assert_eq!((members, why), (1, vec![]), "{level}");
        } else {
            assert_eq!((members, why), (0, vec![&Why::TooDeep]), "{level}");
        }
    }
}

#[test]
fn payloads_that_are_nothing_known_are_not_passed_over() {
    for (name, bytes) in [
        ("x.rpm", cpio::rpm(1, b"what is this?")),
        ("x.rpm", cpio::rpm(1, &gzip(b"what is this?"))),
        ("x.rpm", cpio::rpm(1, b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0")),
        ("x.deb", deb(("data.tar.xz", &xz_stored(b"what is this?")))),
        ("x.deb", deb(("data.tar.lzma", b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0"))),
        ("x.run", script(b"what is this?")),
    ] {
        let report = scan_bytes(name, &bytes, &options());
        assert_eq!(report.unread.len(), 1, "{name}: {:?}", report.diagnostics);
        assert!(matches!(report.unread[0].why, Why::Unsupported(_)), "{name}");
    }
}

#[test]
fn packages_that_are_read_again_alone_hold_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let tar = Tar::new().file("a.so", &library("90")).bytes();
    for number in 0..300 {
        std::fs::write(folder.path().join(format!("{number:03}.so")), library("80")).unwrap();
    }
    // more than the part of a thread
    for name in ["000.tar.xz", "100.tar.xz", "200.tar.xz"] {
        std::fs::write(folder.path().join(name), xz_dictionary(&tar, 28)).unwrap();
    }
    let mut expected = None;
    for threads in [1, 2, 5] {
        let report = scan_paths(&[folder.path()], &options().with_threads(threads));
        let members: usize = report.artefacts.iter().map(|artefact| artefact.members.len()).sum();
        assert_eq!((members, report.unread.len()), (303, 0), "{threads} threads");
        assert_eq!(*expected.get_or_insert_with(|| found(&report)), found(&report), "{threads} threads");
    }
}

/// Programs that unpack gzip and bzip2 pass over what is behind the end, or read it if it is another member.
#[test]
fn what_stands_behind_the_end_of_compressed_bytes_is_said() {
    let good = library("90");
    let narrow = library("75");
    for (name, pack) in [("x.so.gz", gzip as fn(&[u8]) -> Vec<u8>), ("x.so.bz2", bzip2)] {
        let said = |behind: &[u8]| {
            let report = scan_bytes(name, &[pack(&good), behind.to_vec()].concat(), &options());
            assert_eq!(report.artefacts[0].members.len(), 1, "{name}");
            errors(&report.diagnostics).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        for (what, behind) in [
            ("a text", b"signature".to_vec()),
            ("a library", narrow.clone()),
            ("other codecs", zstd_stored(&narrow)),
            ("a member behind zeros", [vec![0; 4096], pack(&narrow)].concat()),
        ] {
            assert_eq!(said(&behind), ["FS0206"], "{name}: {what}");
        }
        // as tapes are filled up
        assert_eq!(said(&[0; 300_000]), Vec::<String>::new(), "{name}");
        assert_eq!(said(&pack(b"more of it")), Vec::<String>::new(), "{name}");
    }
    let tar = |name: &str| Tar::new().file(name, &good).bytes();
    for bytes in [[gzip(&tar("a.so")), tar("b.so")].concat(), cpio::rpm(2, &[gzip(&cpio_of_three()), vec![1]].concat())]
    {
        assert_eq!(errors(&scan_bytes("x", &bytes, &options()).diagnostics), ["FS0206"]);
    }
}

#[test]
fn what_stands_behind_the_end_of_a_cpio_archive_is_said() {
    let one = cpio::cpio(&[("a.so", &library("90"))]);
    for (behind, expected) in [(cpio::cpio(&[("b.so", &library("75"))]), vec!["FS0212"]), (vec![0; 700], Vec::new())] {
        let report = scan_bytes("x.cpio", &[one.clone(), behind].concat(), &options());
        assert_eq!(errors(&report.diagnostics), expected);
    }
    // a pipe that holds bytes; what has no kind is a file for some
    let a = library("90");
    let size = u32::try_from(a.len()).unwrap();
    for (mode, members, expected) in
        [(0o010_644, 0, vec!["FS0214"]), (0o644, 1, Vec::new()), (0o120_777, 0, Vec::new())]
    {
        let bytes = [cpio::entry("b.so", mode, 1, size, &a), cpio::cpio(&[])].concat();
        let report = scan_bytes("x.cpio", &bytes, &options());
        let found = report.artefacts.first().map_or(0, |artefact| artefact.members.len());
        assert_eq!((found, errors(&report.diagnostics)), (members, expected), "{mode:o}");
    }
}

/// The last entry of a path is what is there when all are unpacked.
#[test]
fn an_entry_that_takes_the_place_of_a_library_is_said() {
    let a = library("90");
    let nothing = tar::octal(0);
    let start = || Tar::new().file("lib/a.so", &a).file("notes", b"text");
    for (what, tar, expected) in [
        ("a library", start().file("./lib//a.so", &library("75")), vec!["FS0214"]),
        ("a text", start().file("lib/a.so", b"text"), vec!["FS0214"]),
        ("a symbolic link", start().entry("lib/a.so", &nothing, b'2', "/opt/b.so", &[]), vec!["FS0214"]),
        ("a hard link", start().entry("lib/a.so", &nothing, b'1', "notes", &[]), vec!["FS0214"]),
        ("a library over a text", start().file("notes", &a), vec!["FS0214"]),
        ("a text over a text", start().file("notes", b"more"), Vec::new()),
        ("its directory", start().entry("lib/", &nothing, b'5', "", &[]), Vec::new()),
        ("nothing", start().file("lib/b.so", &a), Vec::new()),
    ] {
        assert_eq!(errors(&scan_bytes("x.tar", &tar.bytes(), &options()).diagnostics), expected, "{what}");
    }
}

#[test]
fn a_hard_link_to_what_is_not_in_the_archive_is_not_read() {
    let start = Tar::new().file("lib/a.so", &library("90"));
    let report = scan_bytes("x.tar", &start.hard_link("lib/b.so", "../usr/lib/b.so").bytes(), &options());
    let unread: Vec<String> = report.unread.iter().map(|own| own.at.to_string()).collect();
    assert_eq!(unread, ["x.tar!lib/b.so"]);
}

#[test]
fn records_without_an_entry_are_said() {
    let a = library("90");
    let start = || Tar::new().file("a.so", &a);
    for (tar, expected) in [
        (start().pax(&[("path", "b.so")]), vec!["FS0219"]),
        // a library in the place of records
        (start().entry("b.so", &tar::octal(a.len()), b'x', "", &a), vec!["FS0219"]),
        (start().entry("b.so", &tar::octal(a.len()), b'g', "", &a), vec!["FS0219"]),
        (start().pax(&[("comment", "made up")]), Vec::new()),
    ] {
        assert_eq!(errors(&scan_bytes("x.tar", &tar.bytes(), &options()).diagnostics), expected);
    }
}

#[test]
fn what_conda_installs_must_be_an_archive() {
    let a = Tar::new().file("lib/a.so", &library("90")).bytes();
    for payload in [Vec::new(), b"text".to_vec(), zstd_stored(b"text"), zstd_stored(&[])] {
        let zip = Zip::new().stored("pkg-x-1-0.tar.zst", &payload).stored("info-x-1-0.tar.zst", &zstd_stored(&a));
        let report = scan_bytes("x.conda", &zip.bytes(), &options());
        let unread: Vec<String> = report.unread.iter().map(|own| own.at.to_string()).collect();
        assert_eq!(unread, ["x.conda!pkg-x-1-0.tar.zst"], "{payload:?}");
    }
}

#[test]
fn an_archive_before_a_zip_archive_is_said() {
    let zip = |arch: &str| Zip::new().deflated("a.so", &library(arch)).bytes();
    let tar = Tar::new().file("a.so", &library("75")).bytes();
    for (name, before) in [("x.zip", zip("75")), ("x.zip", tar.clone()), ("x.zip", gzip(&tar)), ("x.conda", zip("75"))]
    {
        let report = scan_bytes(name, &[before, zip("90")].concat(), &options());
        assert_eq!(errors(&report.diagnostics), ["FS0212"], "{name}");
    }
    let report = scan_bytes("x.zip", &[b"#!/bin/sh\nexit\n".to_vec(), zip("90")].concat(), &options());
    assert_eq!(codes(&report.diagnostics), ["FS0213"]);
}

#[test]
fn compressed_files_that_are_not_read_are_known_by_their_first_bytes() {
    // of `compress`, `lzop`, `xz --format=lzma` with and without a size and with other properties, `cpio -H bin`
    let starts: [&[u8]; 7] = [
        &[0x1f, 0x9d, 0x90, 1, 2, 3],
        b"\x89LZO\0\r\n\x1a\n\x10",
        &[0x5d, 0, 0, 0x80, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0],
        &[0x5d, 0, 0, 0x30, 0, 0x10, 0x27, 0, 0, 0, 0, 0, 0, 0],
        &[0x6c, 0, 0, 0x80, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0],
        &[0xc7, 0x71, 0, 0xfe, 1, 2, 0xa4, 0x81],
        &[0x71, 0xc7, 0xfe, 0, 2, 1, 0x81, 0xa4],
    ];
    for start in starts {
        let tar = Tar::new().file("a.so", &library("90")).file("data", start).bytes();
        assert_eq!(scan_bytes("x.tar", &tar, &options()).unread.len(), 1, "{start:x?}");
    }
    for text in [b"]\0\0hello, this is a text".as_slice(), &[0x5d, 0, 0, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
        let tar = Tar::new().file("a.so", &library("90")).file("data", text).bytes();
        assert!(scan_bytes("x.tar", &tar, &options()).unread.is_empty(), "{text:x?}");
    }
}

/// What one reader of tar archives takes for data of a text and another one for a library is said, whatever is read.
#[test]
fn what_readers_of_tar_archives_differ_in_is_said() {
    let good = library("90");
    let start = || Tar::new().file("lib/good.so", &good);
    let record = |text: &str| start().entry("pax", &tar::octal(text.len()), b'x', "", text.as_bytes());
    let global = |text: &str| start().entry("pax", &tar::octal(text.len()), b'g', "", text.as_bytes());
    let text = |tar: Tar| tar.file("lib/x.txt", b"text").bytes();
    let with = |kind: u8, name: &str| start().entry(name, &tar::octal(good.len()), kind, "", &good).bytes();
    let once = start().bytes();
    for (what, bytes) in [
        ("a size with a blank", text(record("12 size= 512\n"))),
        ("a size with a sign", text(record("12 size=+512\n"))),
        ("a record without its newline", text(record("12 size=5120"))),
        ("a NUL in a path", text(record("14 path=a\0b.so\n"))),
        ("a size of all files", text(global("12 size=5120\n"))),
        ("another archive behind the end", [once.clone(), once.clone()].concat()),
        ("entries behind one block of zeros", [start().without_end(), vec![0; 512], once.clone()].concat()),
        ("a directory with bytes", with(b'5', "lib/d")),
        ("a file with a slash", with(b'0', "lib/bad.so/")),
        ("the rest of a file", with(b'M', "lib/bad.so")),
        ("the name of a tape", with(b'V', "lib/bad.so")),
    ] {
        let report = scan_bytes("x.tar", &bytes, &options());
        let said = |own: &fatscan::Diagnostic| {
            matches!(own.code, Code::ZipAmbiguous | Code::MemberAmbiguous) && own.level == Level::Error
        };
        assert!(report.diagnostics.iter().any(said), "{what}: {:?}", report.diagnostics);
        let packed = scan_bytes("x.tar.gz", &gzip(&bytes), &options());
        assert!(packed.diagnostics.iter().any(said), "{what}, in gzip: {:?}", packed.diagnostics);
    }
    // what archives are padded with, and what tools write
    for bytes in
        [[once, vec![0; 20_480]].concat(), text(global("19 comment=made up\n")), text(record("14 mtime=1.50\n"))]
    {
        assert_eq!(scan_bytes("x.tar", &bytes, &options()).diagnostics, []);
    }
}
