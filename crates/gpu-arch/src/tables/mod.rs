//! The facts: constant data, nothing is parsed at run time.
//!
//! The files beside this one are written by `tables/generate.py` from the TOML files there.

pub(crate) mod architectures;
pub(crate) mod drivers;
pub(crate) mod errors;
pub(crate) mod families;
pub(crate) mod products;
pub(crate) mod toolkits;
pub(crate) mod torch;
pub(crate) mod torch_arch_list;

use crate::arch::{Arch, Suffix};
use crate::capability::Capability;
use crate::catalogue::{Host, Product, ProductClass, ProductSource};
use crate::isa::Isa;
use crate::version::{CudaVersion, DriverVersion};

// Short names, so that a row of a table stays readable.
const N: Suffix = Suffix::None;
const A: Suffix = Suffix::A;
const F: Suffix = Suffix::F;

const fn cc(major: u32, minor: u32) -> Capability {
    Capability::new(major, minor)
}

const fn arch(number: u32, suffix: Suffix) -> Arch {
    Arch::new(number, suffix)
}

const fn cuda(major: u16, minor: u16) -> CudaVersion {
    CudaVersion::new(major, minor)
}

const fn isa(major: u16, minor: u16) -> Isa {
    Isa::new(major, minor)
}

const fn driver1(branch: u16) -> DriverVersion {
    DriverVersion::of_branch(branch)
}

const fn driver2(branch: u16, minor: u16) -> DriverVersion {
    DriverVersion::of_two(branch, minor)
}

const fn driver3(branch: u16, minor: u16, patch: u16) -> DriverVersion {
    DriverVersion::of_three(branch, minor, patch)
}

const fn product(
    name: &'static str,
    capability: Capability,
    class: ProductClass,
    chips: &'static [&'static str],
    pci: &'static [u16],
    sources: &'static [ProductSource],
) -> Product {
    Product { name, capability, class, chips, pci, host: None, sources }
}

const fn on_aarch64(product: Product) -> Product {
    Product { host: Some(Host::Aarch64), ..product }
}
