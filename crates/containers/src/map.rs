use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a file.
#[derive(Debug)]
pub struct Mapped {
    map: Option<memmap2::Mmap>,
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
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
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Mapped { map: None });
    }
    #[expect(unsafe_code, reason = "mapping a file is unsafe because others may change it meanwhile")]
    // SAFETY: the map is read only, its bytes are treated as untrusted at every step and never as anything but `u8`;
    // a change by another process can give wrong bytes or end the process, not break a guarantee of this one.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Mapped { map: Some(map) })
}
