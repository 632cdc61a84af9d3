use nom::Parser;
use nom::number::complete::{le_u16, le_u32, le_u64};

use crate::concat::ConcatMembers;
use crate::error::{Error, ErrorKind};
use crate::flags::{Compression, Flags};
use crate::kind::Kind;
use crate::text;

/// Bytes of the fixed part of an entry header.
pub const ENTRY_HEADER_SIZE: usize = 64;

/// The entry version of every file seen from CUDA 8.0 to 13.5.
const ENTRY_VERSION: u16 = 0x0101;

/// The fixed part of an entry header.
///
/// | offset | size | name | meaning | evidence |
/// |---|---|---|---|---|
/// | 0x00 | 2 | kind | [`Kind`] | observed |
/// | 0x02 | 2 | version | 0x0101 | observed |
/// | 0x04 | 4 | header size | bytes from here to the payload, 64 to 32,608 seen | observed |
/// | 0x08 | 8 | padded size | payload bytes with padding | observed |
/// | 0x10 | 4 | compressed size | exact payload bytes, 0 if not compressed | observed |
/// | 0x14 | 4 | options table | 0, or its offset from the start of the entry | observed |
/// | 0x18 | 2 | code version minor | PTX ISA minor; 7 or 8 for an ELF (its ABI) | observed |
/// | 0x1a | 2 | code version major | PTX ISA major; 1 for an ELF | observed |
/// | 0x1c | 4 | architecture | 90, 100, 103, ... without suffix | observed |
/// | 0x20 | 4 | identifier offset | 0, or its offset from the start of the entry | observed |
/// | 0x24 | 4 | identifier length | without the NUL | observed |
/// | 0x28 | 8 | flags | [`Flags`] | observed |
/// | 0x30 | 8 | LTO key | only with [`Flags::SCRAMBLED`] | observed |
/// | 0x38 | 8 | uncompressed size | exact, 0 if not compressed | observed |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryHeader {
    /// What the payload is.
    pub kind: Kind,
    /// Version of the entry record, 0x0101.
    pub version: u16,
    /// Bytes from the start of the entry to its payload. In a member of a concatenated entry: the member's offset in
    /// the unpacked payload.
    pub header_size: u32,
    /// Payload bytes with padding.
    pub padded_size: u64,
    /// Payload bytes without padding if compressed, else 0.
    pub compressed_size: u32,
    /// Offset of the options table from the start of the entry, 0 for none.
    pub options_table: u32,
    /// Major and minor version of the code: PTX ISA for PTX, 1.7 or 1.8 for ELF.
    pub code_version: (u16, u16),
    /// Architecture number, for example 90; 0 in a concatenated entry.
    pub arch: u32,
    /// Offset of the identifier from the start of the entry, 0 for none.
    pub identifier_offset: u32,
    /// Length of the identifier in bytes.
    pub identifier_length: u32,
    /// The flag word, unknown bits included.
    pub flags: Flags,
    /// Key of scrambled LTO-IR.
    pub lto_key: u64,
    /// Unpacked bytes if compressed, else 0.
    pub uncompressed_size: u64,
}

