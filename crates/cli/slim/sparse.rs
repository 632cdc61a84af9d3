//! A file with holes where it is zero.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes that a file system leaves out at the least, and where: pages.
const PAGE: u64 = 4096;

/// Writes a new, empty file; with holes instead of whole pages of zeros where that is wanted. [`Write::flush`] gives it its size.
pub(super) struct Sparse {
    file: File,
    position: u64,
    has_holes: bool,
}

impl Sparse {
    pub(super) const fn new(file: File, has_holes: bool) -> Self {
        Self { file, position: 0, has_holes }
    }
}

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = PAGE.saturating_sub(self.position.checked_rem(PAGE).unwrap_or(0));
            let room = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
            let (piece, behind) =
                if self.has_holes { rest.split_at_checked(room).unwrap_or((rest, &[])) } else { (rest, &[][..]) };
            let size = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            self.position = self.position.saturating_add(size);
            if self.has_holes && piece.iter().all(|byte| *byte == 0) {
                self.file.seek(SeekFrom::Start(self.position))?;
            } else {
                self.file.write_all(piece)?;
            }
            rest = behind;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_holes {
            // a hole at the end
            self.file.set_len(self.position)?;
        }
        self.file.flush()
    }
}
