//! Finds the CUDA device code in wheels, libraries and bare files, and reports it.
//!
//! [`scan_paths`] reads paths, [`scan_bytes`] one file in memory. Both give the model: a [`Report`] of [`Artefact`]s
//! with [`Member`]s with [`Module`]s with [`Image`]s, and [`Diagnostic`]s for everything that is damaged or odd. There
//! is no error to handle: damage is data. [`json::Document`] is the same for other programs, with a stable schema.
//!
//! ```
//! use fatscan_core::{Options, scan_bytes};
//! let ptx = b".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
//! let report = scan_bytes("k.ptx", ptx, &Options::new());
//! let image = &report.artefacts[0].members[0].modules[0].images[0];
//! assert_eq!(image.arch_name().unwrap(), "compute_90a");
//! assert!(report.diagnostics.is_empty());
//! ```

/// A module whose images all unpack to at most this many bytes may be a stub: without any kernel.
pub const STUB_BYTES: u64 = 16 * 1024;

mod advice;
mod archive;
pub mod check;
mod coverage;
pub mod declared;
mod diagnostic;
pub mod diff;
pub mod environment;
pub mod extract;
mod finder;
pub mod fleet;
mod forward;
mod heads;
mod inspect;
pub mod json;
mod judge;
mod kernels;
mod label;
pub mod linkage;
mod locator;
mod matrix;
mod model;
mod object;
mod open;
mod options;
mod package;
mod parallel;
mod pattern;
mod progress;
mod run;
mod scan;
mod sizes;
pub mod slim;

pub use advice::{Cause, Fix, FixKind, When, advise, cause_of, reasons_of_error};
pub use coverage::{Count, Coverage, Specialised, is_specialised};
pub use cubin::demangle;
pub use diagnostic::{Code, Diagnostic, Level};
pub use fatscan_containers::{
    ByteStream, FileSource, Limits, Mapping, PeImage, ReaderStream, Source as ByteSource, open_file,
};
pub use judge::{
    Alternatives, ArtefactJudgement, ArtefactVerdict, Choice, Class, DISPATCHERS, Judgement, Limit, LimitKind, Load,
    Loose, MemberJudgement, MemberVerdict, NotCounted, PROFILERS, Policy, Standing, TooShallow, classify, copies,
    judge, standing, wants_kernels,
};
pub use kernels::{demangle_each, has_unread_kernels};
pub use locator::{Locator, LocatorView, Place, Step, StepView};
pub use matrix::{Cell, Cells, Column, Hole, Matrix, Row, STUB_CODE, Totals, holes};
pub use model::{
    Artefact, ArtefactKind, CodeKind, Depth, Holds, Image, Kernel, KernelResources, Linkage, Member, Module, Object,
    Report, Source, Unread, Why,
};
pub use options::{KernelDepth, Options};
pub use package::{Owners, Package, package};
pub use parallel::with_threads;
pub use pattern::{Pattern, PatternError};
pub use progress::Progress;
pub use scan::{Collect, Input, Scanner, Sink, Stop, deepen, scan_bytes, scan_paths, scan_source, scan_stream};
pub use sizes::{CodeSizes, KernelSize, Size, artefact_sizes, kernel_sizes, member_sizes};
