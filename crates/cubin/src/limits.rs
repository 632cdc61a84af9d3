use crate::{Error, ErrorKind};

/// How much of one image is kept in memory. What goes beyond is never left out in silence: the reading fails with
/// [`ErrorKind::Limit`].
///
/// A function takes 48 bytes, and some 70 more in a [`ResourceIndex`](crate::ResourceIndex); a section 56, and 16 more
/// there; a kernel of a PTX text 96. The largest image of PyTorch has some thousands of each.
///
/// Not a matter of choice is how many bytes of names are read from one image: four times its size. In an honest file no
/// two names lie on the same bytes, but for the ends of longer ones.
///
/// ```
/// # let data = testkit::Cubin::new("90").bytes();
/// let few = cubin::Limits::new(0, 1000);
/// assert_eq!(cubin::Functions::parse_within(&data, &few).unwrap_err().kind, cubin::ErrorKind::Limit);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Functions of a cubin, kernels of a PTX text, notes of tools.
    pub functions: usize,
    /// Sections of a cubin.
    pub sections: usize,
}

impl Limits {
    /// The limits of [`Limits::default`]: 1,048,576 of each.
    pub const DEFAULT: Self = Self::new(1 << 20, 1 << 20);

    /// Limits of so many functions and sections.
    #[must_use]
    pub const fn new(functions: usize, sections: usize) -> Self {
        Self { functions, sections }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

pub(crate) const REACHED: Error = Error { kind: ErrorKind::Limit, offset: 0 };

/// Bytes that may still be read of parts that can lie upon each other: without a bound, many small records that all point
/// at the same large part would take the product of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    /// So many times all of `data`.
    pub(crate) const fn of(data: &[u8], times: usize) -> Self {
        Self { left: data.len().saturating_mul(times) }
    }

    /// Takes `bytes` if there are so many.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(bytes).ok_or(REACHED)?;
        Ok(())
    }

    /// The bytes of `data` from `offset` to the next zero, `None` without such; the zero counts.
    pub(crate) fn string<'data>(&mut self, data: &'data [u8], offset: usize) -> Result<Option<&'data [u8]>, Error> {
        let Some(rest) = data.get(offset..) else { return Ok(None) };
        let end = memchr::memchr(0, rest.get(..self.left).unwrap_or(rest));
        self.take(end.unwrap_or(rest.len()))?;
        Ok(end.and_then(|end| rest.get(..end)))
    }
}
