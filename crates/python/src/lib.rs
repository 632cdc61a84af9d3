//! The extension module `fatscan._native`: everything that takes time runs on a thread of its own, a [`job::Job`], and
//! gives JSON or a [`tasks::Report`]. The objects that people see are made of it in Python (`fatscan/`).
//!
//! Empty without the feature `module`.
#![cfg(feature = "module")]

mod given;
mod job;
mod tasks;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command with the words typed, the name of the program first; returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    let code = py.detach(|| fatscan_cli::run(words));
    // the number in it cannot be asked for
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(2)
}

/// Says how the child process of a probe is started; it calls [`probe_child`].
#[pyfunction]
fn child_is(program: PathBuf, arguments: Vec<OsString>) {
    device_probe::child_is(program, arguments);
}

/// The life of a child process: answers on its standard output, and ends.
#[pyfunction]
fn probe_child() {
    device_probe::run_child();
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::job::Job;
    #[pymodule_export]
    use super::tasks::{Report, check, devices, environment, judge, scan};
    #[pymodule_export]
    use super::{child_is, command, probe_child};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
