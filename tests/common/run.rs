//! The program as the tests call it.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }

    /// Standard output of a run that must end so.
    pub(crate) fn ending(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{} {}", self.out, self.err);
        self
    }
}

/// The program, with nothing in the environment that changes what it says.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fatscan"));
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "FORCE_COLOR"] {
        command.env_remove(name);
    }
    for name in ["CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_JIT"] {
        command.env_remove(name);
    }
    command
}

/// Runs to the end, which must come within 60 seconds. Output goes to files: a pipe nobody empties would stop the
/// program.
pub(crate) fn finish(mut command: Command) -> Run {
    let (out, err) = (tempfile::NamedTempFile::new().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.reopen().unwrap())
        .stderr(err.reopen().unwrap())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let bytes = std::fs::read(out.path()).unwrap();
    let err = std::fs::read_to_string(err.path()).unwrap();
    Run { code: status.code(), out: String::from_utf8_lossy(&bytes).into_owned(), bytes, err }
}

pub(crate) fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> Run {
    let mut command = program();
    command.args(arguments);
    finish(command)
}

/// `fatscan slim` with these words behind it.
pub(crate) fn slim(words: &[&str]) -> Run {
    run([&["slim"], words].concat())
}

/// Runs with a terminal of 80 columns and checks that lines keep to it, those aside that are one word behind their
/// indentation.
pub(crate) fn narrow<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(folder: &Path, arguments: I) -> Run {
    let mut command = program();
    command.current_dir(folder).env("COLUMNS", "80").args(arguments);
    let run = finish(command);
    for line in run.out.lines() {
        let is_word = !line.trim_start().contains(' ');
        assert!(is_word || line.chars().count() <= 80, "{} columns: {line}\n{}", line.chars().count(), run.out);
    }
    run
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The arguments as strings: paths of tests are UTF-8.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
