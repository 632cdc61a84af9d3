//! The fatbin container: header, entries, concatenated entries, and the wrapper that points at it.

use crate::bytes::Bytes;
use crate::compress;

/// First four bytes of a fatbin, as a little-endian word.
pub const MAGIC: u32 = 0xBA55_ED50;
/// First word of the host wrapper (`.nvFatBinSegment`).
pub const WRAPPER_MAGIC: u32 = 0x4662_43B1;
/// First word of the host wrapper of HIP (`.hipFatBinSegment`).
pub const HIP_WRAPPER_MAGIC: u32 = 0x4849_5046;

/// Entry kinds, u16 at offset 0 of an entry.
pub mod kind {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const PTX: u16 = 1;
    pub const ELF: u16 = 2;
    pub const OLD_CUBIN: u16 = 4;
    pub const LTO_IR: u16 = 8;
    pub const INDEX: u16 = 0x20;
    pub const RELOCATABLE_PTX: u16 = 0x40;
    pub const TILE_IR: u16 = 0x80;
    pub const CONCAT: u16 = 0x100;
}

/// Entry flags, u64 at offset 0x28 of an entry.
pub mod flag {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const BITS64: u64 = 0x1;
    pub const DEBUG: u64 = 0x2;
    pub const CUDA: u64 = 0x4;
    pub const OPENCL: u64 = 0x8;
    pub const LINUX: u64 = 0x10;
    pub const MACOS: u64 = 0x20;
    pub const WINDOWS: u64 = 0x40;
    pub const ZLIB: u64 = 0x1000;
    pub const LZ4: u64 = 0x2000;
    pub const LZ4_FRAME: u64 = 0x4000;
    pub const ZSTD: u64 = 0x8000;
    pub const SCRAMBLED: u64 = 0x1_0000;
    pub const ARCH_A: u64 = 0x10_0000;
    pub const ARCH_F: u64 = 0x20_0000;
    pub const COMPAT: u64 = 0x100_0000;
}

/// How a payload is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As it is.
    None,
    /// Zlib stream.
    Zlib,
    /// LZ4 block (literals only).
    Lz4,
    /// LZ4 frame (stored blocks).
    Lz4Frame,
    /// Zstd frame (raw blocks).
    Zstd,
}

impl Codec {
    /// The flag bit of this codec, 0 for none.
    pub fn flag(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Zlib => flag::ZLIB,
            Self::Lz4 => flag::LZ4,
            Self::Lz4Frame => flag::LZ4_FRAME,
            Self::Zstd => flag::ZSTD,
        }
    }

    /// `data` in this codec.
    pub fn encode(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::None => data.to_vec(),
            Self::Zlib => compress::zlib(data),
            Self::Lz4 => compress::lz4_block_stored(data),
            Self::Lz4Frame => compress::lz4_frame_stored(data),
            Self::Zstd => compress::zstd_stored(data),
        }
    }
}

/// One entry. [`Entry::bytes`] derives sizes and offsets; `stated_*` overrides a single field.
#[derive(Clone, Debug)]
pub struct Entry {
    /// See [`kind`].
    pub kind: u16,
    /// 0x0101 in all files seen.
    pub version: u16,
    /// The number only: 90 for sm_90a.
    pub arch: u32,
    /// See [`flag`]; [`Entry::compressed`] sets the codec bit.
    pub flags: u64,
    /// PTX ISA, or 1.7 / 1.8 for an ELF.
    pub major: u16,
    /// Minor part of the same.
    pub minor: u16,
    /// The bytes as stored, without padding.
    pub payload: Vec<u8>,
    /// Set when `payload` is compressed: its unpacked size.
    pub uncompressed_size: Option<u64>,
    /// Identifier, stored NUL-terminated at 0x40.
    pub name: Option<String>,
    /// Options text; `Some("")` writes an empty table, as every PTX entry has.
    pub options: Option<String>,
    /// Copy of the cubin's `.nv.compat`; sets flag 0x1000000 when written.
    pub compat: Option<Vec<u8>>,
    /// Key of scrambled LTO-IR.
    pub lto_key: u64,
    /// Zero bytes behind the payload besides those that align it to 8.
    pub extra_padding: usize,
    /// Replaces the header size field.
    pub stated_header_size: Option<u32>,
    /// Replaces the padded size field.
    pub stated_padded_size: Option<u64>,
    /// Replaces the compressed size field.
    pub stated_compressed_size: Option<u32>,
    /// Replaces the unpacked size field.
    pub stated_uncompressed_size: Option<u64>,
    /// Replaces the length of the identifier.
    pub stated_name_len: Option<u32>,
    /// Replaces the length of the options text.
    pub stated_options_len: Option<u32>,
    /// Set by [`concat()`]: the member table, written at 0x40.
    pub member_table: Option<Vec<u8>>,
}

