//! CUDA toolkits.

use crate::arch::{Arch, Suffix};
use crate::isa::Isa;
use crate::tables::toolkits::TOOLKITS;
use crate::version::{CudaVersion, DriverVersion};

use super::architecture::architecture;

/// One toolkit and what its assembler takes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Toolkit {
    /// Its version.
    pub version: CudaVersion,
    /// Every architecture that `ptxas` compiles for, suffixed ones at the end.
    pub archs: &'static [Arch],
    /// The newest PTX ISA, which is the one that `nvcc` writes.
    pub isa: Isa,
    /// What `nvcc` compiles for without a flag.
    pub default_arch: Arch,
    /// The Linux driver that belongs to it. To run its code, [`super::runtime_floor`] is enough.
    pub driver_linux: Option<DriverVersion>,
    /// The Windows driver that belongs to it.
    pub driver_windows: Option<DriverVersion>,
    /// Whether the list was read from the assembler itself (else from published tables).
    pub measured: bool,
}

/// All toolkits from 8.0 on, ascending. There was no public 12.7.
pub fn toolkits() -> &'static [Toolkit] {
    TOOLKITS
}

/// The toolkit of a version.
pub fn toolkit(version: CudaVersion) -> Option<&'static Toolkit> {
    TOOLKITS.iter().find(|row| row.version == version)
}

/// The toolkits that compile for an architecture (suffix matched exactly), ascending.
pub fn toolkits_for(arch: Arch) -> impl Iterator<Item = &'static Toolkit> {
    TOOLKITS.iter().filter(move |row| row.archs.contains(&arch))
}

/// The first toolkit that compiles for an architecture; known also where it is older than the
/// oldest toolkit of the table.
pub fn first_toolkit(arch: Arch) -> Option<CudaVersion> {
    let row = architecture(arch.capability()).filter(|_| arch.suffix() == Suffix::None);
    match row {
        Some(row) => Some(row.first_toolkit),
        None => toolkits_for(arch).map(|row| row.version).next(),
    }
}

/// The last toolkit that compiles for an architecture, if the newest does not.
pub(crate) fn last_toolkit(arch: Arch) -> Option<CudaVersion> {
    let newest = TOOLKITS.last().map(|row| row.version);
    match toolkits_for(arch).last() {
        Some(row) => Some(row.version).filter(|version| Some(*version) != newest),
        None => architecture(arch.capability()).and_then(|row| row.last_toolkit),
    }
}
