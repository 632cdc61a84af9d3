//! A probe in a file, to judge elsewhere what runs here.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::probe::Probe;

/// The version of the format. A field is added without a new one, never changed in meaning.
pub const SCHEMA: u32 = 1;

/// A probe and when it was taken. It holds the identifiers of the devices, and no names of people or files of theirs
/// but the paths of the driver libraries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recording {
    /// [`SCHEMA`].
    pub schema: u32,
    /// When, in UTC: `2026-11-30T18:04:05Z`.
    pub taken: String,
    /// The probe.
    pub probe: Probe,
}

/// Why a recording cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// It is no recording. The message of the reader has the line and column.
    Malformed(serde_json::Error),
    /// It was made by a newer version of this crate.
    NewerSchema {
        /// Its schema.
        found: u32,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(out),
            Self::Malformed(error) => write!(out, "not a recording of devices: {error}"),
            Self::NewerSchema { found } => {
                write!(out, "recording of a newer version: its schema is {found}, the newest that is known is {SCHEMA}")
            }
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Malformed(error) => Some(error),
            Self::NewerSchema { .. } => None,
        }
    }
}

impl Recording {
    /// A probe that was taken now.
    #[must_use]
    pub fn of(probe: Probe) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { schema: SCHEMA, taken: spelled(now), probe }
    }

    /// Its text, with a newline at the end.
    ///
    /// # Errors
    /// [`RecordingError::Malformed`], for no known reason.
    pub fn to_json(&self) -> Result<String, RecordingError> {
        let mut text = serde_json::to_string_pretty(self).map_err(RecordingError::Malformed)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads its text. Fields that are not known are left out.
    ///
    /// # Errors
    /// [`RecordingError::NewerSchema`] where that is so, whatever else is in the text; else
    /// [`RecordingError::Malformed`].
    pub fn from_json(text: &str) -> Result<Self, RecordingError> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }
        let head: Head = serde_json::from_str(text).map_err(RecordingError::Malformed)?;
        if head.schema > SCHEMA {
            return Err(RecordingError::NewerSchema { found: head.schema });
        }
        serde_json::from_str(text).map_err(RecordingError::Malformed)
    }
}

/// Writes a probe to a file.
///
/// # Errors
/// [`RecordingError::Io`].
pub fn record(probe: Probe, file: &Path) -> Result<(), RecordingError> {
    fs::write(file, Recording::of(probe).to_json()?).map_err(RecordingError::Io)
}

/// Reads a recording from a file.
///
/// # Errors
/// As [`Recording::from_json`], and [`RecordingError::Io`].
pub fn load(file: &Path) -> Result<Recording, RecordingError> {
    Recording::from_json(&fs::read_to_string(file).map_err(RecordingError::Io)?)
}

/// A time in seconds since 1970 as people write it.
fn spelled(seconds: u64) -> String {
    const DAY: u64 = 86_400;
    let (mut days, rest) = (seconds / DAY, seconds % DAY);
    let mut year = 1970_u64;
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = |year| if is_leap(year) { 366 } else { 365 };
    while days >= length(year) {
        days = days.saturating_sub(length(year));
        year = year.saturating_add(1);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1_u64;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days = days.saturating_sub(length);
        month = month.saturating_add(1);
    }
    let day = days.saturating_add(1);
    let (hour, minute, second) = (rest / 3600, rest % 3600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn times_are_spelled_in_utc() {
        // from `date -u -d @N +%FT%TZ`
        assert_eq!(spelled(0), "1970-01-01T00:00:00Z");
        assert_eq!(spelled(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(spelled(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(spelled(1_798_761_599), "2026-12-31T23:59:59Z");
        assert_eq!(spelled(1_798_761_600), "2027-01-01T00:00:00Z");
    }
}