/// `90a`, `sm_90a` or `compute_90a` as number and suffix bits.
///
/// # Panics
/// On anything else.
pub fn parse_arch(arch: &str) -> (u32, u64) {
    let text = arch.trim_start_matches("sm_").trim_start_matches("compute_").trim_start_matches("lto_");
    let number = text.trim_end_matches(['a', 'f']);
    let suffix = match &text[number.len()..] {
        "" => 0,
        "a" => flag::ARCH_A,
        "f" => flag::ARCH_F,
        other => panic!("suffix {other}"),
    };
    (number.parse().expect("architecture number"), suffix)
}

impl Entry {
    /// An entry of any kind for 64-bit Linux, without suffix, name and options.
    pub fn new(kind: u16, arch: u32, payload: impl Into<Vec<u8>>) -> Self {
        Self {
            kind,
            version: 0x0101,
            arch,
            flags: flag::BITS64 | flag::LINUX,
            major: 1,
            minor: 8,
            payload: payload.into(),
            uncompressed_size: None,
            name: None,
            options: None,
            compat: None,
            lto_key: 0,
            extra_padding: 0,
            stated_header_size: None,
            stated_padded_size: None,
            stated_compressed_size: None,
            stated_uncompressed_size: None,
            stated_name_len: None,
            stated_options_len: None,
            member_table: None,
        }
    }

    fn with_arch(kind: u16, arch: &str, payload: Vec<u8>) -> Self {
        let (number, suffix) = parse_arch(arch);
        let entry = Self::new(kind, number, payload);
        entry.flag(suffix)
    }

    /// A cubin, uncompressed: `Entry::sass("90a", cubin)`.
    pub fn sass(arch: &str, cubin: impl Into<Vec<u8>>) -> Self {
        Self::with_arch(kind::ELF, arch, cubin.into())
    }

    /// A PTX text (a NUL is added), uncompressed, with an empty options table: `Entry::ptx("90", (8, 5), text)`.
    pub fn ptx(arch: &str, isa: (u16, u16), text: &str) -> Self {
        let mut payload = text.as_bytes().to_vec();
        payload.push(0);
        Self::with_arch(kind::PTX, arch, payload).isa(isa.0, isa.1).options("")
    }

    /// LTO-IR, uncompressed, version 1.67.
    pub fn lto(arch: &str, payload: impl Into<Vec<u8>>) -> Self {
        Self::with_arch(kind::LTO_IR, arch, payload.into()).isa(1, 67).options("-ftz=0 ")
    }

    /// Adds flag bits.
    pub fn flag(mut self, bits: u64) -> Self {
        self.flags |= bits;
        self
    }

    /// Replaces all flag bits.
    pub fn flags(mut self, bits: u64) -> Self {
        self.flags = bits;
        self
    }

    /// Sets the version pair (PTX ISA, or 1.8 / 1.7).
    pub fn isa(mut self, major: u16, minor: u16) -> Self {
        (self.major, self.minor) = (major, minor);
        self
    }

    /// Sets the identifier.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Sets the options text.
    pub fn options(mut self, options: &str) -> Self {
        self.options = Some(options.to_owned());
        self
    }

    /// Adds the copy of `.nv.compat` that ELF entries of sm_100 and up carry.
    pub fn compat(mut self, blob: &[u8]) -> Self {
        self.compat = Some(blob.to_vec());
        self
    }

    /// Compresses the present payload and sets flag and sizes.
    pub fn compressed(mut self, codec: Codec) -> Self {
        if codec != Codec::None {
            self.uncompressed_size = Some(self.payload.len() as u64);
            self.payload = codec.encode(&self.payload);
            self.flags |= codec.flag();
            if codec == Codec::Zlib && self.payload.len().is_multiple_of(8) {
                // cuobjdump 13.5 fails to unpack a zlib stream with no byte of padding behind it
                self.extra_padding += 8;
            }
        }
        self
    }

    /// Identifier, options table and options text; the returned offsets are those of the fixed part.
    fn variable_part(&self) -> (Vec<u8>, u32, u32) {
        let mut out = Bytes::new();
        let name_off = match &self.name {
            None => 0,
            Some(name) => {
                out.cstr(name).align(8);
                64
            }
        };
        let mut table_off = 0;
        if let Some(table) = &self.member_table {
            table_off = 64 + out.len() as u32;
            out.put(table);
        } else if let Some(blob) = &self.compat {
            table_off = 64 + out.len() as u32;
            out.u32(table_off + 8).u32(self.stated_options_len.unwrap_or(blob.len() as u32)).u8(0).put(blob).align(8);
        } else if let Some(text) = &self.options {
            table_off = 64 + out.len() as u32;
            out.u32(table_off + 8).u32(self.stated_options_len.unwrap_or(text.len() as u32)).cstr(text).align(8);
        }
        (out.0, name_off, table_off)
    }

