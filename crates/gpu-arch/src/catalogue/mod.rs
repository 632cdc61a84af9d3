//! What is known of architectures, products, toolkits, drivers, wheels and errors, and its lookup.
//!
//! Every row has its source in the TOML files of `tables/`, from which the Rust tables are
//! generated.

mod architecture;
mod driver;
mod error;
mod family;
mod flags;
mod host;
mod name;
mod nearest;
mod product;
mod toolkit;
mod torch;

pub use architecture::{
    Architecture, ParsePlatformError, Platform, arch_exists, architecture, architectures, nearest_archs,
};
pub use driver::{
    DriverBranch, Release, RuntimeFloor, branches, cuda_of_driver, driver_for_cuda, releases, runtime_floor,
};
pub use error::{CudaError, error, errors, recognise_error};
pub use family::{Family, FamilyMember, Meaning, families, family};
pub use flags::{BuildFlags, flags_for};
pub use host::{Host, ParseHostError};
pub use product::{Product, ProductClass, ProductLookup, ProductSource, product, product_by_pci_id, products};
pub use toolkit::{Toolkit, first_toolkit, toolkit, toolkits, toolkits_for};
pub use torch::{
    Confidence, MeasuredFile, PublishedList, TorchBuild, TorchHint, measured_files, published_lists, torch_builds,
    torch_builds_for, torch_hint,
};

pub(crate) use architecture::first_isa;
pub(crate) use driver::{CudaRange, branch_of, is_newer_than_branches, newest_isa_cuda};
