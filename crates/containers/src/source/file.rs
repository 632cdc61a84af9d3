use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use super::Source;
use super::guard::Guarded;

/// Whether files are mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// Regular files of local file systems are; small files, and those of a network or of a program (NFS, SMB, FUSE), are
    /// read.
    #[default]
    Auto,
    /// None is: every file is read. Slower, and nothing in this process depends on what others do with the file.
    Never,
    /// All are, but small ones.
    Always,
}

/// Files up to this size are read at once: making and removing a map costs more than copying them.
const SMALL: u64 = 256 * 1024;
/// A file whose size is stated as 0 may be one that the system makes while it is read: so much is read of it at most.
const UNSIZED: u64 = 16 << 20;

/// An open file.
#[derive(Debug)]
pub struct FileSource {
    bytes: Bytes,
    length: u64,
    file: File,
    opened: Option<Stamp>,
}

#[derive(Debug)]
enum Bytes {
    Map(Guarded),
    Read(Vec<u8>),
    File,
}

/// What tells that a file is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// Opens a regular file; `None` where its first `prefix` bytes are not `wanted`, which is asked with them.
///
/// # Errors
/// The error of the system; [`io::ErrorKind::Unsupported`] for what is no regular file (a pipe, a device, a directory),
/// without opening it: opening a pipe waits for its other end.
pub fn open_file(
    path: &Path,
    mapping: Mapping,
    prefix: usize,
    wanted: impl FnOnce(&[u8]) -> bool,
) -> io::Result<Option<FileSource>> {
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() {
        let what = if kind.is_dir() { "is a directory" } else { "not a regular file" };
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    let mut file = open(path)?;
    let mut start = Vec::with_capacity(prefix);
    (&mut file).take(u64::try_from(prefix).unwrap_or(u64::MAX)).read_to_end(&mut start)?;
    if !wanted(&start) {
        return Ok(None);
    }
    let metadata = file.metadata()?;
    let stated = metadata.len();
    if stated <= SMALL {
        // what was read stays read
        let most = if stated == 0 { UNSIZED } else { SMALL };
        (&mut file).take(most).read_to_end(&mut start)?;
        let length = u64::try_from(start.len()).unwrap_or(u64::MAX);
        if stated == 0 && length >= UNSIZED {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the system states no size for it"));
        }
        let opened = (stated > 0).then(|| Stamp::of(&metadata));
        return Ok(Some(FileSource { bytes: Bytes::Read(start), length, file, opened }));
    }
    let maps = match mapping {
        Mapping::Never => false,
        Mapping::Always => true,
        Mapping::Auto => is_local(&file),
    };
    let bytes = if maps { Bytes::Map(Guarded::new(&file)?) } else { Bytes::File };
    Ok(Some(FileSource { bytes, length: stated, file, opened: Some(Stamp::of(&metadata)) }))
}

/// Opens for reading; a pipe that took the place of the file meanwhile is not waited for.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Whether a file lies on a file system of this machine.
#[cfg(target_os = "linux")]
fn is_local(file: &File) -> bool {
    // NFS, SMB1, SMB2, CIFS, FUSE, 9P, Ceph, AFS, Coda, proc and sysfs: from linux/magic.h and statfs(2)
    const OTHERS: [u64; 11] = [
        0x6969,
        0x517b,
        0xfe53_4d42,
        0xff53_4d42,
        0x6573_5546,
        0x0102_1997,
        0x00c3_6400,
        0x5346_414f,
        0x7375_7245,
        0x9fa0,
        0x6265_6572,
    ];
    match rustix::fs::fstatfs(file) {
        Ok(system) => !OTHERS.contains(&u64::try_from(system.f_type).unwrap_or(0)),
        Err(_) => false,
    }
}

#[cfg(not(target_os = "linux"))]
const fn is_local(_: &File) -> bool {
    true
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self.as_slice() {
            Some(slice) => (&slice as &dyn Source).read_at(offset, buffer),
            None => read_at(&self.file, offset, buffer),
        }
    }

    fn as_slice(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Map(map) => Some(map.bytes()),
            Bytes::Read(bytes) => Some(bytes),
            Bytes::File => None,
        }
    }

    fn changed(&self) -> bool {
        if let Bytes::Map(map) = &self.bytes
            && map.has_shrunk()
        {
            return true;
        }
        self.opened.is_some_and(|opened| self.file.metadata().map_or(true, |now| Stamp::of(&now) != opened))
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}
