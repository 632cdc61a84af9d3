use super::{ByteStream, Fault};

/// A stream that keeps copies of some ranges of another while they pass: of an object in an archive, which is read once,
/// the tables that its first bytes announce. What it keeps is dropped with it. Of a slice it keeps nothing: its bytes can
/// be had at any time.
#[derive(Debug)]
pub struct Tap<S> {
    inner: S,
    watches: Vec<Watch>,
    /// Bytes that may still be asked for.
    room: usize,
}

#[derive(Debug)]
struct Watch {
    start: u64,
    length: usize,
    bytes: Vec<u8>,
}

impl Watch {
    fn take(&mut self, at: u64, bytes: &[u8]) {
        let next = self.start.saturating_add(u64::try_from(self.bytes.len()).unwrap_or(u64::MAX));
        let left = self.length.saturating_sub(self.bytes.len());
        let Some(skip) = next.checked_sub(at).and_then(|skip| usize::try_from(skip).ok()) else { return };
        if let Some(part) = bytes.get(skip..) {
            self.bytes.extend_from_slice(part.get(..left).unwrap_or(part));
        }
    }
}

impl<S: ByteStream> Tap<S> {
    /// A tap on `inner` that keeps at most `room` bytes.
    pub fn new(inner: S, room: usize) -> Self {
        Self { inner, watches: Vec::new(), room }
    }

    /// Asks to keep the bytes from `start` on, `length` of them. `false`: they have passed, or there is no room for them.
    pub fn watch(&mut self, start: u64, length: usize) -> bool {
        if self.inner.as_slice().is_some() {
            return true;
        }
        let Some(room) = self.room.checked_sub(length).filter(|_| start >= self.inner.position()) else { return false };
        self.room = room;
        self.watches.push(Watch { start, length, bytes: Vec::new() });
        true
    }

    /// The bytes of a range, if one copy holds them all.
    pub fn kept(&self, start: u64, length: usize) -> Option<&[u8]> {
        self.watches.iter().find_map(|watch| {
            let at = usize::try_from(start.checked_sub(watch.start)?).ok()?;
            watch.bytes.get(at..at.checked_add(length)?)
        })
    }

    /// Keeps what is at hand at the position `start`, as far as there is room.
    pub fn keep(&mut self, start: u64, bytes: Vec<u8>) {
        if let Some(room) = self.room.checked_sub(bytes.len()) {
            self.room = room;
            self.watches.push(Watch { start, length: bytes.len(), bytes });
        }
    }
}

impl<S: ByteStream> ByteStream for Tap<S> {
    fn window(&self) -> &[u8] {
        self.inner.window()
    }

    fn fill(&mut self, least: usize) -> bool {
        self.inner.fill(least)
    }

    fn skip(&mut self, count: u64) -> u64 {
        if self.watches.is_empty() {
            return self.inner.skip(count);
        }
        let mut left = count;
        loop {
            let position = self.inner.position();
            let window = self.inner.window();
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(window.len());
            let passing = window.get(..step).unwrap_or_default();
            for watch in &mut self.watches {
                watch.take(position, passing);
            }
            let stepped = self.inner.skip(u64::try_from(step).unwrap_or(0));
            left = left.saturating_sub(stepped);
            if left == 0 || !self.inner.fill(1) {
                return count.saturating_sub(left);
            }
        }
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    fn behind(&self) -> &[u8] {
        self.inner.behind()
    }

    fn rewind(&mut self, position: u64) -> bool {
        self.inner.rewind(position)
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
