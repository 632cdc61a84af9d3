//! What published wheels hold, as hints: a wheel's truth is what is read from it.

use crate::arch::Arch;
use crate::capability::Capability;
use crate::rules::{Coverage, ptx_covers, sass_covers};
use crate::spelling::{Dialect, code_in};
use crate::tables::torch::{MEASURED, PUBLISHED, TORCH, TORCH_HINTS};
use crate::target::Target;

use super::host::Host;

/// How sure a row is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Confidence {
    /// Inferred.
    Low,
    /// From a secondary source, or two sources that differ a little.
    Medium,
    /// From the build script or measured.
    High,
}

/// One published build of torch.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TorchBuild {
    /// `2.8`.
    pub version: &'static str,
    /// The newest release of the version, of which the row is taken to speak: `2.7.1`.
    pub release: &'static str,
    /// The variant: `cu128`.
    pub cuda: &'static str,
    /// The host that it is for.
    pub host: Host,
    /// Capabilities with SASS in the main set of kernels.
    pub sass: &'static [Capability],
    /// Capabilities with PTX in the main set of kernels.
    pub ptx: &'static [Capability],
    /// Whether `pip install torch` gives this variant on Linux x86_64.
    pub pypi_default: bool,
    /// How sure the row is.
    pub confidence: Confidence,
    /// Where it comes from.
    pub source: &'static str,
}

/// Which torch loads on a capability, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TorchHint {
    /// The capabilities that it is about.
    pub capabilities: &'static [Capability],
    /// Versions.
    pub torch: &'static str,
    /// Variants.
    pub variant: &'static str,
}

/// Images counted in a published file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MeasuredFile {
    /// The package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The file in its wheel.
    pub file: &'static str,
    /// SASS architectures with the number of images.
    pub sass: &'static [(Arch, u32)],
    /// PTX architectures with the number of images.
    pub ptx: &'static [(Arch, u32)],
}

/// A list that a package publishes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PublishedList {
    /// The package.
    pub package: &'static str,
    /// Its versions.
    pub versions: &'static str,
    /// The list as published.
    pub archs: &'static str,
    /// The newest release of the row, as pip is asked for it: `jax[cuda12]==0.10.2`. Nothing where pip has none.
    pub pip: Option<&'static str>,
    /// How sure the row is.
    pub confidence: Confidence,
    /// Where it comes from.
    pub source: &'static str,
}

impl PublishedList {
    /// Whether its code runs on a device with a driver that is new enough; nothing where the row gives no plain list. Tegra
    /// devices follow the rules before CUDA 13.2.
    pub fn covers(&self, capability: Capability) -> Option<bool> {
        let list = code_in(self.archs, Dialect::Xla).ok()?;
        let fits = |target: &Target| match *target {
            Target::Sass(arch) => sass_covers(arch, capability, false) == Coverage::Yes,
            Target::Ptx(arch, _) => ptx_covers(arch, capability) == Coverage::Yes,
            Target::Lto(_) => false,
        };
        Some(list.iter().any(fits))
    }
}

/// All builds of torch in the table, ascending by version.
pub fn torch_builds() -> &'static [TorchBuild] {
    TORCH
}

/// The builds of torch whose main set of kernels runs on a device, by SASS or by PTX, with a driver
/// that is new enough; ascending by version. Tegra devices follow the rules before CUDA 13.2.
pub fn torch_builds_for(capability: Capability) -> impl Iterator<Item = &'static TorchBuild> {
    let by_sass = move |code: Arch| sass_covers(code, capability, false) == Coverage::Yes;
    let by_ptx = move |code: Arch| ptx_covers(code, capability) == Coverage::Yes;
    TORCH.iter().filter(move |row| archs(row.sass).any(by_sass) || archs(row.ptx).any(by_ptx))
}

/// The plain architectures of capabilities.
fn archs(capabilities: &[Capability]) -> impl Iterator<Item = Arch> {
    capabilities.iter().filter_map(|capability| capability.arch())
}

/// Which torch loads on a capability.
pub fn torch_hint(capability: Capability) -> Option<&'static TorchHint> {
    TORCH_HINTS.iter().find(|row| row.capabilities.contains(&capability))
}

/// Images counted in published wheels.
pub fn measured_files() -> &'static [MeasuredFile] {
    MEASURED
}

/// Lists that packages other than torch publish.
pub fn published_lists() -> &'static [PublishedList] {
    PUBLISHED
}
