//! The report as text.

pub(crate) mod check;
mod csv;
mod data;
pub(crate) mod explain;
pub(crate) mod kernels;
mod markdown;
mod table;
mod words;

use std::io::{self, BufWriter, Write};

use fatscan::{Judgement, Report};

use crate::args::{By, Format};

/// Prints the report to standard output, as a table or JSON with the verdicts.
pub(crate) fn render(report: &Report, judgement: Option<&Judgement>, by: By, format: Format) -> io::Result<()> {
    match format {
        Format::Json => print(io::stdout().lock(), |out| data::json(out, report, judgement, by)),
        Format::Ndjson => print(io::stdout().lock(), |out| data::ndjson(out, report, by)),
        Format::Csv => print(io::stdout().lock(), |out| csv::write(out, report, by)),
        Format::Table => print(anstream::stdout().lock(), |out| table::write(out, report, judgement, by)),
        Format::Markdown => print(anstream::stdout().lock(), |out| markdown::write(out, report, by)),
    }
}

/// What programs read goes out as it is: the filter that takes colours away would take bytes out of names too.
fn print<W: Write>(to: W, write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    write(&mut out)?;
    out.flush()
}
