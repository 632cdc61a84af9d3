//! What `fatscan slim` writes is the old file without some images, and nothing else of it changes.
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

#[path = "common/run.rs"]
mod run;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use run::slim;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Zip, ZipMember, sha256};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

const SAMPLE: &str = "sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl";

/// Slims one file into a directory and returns what is there.
fn slimmed(path: &Path, out: &Path, words: &[&str]) -> PathBuf {
    let own = slim(&[&[path.to_str().unwrap(), "-o", out.to_str().unwrap()], words].concat());
    assert_eq!(own.code, Some(0), "{}{}", own.out, own.err);
    let files: Vec<PathBuf> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "nothing else is left there: {files:?}");
    files[0].clone()
}

/// Offset of the first of some bytes.
fn find(bytes: &[u8], what: &[u8], from: usize) -> usize {
    from + bytes[from..].windows(what.len()).position(|window| window == what).unwrap()
}

/// Entries of the fatbin at a place, by the fields of its header and theirs: architecture, kind, all bytes.
fn entries(bytes: &[u8], at: usize) -> Vec<(u32, u16, Vec<u8>)> {
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let end = at + 16 + u64_at(at + 8);
    let mut next = at + 16;
    let mut found = Vec::new();
    while next < end {
        let size = u32_at(next + 4) as usize + u64_at(next + 8);
        let kind = u16::from_le_bytes(bytes[next..next + 2].try_into().unwrap());
        found.push((u32_at(next + 28), kind, bytes[next..next + size].to_vec()));
        next += size;
    }
    assert_eq!(next, end);
    found
}

const MAGIC: &[u8] = b"\x50\xed\x55\xba\x01\x00\x10\x00";

#[test]
fn entries_that_stay_move_together_and_no_other_byte_changes() {
    let folder = TempDir::new().unwrap();
    let old = std::fs::read(fixture("libpartial.so")).unwrap();
    let path = slimmed(&fixture("libpartial.so"), folder.path(), &["--for", "9.0", "--keep-ptx", "none"]);
    let new = std::fs::read(path).unwrap();
    assert_eq!(new.len(), old.len());
    // libpartial.so has three fatbins: 90a and 100f with PTX each, 75, and 80, 90 with PTX (its truth file)
    let (mut at, mut outside) = (0, 0);
    for stays in [&[90][..], &[75], &[90]] {
        let start = find(&old, MAGIC, at);
        assert_eq!(old[outside..start], new[outside..start]);
        let size = 16 + u64::from_le_bytes(old[start + 8..start + 16].try_into().unwrap()) as usize;
        let (before, after) = (entries(&old, start), entries(&new, start));
        let numbers: Vec<u32> = after.iter().map(|own| own.0).collect();
        assert_eq!(numbers, stays, "at {start:#x}");
        assert!(after.iter().all(|own| own.1 == 2 && before.contains(own)), "byte for byte, and cubins");
        let used = 16 + after.iter().map(|own| own.2.len()).sum::<usize>();
        assert!(new[start + used..start + size].iter().all(|byte| *byte == 0), "zeros behind them");
        (at, outside) = (start + 8, start + size);
    }
    assert_eq!(old[outside..], new[outside..]);
}

#[test]
fn newest_ptx_stays_for_gpus_to_come_unless_asked_otherwise() {
    let kinds = |words: &[&str]| -> Vec<(u32, u16)> {
        let folder = TempDir::new().unwrap();
        let path = slimmed(&fixture("comp_default.fatbin"), folder.path(), &[&["--for", "9.0"], words].concat());
        entries(&std::fs::read(path).unwrap(), 0).into_iter().map(|own| (own.0, own.1)).collect()
    };
    // the fixture holds PTX (kind 1) and cubins (kind 2) of sm_90a and sm_100f; 9.0 picks the cubin of 90a
    assert_eq!(kinds(&[]), [(90, 2), (100, 1)]);
    assert_eq!(kinds(&["--keep-ptx", "all"]), [(90, 2), (90, 1), (100, 1)]);
    assert_eq!(kinds(&["--keep-ptx", "none"]), [(90, 2)]);
}

