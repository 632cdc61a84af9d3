//! Bounds of the variable part of an entry header: identifier, options text, compat blob.

use crate::error::{Error, ErrorKind};

/// A range of a record by two `u32` fields, or the error `kind` where it leaves the record.
pub(crate) fn range(record: &[u8], offset: u32, length: u32, kind: ErrorKind) -> Result<&[u8], Error> {
    let start = usize::try_from(offset).ok();
    let length = usize::try_from(length).ok();
    start
        .zip(length)
        .and_then(|(start, length)| record.get(start..start.checked_add(length)?))
        .ok_or(Error::new(kind, u64::from(offset)))
}

/// The little-endian `u32` at `offset`.
pub(crate) fn u32_at(record: &[u8], offset: u32) -> Option<u32> {
    let start = usize::try_from(offset).ok()?;
    let bytes = record.get(start..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The next multiple of 8, saturating.
pub(crate) const fn align8(value: u64) -> u64 {
    value.saturating_add(7) & !7
}
