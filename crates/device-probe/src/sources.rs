//! Where to look.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::child;
use crate::environment::Environment;
use crate::toolkit::ToolkitSources;

/// Where to look, and how long. [`Sources::system`] is this machine; all parts can point elsewhere, and an empty list
/// leaves a way out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sources {
    /// The folder that `/proc`, `/sys`, `/dev` and `/etc` are read under.
    pub root: PathBuf,
    /// The driver library: names for the loader and paths, the first that loads is used.
    pub cuda_libraries: Vec<PathBuf>,
    /// The management library, likewise.
    pub nvml_libraries: Vec<PathBuf>,
    /// `nvidia-smi`: names for `PATH` and paths, the first that is there is used.
    pub nvidia_smi: Vec<PathBuf>,
    /// The variables that the driver goes by.
    pub environment: Environment,
    /// Who calls the driver libraries.
    pub isolation: Isolation,
    /// How long all ways together may take. They are asked at the same time.
    pub limit: Duration,
    /// Where toolkits may be.
    pub toolkits: ToolkitSources,
}

/// Who calls the driver libraries: they may hang, crash, print or start processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// A process of its own for each library. When it has answered, has printed too much or its time is up, it is killed
    /// with all that it started in its process group (on Windows without that), and it ends when this process ends.
    ///
    /// The program must call [`run_child_if_asked`](crate::run_child_if_asked) before anything else, and the arguments
    /// must hold [`CHILD_ARGUMENT`](crate::CHILD_ARGUMENT); or what is started so calls [`run_child`](crate::run_child).
    Child {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<std::ffi::OsString>,
    },
    /// A thread of this process, which is left behind when its time is up. A library that hangs keeps its thread, one
    /// that crashes ends this process, and what it prints is printed. `CUDA_VISIBLE_DEVICES` is that of this process, whatever [`Sources::environment`] says,
    /// and [`Way::CudaUnfiltered`](crate::Way::CudaUnfiltered) is not asked.
    InProcess,
}

impl Isolation {
    /// This program as its own child if it has called [`run_child_if_asked`](crate::run_child_if_asked), what it has named with
    /// [`child_is`](crate::child_is), else
    /// [`Isolation::InProcess`]: a program that has not would do its ordinary work instead of answering.
    #[must_use]
    pub fn this_program() -> Self {
        match child::of_this_program() {
            Some((program, arguments)) => Self::Child { program, arguments },
            None => Self::InProcess,
        }
    }
}

impl Sources {
    /// This machine, with 30 seconds for all ways: a driver that is not kept loaded takes some seconds for each device.
    #[must_use]
    pub fn system() -> Self {
        Self {
            root: PathBuf::from("/"),
            cuda_libraries: libraries("libcuda.so.1", "nvcuda.dll"),
            nvml_libraries: libraries("libnvidia-ml.so.1", "nvml.dll"),
            nvidia_smi: programs(),
            environment: Environment::of_this_process(),
            isolation: Isolation::this_program(),
            limit: Duration::from_secs(30),
            toolkits: ToolkitSources::system(),
        }
    }

    /// Gives a program the variables that the driver goes by, and no others of them.
    pub(crate) fn set_environment(&self, command: &mut Command) {
        for name in Environment::NAMES {
            match self.environment.get(name) {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

impl Default for Sources {
    fn default() -> Self {
        Self::system()
    }
}

/// Folders with the driver's libraries that the loader may not know: WSL, NixOS, GPU hosts of Kubernetes engines, and
/// Jetson.
const FOLDERS: [&str; 4] =
    ["/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/usr/local/nvidia/lib64", "/usr/lib/aarch64-linux-gnu/tegra"];

fn libraries(unix: &str, windows: &str) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![
            system_folder().join(windows),
            PathBuf::from(r"C:\Program Files\NVIDIA Corporation\NVSMI").join(windows),
        ];
    }
    let mut names = vec![PathBuf::from(unix)];
    names.extend(FOLDERS.iter().map(|folder| PathBuf::from(folder).join(unix)));
    names
}

fn programs() -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![
            system_folder().join("nvidia-smi.exe"),
            PathBuf::from(r"C:\Program Files\NVIDIA Corporation\NVSMI\nvidia-smi.exe"),
        ];
    }
    [
        "nvidia-smi",
        "/usr/lib/wsl/lib/nvidia-smi",
        "/usr/local/nvidia/bin/nvidia-smi",
        "/run/current-system/sw/bin/nvidia-smi",
    ]
    .map(PathBuf::from)
    .to_vec()
}

/// `C:\Windows\System32`. A full path, so that no library of the current folder is loaded.
fn system_folder() -> PathBuf {
    let windows = std::env::var_os("SystemRoot").map_or_else(|| PathBuf::from(r"C:\Windows"), PathBuf::from);
    windows.join("System32")
}
