//! PE32 and PE32+ images (`.dll`, `.pyd`).

use crate::bytes::Bytes;

/// Machine words of the COFF header.
pub mod machine {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const I386: u16 = 0x14C;
    pub const AMD64: u16 = 0x8664;
    pub const ARM64: u16 = 0xAA64;
}

const FILE_ALIGN: usize = 512;
const PAGE: u32 = 4096;
const HEADER_OFFSET: usize = 0x80;

/// One section.
#[derive(Clone, Debug)]
pub struct PeSection {
    /// Cut to 8 bytes, as linkers do for images.
    pub name: String,
    /// Bytes in use.
    pub data: Vec<u8>,
    /// Replaces VirtualSize (default: bytes in use).
    pub virtual_size: Option<u32>,
    /// Replaces SizeOfRawData (default: bytes in use, rounded up to 512).
    pub raw_size: Option<u32>,
    /// Initialised data, readable.
    pub characteristics: u32,
    /// What fills the rest of the last 512 bytes.
    pub fill: u8,
}

/// An image.
#[derive(Clone, Debug)]
pub struct Pe {
    /// PE32+ (64-bit), else PE32.
    pub plus: bool,
    /// See [`machine`].
    pub machine: u16,
    /// The DLL bit.
    pub dll: bool,
    /// In file order.
    pub sections: Vec<PeSection>,
    /// Imported libraries, each with one function; any makes `.idata`.
    pub imports: Vec<String>,
    /// Delay-loaded libraries; any makes `.didat`.
    pub delay_imports: Vec<String>,
}

impl Pe {
    /// A PE32+ DLL for AMD64.
    pub fn dll() -> Self {
        Self {
            plus: true,
            machine: machine::AMD64,
            dll: true,
            sections: Vec::new(),
            imports: Vec::new(),
            delay_imports: Vec::new(),
        }
    }

    /// A PE32 DLL for i386.
    pub fn dll32() -> Self {
        Self { plus: false, machine: machine::I386, ..Self::dll() }
    }

    /// Adds a readable data section.
    pub fn section(mut self, name: &str, data: &[u8]) -> Self {
        self.sections.push(PeSection {
            name: name.to_owned(),
            data: data.to_vec(),
            virtual_size: None,
            raw_size: None,
            characteristics: 0x4000_0040,
            fill: 0,
        });
        self
    }

    /// Adds an imported library.
    pub fn imports(mut self, library: &str) -> Self {
        self.imports.push(library.to_owned());
        self
    }

    /// Adds a delay-loaded library.
    pub fn delay_imports(mut self, library: &str) -> Self {
        self.delay_imports.push(library.to_owned());
        self
    }

    /// Lookup table, address table, hint and name, library name at `rva`; returns their addresses.
    fn thunks(&self, out: &mut Bytes, rva: u32, library: &str) -> (u32, u32, u32) {
        let at = |out: &Bytes| rva + out.len() as u32;
        let hint = at(out);
        out.u16(0).cstr("entry").align(2);
        let name = at(out);
        out.cstr(library).align(8);
        let mut tables = [0; 2];
        for table in &mut tables {
            *table = at(out);
            if self.plus {
                out.u64(u64::from(hint)).u64(0);
            } else {
                out.u32(hint).u32(0);
            }
        }
        (tables[0], tables[1], name)
    }

    fn import_section(&self, rva: u32) -> Vec<u8> {
        let rows = (self.imports.len() + 1) * 20;
        let (mut head, mut body) = (Bytes::new(), Bytes::new());
        body.zeros(rows);
        for library in &self.imports {
            let (lookup, address, name) = self.thunks(&mut body, rva, library);
            head.u32(lookup).u32(0).u32(0).u32(name).u32(address);
        }
        body.patch(0, &head.0);
        body.0
    }

