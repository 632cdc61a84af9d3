use super::{ByteStream, Fault, HISTORY};

/// A stream over bytes in memory: a mapped file or a stored member.
#[derive(Clone, Copy, Debug)]
pub struct SliceStream<'data> {
    data: &'data [u8],
    position: usize,
}

impl<'data> SliceStream<'data> {
    /// A stream at the start of `data`.
    #[must_use]
    pub const fn new(data: &'data [u8]) -> Self {
        Self { data, position: 0 }
    }
}

impl ByteStream for SliceStream<'_> {
    fn window(&self) -> &[u8] {
        self.data.get(self.position..).unwrap_or_default()
    }

    fn fill(&mut self, least: usize) -> bool {
        self.window().len() >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let left = self.window().len();
        let step = usize::try_from(count).unwrap_or(usize::MAX).min(left);
        self.position = self.position.saturating_add(step);
        u64::try_from(step).unwrap_or(u64::MAX)
    }

    fn position(&self) -> u64 {
        u64::try_from(self.position).unwrap_or(u64::MAX)
    }

    fn behind(&self) -> &[u8] {
        self.data.get(self.position.saturating_sub(HISTORY)..self.position).unwrap_or_default()
    }

    fn rewind(&mut self, position: u64) -> bool {
        self.position = usize::try_from(position).unwrap_or(usize::MAX).min(self.data.len());
        true
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self.data)
    }

    fn fault(&self) -> Option<Fault> {
        None
    }
}
