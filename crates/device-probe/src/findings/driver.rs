//! The parts of the driver, compared with each other.

use crate::finding::{Finding, FindingCode, Level};
use crate::process;
use crate::way::{Failure, Status, Way};

use super::View;

/// `NVML_ERROR_LIB_RM_VERSION_MISMATCH`.
const VERSION_MISMATCH: u32 = 18;
/// `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH`.
const CUDA_MISMATCH: u32 = 803;

pub(super) fn find(view: &View<'_>, findings: &mut Vec<Finding>) {
    let cuda = view.way(Way::Cuda);
    let works = view.status(Way::Cuda).is_answered();
    let library = view.driver.library_version.zip(view.driver.version).filter(|(library, kernel)| library != kernel);
    let is_compat = view.driver.library.as_deref().is_some_and(|path| path.contains("/compat"));
    let refused = view.way(Way::Nvml).and_then(crate::way::WayOutcome::failure_code);
    if works && let Some((library, kernel)) = library {
        let text = format!("the driver library is {library} and the kernel driver {kernel}: cuda-compat");
        findings.push(Finding::new(FindingCode::CompatLibrary, Level::Note, text));
    } else if works && is_compat {
        let text = "the driver library is that of the cuda-compat package";
        findings.push(Finding::new(FindingCode::CompatLibrary, Level::Note, text));
    } else if cuda.and_then(crate::way::WayOutcome::failure_code) != Some(CUDA_MISMATCH)
        && (refused == Some(VERSION_MISMATCH) || library.is_some())
    {
        let text = match library {
            Some((library, kernel)) => {
                format!("the driver library is {library} and the kernel driver {kernel}")
            }
            None => "the management library and the kernel driver have different versions".to_owned(),
        };
        findings.push(Finding::new(FindingCode::DriverMismatch, Level::Error, text).with_advice(
            "the driver was updated and the old kernel module is still loaded: restart the machine; in a container the \
             libraries must be those of the host",
        ));
    }
    nvml(view, works, findings);
    nvidia_smi(view, findings);
}

fn nvidia_smi(view: &View<'_>, findings: &mut Vec<Finding>) {
    let text = match view.status(Way::NvidiaSmi) {
        Status::Unusable { text } | Status::Crashed { text } => format!("nvidia-smi fails: {text}"),
        Status::TimedOut { milliseconds } => format!("nvidia-smi does not answer within {milliseconds} ms"),
        Status::NoTimeLeft { milliseconds } => format!("nvidia-smi was not asked: the {milliseconds} ms were up"),
        Status::TooMuchOutput { bytes } => format!("nvidia-smi printed more than {}", process::size(*bytes)),
        Status::Answered
        | Status::Absent
        | Status::NotAsked { .. }
        | Status::MissingFunction { .. }
        | Status::Failed(_) => return,
    };
    findings.push(Finding::new(FindingCode::NvidiaSmiError, Level::Note, text));
}

fn nvml(view: &View<'_>, works: bool, findings: &mut Vec<Finding>) {
    let text = match view.status(Way::Nvml) {
        Status::Answered | Status::Absent | Status::NotAsked { .. } => return,
        // has a finding of its own
        Status::Failed(failure) if failure.code == VERSION_MISMATCH => return,
        Status::Failed(Failure { code, call }) => match meaning(*code) {
            Some(meaning) => format!("NVML fails: {call} returns {code}, {meaning}"),
            None => format!("NVML fails: {call} returns {code}"),
        },
        Status::Unusable { text } => format!("NVML cannot be loaded: {text}"),
        Status::MissingFunction { name } => format!("NVML has no function `{name}`"),
        Status::TimedOut { milliseconds } => format!("NVML does not answer within {milliseconds} ms"),
        Status::NoTimeLeft { milliseconds } => format!("NVML was not asked: the {milliseconds} ms were up"),
        Status::TooMuchOutput { bytes } => format!("NVML printed more than {}", process::size(*bytes)),
        Status::Crashed { text } => format!("NVML ends the process that asks it: {text}"),
    };
    // a Jetson has an NVML that does nothing
    let level = if works { Level::Note } else { Level::Warning };
    findings.push(Finding::new(FindingCode::NvmlError, level, text));
}

/// `nvmlReturn_t` in words. Source: `nvml.h`.
fn meaning(code: u32) -> Option<&'static str> {
    Some(match code {
        1 => "not initialised",
        2 => "invalid argument",
        3 => "not supported",
        4 => "no permission",
        6 => "not found",
        8 => "power cable not attached",
        9 => "the kernel driver is not loaded",
        10 => "timeout",
        11 => "interrupt problem",
        12 => "a library was not found",
        13 => "the library lacks a function",
        14 => "corrupted infoROM",
        15 => "the GPU has fallen off the bus",
        16 => "the GPU must be reset",
        17 => "the operating system blocks the device",
        18 => "library and kernel driver differ",
        19 => "in use",
        20 => "out of memory",
        999 => "unknown",
        _ => return None,
    })
}
