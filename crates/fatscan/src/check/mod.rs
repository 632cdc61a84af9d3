//! The gate: whether artefacts meet demands, as findings of stable rules.
//!
//! Two kinds of demand: an artefact *must run there* (on every device of a judgement, or on one of a group), and it
//! *must hold what was declared* (architectures by name). [`check`] is pure; `docs/RULES.md` documents every rule.

mod baseline;
mod config;
mod contains;
mod date;
mod declared;
mod files;
mod ignore;
mod lint;
mod must_run;
mod plain;
mod rule;
mod vendored;

use std::collections::BTreeMap;

use gpu_arch::Target;

pub use baseline::{Baseline, BaselineError};
pub use config::{Config, ConfigError, FileTable, Fleet};
pub use date::Date;
pub use files::FileDemands;
pub use ignore::Ignore;
pub use plain::{Selection, retain, select};
pub use rule::{Rule, Severity};
pub use vendored::{Excused, Vendored, is_vendored};

use crate::declared::Claim;
use crate::diagnostic::Code;
use crate::judge::Judgement;
use crate::locator::Locator;
use crate::model::{Member, Report};

/// What is demanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Of the modules that load so many in a hundred may be compiled from PTX at first use; none where it is not given.
    pub allow_jit: Option<u8>,
    /// The same on some devices, by their indices in the judgement: those of a fleet with a rule of its own.
    pub allow_jit_on: BTreeMap<usize, u8>,
    /// A file is enough of whose modules at least this percentage loads.
    pub allow_partial: Option<u8>,
    /// What is uncertain passes.
    pub allow_unknown: bool,
    /// Code that every general module must hold, suffixes matched exactly.
    pub contains: Vec<Target>,
    /// Nothing beyond `contains` may be in general modules, and what does not load on a demanded device is an error even
    /// where the file runs.
    pub strict: bool,
    /// The host architecture that files must be for: `x86_64`, `aarch64`.
    pub host: Option<String>,
    /// The largest artefact, in bytes.
    pub max_size: Option<u64>,
    /// Groups of devices, by their indices in the judgement, of which one is enough; all others must be met each.
    pub any_of: Vec<Group>,
    /// What rules weigh, where it differs from [`Rule::severity`].
    pub levels: BTreeMap<Rule, Severity>,
    /// What some files are asked instead.
    pub files: Vec<FileDemands>,
    /// Libraries of NVIDIA that were put into the package.
    pub vendored: Vendored,
    /// What the artefacts of the report say of themselves, in its order ([`crate::declared::find`]): to be held to.
    pub declared: Vec<Vec<Claim>>,
    /// Oddities that nobody forbade are told.
    pub lint: bool,
    /// Paths of files that were left out of the report, so that nothing can be said of them.
    pub left_out: Vec<String>,
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
    /// Where.
    pub at: Locator,
    /// Path of the file in the artefact; empty where it is about the artefact.
    pub member: String,
    /// The rule.
    pub rule: Rule,
    /// Of damage: the code of the diagnostic.
    pub code: Option<Code>,
    /// What it weighs here.
    pub severity: Severity,
    /// The device, where it is about one.
    pub device: Option<OnDevice>,
    /// The capability that an ignore is about, or the device's.
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

/// The device that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnDevice {
    /// What reports call it.
    pub id: String,
    /// Its fleet or group.
    pub fleet: Option<String>,
    /// The driver that it was judged with: version or CUDA version.
    pub driver: Option<String>,
    /// Its capability.
    pub capability: gpu_arch::Capability,
}

impl OnDevice {
    fn new(judgement: &Judgement, index: usize) -> Option<Self> {
        let device = judgement.devices.get(index)?;
        let version = device.driver.version.map(|version| version.to_string());
        Some(Self {
            id: judgement.ids().get(index)?.clone(),
            fleet: judgement.fleet(index).map(ToOwned::to_owned),
            driver: version.or_else(|| device.driver.cuda.map(|cuda| format!("CUDA {cuda}"))),
            capability: device.capability,
        })
    }
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
    /// What is taken for granted of drivers that are not known.
    pub assumptions: Vec<Assumption>,
    /// Vendored libraries of which less is asked than of other files, where there are some.
    pub vendored: Option<Excused>,
}

