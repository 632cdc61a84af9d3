use std::sync::Arc;

use super::{Damage, Entry, EntryKind, Part, plain};
use crate::number::digits;
use crate::stream::ByteStream;

/// Bytes of a header, and of what all sizes are rounded up to.
const BLOCK: usize = 512;
const BLOCK_SIZE: u64 = 512;

/// Walks the entries of a tar archive forward: POSIX `ustar` and `pax`, GNU with long names, and the format before both.
///
/// | offset | size | name | meaning |
/// |---|---|---|---|
/// | 0 | 100 | name | to its NUL |
/// | 124 | 12 | size | octal, or binary from the second byte on where the first is 0x80 |
/// | 148 | 8 | checksum | octal sum of all bytes, these eight counted as blanks |
/// | 156 | 1 | type | `0` file, `1` hard link, `L` long name, `x` pax records, `S` sparse, ... |
/// | 157 | 100 | link | name of a link's target |
/// | 257 | 6 | magic | `ustar` |
/// | 345 | 155 | prefix | what stands before the name in POSIX |
///
/// A block of zeros ends the archive. The `tar` crate is not used: it wants to own its reader, and reads long names and pax
/// records of any size into memory.
#[derive(Clone, Debug)]
pub struct TarWalk {
    /// Bytes of a long name or of pax records that are read.
    limit: u64,
    next: u64,
    done: bool,
    /// A header was damaged, and the next one is looked for.
    lost: bool,
    own: Overrides,
}

/// What entries before a file state of it.
#[derive(Clone, Debug, Default)]
struct Overrides {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
    /// Readers differ in what they make of it.
    doubtful: bool,
}

/// The fields of a header that are read.
struct Header<'a> {
    block: &'a [u8],
    size: u64,
    kind: u8,
}

impl TarWalk {
    /// A walk over the archive at the start of a stream, whose long names and pax records may have `limit` bytes each.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, next: 0, done: false, lost: false, own: Overrides::default() }
    }

    /// Steps to the next entry that has something to read or to say, past whatever of the last one was not read.
    ///
    /// # Errors
    /// [`Damage::Cut`] ends the walk; behind [`Damage::Header`] it goes on at the next header.
    pub fn next(&mut self, stream: &mut dyn ByteStream) -> Option<Result<Entry, Damage>> {
        loop {
            if self.done {
                return None;
            }
            let gap = self.next.saturating_sub(stream.position());
            let is_there = stream.skip(gap) >= gap;
            let whole = stream.fill(BLOCK);
            let offset = stream.position();
            if !is_there || !whole {
                self.done = true;
                return (!self.lost).then_some(Err(Damage::Cut { offset }));
            }
            let block: [u8; BLOCK] = *stream.window().first_chunk()?;
            self.next = offset.saturating_add(BLOCK_SIZE);
            let Some(header) = Header::read(&block) else {
                if block.iter().all(|byte| *byte == 0) && !self.lost {
                    self.done = true;
                    if core::mem::take(&mut self.own).is_some() {
                        return Some(Err(Damage::Header { offset }));
                    }
                    return behind(stream).map(Err);
                }
                if !core::mem::replace(&mut self.lost, true) {
                    return Some(Err(Damage::Header { offset }));
                }
                continue;
            };
            self.lost = false;
            stream.skip(BLOCK_SIZE);
            match header.kind {
                b'L' | b'K' | b'x' | b'X' | b'g' => {
                    self.next = next_of(stream.position(), header.size);
                    if let Some(damage) = self.read_override(stream, &header) {
                        return Some(Err(damage));
                    }
                }
                _ => {
                    let entry = self.entry(stream.position(), &header);
                    // a directory replaces nothing
                    if entry.kind != EntryKind::Other || entry.ambiguous || matches!(header.kind, b'2'..=b'4' | b'6') {
                        return Some(Ok(entry));
                    }
                }
            }
        }
    }

    /// Reads a long name or pax records.
    fn read_override(&mut self, stream: &mut dyn ByteStream, header: &Header<'_>) -> Option<Damage> {
        let wanted = usize::try_from(header.size).ok().filter(|_| header.size <= self.limit);
        let Some(wanted) = wanted else { return Some(Damage::Names { size: header.size }) };
        stream.fill(wanted);
        let window = stream.window();
        let bytes = window.get(..wanted).unwrap_or(window);
        match header.kind {
            b'L' => self.own.name = Some(to_nul(bytes).to_vec()),
            b'K' => self.own.link = Some(to_nul(bytes).to_vec()),
            // of all files: no name and no size can be told of all, though readers do
            b'g' => {
                let mut all = Overrides::default();
                all.read(bytes);
                self.own.doubtful |= all.doubtful || all.name.is_some() || all.link.is_some() || all.size.is_some();
            }
            _ => self.own.read(bytes),
        }
        stream.trim();
        None
    }

    fn entry(&mut self, start: u64, header: &Header<'_>) -> Entry {
        let own = core::mem::take(&mut self.own);
        let size = own.size.unwrap_or(header.size);
        // a hard link holds nothing, whatever it states
        let held = if header.kind == b'1' { 0 } else { size };
        self.next = next_of(start, held);
        // a size that does not fit into the header is left out there
        let differs = own.size.is_some_and(|size| size != header.size && header.size != 0 && size < 1 << 33);
        // what holds nothing, and what is a file for readers that do not know the kind: of GNU the names of a directory, the
        // rest of a file on another tape, the name of a tape
        let is_special = matches!(header.kind, b'1'..=b'6' | b'D' | b'M' | b'V');
        let name = own.name.unwrap_or_else(|| header.name());
        let is_folder = name.ends_with(b"/");
        let kind = match header.kind {
            b'1' => {
                let link = own.link.unwrap_or_else(|| to_nul(header.block.get(157..257).unwrap_or_default()).to_vec());
                EntryKind::Link(plain(&link).into())
            }
            b'2'..=b'6' => EntryKind::Other,
            b'S' => EntryKind::Sparse,
            _ if own.sparse => EntryKind::Sparse,
            b'D' | b'M' | b'V' if size == 0 => EntryKind::Other,
            // old archives have directories as files with a slash at the end
            _ if is_folder && size == 0 => EntryKind::Other,
            _ => EntryKind::File,
        };
        let part = Part { name: Arc::from(plain(&name)), size: held, offset: start };
        Entry { part, kind, ambiguous: differs || own.doubtful || ((is_special || is_folder) && size > 0) }
    }
}

