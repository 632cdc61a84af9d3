//! Driver branches, releases and floors.

use crate::isa::Isa;
use crate::tables::drivers::{BRANCHES, ISA_CUDA, RELEASES, RUNTIME_FLOORS};
use crate::version::{CudaVersion, DriverVersion};

/// A branch of the driver and the CUDA version that it implements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DriverBranch {
    /// The first part of the Linux driver version.
    pub branch: u16,
    /// What `cuDriverGetVersion` reports there.
    pub cuda: CudaVersion,
}

/// A toolkit release and the driver that belongs to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Release {
    /// The toolkit.
    pub cuda: CudaVersion,
    /// `U1`, `U2`, `GA2`; empty for the first release.
    pub update: &'static str,
    /// The Linux driver.
    pub driver_linux: DriverVersion,
    /// The Windows driver, where there is one.
    pub driver_windows: Option<DriverVersion>,
}

/// The oldest driver that runs code of any toolkit of one major version.
///
/// Source: CUDA release notes, table 2 ("minor version compatibility").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RuntimeFloor {
    /// The major version of the CUDA runtime.
    pub major: u16,
    /// The oldest Linux driver.
    pub linux: DriverVersion,
    /// The oldest Windows driver.
    pub windows: DriverVersion,
}

/// All branches, ascending.
pub fn branches() -> &'static [DriverBranch] {
    BRANCHES
}

/// All releases, newest first.
pub fn releases() -> &'static [Release] {
    RELEASES
}

/// The floor of a runtime's major version; nothing for majors before 11, where each toolkit needed
/// its own driver, and for majors that the table does not know.
pub fn runtime_floor(major: u16) -> Option<&'static RuntimeFloor> {
    RUNTIME_FLOORS.iter().find(|row| row.major == major)
}

/// The CUDA version that a driver implements (Linux or Windows number).
///
/// A driver newer than the newest branch of the table implements at least what is answered.
/// Nothing for drivers older than the table. Not for Tegra, whose driver is numbered otherwise.
pub fn cuda_of_driver(driver: DriverVersion) -> Option<CudaVersion> {
    branch_of(driver.branch()).map(|row| row.cuda)
}

/// The first driver branch that implements a CUDA version; nothing if it is newer or older than
/// all of the table.
pub fn driver_for_cuda(cuda: CudaVersion) -> Option<DriverVersion> {
    if BRANCHES.first().is_some_and(|row| cuda < row.cuda) {
        return None;
    }
    BRANCHES.iter().find(|row| row.cuda >= cuda).map(|row| DriverVersion::of_branch(row.branch))
}

/// The row of the branch that a driver number belongs to: the highest not above it, because Windows
/// numbers drift upwards within a branch.
pub(crate) fn branch_of(number: u16) -> Option<&'static DriverBranch> {
    BRANCHES.iter().rev().find(|row| row.branch <= number)
}

impl Isa {
    /// The first CUDA version whose driver compiles this PTX ISA; nothing if it is newer than the
    /// table.
    pub fn first_cuda(self) -> Option<CudaVersion> {
        ISA_CUDA.iter().find(|(isa, _)| *isa >= self).map(|(_, cuda)| *cuda)
    }
}

/// A CUDA version that is known only between two bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CudaRange {
    /// The driver implements at least this.
    pub(crate) at_least: CudaVersion,
    /// And at most this; open where nothing.
    pub(crate) at_most: Option<CudaVersion>,
}

impl CudaRange {
    /// Exactly one version.
    pub(crate) const fn exactly(cuda: CudaVersion) -> Self {
        Self { at_least: cuda, at_most: Some(cuda) }
    }

    /// What a driver number says: exact inside the table, open at both ends of it.
    pub(crate) fn of_driver(driver: DriverVersion) -> Self {
        match (branch_of(driver.branch()), BRANCHES.first(), BRANCHES.last()) {
            (Some(row), _, Some(last)) if driver.branch() > last.branch => Self { at_least: row.cuda, at_most: None },
            (Some(row), _, _) => Self::exactly(row.cuda),
            (None, Some(first), _) => Self {
                at_least: CudaVersion::new(0, 0),
                at_most: Some(CudaVersion::new(first.cuda.major.saturating_sub(1), u16::MAX)),
            },
            (None, None, _) => Self { at_least: CudaVersion::new(0, 0), at_most: None },
        }
    }
}

/// The CUDA version of the newest PTX ISA in the table: what needs more is newer than all that is
/// known.
pub(crate) fn newest_isa_cuda() -> Option<CudaVersion> {
    ISA_CUDA.last().map(|(_, cuda)| *cuda)
}

/// Whether a CUDA version is newer than that of the newest driver branch.
pub(crate) fn is_newer_than_branches(cuda: CudaVersion) -> bool {
    BRANCHES.last().is_some_and(|row| row.cuda < cuda)
}
