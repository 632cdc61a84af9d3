//! Directories and environments: copied with their libraries slimmed, or changed in their places, and nothing else of them.
#![cfg(unix)]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

#[path = "common/run.rs"]
mod run;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use run::slim;
use tempfile::TempDir;
use testkit::{Zip, sha256};

const INFO: &str = "pkg-1.0.dist-info";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn library() -> Vec<u8> {
    fs::read(fixture("libpartial.so")).unwrap()
}

/// The library slimmed by itself for 9.0.
fn expected() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("out.so");
    slim(&[text(&fixture("libpartial.so")), "-o", text(&to), "--for", "9.0"]).ending(0);
    let new = fs::read(to).unwrap();
    assert!(new != library() && new.len() == library().len());
    new
}

/// RFC 4648 for addresses, without padding, by bits one by one.
fn hash(bytes: &[u8]) -> String {
    let hex = sha256(bytes);
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']).collect();
    let mut bits: Vec<u8> =
        hex.chars().flat_map(|c| (0..4).rev().map(move |bit| (c.to_digit(16).unwrap() >> bit & 1) as u8)).collect();
    bits.resize(bits.len().next_multiple_of(6), 0);
    bits.chunks(6).map(|six| letters[six.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit))]).collect()
}

/// The list with the library as it is.
fn record(library: &[u8]) -> String {
    format!("pkg/lib.so,sha256={},{}\npkg/data.txt,sha256=x,4\n{INFO}/RECORD,,\n", hash(library), library.len())
}

/// A directory of packages with all kinds of names in it.
fn site(root: &Path) {
    fs::create_dir_all(root.join("pkg/empty")).unwrap();
    fs::create_dir_all(root.join(INFO)).unwrap();
    let lib = root.join("pkg/lib.so");
    fs::write(&lib, library()).unwrap();
    fs::set_permissions(&lib, fs::Permissions::from_mode(0o755)).unwrap();
    fs::hard_link(&lib, root.join("pkg/hard.so")).unwrap();
    symlink("lib.so", root.join("pkg/link.so")).unwrap();
    symlink("/etc", root.join("pkg/outside")).unwrap();
    fs::write(root.join("pkg/data.txt"), b"data").unwrap();
    fs::set_permissions(root.join("pkg/data.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(root.join("pkg/cut.so"), &library()[..library().len() - 3000]).unwrap();
    let inner = Zip::wheel("x", "1.0", "py3-none-any", &[testkit::ZipMember::deflated("x/lib.so", &library())]).bytes();
    fs::write(root.join("pkg/x-1.0-py3-none-any.whl"), inner).unwrap();
    fs::write(root.join(INFO).join("RECORD"), record(&library())).unwrap();
    fs::write(root.join(INFO).join("RECORD.jws"), b"{}").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join("pkg/pipe")).status().unwrap().success());
}

/// What is below a directory: files with mode and bytes, links with their target, folders with their mode.
fn state(root: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let known = fs::symlink_metadata(&path).unwrap();
            let name = text(path.strip_prefix(root).unwrap()).to_owned();
            let own = match known.file_type() {
                kind if kind.is_symlink() => (0, text(&fs::read_link(&path).unwrap()).as_bytes().to_vec()),
                kind if kind.is_file() => (known.mode() & 0o7777, fs::read(&path).unwrap()),
                kind if kind.is_dir() => {
                    pending.push(path);
                    (known.mode() & 0o7777, Vec::new())
                }
                _ => continue,
            };
            all.insert(name, own);
        }
    }
    all
}

fn differing(old: &BTreeMap<String, (u32, Vec<u8>)>, new: &BTreeMap<String, (u32, Vec<u8>)>) -> Vec<String> {
    let names = old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name));
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

fn changed_names() -> Vec<String> {
    let mut names = [format!("{INFO}/RECORD"), format!("{INFO}/RECORD.jws")].to_vec();
    names.extend(["pkg/hard.so", "pkg/lib.so"].map(ToOwned::to_owned));
    names
}

