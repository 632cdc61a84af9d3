//! How the members of an artefact add up.

use gpu_arch::rules::{Device, Reason, ReasonCode, Verdict};

use super::{Alternatives, ArtefactJudgement, ArtefactVerdict, Choice, MemberJudgement, MemberVerdict, Policy};
use super::{alternatives, member};
use crate::model::Artefact;

pub(super) fn judge(artefact: &Artefact, devices: &[Device], policy: &Policy) -> ArtefactJudgement {
    let members: Vec<MemberJudgement> =
        artefact.members.iter().map(|member| member::judge(member, devices, policy)).collect();
    let alternatives = if policy.alternatives { groups(artefact, &members, devices.len()) } else { Vec::new() };
    let verdicts = (0..devices.len()).map(|device| whole(&members, &alternatives, device)).collect();
    ArtefactJudgement { verdicts, members, alternatives }
}

fn verdict_of(members: &[MemberJudgement], index: usize, device: usize) -> Verdict {
    let own = members.get(index).and_then(|member| member.verdicts.get(device));
    own.map_or(Verdict::NoDeviceCode, |verdict| verdict.verdict)
}

/// The worst verdict; members without device code are neutral.
fn worst(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.filter(|verdict| *verdict != Verdict::NoDeviceCode).max().unwrap_or(Verdict::NoDeviceCode)
}

fn groups(artefact: &Artefact, members: &[MemberJudgement], devices: usize) -> Vec<Alternatives> {
    let groups = alternatives::find(&artefact.members).into_iter().map(|(name, choices)| {
        let choices: Vec<Choice> = choices
            .into_iter()
            .map(|(path, indices)| {
                // within one alternative general members decide, as in an artefact
                let decides = |index: &&usize| members.get(**index).is_some_and(|member| member.decides);
                let deciding: Vec<usize> = indices.iter().filter(decides).copied().collect();
                let judged = if deciding.is_empty() { &indices } else { &deciding };
                let verdicts = (0..devices)
                    .map(|device| worst(judged.iter().map(|index| verdict_of(members, *index, device))))
                    .collect();
                Choice { path, members: indices, verdicts }
            })
            .collect();
        let best = (0..devices).map(|device| {
            let verdict = |choice: &Choice| choice.verdicts.get(device).copied().unwrap_or(Verdict::NoDeviceCode);
            let ranked = choices.iter().enumerate().min_by_key(|(_, choice)| (verdict(choice), 0));
            ranked.map_or(0, |(index, _)| index)
        });
        let best = best.collect();
        Alternatives { name, choices, best }
    });
    groups.collect()
}

/// One device. Members that are alternatives count as the best of them.
fn whole(members: &[MemberJudgement], alternatives: &[Alternatives], device: usize) -> ArtefactVerdict {
    // indices of members that stand for the artefact: those outside every group, and the best choice of each group
    let grouped = |index: &usize| {
        alternatives.iter().any(|group| group.choices.iter().any(|choice| choice.members.contains(index)))
    };
    let mut standing: Vec<usize> = (0..members.len()).filter(|index| !grouped(index)).collect();
    for group in alternatives {
        let best = group.best.get(device).and_then(|best| group.choices.get(*best));
        standing.extend(best.into_iter().flat_map(|choice| choice.members.iter().copied()));
    }
    standing.sort_unstable();
    let has_code = |index: &usize| verdict_of(members, *index, device) != Verdict::NoDeviceCode;
    let decides = |index: &usize| members.get(*index).is_some_and(|member| member.decides);
    let mut deciding: Vec<usize> = standing.iter().filter(|i| decides(i) && has_code(i)).copied().collect();
    if deciding.is_empty() {
        deciding = standing.iter().filter(|i| has_code(i)).copied().collect();
    }
    let verdict = worst(deciding.iter().map(|index| verdict_of(members, *index, device)));
    let decided_by: Vec<usize> =
        deciding.iter().filter(|index| verdict_of(members, **index, device) == verdict).copied().collect();
    ArtefactVerdict { verdict: sum(members, &deciding, &decided_by, verdict, device), decided_by }
}

/// Sums over the members that decide; the reasons are those of the members that have the verdict.
fn sum(
    members: &[MemberJudgement],
    deciding: &[usize],
    decided_by: &[usize],
    verdict: Verdict,
    device: usize,
) -> MemberVerdict {
    let of = |index: &usize| members.get(*index).and_then(|member| member.verdicts.get(device));
    let mut total = MemberVerdict {
        verdict,
        modules: 0,
        modules_ok: 0,
        modules_fit: 0,
        specialised: 0,
        specialised_ok: 0,
        loads: Vec::new(),
        reasons: Vec::new(),
        needs_driver: None,
        failing: Vec::new(),
    };
    for own in deciding.iter().filter_map(of) {
        total.modules = total.modules.saturating_add(own.modules);
        total.modules_ok = total.modules_ok.saturating_add(own.modules_ok);
        total.modules_fit = total.modules_fit.saturating_add(own.modules_fit);
        total.specialised = total.specialised.saturating_add(own.specialised);
        total.specialised_ok = total.specialised_ok.saturating_add(own.specialised_ok);
        total.needs_driver = total.needs_driver.max(own.needs_driver);
        for load in &own.loads {
            let same =
                |known: &&mut super::Load| (known.kind, known.arch, known.isa) == (load.kind, load.arch, load.isa);
            match total.loads.iter_mut().find(same) {
                Some(known) => known.count = known.count.saturating_add(load.count),
                None => total.loads.push(load.clone()),
            }
        }
    }
    total.loads.sort();
    for own in decided_by.iter().filter_map(of) {
        for reason in &own.reasons {
            // one sentence of each kind: the members have their own
            if !total.reasons.iter().any(|known| known.code == reason.code) {
                total.reasons.push(reason.clone());
            }
        }
    }
    if verdict == Verdict::NoDeviceCode {
        let reasons = members.iter().filter_map(|member| member.verdicts.get(device)).flat_map(|own| &own.reasons);
        let first = reasons.min_by_key(|reason| order(reason.code)).cloned();
        let none = || Reason::new(ReasonCode::None_, None, "there is no device code");
        total.reasons = vec![first.unwrap_or_else(none)];
    }
    total.reasons.sort_by_key(|reason| reason.code.rank());
    total
}

/// The order of the reasons for no device code.
const fn order(code: ReasonCode) -> u8 {
    match code {
        ReasonCode::RelocatableOnly => 0,
        ReasonCode::LtoOnly => 1,
        ReasonCode::StubsOnly => 2,
        ReasonCode::OtherVendor => 3,
        _ => 4,
    }
}
