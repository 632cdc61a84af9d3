use flate2::{Decompress, FlushDecompress, Status};

use super::decoded::{Decoded, Decoder, Expected, State, Step, behind};
use crate::stream::{ByteStream, Fault};

/// Raw deflate (RFC 1951).
#[derive(Debug)]
pub struct Deflate {
    inflate: Decompress,
}

/// A stream that inflates another, the deflated bytes of a member.
pub type Inflater<S> = Decoded<S, Deflate>;

impl<S: ByteStream> Inflater<S> {
    /// A stream over the raw deflate data that `input` has from its position on. With `exact`, the archive says that it
    /// unpacks to `stated` bytes; without, that is only as much as will be read. `checksum` is the CRC-32, where it is
    /// known.
    #[must_use]
    pub fn new(input: S, stated: u64, checksum: Option<u32>, exact: bool) -> Self {
        Self::over(input, Deflate { inflate: Decompress::new(false) }, Expected::stated(stated, exact, checksum))
    }
}

fn inflate(inflate: &mut Decompress, input: &[u8], output: &mut [u8]) -> (Step, bool) {
    let before = (inflate.total_in(), inflate.total_out());
    let status = inflate.decompress(input, output, FlushDecompress::None);
    let count = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(0);
    let (taken, made) = (count(inflate.total_in(), before.0), count(inflate.total_out(), before.1));
    let state = if status.is_err() { State::Stop(Fault::Deflate) } else { State::More };
    (Step { taken, made, state }, matches!(status, Ok(Status::StreamEnd)))
}

impl Decoder for Deflate {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let (step, ends) = inflate(&mut self.inflate, input, output);
        if ends { Step { state: State::End, ..step } } else { step }
    }

    fn may_end(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        self.inflate.reset(false);
    }
}

/// Members of gzip (RFC 1952), one or several; size and checksum of each are compared by the decoder.
#[derive(Debug)]
pub(crate) struct Gzip {
    inflate: Decompress,
    /// A member has ended.
    between: bool,
    /// Zeros stand behind it.
    padded: bool,
}

impl Gzip {
    pub(crate) fn new() -> Self {
        Self { inflate: Decompress::new_gzip(15), between: false, padded: false }
    }
}

impl Decoder for Gzip {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.between {
            if self.padded || !input.starts_with(&[0x1f, 0x8b]) {
                self.padded = true;
                return behind(input);
            }
            self.restart();
        }
        let (step, ends) = inflate(&mut self.inflate, input, output);
        self.between = ends;
        match step.state {
            State::Stop(_) => Step { state: State::Stop(Fault::Packed), ..step },
            _ => step,
        }
    }

    fn may_end(&self) -> bool {
        self.between
    }

    fn restart(&mut self) {
        // with a header, as it was made
        self.inflate.reset(true);
        self.between = false;
        self.padded = false;
    }
}
