use std::collections::{BTreeMap, HashSet};

use gpu_arch::rules::Verdict;

use super::cell::{Made, Whole, make};
use super::{Board, Cell, Reason};
use crate::check::{Finding, Outcome, Rule};
use crate::diagnostic::Level;
use crate::judge::Judgement;
use crate::locator::Locator;
use crate::model::Report;

/// An artefact on all targets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The path of the artefact, the title of a distribution, or a path that could not be read.
    pub name: String,
    /// Index of the artefact in the report; `None` for a path that gave none.
    pub artefact: Option<usize>,
    /// The environment that the distribution is installed in.
    pub environment: Option<String>,
    /// One for each target.
    pub cells: Vec<Cell>,
    /// What fails the check whatever the target: size, host, code that is declared. Indices of [`Board::reasons`].
    pub notes: Vec<usize>,
}

impl Row {
    /// Whether the check fails because of it.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.notes.is_empty() || self.cells.iter().any(|cell| cell.fails)
    }
}

/// Where an artefact comes from, where that is an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The path of the environment.
    pub environment: Option<String>,
    /// Whether a file of the distribution is damaged or was not read.
    pub is_damaged: bool,
}

/// What a table is made of.
pub(super) struct Seen<'a> {
    pub(super) report: &'a Report,
    pub(super) judgement: &'a Judgement,
    pub(super) outcome: &'a Outcome,
    pub(super) origins: &'a [Origin],
    /// What reports call the devices.
    pub(super) ids: Vec<String>,
}

impl Seen<'_> {
    fn origin(&self, artefact: usize) -> Option<&Origin> {
        self.origins.get(artefact).filter(|origin| origin.environment.is_some())
    }
}

const DAMAGED: &str = "a part of it is damaged or cannot be read: this is judged by what could be read";
const UNREAD: &str = "a part of it that may hold libraries was not read: this is judged by what could be read";

/// Rules about how files were read.
const fn is_of_reading(rule: Rule) -> bool {
    matches!(rule, Rule::Damage | Rule::Unread | Rule::Unreadable)
}

pub(super) fn fill(board: &mut Board, seen: &Seen<'_>) {
    let mut by_artefact: BTreeMap<usize, Vec<(usize, &Finding)>> = BTreeMap::new();
    let mut pathless: Vec<(usize, &Finding)> = Vec::new();
    for (index, finding) in seen.outcome.findings.iter().enumerate() {
        let own = finding.artefact.filter(|own| !(is_of_reading(finding.rule) && seen.origin(*own).is_some()));
        match own {
            Some(own) => by_artefact.entry(own).or_default().push((index, finding)),
            None => pathless.push((index, finding)),
        }
    }
    let doubts = doubts(seen);
    for (place, (artefact, judged)) in seen.report.artefacts.iter().zip(&seen.judgement.artefacts).enumerate() {
        if artefact.is_beside() {
            continue;
        }
        let origin = seen.origin(place);
        // what is installed and has no code is what most packages are
        let is_empty = || judged.verdicts.iter().all(|own| own.verdict.verdict == Verdict::NoDeviceCode);
        if origin.is_some_and(|origin| !origin.is_damaged) && is_empty() {
            continue;
        }
        let findings = by_artefact.remove(&place).unwrap_or_default();
        let doubt = match origin {
            Some(origin) => origin.is_damaged.then_some(DAMAGED),
            None => doubts.get(&place).copied(),
        };
        row(board, seen, place, &findings, doubt);
    }
    // what is left is about no row, or about a path that gave none
    for (index, finding) in pathless {
        let name = finding.at.to_string();
        let is_path = finding.rule == Rule::Unreadable && !name.is_empty() && finding.artefact.is_none();
        if is_path {
            unreadable(board, name, finding);
        } else if finding.fails() {
            board.beside.push(index);
        }
    }
    let lost = by_artefact.into_values().flatten().filter(|(_, finding)| finding.fails());
    board.beside.extend(lost.map(|(index, _)| index));
    board.beside.sort_unstable();
}

