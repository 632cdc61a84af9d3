//! The file that lists the others. It is written while they are, and gets its name when all of them have theirs.

use std::io::{self, BufWriter, Write};

use super::folder::{Folder, Unfinished, WriteError};

/// Its name.
pub(super) const INDEX: &str = "index.json";

#[derive(Debug)]
pub(super) struct Index<'folder> {
    out: BufWriter<Unfinished<'folder>>,
    /// Lines of it.
    pub(super) images: usize,
}

impl<'folder> Index<'folder> {
    /// Begins a new index; the one of an earlier run goes, where it may be written over.
    pub(super) fn begin(folder: &'folder Folder) -> Result<Self, WriteError> {
        folder.clear(INDEX)?;
        let mut out = BufWriter::new(folder.begin()?);
        out.write_all(b"{ \"schema\": 1, \"images\": [")?;
        Ok(Self { out, images: 0 })
    }

    /// Adds an image: one JSON value.
    pub(super) fn add(&mut self, image: &str) -> io::Result<()> {
        self.out.write_all(if self.images == 0 { b"\n" } else { b",\n" })?;
        self.images = self.images.saturating_add(1);
        self.out.write_all(image.as_bytes())
    }

    /// Ends it and gives it its name.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        self.out.write_all(b"\n] }\n")?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.finish(INDEX)
    }
}
