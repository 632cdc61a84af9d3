use super::{ByteStream, Fault};

/// A part of a stream, from its current position on: one object of an archive, one slice of a universal binary.
#[derive(Debug)]
pub struct Bounded<S> {
    inner: S,
    start: u64,
    length: u64,
}

impl<S: ByteStream> Bounded<S> {
    /// The next `length` bytes of `inner`, or fewer where it ends before.
    pub fn new(inner: S, length: u64) -> Self {
        Self { start: inner.position(), length, inner }
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.position())
    }

    fn clip(&self, bytes: u64) -> usize {
        usize::try_from(bytes.min(self.left())).unwrap_or(usize::MAX)
    }
}

impl<S: ByteStream> ByteStream for Bounded<S> {
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

    fn rewind(&mut self, position: u64) -> bool {
        self.inner.rewind(self.start.saturating_add(position.min(self.length)))
    }

    fn as_slice(&self) -> Option<&[u8]> {
        let slice = self.inner.as_slice()?.get(usize::try_from(self.start).ok()?..)?;
        Some(slice.get(..usize::try_from(self.length).unwrap_or(usize::MAX)).unwrap_or(slice))
    }

    fn is_packed(&self) -> bool {
        self.inner.is_packed()
    }

    fn trim(&mut self) {
        self.inner.trim();
    }

    fn fault(&self) -> Option<Fault> {
        // what is behind the part is not its concern
        let at_hand = u64::try_from(self.window().len()).unwrap_or(u64::MAX);
        self.inner.fault().filter(|_| self.left() > at_hand)
    }
}