/// What there is to say of how artefacts were read.
fn doubts(seen: &Seen<'_>) -> BTreeMap<usize, &'static str> {
    let mut doubts = BTreeMap::new();
    for unread in &seen.report.unread {
        doubts.extend(seen.report.artefact_of(&unread.at).map(|own| (own, UNREAD)));
    }
    // what was not read is said in both lists
    let unread: HashSet<&Locator> = seen.report.unread.iter().map(|unread| &unread.at).collect();
    let errors = seen.report.diagnostics.iter().filter(|own| own.level == Level::Error);
    for own in errors.filter(|own| !unread.contains(&own.at)) {
        doubts.extend(seen.report.artefact_of(&own.at).map(|own| (own, DAMAGED)));
    }
    doubts
}

fn row(board: &mut Board, seen: &Seen<'_>, place: usize, findings: &[(usize, &Finding)], doubt: Option<&str>) {
    let Some((artefact, judged)) = seen.report.artefacts.get(place).zip(seen.judgement.artefacts.get(place)) else {
        return;
    };
    let origin = seen.origin(place);
    let is_whole = |rule: Rule| is_of_reading(rule) || rule == Rule::NoDeviceCode;
    let (whole, rest): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().map(|(_, finding)| *finding).partition(|finding| is_whole(finding.rule));
    let is_note = |finding: &Finding| {
        let rules = [Rule::MaxSize, Rule::HostMismatch, Rule::Missing, Rule::Extra];
        finding.device.is_none() && rules.contains(&finding.rule)
    };
    let (notes, own): (Vec<&Finding>, Vec<&Finding>) = rest.into_iter().partition(|finding| is_note(finding));
    let fails = whole.iter().any(|finding| finding.fails())
        || origin.is_some_and(|origin| origin.is_damaged)
            && seen.outcome.findings.iter().any(|finding| is_of_reading(finding.rule) && finding.fails());
    let whole = Whole { doubt, fails, findings: &own };
    let made: Vec<Made> = board
        .targets
        .iter()
        .map(|target| {
            let mut made = make(seen, target, (artefact, judged), &whole);
            if made.cell.verdict == Some(Verdict::NoDeviceCode) {
                let first = judged.verdicts.first().and_then(|own| own.verdict.reasons.first());
                let text = first.map(|reason| reason.text.clone());
                made.text = made.text.or(text).or_else(|| Some("there is no device code".to_owned()));
            }
            made
        })
        .collect();
    let texts = generic(board, &made);
    let mut cells = Vec::with_capacity(made.len());
    for (own, text) in made.iter().zip(texts) {
        let reason = text.map(|text| {
            let Cell { verdict, fails, is_doubtful, .. } = own.cell;
            board.reason(Reason { verdict, fails, is_doubtful, text, cells: 1 })
        });
        cells.push(Cell { reason, ..own.cell });
    }
    let notes = notes.into_iter().filter(|finding| finding.fails()).map(|finding| {
        let member = if finding.member.is_empty() { String::new() } else { format!("`{}`: ", finding.member) };
        let text = format!("{member}{}", finding.message);
        board.reason(Reason { verdict: None, fails: true, is_doubtful: false, text, cells: 0 })
    });
    let mut notes: Vec<usize> = notes.collect();
    notes.dedup();
    let environment = origin.and_then(|origin| origin.environment.clone());
    board.rows.push(Row { name: artefact.path.clone(), artefact: Some(place), environment, cells, notes });
}

/// What is said of several GPUs is one sentence: where it says the same but the number of the GPU, without the number.
fn generic(board: &Board, made: &[Made]) -> Vec<Option<String>> {
    let plain: Vec<Option<String>> = made
        .iter()
        .zip(&board.targets)
        .map(|(own, target)| {
            let number = format!("compute capability {}", target.cc);
            own.text.as_ref().map(|text| text.replace(&number, "this GPU"))
        })
        .collect();
    let same = |one: usize, other: usize| {
        let words = |index: usize| made.get(index).map(|own| (own.cell.verdict, own.cell.fails));
        words(one) == words(other) && plain.get(one) == plain.get(other)
    };
    (0..made.len())
        .map(|index| {
            let own = made.get(index).and_then(|own| own.text.clone());
            let differs = |other: usize| made.get(other).and_then(|other| other.text.as_ref()) != own.as_ref();
            let is_shared = (0..made.len()).any(|other| same(index, other) && differs(other));
            if is_shared { plain.get(index).cloned().flatten() } else { own }
        })
        .collect()
}

/// A path that gave nothing.
fn unreadable(board: &mut Board, name: String, finding: &Finding) {
    let fails = finding.fails();
    let cells = board.targets.len();
    let reason = board.reason(Reason { verdict: None, fails, is_doubtful: true, text: finding.message.clone(), cells });
    let cell = Cell { verdict: None, is_limited: false, is_doubtful: true, fails, reason: Some(reason), assumes: None };
    let cells = vec![cell; cells];
    board.rows.push(Row { name, artefact: None, environment: None, cells, notes: Vec::new() });
}
