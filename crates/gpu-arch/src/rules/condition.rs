//! What is asked of a driver, and whether it is met.

use crate::arch::Arch;
use crate::catalogue::{architecture, branch_of, driver_for_cuda, first_isa, newest_isa_cuda, runtime_floor};
use crate::isa::Isa;
use crate::target::Target;
use crate::version::{CudaVersion, DriverVersion};

use super::code::Code;
use super::device::Device;
use super::explain;
use super::known::Known;
use super::reason::{Reason, ReasonCode};
use super::verdict::Verdict;

/// Whether a driver meets a condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Met {
    /// It does.
    Yes,
    /// The driver is unknown and taken to meet it.
    Assumed,
    /// The driver is known only roughly, or the demand is.
    Uncertain,
    /// A newer driver would.
    No,
    /// No driver that supports the device does.
    Never,
}

impl Met {
    /// The best verdict that is possible under this answer.
    pub const fn at_best(self) -> Verdict {
        match self {
            Met::Yes | Met::Assumed => Verdict::Native,
            Met::Uncertain => Verdict::Unknown,
            Met::No => Verdict::DriverTooOld,
            Met::Never => Verdict::NotCovered,
        }
    }
}

/// A demand on the driver, with the reason to give where it matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// Whether it is met.
    pub met: Met,
    /// What is demanded and by what.
    pub reason: Reason,
}

/// The first CUDA version whose driver reads zstd entries. Source: `nvcc --compress-mode`.
const ZSTD: CudaVersion = CudaVersion::new(12, 4);
/// The same for ABI 8 of `sm_100` and up, which CUDA 12.8 introduced.
const ABI_8_BLACKWELL: CudaVersion = CudaVersion::new(12, 8);
/// The same for ABI 8 of older architectures, which CUDA 13.0 introduced. Both floors are inferred
/// from the toolkits that write it.
const ABI_8: CudaVersion = CudaVersion::new(13, 0);
/// The newest ABI that the tables know.
const NEWEST_ABI: u8 = 8;

/// The condition that the driver library implements a CUDA version (nothing: one newer than the
/// tables, whose lowest possible number is the one after the newest).
fn implements(known: &Known, need: Option<CudaVersion>, code: ReasonCode, error: u32, by: &str) -> Condition {
    let driver = need.and_then(driver_for_cuda).filter(|_| !known.is_tegra());
    let mut condition = demand(known.implements(need), need, driver, code, error, by);
    if need.is_none() && condition.met != Met::Never {
        condition.reason.needs_cuda =
            newest_isa_cuda().map(|newest| CudaVersion::new(newest.major, newest.minor.saturating_add(1)));
    }
    condition
}

fn demand(
    met: Met,
    cuda: Option<CudaVersion>,
    driver: Option<DriverVersion>,
    code: ReasonCode,
    error: u32,
    by: &str,
) -> Condition {
    let reachable = met != Met::Never;
    Condition {
        met,
        reason: Reason {
            code,
            error: Some(error),
            text: explain::demand(met, cuda, driver, by),
            needs_driver: driver.filter(|_| reachable),
            needs_cuda: cuda.filter(|_| reachable),
        },
    }
}

/// What an image asks of the driver.
pub(crate) fn of_image(code: &Code, known: &Known) -> Vec<Condition> {
    let mut conditions = Vec::new();
    if let Target::Ptx(arch, isa) = code.found() {
        conditions.extend(of_ptx(arch, isa, known));
    }
    if code.zstd {
        let by = "zstd compression";
        conditions.push(implements(known, Some(ZSTD), ReasonCode::Zstd, 200, by));
    }
    match (code.found(), code.cubin_abi) {
        (Target::Sass(arch), Some(NEWEST_ABI)) => {
            let need = if arch.number() >= 100 { ABI_8_BLACKWELL } else { ABI_8 };
            let by = "cubin ABI 8 (inferred)";
            conditions.push(implements(known, Some(need), ReasonCode::CubinAbi, 200, by));
        }
        (Target::Sass(_), Some(abi)) if abi > NEWEST_ABI => {
            let text = format!("which driver reads cubin ABI {abi} is not known");
            conditions.push(uncertain(text));
        }
        _ => {}
    }
    conditions
}

/// What the version of a PTX text asks of the driver. Where it is not known it is at least the one
/// that its target needs, and perhaps more.
fn of_ptx(arch: Arch, isa: Option<Isa>, known: &Known) -> Option<Condition> {
    let at_least = isa.or_else(|| first_isa(arch)).map(|isa| {
        let by = format!("PTX ISA {isa}");
        implements(known, isa.first_cuda(), ReasonCode::PtxIsa, 222, &by)
    });
    match at_least {
        Some(condition) if isa.is_some() || known.is_unknown() || condition.met != Met::Yes => Some(condition),
        None if known.is_unknown() => None,
        _ => Some(uncertain(format!("the PTX version of `compute_{arch}` is not known"))),
    }
}

fn uncertain(text: String) -> Condition {
    Condition { met: Met::Uncertain, reason: Reason::new(ReasonCode::Uncertain, None, text) }
}

/// What the device itself asks of the driver: a branch that already and still supports it.
///
/// Nothing on Tegra, where the driver comes with the system, and nothing for an unknown driver: who
/// has the device has a driver for it.
pub(crate) fn of_device(device: &Device, known: &Known) -> Option<Condition> {
    let row = architecture(device.capability)?;
    if known.is_unknown() || known.is_tegra() {
        return None;
    }
    if let Some(last) = row.last_driver
        && let Some(branch) = known.is_behind_branch(last)
    {
        return Some(Condition {
            met: Met::Never,
            reason: Reason::new(
                ReasonCode::DriverDroppedDevice,
                Some(100),
                explain::dropped(device.capability, branch, last),
            ),
        });
    }
    let first = row.first_driver?;
    let met = known.is_of_branch(first);
    let cuda = branch_of(first).map(|row| row.cuda);
    let by = format!("compute capability {}", device.capability);
    let driver = Some(DriverVersion::of_branch(first));
    Some(demand(met, cuda, driver, ReasonCode::DriverUnknownDevice, 100, &by))
}

/// What a CUDA runtime of a major version (of the library that is linked or bundled) asks of the
/// driver of a device.
///
/// Source: "minor version compatibility" in the CUDA release notes (from 11 on); before, and for
/// majors that the tables do not know, a driver that implements `major.0`. A driver version of one
/// part is taken to be the newest of its branch.
pub fn runtime_condition(major: u16, device: &Device) -> Condition {
    let known = Known::of(device);
    let need = CudaVersion::new(major, 0);
    let floor = runtime_floor(major).map(|row| row.linux);
    let met = match (known.implements(Some(need)), known.consistent_version(), floor) {
        (Met::Yes | Met::No, Some(version), Some(floor)) => {
            let same_branch = version.minor().is_none() && version.branch() == floor.branch();
            if version >= floor || same_branch { Met::Yes } else { Met::No }
        }
        (met, _, _) => met,
    };
    let driver = floor.or_else(|| driver_for_cuda(need)).filter(|_| !known.is_tegra());
    let by = format!("CUDA runtime {major}");
    demand(met, Some(need), driver, ReasonCode::RuntimeMajor, 35, &by)
}
