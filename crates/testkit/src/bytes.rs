//! A growing byte buffer with the integers of both byte orders.

/// Bytes being written; offsets are from its start.
#[derive(Clone, Debug, Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Nothing written yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends raw bytes.
    pub fn put(&mut self, data: &[u8]) -> &mut Self {
        self.0.extend_from_slice(data);
        self
    }

    /// Appends `n` zero bytes.
    pub fn zeros(&mut self, n: usize) -> &mut Self {
        self.0.resize(self.0.len() + n, 0);
        self
    }

    /// Appends zero bytes up to a multiple of `n` (0 and 1: none).
    pub fn align(&mut self, n: usize) -> &mut Self {
        let to = if n > 1 { self.0.len().next_multiple_of(n) } else { self.0.len() };
        self.0.resize(to, 0);
        self
    }

    /// Appends a text and a NUL.
    pub fn cstr(&mut self, text: &str) -> &mut Self {
        self.put(text.as_bytes()).u8(0)
    }

    /// Appends one byte.
    pub fn u8(&mut self, v: u8) -> &mut Self {
        self.put(&[v])
    }

    /// Appends a little-endian integer.
    pub fn u16(&mut self, v: u16) -> &mut Self {
        self.put(&v.to_le_bytes())
    }

    /// Appends a little-endian integer.
    pub fn u32(&mut self, v: u32) -> &mut Self {
        self.put(&v.to_le_bytes())
    }

    /// Appends a little-endian integer.
    pub fn u64(&mut self, v: u64) -> &mut Self {
        self.put(&v.to_le_bytes())
    }

    /// Appends a big-endian integer.
    pub fn be32(&mut self, v: u32) -> &mut Self {
        self.put(&v.to_be_bytes())
    }

    /// Appends a big-endian integer.
    pub fn be64(&mut self, v: u64) -> &mut Self {
        self.put(&v.to_be_bytes())
    }

    /// Overwrites bytes already written at `at`.
    pub fn patch(&mut self, at: usize, data: &[u8]) -> &mut Self {
        self.0[at..at + data.len()].copy_from_slice(data);
        self
    }

    /// The name padded with zeros, or cut, to exactly `n` bytes.
    pub fn fixed(&mut self, name: &str, n: usize) -> &mut Self {
        let mut field = name.as_bytes().to_vec();
        field.resize(n, 0);
        self.put(&field)
    }
}

/// NUL-terminated names in one table, each stored once per call.
#[derive(Clone, Debug)]
pub(crate) struct Strings(pub(crate) Vec<u8>);

impl Strings {
    /// A table that starts with one NUL, as in ELF.
    pub(crate) fn elf() -> Self {
        Self(vec![0])
    }

    /// Adds a name and returns its offset; the empty name is offset 0.
    pub(crate) fn add(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.0.len() as u32;
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(0);
        at
    }
}

/// Little-endian readers for the unit tests of this crate.
#[cfg(test)]
pub(crate) mod read {
    pub(crate) fn u16(b: &[u8], at: usize) -> u16 {
        u16::from_le_bytes(b[at..at + 2].try_into().unwrap())
    }
    pub(crate) fn u32(b: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(b[at..at + 4].try_into().unwrap())
    }
    pub(crate) fn u64(b: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(b[at..at + 8].try_into().unwrap())
    }
    pub(crate) fn be32(b: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(b[at..at + 4].try_into().unwrap())
    }
}
