//! Finds the CUDA device code in wheels, libraries and bare files, and reports it.
//!
//! [`scan_paths`] reads paths, [`scan_bytes`] one file in memory. Both give the model: a [`Report`] of [`Artefact`]s
//! with [`Member`]s with [`Module`]s with [`Image`]s, and [`Diagnostic`]s for everything that is damaged or odd. There
//! is no error to handle: damage is data. [`json::Document`] is the same for other programs, with a stable schema.
//!
//! ```
//! use fatscan::{Options, scan_bytes};
//! let ptx = b".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
//! let (member, diagnostics) = scan_bytes("k.ptx", ptx, &Options::default());
//! let image = &member.unwrap().modules[0].images[0];
//! assert_eq!(image.arch_name().unwrap(), "compute_90a");
//! assert!(diagnostics.is_empty());
//! ```

/// A module whose images all unpack to at most this many bytes may be a stub: without any kernel.
pub const STUB_BYTES: u64 = 16 * 1024;

mod advice;
pub mod check;
mod coverage;
mod diagnostic;
pub mod diff;
pub mod extract;
mod finder;
mod input;
mod inspect;
pub mod json;
mod judge;
mod kernels;
mod label;
mod matrix;
mod member;
mod model;
mod options;
mod parallel;
mod progress;
mod sizes;

pub use advice::{Fix, FixKind, advise, package, reasons_of_error};
pub use coverage::{Count, Coverage, Specialised, is_specialised};
pub use cubin::demangle;
pub use diagnostic::{Code, Diagnostic, Level};
pub use input::scan_paths;
pub use judge::{
    Alternatives, ArtefactJudgement, ArtefactVerdict, Choice, Class, DISPATCHERS, Judgement, Load, MemberJudgement,
    MemberVerdict, NotCounted, Policy, classify, judge,
};
pub use kernels::{Kernel, KernelDepth, KernelResources, Names, demangle_each, has_unread_kernels};
pub use matrix::{Cell, Column, Hole, Matrix, Row, STUB_CODE, Totals, holes};
pub use member::{scan_bytes, scan_stream};
pub use model::{Artefact, ArtefactKind, CodeKind, Image, Linkage, Member, Module, Place, Report, Source};
pub use options::{Limits, Options};
pub use parallel::with_threads;
pub use progress::Progress;
pub use sizes::{CodeSizes, KernelSize, Size, artefact_sizes, kernel_sizes, member_sizes};
