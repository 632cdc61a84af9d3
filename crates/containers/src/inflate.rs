use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::stream::{ByteStream, Fault, HISTORY};

/// Bytes that are inflated at first.
const FIRST: usize = 4096;
/// Bytes that are inflated at a time. Output that stays in the second-level cache makes inflating as fast as it can be.
const CHUNK: usize = 256 * 1024;

/// A stream that inflates a deflated member into a small buffer, which is used again and again.
///
/// The buffer grows only when [`ByteStream::fill`] is asked for more than it holds, and shrinks again afterwards. When
/// the end is reached without a step back, size and checksum are compared with what the archive states.
#[derive(Debug)]
pub struct Inflater<'data> {
    input: &'data [u8],
    read: usize,
    inflate: Decompress,
    buffer: Vec<u8>,
    /// The window is `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Position of `buffer[end]` in the stream.
    produced: u64,
    stated: u64,
    exact: bool,
    checksum: Option<u32>,
    crc: Crc,
    replayed: bool,
    done: bool,
    fault: Option<Fault>,
    watches: Vec<Watch>,
}

#[derive(Debug)]
struct Watch {
    start: u64,
    length: usize,
    bytes: Vec<u8>,
}

impl<'data> Inflater<'data> {
    /// A stream over the raw deflate data `input`. With `exact`, the archive says that it unpacks to `stated` bytes;
    /// without, that is only as much as will be read. `checksum` is the CRC-32, where it is known.
    #[must_use]
    pub fn new(input: &'data [u8], stated: u64, checksum: Option<u32>, exact: bool) -> Self {
        Self {
            input,
            read: 0,
            inflate: Decompress::new(false),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            produced: 0,
            stated,
            exact,
            checksum,
            crc: Crc::new(),
            replayed: false,
            done: false,
            fault: None,
            watches: Vec::new(),
        }
    }

    /// Inflates once into the free end of the buffer.
    fn pump(&mut self) {
        let input = self.input.get(self.read..).unwrap_or_default();
        let Some(output) = self.buffer.get_mut(self.end..) else { return };
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, output, FlushDecompress::None);
        let taken = self.inflate.total_in().saturating_sub(before.0);
        let made = self.inflate.total_out().saturating_sub(before.1);
        self.read = self.read.saturating_add(usize::try_from(taken).unwrap_or(usize::MAX));
        let fresh = usize::try_from(made).unwrap_or(0).min(output.len());
        self.accept(fresh);
        match status {
            Ok(Status::StreamEnd) => self.finish(),
            Ok(Status::Ok | Status::BufError) if taken == 0 && made == 0 => self.stop(Fault::Cut),
            Ok(_) => {}
            Err(_) => self.stop(Fault::Deflate),
        }
    }

    /// Takes `fresh` new bytes behind `end` into account.
    fn accept(&mut self, fresh: usize) {
        let room = usize::try_from(self.stated.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        let count = fresh.min(room);
        let stop = self.end.saturating_add(count);
        let bytes = self.buffer.get(self.end..stop).unwrap_or_default();
        if !self.replayed && self.checksum.is_some() {
            self.crc.update(bytes);
        }
        for watch in &mut self.watches {
            watch.take(self.produced, bytes);
        }
        self.end = stop;
        self.produced = self.produced.saturating_add(u64::try_from(count).unwrap_or(0));
        if count < fresh {
            self.stop(Fault::TooLong);
        }
    }

    fn finish(&mut self) {
        self.done = true;
        if self.fault.is_some() || self.replayed {
            return;
        }
        if self.exact && self.produced < self.stated {
            self.fault = Some(Fault::TooShort);
        } else if self.checksum.is_some_and(|checksum| checksum != self.crc.sum()) {
            self.fault = Some(Fault::Checksum);
        }
    }

    fn stop(&mut self, fault: Fault) {
        self.done = true;
        self.fault.get_or_insert(fault);
    }

    /// Moves the window to the front, behind `HISTORY` bytes of the past, and makes room for `least` bytes of window.
    fn make_room(&mut self, least: usize) {
        let keep = self.start.saturating_sub(HISTORY);
        if keep > 0 {
            self.buffer.copy_within(keep..self.end, 0);
            self.start = self.start.saturating_sub(keep);
            self.end = self.end.saturating_sub(keep);
        }
        // most members of a wheel are texts, of which only the first bytes are looked at
        let chunk = if self.produced == 0 { FIRST.min(CHUNK) } else { CHUNK };
        let size = self.start.saturating_add(least).max(chunk);
        if self.buffer.len() < size || self.buffer.len() > size.saturating_mul(2).max(self.end) {
            self.buffer.resize(size.max(self.end), 0);
            self.buffer.shrink_to(size.max(self.end));
        }
    }
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

impl ByteStream for Inflater<'_> {
    fn window(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    fn fill(&mut self, least: usize) -> bool {
        if self.window().len() < least && !self.done {
            self.make_room(least);
            // a full buffer at a time, not a few bytes: the searches behind it want long windows
            while !self.done && self.end < self.buffer.len() {
                self.pump();
            }
        }
        self.window().len() >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let mut left = count;
        loop {
            let at_hand = u64::try_from(self.window().len()).unwrap_or(u64::MAX);
            let step = left.min(at_hand);
            self.start = self.start.saturating_add(usize::try_from(step).unwrap_or(usize::MAX)).min(self.end);
            left = left.saturating_sub(step);
            if left == 0 || !self.fill(1) {
                return count.saturating_sub(left);
            }
        }
    }

    fn position(&self) -> u64 {
        let at_hand = u64::try_from(self.window().len()).unwrap_or(u64::MAX);
        self.produced.saturating_sub(at_hand)
    }

    fn behind(&self) -> &[u8] {
        self.buffer.get(self.start.saturating_sub(HISTORY)..self.start).unwrap_or_default()
    }

    fn rewind(&mut self, position: u64) {
        if let Some(back) = self.position().checked_sub(position) {
            let back = usize::try_from(back).unwrap_or(usize::MAX);
            if back <= self.start {
                self.start = self.start.saturating_sub(back);
                return;
            }
        }
        self.inflate.reset(false);
        self.read = 0;
        self.start = 0;
        self.end = 0;
        self.produced = 0;
        self.replayed = true;
        self.done = false;
        self.skip(position);
    }

    fn watch(&mut self, start: u64, length: usize) {
        let oldest = self.produced.saturating_sub(u64::try_from(self.end).unwrap_or(u64::MAX));
        let Some(at) = start.checked_sub(oldest) else { return };
        let mut watch = Watch { start, length, bytes: Vec::new() };
        let at_hand = self.buffer.get(..self.end).unwrap_or_default();
        watch.take(start, usize::try_from(at).ok().and_then(|at| at_hand.get(at..)).unwrap_or_default());
        self.watches.push(watch);
    }

    fn watched(&self) -> Vec<(u64, &[u8])> {
        self.watches.iter().map(|watch| (watch.start, watch.bytes.as_slice())).collect()
    }

    fn fault(&self) -> Option<Fault> {
        self.fault
    }
}
