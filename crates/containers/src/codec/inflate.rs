use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::stream::{ByteStream, Fault, HISTORY};

/// Bytes that are inflated at first.
const FIRST: usize = 4096;
/// Bytes that are inflated at a time. Output that stays in the second-level cache makes inflating as fast as it can be.
const CHUNK: usize = 256 * 1024;

/// A stream that inflates another, the deflated bytes of a member, into a small buffer, which is used again and again.
///
/// The buffer grows only when [`ByteStream::fill`] is asked for more than it holds, and shrinks again afterwards. When
/// the end is reached without a step back, size and checksum are compared with what the archive states.
#[derive(Debug)]
pub struct Inflater<S> {
    input: S,
    /// Where the deflated bytes begin in `input`.
    base: u64,
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
    /// Bytes that the checksum has seen: what is read a second time does not count again.
    summed: u64,
    done: bool,
    fault: Option<Fault>,
}

impl<S: ByteStream> Inflater<S> {
    /// A stream over the raw deflate data that `input` has from its position on. With `exact`, the archive says that it
    /// unpacks to `stated` bytes; without, that is only as much as will be read. `checksum` is the CRC-32, where it is
    /// known.
    #[must_use]
    pub fn new(input: S, stated: u64, checksum: Option<u32>, exact: bool) -> Self {
        Self {
            base: input.position(),
            input,
            inflate: Decompress::new(false),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            produced: 0,
            stated,
            exact,
            checksum,
            crc: Crc::new(),
            summed: 0,
            done: false,
            fault: None,
        }
    }

    /// Inflates once into the free end of the buffer.
    fn pump(&mut self) {
        if self.input.window().is_empty() {
            self.input.fill(1);
        }
        let Some(output) = self.buffer.get_mut(self.end..) else { return };
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(self.input.window(), output, FlushDecompress::None);
        let taken = self.inflate.total_in().saturating_sub(before.0);
        let made = self.inflate.total_out().saturating_sub(before.1);
        let fresh = usize::try_from(made).unwrap_or(0).min(output.len());
        self.input.skip(taken);
        self.accept(fresh);
        match status {
            Ok(Status::StreamEnd) => self.finish(),
            Ok(Status::Ok | Status::BufError) if taken == 0 && made == 0 => {
                self.stop(self.input.fault().unwrap_or(Fault::Cut));
            }
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
        let seen = usize::try_from(self.summed.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        if let Some(fresh) = bytes.get(seen..).filter(|_| self.checksum.is_some()) {
            self.crc.update(fresh);
        }
        self.end = stop;
        self.produced = self.produced.saturating_add(u64::try_from(count).unwrap_or(0));
        self.summed = self.summed.max(self.produced);
        if count < fresh {
            self.stop(Fault::TooLong);
        }
    }

    fn finish(&mut self) {
        self.done = true;
        if self.fault.is_some() {
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

impl<S: ByteStream> ByteStream for Inflater<S> {
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

    fn rewind(&mut self, position: u64) -> bool {
        if let Some(back) = self.position().checked_sub(position) {
            let back = usize::try_from(back).unwrap_or(usize::MAX);
            if back <= self.start {
                self.start = self.start.saturating_sub(back);
                return true;
            }
        }
        if !self.input.rewind(self.base) {
            return false;
        }
        self.inflate.reset(false);
        self.start = 0;
        self.end = 0;
        self.produced = 0;
        self.done = false;
        self.skip(position);
        true
    }

    fn trim(&mut self) {
        // the window stays, and with it the next bytes
        if self.buffer.len() > CHUNK.saturating_mul(2) && self.window().len() <= CHUNK {
            let keep = self.start.saturating_sub(HISTORY);
            self.buffer = self.buffer.get(keep..self.end).unwrap_or_default().to_vec();
            self.start = self.start.saturating_sub(keep);
            self.end = self.end.saturating_sub(keep);
        }
        self.input.trim();
    }

    fn fault(&self) -> Option<Fault> {
        self.fault
    }
}
