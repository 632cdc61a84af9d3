//! The driver libraries, by the functions that they export. No context is made.

mod cuda;
mod load;
mod nvml;

use std::ffi::CStr;
use std::path::PathBuf;

use crate::child::Answer;
use crate::way::{Failure, Status, Way, WayOutcome};

use load::{Library, Loaded};

/// No machine has more; a library that says so is not believed.
const MOST_DEVICES: u32 = 1024;

/// Loads a library and asks it. Whatever is known before a call that may hang is told before it.
pub(crate) fn ask(way: Way, candidates: &[PathBuf], tell: &mut dyn FnMut(Answer)) {
    let outcome = match load::load(candidates) {
        Loaded::No(status) => WayOutcome::without_answer(way, status),
        Loaded::Yes { library, path, on_loader_path } => {
            let mut outcome =
                WayOutcome { source: Some(path), on_loader_path, ..WayOutcome::without_answer(way, Status::Answered) };
            let asked = if way.is_cuda() {
                cuda::ask(&library, &mut outcome, tell)
            } else {
                nvml::ask(&library, &mut outcome, tell)
            };
            if let Err(status) = asked {
                outcome.status = status;
            }
            outcome
        }
    };
    tell(Answer { is_final: true, outcome });
}

/// What is known so far.
fn first_answer(outcome: &WayOutcome) -> Answer {
    Answer { is_final: false, outcome: outcome.clone() }
}

/// Both libraries return 0 for success.
fn checked(code: i32, call: &str) -> Result<(), Failure> {
    match u32::try_from(code) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure { code, call: call.to_owned() }),
        Err(_) => Err(Failure { code: u32::MAX, call: call.to_owned() }),
    }
}

/// The text in a buffer that a library wrote.
fn text(buffer: &[u8]) -> Option<String> {
    let text = CStr::from_bytes_until_nul(buffer).ok()?.to_string_lossy();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Keeps the first failure.
fn note<T>(result: Result<T, Failure>, failure: &mut Option<Failure>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            failure.get_or_insert(error);
            None
        }
    }
}
