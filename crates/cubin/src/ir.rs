/// First bytes of uncompressed LTO-IR. Observed.
pub const LTO_IR_MAGIC: [u8; 4] = [0xed, 0x43, 0x4e, 0x7f];
/// First bytes of CUDA Tile IR bytecode. Observed.
pub const TILE_IR_MAGIC: [u8; 8] = *b"\x7fTileIR\0";

/// The version of a piece of Tile IR: `u8` major and `u8` minor behind the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileIrHead {
    /// Major version, 13 for CUDA 13.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
}

impl TileIrHead {
    /// Reads the head of a Tile IR payload, `None` if it is none.
    #[must_use]
    pub fn parse(data: &[u8]) -> Option<Self> {
        match data.strip_prefix(&TILE_IR_MAGIC)? {
            [major, minor, ..] => Some(Self { major: *major, minor: *minor }),
            _ => None,
        }
    }
}
