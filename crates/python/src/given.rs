//! What is scanned: a path, bytes, a file object of Python.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fatscan_core::{ByteSource, Input, Stop};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// One thing to scan.
#[derive(Debug)]
pub(crate) enum Given {
    Path(PathBuf),
    Bytes { name: String, bytes: PyBackedBytes },
    File { name: String, file: File },
}

impl Given {
    /// Of `(kind, name, value)` as Python gives it.
    pub(crate) fn read(own: &Bound<'_, PyAny>, stop: &Stop) -> PyResult<Self> {
        let (name, value): (Option<String>, Bound<'_, PyAny>) = own.extract()?;
        let Some(name) = name else { return Ok(Self::Path(value.extract()?)) };
        match value.extract::<PyBackedBytes>() {
            Ok(bytes) => Ok(Self::Bytes { name, bytes }),
            Err(_) => Ok(Self::File { name, file: File::new(&value, stop.clone())? }),
        }
    }

    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::Path(path) => Input::Path(path),
            Self::Bytes { name, bytes } => Input::Bytes { name, bytes },
            Self::File { name, file } => Input::Source { name, source: file },
        }
    }

    /// What it is called, where it is no path.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Path(_) => None,
            Self::Bytes { name, .. } | Self::File { name, .. } => Some(name),
        }
    }

    /// The exception that it raised.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        match self {
            Self::File { file, .. } => file.raised.lock().unwrap_or_else(PoisonError::into_inner).take(),
            Self::Path(_) | Self::Bytes { .. } => None,
        }
    }
}

/// A binary file object that can seek.
#[derive(Debug)]
pub(crate) struct File {
    /// Seeking and reading are one step.
    object: Mutex<Py<PyAny>>,
    size: u64,
    raised: Mutex<Option<PyErr>>,
    stop: Stop,
}

impl File {
    fn new(object: &Bound<'_, PyAny>, stop: Stop) -> PyResult<Self> {
        let size = object.call_method1("seek", (0, 2))?.extract()?;
        Ok(Self { object: Mutex::new(object.clone().unbind()), size, raised: Mutex::default(), stop })
    }

    fn read(&self, py: Python<'_>, object: &Py<PyAny>, offset: u64, buffer: &mut [u8]) -> PyResult<usize> {
        let object = object.bind(py);
        object.call_method1("seek", (offset,))?;
        let bytes: PyBackedBytes = object.call_method1("read", (buffer.len(),))?.extract()?;
        let count = bytes.len().min(buffer.len());
        buffer.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
        Ok(count)
    }
}

impl ByteSource for File {
    fn len(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        // there is no interpreter any more where it is about to end
        let read = Python::try_attach(|py| self.read(py, &object, offset, buffer));
        match read {
            Some(Ok(count)) => Ok(count),
            Some(Err(error)) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.stop.stop();
                Err(io::Error::other("the file object raised an exception"))
            }
            None => Err(io::Error::other("Python has ended")),
        }
    }

    fn as_slice(&self) -> Option<&[u8]> {
        None
    }
}
