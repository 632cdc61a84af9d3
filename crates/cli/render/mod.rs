//! The report as text.

pub(crate) mod check;
pub(crate) mod csv;
mod data;
pub(crate) mod diff;
pub(crate) mod env;
pub(crate) mod explain;
pub(crate) mod fleet;
mod headline;
pub(crate) mod html;
pub(crate) mod kernels;
pub(crate) mod lines;
mod markdown;
mod notes;
pub(crate) mod size;
pub(crate) mod slim;
mod table;
pub(crate) mod variant;
pub(crate) mod verdicts;
pub(crate) mod why;
mod words;

use std::io::{self, Write};

use fatscan::{Judgement, Report};

use crate::args::{By, Format};

/// Writes the report, as a table or JSON with the verdicts. Lines of JSON need no report where nothing else is wanted:
/// [`lines`].
pub(crate) fn render(
    out: &mut impl Write,
    report: &Report,
    judgement: Option<&Judgement>,
    by: By,
    format: Format,
) -> io::Result<()> {
    match format {
        Format::Json => data::json(out, report, judgement, by),
        Format::Ndjson => lines::replay(out, report, by),
        Format::Csv => csv::write(out, report, by),
        Format::Table => table::write(out, report, judgement, by),
        Format::Markdown => markdown::write(out, report, by),
    }
}
