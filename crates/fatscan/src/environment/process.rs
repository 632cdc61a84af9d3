//! What a running process has mapped.

use std::fmt;
use std::path::PathBuf;

use super::{Environment, Kind, SiteKind, layout};
use crate::linkage::process::{self, Mapped};

/// Notes on files that are gone, at most.
const NOTES: usize = 20;

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
        let mapped = process::libraries(pid).map_err(|error| ProcessError(error.to_string()))?;
        let place = PathBuf::from(format!("/proc/{pid}/exe"));
        let program = std::fs::read_link(&place).unwrap_or(place);
        let mut own = Self::new(Kind::Process, &program, &format!("process {pid}"));
        for Mapped { path, is_deleted, .. } in mapped {
            let site = path
                .ancestors()
                .find(|above| above.file_name().is_some_and(|name| name == "site-packages" || name == "dist-packages"));
            if let Some(site) = site {
                own.add_site(site, SiteKind::Own, &layout::prefix_of(site));
            }
            if path.is_file() && !is_deleted {
                own.files.push(path);
            } else {
                own.notes.push(format!("mapped, and no longer there: {}", path.display()));
            }
        }
        own.notes.truncate(NOTES);
        Ok(own)
    }
}
