//! Bytes of one file, with its fatbins written anew in their places.

use std::io::{self, Write};

use fatbin::{ENTRY_HEADER_SIZE, EntryHeader, FATBIN_HEADER_SIZE, FatbinHeader};
use fatscan_containers::ByteStream;
use sha2::{Digest, Sha256};

use super::plan::Edit;

/// Zeros are written in pieces of this many bytes.
const ZEROS: [u8; 8192] = [0; 8192];

/// The hash of all entries that stay, in their order.
pub(crate) type Seal = [u8; 32];

/// Writes a file with its edits. Returns the hash of what stays and the bytes written.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] where the bytes are not those that were planned for; those of the writer.
pub(crate) fn rewrite(stream: &mut dyn ByteStream, edits: &[Edit], out: &mut dyn Write) -> io::Result<(Seal, u64)> {
    let mut seal = Sha256::new();
    for edit in edits {
        let before = edit.offset.checked_sub(stream.position()).ok_or_else(changed)?;
        pass(stream, before, &mut |bytes| out.write_all(bytes))?;
        fatbin(stream, edit, &mut seal, out)?;
    }
    pass_rest(stream, out)?;
    if stream.fault().is_some() {
        return Err(changed());
    }
    let cut = edits.iter().filter(|edit| edit.is_last).map(Edit::dropped).fold(0, u64::saturating_add);
    Ok((seal.finalize().into(), stream.position().saturating_sub(cut)))
}

/// The hash of what stayed, of a file that was written so.
///
/// # Errors
/// As of [`rewrite`].
pub(crate) fn seal_of(stream: &mut dyn ByteStream, edits: &[Edit]) -> io::Result<Seal> {
    let mut seal = Sha256::new();
    let header = u64::try_from(FATBIN_HEADER_SIZE).unwrap_or(0);
    for edit in edits {
        let before = edit.offset.saturating_add(header).checked_sub(stream.position()).ok_or_else(changed)?;
        if stream.skip(before) < before {
            return Err(changed());
        }
        for extent in edit.extents.iter().filter(|extent| extent.keep) {
            pass(stream, extent.size, &mut |bytes| {
                seal.update(bytes);
                Ok(())
            })?;
        }
        // and nothing, or nothing but zeros, behind it
        if edit.is_last {
            if stream.fill(1) {
                return Err(changed());
            }
            continue;
        }
        pass(stream, edit.dropped(), &mut |bytes| {
            if bytes.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(changed()) }
        })?;
    }
    Ok(seal.finalize().into())
}

fn fatbin(stream: &mut dyn ByteStream, edit: &Edit, seal: &mut Sha256, out: &mut dyn Write) -> io::Result<()> {
    stream.fill(FATBIN_HEADER_SIZE);
    let dropped = edit.dropped();
    let header = FatbinHeader::parse(stream.window()).map_err(|_| changed())?;
    let size = u64::try_from(FATBIN_HEADER_SIZE).unwrap_or(0);
    if header.size.checked_add(size) != Some(edit.size) {
        return Err(changed());
    }
    let fixed = stream.window().get(..8).ok_or_else(changed)?.to_vec();
    out.write_all(&fixed)?;
    out.write_all(&header.size.checked_sub(dropped).ok_or_else(changed)?.to_le_bytes())?;
    stream.skip(size);
    for extent in &edit.extents {
        stream.fill(ENTRY_HEADER_SIZE);
        let entry = EntryHeader::parse(stream.window()).map_err(|_| changed())?;
        if entry.total_size() != Some(extent.size) {
            return Err(changed());
        }
        if extent.keep {
            pass(stream, extent.size, &mut |bytes| {
                seal.update(bytes);
                out.write_all(bytes)
            })?;
        } else if stream.skip(extent.size) < extent.size {
            return Err(changed());
        }
    }
    let mut left = if edit.is_last { 0 } else { dropped };
    while left > 0 {
        let step = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
        out.write_all(ZEROS.get(..step).unwrap_or_default())?;
        left = left.saturating_sub(u64::try_from(step).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// Hands `count` bytes on.
fn pass(stream: &mut dyn ByteStream, count: u64, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut left = count;
    while left > 0 {
        if !stream.fill(1) {
            return Err(changed());
        }
        let window = stream.window();
        let step = usize::try_from(left).unwrap_or(usize::MAX).min(window.len());
        take(window.get(..step).unwrap_or_default())?;
        let step = u64::try_from(step).unwrap_or(u64::MAX);
        stream.skip(step);
        left = left.saturating_sub(step);
    }
    Ok(())
}

fn pass_rest(stream: &mut dyn ByteStream, out: &mut dyn Write) -> io::Result<()> {
    while stream.fill(1) {
        let window = stream.window();
        out.write_all(window)?;
        let step = u64::try_from(window.len()).unwrap_or(u64::MAX);
        stream.skip(step);
    }
    Ok(())
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file is not as it was scanned")
}
