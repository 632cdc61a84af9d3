//! The report as text.

mod csv;
mod data;
pub(crate) mod explain;
mod markdown;
mod table;
mod words;

use std::io::{self, BufWriter, Write};

use fatscan::Report;

use crate::args::{By, Format};

/// Prints the report to standard output.
pub(crate) fn render(report: &Report, by: By, format: Format) -> io::Result<()> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    match format {
        Format::Table => table::write(&mut out, report, by)?,
        Format::Json => data::json(&mut out, report, by)?,
        Format::Ndjson => data::ndjson(&mut out, report, by)?,
        Format::Csv => csv::write(&mut out, report, by)?,
        Format::Markdown => markdown::write(&mut out, report, by)?,
    }
    out.flush()
}
