//! A folder that is written to: nothing outside it, and a name is there when its file is whole.

use core::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::system::{Handle, There};

/// Why something is not written.
#[derive(Debug)]
pub(super) enum WriteError {
    /// A file has the name.
    Exists,
    /// A link has the name.
    Link,
    /// The system refuses.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("the file exists; --force writes over it"),
            Self::Link => f.write_str("a link is there, and nothing is written through it"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A folder, and whether files in it may be written over.
#[derive(Debug)]
pub(super) struct Folder {
    handle: Handle,
    force: bool,
}

/// A file that is being written, under a name of its own. Where it is not finished it goes.
#[derive(Debug)]
pub(super) struct Unfinished<'folder> {
    folder: &'folder Folder,
    name: String,
    /// `None` once it has its final name.
    file: Option<File>,
}

/// Names tried for a file that is being written: earlier runs that were killed have left some.
const TRIES: usize = 10_000;

/// Numbers the files of this process that are being written.
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Folder {
    /// The folder at a path, made where it does not exist; the path may lead through links.
    pub(super) fn make(path: &Path, force: bool) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self { handle: Handle::open(path)?, force })
    }

    /// A folder in it, made where it does not exist.
    pub(super) fn below(&self, name: &str) -> Result<Self, WriteError> {
        if self.handle.look(name)? == There::Link {
            return Err(WriteError::Link);
        }
        Ok(Self { handle: self.handle.below(name)?, force: self.force })
    }

    /// Whether a file may have this name.
    pub(super) fn permits(&self, name: &str) -> Result<There, WriteError> {
        match self.handle.look(name)? {
            There::Link => Err(WriteError::Link),
            There::Something if !self.force => Err(WriteError::Exists),
            there => Ok(there),
        }
    }

    /// Takes away what an earlier run wrote under this name, where that is permitted.
    pub(super) fn clear(&self, name: &str) -> Result<(), WriteError> {
        match self.permits(name)? {
            There::Something => Ok(self.handle.remove(name)?),
            _ => Ok(()),
        }
    }

    /// Begins a file.
    pub(super) fn begin(&self) -> io::Result<Unfinished<'_>> {
        let mut refused = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            let name = format!(".fatscan-{}-{}.tmp", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
            match self.handle.create(&name) {
                Ok(file) => return Ok(Unfinished { folder: self, name, file: Some(file) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// Writes a file.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        self.permits(name)?;
        let mut file = self.begin()?;
        file.write_all(bytes)?;
        file.finish(name)
    }
}

impl Unfinished<'_> {
    /// Gives it its name, where that is permitted.
    pub(super) fn finish(mut self, name: &str) -> Result<(), WriteError> {
        self.folder.permits(name)?;
        self.folder.handle.rename(&self.name, name)?;
        self.file = None;
        Ok(())
    }
}

impl Write for Unfinished<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // what cannot be taken away stays, under a name that says what it is
            let _ = self.folder.handle.remove(&self.name);
        }
    }
}
