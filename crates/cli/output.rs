//! Where words go: data to standard output, everything else to standard error.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use fatscan::{Diagnostic, Level};

use crate::escape;
use crate::failure::{CANNOT, Failure};

/// The schema that a test keeps equal to the types.
const SCHEMA: &str = include_str!("../../docs/report.schema.json");

/// Standard output for people: coloured where a terminal shows it.
pub(crate) fn text() -> BufWriter<AutoStream<StdoutLock<'static>>> {
    BufWriter::new(anstream::stdout().lock())
}

/// Standard output for programs: every byte as it is.
pub(crate) fn data() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Prints what is at hand as a whole.
pub(crate) fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    let mut out = data();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn schema() -> Result<ExitCode, Failure> {
    print(SCHEMA.as_bytes())
}

/// The help and the version that were asked for, or what is wrong with the words typed.
pub(crate) fn usage(error: &clap::Error) -> Result<ExitCode, Failure> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return print(text.as_bytes());
    }
    say(|out| text.lines().try_for_each(|line| writeln!(out, "{}", escape::text(line))));
    Ok(ExitCode::from(CANNOT))
}

/// The exit code of the program.
pub(crate) fn end(outcome: Result<ExitCode, Failure>) -> ExitCode {
    outcome.unwrap_or_else(Failure::report)
}

/// Writes to standard error; nowhere is left to say that it is gone.
fn say(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let _ = write(&mut anstream::stderr().lock());
}

/// An error that ends the command.
pub(crate) fn complain(text: &str, hint: Option<&str>) {
    complain_of(text, "", hint);
}

/// The same with the lines of a file that it is about.
pub(crate) fn complain_of(text: &str, excerpt: &str, hint: Option<&str>) {
    let red = AnsiColor::Red.on_default().bold();
    say(|out| {
        writeln!(out, "{red}error{red:#}: {}", escape::text(text))?;
        for line in excerpt.lines() {
            writeln!(out, "  {}", escape::text(line))?;
        }
        hint.map_or(Ok(()), |hint| writeln!(out, "  hint: {}", escape::text(hint)))
    });
}

/// The diagnostics for people.
pub(crate) fn diagnostics<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
    say(|out| diagnostics.into_iter().try_for_each(|own| diagnostic(out, own)));
}

fn diagnostic(out: &mut dyn Write, diagnostic: &Diagnostic) -> io::Result<()> {
    let (word, style) = match diagnostic.level {
        Level::Error => ("error", AnsiColor::Red.on_default().bold()),
        Level::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
        Level::Note => ("note", Style::new().bold()),
    };
    let place = diagnostic.at.to_string();
    writeln!(out, "{style}{word}{style:#}[{}]: {}", diagnostic.code, escape::text(&diagnostic.message()))?;
    if !place.is_empty() {
        writeln!(out, "  at `{}`", escape::text(&place))?;
    }
    diagnostic.hint().map_or(Ok(()), |hint| writeln!(out, "  hint: {}", escape::text(hint)))
}
