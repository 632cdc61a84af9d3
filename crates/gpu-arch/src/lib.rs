//! CUDA architectures: how they are spelled, what they are called, and what runs where.
//!
//! Three parts, each usable alone:
//!
//! - the values [`Arch`], [`Target`], [`Capability`], [`Isa`], [`CudaVersion`], [`DriverVersion`],
//!   and [`spelling`], which reads them in the spelling of every build system;
//! - [`catalogue`]: architectures, products, toolkits, drivers, published wheels and error codes;
//! - [`rules`]: whether code runs on a device, and why not.
//!
//! Nothing here reads a file, asks a driver or keeps state.

pub mod catalogue;
pub mod rules;
pub mod spelling;

mod arch;
mod capability;
mod isa;
#[cfg(feature = "serde")]
mod serde_text;
mod tables;
mod target;
mod version;

pub use arch::{Arch, ParseArchError, Suffix};
pub use capability::{Capability, ParseCapabilityError};
pub use isa::{Isa, ParseIsaError};
pub use target::{ParseTargetError, Target};
pub use version::{CudaVersion, DriverVersion, ParseVersionError};
