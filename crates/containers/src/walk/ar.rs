use std::sync::Arc;

use super::{Damage, Part};
use crate::number::digits;
use crate::stream::ByteStream;

/// Bytes of the magic of an archive.
const MAGIC_SIZE: u64 = 8;
/// Bytes of a member header.
const HEADER_SIZE: usize = 60;
/// Bytes of an index that are looked at in one step.
const STEP: usize = 64 * 1024;

/// Walks the members of a static archive (`.a` with GNU or BSD long names, COFF `.lib`) forward.
///
/// | offset | size | name | meaning |
/// |---|---|---|---|
/// | 0 | 16 | name | `name/`, `/123` into the `//` table, `#1/len` with the name before the data |
/// | 16 | 32 | date, owner, group, mode | not read |
/// | 48 | 10 | size | decimal, padded with blanks |
/// | 58 | 2 | terminator | a backquote and a newline |
///
/// Members start at even offsets. The first member of a GNU archive is an index of symbols, `u32` big-endian count and
/// offsets of the members that define them: it tells of members that are cut off. Documented in `ar(5)` and in
/// Microsoft's PE format.
#[derive(Clone, Debug)]
pub struct ArchiveWalk {
    names: Vec<u8>,
    names_limit: usize,
    next: u64,
    /// The furthest member that the index names.
    furthest: u64,
    done: bool,
    is_first: bool,
}

impl ArchiveWalk {
    /// A walk over the archive at the start of a stream, whose table of names may have so many bytes, and a name before
    /// the data of its member too: of a longer one that many are read.
    #[must_use]
    pub const fn new(names_limit: usize) -> Self {
        Self { names: Vec::new(), names_limit, next: MAGIC_SIZE, furthest: 0, done: false, is_first: true }
    }

    /// Steps to the next member, past whatever of the last one was not read, and past the symbol and name tables.
    ///
    /// # Errors
    /// [`Damage::Header`] and [`Damage::Cut`] end the walk, [`Damage::Names`] does not.
    pub fn next(&mut self, stream: &mut dyn ByteStream) -> Option<Result<Part, Damage>> {
        loop {
            if self.done {
                return None;
            }
            let gap = self.next.saturating_sub(stream.position());
            let stepped = stream.skip(gap);
            if !stream.fill(1) {
                self.done = true;
                let offset = stream.position();
                // the last member may lack the byte that makes its size even
                let ends = gap.saturating_sub(stepped) <= 1 && self.furthest < offset;
                return (!ends).then_some(Err(Damage::Cut { offset }));
            }
            let offset = stream.position();
            stream.fill(HEADER_SIZE);
            let Some((field, size)) = stream.window().get(..HEADER_SIZE).and_then(header) else {
                self.done = true;
                return Some(Err(Damage::Header { offset }));
            };
            let is_first = core::mem::replace(&mut self.is_first, false);
            stream.skip(HEADER_SIZE as u64);
            let start = stream.position();
            self.next = start.saturating_add(size).saturating_add(1) & !1;
            match field.trim_ascii_end() {
                b"/" if is_first => self.read_index(stream, size, false),
                b"/SYM64/" if is_first => self.read_index(stream, size, true),
                b"/" | b"/SYM64/" | b"/<ECSYMBOLS>/" => {}
                b"//" => {
                    if let Some(damage) = self.read_names(stream, size) {
                        return Some(Err(damage));
                    }
                }
                field => return Some(Ok(self.part(stream, field, size))),
            }
        }
    }

    /// The furthest offset in the index.
    fn read_index(&mut self, stream: &mut dyn ByteStream, size: u64, wide: bool) {
        let word = if wide { 8 } else { 4 };
        let number = |bytes: &[u8]| bytes.iter().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte));
        stream.fill(word);
        let Some(count) = stream.window().get(..word).map(number) else { return };
        let stated = count.saturating_mul(u64::try_from(word).unwrap_or(8));
        let mut left = stated.min(size.saturating_sub(u64::try_from(word).unwrap_or(8)));
        stream.skip(u64::try_from(word).unwrap_or(8));
        while left > 0 {
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(STEP);
            stream.fill(step);
            let window = stream.window();
            let bytes = window.get(..step).unwrap_or(window);
            self.furthest = bytes.chunks_exact(word).map(number).fold(self.furthest, u64::max);
            let stepped = u64::try_from(bytes.len()).unwrap_or(0);
            if stepped == 0 {
                return;
            }
            stream.skip(stepped);
            left = left.saturating_sub(stepped);
        }
    }

    fn read_names(&mut self, stream: &mut dyn ByteStream, size: u64) -> Option<Damage> {
        let wanted = usize::try_from(size).ok().filter(|size| *size <= self.names_limit);
        let Some(wanted) = wanted else { return Some(Damage::Names { size }) };
        stream.fill(wanted);
        let window = stream.window();
        self.names = window.get(..wanted).unwrap_or(window).to_vec();
        None
    }

    fn part(&self, stream: &mut dyn ByteStream, field: &[u8], size: u64) -> Part {
        let long = field.strip_prefix(b"/").and_then(digits).and_then(|at| self.names.get(at..));
        let before = field.strip_prefix(b"#1/").and_then(digits::<u64>).filter(|length| *length <= size);
        let (name, header): (Arc<[u8]>, u64) = if let Some(names) = long {
            // GNU ends a name with a slash and a newline, Microsoft with a NUL
            let end = names.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(names.len());
            let name = names.get(..end).unwrap_or_default();
            (name.strip_suffix(b"/").unwrap_or(name).into(), 0)
        } else if let Some(length) = before {
            let read = usize::try_from(length).unwrap_or(usize::MAX).min(self.names_limit);
            stream.fill(read);
            let window = stream.window();
            let name = window.get(..read).unwrap_or(window);
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            let name = name.get(..end).unwrap_or_default().into();
            (name, stream.skip(length))
        } else {
            (field.strip_suffix(b"/").unwrap_or(field).into(), 0)
        };
        Part { name, size: size.saturating_sub(header), offset: stream.position() }
    }
}

/// Name field and size.
fn header(header: &[u8]) -> Option<([u8; 16], u64)> {
    if header.get(58..) != Some(b"`\n".as_slice()) {
        return None;
    }
    Some((*header.first_chunk()?, digits(header.get(48..58)?.trim_ascii())?))
}