    fn fixed_part(&self, header_size: u32, padded: u64, name_off: u32, table_off: u32) -> Vec<u8> {
        let compressed = self.uncompressed_size.map_or(0, |_| self.payload.len() as u32);
        let name_len = self.name.as_ref().map_or(0, |n| n.len() as u32);
        let compat = if self.compat.is_some() { flag::COMPAT } else { 0 };
        let mut out = Bytes::new();
        out.u16(self.kind).u16(self.version).u32(self.stated_header_size.unwrap_or(header_size));
        out.u64(self.stated_padded_size.unwrap_or(padded));
        out.u32(self.stated_compressed_size.unwrap_or(compressed)).u32(table_off);
        out.u16(self.minor).u16(self.major).u32(self.arch);
        out.u32(name_off).u32(self.stated_name_len.unwrap_or(name_len));
        out.u64(self.flags | compat).u64(self.lto_key);
        out.u64(self.stated_uncompressed_size.or(self.uncompressed_size).unwrap_or(0));
        out.0
    }

    /// Header and padded payload.
    pub fn bytes(&self) -> Vec<u8> {
        let (variable, name_off, table_off) = self.variable_part();
        let padded = self.payload.len().next_multiple_of(8) + self.extra_padding;
        let mut out = Bytes(self.fixed_part(64 + variable.len() as u32, padded as u64, name_off, table_off));
        out.put(&variable).put(&self.payload).zeros(padded - self.payload.len());
        out.0
    }

    /// Header bytes before the payload.
    pub fn header_len(&self) -> usize {
        64 + self.variable_part().0.len()
    }
}

/// A concatenated entry (kind 0x100): the payloads of `members`, each padded to 8, in one stream.
///
/// Members must be uncompressed; their header size field becomes the offset in the blob.
pub fn concat(members: &[Entry], codec: Codec) -> Entry {
    let (mut blob, mut table) = (Bytes::new(), Bytes::new());
    for member in members {
        let (variable, name_off, table_off) = member.variable_part();
        let padded = member.payload.len().next_multiple_of(8) as u64;
        table.put(&member.fixed_part(blob.len() as u32, padded, name_off, table_off)).put(&variable);
        blob.put(&member.payload).align(8);
    }
    let mut entry = Entry::new(kind::CONCAT, 0, blob.0).isa(0, 1).compressed(codec);
    let mut with_head = Bytes::new();
    with_head.u32(members.len() as u32).u32(8 + table.len() as u32).put(&table.0);
    entry.member_table = Some(with_head.0);
    entry
}

/// A container with its header fields open to change.
#[derive(Clone, Debug)]
pub struct Fatbin {
    /// [`MAGIC`].
    pub magic: u32,
    /// 1.
    pub version: u16,
    /// 16.
    pub header_size: u16,
    /// Replaces the size field (bytes behind the header).
    pub stated_size: Option<u64>,
    /// In file order.
    pub entries: Vec<Entry>,
}

impl Fatbin {
    /// A well-formed container.
    pub fn new(entries: &[Entry]) -> Self {
        Self { magic: MAGIC, version: 1, header_size: 16, stated_size: None, entries: entries.to_vec() }
    }

    /// The whole container.
    pub fn bytes(&self) -> Vec<u8> {
        let body: Vec<u8> = self.entries.iter().flat_map(Entry::bytes).collect();
        let mut out = Bytes::new();
        out.u32(self.magic).u16(self.version).u16(self.header_size);
        out.u64(self.stated_size.unwrap_or(body.len() as u64)).put(&body);
        out.0
    }
}

/// A well-formed container of these entries; none gives the 16 bytes of an empty fatbin.
pub fn fatbin(entries: &[Entry]) -> Vec<u8> {
    Fatbin::new(entries).bytes()
}

