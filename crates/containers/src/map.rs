use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// The bytes of a file: mapped, or read if it is small.
#[derive(Debug)]
pub struct Mapped {
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Map(memmap2::Mmap),
    Read(Vec<u8>),
}

/// Files up to this size are read: making and removing a map costs more than copying them.
const SMALL: u64 = 256 * 1024;

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Map(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

/// Maps a regular file for reading. An empty file gives no bytes.
///
/// A file that another process shortens while it is read ends this process with a bus error, as with every reader that
/// maps files.
///
/// # Errors
/// The error of the system; [`io::ErrorKind::Unsupported`] for what is no regular file (a pipe, a device, a directory),
/// without opening it: opening a pipe waits for its other end.
pub fn map(path: &Path) -> io::Result<Mapped> {
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() {
        let what = if kind.is_dir() { "is a directory" } else { "not a regular file" };
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    open(File::open(path)?)
}

/// Maps or reads a regular file if its first bytes are of interest.
///
/// # Errors
/// As [`map`].
pub fn map_if(path: &Path, prefix: usize, wanted: impl FnOnce(&[u8]) -> bool) -> io::Result<Option<Mapped>> {
    let mut file = File::open(path)?;
    let mut start = Vec::with_capacity(prefix);
    (&mut file).take(u64::try_from(prefix).unwrap_or(u64::MAX)).read_to_end(&mut start)?;
    if !wanted(&start) {
        return Ok(None);
    }
    if file.metadata()?.len() <= SMALL {
        // what was read stays read
        file.take(SMALL).read_to_end(&mut start)?;
        return Ok(Some(Mapped { bytes: Bytes::Read(start) }));
    }
    open(file).map(Some)
}

fn open(mut file: File) -> io::Result<Mapped> {
    let size = file.metadata()?.len();
    if size <= SMALL {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        (&mut file).take(SMALL).read_to_end(&mut bytes)?;
        return Ok(Mapped { bytes: Bytes::Read(bytes) });
    }
    #[expect(unsafe_code, reason = "mapping a file is unsafe because others may change it meanwhile")]
    // SAFETY: the map is read only, its bytes are treated as untrusted at every step and never as anything but `u8`;
    // a change by another process can give wrong bytes or end the process, not break a guarantee of this one.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Mapped { bytes: Bytes::Map(map) })
}
