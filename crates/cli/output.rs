//! Where words go: data to standard output, everything else to standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use fatscan::{Diagnostic, Level};

use crate::failure::Failure;
use crate::terminal::printable;

/// The schema that a test keeps equal to the types.
const SCHEMA: &str = include_str!("../../docs/report.schema.json");

pub(crate) fn schema() -> Result<ExitCode, Failure> {
    io::stdout().write_all(SCHEMA.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// An error that ends the command.
pub(crate) fn complain(text: &str, hint: Option<&str>) {
    let mut out = anstream::stderr().lock();
    let red = AnsiColor::Red.on_default().bold();
    // nowhere is left to say that standard error is gone
    // a parser shows the line that it means below its sentence
    let mut lines = text.lines();
    let _ = writeln!(out, "{red}error{red:#}: {}", printable(lines.next().unwrap_or_default()));
    for line in lines {
        let _ = writeln!(out, "  {}", printable(line));
    }
    if let Some(hint) = hint {
        let _ = writeln!(out, "  hint: {}", printable(hint));
    }
}

/// The diagnostics for people.
pub(crate) fn diagnostics<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
    let mut out = anstream::stderr().lock();
    for diagnostic in diagnostics {
        let (word, style) = match diagnostic.level {
            Level::Error => ("error", AnsiColor::Red.on_default().bold()),
            Level::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
            Level::Note => ("note", Style::new().bold()),
        };
        let place = printable(&diagnostic.at.to_string());
        let message = printable(&diagnostic.message());
        let _ = writeln!(out, "{style}{word}{style:#}[{}]: {message}", diagnostic.code);
        if !place.is_empty() {
            let _ = writeln!(out, "  at `{place}`");
        }
        if let Some(hint) = diagnostic.hint() {
            let _ = writeln!(out, "  hint: {}", printable(hint));
        }
    }
}
