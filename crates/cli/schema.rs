//! `fatscan schema`: what the JSON documents hold. A test keeps each file equal to the types.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::failure::Failure;
use crate::output;

/// The JSON documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// Of `list`, `explain`, `env` and `check` (the default)
    #[default]
    Report,
    /// Of `fleet`
    Fleet,
    /// Of a line of `list --format ndjson`
    Lines,
    /// Of `kernels`
    Kernels,
    /// Of `size`
    Size,
    /// Of `diff`
    Diff,
    /// Of `arch`
    Arch,
    /// Of `device`, and of its recordings
    Device,
    /// Of the `index.json` that `extract` writes
    Extract,
    /// Of `slim`
    Slim,
    /// Of `variant`
    Variant,
}

pub(crate) fn run(name: Name) -> Result<ExitCode, Failure> {
    let text = match name {
        Name::Report => include_str!("schema/report.schema.json"),
        Name::Fleet => include_str!("schema/fleet.schema.json"),
        Name::Lines => include_str!("schema/lines.schema.json"),
        Name::Kernels => include_str!("schema/kernels.schema.json"),
        Name::Size => include_str!("schema/size.schema.json"),
        Name::Diff => include_str!("schema/diff.schema.json"),
        Name::Arch => include_str!("schema/arch.schema.json"),
        Name::Device => include_str!("schema/device.schema.json"),
        Name::Extract => include_str!("schema/extract.schema.json"),
        Name::Slim => include_str!("schema/slim.schema.json"),
        Name::Variant => include_str!("schema/variant.schema.json"),
    };
    output::print(text.as_bytes())
}
