use core::fmt;
use std::collections::BTreeSet;

use super::Finding;
use crate::json::{Document, SCHEMA};

/// Findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Rule, device, subject, and place without the directory and version of the artefact.
    known: BTreeSet<(String, Option<String>, Option<String>, String)>,
}

/// Why a baseline cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaselineError {
    /// It is no report of a check; the parser's words.
    Format(String),
    /// It was written by a newer version, with this schema.
    Newer(u32),
    /// It is a report without findings: of `list` or `explain`.
    NoFindings,
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => write!(f, "it is no JSON report: {error}"),
            Self::Newer(schema) => write!(f, "it has schema {schema}, newer than {SCHEMA}, the newest known here"),
            Self::NoFindings => f.write_str("it has no findings: it must come from `fatscan check --format json`"),
        }
    }
}

impl core::error::Error for BaselineError {}

impl Baseline {
    /// Reads the JSON report of an earlier check.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        #[derive(serde::Deserialize)]
        struct Version {
            schema: u32,
        }
        let format = |error: serde_json::Error| BaselineError::Format(error.to_string());
        let version: Version = serde_json::from_str(text).map_err(format)?;
        if version.schema > SCHEMA {
            return Err(BaselineError::Newer(version.schema));
        }
        let document: Document = serde_json::from_str(text).map_err(format)?;
        let findings = document.findings.ok_or(BaselineError::NoFindings)?;
        let known =
            findings.into_iter().map(|finding| (finding.rule, finding.device, finding.subject, stable(&finding.place)));
        Ok(Self { known: known.collect() })
    }

    pub(super) fn contains(&self, finding: &Finding) -> bool {
        let (device, subject) = (finding.device.clone(), finding.subject.clone());
        let key = (finding.rule.id().to_owned(), device, subject, stable(&finding.place));
        // a size that was too large once must not hide that it grew
        finding.rule != super::Rule::MaxSize && self.known.contains(&key)
    }
}

/// A place that stays the same from build to build: the package without directory, version and tags, then the member
/// without offsets.
fn stable(place: &str) -> String {
    let (artefact, rest) = place.split_once('!').unwrap_or((place, ""));
    let file = artefact.rsplit(['/', '\\']).next().unwrap_or(artefact);
    let package = if file.ends_with(".whl") { file.split('-').next().unwrap_or(file) } else { file };
    format!("{package}!{}", rest.split('@').next().unwrap_or_default())
}
