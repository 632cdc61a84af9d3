use super::{ByteStream, Fault};

/// A stream that goes back further than a few bytes only as long as what has to be unpacked again for it stays below a
/// limit, in all.
#[derive(Debug)]
pub struct Onward<S> {
    inner: S,
    /// Bytes that may still be unpacked again.
    again: u64,
}

impl<S: ByteStream> Onward<S> {
    /// The rest of `inner`, of which `again` bytes may be unpacked again.
    pub const fn new(inner: S, again: u64) -> Self {
        Self { inner, again }
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
        if u64::try_from(self.behind().len()).is_ok_and(|near| back <= near) {
            return self.inner.rewind(position);
        }
        // from the start to here, and then on to where it was
        let Some(left) = self.again.checked_sub(self.position()).filter(|_| self.inner.rewind(position)) else {
            return false;
        };
        self.again = left;
        true
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
