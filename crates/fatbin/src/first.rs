//! The first bytes of a payload, from the first of it as it is stored.

use crate::memory::Frame;

/// The most that one block of a zstd frame unpacks to.
pub(crate) const BLOCK: usize = 128 << 10;

/// A frame of its own of the first block of a zstd frame: it points back to nothing before itself. `Some(None)` where the
/// block is not all there, `None` where there is no frame.
pub(crate) fn zstd_block(stored: &[u8]) -> Option<Option<Vec<u8>>> {
    /// Magic number; no size, no checksum, no dictionary; a window of 128 KiB.
    const HEADER: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    if stored.len() < Frame::MOST {
        return if stored.starts_with(&HEADER[..4]) || HEADER.starts_with(stored) { Some(None) } else { None };
    }
    let Some(block) = Frame::block(stored)? else { return Some(None) };
    let Some([first, second, third]) = block.first_chunk() else { return Some(None) };
    let header = u32::from_le_bytes([*first, *second, *third, 0]);
    let size = usize::try_from(header >> 3).ok()?;
    // of a run of one byte that byte is stored
    let size = if (header >> 1) & 3 == 1 { 1 } else { size };
    if size > BLOCK {
        return None;
    }
    let Some(body) = block.get(3..size.checked_add(3)?) else { return Some(None) };
    Some(Some([&HEADER, &[first | 1, *second, *third][..], body].concat()))
}

/// The first `length` bytes of a raw LZ4 block, or fewer where it ends or is cut before. `None` where it points before its
/// own start.
pub(crate) fn lz4(mut stored: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
    while out.len() < length {
        let Some((token, rest)) = stored.split_first() else { break };
        stored = rest;
        let Some(literals) = run(token >> 4, &mut stored) else { break };
        let there = literals.min(stored.len()).min(length.saturating_sub(out.len()));
        let (copied, rest) = stored.split_at_checked(there)?;
        out.extend_from_slice(copied);
        if there < literals {
            break;
        }
        let Some((offset, rest)) = rest.split_first_chunk() else { break };
        stored = rest;
        let offset = usize::from(u16::from_le_bytes(*offset));
        let Some(more) = run(token & 15, &mut stored) else { break };
        let most = length.saturating_sub(out.len());
        let start = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        for at in (start..).take(more.saturating_add(4).min(most)) {
            let byte = *out.get(at)?;
            out.push(byte);
        }
    }
    Some(())
}

/// A length whose first four bits are given: 15 goes on in bytes, of which the first below 255 is the last. `None` where
/// they are not all there.
fn run(first: u8, stored: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(first);
    if first == 15 {
        loop {
            let (byte, rest) = stored.split_first()?;
            *stored = rest;
            length = length.saturating_add(usize::from(*byte));
            if *byte != 255 {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text that repeats, and noise that does not.
    fn sample(bytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..bytes).map(|at| if at % 700 < 300 { u8::try_from(at % 7).unwrap() } else { next() }).collect()
    }

    #[test]
    fn lz4_gives_the_start_of_every_block() {
        for bytes in [1, 5, 64, 1000, 70_000] {
            let plain = sample(bytes);
            let packed = lz4_flex::block::compress(&plain);
            for length in [0, 1, 64, 300, 4096, 80_000] {
                let mut out = Vec::new();
                lz4(&packed, length, &mut out).unwrap();
                assert_eq!(out, plain[..length.min(bytes)], "{length} of {bytes}");
            }
            // cut anywhere: what comes is the start all the same
            for cut in 0..packed.len().min(400) {
                let mut out = Vec::new();
                lz4(&packed[..cut], bytes, &mut out).unwrap();
                assert!(plain.starts_with(&out), "cut at {cut}");
            }
        }
        assert_eq!(lz4(&[0x10, b'a', 2, 0], 64, &mut Vec::new()), None);
        assert_eq!(lz4(&[0x10, b'a', 0, 0], 64, &mut Vec::new()), None);
    }

    #[test]
    fn a_first_block_is_a_frame_of_its_own() {
        for bytes in [64, 1000, 200_000, 400_000] {
            let plain = sample(bytes);
            let packed = zstd::bulk::compress(&plain, 3).unwrap();
            let frame = zstd_block(&packed).unwrap().unwrap();
            let first = zstd::bulk::decompress(&frame, BLOCK).unwrap();
            assert!(plain.starts_with(&first));
            assert!(first.len() >= bytes.min(64));
            for cut in (0..packed.len()).step_by(1 + packed.len() / 50) {
                let start = zstd_block(&packed[..cut]).unwrap();
                assert!(start.is_none_or(|start| start == frame), "cut at {cut}");
            }
        }
        // one byte many times
        let packed = zstd::bulk::compress(&vec![7; 300_000], 3).unwrap();
        let frame = zstd_block(&packed).unwrap().unwrap();
        assert!(zstd::bulk::decompress(&frame, BLOCK).unwrap().iter().all(|byte| *byte == 7));
        assert_eq!(zstd_block(b"something else that is long enough"), None);
    }
}
