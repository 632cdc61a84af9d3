//! How distributions stand on devices: the verdict, and the one reason that a line has room for.

use core::cmp::Reverse;

use gpu_arch::rules::Verdict;

use super::{Environment, Groups};
use crate::judge::{ArtefactJudgement, Judgement, LimitKind, MemberVerdict, Standing, standing};
use crate::model::Artefact;

/// How much a line has to say, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// It does not run in full.
    Fails,
    /// It runs, after the driver compiled it, or all but some of it.
    Limited,
    /// It runs natively and in full.
    Native,
    /// It has no device code that counts.
    Without,
}

/// A distribution on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether more is missing than what is picked by device.
    pub is_limited: bool,
    /// The one reason: of what fails why, of what is limited what is missing or compiled. None where it is native.
    pub reason: Option<String>,
}

impl State {
    /// How much there is to say of it.
    #[must_use]
    pub const fn rank(&self) -> Rank {
        match self.verdict {
            Verdict::Native if !self.is_limited => Rank::Native,
            Verdict::Native | Verdict::Jit => Rank::Limited,
            Verdict::NoDeviceCode => Rank::Without,
            _ => Rank::Fails,
        }
    }
}

/// A distribution on all devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Index of the distribution; `None` for the files of nobody.
    pub distribution: Option<usize>,
    /// Index of its artefact in the report of its group.
    pub artefact: usize,
    /// One for each device.
    pub states: Vec<State>,
}

impl Row {
    /// The worst over all devices.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.states.iter().map(State::rank).min().unwrap_or(Rank::Without)
    }
}

/// The distributions with device code that counts, the worst first; the files of nobody behind them.
#[must_use]
pub fn rows(groups: &Groups, judgement: &Judgement, environment: &Environment) -> Vec<Row> {
    let artefacts = groups.report.artefacts.iter().zip(&judgement.artefacts).zip(&groups.of).enumerate();
    let mut rows: Vec<Row> = artefacts
        .map(|(place, ((artefact, judged), own))| Row {
            distribution: *own,
            artefact: place,
            states: (0..judgement.devices.len()).map(|device| state(artefact, judged, device)).collect(),
        })
        .filter(|row| row.rank() != Rank::Without)
        .collect();
    let title = |row: &Row| {
        let own = row.distribution.and_then(|own| environment.distributions.get(own));
        own.map(|own| own.name.to_ascii_lowercase()).unwrap_or_default()
    };
    rows.sort_by_cached_key(|row| {
        let worst = row.states.iter().map(|state| (state.rank(), Reverse(state.verdict))).min();
        let number = row.states.iter().filter(|state| state.rank() == row.rank()).count();
        (row.distribution.is_none(), worst, Reverse(number), title(row))
    });
    rows
}

/// The verdict on several distributions, as that on the files of an artefact: all usable, or the best of none, or partial.
#[must_use]
pub fn sum(rows: &[Row], device: usize) -> Verdict {
    let own = rows.iter().filter_map(|row| row.states.get(device)).map(|state| state.verdict);
    let own: Vec<Verdict> = own.filter(|verdict| *verdict != Verdict::NoDeviceCode).collect();
    let usable = own.iter().filter(|verdict| verdict.is_usable()).count();
    match (own.iter().min(), own.iter().max()) {
        (Some(_), Some(worst)) if usable == own.len() => *worst,
        (Some(best), _) if usable == 0 => *best,
        (Some(_), _) => Verdict::Partial,
        (None, _) => Verdict::NoDeviceCode,
    }
}

/// An artefact on one device.
pub(crate) fn state(artefact: &Artefact, judged: &ArtefactJudgement, device: usize) -> State {
    let Some(whole) = judged.verdicts.get(device) else {
        return State { verdict: Verdict::NoDeviceCode, is_limited: false, reason: None };
    };
    let verdict = whole.verdict.verdict;
    let parts = standing(judged, device);
    let is_limited = parts.iter().any(|part| limit(part.verdict).is_some()) || !whole.optional.is_empty();
    let reason = match verdict {
        Verdict::NoDeviceCode => None,
        Verdict::Native if !is_limited => None,
        Verdict::Native | Verdict::Jit => limited(artefact, &parts, &whole.verdict),
        _ => {
            let decides = |part: &&Standing<'_>| part.members.iter().any(|member| whole.decided_by.contains(member));
            let own: Vec<&Standing<'_>> = parts.iter().filter(decides).collect();
            let first = own.first().and_then(|part| part.verdict.reasons.first());
            first.map(|reason| named(artefact, &own, &reason.text))
        }
    };
    State { verdict, is_limited, reason }
}

/// What a file that runs lacks: modules that are not picked by device.
fn limit(verdict: &MemberVerdict) -> Option<&str> {
    let mut own = verdict.limits.iter().filter(|limit| limit.kind != LimitKind::Specialised);
    own.next().map(|limit| limit.text.as_str())
}

fn limited(artefact: &Artefact, parts: &[Standing<'_>], whole: &MemberVerdict) -> Option<String> {
    if whole.verdict == Verdict::Jit {
        let own: Vec<&Standing<'_>> = parts.iter().filter(|part| part.verdict.verdict == Verdict::Jit).collect();
        let compiled = own.iter().map(|part| part.verdict.compiled).fold(0, usize::saturating_add);
        let loads = own.iter().map(|part| part.verdict.modules_ok.saturating_add(part.verdict.specialised_ok));
        let all = loads.fold(0, usize::saturating_add);
        return Some(named(artefact, &own, &format!("{compiled} of {all} modules compile at first use")));
    }
    let own: Vec<&Standing<'_>> = parts.iter().filter(|part| limit(part.verdict).is_some()).collect();
    match own.first().and_then(|part| limit(part.verdict)) {
        Some(text) => Some(named(artefact, &own, text)),
        None => {
            let own: Vec<&Standing<'_>> = parts.iter().filter(|part| part.is_optional).collect();
            (!own.is_empty()).then(|| named(artefact, &own, "for other GPUs"))
        }
    }
}

/// A sentence behind the name of the first file that it is about.
fn named(artefact: &Artefact, parts: &[&Standing<'_>], text: &str) -> String {
    let first = parts.first().and_then(|part| artefact.members.get(*part.members.first()?));
    let path = first.map(|member| member.path.as_str()).unwrap_or_default();
    let file = path.rsplit(['/', '!']).next().unwrap_or(path);
    match parts.len().saturating_sub(1) {
        0 => format!("`{file}`: {text}"),
        more => format!("`{file}` and {more} more: {text}"),
    }
}