#[test]
fn a_directory_is_copied_as_it_is_but_for_its_libraries() {
    let folder = TempDir::new().unwrap();
    let (root, out) = (folder.path().join("site"), folder.path().join("out"));
    site(&root);
    let before = state(&root);
    let own = slim(&[text(&root), "-o", text(&out), "--for", "9.0"]).ending(0);
    assert_eq!(state(&root), before, "what was read is untouched");
    let after = state(&out);
    assert_eq!(differing(&before, &after), changed_names());
    assert_eq!(after["pkg/lib.so"], (0o755, expected()));
    assert_eq!(after["pkg/hard.so"], (0o755, expected()));
    let ids = ["pkg/lib.so", "pkg/hard.so"].map(|name| fs::metadata(out.join(name)).unwrap().ino());
    assert_eq!(ids[0], ids[1], "two names of one file stay that");
    assert_eq!(String::from_utf8_lossy(&after[&format!("{INFO}/RECORD")].1), record(&expected()));
    let modified = |root: &Path| fs::metadata(root.join("pkg/data.txt")).unwrap().modified().unwrap();
    assert_eq!(modified(&root), modified(&out));
    for words in ["pkg/cut.so", "pkg/pipe", "x-1.0-py3-none-any.whl", "left out, since it signed the old bytes"] {
        assert!(own.out.contains(words), "{words}: {}", own.out);
    }
    // nothing beside it is left, and a second time is refused
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let own = slim(&[text(&root), "-o", text(&root.join("a/within")), "--for", "9.0"]).ending(2);
    assert!(own.err.contains("lies in the directory"), "{}", own.err);
    assert_eq!(state(&root), before);
    let own = slim(&[text(&out), "-o", text(&root), "--for", "9.0", "--force"]).ending(0);
    assert!(state(&root).keys().all(|name| before.contains_key(name) || name.starts_with("out")), "{}", own.out);
    slim(&[text(&out), "-o", text(&root), "--for", "9.0", "--force"]).ending(2);
}

#[test]
fn in_its_place_an_environment_changes_and_what_an_installer_linked_does_not() {
    let folder = TempDir::new().unwrap();
    let (root, cache, backup) =
        (folder.path().join("site"), folder.path().join("cache.so"), folder.path().join("backup"));
    site(&root);
    fs::hard_link(root.join("pkg/lib.so"), &cache).unwrap();
    fs::hard_link(root.join(INFO).join("RECORD"), folder.path().join("RECORD")).unwrap();
    let before = state(&root);
    let own = slim(&[text(&root), "--in-place", "--for", "9.0"]).ending(2);
    assert!(own.err.contains("--backup DIR"), "{}", own.err);
    let own = slim(&[text(&root), "--in-place", "--backup", text(&root.join("pkg/b")), "--for", "9.0"]).ending(2);
    assert!(own.err.contains("does not lie"), "{}", own.err);
    slim(&[text(&root), "--in-place", "--dry-run", "--for", "9.0"]).ending(0);
    assert_eq!(state(&root), before);

    let own = slim(&[text(&root), "--in-place", "--backup", text(&backup), "--for", "9.0"]).ending(0);
    let after = state(&root);
    assert_eq!(differing(&before, &after), changed_names(), "{}", own.out);
    assert_eq!(after["pkg/lib.so"], (0o755, expected()));
    assert_eq!(after["pkg/hard.so"], (0o755, expected()));
    let id = |name: &str| fs::metadata(root.join(name)).unwrap().ino();
    assert_eq!(id("pkg/lib.so"), id("pkg/hard.so"));
    assert_eq!(String::from_utf8_lossy(&after[&format!("{INFO}/RECORD")].1), record(&expected()));
    assert_eq!(fs::read(&cache).unwrap(), library(), "never through a link");
    assert_eq!(fs::read_to_string(folder.path().join("RECORD")).unwrap(), record(&library()));
    assert!(own.out.contains("other names elsewhere"), "{}", own.out);
    // all that changed, as it was
    let kept = state(&backup);
    for name in [format!("{INFO}/RECORD"), format!("{INFO}/RECORD.jws"), "pkg/hard.so".to_owned()] {
        assert_eq!(kept[&name], before[&name], "{name}");
    }

    let ids: Vec<u64> =
        changed_names().iter().filter_map(|own| fs::metadata(root.join(own)).ok()).map(|own| own.ino()).collect();
    let again = slim(&[text(&root), "--in-place", "--backup", text(&backup), "--for", "9.0"]).ending(0);
    assert!(again.out.contains("nothing to leave out") && again.out.contains("nothing is written"), "{}", again.out);
    assert_eq!(state(&root), after);
    let now: Vec<u64> =
        changed_names().iter().filter_map(|own| fs::metadata(root.join(own)).ok()).map(|own| own.ino()).collect();
    assert_eq!(now, ids, "not even written again");
}

