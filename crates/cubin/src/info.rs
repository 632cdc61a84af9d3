//! Codes of the records in `.nv.info` and `.nv.info.FUNCTION` (`EIATTR_*`), and the shapes of their values. Names: found
//! by patching every code and reading what cuobjdump prints.

pub(crate) const MAX_THREADS: u8 = 0x05;
pub(crate) const PARAM_CBANK: u8 = 0x0a;
pub(crate) const REQNTID: u8 = 0x10;
pub(crate) const FRAME_SIZE: u8 = 0x11;
pub(crate) const MIN_STACK_SIZE: u8 = 0x12;
pub(crate) const KPARAM_INFO: u8 = 0x17;
pub(crate) const CBANK_PARAM_SIZE: u8 = 0x19;
pub(crate) const MAXREG_COUNT: u8 = 0x1b;
pub(crate) const MAX_STACK_SIZE: u8 = 0x23;
pub(crate) const REGCOUNT: u8 = 0x2f;
pub(crate) const CUDA_API_VERSION: u8 = 0x37;
pub(crate) const CTA_PER_CLUSTER: u8 = 0x3d;
pub(crate) const MAX_CLUSTER_RANK: u8 = 0x3f;
pub(crate) const NUM_BARRIERS: u8 = 0x4c;
pub(crate) const LANGUAGE: u8 = 0x66;

/// The `u16` at `offset`.
pub(crate) fn u16_at(value: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*value.get(offset..)?.first_chunk()?))
}

/// The `u32` at `offset`.
pub(crate) fn u32_at(value: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*value.get(offset..)?.first_chunk()?))
}

/// Three `u32`: x, y, z.
pub(crate) fn three(value: &[u8]) -> Option<[u32; 3]> {
    Some([u32_at(value, 0)?, u32_at(value, 4)?, u32_at(value, 8)?])
}
