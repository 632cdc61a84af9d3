//! Archives within each other: the same modules under all of them, and a locator that is opened again.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

use fatscan::extract::{Job, Wanted, extract};
use fatscan::{Limits, Mapping, Options, Why, scan_paths};
use testkit::ar::Flavour;
use testkit::compress::{bzip2, gzip, xz_stored, zstd_stored};
use testkit::{Ar, Cubin, Elf, Entry, MachO, Tar, Zip, cpio, fatbin};

/// Something around a file.
#[derive(Clone, Copy, Debug)]
enum Around {
    Stored,
    Deflated,
    Ar,
    Tar,
    TarGz,
    TarXz,
    /// A zip archive with a `.tar.zst` in it: two levels.
    Conda,
    /// Two levels, too.
    Deb,
    Rpm,
    /// A compressed file, which is no level.
    Bz2,
    /// A universal Mach-O file; what is in it must be Mach-O.
    Universal,
    /// A directory.
    Folder,
}
use Around::{Bz2, Conda, Deb, Deflated, Folder, Rpm, Stored, TarGz, TarXz, Universal};

fn wrap(around: Around, name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    match around {
        Stored => ("s.zip".to_owned(), Zip::new().stored(name, bytes).bytes()),
        Deflated => ("d.zip".to_owned(), Zip::new().deflated(name, bytes).bytes()),
        Around::Ar => ("l.a".to_owned(), Ar::new(Flavour::Gnu).member(name, bytes).bytes()),
        Around::Tar => ("t.tar".to_owned(), tar(name, bytes)),
        TarGz => ("t.tgz".to_owned(), gzip(&tar(name, bytes))),
        TarXz => ("t.tar.xz".to_owned(), xz_stored(&tar(name, bytes))),
        Conda => ("c.conda".to_owned(), Zip::new().stored("pkg-c.tar.zst", &zstd_stored(&tar(name, bytes))).bytes()),
        Deb => {
            let ar = Ar::new(Flavour::Gnu).member("debian-binary", b"2.0\n");
            ("d.deb".to_owned(), ar.member("data.tar.gz", &gzip(&tar(name, bytes))).bytes())
        }
        Rpm => ("r.rpm".to_owned(), cpio::rpm(1, &xz_stored(&cpio::cpio(&[(name, bytes)])))),
        Bz2 => (format!("{name}.bz2"), bzip2(bytes)),
        Universal => {
            ("u.dylib".to_owned(), testkit::macho::universal(&[(testkit::macho::cpu::ARM64, bytes.to_vec())], false))
        }
        Folder => unreachable!("the outermost"),
    }
}

fn tar(name: &str, bytes: &[u8]) -> Vec<u8> {
    Tar::new().file("readme.txt", b"text").file(name, bytes).bytes()
}

/// The ways, from the outside in, each at most four deep.
const WAYS: [&[Around]; 27] = [
    &[Stored],
    &[Deflated],
    &[Around::Ar],
    &[Folder, Deflated, Stored],
    &[Stored, Around::Ar],
    &[Deflated, Around::Ar],
    &[Deflated, Deflated, Deflated],
    &[Stored, Deflated, Around::Ar],
    &[Deflated, Stored, Deflated, Stored],
    &[Deflated, Deflated, Universal],
    &[Around::Tar],
    &[TarGz],
    &[Folder, TarXz],
    &[Conda],
    &[Folder, Deb],
    &[Rpm],
    &[Bz2],
    &[TarGz, Bz2],
    &[Folder, Deflated, TarXz],
    &[Around::Tar, Deflated, TarGz],
    &[TarGz, TarXz, Around::Tar, TarGz],
    &[TarGz, Conda],
    &[Deflated, Deb],
    &[TarXz, Rpm, Bz2],
    &[TarGz, Around::Ar],
    &[TarGz, Stored, Around::Ar],
    &[Rpm, Universal],
];

#[test]
fn many_ways_to_pack_a_library_list_the_same_and_open_again() {
    let cubins = [Cubin::new("90").bytes(), Cubin::new("100f").bytes()];
    let code = fatbin(&[Entry::sass("90", cubins[0].clone()), Entry::sass("100f", cubins[1].clone())]);
    for way in WAYS {
        let is_mach_o = matches!(way.last(), Some(Universal));
        let (mut name, mut bytes) = match way.last() {
            Some(Around::Ar) => ("x.o".to_owned(), Elf::object().section(".nv_fatbin", &code).bytes()),
            _ if is_mach_o => ("x.dylib".to_owned(), MachO::dylib().fatbin(&code).bytes()),
            _ => ("x.so".to_owned(), Elf::shared().section(".nv_fatbin", &code).bytes()),
        };
        for around in way.iter().rev().filter(|around| !matches!(around, Folder)) {
            (name, bytes) = wrap(*around, &name, &bytes);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(&name);
        std::fs::write(&path, &bytes).unwrap();
        let given = if matches!(way[0], Folder) { folder.path().to_path_buf() } else { path };
        for threads in [1, 4] {
            let report = scan_paths(&[&given], &Options::new().with_threads(threads));
            assert_eq!((&report.diagnostics[..], &report.unread[..]), (&[][..], &[][..]), "{way:?}");
            let members: Vec<_> = report.artefacts.iter().flat_map(|artefact| &artefact.members).collect();
            assert_eq!(members.len(), 1, "{way:?}");
            let images: Vec<String> =
                members[0].modules.iter().flat_map(|m| &m.images).filter_map(|i| i.arch_name()).collect();
            assert_eq!(images, ["sm_90", "sm_100f"], "{way:?}");
            let wanted = [0, 1].map(|image| Wanted { module: 0, image }).to_vec();
            let mut got = Vec::new();
            let jobs = [Job { member: members[0], wanted }];
            let failed = extract(&jobs, false, &Limits::default(), Mapping::Auto, &mut |_, wanted, bytes| {
                got.push((wanted.image, bytes.unwrap().to_vec()));
                std::ops::ControlFlow::Continue(())
            });
            assert!(failed.is_empty(), "{way:?}: {failed:?}");
            assert_eq!(got, [(0, cubins[0].clone()), (1, cubins[1].clone())], "{way:?}");
        }
    }
}

#[test]
fn a_fifth_level_is_too_deep_and_says_so() {
    let library = Elf::shared().section(".nv_fatbin", &fatbin(&[Entry::sass("90", Cubin::new("90").bytes())])).bytes();
    for around in [Stored, Deflated, Around::Tar, TarGz, TarXz, Rpm, Around::Ar] {
        let (mut name, mut bytes) = ("x.so".to_owned(), library.clone());
        for level in 1..=6 {
            (name, bytes) = wrap(around, &name, &bytes);
            let report = fatscan::scan_bytes(&name, &bytes, &Options::for_checking());
            let members: usize = report.artefacts.iter().map(|artefact| artefact.members.len()).sum();
            let why: Vec<&Why> = report.unread.iter().map(|unread| &unread.why).collect();
            if level <= Limits::default().depth {
                assert_eq!((members, why.len()), (1, 0), "{level} levels");
            } else {
                assert_eq!((members, why), (0, vec![&Why::TooDeep]), "{level} levels");
                assert!(report.diagnostics.iter().any(|said| said.level == fatscan::Level::Error));
            }
        }
    }
}
