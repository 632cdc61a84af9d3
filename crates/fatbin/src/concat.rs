use crate::entry::{self, ENTRY_HEADER_SIZE, EntryHeader};
use crate::error::{Error, ErrorKind};
use crate::kind::Kind;
use crate::text;

/// One member of a concatenated entry (kind 0x100, written by nvcc and fatbinary 13.5 with `--concat`).
///
/// The payload of the entry is one compressed stream of all members. Behind the fixed part of its header, at the
/// options table, stand `u32` member count, `u32` table bytes (these 8 included) and the member records. A record is
/// an [`EntryHeader`] with identifier and options relative to the record, in which `header_size` is the member's offset
/// in the unpacked payload and `padded_size` its length there. Observed.
#[derive(Clone, Copy, Debug)]
pub struct ConcatMember<'data> {
    header: EntryHeader,
    record: &'data [u8],
    offset: u64,
}

impl<'data> ConcatMember<'data> {
    /// The member's record; mind that `header_size` and `padded_size` are a range of the unpacked payload.
    #[must_use]
    pub const fn header(&self) -> &EntryHeader {
        &self.header
    }

    /// Offset of the member's record from the start of the concatenated entry, in bytes.
    #[must_use]
    pub const fn record_offset(&self) -> u64 {
        self.offset
    }

    /// Offset and length of the member in the unpacked payload, in bytes.
    #[must_use]
    pub const fn range(&self) -> (u64, u64) {
        (self.header.header_size as u64, self.header.padded_size)
    }

    /// The member's bytes in the unpacked payload of its entry.
    ///
    /// # Errors
    /// [`ErrorKind::ConcatMember`] if the member lies outside `unpacked`.
    pub fn bytes<'payload>(&self, unpacked: &'payload [u8]) -> Result<&'payload [u8], Error> {
        let (offset, length) = self.range();
        usize::try_from(offset)
            .ok()
            .zip(usize::try_from(length).ok())
            .and_then(|(start, length)| unpacked.get(start..start.checked_add(length)?))
            .ok_or(Error::new(ErrorKind::ConcatMember, self.offset))
    }

    /// As [`crate::Entry::identifier`].
    ///
    /// # Errors
    /// [`ErrorKind::Identifier`] if it leaves the table.
    pub fn identifier(&self) -> Result<Option<&'data [u8]>, Error> {
        entry::identifier(self.record, &self.header)
    }

    /// As [`crate::Entry::options`].
    ///
    /// # Errors
    /// [`ErrorKind::Options`] if it leaves the table.
    pub fn options(&self) -> Result<Option<&'data [u8]>, Error> {
        entry::options(self.record, &self.header)
    }

    /// As [`crate::Entry::compat`].
    ///
    /// # Errors
    /// [`ErrorKind::Options`] if it leaves the table.
    pub fn compat(&self) -> Result<Option<&'data [u8]>, Error> {
        entry::compat(self.record, &self.header)
    }
}

/// The members of a concatenated entry, in the order of their table. Ends after the first error.
#[derive(Clone, Debug)]
pub struct ConcatMembers<'data> {
    /// The entry header, cut to the end of the table.
    table: &'data [u8],
    next: usize,
    left: u32,
    unpacked: u64,
    error: Option<Error>,
}

impl<'data> ConcatMembers<'data> {
    pub(crate) fn new(record: &'data [u8], header: &EntryHeader) -> Self {
        let none = Self { table: &[], next: 0, left: 0, unpacked: header.unpacked_size(), error: None };
        if header.kind != Kind::Concat {
            return none;
        }
        let error = Error::new(ErrorKind::ConcatTable, u64::from(header.options_table));
        let broken = Self { error: Some(error), ..none.clone() };
        let start = header.options_table;
        let Some((count, size)) =
            text::u32_at(record, start).zip(start.checked_add(4).and_then(|at| text::u32_at(record, at)))
        else {
            return broken;
        };
        let Some(next) = usize::try_from(start).ok().and_then(|start| start.checked_add(8)) else {
            return broken;
        };
        // a count that its own table cannot hold is a lie; members that fit are still read
        let end = usize::try_from(start).ok().zip(usize::try_from(size).ok()).and_then(|(a, b)| a.checked_add(b));
        let table = end.and_then(|end| record.get(..end)).unwrap_or(record);
        Self { table, next, left: count, error: None, ..none }
    }
}

impl<'data> Iterator for ConcatMembers<'data> {
    type Item = Result<ConcatMember<'data>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            self.left = 0;
            return Some(Err(error));
        }
        self.left = self.left.checked_sub(1)?;
        let offset = u64::try_from(self.next).unwrap_or(u64::MAX);
        let record = self.table.get(self.next..).unwrap_or_default();
        let Ok(header) = EntryHeader::parse(record) else {
            self.left = 0;
            return Some(Err(Error::new(ErrorKind::ConcatTable, offset)));
        };
        let size = usize::try_from(entry::record_size(record, &header)).unwrap_or(usize::MAX);
        self.next = self.next.saturating_add(size.max(ENTRY_HEADER_SIZE));
        let end = u64::from(header.header_size).checked_add(header.padded_size);
        if end.is_none_or(|end| end > self.unpacked) {
            return Some(Err(Error::new(ErrorKind::ConcatMember, offset)));
        }
        Some(Ok(ConcatMember { header, record: record.get(..size).unwrap_or(record), offset }))
    }
}
