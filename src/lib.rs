//! Finds the CUDA device code in wheels, libraries and bare files, reports it, and judges whether a GPU can run it.
//!
//! This is the library of the command `fatscan`; a program that needs no command turns the default features off. All of it
//! is [`fatscan_core`], with the rules of [`gpu_arch`] that a judgement asks for.
//!
//! ```
//! use fatscan::{Options, scan_bytes};
//! let ptx = b".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
//! let report = scan_bytes("k.ptx", ptx, &Options::new());
//! let image = &report.artefacts[0].members[0].modules[0].images[0];
//! assert_eq!(image.arch_name().unwrap(), "compute_90a");
//! assert!(report.diagnostics.is_empty());
//! ```
//!
//! | question | start with |
//! |---|---|
//! | what is in these files | [`scan_paths`], [`scan_bytes`], [`scan_stream`], [`Report`] |
//! | the same, as members are read, stopped at will | [`Scanner`], [`Sink`] |
//! | does it run on this GPU with this driver | [`judge`] with [`Options::for_judging`] |
//! | does it hold what it must | [`check`] |
//! | what changed between two builds | [`diff`] |
//! | the bytes of an image | [`extract`] |
//! | the report as JSON | [`json::Document`] |

#[doc(inline)]
pub use fatscan_core::*;
#[doc(inline)]
pub use gpu_arch;