impl EntryHeader {
    /// Reads the fixed part at the start of `data`, without any check of its values.
    ///
    /// # Errors
    /// [`ErrorKind::EntryHeaderCut`] with fewer than 64 bytes.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let record: nom::IResult<&[u8], _, ()> = (
            le_u16, // kind
            le_u16, // version
            le_u32, // header size
            le_u64, // padded size
            le_u32, // compressed size
            le_u32, // options table
            le_u16, // code version minor
            le_u16, // code version major
            le_u32, // architecture
            le_u32, // identifier offset
            le_u32, // identifier length
            le_u64, // flags
            le_u64, // LTO key
            le_u64, // uncompressed size
        )
            .parse(data);
        let Ok((_, fields)) = record else {
            return Err(Error::new(ErrorKind::EntryHeaderCut, 0));
        };
        let (kind, version, header_size, padded_size, compressed_size, options_table, minor, major, arch, ..) = fields;
        let (.., identifier_offset, identifier_length, flags, lto_key, uncompressed_size) = fields;
        Ok(Self {
            kind: Kind::from_raw(kind),
            version,
            header_size,
            padded_size,
            compressed_size,
            options_table,
            code_version: (major, minor),
            arch,
            identifier_offset,
            identifier_length,
            flags: Flags::from_bits_retain(flags),
            lto_key,
            uncompressed_size,
        })
    }

    /// Whether this can be an entry at all: a known version or a known kind. Where neither holds the bytes are
    /// something else.
    #[must_use]
    pub const fn is_plausible(&self) -> bool {
        self.version == ENTRY_VERSION || (self.kind.is_known() && self.header_size as usize >= ENTRY_HEADER_SIZE)
    }

    /// Checks the sizes against `rest`, the bytes of the fatbin from the start of this entry.
    ///
    /// # Errors
    /// [`ErrorKind::NotAnEntry`], [`ErrorKind::HeaderSize`] or [`ErrorKind::PayloadSize`]: the chain ends here.
    pub fn check(&self, rest: u64) -> Result<(), Error> {
        if !self.is_plausible() {
            return Err(Error::new(ErrorKind::NotAnEntry, 0));
        }
        let header_size = u64::from(self.header_size);
        if (self.header_size as usize) < ENTRY_HEADER_SIZE || header_size > rest {
            return Err(Error::new(ErrorKind::HeaderSize, 4));
        }
        if self.padded_size > rest.saturating_sub(header_size) {
            return Err(Error::new(ErrorKind::PayloadSize, 8));
        }
        Ok(())
    }

    /// Bytes from the start of this entry to the next one, `None` if the sum does not fit.
    #[must_use]
    pub const fn total_size(&self) -> Option<u64> {
        self.padded_size.checked_add(self.header_size as u64)
    }

    /// How the payload is compressed.
    #[must_use]
    pub const fn compression(&self) -> Compression {
        self.flags.compression()
    }

    /// Payload bytes that count: the compressed size where it is stated, else the padded size.
    #[must_use]
    pub const fn stored_size(&self) -> u64 {
        if matches!(self.compression(), Compression::None) || self.compressed_size == 0 {
            self.padded_size
        } else {
            self.compressed_size as u64
        }
    }

    /// Unpacked bytes, as the entry states them. For an uncompressed payload that is the padded size.
    #[must_use]
    pub const fn unpacked_size(&self) -> u64 {
        match self.compression() {
            Compression::None => self.padded_size,
            _ => self.uncompressed_size,
        }
    }
}

/// One entry: the header with views of its variable part and payload.
///
/// The variable part, between the fixed part and the payload, is `[identifier NUL pad8] [options table] [options text
/// NUL pad8]`. The options table is `u32` text offset from the start of the entry and `u32` text length. With
/// [`Flags::COMPAT`] the text is one NUL and a copy of the cubin's `.nv.compat` section follows it. Observed.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'data> {
    header: EntryHeader,
    record: &'data [u8],
    payload: &'data [u8],
}

impl<'data> Entry<'data> {
    /// An entry from its header bytes (`record`: fixed and variable part, as much as there is) and its payload with
    /// padding, which may be empty where the caller skips payloads.
    ///
    /// # Errors
    /// [`ErrorKind::EntryHeaderCut`] with fewer than 64 bytes of `record`.
    pub fn new(record: &'data [u8], payload: &'data [u8]) -> Result<Self, Error> {
        let header = EntryHeader::parse(record)?;
        let end = usize::try_from(header.header_size).unwrap_or(usize::MAX).max(ENTRY_HEADER_SIZE);
        Ok(Self { header, record: record.get(..end).unwrap_or(record), payload })
    }

    /// The fixed part.
    #[must_use]
    pub const fn header(&self) -> &EntryHeader {
        &self.header
    }

