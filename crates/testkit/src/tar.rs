//! A tar archive, as in POSIX.1-1988 (`ustar`), POSIX.1-2001 (`pax`) and GNU tar.

/// A tar archive under construction.
#[derive(Clone, Debug, Default)]
pub struct Tar {
    bytes: Vec<u8>,
}

/// A header whose checksum is right, whatever the fields say.
pub fn header(name: &str, size: &[u8], kind: u8, link: &str) -> [u8; 512] {
    let mut block = [0u8; 512];
    block[..name.len().min(100)].copy_from_slice(&name.as_bytes()[..name.len().min(100)]);
    block[100..108].copy_from_slice(b"0000644\0");
    block[108..116].copy_from_slice(b"0000000\0");
    block[116..124].copy_from_slice(b"0000000\0");
    block[124..124 + size.len()].copy_from_slice(size);
    block[136..148].copy_from_slice(b"00000000000\0");
    block[156] = kind;
    block[157..157 + link.len()].copy_from_slice(link.as_bytes());
    block[257..265].copy_from_slice(b"ustar\x0000");
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// A size field: octal with a NUL.
pub fn octal(size: usize) -> Vec<u8> {
    format!("{size:011o}\0").into_bytes()
}

/// A size field of GNU: 0x80 and a big-endian number.
pub fn base_256(size: u64) -> Vec<u8> {
    let mut field = vec![0x80, 0, 0, 0];
    field.extend(size.to_be_bytes());
    field
}

/// One pax record, its length in front.
pub fn pax_record(key: &str, value: &str) -> String {
    let body = format!(" {key}={value}\n");
    let mut length = body.len() + 1;
    while length.to_string().len() + body.len() != length {
        length += 1;
    }
    format!("{length}{body}")
}

impl Tar {
    /// No entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes, filled up to a block.
    fn data(&mut self, data: &[u8]) {
        self.bytes.extend(data);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
    }

    /// An entry of any type, with any field for the size.
    pub fn entry(mut self, name: &str, size: &[u8], kind: u8, link: &str, data: &[u8]) -> Self {
        self.bytes.extend(header(name, size, kind, link));
        self.data(data);
        self
    }

    /// A file.
    pub fn file(self, name: &str, data: &[u8]) -> Self {
        self.entry(name, &octal(data.len()), b'0', "", data)
    }

    /// A file whose name GNU tar keeps in an entry before it.
    pub fn gnu_long(self, name: &str, data: &[u8]) -> Self {
        let long = [name.as_bytes(), b"\0"].concat();
        let cut = &name[..name.len().min(100)];
        self.entry("././@LongLink", &octal(long.len()), b'L', "", &long).file(cut, data)
    }

    /// Records of pax for the entry that follows.
    pub fn pax(self, records: &[(&str, &str)]) -> Self {
        let text: String = records.iter().map(|(key, value)| pax_record(key, value)).collect();
        self.entry("PaxHeaders/x", &octal(text.len()), b'x', "", text.as_bytes())
    }

    /// A hard link to `target`.
    pub fn hard_link(self, name: &str, target: &str) -> Self {
        self.entry(name, &octal(0), b'1', target, &[])
    }

    /// The archive without its end.
    pub fn without_end(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// The archive with the two blocks of zeros at its end.
    pub fn bytes(&self) -> Vec<u8> {
        [self.bytes.as_slice(), &[0; 1024]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_its_own_length() {
        assert_eq!(pax_record("path", "a"), "9 path=a\n");
        assert_eq!(pax_record("path", "ab"), "11 path=ab\n");
        assert_eq!(pax_record("path", &"a".repeat(90)).len(), 99);
        assert!(pax_record("path", &"a".repeat(91)).starts_with("101 path="));
    }

    #[test]
    fn sizes_are_octal_or_binary() {
        assert_eq!(octal(8), b"00000000010\0");
        assert_eq!(base_256(258), [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
    }
}
