use std::sync::Arc;

use memchr::memmem;

use super::tar::behind;
use super::{Damage, Entry, EntryKind, Part, plain};
use crate::stream::ByteStream;

/// Bytes of a header before the name.
const HEADER: usize = 110;
const HEADER_SIZE: u64 = 110;
/// Name of the entry that ends an archive.
const TRAILER: &[u8] = b"TRAILER!!!";

/// Walks the entries of a cpio archive forward, the kind that RPM packages hold (`newc`, with or without checksums).
///
/// A header is `070701` or `070702` and thirteen numbers of eight hexadecimal digits: inode, mode, owner, group, links, time,
/// size, four numbers of devices, bytes of the name with its NUL, checksum. The name follows, then the data, each filled up
/// to a multiple of four bytes. Of a file with several names the last one holds the data.
#[derive(Clone, Debug)]
pub struct CpioWalk {
    /// Bytes of a name that are read.
    limit: usize,
    next: u64,
    done: bool,
}

impl CpioWalk {
    /// A walk over the archive at the start of a stream; of a name `limit` bytes are read.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, next: 0, done: false }
    }

    /// Steps to the next file, past whatever of the last one was not read.
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
            let whole = stream.fill(HEADER);
            let offset = stream.position();
            if !is_there || !whole {
                self.done = true;
                return Some(Err(Damage::Cut { offset }));
            }
            let Some(header) = stream.window().first_chunk::<HEADER>().and_then(Header::read) else {
                self.seek(stream);
                return Some(Err(Damage::Header { offset }));
            };
            stream.skip(HEADER_SIZE);
            let read = usize::try_from(header.name).unwrap_or(usize::MAX).min(self.limit);
            stream.fill(read);
            let window = stream.window();
            let name = window.get(..read).unwrap_or(window);
            let end = memchr::memchr(0, name).unwrap_or(name.len());
            let name: Arc<[u8]> = Arc::from(plain(name.get(..end).unwrap_or_default()));
            let start = fill_up(offset.saturating_add(HEADER_SIZE).saturating_add(header.name));
            let gap = start.saturating_sub(stream.position());
            self.next = fill_up(start.saturating_add(header.size));
            if &*name == TRAILER {
                self.done = true;
                stream.skip(self.next.saturating_sub(stream.position()));
                return behind(stream).map(Err);
            }
            if stream.skip(gap) < gap {
                self.done = true;
                return Some(Err(Damage::Cut { offset: stream.position() }));
            }
            // a pipe, a device, a directory, a link, a socket; what has none of these kinds is a file for some readers
            let is_other = matches!(
                header.mode & 0o170_000,
                0o010_000 | 0o020_000 | 0o040_000 | 0o060_000 | 0o120_000 | 0o140_000
            );
            let is_link = header.mode & 0o170_000 == 0o120_000;
            let ambiguous = is_other && !is_link && header.size > 0;
            let kind = if is_other {
                EntryKind::Other
            } else if header.links > 1 && header.size == 0 {
                EntryKind::Link(Arc::default())
            } else {
                EntryKind::File
            };
            if kind != EntryKind::Other || ambiguous {
                return Some(Ok(Entry { part: Part { name, size: header.size, offset: start }, kind, ambiguous }));
            }
        }
    }

    /// Looks for the next header.
    fn seek(&mut self, stream: &mut dyn ByteStream) {
        stream.skip(1);
        loop {
            stream.fill(HEADER);
            let window = stream.window();
            let found = memmem::find_iter(window, b"07070").find(|at| {
                let here = window.get(*at..).and_then(|rest| rest.first_chunk::<HEADER>());
                here.is_some_and(|here| Header::read(here).is_some())
            });
            let ends = window.len() < HEADER;
            let step = found.unwrap_or_else(|| window.len().saturating_sub(HEADER.saturating_sub(1)));
            stream.skip(u64::try_from(step).unwrap_or(0));
            if found.is_some() || ends {
                self.next = stream.position();
                self.done = found.is_none();
                return;
            }
        }
    }
}

/// The fields of a header that are read.
struct Header {
    mode: u32,
    links: u32,
    size: u64,
    name: u64,
}

impl Header {
    fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let numbers = bytes.strip_prefix(b"070701").or_else(|| bytes.strip_prefix(b"070702"))?;
        let number = |index: usize| {
            let at = index.checked_mul(8)?;
            let digits = numbers.get(at..at.checked_add(8)?)?;
            digits.iter().try_fold(0u32, |sum, byte| Some((sum << 4) | char::from(*byte).to_digit(16)?))
        };
        let (mode, links, size, name) = (number(1)?, number(4)?, number(6)?, number(11)?);
        (name > 0).then_some(Self { mode, links, size: size.into(), name: name.into() })
    }
}

const fn fill_up(position: u64) -> u64 {
    position.saturating_add(3) & !3
}
