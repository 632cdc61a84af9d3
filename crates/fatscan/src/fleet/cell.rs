use gpu_arch::DriverVersion;
use gpu_arch::rules::{Device, Verdict};

use super::Target;
use super::row::Seen;
use crate::check::{Finding, Rule};
use crate::environment::{State, state};
use crate::judge::{ArtefactJudgement, LimitKind, standing};
use crate::model::Artefact;

/// An artefact on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// The verdict; of a range of drivers the worst of its ends. `None` where nothing could be read.
    pub verdict: Option<Verdict>,
    /// Whether it runs and more is missing than what is picked by device.
    pub is_limited: bool,
    /// Whether it is judged by what could be read: a part is damaged, or was not read.
    pub is_doubtful: bool,
    /// Whether the check fails here.
    pub fails: bool,
    /// Why, as an index of [`super::Board::reasons`]; of what is native where there is something to say.
    pub reason: Option<usize>,
    /// The oldest driver that it needs, where the target names none and a new enough one was assumed.
    pub assumes: Option<DriverVersion>,
}

/// The colour of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Native, read in full, and the check holds.
    Good,
    /// The check holds, and there is something to know.
    Fair,
    /// The check fails.
    Bad,
}

impl Grade {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Bad => "bad",
        }
    }
}

impl Cell {
    /// Its colour. What was not read in full is never [`Grade::Good`].
    #[must_use]
    pub const fn grade(&self) -> Grade {
        match self.verdict {
            _ if self.fails => Grade::Bad,
            Some(Verdict::Native) if !self.is_doubtful => Grade::Good,
            _ => Grade::Fair,
        }
    }

    /// `native`, `jit`, ..., or `not-read`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self.verdict {
            Some(verdict) => verdict.as_str(),
            None => "not-read",
        }
    }
}

/// A cell without the number of its reason, and the reason.
pub(super) struct Made {
    pub(super) cell: Cell,
    pub(super) text: Option<String>,
}

/// What is so of the whole row.
pub(super) struct Whole<'a> {
    /// How it was read, where that is not in full.
    pub(super) doubt: Option<&'a str>,
    /// Whether the check fails for all of it, whatever the target.
    pub(super) fails: bool,
    /// Findings of this artefact, those that are about a device or a kind of limit.
    pub(super) findings: &'a [&'a Finding],
}

pub(super) fn make(
    seen: &Seen<'_>,
    target: &Target,
    (artefact, judged): (&Artefact, &ArtefactJudgement),
    whole: &Whole<'_>,
) -> Made {
    let of = |device: &usize| {
        let mut state = state(artefact, judged, *device);
        // what is so of every file needs no file
        state.reason = shared(judged, *device).filter(|_| !state.verdict.is_usable()).or(state.reason);
        (*device, state)
    };
    let states: Vec<(usize, State)> = target.devices.iter().map(of).collect();
    let verdict = states.iter().map(|(_, state)| state.verdict).max().unwrap_or(Verdict::NoDeviceCode);
    let is_here = |finding: &&&Finding| match &finding.device {
        Some(on) => target.devices.iter().any(|device| seen.ids.get(*device) == Some(&on.id)),
        None => target.devices.iter().any(|device| is_limit(finding, artefact, judged, *device)),
    };
    let own: Vec<&Finding> = whole.findings.iter().filter(is_here).copied().collect();
    let failing: Vec<&Finding> = own.iter().filter(|finding| finding.fails()).copied().collect();
    let fails = whole.fails || !failing.is_empty();
    let mut texts: Vec<String> = whole.doubt.map(ToOwned::to_owned).into_iter().collect();
    texts.extend(reason(seen, &states));
    if texts.is_empty()
        && let Some(first) = failing.first()
    {
        let on = format!(" on {}", target.gpu);
        texts.push(first.message.replacen(&on, "", 1));
    }
    if !fails && let Some(reason) = own.iter().find_map(|finding| finding.ignored_by.as_ref()) {
        texts.push(format!("accepted: {reason}"));
    }
    if !fails && target.is_one_of && !verdict.is_usable() {
        let group = target.fleet.as_deref().unwrap_or_default();
        texts.push(format!("one GPU of `{group}` is enough"));
    }
    let is_limited = verdict.is_usable() && states.iter().any(|(_, state)| state.is_limited);
    let needs = |device: &usize| {
        let is_unknown = seen.judgement.devices.get(*device)?.driver.is_unknown();
        judged.verdicts.get(*device)?.verdict.needs_driver.filter(|_| is_unknown && verdict != Verdict::NotCovered)
    };
    let assumes = target.devices.iter().filter_map(needs).max();
    let is_doubtful = whole.doubt.is_some();
    let cell = Cell { verdict: Some(verdict), is_limited, is_doubtful, fails, reason: None, assumes };
    Made { cell, text: (!texts.is_empty()).then(|| texts.join("; ")) }
}

/// The first reason of all parts that count, where they have one.
fn shared(judged: &ArtefactJudgement, device: usize) -> Option<String> {
    let parts = standing(judged, device);
    let mut texts = parts.iter().map(|part| part.verdict.reasons.first().map(|reason| &reason.text));
    let first = texts.next()??;
    texts.all(|text| text == Some(first)).then(|| first.clone())
}

/// The reason of one device. Of a range that of its newest driver, where that changes nothing, else of both ends.
fn reason(seen: &Seen<'_>, states: &[(usize, State)]) -> Option<String> {
    let (_, last) = states.last()?;
    if states.iter().all(|(_, state)| state.verdict == last.verdict) {
        return last.reason.clone();
    }
    let of = |(device, state): &(usize, State)| {
        let driver = seen.judgement.devices.get(*device).map(with).unwrap_or_default();
        let reason = state.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{driver}{}{reason}", state.verdict.as_str().replace('-', " "))
    };
    Some(states.iter().map(of).collect::<Vec<_>>().join("; "))
}

fn with(device: &Device) -> String {
    match (device.driver.version, device.driver.cuda) {
        (Some(version), _) => format!("with driver {version}: "),
        (None, Some(cuda)) => format!("with a driver for CUDA {cuda}: "),
        (None, None) => String::new(),
    }
}

/// Whether a finding about what a file lacks is about this device: it names no device, since it is one for all of them.
fn is_limit(finding: &Finding, artefact: &Artefact, judged: &ArtefactJudgement, device: usize) -> bool {
    let kind = match finding.rule {
        Rule::Specialised => LimitKind::Specialised,
        Rule::Newer => LimitKind::Newer,
        Rule::Older => LimitKind::Older,
        Rule::Gap => LimitKind::Gap,
        Rule::Refused => LimitKind::Refused,
        Rule::EmptyKernels => LimitKind::EmptyKernels,
        _ => return false,
    };
    standing(judged, device).into_iter().any(|part| {
        let member = part.members.first().and_then(|member| artefact.members.get(*member));
        let is_file = member.is_some_and(|member| member.path == finding.member || member.at == finding.at);
        let lacks = if part.is_optional {
            kind == LimitKind::Specialised
        } else {
            part.verdict.verdict.is_usable() && part.verdict.limits.iter().any(|limit| limit.kind == kind)
        };
        is_file && lacks
    })
}
