//! The CUDA toolkits that are here.

mod build;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpu_arch::CudaVersion;
use serde::{Deserialize, Serialize};

use crate::deadline::Deadline;
use crate::process::{self, End};
use crate::way::Status;

pub use build::{Build, BuildKind, Flags, builds_for};

/// Where toolkits may be.
#[derive(Clone, Debug, Default)]
pub struct ToolkitSources {
    /// `PATH`, whose folders may hold `nvcc`.
    pub path: Option<OsString>,
    /// `CUDA_HOME`.
    pub cuda_home: Option<OsString>,
    /// `CUDA_PATH`, which the installer sets on Windows.
    pub cuda_path: Option<OsString>,
    /// Folders where build systems look if no variable is set.
    pub folders: Vec<PathBuf>,
}

impl ToolkitSources {
    /// Those of this process, and `/usr/local/cuda`.
    #[must_use]
    pub fn system() -> Self {
        Self {
            path: std::env::var_os("PATH"),
            cuda_home: std::env::var_os("CUDA_HOME"),
            cuda_path: std::env::var_os("CUDA_PATH"),
            folders: vec![PathBuf::from("/usr/local/cuda")],
        }
    }
}

/// What led to a toolkit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum FoundBy {
    /// An `nvcc` on `PATH`.
    #[serde(rename = "PATH")]
    Path,
    /// `CUDA_HOME`.
    #[serde(rename = "CUDA_HOME")]
    CudaHome,
    /// `CUDA_PATH`.
    #[serde(rename = "CUDA_PATH")]
    CudaPath,
    /// A usual folder.
    #[serde(rename = "folder")]
    Folder,
}

/// A toolkit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Toolkit {
    /// Its folder.
    pub root: PathBuf,
    /// Its compiler, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvcc: Option<PathBuf>,
    /// What led to it.
    pub found_by: Vec<FoundBy>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<CudaVersion>,
    /// The version with its third part: `12.4.131` from the compiler, `12.4.1` from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// How asking its compiler went.
    pub status: Status,
    /// The same for people, where it cannot be used as it is: lower case, no full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The toolkits of some places, in the order of [`FoundBy`], each once. A variable that leads nowhere is one with a
/// [`Toolkit::problem`].
///
/// The compilers are asked one after the other, by one deadline: that of the probe before, or a time that begins now
/// (`Duration`). One that it does not suffice for is [`Status::NoTimeLeft`], and its version is that of the files.
#[must_use]
pub fn toolkits(sources: &ToolkitSources, deadline: impl Into<Deadline>) -> Vec<Toolkit> {
    let deadline = deadline.into();
    let mut found: Vec<Toolkit> = Vec::new();
    let mut add = |root: PathBuf, nvcc: Option<PathBuf>, found_by: FoundBy| {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let known = found.iter_mut().find(|toolkit| real(&toolkit.root) == real(&root));
        match known {
            Some(toolkit) if toolkit.found_by.contains(&found_by) => {}
            Some(toolkit) => toolkit.found_by.push(found_by),
            None => found.push(look(root, nvcc, found_by, deadline)),
        }
    };
    for folder in sources.path.iter().flat_map(std::env::split_paths) {
        let nvcc = folder.join(PROGRAM);
        if nvcc.is_file() {
            add(root_of(&nvcc), Some(nvcc), FoundBy::Path);
        }
    }
    let variables = [(&sources.cuda_home, FoundBy::CudaHome), (&sources.cuda_path, FoundBy::CudaPath)];
    for (value, found_by) in variables {
        if let Some(root) = value.as_ref().filter(|value| !value.is_empty()) {
            let root = PathBuf::from(root);
            add(root.clone(), nvcc_of(&root), found_by);
        }
    }
    for root in sources.folders.iter().filter(|root| root.is_dir()) {
        add(root.clone(), nvcc_of(root), FoundBy::Folder);
    }
    found
}

const PROGRAM: &str = if cfg!(windows) { "nvcc.exe" } else { "nvcc" };

fn nvcc_of(root: &Path) -> Option<PathBuf> {
    Some(root.join("bin").join(PROGRAM)).filter(|nvcc| nvcc.is_file())
}

/// The folder above `bin`, behind links that keep the name; a link to another program is a wrapper (ccache), which
/// stays where it is.
fn root_of(nvcc: &Path) -> PathBuf {
    let real = fs::canonicalize(nvcc).ok().filter(|real| real.file_name() == nvcc.file_name());
    let nvcc = real.as_deref().unwrap_or(nvcc);
    nvcc.parent().and_then(Path::parent).unwrap_or(nvcc).to_path_buf()
}

fn look(root: PathBuf, nvcc: Option<PathBuf>, found_by: FoundBy, deadline: Deadline) -> Toolkit {
    let asked = match &nvcc {
        Some(nvcc) => ask(nvcc, deadline),
        None if root.is_dir() => Err((Status::Absent, "has no nvcc".to_owned())),
        None => Err((Status::Absent, "there is no such folder".to_owned())),
    };
    let (release, status, problem) = match asked {
        Ok(release) => (Some(release), Status::Answered, None),
        Err((status, problem)) => (from_files(&root), status, Some(problem)),
    };
    Toolkit {
        version: release.as_deref().and_then(|release| release.parse().ok()),
        root,
        nvcc,
        found_by: vec![found_by],
        release,
        status,
        problem,
    }
}

/// The version in `Cuda compilation tools, release 12.4, V12.4.131`, or how asking went and the same for people.
fn ask(nvcc: &Path, deadline: Deadline) -> Result<String, (Status, String)> {
    let mut command = Command::new(nvcc);
    command.arg("--version");
    process::end_with_parent(&mut command);
    let ran = process::run(&mut command, deadline, |_| false);
    let problem = match &ran.end {
        End::Exited(status) if status.success() => None,
        End::Exited(status) => Some(format!("nvcc fails: {}", process::how(*status))),
        End::TimedOut | End::Enough => Some("nvcc does not answer".to_owned()),
        End::TooMuchOutput(bytes) => Some(format!("nvcc prints more than {}", process::size(*bytes))),
        End::NoTimeLeft => Some("nvcc was not asked: the time was up".to_owned()),
        End::NotStarted(error) => Some(format!("nvcc does not start: {error}")),
    };
    if let Some(problem) = problem {
        return Err((ran.end.status(deadline), problem));
    }
    let text = String::from_utf8_lossy(&ran.output);
    let line = text.lines().find_map(|line| line.split_once("release ")).map(|(_, rest)| rest);
    let words = line.map(|rest| rest.split([',', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>());
    match words.as_deref() {
        Some([_, full, ..]) if full.starts_with('V') => Ok(full.trim_start_matches('V').to_owned()),
        Some([short, ..]) => Ok((*short).to_owned()),
        _ => {
            let problem = "nvcc tells no version".to_owned();
            Err((Status::Unusable { text: problem.clone() }, problem))
        }
    }
}

/// The version in `version.json`, or before CUDA 11.1 in `version.txt`.
fn from_files(root: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(root.join("version.json")) {
        let json: serde_json::Value = serde_json::from_str(&text).ok()?;
        return json.get("cuda")?.get("version")?.as_str().map(str::to_owned);
    }
    let text = fs::read_to_string(root.join("version.txt")).ok()?;
    text.split_whitespace().find(|word| word.parse::<CudaVersion>().is_ok()).map(str::to_owned)
}
