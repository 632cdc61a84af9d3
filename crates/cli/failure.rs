//! Why a command gives up: one sentence, exit code 2.

use std::io;
use std::process::ExitCode;

/// Exit code where nothing could be judged.
pub(crate) const CANNOT: u8 = 2;

/// A sentence, perhaps the lines of a file that it is about, and perhaps what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    excerpt: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), excerpt: String::new(), hint: None }
    }

    pub(crate) fn with_hint(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { text: text.into(), excerpt: String::new(), hint: Some(hint.into()) }
    }

    /// Of the lines of a parser the first is the sentence; the others show what it means.
    pub(crate) fn of_lines(place: &str, lines: &str) -> Self {
        let (first, rest) = lines.split_once('\n').unwrap_or((lines, ""));
        Self { text: format!("{place}: {first}"), excerpt: rest.to_owned(), hint: None }
    }

    /// The same, met in a part of a file that was given.
    pub(crate) fn within(self, place: &str) -> Self {
        // it is not the flag of that name that is wrong
        let text = self.text.strip_prefix("--").unwrap_or(&self.text);
        Self { text: format!("{place}: {text}"), ..self }
    }

    /// The same, met while something was written.
    pub(crate) fn of_output(self, place: &str) -> Self {
        let text = self.text.strip_prefix("output ").unwrap_or(&self.text);
        Self { text: format!("{place}: {text}"), ..self }
    }

    /// The sentence.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Says why on standard error.
    pub(crate) fn report(self) -> ExitCode {
        crate::output::complain_of(&self.text, &self.excerpt, self.hint.as_deref());
        ExitCode::from(CANNOT)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(format!("output cannot be written: {error}"))
    }
}

impl From<fatscan::TooShallow> for Failure {
    fn from(error: fatscan::TooShallow) -> Self {
        Self::new(error.to_string())
    }
}