/// What a verdict takes for granted of a driver that is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumption {
    /// Index of the artefact in the report.
    pub artefact: usize,
    /// What reports call the devices.
    pub devices: Vec<String>,
    /// The oldest driver that would do, where one can be named.
    pub driver: Option<gpu_arch::DriverVersion>,
    /// One sentence for each condition.
    pub texts: Vec<String>,
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
    plain::unread(report, &mut sink);
    for (index, (artefact, judged)) in report.artefacts.iter().zip(&judgement.artefacts).enumerate() {
        let has_unread = report.unread.iter().any(|unread| report.artefact_of(&unread.at) == Some(index));
        let mut at = At { sink: &mut sink, index, artefact, has_unread };
        plain::size(&mut at);
        plain::host(&mut at);
        files::unmatched(&mut at);
        must_run::check(&mut at, judged, judgement);
        contains::check(&mut at, judged);
        declared::check(&mut at, judged);
        lint::check(&mut at, judged);
    }
    for words in files::idle(report, demands) {
        let (at, member) = (Locator::default(), String::new());
        sink.add(Subject { artefact: None, path: "", at, member, code: None }, words);
    }
    let mut findings = sink.findings;
    findings.extend(ignore::expired(demands));
    findings.sort();
    findings.dedup();
    Outcome { findings, assumptions: assumptions(judgement), vendored: vendored::excused(report, demands) }
}

/// The conditions that are taken for granted, devices of one artefact with the same ones together.
fn assumptions(judgement: &Judgement) -> Vec<Assumption> {
    let ids = judgement.ids();
    let mut all: Vec<Assumption> = Vec::new();
    for (artefact, judged) in judgement.artefacts.iter().enumerate() {
        let verdicts = judged.verdicts.iter().zip(&judgement.devices).zip(&ids);
        for ((whole, _), id) in verdicts.filter(|((_, device), _)| device.driver.is_unknown()) {
            let reasons = whole.verdict.reasons.iter();
            let conditions = reasons.filter(|reason| reason.needs_driver.is_some() || reason.needs_cuda.is_some());
            let texts: Vec<String> = conditions.map(|reason| reason.text.clone()).collect();
            if texts.is_empty() {
                continue;
            }
            let driver = whole.verdict.needs_driver;
            let same =
                |known: &&mut Assumption| known.artefact == artefact && known.driver == driver && known.texts == texts;
            match all.iter_mut().find(same) {
                Some(known) => known.devices.push(id.clone()),
                None => all.push(Assumption { artefact, devices: vec![id.clone()], driver, texts }),
            }
        }
    }
    all
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
    /// What is not there may be in what was not read.
    has_unread: bool,
}

/// What a finding says.
struct Words {
    rule: Rule,
    /// What it weighs unless told otherwise, where that is not [`Rule::severity`].
    severity: Option<Severity>,
    device: Option<OnDevice>,
    subject: Option<String>,
    message: String,
    hint: Option<String>,
}

/// What a finding is about.
struct Subject<'a> {
    artefact: Option<usize>,
    /// Its path, for ignores.
    path: &'a str,
    at: Locator,
    member: String,
    code: Option<Code>,
}

impl At<'_, '_> {
    fn add(&mut self, member: Option<&Member>, words: Words) {
        let subject = Subject {
            artefact: Some(self.index),
            path: &self.artefact.path,
            at: member.map_or(&self.artefact.at, |member| &member.at).clone(),
            member: member.map(|member| member.path.clone()).unwrap_or_default(),
            code: None,
        };
        self.sink.add(subject, words);
    }
}

impl Sink<'_> {
    fn add(&mut self, about: Subject<'_>, words: Words) {
        let Words { rule, severity, device, subject, message, hint } = words;
        let own = match (rule, &subject) {
            // a table says itself whether its files may be absent
            (Rule::UnmatchedFiles, Some(glob)) => self.demands.level_of_table(glob, rule),
            _ => self.demands.level_of(about.path, &about.member, rule),
        };
        let own = own.or_else(|| self.demands.levels.get(&rule).copied());
        let severity = own.or(severity).unwrap_or_else(|| rule.severity());
        let mut finding = Finding {
            artefact: about.artefact,
            at: about.at,
            member: about.member,
            rule,
            code: about.code,
            severity,
            capability: device.as_ref().map(|device| device.capability),
            device,
            subject,
            message,
            hint,
            ignored_by: None,
        };
        finding.ignored_by = ignore::reason(&finding, about.path, self.demands)
            .or_else(|| self.demands.baseline.contains(&finding).then(|| "baseline".to_owned()));
        self.findings.push(finding);
    }
}
