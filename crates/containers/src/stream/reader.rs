use std::io::Read;

use super::{ByteStream, Fault, HISTORY};

/// Bytes that are read at a time.
const CHUNK: usize = 256 * 1024;

/// A stream over a [`Read`], which cannot go back further than what is at hand: a pipe, a download.
#[derive(Debug)]
pub struct ReaderStream<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The window is `buffer[start..]`.
    start: usize,
    /// Position of the end of the buffer.
    read: u64,
    ended: bool,
    fault: Option<Fault>,
}

impl<R: Read> ReaderStream<R> {
    /// The bytes that `reader` gives, to its end.
    pub const fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, read: 0, ended: false, fault: None }
    }
}

impl<R: Read> ByteStream for ReaderStream<R> {
    fn window(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    fn fill(&mut self, least: usize) -> bool {
        if self.window().len() >= least || self.ended {
            return self.window().len() >= least;
        }
        let keep = self.start.saturating_sub(HISTORY);
        self.buffer.drain(..keep);
        self.start = self.start.saturating_sub(keep);
        let mut end = self.buffer.len();
        let target = self.start.saturating_add(least.max(CHUNK));
        self.buffer.resize(target.max(end), 0);
        while end < target && !self.ended {
            match self.reader.read(self.buffer.get_mut(end..target).unwrap_or_default()) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    end = end.saturating_add(count);
                    self.read = self.read.saturating_add(u64::try_from(count).unwrap_or(0));
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.ended = true;
                    self.fault = Some(Fault::Io);
                }
            }
        }
        self.buffer.truncate(end);
        self.window().len() >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let mut left = count;
        loop {
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(self.window().len());
            self.start = self.start.saturating_add(step);
            left = left.saturating_sub(u64::try_from(step).unwrap_or(0));
            if left == 0 || !self.fill(1) {
                return count.saturating_sub(left);
            }
        }
    }

    fn position(&self) -> u64 {
        self.read.saturating_sub(u64::try_from(self.window().len()).unwrap_or(0))
    }

    fn behind(&self) -> &[u8] {
        self.buffer.get(self.start.saturating_sub(HISTORY)..self.start).unwrap_or_default()
    }

    fn rewind(&mut self, position: u64) -> bool {
        let back = usize::try_from(self.position().saturating_sub(position)).unwrap_or(usize::MAX);
        match self.start.checked_sub(back) {
            Some(start) => {
                self.start = start;
                true
            }
            None => false,
        }
    }

    fn fault(&self) -> Option<Fault> {
        self.fault
    }
}
