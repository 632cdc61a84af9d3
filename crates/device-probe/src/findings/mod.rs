//! What the answers mean, taken together. One file for each thing that they are about.

mod cuda;
mod device;
mod driver;
mod hidden;
mod missing;

use crate::device::ProbedDevice;
use crate::environment::Environment;
use crate::finding::{Finding, FindingCode, Level};
use crate::host::Host;
use crate::join::Join;
use crate::probe::ProbedDriver;
use crate::way::{Status, Way, WayOutcome};

/// `CUDA_ERROR_NO_DEVICE`.
pub(crate) const NO_DEVICE: u32 = 100;

/// All that is known, before the findings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'probe> {
    pub(crate) host: &'probe Host,
    pub(crate) driver: &'probe ProbedDriver,
    pub(crate) devices: &'probe [ProbedDevice],
    pub(crate) ways: &'probe [WayOutcome],
    pub(crate) join: &'probe Join,
}

impl<'probe> View<'probe> {
    fn way(&self, way: Way) -> Option<&'probe WayOutcome> {
        self.ways.iter().find(|outcome| outcome.way == way)
    }

    /// How asking went. A way that was not asked is one with nothing to ask.
    fn status(&self, way: Way) -> &'probe Status {
        self.way(way).map_or(&Status::Absent, |outcome| &outcome.status)
    }

    /// Whether the driver API works and sees nothing.
    fn sees_nothing(&self) -> bool {
        self.way(Way::Cuda).is_some_and(|outcome| match &outcome.status {
            Status::Answered => outcome.devices.is_empty(),
            _ => outcome.failure_code() == Some(NO_DEVICE),
        })
    }

    /// The most trusted other way that lists devices, and how many.
    fn lister(&self) -> Option<(Way, usize)> {
        let others = [Way::CudaUnfiltered, Way::Nvml, Way::NvidiaSmi, Way::Proc, Way::Pci, Way::Tegra];
        others.iter().find_map(|way| {
            let count = self.way(*way)?.devices.len();
            (count > 0).then_some((*way, count))
        })
    }

    /// Whether any part of a driver is here.
    fn has_driver(&self) -> bool {
        let parts = [Way::Cuda, Way::CudaUnfiltered, Way::Nvml, Way::NvidiaSmi, Way::Proc];
        // of what was not asked for lack of time nothing is known
        let is_here = |status: &Status| !status.is_absent() && !matches!(status, Status::NoTimeLeft { .. });
        parts.iter().any(|way| is_here(self.status(*way)))
    }
}

/// All findings, in the order of these lines.
pub(crate) fn all(view: &View<'_>, environment: &Environment) -> Vec<Finding> {
    let mut findings = Vec::new();
    cuda::find(view, environment, &mut findings);
    hidden::find(view, environment, &mut findings);
    driver::find(view, &mut findings);
    device::find(view, &mut findings);
    variables(environment, &mut findings);
    findings
}

fn variables(environment: &Environment, findings: &mut Vec<Finding>) {
    let jit = environment.jit();
    if jit.force_ptx_jit {
        let text = "CUDA_FORCE_PTX_JIT is set: the driver ignores compiled code and compiles PTX";
        findings.push(Finding::new(FindingCode::JitVariable, Level::Note, text));
    }
    if jit.disable_ptx_jit {
        let text = "CUDA_DISABLE_PTX_JIT is set: the driver does not compile PTX";
        findings.push(Finding::new(FindingCode::JitVariable, Level::Note, text));
    }
}

/// `1 device`, `3 devices`.
fn counted(count: usize) -> String {
    if count == 1 { "1 device".to_owned() } else { format!("{count} devices") }
}
