//! The rules of ld.so(8), each by hand.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fatscan::linkage::{Answer, Library, Look, Machine, Search, Way, parse_cache};
use testkit::Elf;

use crate::memory::{Memory, read};

const NAME: &str = "libcudart.so.12";

fn search() -> Search {
    let mut search = Search::new(Machine::X86_64, 64);
    search.defaults = vec![PathBuf::from("/lib"), PathBuf::from("/usr/lib")];
    search
}

fn plain() -> Library {
    read(&Elf::shared().needs(NAME))
}

fn found(search: &Search, library: &Library, files: &[&str]) -> Option<(String, Way)> {
    answer(search, library, &[], &Memory::default().with(files))
}

fn answer(search: &Search, library: &Library, loaders: &[(&Path, &Library)], files: &Memory) -> Option<(String, Way)> {
    let answer: Answer = search.find(NAME, (Path::new("/env/lib/a.so"), library), loaders, files);
    answer.found.map(|(path, way)| (path.display().to_string(), way))
}

fn at(path: &str, way: Way) -> Option<(String, Way)> {
    Some((path.to_owned(), way))
}

#[test]
fn places_are_searched_in_the_order_of_the_loader() {
    let mut search = search();
    search.library_path = vec!["/variable".to_owned()];
    search.cache = HashMap::from([(NAME.to_owned(), PathBuf::from("/cached/libcudart.so.12"))]);
    let all = ["/own/libcudart.so.12", "/variable/libcudart.so.12", "/cached/libcudart.so.12", "/lib/libcudart.so.12"];
    let rpath = read(&Elf::shared().needs(NAME).rpath("/own"));
    let runpath = read(&Elf::shared().needs(NAME).runpath("/own"));
    assert_eq!(found(&search, &rpath, &all), at(all[0], Way::Rpath));
    assert_eq!(found(&search, &runpath, &all), at(all[1], Way::LibraryPath));
    assert_eq!(found(&search, &plain(), &all), at(all[1], Way::LibraryPath));
    search.library_path.clear();
    assert_eq!(found(&search, &runpath, &all), at(all[0], Way::Runpath));
    assert_eq!(found(&search, &plain(), &all), at(all[2], Way::Cache));
    // what the cache names and is gone is looked for further on
    assert_eq!(found(&search, &plain(), &all[3..]), at(all[3], Way::Default));
    assert_eq!(found(&search, &plain(), &["/elsewhere/libcudart.so.12"]), None);
}

#[test]
fn an_rpath_counts_for_nothing_beside_a_runpath() {
    let both = read(&Elf::shared().needs(NAME).rpath("/old").runpath("/new"));
    assert_eq!(found(&search(), &both, &["/old/libcudart.so.12"]), None);
    let loader = read(&Elf::shared().rpath("/old"));
    let loaders = [(Path::new("/env/lib/b.so"), &loader)];
    let old = Memory::default().with(&["/old/libcudart.so.12"]);
    let by_loader = at("/old/libcudart.so.12", Way::LoaderRpath(PathBuf::from("/env/lib/b.so")));
    assert_eq!(answer(&search(), &plain(), &loaders, &old), by_loader);
    assert_eq!(answer(&search(), &both, &loaders, &old), None, "the one that asks has a RUNPATH");
    assert_eq!(answer(&search(), &plain(), &[(Path::new("/b.so"), &both)], &old), None, "the loader has one");
    let mut search = search();
    search.program = Some((PathBuf::from("/env/bin/python"), read(&Elf::shared().rpath("$ORIGIN/../opt"))));
    let opt = Memory::default().with(&["/env/opt/libcudart.so.12"]);
    let by_program = at("/env/bin/../opt/libcudart.so.12", Way::ProgramRpath);
    assert_eq!(answer(&search, &plain(), &[], &opt), by_program);
}

