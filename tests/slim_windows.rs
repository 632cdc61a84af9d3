//! Libraries of Windows: their checksum follows, and their signature is not broken unasked.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

#[path = "common/run.rs"]
mod run;

use run::slim;
use tempfile::TempDir;
use testkit::{Cubin, Entry, Pe, Zip, ZipMember, fatbin, ptx_text};

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Where the optional header begins: behind the offset at 0x3c come 4 bytes of signature and 20 of the file header.
fn optional(bytes: &[u8]) -> usize {
    u32_at(bytes, 0x3c) as usize + 24
}

/// A library with a fatbin of two architectures and a wrapper that points at it, by Microsoft's and NVIDIA's layouts.
fn library() -> Vec<u8> {
    let code = fatbin(&[
        Entry::sass("80", Cubin::new("80").bytes()),
        Entry::sass("90", Cubin::new("90").bytes()),
        Entry::ptx("80", (8, 0), &ptx_text("8.0", "sm_80", "k_one")),
    ]);
    // the first section lies at 0x1000 of an image that prefers 0x180000000
    let mut wrapper = Vec::new();
    wrapper.extend_from_slice(&0x4662_43b1_u32.to_le_bytes());
    wrapper.extend_from_slice(&1_u32.to_le_bytes());
    wrapper.extend_from_slice(&0x1_8000_1000_u64.to_le_bytes());
    wrapper.extend_from_slice(&0_u64.to_le_bytes());
    Pe::dll().section(".nv_fatbin", &code).section(".nvFatBinSegment", &wrapper).bytes()
}

/// The sum of all words with the checksum as zero, the carry added, and the bytes of the file: one word at a time.
fn checksum(bytes: &[u8]) -> u32 {
    let at = optional(bytes) + 64;
    let mut own = bytes.to_vec();
    own[at..at + 4].fill(0);
    let mut sum = 0_u32;
    for word in own.chunks(2) {
        sum += u32::from(word[0]) | u32::from(*word.get(1).unwrap_or(&0)) << 8;
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum + bytes.len() as u32
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let (at, value) = (optional(&bytes) + 64, checksum(&bytes));
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

#[test]
fn a_checksum_follows_what_changes_and_none_stays_none() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, old) in [("with.dll", with_checksum(library())), ("none.dll", library())] {
        std::fs::write(path(name), &old).unwrap();
        let to = path(&format!("out-{name}"));
        let own = slim(&[&path(name), "-o", &to, "--for", "9.0", "--keep-ptx", "none"]).ending(0);
        let new = std::fs::read(to).unwrap();
        let at = optional(&old) + 64;
        let differing: Vec<usize> = (0..old.len()).filter(|index| old[*index] != new[*index]).collect();
        assert_eq!(old.len(), new.len());
        assert!(!differing.is_empty(), "{}", own.out);
        if name == "none.dll" {
            assert_eq!(u32_at(&new, at), 0);
        } else {
            assert_eq!(u32_at(&new, at), checksum(&new));
            assert!(u32_at(&new, at) != u32_at(&old, at));
        }
        // the first section begins at its place in the file, the row behind the headers says where
        let row = optional(&old) + 240;
        let (start, size) = (u32_at(&old, row + 20) as usize, u32_at(&old, row + 8) as usize);
        let is_own = |index: &usize| (start..start + size).contains(index) || (at..at + 4).contains(index);
        assert!(differing.iter().all(is_own), "nothing else changes");
        assert!(own.out.contains("sm_80") && own.out.contains("sm_90"), "{}", own.out);
    }
}

#[test]
fn a_signature_is_not_broken_unasked() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // the fifth directory, 112 bytes into the optional header of PE32+, names certificates by their offset in the file
    let mut signed = library();
    let (row, end) = (optional(&signed) + 112 + 4 * 8, signed.len() as u32);
    signed[row..row + 4].copy_from_slice(&end.to_le_bytes());
    signed[row + 4..row + 8].copy_from_slice(&16_u32.to_le_bytes());
    signed.extend_from_slice(&[16, 0, 0, 0, 0, 2, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let signed = with_checksum(signed);
    std::fs::write(path("signed.dll"), &signed).unwrap();
    let words = ["--for", "9.0", "--keep-ptx", "none"];
    let own = slim(&[&[path("signed.dll").as_str(), "-o", &path("out.dll")], &words[..]].concat()).ending(2);
    assert!(own.err.contains("--allow-broken-signature"), "{}", own.err);
    assert!(!std::path::Path::new(&path("out.dll")).exists());
    slim(&[&[path("signed.dll").as_str(), "-o", &path("out.dll"), "--allow-broken-signature"], &words[..]].concat())
        .ending(0);
    let new = std::fs::read(path("out.dll")).unwrap();
    assert_eq!(u32_at(&new, optional(&new) + 64), checksum(&new));
    assert!(new != signed && new.ends_with(&[5, 6, 7, 8]));
    // in a wheel it stays as it is, and the others change
    let members = [ZipMember::deflated("pkg/signed.dll", &signed), ZipMember::deflated("pkg/plain.dll", &library())];
    let wheel = path("pkg-1.0-py3-none-win_amd64.whl");
    std::fs::write(&wheel, Zip::wheel("pkg", "1.0", "py3-none-win_amd64", &members).bytes()).unwrap();
    let own = slim(&[&[wheel.as_str(), "-o", &path("out.whl")], &words[..]].concat()).ending(0);
    assert!(own.out.contains("a signature that would no longer hold"), "{}", own.out);
    assert!(own.out.contains("1 of 2 files with device code change"), "{}", own.out);
}
