use super::{ByteStream, Fault};

/// A stream that does not go back further than a few bytes behind it, and so is never unpacked a second time.
#[derive(Debug)]
pub struct Onward<S> {
    inner: S,
}

impl<S: ByteStream> Onward<S> {
    /// The rest of `inner`.
    pub const fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: ByteStream> ByteStream for Onward<S> {
    fn window(&self) -> &[u8] {
        self.inner.window()
    }

    fn fill(&mut self, least: usize) -> bool {
        self.inner.fill(least)
    }

    fn skip(&mut self, count: u64) -> u64 {
        self.inner.skip(count)
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    fn behind(&self) -> &[u8] {
        self.inner.behind()
    }

    fn rewind(&mut self, position: u64) -> bool {
        let back = self.position().saturating_sub(position);
        let near = u64::try_from(self.behind().len()).is_ok_and(|near| back <= near);
        near && self.inner.rewind(position)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        self.inner.as_slice()
    }

    fn is_packed(&self) -> bool {
        self.inner.is_packed()
    }

    fn trim(&mut self) {
        self.inner.trim();
    }

    fn fault(&self) -> Option<Fault> {
        self.inner.fault()
    }
}