#[test]
fn tokens_are_replaced_and_unknown_ones_left() {
    let mut search = search();
    search.lib = "lib64".to_owned();
    search.directory = Some(PathBuf::from("/cwd"));
    let of = |search: &Search, paths: &str| {
        let directories = search.directories(paths, Path::new("/env/lib/a.so"));
        directories.into_iter().map(|(_, own)| own.map_or("-".to_owned(), |own| own.display().to_string())).collect()
    };
    let all: Vec<String> =
        of(&search, "$ORIGIN:${ORIGIN}/../x:/p/$LIB/q:$ORIGINAL:$OTHER/z:$PLATFORM/a:rel:$:/a$ORIGIN");
    let by_hand = [
        "/env/lib",
        "/env/lib/../x",
        "/p/lib64/q",
        "/env/libAL",
        "/cwd/$OTHER/z",
        "-",
        "/cwd/rel",
        "/cwd/$",
        "/a/env/lib",
    ];
    assert_eq!(all, by_hand);
    let here: Vec<String> = of(&search, ":/x");
    assert_eq!(here, ["/cwd/.", "/x"], "an empty entry is the current directory");
    let none: Vec<String> = of(&search, "");
    assert!(none.is_empty(), "an empty path has no entry");
    search.platform = Some("haswell".to_owned());
    search.directory = None;
    let all: Vec<String> = of(&search, "/x/$PLATFORM:rel");
    assert_eq!(all, ["/x/haswell", "-"]);
}

#[test]
fn the_flag_nodeflib_takes_away_default_directories_and_what_the_cache_has_there() {
    let own = read(&Elf::shared().needs(NAME).flags_1(0x800));
    let mut search = search();
    assert_eq!(found(&search, &own, &["/lib/libcudart.so.12"]), None);
    search.cache.insert(NAME.to_owned(), PathBuf::from("/usr/lib/deep/libcudart.so.12"));
    assert_eq!(found(&search, &own, &["/usr/lib/deep/libcudart.so.12"]), None);
    search.cache.insert(NAME.to_owned(), PathBuf::from("/opt/libcudart.so.12"));
    assert_eq!(found(&search, &own, &["/opt/libcudart.so.12"]), at("/opt/libcudart.so.12", Way::Cache));
}

#[test]
fn files_for_another_machine_are_stepped_over_and_others_stop_the_loader() {
    let own = read(&Elf::shared().needs(NAME).runpath("/a:/b:/c"));
    let mut files = Memory::default().with(&["/c/libcudart.so.12"]);
    files.0.insert(PathBuf::from("/a/libcudart.so.12"), Look::Elf(Machine::Aarch64, 64));
    files.0.insert(PathBuf::from("/b/libcudart.so.12"), Look::Elf(Machine::X86_64, 32));
    let answer = search().find(NAME, (Path::new("/x/a.so"), &own), &[], &files);
    assert_eq!(answer.skipped, [Path::new("/a/libcudart.so.12"), Path::new("/b/libcudart.so.12")]);
    assert_eq!(answer.found, Some((PathBuf::from("/c/libcudart.so.12"), Way::Runpath)));
    assert!(!answer.is_broken);
    files.0.insert(PathBuf::from("/b/libcudart.so.12"), Look::Other);
    let answer = search().find(NAME, (Path::new("/x/a.so"), &own), &[], &files);
    assert_eq!(answer.found, Some((PathBuf::from("/b/libcudart.so.12"), Way::Runpath)));
    assert!(answer.is_broken);
}

#[test]
fn directories_of_the_processor_come_first_and_a_name_with_a_slash_is_a_path() {
    let own = read(&Elf::shared().needs(NAME).runpath("/a"));
    let files = Memory::default().with(&["/a/libcudart.so.12", "/a/glibc-hwcaps/x86-64-v2/libcudart.so.12"]);
    let mut search = search();
    let plain = |search: &Search| answer(search, &own, &[], &files);
    assert_eq!(plain(&search), at("/a/libcudart.so.12", Way::Runpath));
    search.hwcaps = vec!["x86-64-v3".to_owned(), "x86-64-v2".to_owned()];
    assert_eq!(plain(&search), at("/a/glibc-hwcaps/x86-64-v2/libcudart.so.12", Way::Runpath));
    let path = search.find("$ORIGIN/x.so", (Path::new("/a/y.so"), &own), &[], &Memory::default().with(&["/a/x.so"]));
    assert_eq!(path.found, Some((PathBuf::from("/a/x.so"), Way::Path)));
}

