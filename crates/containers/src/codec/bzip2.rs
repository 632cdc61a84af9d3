use core::fmt;

use bzip2::{Decompress, Status};

use super::decoded::{Decoder, State, Step, behind};
use crate::budget::Lease;
use crate::stream::Fault;

/// Streams of bzip2, one or several; the checksum of each block and of the whole is compared by the decoder.
pub(crate) struct Bzip2<'windows> {
    decoder: Decompress,
    between: bool,
    /// Zeros stand behind it.
    padded: bool,
    /// Its memory.
    lease: Lease<'windows>,
}

/// Memory of a decoder at the most: four bytes for each of a block, and its tables.
const MEMORY: u64 = 4 << 20;

impl<'windows> Bzip2<'windows> {
    pub(crate) fn new(lease: Lease<'windows>) -> Self {
        Self { decoder: Decompress::new(false), between: false, padded: false, lease }
    }
}

impl fmt::Debug for Bzip2<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bzip2").finish_non_exhaustive()
    }
}

impl Decoder for Bzip2<'_> {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if !self.lease.grow(MEMORY) {
            return Step::stop(Fault::Window);
        }
        if self.between {
            if self.padded || !input.starts_with(b"BZh") {
                self.padded = true;
                return behind(input);
            }
            self.restart();
        }
        let before = (self.decoder.total_in(), self.decoder.total_out());
        let status = self.decoder.decompress(input, output);
        let count = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(0);
        let taken = count(self.decoder.total_in(), before.0);
        let made = count(self.decoder.total_out(), before.1);
        self.between = matches!(status, Ok(Status::StreamEnd));
        let state = match status {
            Ok(Status::MemNeeded) => State::Stop(Fault::Window),
            Ok(_) => State::More,
            Err(_) => State::Stop(Fault::Packed),
        };
        Step { taken, made, state }
    }

    fn may_end(&self) -> bool {
        self.between
    }

    fn restart(&mut self) {
        self.decoder = Decompress::new(false);
        self.between = false;
        self.padded = false;
    }
}
