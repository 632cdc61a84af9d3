use memchr::memmem;

use crate::entry::{ENTRY_HEADER_SIZE, Entry, EntryHeader};
use crate::error::{Error, ErrorKind};
use crate::header::{FATBIN_HEADER_SIZE, FATBIN_MAGIC, FatbinHeader};

/// One fatbin over a byte slice.
#[derive(Clone, Copy, Debug)]
pub struct Fatbin<'data> {
    header: FatbinHeader,
    /// Offset in the slice that [`find`] was given; 0 from [`Fatbin::parse`].
    offset: usize,
    /// The bytes behind the header, cut to the stated size or to what there is.
    body: &'data [u8],
}

impl<'data> Fatbin<'data> {
    /// Reads the fatbin at the start of `data`. A stated size past the end of `data` is no error here: the whole
    /// entries are there, and [`Fatbin::entries`] reports the missing part.
    ///
    /// # Errors
    /// As [`FatbinHeader::parse`].
    pub fn parse(data: &'data [u8]) -> Result<Self, Error> {
        let header = FatbinHeader::parse(data)?;
        let rest = data.get(FATBIN_HEADER_SIZE..).unwrap_or_default();
        let body = usize::try_from(header.size).ok().and_then(|size| rest.get(..size)).unwrap_or(rest);
        Ok(Self { header, offset: 0, body })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &FatbinHeader {
        &self.header
    }

    /// Where [`find`] found it, in bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Header and body, in bytes, as far as they are there.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.body.len().saturating_add(FATBIN_HEADER_SIZE)
    }

    /// Whether it has no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.header.size == 0
    }

    /// The entries, in the order of the file. Offsets of errors are relative to the fatbin. The chain ends with the
    /// first error that hides where the next entry is.
    #[must_use]
    pub const fn entries(&self) -> Entries<'data> {
        Entries { body: self.body, position: 0, rest: self.header.size }
    }
}

/// Iterator over the entries of a [`Fatbin`].
#[derive(Clone, Debug)]
pub struct Entries<'data> {
    body: &'data [u8],
    position: usize,
    /// Bytes that the fatbin states from `position` on.
    rest: u64,
}

impl<'data> Entries<'data> {
    fn step(&mut self) -> Result<Entry<'data>, Error> {
        let data = self.body.get(self.position..).unwrap_or_default();
        let record = if self.rest < ENTRY_HEADER_SIZE as u64 { &[] } else { data };
        let header = EntryHeader::parse(record)?;
        header.check(self.rest)?;
        let cut = Error::new(ErrorKind::PayloadCut, 8);
        let header_size = usize::try_from(header.header_size).map_err(|_| cut)?;
        let total = header.total_size().ok_or(cut)?;
        let end = usize::try_from(total).map_err(|_| cut)?;
        let record = data.get(..header_size).ok_or(Error::new(ErrorKind::EntryHeaderCut, 0))?;
        let payload = data.get(header_size..end).ok_or(cut)?;
        self.position = self.position.saturating_add(end);
        self.rest = self.rest.saturating_sub(total);
        Entry::new(record, payload)
    }
}

impl<'data> Iterator for Entries<'data> {
    /// The entry and its offset from the start of the fatbin, in bytes.
    type Item = Result<(u64, Entry<'data>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest == 0 {
            return None;
        }
        let offset = u64::try_from(self.position.saturating_add(FATBIN_HEADER_SIZE)).unwrap_or(u64::MAX);
        let item = self.step();
        if item.is_err() {
            self.rest = 0;
        }
        Some(item.map(|entry| (offset, entry)).map_err(|error| error.at(offset)))
    }
}

/// All fatbins in `data`, at any byte offset: back to back, with padding, or far apart (in archives they stand at odd
/// offsets). The magic alone does not make a fatbin: version and header size must be right and a possible entry must
/// follow, because the magic also occurs as an operand in program code. After a damaged chain the search goes on behind
/// the header, so that a wrong size hides no other fatbin.
#[must_use]
pub const fn find(data: &[u8]) -> Fatbins<'_> {
    Fatbins { data, position: 0 }
}

/// Iterator of [`find`].
#[derive(Clone, Debug)]
pub struct Fatbins<'data> {
    data: &'data [u8],
    position: usize,
}

impl<'data> Iterator for Fatbins<'data> {
    type Item = Fatbin<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.data.get(self.position..)?;
            let at = memmem::find(rest, &FATBIN_MAGIC.to_le_bytes())?;
            let offset = self.position.checked_add(at)?;
            self.position = offset.checked_add(FATBIN_HEADER_SIZE)?;
            let Some(Ok(mut fatbin)) = self.data.get(offset..).map(Fatbin::parse) else { continue };
            if !fatbin.is_empty() {
                let first = EntryHeader::parse(fatbin.body);
                if first.is_ok_and(|first| !first.is_plausible()) {
                    continue;
                }
            }
            fatbin.offset = offset;
            let whole = fatbin.entries().all(|entry| entry.is_ok());
            if whole {
                self.position = offset.checked_add(fatbin.len())?;
            }
            return Some(fatbin);
        }
    }
}
