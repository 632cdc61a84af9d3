//! Zip files and wheels, well-formed or lying.

use crate::bytes::Bytes;
use crate::compress::{crc32, deflate};

/// Stored, deflate, or a number that no reader knows.
pub mod method {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const STORED: u16 = 0;
    pub const DEFLATE: u16 = 8;
    pub const BZIP2: u16 = 12;
    pub const LZMA: u16 = 14;
    pub const ZSTD: u16 = 93;
}

/// What is wrong with the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Central {
    /// Nothing.
    Good,
    /// No central directory and no end record.
    Missing,
    /// The file ends in the middle of the central directory.
    Truncated,
    /// The first row has a wrong signature.
    BadSignature,
    /// The end record points past the end of the file.
    BadOffset,
    /// The end record counts one row too many.
    BadCount,
}

/// One member. `stated_*` goes into both headers.
#[derive(Clone, Debug)]
pub struct ZipMember {
    /// Path inside; ends in `/` for a directory.
    pub name: String,
    /// Unpacked bytes.
    pub data: Vec<u8>,
    /// See [`method`]; an unknown method stores the bytes as they are.
    pub method: u16,
    /// Sizes in the zip64 extra field, 0xffffffff in the headers.
    pub zip64: bool,
    /// Flag bit 3: sizes and CRC behind the data.
    pub data_descriptor: bool,
    /// Flag bit 0 (the bytes are not encrypted in fact).
    pub encrypted: bool,
    /// Replaces the unpacked size.
    pub stated_size: Option<u64>,
    /// Replaces the packed size.
    pub stated_packed: Option<u64>,
    /// Replaces the CRC.
    pub stated_crc: Option<u32>,
    /// Bytes of extra field, local header only.
    pub local_extra: Vec<u8>,
    /// Replaces the packed bytes.
    pub packed: Option<Vec<u8>>,
}

impl ZipMember {
    /// A stored member.
    pub fn stored(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            data: data.to_vec(),
            method: method::STORED,
            zip64: false,
            data_descriptor: false,
            encrypted: false,
            stated_size: None,
            stated_packed: None,
            stated_crc: None,
            local_extra: Vec::new(),
            packed: None,
        }
    }

    /// A deflated member.
    pub fn deflated(name: &str, data: &[u8]) -> Self {
        Self { method: method::DEFLATE, ..Self::stored(name, data) }
    }

    /// A directory.
    pub fn directory(name: &str) -> Self {
        Self::stored(&format!("{}/", name.trim_end_matches('/')), &[])
    }

    /// Forces zip64 sizes and offset.
    pub fn zip64(mut self) -> Self {
        self.zip64 = true;
        self
    }

    /// Puts sizes and CRC behind the data.
    pub fn data_descriptor(mut self) -> Self {
        self.data_descriptor = true;
        self
    }

    /// Sets the encrypted flag.
    pub fn encrypted(mut self) -> Self {
        self.encrypted = true;
        self
    }

    /// Sets any method number.
    pub fn method(mut self, method: u16) -> Self {
        self.method = method;
        self
    }

    /// States a wrong unpacked size.
    pub fn lying_size(mut self, size: u64) -> Self {
        self.stated_size = Some(size);
        self
    }

    /// States a wrong packed size.
    pub fn lying_packed(mut self, size: u64) -> Self {
        self.stated_packed = Some(size);
        self
    }

    /// States a wrong CRC.
    pub fn bad_crc(mut self) -> Self {
        self.stated_crc = Some(!crc32(&self.data));
        self
    }

    fn packed(&self) -> Vec<u8> {
        match (&self.packed, self.method) {
            (Some(bytes), _) => bytes.clone(),
            (None, method::DEFLATE) => deflate(&self.data),
            (None, _) => self.data.clone(),
        }
    }

    fn flags(&self) -> u16 {
        u16::from(self.encrypted) | u16::from(self.data_descriptor) << 3 | 1 << 11
    }
}

/// A zip file.
#[derive(Clone, Debug)]
pub struct Zip {
    /// In file order; names may repeat.
    pub members: Vec<ZipMember>,
    /// Bytes before the first local header (a self-extractor); offsets count from the end of it.
    pub prefix: Vec<u8>,
    /// Count offsets from the start of the file instead.
    pub offsets_include_prefix: bool,
    /// Comment at the end.
    pub comment: Vec<u8>,
    /// Write the zip64 end record and locator.
    pub zip64_end: bool,
    /// Damage of the central directory.
    pub central: Central,
}

impl Zip {
    /// An empty zip.
    pub fn new() -> Self {
        Self {
            members: Vec::new(),
            prefix: Vec::new(),
            offsets_include_prefix: false,
            comment: Vec::new(),
            zip64_end: false,
            central: Central::Good,
        }
    }