#[test]
fn newest_ptx_is_the_one_that_later_gpus_compile() {
    let folder = TempDir::new().unwrap();
    let path = slimmed(&fixture("nvfb12.9_all.fatbin"), folder.path(), &["--for", "9.0"]);
    let bytes = std::fs::read(path).unwrap();
    // it holds PTX of 50, 90, 90a, 100, 100a, 100f, 103f, 120a, 120f, 121f: with a suffix it is for exact targets or a family
    let kinds: Vec<(u32, u16)> = entries(&bytes, 0).iter().map(|own| (own.0, own.1)).collect();
    assert_eq!(kinds, [(100, 1), (90, 2)]);
    // bits 20 and 21 of the flags, 40 bytes into the header of an entry, are the suffixes
    let flags = u64::from_le_bytes(entries(&bytes, 0)[0].2[40..48].try_into().unwrap());
    assert_eq!(flags & 0x30_0000, 0, "compute_100 without a suffix");
}

#[test]
fn a_bare_fatbin_ends_behind_its_last_entry() {
    // cuobjdump takes zeros behind it for a further fatbin, and reads nothing then
    let folder = TempDir::new().unwrap();
    let path = slimmed(&fixture("comp_default.fatbin"), folder.path(), &["--for", "9.0"]);
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len(), 16 + u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize);
    // the second of two would move, and the first one be followed by a hole
    let (two, out) = (fixture("craft_two_concatenated.fatbin"), folder.path().join("two"));
    let own = slim(&[two.to_str().unwrap(), "-o", out.to_str().unwrap(), "--for", "9.0", "--keep-ptx", "none"]);
    assert_eq!(own.code, Some(0), "{}", own.err);
    assert!(own.out.contains("followed by other code"), "{}", own.out);
    let (old, new) = (std::fs::read(two).unwrap(), std::fs::read(out).unwrap());
    let second = 16 + u64::from_le_bytes(old[8..16].try_into().unwrap()) as usize;
    assert_eq!(old[..second], new[..second]);
    let kept = 16 + u64::from_le_bytes(new[second + 8..second + 16].try_into().unwrap()) as usize;
    assert_eq!(new.len(), second + kept);
}

#[test]
fn a_module_that_a_gpu_finds_nothing_in_still_says_so() {
    // 12.0 finds nothing in two of three modules, and with one image each the third would look like a specialised one
    let folder = TempDir::new().unwrap();
    let path = slimmed(&fixture("libpartial.so"), folder.path(), &["--for", "12.0"]);
    for file in [fixture("libpartial.so"), path.clone()] {
        let own = run::run(["explain", file.to_str().unwrap(), "--gpu", "12.0"]);
        assert!(own.out.contains("partial: some of it runs on this GPU"), "{}", own.out);
    }
    let old = std::fs::read(fixture("libpartial.so")).unwrap();
    let third = find(&old, MAGIC, find(&old, MAGIC, find(&old, MAGIC, 0) + 8) + 8);
    let numbers: Vec<(u32, u16)> =
        entries(&std::fs::read(path).unwrap(), third).iter().map(|own| (own.0, own.1)).collect();
    // PTX of 90 is what 12.0 compiles; SASS of 80 is the smallest that makes it a module for several architectures
    assert_eq!(numbers, [(80, 2), (90, 1)]);
}

#[test]
fn what_two_gpus_need_is_kept_for_both_and_a_second_time_changes_nothing() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = slimmed(&fixture("libpartial.so"), one.path(), &["--for", "8.0,9.0"]);
    let first = std::fs::read(&path).unwrap();
    let third = find(&first, MAGIC, find(&first, MAGIC, find(&first, MAGIC, 0) + 8) + 8);
    let numbers: Vec<(u32, u16)> = entries(&first, third).iter().map(|own| (own.0, own.1)).collect();
    assert_eq!(numbers, [(80, 2), (90, 2), (90, 1)]);
    let again = slimmed(&path, two.path(), &["--for", "8.0,9.0"]);
    assert_eq!(std::fs::read(again).unwrap(), first);
}

