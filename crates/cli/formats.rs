//! In which formats something is printed, and into which files beside.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anstream::StripStream;
use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::unfinished::Unfinished;
use crate::{output, terminal};

/// The formats of a command.
pub(crate) trait Shape: ValueEnum + Copy + PartialEq + Send + Sync + 'static {
    /// The one for programs.
    const JSON: Self;
    /// The name of the default. (What `default_value_t` makes of it is one value for all types.)
    const DEFAULT: &'static str;

    /// Whether it is for people, and coloured where a terminal shows it.
    fn is_text(self) -> bool;
}

/// `--format`, `--json`, `--output`.
#[derive(Debug, Args)]
pub(crate) struct Formats<F: Shape> {
    /// How to print it
    #[arg(long, value_enum, default_value = F::DEFAULT)]
    format: F,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write it to a file, too, in a format of its own; several times if wanted: `json=report.json`. The file is there
    /// when it is whole
    #[arg(long, value_name = "FORMAT=FILE", value_parser = to_file::<F>)]
    output: Vec<ToFile<F>>,
}

/// A file that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct ToFile<F> {
    format: F,
    path: PathBuf,
}

fn to_file<F: Shape>(text: &str) -> Result<ToFile<F>, String> {
    let names = || {
        let names = F::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        names.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    let Some((format, path)) = text.split_once('=') else {
        return Err(format!("write it like {}=FILE; the formats are {}", name(F::JSON), names()));
    };
    let format = F::from_str(format, false).map_err(|_| format!("`{format}` is no format; there are {}", names()))?;
    if path.is_empty() {
        return Err("no file is named".to_owned());
    }
    Ok(ToFile { format, path: PathBuf::from(path) })
}

fn name<F: Shape>(format: F) -> String {
    format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// What is written, in which format.
pub(crate) struct Outputs<F> {
    printed: F,
    files: Vec<(F, Unfinished)>,
}

/// Where something is printed: standard output or a file.
pub(crate) type Out = BufWriter<Box<dyn Write>>;

impl<F: Shape> Formats<F> {
    /// One format, and no files.
    pub(crate) const fn only(format: F) -> Self {
        Self { format, json: false, output: Vec::new() }
    }

    /// The format of standard output.
    pub(crate) fn printed(&self) -> F {
        if self.json { F::JSON } else { self.format }
    }

    /// All formats that are wanted.
    pub(crate) fn all(&self) -> impl Iterator<Item = F> {
        core::iter::once(self.printed()).chain(self.output.iter().map(|own| own.format))
    }

    /// Whether files are wanted.
    pub(crate) fn has_files(&self) -> bool {
        !self.output.is_empty()
    }

    /// Makes sure that the files can be written, before any work is done. None of `inputs` is written over.
    pub(crate) fn open(&self, inputs: &[PathBuf]) -> Result<Outputs<F>, Failure> {
        let mut files: Vec<(F, Unfinished)> = Vec::new();
        for ToFile { format, path } in &self.output {
            let place = || format!("--output {}={}", name(*format), path.display());
            let refused = |why: &str| Failure::new(format!("{}: {why}", place()));
            let file = Unfinished::begin(path).map_err(|error| refused(&format!("cannot be written: {error}")))?;
            if files.iter().any(|(_, other)| other.is_same(&file)) {
                return Err(refused("this file is named twice"));
            }
            if inputs.iter().any(|input| file.is_at(input)) {
                return Err(refused("this file is read, and is not written over"));
            }
            files.push((*format, file));
        }
        Ok(Outputs { printed: self.printed(), files })
    }
}

impl<F: Shape> Outputs<F> {
    /// Prints, then writes the files; each gets its name when all of them are written.
    pub(crate) fn write<E: Into<Failure>>(
        self,
        mut each: impl FnMut(F, &mut Out) -> Result<(), E>,
    ) -> Result<(), Failure> {
        let mut out = if self.printed.is_text() { output::text() } else { output::data() };
        each(self.printed, &mut out).map_err(Into::into)?;
        out.flush()?;
        drop(out);
        let mut written = Vec::new();
        for (format, own) in self.files {
            let place = format!("--output {}={}", name(format), own.path().display());
            let result = terminal::unlimited(|| -> Result<(), Failure> {
                let mut out = to(own.take()?, format.is_text());
                each(format, &mut out).map_err(Into::into)?;
                Ok(out.flush()?)
            });
            let result = result.and_then(|()| Ok(own.sync()?));
            result.map_err(|failure| failure.of_output(&place))?;
            written.push((place, own));
        }
        for (place, own) in written {
            own.finish().map_err(|error| Failure::from(error).of_output(&place))?;
        }
        Ok(())
    }
}

/// A file has no colours.
fn to(file: File, is_text: bool) -> Out {
    if is_text { BufWriter::new(Box::new(StripStream::new(file))) } else { BufWriter::new(Box::new(file)) }
}

/// Whether two paths lead to one file.
pub(crate) fn is_one(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}