    /// A wheel: `NAME-VERSION.dist-info` with METADATA, WHEEL and RECORD last; add members before with [`Zip::with`].
    pub fn wheel(name: &str, version: &str, tag: &str, members: &[ZipMember]) -> Self {
        let info = format!("{name}-{version}.dist-info");
        let mut zip = Self::new();
        zip.members.extend_from_slice(members);
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        let wheel = format!("Wheel-Version: 1.0\nGenerator: testkit\nRoot-Is-Purelib: false\nTag: {tag}\n");
        let record: String = zip.members.iter().map(|m| format!("{},,\n", m.name)).collect();
        zip.with(ZipMember::deflated(&format!("{info}/METADATA"), metadata.as_bytes()))
            .with(ZipMember::deflated(&format!("{info}/WHEEL"), wheel.as_bytes()))
            .with(ZipMember::deflated(&format!("{info}/RECORD"), record.as_bytes()))
    }

    /// Adds a member.
    pub fn with(mut self, member: ZipMember) -> Self {
        self.members.push(member);
        self
    }

    /// Adds a stored member.
    pub fn stored(self, name: &str, data: &[u8]) -> Self {
        self.with(ZipMember::stored(name, data))
    }

    /// Adds a deflated member.
    pub fn deflated(self, name: &str, data: &[u8]) -> Self {
        self.with(ZipMember::deflated(name, data))
    }

    /// Damages the central directory.
    pub fn central(mut self, central: Central) -> Self {
        self.central = central;
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Bytes::new();
        out.put(&self.prefix);
        let base = if self.offsets_include_prefix { 0 } else { self.prefix.len() };
        let mut central = Bytes::new();
        for member in &self.members {
            let offset = (out.len() - base) as u64;
            let packed = member.packed();
            let crc = member.stated_crc.unwrap_or_else(|| crc32(&member.data));
            let size = member.stated_size.unwrap_or(member.data.len() as u64);
            let packed_size = member.stated_packed.unwrap_or(packed.len() as u64);
            Self::local_header(&mut out, member, crc, packed_size, size);
            out.put(&packed);
            if member.data_descriptor {
                out.u32(0x0807_4B50).u32(crc);
                if member.zip64 {
                    out.u64(packed_size).u64(size);
                } else {
                    out.u32(packed_size as u32).u32(size as u32);
                }
            }
            Self::central_row(&mut central, member, crc, packed_size, size, offset);
        }
        if self.central == Central::Missing {
            return out.0;
        }
        let offset = out.len() - base;
        if self.central == Central::Truncated {
            out.put(&central.0[..central.len() / 2]);
            return out.0;
        }
        if self.central == Central::BadSignature && !central.is_empty() {
            central.patch(0, b"XX");
        }
        out.put(&central.0);
        self.end_record(&mut out, offset as u64, central.len() as u64, base);
        out.0
    }

    fn local_header(out: &mut Bytes, member: &ZipMember, crc: u32, packed: u64, size: u64) {
        let mut extra = Bytes::new();
        if member.zip64 {
            let (size, packed) = if member.data_descriptor { (0, 0) } else { (size, packed) };
            extra.u16(1).u16(16).u64(size).u64(packed);
        }
        extra.put(&member.local_extra);
        let (crc, packed, size) = match (member.data_descriptor, member.zip64) {
            (true, false) => (0, 0, 0),
            (true, true) => (0, u32::MAX, u32::MAX),
            (false, true) => (crc, u32::MAX, u32::MAX),
            (false, false) => (crc, packed as u32, size as u32),
        };
        out.u32(0x0403_4B50).u16(if member.zip64 { 45 } else { 20 }).u16(member.flags()).u16(member.method);
        out.u16(0).u16(0x21).u32(crc).u32(packed).u32(size).u16(member.name.len() as u16).u16(extra.len() as u16);
        out.put(member.name.as_bytes()).put(&extra.0);
    }

    fn central_row(out: &mut Bytes, member: &ZipMember, crc: u32, packed: u64, size: u64, offset: u64) {
        let mut extra = Bytes::new();
        if member.zip64 {
            extra.u16(1).u16(24).u64(size).u64(packed).u64(offset);
        }
        let short = |v: u64| if member.zip64 { u32::MAX } else { v as u32 };
        let attributes: u32 = if member.name.ends_with('/') { 0o40_755 << 16 | 0x10 } else { 0o100_644 << 16 };
        out.u32(0x0201_4B50).u16(0x0300 | 45).u16(if member.zip64 { 45 } else { 20 }).u16(member.flags());
        out.u16(member.method).u16(0).u16(0x21).u32(crc).u32(short(packed)).u32(short(size));
        out.u16(member.name.len() as u16).u16(extra.len() as u16).u16(0).u16(0).u16(0).u32(attributes);
        out.u32(short(offset)).put(member.name.as_bytes()).put(&extra.0);
    }

