//! Why a command gives up: one sentence, exit code 2.

use std::io;
use std::process::ExitCode;

/// Exit code where nothing could be judged.
pub(crate) const CANNOT: u8 = 2;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read the output has seen enough.
    ClosedPipe,
    /// A sentence, and perhaps what to do.
    Message { text: String, hint: Option<String> },
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::Message { text: text.into(), hint: None }
    }

    pub(crate) fn with_hint(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Message { text: text.into(), hint: Some(hint.into()) }
    }

    /// The same, met in a part of a file that was given.
    pub(crate) fn within(self, place: &str) -> Self {
        match self {
            Self::Message { text, hint } => {
                // it is not the flag of that name that is wrong
                let text = text.strip_prefix("--").unwrap_or(&text);
                Self::Message { text: format!("{place}: {text}"), hint }
            }
            closed => closed,
        }
    }

    /// Says why on standard error.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::ClosedPipe => ExitCode::SUCCESS,
            Self::Message { text, hint } => {
                crate::output::complain(&text, hint.as_deref());
                ExitCode::from(CANNOT)
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::new(format!("output cannot be written: {error}"))
        }
    }
}

impl From<fatscan::TooShallow> for Failure {
    fn from(error: fatscan::TooShallow) -> Self {
        Self::new(error.to_string())
    }
}
