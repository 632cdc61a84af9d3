use core::fmt;

use zstd::stream::raw::{DParameter, Decoder as Zstandard, Operation};

use super::decoded::{Decoder, State, Step};
use crate::budget::Lease;
use crate::stream::Fault;

/// Frames of zstd (RFC 8878), one or several, skippable ones among them; the checksum of each is compared by the decoder.
pub(crate) struct Zstd<'windows> {
    decoder: Option<Zstandard<'static>>,
    /// No frame is open.
    between: bool,
    /// Its window.
    lease: Lease<'windows>,
}

/// Memory of a decoder beside its window: a block of input, one of output, and its tables.
const BESIDE: u64 = 512 << 10;
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The largest window that the format's decoder takes.
const WINDOW_LOG: u32 = 31;

impl<'windows> Zstd<'windows> {
    pub(crate) fn new(lease: Lease<'windows>) -> Self {
        Self { decoder: decoder(), between: true, lease }
    }
}

fn decoder() -> Option<Zstandard<'static>> {
    let mut decoder = Zstandard::new().ok()?;
    // the lease is the limit
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG)).ok()?;
    Some(decoder)
}

/// Bytes of the window of the frame that begins here: a descriptor of `1 << (10 + exponent)` and eighths of it, or the size
/// of the content of a frame in one segment. `None` where no frame begins.
fn window(start: &[u8]) -> Option<u64> {
    let (magic, rest) = start.split_first_chunk::<4>()?;
    if *magic != MAGIC {
        // a skippable frame: 16 magics in a row
        return (magic.first()? & 0xf0 == 0x50 && magic.get(1..) == Some(&[0x2a, 0x4d, 0x18])).then_some(0);
    }
    let descriptor = *rest.first()?;
    if descriptor & 0x20 == 0 {
        let own = *rest.get(1)?;
        let base = 1u64 << (10u32.saturating_add(u32::from(own >> 3)));
        return Some(base.saturating_add((base / 8).saturating_mul(u64::from(own & 7))));
    }
    let dictionary = [0usize, 1, 2, 4].get(usize::from(descriptor & 3)).copied()?;
    let size = rest.get(1usize.saturating_add(dictionary)..)?;
    match descriptor >> 6 {
        0 => size.first().map(|size| u64::from(*size)),
        1 => size.first_chunk().map(|size| u64::from(u16::from_le_bytes(*size)).saturating_add(256)),
        2 => size.first_chunk().map(|size| u64::from(u32::from_le_bytes(*size))),
        _ => size.first_chunk().map(|size| u64::from_le_bytes(*size)),
    }
}

impl fmt::Debug for Zstd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zstd").finish_non_exhaustive()
    }
}

impl Decoder for Zstd<'_> {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.between && !input.is_empty() {
            let Some(window) = window(input) else {
                return Step::stop(if input.len() < 4 { Fault::Cut } else { Fault::Packed });
            };
            if !self.lease.grow(window.saturating_add(BESIDE)) {
                return Step::stop(Fault::Window);
            }
            self.between = false;
        }
        let Some(decoder) = &mut self.decoder else { return Step::stop(Fault::Window) };
        match decoder.run_on_buffers(input, output) {
            Ok(status) => {
                // 0: a frame has ended, and all of it is out
                self.between |= status.remaining == 0;
                Step { taken: status.bytes_read, made: status.bytes_written, state: State::More }
            }
            Err(_) => Step::stop(Fault::Packed),
        }
    }

    fn may_end(&self) -> bool {
        self.between
    }

    fn restart(&mut self) {
        self.decoder = decoder();
        self.between = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_rfc_8878() {
        let frame = |rest: &[u8]| window(&[MAGIC.as_slice(), rest].concat());
        // exponent 13, mantissa 0: 8 MiB; mantissa 7: 7 eighths more
        assert_eq!(frame(&[0x00, 13 << 3]), Some(8 << 20));
        assert_eq!(frame(&[0x04, (13 << 3) | 7]), Some((8 << 20) / 8 * 15));
        // one segment: content sizes of 1, 2 (plus 256), 4 and 8 bytes, and behind a dictionary's number
        assert_eq!(frame(&[0x20, 9]), Some(9));
        assert_eq!(frame(&[0x60, 1, 0]), Some(257));
        assert_eq!(frame(&[0xa0, 0, 0, 1, 0]), Some(1 << 16));
        assert_eq!(frame(&[0xe0, 0, 0, 0, 0, 1, 0, 0, 0]), Some(1 << 32));
        assert_eq!(frame(&[0x23, 1, 2, 3, 4, 7]), Some(7));
        assert_eq!(window(&[0x5f, 0x2a, 0x4d, 0x18, 1]), Some(0));
        assert_eq!(window(b"plain text"), None);
        assert_eq!(window(&MAGIC), None);
    }
}