    fn delay_section(&self, rva: u32) -> Vec<u8> {
        let rows = (self.delay_imports.len() + 1) * 32;
        let (mut head, mut body) = (Bytes::new(), Bytes::new());
        body.zeros(rows);
        for library in &self.delay_imports {
            let (lookup, address, name) = self.thunks(&mut body, rva, library);
            head.u32(1).u32(name).u32(0).u32(address).u32(lookup).u32(0).u32(0).u32(0);
        }
        body.patch(0, &head.0);
        body.0
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let span = |s: &PeSection| (s.virtual_size.unwrap_or(s.data.len() as u32)).max(1).next_multiple_of(PAGE);
        let mut sections = self.sections.clone();
        let mut next: u32 = PAGE + sections.iter().map(span).sum::<u32>();
        let (mut import_dir, mut delay_dir) = ((0, 0), (0, 0));
        let holder = Self { sections: Vec::new(), ..self.clone() };
        if !self.imports.is_empty() {
            let data = self.import_section(next);
            import_dir = (next, 20 * (self.imports.len() as u32 + 1));
            sections.extend(holder.clone().section(".idata", &data).sections);
            next += (data.len() as u32).next_multiple_of(PAGE);
        }
        if !self.delay_imports.is_empty() {
            let data = self.delay_section(next);
            delay_dir = (next, 32 * (self.delay_imports.len() as u32 + 1));
            sections.extend(holder.section(".didat", &data).sections);
            next += (data.len() as u32).next_multiple_of(PAGE);
        }
        let optional_size = if self.plus { 240 } else { 224 };
        let header_size = (HEADER_OFFSET + 24 + optional_size + sections.len() * 40).next_multiple_of(FILE_ALIGN);

        let mut out = Bytes::new();
        out.put(b"MZ").zeros(0x3A).u32(HEADER_OFFSET as u32).zeros(HEADER_OFFSET - 0x40);
        out.put(b"PE\0\0").u16(self.machine).u16(sections.len() as u16).u32(0).u32(0).u32(0);
        // executable, 32-bit or large address aware, DLL
        let width = if self.plus { 0x20 } else { 0x100 };
        out.u16(optional_size as u16).u16(0x2 | width | if self.dll { 0x2000 } else { 0 });
        self.optional_header(&mut out, next, header_size as u32, import_dir, delay_dir);
        let (mut rva, mut raw) = (PAGE, header_size as u32);
        for section in &sections {
            let size = section.data.len() as u32;
            let raw_size = size.next_multiple_of(FILE_ALIGN as u32);
            out.fixed(&section.name, 8).u32(section.virtual_size.unwrap_or(size)).u32(rva);
            out.u32(section.raw_size.unwrap_or(raw_size)).u32(if raw_size > 0 { raw } else { 0 });
            out.u32(0).u32(0).u32(0).u32(section.characteristics);
            rva += span(section);
            raw += raw_size;
        }
        out.align(FILE_ALIGN);
        for section in &sections {
            out.put(&section.data);
            let end = out.len().next_multiple_of(FILE_ALIGN);
            out.0.resize(end, section.fill);
        }
        out.0
    }

    fn optional_header(&self, out: &mut Bytes, image: u32, headers: u32, import: (u32, u32), delay: (u32, u32)) {
        out.u16(if self.plus { 0x20B } else { 0x10B }).u16(14).u32(0).u32(0).u32(0).u32(0).u32(0);
        if self.plus {
            out.u64(0x1_8000_0000);
        } else {
            out.u32(0).u32(0x1000_0000);
        }
        out.u32(PAGE).u32(FILE_ALIGN as u32).u16(6).u16(0).u16(0).u16(0).u16(6).u16(0).u32(0);
        out.u32(image).u32(headers).u32(0).u16(2).u16(0);
        for size in [0x10_0000, 0x1000, 0x10_0000, 0x1000_u32] {
            if self.plus {
                out.u64(u64::from(size));
            } else {
                out.u32(size);
            }
        }
        out.u32(0).u32(16);
        for directory in 0..16 {
            let (rva, size) = match directory {
                1 => import,
                13 => delay,
                _ => (0, 0),
            };
            out.u32(rva).u32(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{u16, u32};

    #[test]
    fn headers_stand_where_the_pe_specification_says() {
        let b = Pe::dll().section(".nv_fatbin", b"data").bytes();
        assert_eq!(&b[..2], b"MZ");
        let pe = u32(&b, 0x3C) as usize;
        assert_eq!(&b[pe..pe + 4], b"PE\0\0");
        assert_eq!((u16(&b, pe + 4), u16(&b, pe + 6), u16(&b, pe + 20), u16(&b, pe + 24)), (0x8664, 1, 240, 0x20B));
        let row = pe + 24 + 240;
        // the name is cut to 8 bytes; the raw size is rounded, the virtual size is not
        assert_eq!(&b[row..row + 8], b".nv_fatb");
        assert_eq!((u32(&b, row + 8), u32(&b, row + 16)), (4, 512));
        let at = u32(&b, row + 20) as usize;
        assert_eq!(&b[at..at + 4], b"data");
    }

    #[test]
    fn pe32_has_the_shorter_optional_header() {
        let b = Pe::dll32().section(".rdata", b"x").bytes();
        let pe = u32(&b, 0x3C) as usize;
        assert_eq!(
            (u16(&b, pe + 4), u16(&b, pe + 20), u16(&b, pe + 24), u32(&b, pe + 24 + 92)),
            (0x14C, 224, 0x10B, 16)
        );
    }

    #[test]
    fn import_directory_points_at_the_library_name() {
        let b = Pe::dll().imports("cudart64_13.dll").bytes();
        let pe = u32(&b, 0x3C) as usize;
        // data directory 1 begins 8 bytes behind the 112 fixed ones
        let rva = u32(&b, pe + 24 + 112 + 8);
        let row = pe + 24 + 240;
        assert_eq!(rva, u32(&b, row + 12));
        let raw = u32(&b, row + 20);
        let name = (u32(&b, (raw + 12) as usize) - rva + raw) as usize;
        assert_eq!(&b[name..name + 16], b"cudart64_13.dll\0");
    }
}
