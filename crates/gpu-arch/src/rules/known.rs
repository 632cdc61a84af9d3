//! What follows from what is known of a driver.

use crate::catalogue::{CudaRange, Platform, architecture, branch_of, branches, newest_isa_cuda};
use crate::version::{CudaVersion, DriverVersion};

use super::condition::Met;
use super::device::Device;

/// The first CUDA version whose driver takes the desktop's 8.x code on Orin, and the first of the
/// desktop's drivers on Orin (JetPack 7.2). Source: nvlink 13.1 and 13.2, pytorch#186285.
const UNIFICATION: CudaVersion = CudaVersion::new(13, 2);
/// The branch that implements it.
const UNIFICATION_BRANCH: u16 = 595;

/// The driver of a device: bounds on its CUDA version and branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// What the driver library implements; nothing if the driver is unknown.
    cuda: Option<CudaRange>,
    /// The lowest and the highest number that the kernel driver can have.
    branch: Option<(u16, Option<u16>)>,
    /// Its version where that was given and means what it means on the desktop.
    version: Option<DriverVersion>,
    /// Drivers of this device are spoken of by CUDA version only.
    is_tegra: bool,
    /// The CUDA version that the first driver for the device implements: who has the device has at
    /// least that, and to ask no more is no condition.
    first_cuda: Option<CudaVersion>,
    /// The CUDA version of the last driver branch that supports the device.
    last_cuda: Option<CudaVersion>,
}

impl Known {
    pub(crate) fn of(device: &Device) -> Self {
        let is_tegra = device.platform == Platform::Tegra;
        let version = device.driver.version.filter(|version| !is_tegra || version.branch() >= UNIFICATION_BRANCH);
        let cuda = match (device.driver.cuda, version) {
            (Some(cuda), _) => Some(CudaRange::exactly(cuda)),
            (None, Some(version)) => Some(CudaRange::of_driver(version)),
            (None, None) => None,
        };
        let branch = match (version, device.driver.cuda) {
            (Some(version), _) => Some((version.branch(), Some(version.branch()))),
            (None, Some(cuda)) => Some(branches_of(cuda)),
            (None, None) => None,
        };
        let row = architecture(device.capability);
        let cuda_of_branch = |branch: u16| branch_of(branch).map(|row| row.cuda);
        Self {
            cuda,
            branch,
            version,
            is_tegra,
            first_cuda: row.and_then(|row| match row.first_driver {
                Some(branch) => cuda_of_branch(branch),
                None => Some(row.first_toolkit),
            }),
            last_cuda: row.and_then(|row| row.last_driver).and_then(cuda_of_branch),
        }
    }

    pub(crate) const fn is_unknown(&self) -> bool {
        self.cuda.is_none()
    }

    pub(crate) const fn is_tegra(&self) -> bool {
        self.is_tegra
    }

    /// The version of the driver, unless its library is of another (`cuda-compat`).
    pub(crate) fn consistent_version(&self) -> Option<DriverVersion> {
        let version = self.version?;
        (Some(CudaRange::of_driver(version)) == self.cuda).then_some(version)
    }

    /// Whether Orin's driver is the desktop's. An unknown driver is not taken to be.
    pub(crate) fn is_unified(&self) -> bool {
        self.cuda.is_some_and(|cuda| cuda.at_least >= UNIFICATION)
    }

    /// Whether the driver library implements a CUDA version; nothing stands for a version that is
    /// newer than the tables.
    pub(crate) fn implements(&self, need: Option<CudaVersion>) -> Met {
        let out_of_reach = match (self.last_cuda, need) {
            (Some(last), Some(need)) => need > last,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let met = match (self.cuda, need) {
            (None, Some(need)) if Some(need) <= self.first_cuda => Met::Yes,
            (None, _) => Met::Assumed,
            (Some(cuda), Some(need)) if cuda.at_least >= need => Met::Yes,
            (Some(cuda), Some(need)) if cuda.at_most.is_some_and(|most| most < need) => Met::No,
            (Some(cuda), None) if cuda.at_most.is_some_and(|most| Some(most) <= newest_isa_cuda()) => Met::No,
            (Some(_), _) => Met::Uncertain,
        };
        if met != Met::Yes && out_of_reach { Met::Never } else { met }
    }

    /// Whether the kernel driver is of a branch or a newer one.
    pub(crate) fn is_of_branch(&self, first: u16) -> Met {
        match self.branch {
            None => Met::Assumed,
            Some((lowest, _)) if lowest >= first => Met::Yes,
            Some((_, Some(highest))) if highest < first => Met::No,
            Some(_) => Met::Uncertain,
        }
    }

    /// The branch of the kernel driver, if it is surely newer than another.
    pub(crate) fn is_behind_branch(&self, last: u16) -> Option<u16> {
        let (lowest, _) = self.branch?;
        branch_of(lowest).map(|row| row.branch).filter(|branch| *branch > last)
    }
}

/// The numbers that a driver with this CUDA version can have.
fn branches_of(cuda: CudaVersion) -> (u16, Option<u16>) {
    let after = branches().iter().find(|row| row.cuda > cuda).map(|row| row.branch.saturating_sub(1));
    let implemented = branches().iter().rev().find(|row| row.cuda <= cuda);
    let lowest = implemented
        .and_then(|newest| branches().iter().find(|row| row.cuda == newest.cuda))
        .map_or(0, |row| row.branch);
    (lowest, after)
}
