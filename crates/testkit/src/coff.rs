//! COFF objects (`.obj`), plain and bigobj; names over 8 bytes stand in the string table.

use crate::bytes::Bytes;
use crate::pe::machine;

/// An object file.
#[derive(Clone, Debug)]
pub struct Coff {
    /// See [`machine`].
    pub machine: u16,
    /// The `/bigobj` header (56 bytes, 32-bit section count).
    pub big: bool,
    /// Name and bytes, in file order.
    pub sections: Vec<(String, Vec<u8>)>,
}

const BIGOBJ_CLASS: [u8; 16] =
    [0xC7, 0xA1, 0xBA, 0xD1, 0xEE, 0xBA, 0xA9, 0x4B, 0xAF, 0x20, 0xFA, 0xF6, 0x6A, 0xA4, 0xDC, 0xB8];

impl Coff {
    /// An AMD64 object without sections.
    pub fn new() -> Self {
        Self { machine: machine::AMD64, big: false, sections: Vec::new() }
    }

    /// Uses the bigobj header.
    pub fn big(mut self) -> Self {
        self.big = true;
        self
    }

    /// Adds a readable data section.
    pub fn section(mut self, name: &str, data: &[u8]) -> Self {
        self.sections.push((name.to_owned(), data.to_vec()));
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let header = if self.big { 56 } else { 20 };
        let mut strings = Bytes::new();
        strings.u32(0);
        let mut names = Vec::new();
        for (name, _) in &self.sections {
            if name.len() > 8 {
                names.push(format!("/{}", strings.len()));
                strings.cstr(name);
            } else {
                names.push(name.clone());
            }
        }
        let size = strings.len() as u32;
        strings.patch(0, &size.to_le_bytes());
        let mut body = Bytes::new();
        body.zeros(header + 40 * self.sections.len());
        let mut rows = Bytes::new();
        for ((_, data), name) in self.sections.iter().zip(&names) {
            body.align(4);
            rows.fixed(name, 8).u32(0).u32(0).u32(data.len() as u32).u32(body.len() as u32);
            rows.u32(0).u32(0).u32(0).u32(0x4030_0040);
            body.put(data);
        }
        // no symbols: the string table stands where they would begin
        let symbols = body.align(4).len() as u32;
        body.put(&strings.0);
        let mut head = Bytes::new();
        let count = self.sections.len();
        if self.big {
            head.u16(0).u16(0xFFFF).u16(2).u16(self.machine).u32(0).put(&BIGOBJ_CLASS);
            head.zeros(16).u32(count as u32).u32(symbols).u32(0);
        } else {
            head.u16(self.machine).u16(count as u16).u32(0).u32(symbols).u32(0).u16(0).u16(0);
        }
        body.patch(0, &head.0).patch(header, &rows.0);
        body.0
    }
}

impl Default for Coff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{u16, u32};

    #[test]
    fn long_name_is_a_decimal_offset_into_the_string_table() {
        let b = Coff::new().section(".nv_fatbin", b"DATA").section(".nvFatBinSegment", b"W").bytes();
        assert_eq!((u16(&b, 0), u16(&b, 2)), (0x8664, 2));
        assert_eq!(&b[20..28], b"/4\0\0\0\0\0\0");
        assert_eq!(&b[60..68], b"/15\0\0\0\0\0");
        let strings = u32(&b, 8) as usize;
        assert_eq!(&b[strings + 4..strings + 15], b".nv_fatbin\0");
        assert_eq!(u32(&b, strings) as usize, b.len() - strings);
        let at = u32(&b, 20 + 20) as usize;
        assert_eq!((&b[at..at + 4], u32(&b, 20 + 16)), (&b"DATA"[..], 4));
    }

    #[test]
    fn bigobj_begins_with_its_signature() {
        let b = Coff::new().big().section(".nv_fatb", b"DATA").bytes();
        assert_eq!(b[..8], [0, 0, 0xFF, 0xFF, 2, 0, 0x64, 0x86]);
        assert_eq!((u32(&b, 44), &b[56..64]), (1, &b".nv_fatb"[..]));
    }
}
