//! How the libraries of one environment find the CUDA libraries that they ask for.
//!
//! [`Disk`] reads an environment; [`judge`] says what the dynamic loader of glibc would do, of records in memory alone. A
//! process that runs tells what it has loaded: [`process::libraries`].
//!
//! ```no_run
//! use fatscan_core::linkage::{Disk, Resolution, judge};
//! let disk = Disk::new();
//! let environment = disk.read(std::path::Path::new(".venv/lib/python3.12/site-packages"));
//! let linkages = judge(&environment.files, &disk.search(), &disk);
//! for file in &linkages.files {
//!     for ask in file.asks.iter().filter(|ask| ask.resolution == Resolution::Missing) {
//!         println!("{} asks for {}, which is nowhere", file.path.display(), ask.name);
//!     }
//! }
//! ```
//!
//! What it cannot know: which files are loaded, in which order and with which variables. A library that is loaded already
//! serves everyone who asks for its name, wherever their paths lead: so does what `import torch` loads, and
//! [`Resolution::Loaded`] says so. Libraries that are opened by `dlopen` are in no table. The rules are those of glibc.

mod cuda;
mod disk;
mod judge;
pub mod process;
mod search;
mod torch;

pub use cuda::CudaLibrary;
pub use disk::{Disk, Environment};
pub use fatscan_containers::{Library, LinkageError, Machine, library};
pub use judge::{Ask, File, FileLinkage, Finding, FindingKind, Linkages, Resolution, Scope, judge};
pub use search::{Answer, Files, Look, Search, Way, parse_cache};
pub use torch::How;
