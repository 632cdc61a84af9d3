//! The checksum of a PE image that is written anew.

use std::io::{self, Write};

/// Bytes of the checksum.
const SIZE: u64 = 4;

/// Sums up what passes as `CheckSumMappedFile` of Microsoft's ImageHlp does: words of 16 bits, little-endian, with the carry added
/// to the sum, the field itself as zero, and the bytes of the file added at the end.
pub(super) struct Checksum {
    at: u64,
    position: u64,
    sum: u64,
    is_set: bool,
}

impl Checksum {
    /// For an image whose checksum stands at `at`.
    pub(super) const fn new(at: u64) -> Self {
        Self { at, position: 0, sum: 0, is_set: false }
    }

    /// The checksum of what passed; nothing where the image states none, as most do.
    pub(super) fn value(&self) -> Option<u32> {
        let mut sum = self.sum;
        while sum > 0xffff {
            sum = (sum & 0xffff).saturating_add(sum >> 16);
        }
        // of a file of 4 GiB and more the low bits count, as in a word of 32
        let whole = sum.wrapping_add(self.position) & u64::from(u32::MAX);
        self.is_set.then_some(u32::try_from(whole).unwrap_or(0))
    }
}

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            let is_field = self.position.checked_sub(self.at).is_some_and(|index| index < SIZE);
            if is_field {
                self.is_set |= *byte != 0;
            } else {
                let shift = if self.position & 1 == 0 { 0 } else { 8 };
                self.sum = self.sum.wrapping_add(u64::from(*byte) << shift);
            }
            self.position = self.position.saturating_add(1);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands all on but the checksum, which is another one.
pub(super) struct Patched<'a> {
    pub(super) out: &'a mut dyn Write,
    pub(super) at: u64,
    pub(super) value: u32,
    pub(super) position: u64,
}

impl Write for Patched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.position.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if end <= self.at || self.position >= self.at.saturating_add(SIZE) {
            self.out.write_all(bytes)?;
        } else {
            let value = self.value.to_le_bytes();
            let mut own = bytes.to_vec();
            for (place, byte) in (self.position..end).zip(own.iter_mut()) {
                let index = place.checked_sub(self.at).and_then(|index| usize::try_from(index).ok());
                if let Some(new) = index.and_then(|index| value.get(index)) {
                    *byte = *new;
                }
            }
            self.out.write_all(&own)?;
        }
        self.position = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn words_are_summed_with_their_carry_and_the_bytes_added() {
        // 0xffff + 0x0002 = 0x10001, with its carry 0x0002; the field counts as zero; an odd byte is a word; 9 bytes
        let bytes = [0xff, 0xff, 0x02, 0x00, 0x11, 0x22, 0x33, 0x44, 0x05];
        for step in 1..bytes.len() {
            let mut sum = Checksum::new(4);
            bytes.chunks(step).for_each(|own| sum.write_all(own).unwrap());
            assert_eq!(sum.value(), Some(2 + 5 + 9), "{step}");
            let mut out = Vec::new();
            let mut patched = Patched { out: &mut out, at: 4, value: 0x0403_0201, position: 0 };
            bytes.chunks(step).for_each(|own| patched.write_all(own).unwrap());
            assert_eq!(out, [0xff, 0xff, 0x02, 0x00, 1, 2, 3, 4, 0x05], "{step}");
        }
        let mut none = Checksum::new(0);
        none.write_all(&[0, 0, 0, 0, 9]).unwrap();
        assert_eq!(none.value(), None);
    }
}
