//! How people spell architectures, and what they mean.
//!
//! A text is read either as **code** ([`code`]: "the file must hold this") or as **devices**
//! ([`devices`]: "it must run there"). The same word can differ: `sm_90` is SASS in the first
//! reading and a device of capability 9.0 in the second; `compute_90` is PTX in the first and a
//! mistake in the second.
//!
//! Build systems disagree as well, so a list may be read in one [`Dialect`] ([`code_in`]): for
//! TensorFlow and XLA `compute_90` is SASS and PTX, for everyone else PTX only. A text that starts
//! with a build system's variable or is made of `nvcc` flags says its dialect itself:
//!
//! ```
//! use gpu_arch::spelling;
//!
//! let written = |text: &str| -> Vec<String> {
//!     spelling::code(text).unwrap().iter().map(ToString::to_string).collect()
//! };
//! assert_eq!(written("7.5 8.0;9.0+PTX"), ["sm_75", "sm_80", "sm_90", "compute_90"]);
//! assert_eq!(written("90-real;120-virtual"), ["sm_90", "compute_120"]);
//! assert_eq!(
//!     written("-gencode arch=compute_90,code=[sm_90,compute_90]"),
//!     ["sm_90", "compute_90"]
//! );
//! assert!(spelling::code("sm_86a").is_err());
//! assert_eq!(spelling::devices("9.0, RTX 5090").unwrap().len(), 2);
//! ```

mod cmake;
mod device;
mod error;
mod item;
mod list;
mod nvcc;
mod torch;
mod xla;

pub use device::{NamedDevice, device, devices};
pub use error::{SpecialWord, SpellingError, SpellingErrorKind};
pub use list::{Dialect, code, code_in};

pub(crate) use item::split_kind;
