use super::{ByteStream, Fault, HISTORY};
use crate::source::Source;

/// Bytes that are read at a time.
const CHUNK: usize = 256 * 1024;

/// A stream over a range of a [`Source`] that is no slice: a file that is not mapped.
#[derive(Debug)]
pub struct ReadStream<'source> {
    source: &'source dyn Source,
    /// The range in the source.
    base: u64,
    length: u64,
    buffer: Vec<u8>,
    /// The window is `buffer[start..]`.
    start: usize,
    /// Position of the end of the buffer in the stream.
    read: u64,
    fault: Option<Fault>,
}

impl<'source> ReadStream<'source> {
    /// The bytes from `base` on, `length` of them.
    #[must_use]
    pub fn new(source: &'source dyn Source, base: u64, length: u64) -> Self {
        Self { source, base, length, buffer: Vec::new(), start: 0, read: 0, fault: None }
    }

    fn seek(&mut self, position: u64) {
        self.buffer.clear();
        self.start = 0;
        self.read = position.min(self.length);
    }
}

impl ByteStream for ReadStream<'_> {
    fn window(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    fn fill(&mut self, least: usize) -> bool {
        if self.window().len() >= least {
            return true;
        }
        let keep = self.start.saturating_sub(HISTORY);
        self.buffer.drain(..keep);
        self.start = self.start.saturating_sub(keep);
        let wanted = self.start.saturating_add(least.max(CHUNK));
        let left = usize::try_from(self.length.saturating_sub(self.read)).unwrap_or(usize::MAX);
        let mut end = self.buffer.len();
        let target = wanted.min(end.saturating_add(left));
        self.buffer.resize(target.max(end), 0);
        while self.fault.is_none() && end < target {
            let room = self.buffer.get_mut(end..target).unwrap_or_default();
            match self.source.read_at(self.base.saturating_add(self.read), room) {
                Ok(0) | Err(_) => self.fault = Some(Fault::Io),
                Ok(count) => {
                    end = end.saturating_add(count);
                    self.read = self.read.saturating_add(u64::try_from(count).unwrap_or(0));
                }
            }
        }
        self.buffer.truncate(end);
        self.window().len() >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let at_hand = u64::try_from(self.window().len()).unwrap_or(u64::MAX);
        if count <= at_hand {
            self.start = self.start.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
            return count;
        }
        // what nobody looks at is not read
        let before = self.position();
        if self.fault.is_none() {
            self.seek(before.saturating_add(count));
        } else {
            self.start = self.buffer.len();
        }
        self.position().saturating_sub(before)
    }

    fn position(&self) -> u64 {
        self.read.saturating_sub(u64::try_from(self.window().len()).unwrap_or(0))
    }

    fn behind(&self) -> &[u8] {
        self.buffer.get(self.start.saturating_sub(HISTORY)..self.start).unwrap_or_default()
    }

    fn rewind(&mut self, position: u64) -> bool {
        let back = self.position().saturating_sub(position);
        match usize::try_from(back) {
            Ok(back) if back <= self.start => self.start = self.start.saturating_sub(back),
            _ => self.seek(position),
        }
        true
    }

    fn trim(&mut self) {
        if self.buffer.capacity() > CHUNK.saturating_mul(2) && self.window().len() <= CHUNK {
            let position = self.position();
            self.buffer = Vec::new();
            self.seek(position);
        }
    }

    fn fault(&self) -> Option<Fault> {
        self.fault
    }
}