/// A cache of glibc's format 1.1: flags, name, path and bits of the processor of each entry.
fn cache(entries: &[(u32, &str, &str, u64)], old: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    if old {
        bytes.extend(b"ld.so-1.7.0\0");
        bytes.extend(1u32.to_ne_bytes());
        bytes.extend([7; 12]);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    let start = bytes.len();
    let mut strings: Vec<u8> = Vec::new();
    bytes.extend(b"glibc-ld.so.cache1.1");
    bytes.extend(u32::try_from(entries.len()).unwrap().to_ne_bytes());
    bytes.resize(start + 48, 0);
    let first = 48 + entries.len() * 24;
    for (flags, name, path, hwcap) in entries {
        let mut place = |text: &str| {
            let at = u32::try_from(first + strings.len()).unwrap();
            strings.extend(text.bytes().chain([0]));
            at
        };
        let (name, path) = (place(name), place(path));
        for word in [*flags, name, path, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(hwcap.to_ne_bytes());
    }
    bytes.extend(strings);
    bytes
}

#[test]
fn the_cache_is_read_and_its_damage_is_no_harm() {
    let entries = [
        (0x303, "libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1", 0),
        (0x303, "libz.so.1", "/usr/local/lib/libz.so.1", 0),
        (0x303, "liby.so.1", "/hw/liby.so.1", 1 << 62),
        (0xa03, "libarm.so.1", "/lib/libarm.so.1", 0),
        (3, "lib32.so.1", "/lib32/lib32.so.1", 0),
    ];
    for old in [false, true] {
        let bytes = cache(&entries, old);
        let of = |machine, bits| parse_cache(&bytes, machine, bits).unwrap();
        let first = PathBuf::from("/lib/x86_64-linux-gnu/libz.so.1");
        assert_eq!(of(Machine::X86_64, 64), HashMap::from([("libz.so.1".to_owned(), first)]));
        assert_eq!(of(Machine::Aarch64, 64).len(), 1);
        assert_eq!(of(Machine::I386, 32)["lib32.so.1"], Path::new("/lib32/lib32.so.1"));
        let mut fewer = 0;
        for end in 0..bytes.len() {
            fewer += usize::from(parse_cache(&bytes[..end], Machine::X86_64, 64).is_none_or(|own| own.is_empty()));
        }
        assert!(fewer > 48, "{fewer}");
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] = 0xff;
            assert!(parse_cache(&bytes, Machine::X86_64, 64).is_none_or(|own| own.len() <= 3), "byte {at}");
        }
    }
    assert_eq!(parse_cache(b"", Machine::X86_64, 64), None);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_cache_of_this_machine_is_what_ldconfig_says() {
    let said = std::process::Command::new("/sbin/ldconfig").arg("-p").output();
    let (Ok(said), Ok(bytes)) = (said, std::fs::read("/etc/ld.so.cache")) else {
        eprintln!("skipped: no ldconfig or no cache");
        return;
    };
    let mut by_name: HashMap<String, PathBuf> = HashMap::new();
    for line in String::from_utf8_lossy(&said.stdout).lines() {
        if let Some((name, rest)) = line.trim().split_once(" (libc6,x86-64) => ") {
            by_name.entry(name.to_owned()).or_insert_with(|| PathBuf::from(rest));
        }
    }
    if by_name.is_empty() {
        eprintln!("skipped: ldconfig lists nothing");
        return;
    }
    assert_eq!(parse_cache(&bytes, Machine::X86_64, 64).unwrap(), by_name);
}