/// The 24-byte wrapper of `.nvFatBinSegment`: version 1 plain, 2 device-linked.
pub fn wrapper(version: u32, address: u64) -> Vec<u8> {
    let mut out = Bytes::new();
    out.u32(WRAPPER_MAGIC).u32(version).u64(address).u64(0);
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{u16, u32, u64};

    #[test]
    fn empty_fatbin_is_sixteen_bytes() {
        assert_eq!(fatbin(&[]), [0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    /// The example of the format description: an uncompressed sm_90a cubin of 0xd70 bytes.
    #[test]
    fn sass_entry_has_the_documented_words() {
        let b = Entry::sass("sm_90a", vec![0xAA; 0xD70]).bytes();
        assert_eq!(b[..16], [2, 0, 1, 1, 0x40, 0, 0, 0, 0x70, 0x0D, 0, 0, 0, 0, 0, 0]);
        assert_eq!(b[16..32], [0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 0, 0x5A, 0, 0, 0]);
        assert_eq!(b[32..48], [0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0x10, 0, 0, 0, 0, 0]);
        assert_eq!(b[48..64], [0; 16]);
        assert_eq!(b.len(), 64 + 0xD70);
    }

    /// The other example: PTX with identifier and options has header size 0x80 and the text at 0x50.
    #[test]
    fn ptx_entry_with_name_and_options_has_the_documented_layout() {
        let options = " -g --dont-merge-basicblocks --return-at-end ";
        let entry = Entry::ptx("90", (8, 5), "text").name("one.cu").options(options);
        let b = entry.bytes();
        assert_eq!((u32(&b, 4), u32(&b, 0x14), u32(&b, 0x20), u32(&b, 0x24)), (0x80, 0x48, 0x40, 6));
        assert_eq!((u16(&b, 0x18), u16(&b, 0x1A)), (5, 8));
        assert_eq!(&b[0x40..0x48], b"one.cu\0\0");
        assert_eq!((u32(&b, 0x48), u32(&b, 0x4C)), (0x50, 0x2D));
        assert_eq!(&b[0x50..0x50 + options.len()], options.as_bytes());
        assert_eq!(&b[0x80..], b"text\0\0\0\0");
    }

    #[test]
    fn ptx_entry_without_options_text_has_header_eighty() {
        assert_eq!(u32(&Entry::ptx("75", (9, 5), "x").bytes(), 4), 80);
    }

    /// Documented: O = 0x48, L = 0x2c, blob at O + 1, header rounded up to 8.
    #[test]
    fn compat_blob_follows_one_nul() {
        let b = Entry::sass("100a", vec![0; 8]).compat(&[9; 0x2C]).bytes();
        assert_eq!((u32(&b, 0x14), u32(&b, 0x40), u32(&b, 0x44)), (0x40, 0x48, 0x2C));
        assert_eq!((b[0x48], b[0x49], u32(&b, 4)), (0, 9, 0x78));
        assert_eq!(u64(&b, 0x28), 0x110_0011);
    }

    #[test]
    fn compressed_entry_states_exact_sizes() {
        let b = Entry::sass("80", vec![1; 100]).compressed(Codec::Lz4).bytes();
        // 100 literals: token, one length byte (100 - 15 = 85), the literals
        assert_eq!((u32(&b, 0x10), u64(&b, 8), u64(&b, 0x38), u64(&b, 0x28)), (102, 104, 100, 0x2011));
        assert_eq!(b[64..66], [0xF0, 85]);
    }

    /// The documented example: two PTX members, table of 0xa8 bytes, records 0x50 apart.
    #[test]
    fn concat_entry_has_the_documented_member_table() {
        let text = "p".repeat(0x187);
        let members = [Entry::ptx("90a", (9, 5), &text), Entry::ptx("100f", (9, 5), &text)];
        let b = concat(&members, Codec::Zstd).bytes();
        assert_eq!((u16(&b, 0), u32(&b, 4), u32(&b, 0x1C)), (0x100, 64 + 0xA8, 0));
        assert_eq!((u16(&b, 0x18), u16(&b, 0x1A)), (1, 0));
        assert_eq!((u32(&b, 0x40), u32(&b, 0x44)), (2, 0xA8));
        assert_eq!((u32(&b, 0x48 + 4), u64(&b, 0x48 + 8), u64(&b, 0x48 + 0x28)), (0, 0x188, 0x10_0011));
        assert_eq!((u32(&b, 0x98 + 4), u64(&b, 0x98 + 8), u64(&b, 0x98 + 0x28)), (0x188, 0x188, 0x20_0011));
        assert_eq!(u64(&b, 0x38), 0x310);
    }

    #[test]
    fn header_equals_that_of_the_fixture() {
        // everything but the payload of a file that nvcc made
        let theirs = crate::truth::bytes("fatbin_sm_90a.fatbin");
        let size = u64(&theirs, 16 + 8) as usize;
        let cubin = &theirs[16 + 64..16 + 64 + size];
        let ours = Entry::sass("90a", cubin).bytes();
        assert_eq!(ours[..], theirs[16..16 + 64 + size]);
    }
}
