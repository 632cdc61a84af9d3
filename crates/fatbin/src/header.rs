use nom::Parser;
use nom::number::complete::{le_u16, le_u32, le_u64};

use crate::error::{Error, ErrorKind};

/// The first four bytes of every fatbin, `50 ED 55 BA`, read as a little-endian `u32`.
pub const FATBIN_MAGIC: u32 = 0xBA55_ED50;
/// The magic of the pointer-based container before CUDA 4.0, which holds nothing that could be read at rest.
pub const OLD_FATBIN_MAGIC: u32 = 0x1EE5_5A01;
/// Bytes of a fatbin header.
pub const FATBIN_HEADER_SIZE: usize = 16;

/// The header of a fatbin.
///
/// | offset | size | name | meaning | evidence |
/// |---|---|---|---|---|
/// | 0 | 4 | magic | [`FATBIN_MAGIC`] | observed |
/// | 4 | 2 | version | 1 | observed, CUDA 8.0 to 13.5 |
/// | 6 | 2 | header size | 16 | observed |
/// | 8 | 8 | size | bytes that follow this header; 0 is an empty fatbin | observed |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FatbinHeader {
    /// Format version, 1.
    pub version: u16,
    /// Bytes of this header, 16.
    pub header_size: u16,
    /// Bytes that follow the header, as stated; not checked against anything.
    pub size: u64,
}

impl FatbinHeader {
    /// Reads the header at the start of `data`.
    ///
    /// # Errors
    /// [`ErrorKind::FatbinHeaderCut`] with fewer than 16 bytes, [`ErrorKind::Magic`], [`ErrorKind::OldFatbin`] or
    /// [`ErrorKind::FatbinHeader`] if it is not a fatbin header of version 1 and 16 bytes.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let record: nom::IResult<&[u8], (u32, u16, u16, u64), ()> = (
            le_u32, // magic
            le_u16, // version
            le_u16, // header size
            le_u64, // size
        )
            .parse(data);
        match record {
            Ok((_, (FATBIN_MAGIC, version, header_size, size))) => {
                if version == 1 && usize::from(header_size) == FATBIN_HEADER_SIZE {
                    Ok(Self { version, header_size, size })
                } else {
                    Err(Error::new(ErrorKind::FatbinHeader, 0))
                }
            }
            Ok((_, (OLD_FATBIN_MAGIC, ..))) => Err(Error::new(ErrorKind::OldFatbin, 0)),
            Ok(_) => Err(Error::new(ErrorKind::Magic, 0)),
            Err(_) => Err(Error::new(ErrorKind::FatbinHeaderCut, 0)),
        }
    }
}
