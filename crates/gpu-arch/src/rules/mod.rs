//! What runs where.
//!
//! One image on one device is [`runs`]; the images of one module (a fatbin container, the unit that
//! a driver loads) are [`judge_module`]. Both answer with a [`Verdict`] and its [`Reason`]s, and
//! look at nothing but their arguments.
//!
//! Each image gets the worst of what holds for it: does the architecture fit, is the payload what the label
//! says, does the driver know the device, is the driver new enough. A module gets the verdict of the one image
//! that the driver selects ([`select`]): it commits to that, whatever else is there. So adding an image that the
//! driver would take never makes a verdict worse, and neither does a newer driver that still supports the device.
//!
//! ```
//! use gpu_arch::rules::{Code, Device, Environment, Verdict, judge_module};
//!
//! let images: Vec<Code> = ["sm_80", "sm_86", "sm_90"]
//!     .map(|target| Code::new(target.parse().unwrap()))
//!     .to_vec();
//! let ada = Device::of("8.9".parse().unwrap());
//! let blackwell = Device::of("12.0".parse().unwrap());
//! let environment = Environment::default();
//!
//! let verdict = judge_module(&images, &ada, &environment);
//! assert_eq!((verdict.verdict, verdict.picked), (Verdict::Native, Some(1)));
//! let verdict = judge_module(&images, &blackwell, &environment);
//! assert_eq!(verdict.verdict, Verdict::NotCovered);
//! ```

mod code;
mod condition;
mod coverage;
mod device;
mod environment;
mod explain;
mod fit;
mod known;
mod module;
mod reason;
mod select;
mod verdict;

pub use code::{Code, Payload};
pub use condition::{Condition, Met, runtime_condition};
pub use coverage::{Coverage, ptx_covers, sass_covers};
pub use device::{Device, Driver};
pub use environment::Environment;
pub use fit::{Fit, runs};
pub use module::{ModuleVerdict, judge_module};
pub use reason::{Reason, ReasonCode};
pub use select::{may_select, select};
pub use verdict::Verdict;