#[test]
fn a_backup_of_something_else_is_not_written_over_and_the_file_stays() {
    let folder = TempDir::new().unwrap();
    let (root, backup) = (folder.path().join("site"), folder.path().join("backup"));
    fs::create_dir_all(root.join("pkg")).unwrap();
    fs::create_dir_all(backup.join("pkg")).unwrap();
    fs::write(root.join("pkg/lib.so"), library()).unwrap();
    fs::write(backup.join("pkg/lib.so"), b"of another version").unwrap();
    let own = slim(&[text(&root), "--in-place", "--backup", text(&backup), "--for", "9.0"]).ending(1);
    assert!(own.out.contains("another backup is at"), "{}", own.out);
    assert_eq!(fs::read(root.join("pkg/lib.so")).unwrap(), library());
    assert_eq!(fs::read(backup.join("pkg/lib.so")).unwrap(), b"of another version");
    assert_eq!(fs::read_dir(root.join("pkg")).unwrap().count(), 1);
}

#[test]
fn one_file_in_its_place_is_found_in_the_list_beside() {
    let folder = TempDir::new().unwrap();
    let (root, backup) = (folder.path().join("site"), folder.path().join("backup"));
    site(&root);
    // by a link that leads there, which stays one
    let own =
        slim(&[text(&root.join("pkg/link.so")), "--in-place", "--backup", text(&backup), "--for", "9.0"]).ending(0);
    let after = state(&root);
    assert_eq!(after["pkg/lib.so"], (0o755, expected()), "{}", own.out);
    assert_eq!(after["pkg/link.so"], (0, b"lib.so".to_vec()));
    assert_eq!(after["pkg/hard.so"], (0o755, library()), "another name was not given");
    assert_eq!(String::from_utf8_lossy(&after[&format!("{INFO}/RECORD")].1), record(&expected()));
    assert_eq!(fs::read(backup.join("lib.so")).unwrap(), library());
    assert_eq!(fs::read_to_string(backup.join(INFO).join("RECORD")).unwrap(), record(&library()));
    // an archive is not
    let wheel = root.join("pkg/x-1.0-py3-none-any.whl");
    slim(&[text(&wheel), "--in-place", "--yes", "--for", "9.0"]).ending(2);
    assert_eq!(state(&root), after);
}

#[test]
fn zeros_become_holes_where_that_is_wanted() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    // what goes is larger than many pages
    let mut large = testkit::Cubin::new("80").bytes();
    large.resize(1 << 20, 0xab);
    let small = testkit::Cubin::new("90").bytes();
    let code = testkit::fatbin(&[testkit::Entry::sass("80", large), testkit::Entry::sass("90", small)]);
    // a library of Windows: its first section lies at 0x1000 of an image that prefers 0x180000000
    let wrapper = testkit::fatbin::wrapper(1, 0x1_8000_1000);
    let code = testkit::Pe::dll().section(".nv_fatbin", &code).section(".nvFatBinSegment", &wrapper).bytes();
    fs::write(path("x.dll"), &code).unwrap();
    for (name, words) in [("whole", &[][..]), ("holes", &["--punch"])] {
        let (from, to) = (path("x.dll"), path(name));
        slim(&[&[text(&from), "-o", text(&to), "--for", "9.0"], words].concat()).ending(0);
    }
    assert_eq!(fs::read(path("whole")).unwrap(), fs::read(path("holes")).unwrap());
    let known = |name: &str| fs::metadata(path(name)).unwrap();
    assert_eq!(known("holes").len(), code.len() as u64);
    // blocks of 512 bytes; a file system without holes has as many of both
    assert!(known("holes").blocks() <= known("whole").blocks());
    if known("whole").blocks() > 2000 {
        assert!(known("holes").blocks() < 100, "{}", known("holes").blocks());
    }
}

#[test]
fn a_list_where_everybody_may_write_is_not_touched() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("open");
    site(&root);
    fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
    let before = state(&root);
    slim(&[text(&root.join("pkg/lib.so")), "--in-place", "--yes", "--for", "9.0"]).ending(0);
    assert_eq!(differing(&before, &state(&root)), ["pkg/lib.so"]);
}
