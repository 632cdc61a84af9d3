//! Where an error that a program reported comes from.

use gpu_arch::rules::{Device, Reason, ReasonCode};

use crate::judge::ArtefactJudgement;

/// Why a program that uses an artefact reports an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Index of the file in the artefact; nothing where the artefact as a whole is meant.
    pub member: Option<usize>,
    /// When the error comes.
    pub when: When,
    /// One sentence, lower case, without a full stop.
    pub text: String,
}

/// When an error comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// Here: a file that decides the verdict gives it.
    Here,
    /// With a driver that is older than what a file that decides asks for; the driver is not known.
    OldDriver,
    /// Where a file that does not decide is used.
    IfUsed,
}

impl When {
    /// The word in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::OldDriver => "old-driver",
            Self::IfUsed => "if-used",
        }
    }
}

/// The cause of an error in an artefact for the `index`th device of its judgement, the likeliest. The files that decide are
/// looked at first; of alternatives only the best, as in the verdict.
#[must_use]
pub fn cause_of(error: u32, judged: &ArtefactJudgement, devices: &[Device], index: usize) -> Option<Cause> {
    let (whole, device) = (judged.verdicts.get(index)?, devices.get(index)?);
    // of an unknown driver it is only said what it must be
    let is_condition =
        |reason: &Reason| device.driver.is_unknown() && (reason.needs_driver.is_some() || reason.needs_cuda.is_some());
    let find = |member: usize, conditions: bool| {
        let verdict = judged.members.get(member)?.verdicts.get(index)?;
        let mut reasons = verdict.reasons.iter().filter(|reason| {
            gives(reason, error) && is_condition(reason) == conditions && (conditions || !verdict.verdict.is_usable())
        });
        reasons.next().map(|reason| reason.text.clone())
    };
    let first = |members: &[usize], conditions, when| {
        let mut found = members.iter().filter_map(|member| Some((*member, find(*member, conditions)?)));
        found.next().map(|(member, text)| Cause { member: Some(member), when, text })
    };
    let of_whole = || {
        let mut reasons = whole.verdict.reasons.iter().filter(|reason| gives(reason, error) && !is_condition(reason));
        let reason = reasons.next().filter(|_| !whole.verdict.verdict.is_usable());
        reason.map(|reason| Cause { member: None, when: When::Here, text: reason.text.clone() })
    };
    let others = || {
        let is_used = |member: &usize| !whole.decided_by.contains(member) && !is_passed_over(*member, judged, index);
        (0..judged.members.len()).filter(is_used).collect::<Vec<_>>()
    };
    first(&whole.decided_by, false, When::Here)
        .or_else(of_whole)
        .or_else(|| first(&whole.decided_by, true, When::OldDriver))
        .or_else(|| first(&others(), false, When::IfUsed))
}

/// Whether a file is of an alternative that is not the best one.
fn is_passed_over(member: usize, judged: &ArtefactJudgement, index: usize) -> bool {
    judged.alternatives.iter().any(|group| {
        let best = group.best.get(index).copied();
        let others = group.choices.iter().enumerate().filter(|(choice, _)| Some(*choice) != best);
        others.flat_map(|(_, choice)| &choice.members).any(|other| *other == member)
    })
}

/// Whether a reason makes programs report an error, or one that they put into the same words.
fn gives(reason: &Reason, error: u32) -> bool {
    match reason.error {
        Some(own) => own == error || ALIKE.iter().any(|alike| alike.contains(&own) && alike.contains(&error)),
        None => reasons_of_error(error).contains(&reason.code),
    }
}

/// Errors of one cause, or of one text: which of them a program reports depends on what it asks first.
const ALIKE: [&[u32]; 2] = [&[98, 209, 500], &[200, 300]];

/// The kinds of reasons that give a CUDA error, where a reason itself does not name one.
#[must_use]
pub fn reasons_of_error(error: u32) -> &'static [ReasonCode] {
    match error {
        35 => &[ReasonCode::RuntimeMajor],
        100 => &[ReasonCode::DriverUnknownDevice, ReasonCode::DriverDroppedDevice],
        200 => &[ReasonCode::Zstd, ReasonCode::CubinAbi],
        98 | 209 | 500 => &[ReasonCode::NoImage],
        222 => &[ReasonCode::PtxIsa],
        223 => &[ReasonCode::JitDisabled],
        _ => &[],
    }
}