    /// The payload as stored: without padding if compressed, with it if not.
    ///
    /// # Errors
    /// [`ErrorKind::CompressedSize`] if the stated compressed size exceeds the payload.
    pub fn payload(&self) -> Result<&'data [u8], Error> {
        usize::try_from(self.header.stored_size())
            .ok()
            .and_then(|size| self.payload.get(..size))
            .ok_or(Error::new(ErrorKind::CompressedSize, 0x10))
    }

    /// The identifier, usually the name of the source file or a module id, without its NUL.
    ///
    /// # Errors
    /// [`ErrorKind::Identifier`] if it leaves the entry header.
    pub fn identifier(&self) -> Result<Option<&'data [u8]>, Error> {
        identifier(self.record, &self.header)
    }

    /// The options text (ptxas options of PTX, compiler options of LTO-IR); empty for an ELF.
    ///
    /// # Errors
    /// [`ErrorKind::Options`] if the table or the text leaves the entry header.
    pub fn options(&self) -> Result<Option<&'data [u8]>, Error> {
        if self.header.kind == Kind::Concat {
            return Ok(None);
        }
        options(self.record, &self.header)
    }

    /// The copy of the cubin's `.nv.compat` section, for the ELF entries that have one.
    ///
    /// # Errors
    /// [`ErrorKind::Options`] if the table or the blob leaves the entry header.
    pub fn compat(&self) -> Result<Option<&'data [u8]>, Error> {
        if self.header.kind == Kind::Concat {
            return Ok(None);
        }
        compat(self.record, &self.header)
    }

    /// The members of a concatenated entry; none for any other kind.
    #[must_use]
    pub fn members(&self) -> ConcatMembers<'data> {
        ConcatMembers::new(self.record, &self.header)
    }
}

pub(crate) fn identifier<'data>(record: &'data [u8], header: &EntryHeader) -> Result<Option<&'data [u8]>, Error> {
    if header.identifier_offset == 0 {
        return Ok(None);
    }
    text::range(record, header.identifier_offset, header.identifier_length, ErrorKind::Identifier).map(Some)
}

/// Offset and length of the options text, or `None` without a table.
fn options_table(record: &[u8], header: &EntryHeader) -> Result<Option<(u32, u32)>, Error> {
    if header.options_table == 0 {
        return Ok(None);
    }
    let error = Error::new(ErrorKind::Options, u64::from(header.options_table));
    let offset = text::u32_at(record, header.options_table).ok_or(error)?;
    let length = text::u32_at(record, header.options_table.checked_add(4).ok_or(error)?).ok_or(error)?;
    Ok(Some((offset, length)))
}

pub(crate) fn options<'data>(record: &'data [u8], header: &EntryHeader) -> Result<Option<&'data [u8]>, Error> {
    if header.flags.contains(Flags::COMPAT) {
        return Ok(None);
    }
    match options_table(record, header)? {
        Some((offset, length)) => text::range(record, offset, length, ErrorKind::Options).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn compat<'data>(record: &'data [u8], header: &EntryHeader) -> Result<Option<&'data [u8]>, Error> {
    if !header.flags.contains(Flags::COMPAT) {
        return Ok(None);
    }
    match options_table(record, header)? {
        // the empty options text is one NUL; the blob follows it
        Some((offset, length)) => text::range(record, offset.saturating_add(1), length, ErrorKind::Options).map(Some),
        None => Ok(None),
    }
}

/// End of the variable part of a record: what [`ConcatMembers`] steps by.
pub(crate) fn record_size(record: &[u8], header: &EntryHeader) -> u64 {
    let mut size = ENTRY_HEADER_SIZE as u64;
    if header.identifier_offset != 0 {
        let end = u64::from(header.identifier_offset).saturating_add(u64::from(header.identifier_length));
        size = size.max(text::align8(end.saturating_add(1)));
    }
    if let Ok(Some((offset, length))) = options_table(record, header) {
        let end = u64::from(offset).saturating_add(u64::from(length));
        size = size.max(text::align8(end.saturating_add(1)));
    }
    size
}
