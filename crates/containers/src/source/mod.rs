//! Where bytes come from: random access to a file or to bytes in memory.

mod file;
mod guard;

pub use file::{FileSource, Mapping, open_file};

use std::io;

use crate::stream::{ByteStream, ReadStream, SliceStream};

/// Bytes that can be read anywhere.
///
/// ```
/// use fatscan_containers::{ByteStream, Source};
/// let bytes: &[u8] = b"in memory";
/// let mut stream = (&bytes as &dyn Source).stream(3, 6);
/// stream.fill(6);
/// assert_eq!(stream.window(), b"memory");
/// ```
pub trait Source: core::fmt::Debug + Send + Sync {
    /// Bytes in all.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads at `offset` into `buffer` and returns how many bytes there were; 0 at the end.
    ///
    /// # Errors
    /// Those of the system.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// All of it as a slice, where it lies in memory.
    fn as_slice(&self) -> Option<&[u8]>;

    /// Whether the bytes changed, or were taken away, since they were opened: what was read of them may be anything.
    fn changed(&self) -> bool {
        false
    }
}

impl<'source> dyn Source + 'source {
    /// The `length` bytes from `offset` on, or fewer where the source ends before, as a stream.
    #[must_use]
    pub fn stream(&self, offset: u64, length: u64) -> Box<dyn ByteStream + '_> {
        let end = offset.saturating_add(length).min(self.len());
        let offset = offset.min(end);
        if let Some(slice) = self.as_slice() {
            let range = usize::try_from(offset).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
            return Box::new(SliceStream::new(slice.get(range).unwrap_or_default()));
        }
        // a range of known length: a file that grows meanwhile is read as it was
        Box::new(ReadStream::new(self.as_dyn(), offset, end.saturating_sub(offset)))
    }

    /// The bytes of a range, fewer at the end. The caller bounds `length`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn bytes(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(left)];
        let mut filled = 0usize;
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            let at = offset.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
            match self.read_at(at, room)? {
                0 => break,
                count => filled = filled.saturating_add(count),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn as_dyn(&self) -> &(dyn Source + 'source) {
        self
    }
}

impl Source for &[u8] {
    fn len(&self) -> u64 {
        u64::try_from((**self).len()).unwrap_or(u64::MAX)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(count)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self)
    }
}