#[test]
fn what_is_not_understood_stays_as_it_is_and_is_said() {
    for (name, words) in [
        ("librdc.so", "for a device link"),
        ("rodata_raw_cubin_ptx.so", "no fatbin"),
        ("archive.a", "not rewritten"),
        ("pe_short_names.dll", "own tables"),
    ] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let own =
            slim(&[fixture(name).to_str().unwrap(), "-o", out.to_str().unwrap(), "--for", "7.5", "--keep-ptx", "none"]);
        assert_eq!(own.code, Some(0), "{name}: {}", own.err);
        assert!(own.out.contains(words), "{name}: {}", own.out);
        assert!(std::fs::read(out).unwrap() == std::fs::read(fixture(name)).unwrap(), "{name}");
    }
}

/// Members of a zip file, by the standard library of Python's rules: name, bytes unpacked. Stored and deflated ones.
fn unzip(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let source: &dyn fatscan_containers::Source = &bytes.as_slice();
    let zip = fatscan_containers::Zip::list(source, &fatscan::Limits::default());
    assert!(zip.doubts.is_empty(), "{:?}", zip.doubts);
    let mut members = BTreeMap::new();
    for member in &zip.members {
        let own = &bytes[member.data.0 as usize..(member.data.0 + member.data.1) as usize];
        let mut data = Vec::new();
        match member.method {
            fatscan_containers::ZipMethod::Stored => data.extend_from_slice(own),
            _ => {
                flate2::read::DeflateDecoder::new(own).read_to_end(&mut data).unwrap();
            }
        }
        assert_eq!(Some(testkit::compress::crc32(&data)), member.checksum);
        members.insert(String::from_utf8(member.name.to_vec()).unwrap(), data);
    }
    members
}

#[test]
fn a_wheel_has_a_build_tag_and_a_list_that_holds() {
    let folder = TempDir::new().unwrap();
    let path = slimmed(&fixture(SAMPLE), folder.path(), &["--for", "9.0"]);
    assert_eq!(path.file_name().unwrap(), "fatscan_sample-1.0-1slim_90-py3-none-manylinux_2_28_x86_64.whl");
    let (old, new) = (unzip(&fixture(SAMPLE)), unzip(&path));
    assert!(old.keys().eq(new.keys()));
    let changed: Vec<&str> =
        old.iter().filter(|(name, data)| new[*name] != **data).map(|(name, _)| name.as_str()).collect();
    let info = "fatscan_sample-1.0.dist-info";
    assert_eq!(
        changed,
        [&format!("{info}/RECORD"), &format!("{info}/WHEEL"), "fatscan_sample/lib/libpartial.so"],
        "the library for a device link and the one without device code are copied"
    );
    assert!(String::from_utf8_lossy(&new[&format!("{info}/WHEEL")]).contains("\nBuild: 1slim_90\n"));
    let list = String::from_utf8(new[&format!("{info}/RECORD")].clone()).unwrap();
    let mut seen = 0;
    for line in list.lines().filter(|line| line.contains("sha256=")) {
        let [name, hash, size] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let data = &new[name];
        assert_eq!(size, data.len().to_string(), "{line}");
        assert_eq!(hash.strip_prefix("sha256=").unwrap(), base64(&hex(&sha256(data))), "{line}");
        seen += 1;
    }
    assert_eq!(seen, new.len() - 1, "all but the list itself");
    // the same input gives the same bytes
    let other = TempDir::new().unwrap();
    let again = slimmed(&fixture(SAMPLE), other.path(), &["--for", "9.0"]);
    assert_eq!(std::fs::read(again).unwrap(), std::fs::read(path).unwrap());
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// RFC 4648 for addresses, by bits one by one.
fn base64(bytes: &[u8]) -> String {
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']).collect();
    let mut bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    bits.resize(bits.len().next_multiple_of(6), 0);
    bits.chunks(6).map(|six| letters[six.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit))]).collect()
}

