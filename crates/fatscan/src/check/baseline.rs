use core::fmt;
use std::collections::BTreeSet;

use super::Finding;
use crate::json::{self, Document, SCHEMA};
use crate::locator::{LocatorView, StepView};

/// Findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeSet<Key>,
}

/// What makes a finding the same in the next run: all that it is about, without the directory and version of the artefact
/// and without places that move from build to build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: String,
    code: Option<String>,
    device: Option<DeviceKey>,
    subject: Option<String>,
    /// Name of the artefact, then the names of files and members in it.
    path: Vec<String>,
}

/// Capability, id, fleet and driver: another driver or another fleet is another finding.
type DeviceKey = (String, Option<String>, Option<String>, Option<String>);

/// Why a baseline cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is no report of a check; the parser's words.
    Format(String),
    /// It was written by a newer version, with this schema.
    Newer(u32),
    /// It was written by a version whose findings did not say all that tells them apart.
    Older,
    /// It is a report without findings: of `list` or `explain`.
    NoFindings,
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => write!(f, "it is no JSON report: {error}"),
            Self::Newer(schema) => write!(f, "it has schema {schema}, newer than {SCHEMA}, the newest known here"),
            Self::Older => {
                f.write_str("its findings do not say where they are, as those of older versions: make it again")
            }
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
        // an ended ignore is of no file
        if findings.iter().any(|finding| finding.at.steps.is_empty() && !finding.place.is_empty()) {
            return Err(BaselineError::Older);
        }
        Ok(Self { known: findings.iter().map(Key::of_view).collect() })
    }

    pub(super) fn contains(&self, finding: &Finding) -> bool {
        // a size that was too large once must not hide that it grew
        finding.rule != super::Rule::MaxSize && self.known.contains(&Key::of(finding))
    }
}

impl Key {
    fn of_view(finding: &json::Finding) -> Self {
        let device = finding.cc.clone().map(|cc| {
            // a number that tells devices of one report apart is no name
            (cc, name(finding.device.as_deref()), finding.fleet.clone(), finding.driver.clone())
        });
        Self {
            rule: finding.rule.clone(),
            code: finding.code.clone(),
            device,
            subject: finding.subject.clone(),
            path: path(&finding.at),
        }
    }

    fn of(finding: &Finding) -> Self {
        let device = finding.device.as_ref().map(|device| {
            let id = name(Some(&device.id));
            (device.capability.to_string(), id, device.fleet.clone(), device.driver.clone())
        });
        Self {
            rule: finding.rule.id().to_owned(),
            code: finding.code.map(|code| code.to_string()),
            device,
            subject: finding.subject.clone(),
            path: path(&(&finding.at).into()),
        }
    }
}

fn name(id: Option<&str>) -> Option<String> {
    id.map(|id| id.split('#').next().unwrap_or(id).to_owned())
}

/// The names of a place that stay the same from build to build: the package without directory, version and tags, then
/// files, members and parts, without the places where they stand.
fn path(at: &LocatorView) -> Vec<String> {
    let own = |step: &StepView| step.bytes.clone().unwrap_or_else(|| step.name.clone());
    let mut steps = at.steps.iter();
    let mut names = Vec::new();
    if let Some(first) = steps.next() {
        let given = own(first);
        let file = given.rsplit(['/', '\\']).next().unwrap_or(&given);
        names.push(package(file).to_owned());
    }
    for step in steps {
        let name = own(step);
        names.push(if step.name.ends_with(".whl") { package(&name).to_owned() } else { name });
    }
    names
}

fn package(file: &str) -> &str {
    if file.ends_with(".whl") { file.split('-').next().unwrap_or(file) } else { file }
}
