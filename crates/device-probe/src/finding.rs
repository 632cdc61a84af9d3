//! What a person should know of the answers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// CUDA programs cannot run, or what is reported cannot be trusted.
    Error,
    /// Something is likely not as it was meant.
    Warning,
    /// Good to know.
    Note,
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        })
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a finding is about. The texts are stable.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum FindingCode {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
            /// One that a newer version of this crate recorded.
            #[serde(other, rename = "other")]
            Other,
        }

        impl FindingCode {
            /// Its text in reports.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other => "other",
                }
            }
        }
    };
}

codes! {
    /// No NVIDIA GPU, driver or device file is here.
    NoGpu = "no-gpu",
    /// Device files are here, but no driver library: a container that was given no driver.
    NoDriverLibrary = "no-driver-library",
    /// A GPU is on the PCI bus, but there is no driver.
    NoDriver = "no-driver",
    /// The driver API works and sees no device, and nothing else lists one.
    NoDevice = "no-device",
    /// The driver API works and sees no device, although there are some.
    AllHidden = "all-hidden",
    /// The driver API sees some devices only.
    SomeHidden = "some-hidden",
    /// `libcuda` is not here, although other parts of the driver are.
    CudaLibraryMissing = "cuda-library-missing",
    /// `libcuda` is here, but cannot be loaded.
    CudaLibraryUnusable = "cuda-library-unusable",
    /// `libcuda` is in a folder where programs do not look for it.
    NotOnLoaderPath = "not-on-loader-path",
    /// `cuInit`, or counting devices, failed.
    CudaError = "cuda-error",
    /// The driver API did not answer in time.
    CudaHung = "cuda-hung",
    /// The driver API was not asked, because the time was up.
    CudaNotAsked = "cuda-not-asked",
    /// The driver API ended the process that asked it.
    CudaCrashed = "cuda-crashed",
    /// The driver API printed too much.
    CudaOutput = "cuda-output",
    /// The driver API or NVML lists a device, but refuses to describe it.
    DeviceError = "device-error",
    /// The library and the kernel module are of different versions.
    DriverMismatch = "driver-mismatch",
    /// The library is that of the `cuda-compat` package.
    CompatLibrary = "compat-library",
    /// NVML failed.
    NvmlError = "nvml-error",
    /// `nvidia-smi` failed.
    NvidiaSmiError = "nvidia-smi-error",
    /// Two ways report different capabilities for one device.
    CapabilityConflict = "capability-conflict",
    /// The table of products has another capability than the driver reports.
    TableOutOfDate = "table-out-of-date",
    /// The capability is in no table.
    NewGpu = "new-gpu",
    /// The capability of a device is not known.
    UnknownCapability = "unknown-capability",
    /// The driver no longer supports the device.
    DriverDroppedDevice = "driver-dropped-device",
    /// MIG splits a device.
    Mig = "mig",
    /// MIG is on, and no instance was made.
    MigWithoutInstances = "mig-without-instances",
    /// `CUDA_VISIBLE_DEVICES` has an entry that names no device.
    VisibleEntryInvalid = "visible-entry-invalid",
    /// GPUs on the PCI bus that the driver does not list here.
    MoreOnPciBus = "more-on-pci-bus",
    /// A variable changes which code the driver loads.
    JitVariable = "jit-variable",
}

impl fmt::Display for FindingCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// One thing that a person should know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What it is about.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub code: FindingCode,
    /// How much it matters.
    pub level: Level,
    /// The `CUresult` behind it, if there is one; see [`gpu_arch::catalogue::error`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<u32>,
    /// What is so: lower case, no full stop.
    pub text: String,
    /// What to do, if something can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    pub(crate) fn new(code: FindingCode, level: Level, text: impl Into<String>) -> Self {
        Self { code, level, error: None, text: text.into(), advice: None }
    }

    pub(crate) fn with_advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    pub(crate) fn with_error(self, error: u32) -> Self {
        Self { error: Some(error), ..self }
    }
}
