use flate2::Crc;

use crate::stream::{ByteStream, Fault, HISTORY};

/// Bytes that are unpacked at first.
const FIRST: usize = 4096;
/// Bytes that are unpacked at a time. Output that stays in the second-level cache makes inflating as fast as it can be.
const CHUNK: usize = 256 * 1024;
/// Packed bytes that a decoder is shown at least, as far as there are so many: a header of a frame is whole.
pub(crate) const AHEAD: usize = 18;

/// How a decoder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It wants more bytes, or more room.
    More,
    /// What was packed ends here.
    End,
    /// It stops for good.
    Stop(Fault),
}

/// What one call of a decoder did.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Bytes that it took.
    pub taken: usize,
    /// Bytes that it made.
    pub made: usize,
    /// How it stands.
    pub state: State,
}

impl Step {
    pub(crate) const fn stop(fault: Fault) -> Self {
        Self { taken: 0, made: 0, state: State::Stop(fault) }
    }
}

/// What stands behind the end of a codec whose programs pass over it with a warning: the zeros of a tape are nothing, and
/// anything else is something that other programs may read.
pub(super) fn behind(input: &[u8]) -> Step {
    if input.iter().any(|byte| *byte != 0) {
        return Step::stop(Fault::Behind);
    }
    Step { taken: input.len(), made: 0, state: State::More }
}

/// Unpacks bytes that are pushed into it.
pub trait Decoder {
    /// Unpacks of `input`, which begins with at least [`AHEAD`] bytes unless it is the end, and is empty only there.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step;

    /// Whether what is packed may end where it stands now.
    fn may_end(&self) -> bool;

    /// Stands again where it began.
    fn restart(&mut self);
}

/// What is known of the bytes that come out.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// So many at the most.
    pub size: u64,
    /// Why no more: a lie, or a limit.
    pub more: Fault,
    /// So many at the least too.
    pub exact: bool,
    /// Their CRC-32.
    pub checksum: Option<u32>,
}

impl Expected {
    /// What an archive states of a member; without `known` the size is only the limit.
    #[must_use]
    pub const fn stated(size: u64, known: bool, checksum: Option<u32>) -> Self {
        Self { size, more: Fault::TooLong, exact: known, checksum }
    }

    /// Nothing but a limit.
    #[must_use]
    pub const fn most(size: u64) -> Self {
        Self { size, more: Fault::Ratio, exact: false, checksum: None }
    }
}

/// A stream that unpacks another into a small buffer, which is used again and again.
///
/// The buffer grows only when [`ByteStream::fill`] is asked for more than it holds, and shrinks again afterwards. When
/// the end is reached without a step back, size and checksum are compared with what is expected.
#[derive(Debug)]
pub struct Decoded<S, D> {
    input: S,
    /// Where the packed bytes begin in `input`.
    base: u64,
    decoder: D,
    buffer: Vec<u8>,
    /// The window is `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Position of `buffer[end]` in the stream.
    produced: u64,
    expected: Expected,
    crc: Crc,
    /// Bytes that the checksum has seen: what is read a second time does not count again.
    summed: u64,
    done: bool,
    fault: Option<Fault>,
}

impl<S: ByteStream, D: Decoder> Decoded<S, D> {
    pub(crate) fn over(input: S, decoder: D, expected: Expected) -> Self {
        Self {
            base: input.position(),
            input,
            decoder,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            produced: 0,
            expected,
            crc: Crc::new(),
            summed: 0,
            done: false,
            fault: None,
        }
    }

    /// Unpacks once into the free end of the buffer.
    fn pump(&mut self) {
        if self.input.window().len() < AHEAD {
            self.input.fill(AHEAD);
        }
        let Some(output) = self.buffer.get_mut(self.end..) else { return };
        let room = output.len();
        let step = self.decoder.decode(self.input.window(), output);
        let is_ended = self.input.window().is_empty();
        self.input.skip(u64::try_from(step.taken).unwrap_or(0));
        self.accept(step.made.min(room));
        match step.state {
            State::End => self.finish(),
            State::Stop(fault) => self.stop(fault),
            State::More if step.taken == 0 && step.made == 0 => {
                if is_ended && self.decoder.may_end() && self.input.fault().is_none() {
                    self.finish();
                } else {
                    self.stop(self.input.fault().unwrap_or(Fault::Cut));
                }
            }
            State::More => {}
        }
    }

    /// Takes `fresh` new bytes behind `end` into account.
    fn accept(&mut self, fresh: usize) {
        let room = usize::try_from(self.expected.size.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        let count = fresh.min(room);
        let stop = self.end.saturating_add(count);
        let bytes = self.buffer.get(self.end..stop).unwrap_or_default();
        let seen = usize::try_from(self.summed.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        if let Some(fresh) = bytes.get(seen..).filter(|_| self.expected.checksum.is_some()) {
            self.crc.update(fresh);
        }
        self.end = stop;
        self.produced = self.produced.saturating_add(u64::try_from(count).unwrap_or(0));
        self.summed = self.summed.max(self.produced);
        if count < fresh {
            self.stop(self.expected.more);
        }
    }

    fn finish(&mut self) {
        self.done = true;
        if self.fault.is_some() {
            return;
        }
        if self.expected.exact && self.produced < self.expected.size {
            self.fault = Some(Fault::TooShort);
        } else if self.expected.checksum.is_some_and(|checksum| checksum != self.crc.sum()) {
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

impl<S: ByteStream, D: Decoder> ByteStream for Decoded<S, D> {
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
        self.decoder.restart();
        self.start = 0;
        self.end = 0;
        self.produced = 0;
        self.done = false;
        self.skip(position);
        true
    }

    fn is_packed(&self) -> bool {
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
