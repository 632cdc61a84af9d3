//! A file that gets its name when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::formats::is_one;

/// A file that is being written beside its place. Where it is not finished it goes, and what is at its place stays.
#[derive(Debug)]
pub(crate) struct Unfinished {
    /// As it was typed.
    path: PathBuf,
    /// Where it goes.
    target: PathBuf,
    /// Its name until then; none where something else than a file is written to: a device, a pipe.
    temporary: Option<PathBuf>,
    file: Option<File>,
}

/// Names tried for a file that is being written: earlier runs that were killed have left some.
const TRIES: usize = 10_000;

/// Numbers the files of this process that are being written.
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Unfinished {
    /// Begins a file, where one may be written at `path`.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        Self::begin_as(path, "tmp")
    }

    /// The same with a name until then that ends with `.ending`: what reads it may go by that.
    pub(crate) fn begin_as(path: &Path, ending: &str) -> io::Result<Self> {
        let known = match fs::metadata(path) {
            Ok(known) => Some(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let own = |target: PathBuf, temporary: Option<PathBuf>, file: File| Self {
            path: path.to_owned(),
            target,
            temporary,
            file: Some(file),
        };
        if known.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        if known.is_some() {
            // what may not be written over is not replaced either
            let file = OpenOptions::new().write(true).open(path)?;
            if !known.as_ref().is_some_and(fs::Metadata::is_file) {
                return Ok(own(path.to_owned(), None, file));
            }
        }
        // a link stays one
        let target = if known.is_some() { path.canonicalize()? } else { path.to_owned() };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if target.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        }
        let mut refused = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let temporary = folder.join(format!(".fatscan-{}-{number}.{ending}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    if let Some(known) = &known {
                        // as far as the system lets it be
                        let _ = file.set_permissions(known.permissions());
                    }
                    return Ok(own(target, Some(temporary), file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// As it was typed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is until it has its name; nothing where something else than a file is written to.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Whether another one goes to the same place.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let folder = |path: &Path| {
            path.parent().map(|own| if own.as_os_str().is_empty() { Path::new(".") } else { own }.to_owned())
        };
        let own = (self.target.file_name(), other.target.file_name());
        let folders = folder(&self.target).zip(folder(&other.target));
        self.temporary.is_some() && own.0 == own.1 && folders.is_some_and(|(own, other)| is_one(&own, &other))
    }

    /// Whether it goes to where another file is.
    pub(crate) fn is_at(&self, other: &Path) -> bool {
        self.temporary.is_some() && is_one(&self.target, other)
    }

    /// What is written to, once.
    pub(crate) fn take(&self) -> io::Result<File> {
        self.file.as_ref().ok_or(io::ErrorKind::NotFound.into()).and_then(File::try_clone)
    }

    /// Waits until the system has all of it: a disk may be full.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match (&self.temporary, &self.file) {
            (Some(_), Some(file)) => file.sync_all(),
            _ => Ok(()),
        }
    }

    /// Gives it its name, unless something has it already: unlike a rename this writes over nothing that came meanwhile.
    pub(crate) fn finish_new(self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        match fs::hard_link(temporary, &self.target) {
            // a file system without links
            Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => {
                match fs::symlink_metadata(&self.target) {
                    Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                    Err(_) => self.finish(),
                }
            }
            done => done,
        }
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file = None;
        match &self.temporary {
            Some(temporary) => {
                fs::rename(temporary, &self.target)?;
                self.temporary = None;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.file = None;
        if let Some(temporary) = self.temporary.take() {
            // what cannot be taken away stays, under a name that says what it is
            let _ = fs::remove_file(temporary);
        }
    }
}
