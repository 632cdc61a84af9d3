//! Where words go: data to standard output, everything else to standard error.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::error::ContextValue;
use fatscan::{Code, Diagnostic, Level};

use crate::escape;
use crate::failure::{CANNOT, Failure};

/// The schema that a test keeps equal to the types.
const SCHEMA: &str = include_str!("report.schema.json");

/// Whether standard error could not take what was said, for another reason than a closed pipe.
static UNSAID: AtomicBool = AtomicBool::new(false);

/// A stream whose reader may leave: what it no longer reads is dropped, so that a closed pipe changes no verdict.
pub(crate) struct Pipe<W> {
    out: W,
    is_closed: bool,
}

impl<W> Pipe<W> {
    pub(crate) const fn new(out: W) -> Self {
        Self { out, is_closed: false }
    }

    /// Whether the reader has left.
    pub(crate) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn unless_closed<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.unless_closed(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.unless_closed(result, ())
    }
}

/// Standard output for people: coloured where a terminal shows it.
pub(crate) fn text() -> BufWriter<Pipe<AutoStream<StdoutLock<'static>>>> {
    BufWriter::new(Pipe::new(anstream::stdout().lock()))
}

/// Standard output for programs: every byte as it is.
pub(crate) fn data() -> BufWriter<Pipe<StdoutLock<'static>>> {
    BufWriter::new(Pipe::new(io::stdout().lock()))
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
pub(crate) fn usage(mut error: clap::Error) -> Result<ExitCode, Failure> {
    let typed = error.context().filter_map(|(kind, value)| match value {
        ContextValue::String(word) => Some((kind, escape::text(word).into_owned())),
        _ => None,
    });
    for (kind, word) in typed.collect::<Vec<_>>() {
        error.insert(kind, ContextValue::String(word));
    }
    let text = error.render().to_string();
    if !error.use_stderr() {
        return print(text.as_bytes());
    }
    say(|out| text.lines().try_for_each(|line| writeln!(out, "{}", escape::text(line))));
    Ok(ExitCode::from(CANNOT))
}

/// The exit code of the program, with all that was written out.
pub(crate) fn end(outcome: Result<ExitCode, Failure>) -> ExitCode {
    let flushed = outcome.and_then(|code| {
        Pipe::new(io::stdout()).flush()?;
        Ok(code)
    });
    let code = flushed.unwrap_or_else(Failure::report);
    if UNSAID.load(Ordering::Relaxed) { ExitCode::from(CANNOT) } else { code }
}

/// Writes to standard error. That it cannot be written is said by the exit code: nowhere is left to say it.
fn say(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = Pipe::new(anstream::stderr().lock());
    if write(&mut out).is_err() {
        UNSAID.store(true, Ordering::Relaxed);
    }
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
    // what is said of many places is shown once: of a file, and what is no error of all files
    let mut shown: Vec<Told<'_>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    // a hash of 64 bits for each is enough, and little beside what they are of
    let hasher = RandomState::new();
    for own in diagnostics {
        let mut file = own.at.clone();
        (file.section, file.offset, file.image) = (None, None, None);
        let file = hasher.hash_one(file);
        let key = hasher.hash_one((own.code, own.message(), (own.level == Level::Error).then_some(file)));
        let first = *known.entry(key).or_insert(shown.len());
        match shown.get_mut(first) {
            Some(told) if told.files.contains(&file) => told.places = told.places.saturating_add(1),
            Some(told) => {
                told.files.insert(file);
                if told.named.len() < NAMED {
                    told.named.push(own);
                }
            }
            None => shown.push(Told { named: vec![own], places: 0, files: HashSet::from([file]) }),
        }
    }
    // how many are not shown comes behind those that are
    let is_rest = |told: &Told<'_>| told.named.iter().any(|own| own.code == Code::LimitDiagnostics);
    shown.sort_by_key(is_rest);
    say(|out| shown.iter().try_for_each(|told| diagnostic(out, told)));
}

/// Files that are named with what is said of several.
const NAMED: usize = 3;

/// What is said of one or of many places.
struct Told<'a> {
    /// The first in each of the first files.
    named: Vec<&'a Diagnostic>,
    /// More places in files that were met before.
    places: usize,
    files: HashSet<u64>,
}

fn diagnostic(out: &mut dyn Write, told: &Told<'_>) -> io::Result<()> {
    let Some(diagnostic) = told.named.first() else { return Ok(()) };
    let (word, style) = match diagnostic.level {
        Level::Error => ("error", AnsiColor::Red.on_default().bold()),
        Level::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
        Level::Note => ("note", Style::new().bold()),
    };
    writeln!(out, "{style}{word}{style:#}[{}]: {}", diagnostic.code, escape::text(&diagnostic.message()))?;
    for place in told.named.iter().map(|own| own.at.to_string()).filter(|place| !place.is_empty()) {
        writeln!(out, "  at `{}`", escape::text(&place))?;
    }
    let count = crate::terminal::count;
    let (places, files) = (told.places, told.files.len().saturating_sub(told.named.len()));
    match (places, files) {
        (0, 0) => {}
        (more, 0) => writeln!(out, "  and at {} of this file", count(more, "more place", "more places"))?,
        (0, more) => writeln!(out, "  and in {}", count(more, "more file", "more files"))?,
        (more, files) => {
            let (more, files) = (count(more, "more place", "more places"), count(files, "more file", "more files"));
            writeln!(out, "  and at {more}, and in {files}")?;
        }
    }
    diagnostic.hint().map_or(Ok(()), |hint| writeln!(out, "  hint: {}", escape::text(hint)))
}
