use crate::stream::ByteStream;

/// Bytes of the magic of an archive.
const MAGIC_SIZE: u64 = 8;
/// Bytes of a member header.
const HEADER_SIZE: usize = 60;
/// A table of long names above this is not read: member names are then only their offsets.
const NAMES_LIMIT: u64 = 16 << 20;

/// One member of a static archive; the stream stands at its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMember {
    /// Name, with bytes that are not UTF-8 replaced.
    pub name: String,
    /// Bytes of the member, as the header states them.
    pub size: u64,
    /// Offset of its first byte in the archive.
    pub offset: u64,
}

/// A member header that is none, at this offset: where the next member is cannot be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveError {
    /// Offset in the archive, in bytes.
    pub offset: u64,
}

/// Walks the members of a static archive (`.a` with GNU or BSD long names, COFF `.lib`) forward.
///
/// | offset | size | name | meaning |
/// |---|---|---|---|
/// | 0 | 16 | name | `name/`, `/123` into the `//` table, `#1/len` with the name before the data |
/// | 16 | 32 | date, owner, group, mode | not read |
/// | 48 | 10 | size | decimal, padded with blanks |
/// | 58 | 2 | terminator | a backquote and a newline |
///
/// Members start at even offsets. Documented in `ar(5)` and in Microsoft's PE format.
#[derive(Clone, Debug, Default)]
pub struct ArchiveWalk {
    names: Vec<u8>,
    next: u64,
    done: bool,
}

impl ArchiveWalk {
    /// A walk over the archive at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self { names: Vec::new(), next: MAGIC_SIZE, done: false }
    }

    /// Steps to the next member, past whatever of the last one was not read, and past the symbol and name tables.
    ///
    /// # Errors
    /// [`ArchiveError`] where no header stands; the walk is over then.
    pub fn next<S: ByteStream>(&mut self, stream: &mut S) -> Option<Result<ArchiveMember, ArchiveError>> {
        loop {
            if self.done {
                return None;
            }
            let gap = self.next.saturating_sub(stream.position());
            if stream.skip(gap) < gap || !stream.fill(1) {
                self.done = true;
                return None;
            }
            let offset = stream.position();
            let Some((name, size)) = self.header(stream) else {
                self.done = true;
                return Some(Err(ArchiveError { offset }));
            };
            stream.skip(HEADER_SIZE as u64);
            let start = stream.position();
            self.next = start.saturating_add(size).saturating_add(1) & !1;
            match name.as_slice() {
                b"/" | b"/SYM64/" | b"/<ECSYMBOLS>/" => {}
                b"//" => self.read_names(stream, size),
                _ => return Some(Ok(self.member(stream, &name, size))),
            }
        }
    }

    /// Name field without trailing blanks, and size.
    fn header<S: ByteStream>(&self, stream: &mut S) -> Option<(Vec<u8>, u64)> {
        stream.fill(HEADER_SIZE);
        let header = stream.window().get(..HEADER_SIZE)?;
        if header.get(58..) != Some(b"`\n".as_slice()) {
            return None;
        }
        let size = core::str::from_utf8(header.get(48..58)?).ok()?.trim_ascii().parse().ok()?;
        Some((header.get(..16)?.trim_ascii_end().to_vec(), size))
    }

    fn read_names<S: ByteStream>(&mut self, stream: &mut S, size: u64) {
        if size > NAMES_LIMIT {
            return;
        }
        let Ok(size) = usize::try_from(size) else { return };
        stream.fill(size);
        self.names = stream.window().get(..size).unwrap_or_default().to_vec();
    }

    fn member<S: ByteStream>(&self, stream: &mut S, field: &[u8], size: u64) -> ArchiveMember {
        let long = field.strip_prefix(b"/").and_then(number).and_then(|at| self.names.get(at..));
        let before = field.strip_prefix(b"#1/").and_then(number).filter(|length| *length <= 4096);
        let (name, header) = if let Some(names) = long {
            // GNU ends a name with a slash and a newline, Microsoft with a NUL
            let end = names.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(names.len());
            let name = names.get(..end).unwrap_or_default();
            (name.strip_suffix(b"/").unwrap_or(name).to_vec(), 0)
        } else if let Some(length) = before {
            stream.fill(length);
            let name = stream.window().get(..length).unwrap_or_default();
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            let name = name.get(..end).unwrap_or_default().to_vec();
            (name, stream.skip(u64::try_from(length).unwrap_or(0)))
        } else {
            (field.strip_suffix(b"/").unwrap_or(field).to_vec(), 0)
        };
        ArchiveMember {
            name: String::from_utf8_lossy(&name).into_owned(),
            size: size.saturating_sub(header),
            offset: stream.position(),
        }
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}
