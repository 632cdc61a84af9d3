//! The native files that a process has mapped: what it has loaded, however it came to it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Bytes of a table of mappings that are read; a mapping has one line, and a process 65,530 of them unless it is told
/// otherwise.
#[cfg(target_os = "linux")]
const TABLE: u64 = 64 << 20;

/// A file that is mapped as code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Mapped {
    /// Its path, as the process sees it: in a container, below the container's root.
    pub path: PathBuf,
    /// It was removed or replaced since it was mapped: what is at the path now is another file, or nothing.
    pub is_deleted: bool,
}

/// The files that a process has mapped as code, by path: its program and its libraries.
///
/// # Errors
/// Where there is no such process, where it belongs to somebody else, and on other systems than Linux.
#[cfg(target_os = "linux")]
pub fn libraries(pid: u32) -> io::Result<Vec<Mapped>> {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;

    let told = |error: io::Error| {
        let text = match error.kind() {
            io::ErrorKind::NotFound => format!("no process has the number {pid}"),
            io::ErrorKind::PermissionDenied => {
                format!("process {pid} may not be looked at: it belongs to another user, or is protected")
            }
            _ => format!("the mappings of process {pid} cannot be read: {error}"),
        };
        io::Error::new(error.kind(), text)
    };
    let table = format!("/proc/{pid}/maps");
    let mut bytes = Vec::new();
    std::fs::File::open(table).map_err(told)?.take(TABLE).read_to_end(&mut bytes).map_err(told)?;
    if bytes.len() as u64 >= TABLE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("process {pid} has too many mappings")));
    }
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    // a file may be called so: then it is there, and it is the one that is mapped
    let is_there = |path: &str, inode: u64| {
        let path = root.join(path.trim_start_matches('/'));
        std::fs::metadata(path).is_ok_and(|metadata| metadata.ino() == inode)
    };
    Ok(parse(&bytes, is_there))
}

/// The files that a process has mapped as code.
///
/// # Errors
/// Always: this is known on Linux only.
#[cfg(not(target_os = "linux"))]
pub fn libraries(_pid: u32) -> io::Result<Vec<Mapped>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the files of a process are known on Linux only"))
}

/// Reads a table of the form of `/proc/PID/maps`. `is_there` says whether a path is that of the file of this number.
///
/// The system writes a line break in a path as `\012`, and ` (deleted)` behind the path of a file that has been removed; both
/// may be part of a name, so the path as it stands there is asked for first.
pub fn parse(table: &[u8], is_there: impl Fn(&str, u64) -> bool) -> Vec<Mapped> {
    let mut found: BTreeMap<PathBuf, bool> = BTreeMap::new();
    let mut last = None;
    for line in table.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let mut rest = line.as_ref();
        let mut fields = [""; 5];
        for field in &mut fields {
            let (own, behind) = rest.split_once(' ').unwrap_or((rest, ""));
            (*field, rest) = (own, behind.trim_start_matches(' '));
        }
        let [_, rights, _, _, inode] = fields;
        let is_code = rights.as_bytes().get(2) == Some(&b'x');
        let (true, true, Ok(inode)) = (is_code, rest.starts_with('/'), inode.parse::<u64>()) else { continue };
        // `/memfd:` and shared memory of the system are files without a path
        if inode == 0 || rest.starts_with("/memfd:") || rest.starts_with("/SYSV") {
            continue;
        }
        let key = (rest.to_owned(), inode);
        if last.as_ref() == Some(&key) {
            continue;
        }
        let (path, is_deleted) = named(rest, inode, &is_there);
        let slot = found.entry(PathBuf::from(path)).or_insert(is_deleted);
        *slot = *slot && is_deleted;
        last = Some(key);
    }
    found.into_iter().map(|(path, is_deleted)| Mapped { path, is_deleted }).collect()
}

fn named(text: &str, inode: u64, is_there: impl Fn(&str, u64) -> bool) -> (String, bool) {
    let doubts = text.contains("\\012") || text.ends_with(" (deleted)");
    if !doubts || is_there(text, inode) {
        return (text.to_owned(), false);
    }
    let whole = text.replace("\\012", "\n");
    if is_there(&whole, inode) {
        return (whole, false);
    }
    match text.strip_suffix(" (deleted)") {
        Some(path) => (path.replace("\\012", "\n"), true),
        None => (whole, false),
    }
}
