/// The records of `.nv.info`, `.nv.info.KERNEL` and `.nv.compat`: `u8` format, `u8` attribute, then by format: 1 no
/// value, 2 a `u8`, 3 a `u16` (4 bytes in all), 4 a `u16` length and that many bytes. Observed.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'data> {
    rest: &'data [u8],
}

impl<'data> Attributes<'data> {
    /// The records in `data`; a cut or unknown record ends the iteration.
    #[must_use]
    pub const fn new(data: &'data [u8]) -> Self {
        Self { rest: data }
    }
}

impl<'data> Iterator for Attributes<'data> {
    /// Attribute code and its value bytes (empty, 2 for the short formats, or the long value).
    type Item = (u8, &'data [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[format, attribute, low, high], rest) = self.rest.split_first_chunk::<4>()?;
        match format {
            1..=3 => {
                let value = self.rest.get(2..4)?;
                self.rest = rest;
                Some((attribute, value))
            }
            4 => {
                let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([low, high])))?;
                self.rest = rest;
                Some((attribute, value))
            }
            _ => None,
        }
    }
}

/// Attribute 9 of a `.nv.compat` section or of its copy in a fatbin entry (`CUDA_ACCELERATOR_TARGET`): 1 means that the
/// code is for exactly one architecture, suffix `a`. `None` where the attribute is absent (CUDA 12.8 and 12.9).
#[must_use]
pub fn accelerator_target(compat: &[u8]) -> Option<u8> {
    Attributes::new(compat).filter(|(attribute, _)| *attribute == 9).find_map(|(_, value)| value.first().copied())
}