    fn end_record(&self, out: &mut Bytes, offset: u64, size: u64, base: usize) {
        let mut count = self.members.len() as u64;
        let mut offset = offset;
        match self.central {
            Central::BadOffset => offset = offset.max(1 << 24) * 2,
            Central::BadCount => count += 1,
            _ => {}
        }
        if self.zip64_end {
            let at = (out.len() - base) as u64;
            out.u32(0x0606_4B50)
                .u64(44)
                .u16(0x0300 | 45)
                .u16(45)
                .u32(0)
                .u32(0)
                .u64(count)
                .u64(count)
                .u64(size)
                .u64(offset);
            out.u32(0x0706_4B50).u32(0).u64(at).u32(1);
            out.u32(0x0605_4B50).u16(0).u16(0).u16(u16::MAX).u16(u16::MAX).u32(u32::MAX).u32(u32::MAX);
        } else {
            out.u32(0x0605_4B50).u16(0).u16(0).u16(count as u16).u16(count as u16).u32(size as u32).u32(offset as u32);
        }
        out.u16(self.comment.len() as u16).put(&self.comment);
    }
}

impl Default for Zip {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{u16, u32, u64};

    #[test]
    fn empty_zip_is_the_end_record() {
        let mut expected = b"PK\x05\x06".to_vec();
        expected.resize(22, 0);
        assert_eq!(Zip::new().bytes(), expected);
    }

    #[test]
    fn stored_member_follows_its_header_of_thirty_bytes_and_name() {
        let b = Zip::new().stored("a.so", b"123456789").bytes();
        assert_eq!((&b[..4], u16(&b, 8), u32(&b, 14)), (&b"PK\x03\x04"[..], 0, 0xCBF4_3926));
        assert_eq!((u32(&b, 18), u32(&b, 22), &b[30..43]), (9, 9, &b"a.so123456789"[..]));
        let end = b.len() - 22;
        assert_eq!((&b[end..end + 4], u16(&b, end + 10), u32(&b, end + 16)), (&b"PK\x05\x06"[..], 1, 43));
        assert_eq!(&b[43..47], b"PK\x01\x02");
    }

    #[test]
    fn zip64_member_keeps_its_sizes_in_the_extra_field() {
        let mut zip = Zip::new().with(ZipMember::stored("a", b"xyz").zip64());
        zip.zip64_end = true;
        let b = zip.bytes();
        assert_eq!((u32(&b, 18), u32(&b, 22), u16(&b, 28)), (u32::MAX, u32::MAX, 20));
        assert_eq!((u16(&b, 31), u16(&b, 33), u64(&b, 35), u64(&b, 43)), (1, 16, 3, 3));
        let end = b.len() - 22;
        assert_eq!((u32(&b, end - 20), u32(&b, end + 16)), (0x0706_4B50, u32::MAX));
        let record = u64(&b, end - 12) as usize;
        assert_eq!((u32(&b, record), u64(&b, record + 32)), (0x0606_4B50, 1));
    }

    #[test]
    fn data_descriptor_leaves_zeros_in_the_local_header() {
        let b = Zip::new().with(ZipMember::stored("a", b"123456789").data_descriptor()).bytes();
        assert_eq!((u16(&b, 6) & 8, u32(&b, 14), u32(&b, 18), u32(&b, 22)), (8, 0, 0, 0));
        assert_eq!((u32(&b, 40), u32(&b, 44), u32(&b, 48)), (0x0807_4B50, 0xCBF4_3926, 9));
    }

    #[test]
    fn lies_are_in_both_headers_and_change_nothing_else() {
        let b = Zip::new().with(ZipMember::stored("a", b"123").lying_size(7).lying_packed(5).bad_crc()).bytes();
        assert_eq!((u32(&b, 18), u32(&b, 22)), (5, 7));
        let row = b.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        assert_eq!((row, u32(&b, row + 20), u32(&b, row + 24)), (34, 5, 7));
        assert_eq!(u32(&b, 14), !crc32(b"123"));
    }

    #[test]
    fn offsets_count_from_the_end_of_the_prefix_unless_asked() {
        let mut zip = Zip::new().stored("a", b"1");
        zip.prefix = b"#!/bin/sh\n".to_vec();
        let b = zip.bytes();
        assert_eq!(u32(&b, b.len() - 6), 32);
        zip.offsets_include_prefix = true;
        let b = zip.bytes();
        assert_eq!(u32(&b, b.len() - 6), 42);
    }
}
