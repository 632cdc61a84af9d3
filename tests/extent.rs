//! Bare cubins whose section table comes first, as in NVIDIA's libcupti: their end is that of their last section.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "a panic here is a failing test")]

use fatscan::{Member, Options};

/// The first file with device code of a scan, and what there was to say.
fn scan_bytes(name: &str, bytes: &[u8], options: &Options) -> (Option<Member>, Vec<fatscan::Diagnostic>) {
    let report = fatscan::scan_bytes(name, bytes, options);
    (report.artefacts.into_iter().flat_map(|artefact| artefact.members).next(), report.diagnostics)
}

/// A relocatable cubin for sm_50: file header, section table, then the bytes of one section. The table has a row of
/// shared memory too, which states a size and has no bytes.
fn cubin(bytes: usize) -> Vec<u8> {
    let mut data = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0x33, 7, 0, 0, 0, 0, 0, 0, 0];
    data.extend([1, 0, 190, 0]);
    data.extend(0x5a_u32.to_le_bytes());
    data.extend([0; 16]);
    data.extend(64_u64.to_le_bytes());
    data.extend(0x0032_0532_u32.to_le_bytes());
    for half in [64_u16, 56, 0, 64, 3, 0] {
        data.extend(half.to_le_bytes());
    }
    let start = 64 + 3 * 64;
    for (kind, offset, size) in [(0_u32, 0, 0), (1, start, bytes), (0x7000_000a, start, 1 << 20)] {
        data.extend([0; 4]);
        data.extend(kind.to_le_bytes());
        data.extend([0; 16]);
        data.extend((offset as u64).to_le_bytes());
        data.extend((size as u64).to_le_bytes());
        data.extend([0; 24]);
    }
    data.extend(vec![0xaa; bytes]);
    data
}

fn sizes(data: &[u8]) -> Vec<(u64, u64)> {
    let member: Member = scan_bytes("x.bin", data, &Options::default()).0.unwrap();
    let images = member.modules.iter().flat_map(|module| &module.images);
    images.map(|image| (image.offset, image.stored_bytes)).collect()
}

#[test]
fn extent_reaches_to_the_end_of_the_last_section() {
    let one = cubin(440);
    assert_eq!(one.len(), 696);
    let head = cubin::Head::parse(&one).unwrap();
    assert_eq!((head.extent, head.extent_in(&one)), (256, 696));
    let data = [&[1; 16][..], &one, &[0; 8], &cubin(100)].concat();
    assert_eq!(sizes(&data), [(16, 696), (16 + 696 + 8, 356)]);
}

#[test]
fn claims_beyond_the_file_or_over_another_cubin_do_not_count() {
    let mut long = cubin(100);
    // size of the first section
    long[64 + 64 + 32..][..8].copy_from_slice(&(1_u64 << 30).to_le_bytes());
    assert_eq!(sizes(&long), [(0, 256)]);
    let mut over = cubin(100);
    over[64 + 64 + 32..][..8].copy_from_slice(&300_u64.to_le_bytes());
    let data = [over, cubin(100)].concat();
    assert_eq!(sizes(&data), [(0, 256), (356, 356)]);
}
