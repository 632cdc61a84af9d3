use crate::stream::{ByteStream, Tap};

/// A range of a file: offset and bytes.
pub(crate) type Range = (u64, usize);

/// Random access to a file that has been read to its end.
///
/// A slice is asked where it lies. Of a stream the ranges that its [`Tap`] kept serve; what they lack is read again from
/// the start, all of it in one go. Everything is copied: bytes of a mapped file may change while they are looked at.
#[derive(Debug)]
pub struct Ranges<'tap, S> {
    tap: &'tap mut Tap<S>,
    length: u64,
    rereads: bool,
    /// Bytes of one range.
    limit: u64,
}

impl<'tap, S: ByteStream> Ranges<'tap, S> {
    /// Access to what `tap` read, `length` bytes. Without `rereads` only what was kept can be had. No range of more than
    /// `limit` bytes is read.
    pub fn new(tap: &'tap mut Tap<S>, length: u64, rereads: bool, limit: u64) -> Self {
        Self { tap, length, rereads, limit }
    }

    /// Bytes of the file.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn one(&mut self, start: u64, length: u64) -> Option<Vec<u8>> {
        let length = usize::try_from(length).ok()?;
        self.many(&[(start, length)]).pop()?
    }

    /// The bytes of ranges, `None` of those that cannot be had.
    pub(crate) fn many(&mut self, wanted: &[Range]) -> Vec<Option<Vec<u8>>> {
        let mut found: Vec<Option<Vec<u8>>> = wanted.iter().map(|range| self.at_hand(*range)).collect();
        if !self.rereads || self.tap.as_slice().is_some() {
            return found;
        }
        let mut missing: Vec<(Range, usize)> = wanted.iter().copied().zip(0..).collect();
        missing.retain(|(range, index)| found.get(*index) == Some(&None) && self.is_inside(*range));
        missing.sort_unstable();
        for ((start, length), index) in missing {
            if start < self.tap.position() && !self.tap.rewind(start) {
                return found;
            }
            let gap = start.saturating_sub(self.tap.position());
            self.tap.skip(gap);
            self.tap.fill(length);
            let bytes = self.tap.window().get(..length).map(<[u8]>::to_vec);
            if let Some(place) = found.get_mut(index) {
                *place = bytes;
            }
        }
        self.tap.trim();
        found
    }

    /// The text from each of the offsets up to its NUL or the end of the file, `limit` bytes at most.
    pub(crate) fn texts(&mut self, offsets: &[u64], limit: usize) -> Vec<Option<Vec<u8>>> {
        let left = |offset: u64| usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted: Vec<Range> = offsets.iter().map(|offset| (*offset, limit.min(left(*offset)))).collect();
        let mut texts = self.many(&wanted);
        for text in texts.iter_mut().flatten() {
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            text.truncate(end);
        }
        texts
    }

    fn is_inside(&self, (start, length): Range) -> bool {
        let Ok(length) = u64::try_from(length) else { return false };
        length <= self.limit && start.checked_add(length).is_some_and(|end| end <= self.length)
    }

    fn at_hand(&self, range: Range) -> Option<Vec<u8>> {
        let (start, length) = range;
        if !self.is_inside(range) {
            return None;
        }
        if let Some(slice) = self.tap.as_slice() {
            let start = usize::try_from(start).ok()?;
            return slice.get(start..start.checked_add(length)?).map(<[u8]>::to_vec);
        }
        self.tap.kept(start, length).map(<[u8]>::to_vec)
    }
}
