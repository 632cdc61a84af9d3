//! One image, as far as the rules look at it.

use crate::target::Target;

/// One image of a module: what it is for, and what it asks of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Code {
    /// Kind and architecture, as the label says them: the driver selects by it. For PTX with the version, where known.
    pub target: Target,
    /// What the payload says of itself: the driver checks it when it loads what it has selected.
    pub payload: Payload,
    /// Whether its fatbin entry is compressed with zstd.
    pub zstd: bool,
    /// The ABI version of a cubin's ELF header (7 or 8), where known.
    pub cubin_abi: Option<u8>,
    /// Whether it is for 32-bit processes.
    pub is_32bit: bool,
    /// Whether bit 24 of its entry's flags is set: of two equal cubins the one without it is taken.
    pub has_compat: bool,
}

/// What the payload of an image says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Payload {
    /// It was not looked at: the label counts.
    #[default]
    Unread,
    /// It is for this target; of PTX with its version.
    Is(Target),
    /// It is no code of the kind that the label says.
    Foreign,
    /// It is obfuscated (`fatbinary --okey`).
    Obfuscated,
    /// It was looked at, and what it is for did not show.
    Unclear,
}

impl Code {
    /// 64-bit code that asks nothing of a driver beyond its target.
    pub const fn new(target: Target) -> Self {
        Self { target, payload: Payload::Unread, zstd: false, cubin_abi: None, is_32bit: false, has_compat: false }
    }

    /// The same with what its payload says.
    #[must_use]
    pub const fn with_payload(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    /// What the driver finds when it loads the image: the payload's target where that was read, else the label's.
    pub const fn found(&self) -> Target {
        match self.payload {
            Payload::Is(target) => target,
            _ => self.target,
        }
    }
}
