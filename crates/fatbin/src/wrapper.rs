use nom::Parser;
use nom::number::complete::{le_u32, le_u64};

/// The first four bytes of a wrapper, `B1 43 62 46`, read as a little-endian `u32`.
pub const WRAPPER_MAGIC: u32 = 0x4662_43B1;
/// The same record for HIP.
pub const HIP_WRAPPER_MAGIC: u32 = 0x4849_5046;
/// Bytes of a wrapper.
pub const WRAPPER_SIZE: usize = 24;

/// One record of the section `.nvFatBinSegment` (`__fatBinC_Wrapper_t`): what a program hands to the CUDA runtime.
///
/// | offset | size | name | meaning | evidence |
/// |---|---|---|---|---|
/// | 0 | 4 | magic | [`WRAPPER_MAGIC`] | documented (`fatbinary_section.h`), observed |
/// | 4 | 4 | version | 1, or 2 for device-linked code | observed |
/// | 8 | 8 | pointer | address of the fatbin; zero plus a relocation in an object file | observed |
/// | 16 | 8 | prelinked | version 2: pointer to a list of the fatbins that were linked | observed |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wrapper {
    /// 1, or 2 for device-linked code.
    pub version: u32,
    /// Virtual address of the fatbin, as stored in the file.
    pub pointer: u64,
    /// Virtual address of the list of linked fatbins, version 2 only.
    pub prelinked: u64,
}

impl Wrapper {
    /// Reads a wrapper at the start of `data`; `None` if magic or version are not those of a wrapper.
    #[must_use]
    pub fn parse(data: &[u8]) -> Option<Self> {
        let record: nom::IResult<&[u8], (u32, u32, u64, u64), ()> = (
            le_u32, // magic
            le_u32, // version
            le_u64, // pointer
            le_u64, // prelinked
        )
            .parse(data);
        match record {
            Ok((_, (WRAPPER_MAGIC, version @ 1..=2, pointer, prelinked))) => Some(Self { version, pointer, prelinked }),
            _ => None,
        }
    }
}
