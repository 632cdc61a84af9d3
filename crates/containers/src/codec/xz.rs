use core::fmt;

use lzma_rust2::{Action, Status, XzStream};

use super::decoded::{Decoder, State, Step};
use crate::budget::Lease;
use crate::stream::Fault;

/// Streams of xz, one or several; the check of each block (CRC-32, CRC-64, SHA-256) is compared by the decoder. A block may
/// have one filter before LZMA2.
pub(crate) struct Xz<'windows> {
    decoder: XzStream,
    ended: bool,
    /// Its dictionary.
    lease: Lease<'windows>,
}

impl<'windows> Xz<'windows> {
    pub(crate) fn new(lease: Lease<'windows>) -> Self {
        // no dictionary is made before the memory for it is granted
        Self { decoder: XzStream::new_mem_limit(true, 0), ended: false, lease }
    }
}

impl fmt::Debug for Xz<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xz").finish_non_exhaustive()
    }
}

impl Decoder for Xz<'_> {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let action = if input.is_empty() { Action::Finish } else { Action::Run };
        let before = (self.decoder.total_in(), self.decoder.total_out());
        let taken = |decoder: &XzStream| usize::try_from(decoder.total_in().saturating_sub(before.0)).unwrap_or(0);
        // what came before an error came
        let made = |decoder: &XzStream| usize::try_from(decoder.total_out().saturating_sub(before.1)).unwrap_or(0);
        loop {
            let rest = input.get(taken(&self.decoder)..).unwrap_or_default();
            match self.decoder.process(rest, output, action) {
                Ok(done) => {
                    self.ended = done.status == Status::StreamEnd;
                    let state = if self.ended { State::End } else { State::More };
                    return Step { taken: taken(&self.decoder), made: made(&self.decoder), state };
                }
                Err(_) => {
                    let needed = self.decoder.memory_usage().unwrap_or(0);
                    if needed <= self.decoder.mem_limit() {
                        let fault = if input.is_empty() { Fault::Cut } else { Fault::Packed };
                        return Step {
                            taken: taken(&self.decoder),
                            made: made(&self.decoder),
                            state: State::Stop(fault),
                        };
                    }
                    if !self.lease.grow(u64::from(needed).saturating_mul(1024)) {
                        return Step::stop(Fault::Window);
                    }
                    self.decoder.set_mem_limit(needed);
                }
            }
        }
    }

    fn may_end(&self) -> bool {
        self.ended
    }

    fn restart(&mut self) {
        self.decoder = XzStream::new_mem_limit(true, 0);
        self.ended = false;
    }
}
