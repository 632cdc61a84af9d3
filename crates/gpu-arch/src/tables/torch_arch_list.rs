//! What `TORCH_CUDA_ARCH_LIST` takes.
//!
//! Generated from `tables/torch_arch_list.toml` by `tables/generate.py`; the sources of the facts are named there.

use super::{A, N, arch};
use crate::arch::Arch;

/// Family names and the list that each stands for.
#[rustfmt::skip]
pub(crate) static FAMILY_NAMES: &[(&str, &str)] = &[
    ("Kepler+Tesla", "3.7"),
    ("Kepler", "3.5+PTX"),
    ("Maxwell+Tegra", "5.3"),
    ("Maxwell", "5.0;5.2+PTX"),
    ("Pascal", "6.0;6.1+PTX"),
    ("Volta+Tegra", "7.2"),
    ("Volta", "7.0+PTX"),
    ("Turing", "7.5+PTX"),
    ("Ampere+Tegra", "8.7"),
    ("Ampere", "8.0;8.6+PTX"),
    ("Ada", "8.9+PTX"),
    ("Hopper", "9.0+PTX"),
    ("Blackwell+Tegra", "11.0"),
    ("Blackwell", "10.0;10.3;12.0;12.1+PTX"),
    ("Rubin", "10.7+PTX"),
];

/// The elements that torch takes.
#[rustfmt::skip]
pub(crate) static SUPPORTED: &[Arch] = &[
    arch(35, N),
    arch(37, N),
    arch(50, N),
    arch(52, N),
    arch(53, N),
    arch(60, N),
    arch(61, N),
    arch(62, N),
    arch(70, N),
    arch(72, N),
    arch(75, N),
    arch(80, N),
    arch(86, N),
    arch(87, N),
    arch(89, N),
    arch(90, N),
    arch(90, A),
    arch(100, N),
    arch(100, A),
    arch(110, N),
    arch(110, A),
    arch(103, N),
    arch(103, A),
    arch(107, N),
    arch(107, A),
    arch(120, N),
    arch(120, A),
    arch(121, N),
    arch(121, A),
];
