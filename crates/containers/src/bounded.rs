use crate::stream::{ByteStream, Fault};

/// A part of a stream, from its current position on: one object of an archive, one slice of a universal binary.
#[derive(Debug)]
pub struct Bounded<'stream, S> {
    inner: &'stream mut S,
    start: u64,
    length: u64,
}

impl<'stream, S: ByteStream> Bounded<'stream, S> {
    /// The next `length` bytes of `inner`, or fewer where it ends before.
    pub fn new(inner: &'stream mut S, length: u64) -> Self {
        Self { start: inner.position(), length, inner }
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.position())
    }

    fn clip(&self, bytes: u64) -> usize {
        usize::try_from(bytes.min(self.left())).unwrap_or(usize::MAX)
    }
}

impl<S: ByteStream> ByteStream for Bounded<'_, S> {
    fn window(&self) -> &[u8] {
        let window = self.inner.window();
        window.get(..self.clip(u64::MAX)).unwrap_or(window)
    }

    fn fill(&mut self, least: usize) -> bool {
        let wanted = self.clip(u64::try_from(least).unwrap_or(u64::MAX));
        self.inner.fill(wanted);
        self.window().len() >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let count = count.min(self.left());
        self.inner.skip(count)
    }

    fn position(&self) -> u64 {
        self.inner.position().saturating_sub(self.start)
    }

    fn behind(&self) -> &[u8] {
        let behind = self.inner.behind();
        let own = usize::try_from(self.position()).unwrap_or(usize::MAX).min(behind.len());
        behind.get(behind.len().saturating_sub(own)..).unwrap_or_default()
    }

    fn rewind(&mut self, position: u64) {
        self.inner.rewind(self.start.saturating_add(position.min(self.length)));
    }

    fn as_slice(&self) -> Option<&[u8]> {
        let slice = self.inner.as_slice()?.get(usize::try_from(self.start).ok()?..)?;
        Some(slice.get(..usize::try_from(self.length).unwrap_or(usize::MAX)).unwrap_or(slice))
    }

    fn watch(&mut self, start: u64, length: usize) {
        self.inner.watch(self.start.saturating_add(start), length);
    }

    fn watched(&self) -> Vec<(u64, &[u8])> {
        let own = |(start, bytes): (u64, _)| Some((start.checked_sub(self.start)?, bytes));
        self.inner.watched().into_iter().filter_map(own).collect()
    }

    fn fault(&self) -> Option<Fault> {
        self.inner.fault()
    }
}
