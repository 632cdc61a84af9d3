//! Words that a shell can complete. What else may be typed is read by the commands, which say more of what is wrong.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use fatscan::check::Rule;
use gpu_arch::catalogue::architectures;
use gpu_arch::{Arch, Suffix};

/// Any text, with some words that are known.
#[derive(Clone, Copy)]
pub(super) struct Known(fn() -> Vec<PossibleValue>);

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, _: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        value.to_str().map(ToOwned::to_owned).ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0().into_iter()))
    }
}

/// Rules of `check`.
pub(super) const RULES: Known =
    Known(|| Rule::ALL.iter().map(|rule| PossibleValue::new(rule.id()).help(rule.sentence())).collect());

/// Compute capabilities.
pub(super) const GPUS: Known =
    Known(|| architectures().iter().map(|row| PossibleValue::new(row.capability.to_string()).help(row.name)).collect());

/// Machine code and portable code.
pub(super) const CODE: Known = Known(|| code().map(PossibleValue::new).collect());

/// The same, and compute capabilities.
pub(super) const ARCHS: Known = Known(|| {
    let own = architectures().iter().map(|row| row.capability.to_string());
    ["list".to_owned()].into_iter().chain(own).chain(code()).map(PossibleValue::new).collect()
});

fn code() -> impl Iterator<Item = String> {
    let own = architectures().iter().filter_map(|row| row.capability.arch());
    let own = own.flat_map(|arch| [Suffix::None, Suffix::A, Suffix::F].map(|suffix| Arch::new(arch.number(), suffix)));
    let own = own.filter(|arch| arch.is_known());
    own.flat_map(|arch| [format!("sm_{arch}"), format!("compute_{arch}")])
}

/// What a comparison can fail on.
pub(crate) const FAIL_ON_WORDS: [&str; 4] = ["lost-arch", "lost-kernel", "worse-verdict", "bytes=+5%"];

pub(super) const FAIL_ON: Known = Known(|| FAIL_ON_WORDS.into_iter().map(PossibleValue::new).collect());
