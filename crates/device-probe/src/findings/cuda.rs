//! The driver API: broken, or in error.

use gpu_arch::catalogue;

use crate::environment::Environment;
use crate::finding::{Finding, FindingCode, Level};
use crate::process;
use crate::way::{Failure, Status, Way, WayOutcome};

use super::{NO_DEVICE, View, missing};

pub(super) fn find(view: &View<'_>, environment: &Environment, findings: &mut Vec<Finding>) {
    let Some(outcome) = view.way(Way::Cuda) else {
        findings.push(missing::find(view, environment));
        return;
    };
    match &outcome.status {
        Status::Answered => {}
        Status::Absent | Status::NotAsked { .. } => findings.push(missing::find(view, environment)),
        Status::Unusable { text } => {
            let text = format!("the driver library cannot be loaded: {text}");
            findings.push(Finding::new(FindingCode::CudaLibraryUnusable, Level::Error, text).with_advice(
                "install the driver's library for this kind of program (64 bit, this machine's host architecture)",
            ));
        }
        Status::MissingFunction { name } => {
            let text = format!("the driver library has no function `{name}`");
            findings.push(
                Finding::new(FindingCode::CudaLibraryUnusable, Level::Error, text)
                    .with_advice("the library is older than CUDA 2 or none of NVIDIA's: install a driver"),
            );
        }
        // with devices elsewhere or without, that has findings of its own
        Status::Failed(failure) if failure.code == NO_DEVICE => {}
        Status::Failed(failure) => findings.push(failed(view, outcome, failure)),
        Status::TimedOut { milliseconds } => {
            let text = format!("the driver API does not answer within {milliseconds} ms");
            findings.push(Finding::new(FindingCode::CudaHung, Level::Error, text).with_advice(
                "the kernel driver hangs, or a device takes long to start: look for NVRM and Xid in dmesg, turn on \
                 persistence mode, restart the machine",
            ));
        }
        Status::NoTimeLeft { milliseconds } => {
            let text = format!("the driver API was not asked: the {milliseconds} ms were up");
            findings.push(Finding::new(FindingCode::CudaNotAsked, Level::Error, text).with_advice("allow more time"));
        }
        Status::TooMuchOutput { bytes } => {
            let text = format!("the driver API printed more than {}, and was ended", process::size(*bytes));
            findings.push(Finding::new(FindingCode::CudaOutput, Level::Error, text).with_advice(
                "look for another library than the driver's in LD_LIBRARY_PATH and LD_PRELOAD, and for variables that \
                 turn on logs",
            ));
        }
        Status::Crashed { text } => {
            let text = format!("the driver API ends the process that asks it: {text}");
            findings.push(Finding::new(FindingCode::CudaCrashed, Level::Error, text).with_advice(
                "the driver library is damaged or does not belong to the kernel driver: install the driver again, and \
                 look for other copies of it in LD_LIBRARY_PATH and LD_PRELOAD",
            ));
        }
    }
    if outcome.on_loader_path == Some(false)
        && let Some(source) = &outcome.source
    {
        let folder = source.rsplit_once('/').map_or(source.as_str(), |(folder, _)| folder);
        let text = format!("the driver library is in a folder where programs do not look for it: `{folder}`");
        findings.push(
            Finding::new(FindingCode::NotOnLoaderPath, Level::Warning, text).with_advice(format!(
                "add it to LD_LIBRARY_PATH, or to /etc/ld.so.conf.d and run ldconfig: `{folder}`"
            )),
        );
    }
}

/// An error code, in words, with what the table advises.
fn failed(view: &View<'_>, outcome: &WayOutcome, failure: &Failure) -> Finding {
    let row = catalogue::error(failure.code);
    let mut text = format!("the driver API fails: {} returns {}", failure.call, failure.code);
    if let Some(row) = row {
        text.push_str(&format!(", {}", row.name));
    }
    // 803 is about two versions, 34 and 804 about a file that should not be loaded
    match (failure.code, view.driver.library_version, view.driver.version, &outcome.source) {
        (803, Some(library), Some(kernel), _) if library != kernel => {
            text.push_str(&format!(" (library {library}, kernel module {kernel})"));
        }
        (34 | 803 | 804, _, _, Some(source)) => text.push_str(&format!(" (loaded `{source}`)")),
        _ => {}
    }
    let advice = row.map_or("see CUresult in NVIDIA's cuda.h", |row| row.advice);
    Finding::new(FindingCode::CudaError, Level::Error, text).with_error(failure.code).with_advice(advice)
}
