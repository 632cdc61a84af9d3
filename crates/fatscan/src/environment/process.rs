//! What a running process has mapped.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{Environment, Kind, SiteKind, layout};

/// Bytes of a table of mappings that are read.
const MAPS: u64 = 64 << 20;

/// Why what a process has mapped is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessError(String);

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ProcessError {}

impl Environment {
    /// The files that a process has mapped, and the directories of packages that they are in.
    ///
    /// # Errors
    /// Where the system does not tell: no such process, no permission, or a system without `/proc`.
    pub fn of_process(pid: u32) -> Result<Self, ProcessError> {
        let place = PathBuf::from(format!("/proc/{pid}"));
        let maps = place.join("maps");
        let file = File::open(&maps).map_err(|error| {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound if !Path::new("/proc/self/maps").exists() => "this system has no /proc",
                std::io::ErrorKind::NotFound => "there is no such process",
                std::io::ErrorKind::PermissionDenied => "it belongs to someone else",
                _ => "the system does not tell what it has mapped",
            };
            ProcessError(why.to_owned())
        })?;
        let mut paths = BTreeSet::new();
        let mut lines = BufReader::new(file.take(MAPS));
        let mut line = Vec::new();
        loop {
            line.clear();
            match lines.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => paths.extend(path_of(&line)),
                Err(_) => return Err(ProcessError("it belongs to someone else, or ended".to_owned())),
            }
        }
        let program = std::fs::read_link(place.join("exe")).unwrap_or_else(|_| place.clone());
        let mut own = Self::new(Kind::Process, &program, &format!("process {pid}"));
        for path in paths {
            let site = path
                .ancestors()
                .find(|above| above.file_name().is_some_and(|name| name == "site-packages" || name == "dist-packages"));
            if let Some(site) = site {
                let site = site.to_owned();
                own.add_site(&site, SiteKind::Own, &layout::prefix_of(&site));
            }
            if path.is_file() {
                own.files.push(path);
            } else if !path.starts_with("/dev") && !path.starts_with("/memfd:") {
                own.notes.push(format!("mapped, and no longer there: {}", path.display()));
            }
        }
        own.notes.truncate(20);
        Ok(own)
    }
}

/// The path in a line of a table of mappings.
fn path_of(line: &[u8]) -> Option<PathBuf> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let at = line.iter().position(|byte| *byte == b'/')?;
    let path = line.get(at..)?;
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    Some(PathBuf::from(String::from_utf8_lossy(path).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_the_end_of_a_line() {
        let line = b"7f00-7f01 r-xp 00000000 08:01 1234   /a b/libx.so (deleted)\n";
        assert_eq!(path_of(line), Some(PathBuf::from("/a b/libx.so")));
        assert_eq!(path_of(b"7f00-7f01 rw-p 00000000 00:00 0   [heap]\n"), None);
    }
}
