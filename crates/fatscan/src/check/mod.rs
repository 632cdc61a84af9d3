//! The gate: whether artefacts meet demands, as findings of stable rules.
//!
//! Two kinds of demand: an artefact *must run there* (on every device of a judgement, or on one of a group), and it
//! *must hold what was declared* (architectures by name). [`check`] is pure; `docs/RULES.md` documents every rule.

mod baseline;
mod config;
mod contains;
mod date;
mod glob;
mod ignore;
mod must_run;
mod plain;
mod rule;

use std::collections::BTreeMap;

use gpu_arch::Target;

pub use baseline::{Baseline, BaselineError};
pub use config::{Config, ConfigError, Fleet};
pub use date::Date;
pub use glob::Glob;
pub use ignore::Ignore;
pub use plain::select;
pub use rule::{Rule, Severity};

use crate::judge::Judgement;
use crate::model::{Member, Report};

/// What is demanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// PTX that the driver compiles is enough.
    pub allow_jit: bool,
    /// A file is enough of whose modules at least this percentage loads.
    pub allow_partial: Option<u8>,
    /// What is uncertain passes.
    pub allow_unknown: bool,
    /// Code that every general module must hold, suffixes matched exactly.
    pub contains: Vec<Target>,
    /// Nothing beyond `contains` may be in general modules.
    pub strict: bool,
    /// The host architecture that files must be for: `x86_64`, `aarch64`.
    pub host: Option<String>,
    /// The largest artefact, in bytes.
    pub max_size: Option<u64>,
    /// Groups of devices, by their indices in the judgement, of which one is enough; all others must be met each.
    pub any_of: Vec<Group>,
    /// What rules weigh, where it differs from [`Rule::severity`].
    pub levels: BTreeMap<Rule, Severity>,
    /// The same for files whose path matches, the last match counts.
    pub by_file: Vec<(Glob, BTreeMap<Rule, Severity>)>,
    /// Findings that are known and accepted.
    pub ignores: Vec<Ignore>,
    /// Findings of an earlier run, which do not count again.
    pub baseline: Baseline,
    /// The day of the check: ignores end.
    pub today: Date,
}

/// Devices of which one is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name, for people.
    pub name: String,
    /// Indices of devices.
    pub devices: Vec<usize>,
}

/// One thing that the check found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Index of the artefact in the report; `None` for a path that gave none.
    pub artefact: Option<usize>,
    /// Artefact and member.
    pub place: String,
    /// The rule.
    pub rule: Rule,
    /// What it weighs here.
    pub severity: Severity,
    /// The device, by its name or capability, where it is about one.
    pub device: Option<String>,
    /// Its capability.
    pub capability: Option<gpu_arch::Capability>,
    /// What else it is about: the code that is missing or not declared.
    pub subject: Option<String>,
    /// One sentence.
    pub message: String,
    /// What to do, or the flag that would let it pass.
    pub hint: Option<String>,
    /// Why it does not count: the reason of an ignore, or the baseline.
    pub ignored_by: Option<String>,
}

impl Finding {
    /// Whether it makes the check fail.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.severity == Severity::Deny && self.ignored_by.is_none()
    }
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// By artefact, place and rule; ignored and allowed ones too.
    pub findings: Vec<Finding>,
}

impl Outcome {
    /// Whether nothing fails.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.findings.iter().any(Finding::fails)
    }

    /// Findings that fail, that warn, that are notes, that are ignored, and that are allowed.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for finding in &self.findings {
            let count = match (finding.severity, &finding.ignored_by) {
                (Severity::Allow, _) => &mut summary.allowed,
                (_, Some(_)) => &mut summary.ignored,
                (Severity::Deny, None) => &mut summary.errors,
                (Severity::Warn, None) => &mut summary.warnings,
                (Severity::Note, None) => &mut summary.notes,
            };
            *count = count.saturating_add(1);
        }
        summary
    }
}

/// How many findings of which weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Those that fail.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
    /// Known and accepted.
    pub ignored: usize,
    /// Allowed by the levels given.
    pub allowed: usize,
}

/// Checks a report and its judgement against demands.
#[must_use]
pub fn check(report: &Report, judgement: &Judgement, demands: &Demands) -> Outcome {
    let mut sink = Sink { demands, findings: Vec::new() };
    plain::diagnostics(report, &mut sink);
    for (index, (artefact, judged)) in report.artefacts.iter().zip(&judgement.artefacts).enumerate() {
        let mut at = At { sink: &mut sink, index, artefact };
        plain::size(&mut at);
        plain::host(&mut at);
        must_run::check(&mut at, judged, judgement);
        contains::check(&mut at, judged);
    }
    let mut findings = sink.findings;
    findings.extend(ignore::expired(demands));
    findings.sort();
    findings.dedup();
    Outcome { findings }
}

/// Where findings go: weighed, and matched with ignores and baseline.
struct Sink<'a> {
    demands: &'a Demands,
    findings: Vec<Finding>,
}

/// The same within one artefact.
struct At<'a, 'b> {
    sink: &'a mut Sink<'b>,
    index: usize,
    artefact: &'a crate::model::Artefact,
}

/// What a finding says.
struct Words {
    rule: Rule,
    device: Option<(String, gpu_arch::Capability)>,
    subject: Option<String>,
    message: String,
    hint: Option<String>,
}

impl At<'_, '_> {
    fn add(&mut self, member: Option<&Member>, words: Words) {
        let own = member.map(|member| member.path.as_str()).unwrap_or_default();
        // a single file has its own name as its only member
        let is_whole = self.artefact.kind == crate::model::ArtefactKind::File;
        let shown = if is_whole { "" } else { own };
        let place = crate::model::Place { path: [&self.artefact.path, shown, ""], ..Default::default() };
        self.sink.add(Some((self.index, &self.artefact.path)), place.to_string(), own, words);
    }
}

impl Sink<'_> {
    fn add(&mut self, artefact: Option<(usize, &str)>, place: String, member: &str, words: Words) {
        let Words { rule, device, subject, message, hint } = words;
        let by_file = self.demands.by_file.iter().rev();
        let own = by_file.filter(|(glob, _)| glob.matches(member)).find_map(|(_, levels)| levels.get(&rule));
        let severity = own.or_else(|| self.demands.levels.get(&rule)).copied().unwrap_or_else(|| rule.severity());
        let (device, capability) = device.map_or((None, None), |(name, capability)| (Some(name), Some(capability)));
        let index = artefact.map(|(index, _)| index);
        let mut finding = Finding {
            artefact: index,
            place,
            rule,
            severity,
            device,
            capability,
            subject,
            message,
            hint,
            ignored_by: None,
        };
        let path = artefact.map(|(_, path)| path).unwrap_or_default();
        finding.ignored_by = ignore::reason(&finding, path, member, self.demands)
            .or_else(|| self.demands.baseline.contains(&finding).then(|| "baseline".to_owned()));
        self.findings.push(finding);
    }
}
