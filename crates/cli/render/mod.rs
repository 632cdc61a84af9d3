//! The report as text.

pub(crate) mod check;
mod csv;
mod data;
pub(crate) mod env;
pub(crate) mod explain;
pub(crate) mod fleet;
mod headline;
pub(crate) mod html;
pub(crate) mod kernels;
pub(crate) mod lines;
mod markdown;
mod notes;
mod table;
pub(crate) mod why;
mod words;

use std::io::{self, Write};

use fatscan::{Judgement, Report};

use crate::args::{By, Format};
use crate::output;

/// Prints the report to standard output, as a table or JSON with the verdicts. Lines of JSON need no report: [`lines`].
pub(crate) fn render(report: &Report, judgement: Option<&Judgement>, by: By, format: Format) -> io::Result<()> {
    match format {
        Format::Json | Format::Ndjson => print(output::data(), |out| data::json(out, report, judgement, by)),
        Format::Csv => print(output::data(), |out| csv::write(out, report, by)),
        Format::Table => print(output::text(), |out| table::write(out, report, judgement, by)),
        Format::Markdown => print(output::data(), |out| markdown::write(out, report, by)),
    }
}

fn print<W: Write>(mut out: W, write: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
    write(&mut out)?;
    out.flush()
}