#[test]
fn a_signature_of_the_old_list_is_left_out_and_named() {
    let library = std::fs::read(fixture("libpartial.so")).unwrap();
    let members = [
        ZipMember::deflated("pkg/lib.so", &library),
        ZipMember::stored("pkg-1.0.dist-info/RECORD.jws", b"{}"),
        ZipMember::stored("pkg/RECORD.jws", b"no signature here"),
    ];
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pkg-1.0-py3-none-any.whl");
    std::fs::write(&path, Zip::wheel("pkg", "1.0", "py3-none-any", &members).bytes()).unwrap();
    let out = folder.path().join("out.whl");
    let own = slim(&[path.to_str().unwrap(), "-o", out.to_str().unwrap(), "--for", "9.0"]);
    assert_eq!(own.code, Some(0), "{}", own.err);
    assert!(own.out.contains("left out, since it signed the old bytes: pkg-1.0.dist-info/RECORD.jws"), "{}", own.out);
    let new = unzip(&out);
    assert!(!new.contains_key("pkg-1.0.dist-info/RECORD.jws") && new.contains_key("pkg/RECORD.jws"));
}

#[test]
fn what_cannot_be_done_writes_nothing() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let library = std::fs::read(fixture("libpartial.so")).unwrap();
    std::fs::write(path("cut.so"), &library[..library.len() - 3000]).unwrap();
    std::fs::write(path("there.so"), b"mine").unwrap();
    let locked = ZipMember::deflated("lib.so", &library).encrypted();
    std::fs::write(path("locked.zip"), Zip::new().with(locked).bytes()).unwrap();
    std::fs::create_dir(path("tree")).unwrap();
    std::fs::write(path("tree/lib.so"), &library).unwrap();
    let good = fixture("libpartial.so").to_str().unwrap().to_owned();
    for (from, to, words) in [
        (path("cut.so"), path("out"), "damaged"),
        (path("locked.zip"), path("out"), "damaged or not wholly read"),
        (path("nothing.so"), path("out"), "cannot be read"),
        (good.clone(), path("there.so"), "exists"),
        (path("tree"), path("there.so"), "exists"),
    ] {
        let own = slim(&[&from, "-o", &to, "--for", "9.0"]);
        assert_eq!(own.code, Some(2), "{from}: {}{}", own.out, own.err);
        assert!(own.err.contains(words), "{from}: {}", own.err);
        assert!(!Path::new(&path("out")).exists());
    }
    assert_eq!(std::fs::read(path("there.so")).unwrap(), b"mine");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "no file that is half written: {left:?}");
    let own = slim(&[&good, "-o", &path("there.so"), "--for", "9.0", "--force"]);
    assert_eq!(own.code, Some(0), "{}", own.err);
    assert_eq!(std::fs::read(path("there.so")).unwrap().len(), library.len());
}

#[test]
fn a_dry_run_says_what_a_run_does() {
    let folder = TempDir::new().unwrap();
    let dry = slim(&[fixture(SAMPLE).to_str().unwrap(), "--for", "9.0", "--dry-run", "--format", "json"]);
    let path = slimmed(&fixture(SAMPLE), folder.path(), &["--for", "9.0"]);
    let dry: Value = serde_json::from_str(&dry.out).unwrap();
    let file = &dry["files"][0];
    assert!(file["written"].is_null());
    // without a place to write to there is no name, and so no tag: two lines differ
    let (dry, real) = (file["bytes_after"].as_u64().unwrap(), std::fs::metadata(path).unwrap().len());
    assert!(dry.abs_diff(real) * 50 < real, "{dry} {real}");
    assert_eq!(file["members"][0]["dropped"]["sm_80"]["images"], 1);
}