impl Overrides {
    /// Whether an entry is to come that this is about.
    const fn is_some(&self) -> bool {
        self.name.is_some() || self.link.is_some() || self.size.is_some() || self.sparse || self.doubtful
    }

    /// Records of pax: length of the whole record in decimal digits, a blank, key, `=`, value, a newline.
    fn read(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((key, value, behind)) = record(rest) {
            rest = behind;
            match key {
                b"path" | b"GNU.sparse.name" => self.name = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"size" => {
                    self.size = digits(value);
                    // some read other spellings of a number too
                    self.doubtful |= self.size.is_none() || !value.iter().all(u8::is_ascii_digit);
                }
                _ => {}
            }
            self.doubtful |= matches!(key, b"path" | b"linkpath") && value.contains(&0);
            self.sparse |= key.starts_with(b"GNU.sparse.");
        }
        // what is no record is one for others
        self.doubtful |= rest.iter().any(|byte| *byte != 0);
    }
}

/// The first record of pax, and what is behind it.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = bytes.iter().position(|byte| *byte == b' ')?;
    let length = bytes.get(..blank).filter(|text| text.iter().all(u8::is_ascii_digit)).and_then(digits::<usize>)?;
    let (record, behind) = bytes.split_at_checked(length)?;
    let body = record.get(blank.saturating_add(1)..)?.strip_suffix(b"\n")?;
    let equals = body.iter().position(|byte| *byte == b'=')?;
    Some((body.get(..equals)?, body.get(equals.saturating_add(1)..)?, behind))
}

/// Whether something but zeros stands from here on, behind the end of an archive: readers that pass over blocks of zeros see more files.
pub(super) fn behind(stream: &mut dyn ByteStream) -> Option<Damage> {
    while stream.fill(1) {
        let window = stream.window();
        if window.iter().any(|byte| *byte != 0) {
            return Some(Damage::Behind { offset: stream.position() });
        }
        let length = u64::try_from(window.len()).unwrap_or(u64::MAX);
        stream.skip(length);
    }
    None
}

impl<'a> Header<'a> {
    /// The header in a block, if its checksum is right.
    fn read(block: &'a [u8; BLOCK]) -> Option<Self> {
        let stated = octal(block.get(148..156)?)?;
        let sum = |number: fn(u8) -> i64| {
            let own =
                block.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { 32 } else { number(*byte) });
            own.fold(0i64, i64::saturating_add)
        };
        // old programs added bytes with a sign
        let matches = |sum: i64| u64::try_from(sum).is_ok_and(|sum| sum == stated);
        if !matches(sum(i64::from)) && !matches(sum(|byte| i64::from(byte.cast_signed()))) {
            return None;
        }
        let size = size(block.get(124..136)?)?;
        Some(Self { block, size, kind: *block.get(156)? })
    }

    fn name(&self) -> Vec<u8> {
        let name = to_nul(self.block.get(..100).unwrap_or_default());
        // GNU's magic ends with blanks, and it has other fields where POSIX has the prefix
        let is_posix = self.block.get(257..263) == Some(b"ustar\0");
        let prefix = to_nul(self.block.get(345..500).unwrap_or_default());
        if is_posix && !prefix.is_empty() { [prefix, name].join(&b'/') } else { name.to_vec() }
    }
}

/// Whether a file begins with a header.
pub(super) fn is_one(prefix: &[u8]) -> bool {
    let Some(block) = prefix.first_chunk::<BLOCK>() else { return false };
    block.first().is_some_and(|byte| *byte != 0) && Header::read(block).is_some()
}

/// Where the header behind `size` bytes at `start` stands.
fn next_of(start: u64, size: u64) -> u64 {
    let whole = size.saturating_add(BLOCK_SIZE.saturating_sub(1)) & !(BLOCK_SIZE.saturating_sub(1));
    start.saturating_add(whole)
}

fn to_nul(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

/// Digits to a blank or NUL, with blanks before them.
fn octal(field: &[u8]) -> Option<u64> {
    let mut number = 0u64;
    let mut digits = 0usize;
    for byte in field.trim_ascii_start().iter().take_while(|byte| !matches!(**byte, 0 | b' ')) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 8)?;
        number = number.checked_mul(8)?.checked_add(u64::from(digit))?;
        digits = digits.saturating_add(1);
    }
    (digits > 0).then_some(number)
}

/// A size: octal, none where the field is empty, or a binary number behind a byte 0x80, more than any file where it has more
/// than 64 bits.
fn size(field: &[u8]) -> Option<u64> {
    if let [0x80, rest @ ..] = field {
        let fold = |sum: u64, byte: &u8| sum.checked_mul(256).and_then(|sum| sum.checked_add(u64::from(*byte)));
        return Some(rest.iter().try_fold(0u64, fold).unwrap_or(u64::MAX));
    }
    if field.iter().all(|byte| matches!(*byte, 0 | b' ')) { Some(0) } else { octal(field) }
}
