//! Why a verdict is what it is.

use std::fmt;

use crate::version::{CudaVersion, DriverVersion};

/// The kind of a reason.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ReasonCode {
    /// No image fits the device.
    NoImage,
    /// The payload is for another GPU than its label says, or no code of that kind: the driver refuses what it selected.
    LabelMismatch,
    /// Nearly all kernels that load are empty.
    EmptyKernels,
    /// The driver may relink the file from the relocatable code in it.
    MayRelink,
    /// The PTX is obfuscated.
    Obfuscated,
    /// The driver cannot compile PTX of this version.
    PtxIsa,
    /// The driver cannot decompress the entry.
    Zstd,
    /// The driver cannot read cubins of this ABI.
    CubinAbi,
    /// The driver is too old for the CUDA runtime.
    RuntimeMajor,
    /// The device is newer than the driver.
    DriverUnknownDevice,
    /// The device is no longer supported by the driver.
    DriverDroppedDevice,
    /// Only PTX fits, and compiling it is switched off.
    JitDisabled,
    /// The rules do not say.
    Uncertain,
    /// The modules are split by architecture, and those for this device are among them.
    ArchSplit,
    /// The library picks among its modules by itself.
    Dispatching,
    /// The file is for another host architecture.
    HostMismatch,
    /// Only relocatable code.
    RelocatableOnly,
    /// Only LTO-IR.
    LtoOnly,
    /// Only modules without kernels.
    StubsOnly,
    /// Only code for devices of another vendor.
    OtherVendor,
    /// No device code of any kind.
    None_,
}

impl ReasonCode {
    /// The word in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReasonCode::NoImage => "no-image",
            ReasonCode::LabelMismatch => "label-mismatch",
            ReasonCode::EmptyKernels => "empty-kernels",
            ReasonCode::MayRelink => "may-relink",
            ReasonCode::Obfuscated => "obfuscated",
            ReasonCode::PtxIsa => "ptx-isa",
            ReasonCode::Zstd => "zstd",
            ReasonCode::CubinAbi => "cubin-abi",
            ReasonCode::RuntimeMajor => "runtime-major",
            ReasonCode::DriverUnknownDevice => "driver-unknown-device",
            ReasonCode::DriverDroppedDevice => "driver-dropped-device",
            ReasonCode::JitDisabled => "jit-disabled",
            ReasonCode::Uncertain => "uncertain",
            ReasonCode::ArchSplit => "arch-split",
            ReasonCode::Dispatching => "dispatching",
            ReasonCode::HostMismatch => "host-mismatch",
            ReasonCode::RelocatableOnly => "relocatable-only",
            ReasonCode::LtoOnly => "lto-only",
            ReasonCode::StubsOnly => "stubs-only",
            ReasonCode::OtherVendor => "other-vendor",
            ReasonCode::None_ => "none",
        }
    }

    /// The place of a reason among others: the first is the headline. A wrong host, then a device
    /// that the driver does not support, then nothing that fits, then the runtime, then what the
    /// image needs of the driver.
    pub const fn rank(self) -> u8 {
        match self {
            ReasonCode::HostMismatch => 0,
            ReasonCode::DriverUnknownDevice | ReasonCode::DriverDroppedDevice => 1,
            ReasonCode::NoImage | ReasonCode::LabelMismatch | ReasonCode::JitDisabled => 2,
            ReasonCode::RuntimeMajor => 3,
            ReasonCode::PtxIsa | ReasonCode::Zstd | ReasonCode::CubinAbi => 4,
            ReasonCode::Uncertain | ReasonCode::Obfuscated | ReasonCode::MayRelink => 5,
            ReasonCode::EmptyKernels | ReasonCode::ArchSplit | ReasonCode::Dispatching => 6,
            ReasonCode::RelocatableOnly
            | ReasonCode::LtoOnly
            | ReasonCode::StubsOnly
            | ReasonCode::OtherVendor
            | ReasonCode::None_ => 7,
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// One reason, for programs and for people.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Reason {
    /// Its kind.
    pub code: ReasonCode,
    /// The CUDA error that a program sees, where it is known.
    pub error: Option<u32>,
    /// One sentence for people: lower case, no full stop.
    pub text: String,
    /// The oldest driver that would do, where a driver would do. Nothing on Tegra, whose drivers
    /// are numbered otherwise, and where the driver is newer than the tables.
    pub needs_driver: Option<DriverVersion>,
    /// The same as the CUDA version that the driver implements.
    pub needs_cuda: Option<CudaVersion>,
}

impl Reason {
    /// A reason that no driver would change.
    pub fn new(code: ReasonCode, error: Option<u32>, text: impl Into<String>) -> Self {
        Self { code, error, text: text.into(), needs_driver: None, needs_cuda: None }
    }
}
