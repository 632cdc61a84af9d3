//! The demand that an artefact runs on devices.

use gpu_arch::rules::{Device, Verdict};

use super::{At, Demands, OnDevice, Rule, Words};
use crate::judge::{ArtefactJudgement, Judgement, MemberVerdict};

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement, judgement: &Judgement) {
    let demands = at.sink.demands;
    if judgement.devices.is_empty() {
        if demands.contains.is_empty() {
            no_code(at, judged);
        }
        return;
    }
    no_code(at, judged);
    for index in 0..judgement.devices.len() {
        if demands.any_of.iter().any(|group| group.devices.contains(&index)) {
            continue;
        }
        for (member, words) in unmet(judged, index, judgement, demands) {
            at.add(at.artefact.members.get(member), words);
        }
    }
    for group in &demands.any_of {
        let all: Vec<Vec<(usize, Words)>> =
            group.devices.iter().map(|index| unmet(judged, *index, judgement, demands)).collect();
        if all.is_empty() || all.iter().any(Vec::is_empty) {
            continue;
        }
        for (member, mut words) in all.into_iter().flatten() {
            words.message = format!("none of `{}` is met; {}", group.name, words.message);
            at.add(at.artefact.members.get(member), words);
        }
    }
    specialised(at, judged, judgement);
}

fn no_code(at: &mut At<'_, '_>, judged: &ArtefactJudgement) {
    let nothing = judged.members.iter().all(|member| {
        let counted = member.verdicts.first().map(|verdict| verdict.verdict != Verdict::NoDeviceCode);
        !counted.unwrap_or(member.decides)
    });
    if at.artefact.members.is_empty() && at.has_unread {
        return;
    }
    if at.artefact.members.is_empty() || (nothing && !judged.verdicts.is_empty()) {
        let reason = judged.verdicts.first().and_then(|whole| whole.verdict.reasons.first());
        let message = reason.map_or_else(|| "there is no device code".to_owned(), |reason| reason.text.clone());
        let hint = Some("--no-device-code warn or pass, where that is right".to_owned());
        at.add(None, Words { rule: Rule::NoDeviceCode, device: None, subject: None, message, hint });
    }
}

/// Whether another choice than this member's stands for its group of alternatives.
fn is_passed_over(judged: &ArtefactJudgement, member: usize, device: usize) -> bool {
    let has = |choice: &crate::judge::Choice| choice.members.contains(&member);
    let group = judged.alternatives.iter().find(|group| group.choices.iter().any(has));
    group.is_some_and(|group| {
        let best = group.best.get(device).and_then(|best| group.choices.get(*best));
        best.is_some_and(|best| !has(best))
    })
}

/// What is not met on one device, with the index of the member.
fn unmet(judged: &ArtefactJudgement, index: usize, judgement: &Judgement, demands: &Demands) -> Vec<(usize, Words)> {
    let Some((device, on)) = judgement.devices.get(index).zip(OnDevice::new(judgement, index)) else {
        return Vec::new();
    };
    let anyone_decides = judged.members.iter().any(|member| member.decides);
    let mut found = Vec::new();
    for (member, own) in judged.members.iter().enumerate() {
        let decides = own.decides || !anyone_decides;
        let Some(verdict) = own.verdicts.get(index).filter(|_| decides) else { continue };
        if is_passed_over(judged, member, index) {
            continue;
        }
        if let Some(rule) = rule(verdict.verdict).filter(|rule| !accepted(verdict, *rule, demands)) {
            found.push((member, words(rule, verdict, device, on.clone())));
        }
    }
    found
}

/// Modules for one architecture that are not for a device: one finding a file, with all devices in it.
fn specialised(at: &mut At<'_, '_>, judged: &ArtefactJudgement, judgement: &Judgement) {
    let anyone_decides = judged.members.iter().any(|member| member.decides);
    for (member, own) in judged.members.iter().enumerate() {
        let beside = !own.decides && anyone_decides;
        let mut all = 0;
        let mut parts = Vec::new();
        for (index, (verdict, device)) in own.verdicts.iter().zip(&judgement.devices).enumerate() {
            if is_passed_over(judged, member, index) {
                continue;
            }
            let (ok, total) = if beside {
                (verdict.modules_ok, verdict.modules)
            } else {
                (verdict.specialised_ok, verdict.specialised)
            };
            if ok < total {
                all = total;
                parts.push(format!("{ok} for {}", name(device)));
            }
        }
        if parts.is_empty() {
            continue;
        }
        let message = format!("{all} specialised modules, of which {} load", parts.join(", "));
        let hint = "expected where the library picks them by device; --deny specialised forbids them".to_owned();
        let words = Words { rule: Rule::Specialised, device: None, subject: None, message, hint: Some(hint) };
        at.add(at.artefact.members.get(member), words);
    }
}

const fn rule(verdict: Verdict) -> Option<Rule> {
    match verdict {
        Verdict::Native | Verdict::NoDeviceCode => None,
        Verdict::Jit => Some(Rule::Jit),
        Verdict::Partial => Some(Rule::Partial),
        Verdict::Unknown => Some(Rule::Unknown),
        Verdict::DriverTooOld => Some(Rule::DriverTooOld),
        Verdict::NotCovered => Some(Rule::NotCovered),
    }
}

fn accepted(verdict: &MemberVerdict, rule: Rule, demands: &Demands) -> bool {
    match rule {
        Rule::Jit => demands.allow_jit,
        Rule::Unknown => demands.allow_unknown,
        Rule::Partial => demands.allow_partial.is_some_and(|percent| {
            let share = verdict.modules_ok.saturating_mul(100).checked_div(verdict.modules).unwrap_or(0);
            share >= usize::from(percent)
        }),
        _ => false,
    }
}

fn name(device: &Device) -> String {
    device.name.clone().unwrap_or_else(|| device.capability.to_string())
}

fn words(rule: Rule, verdict: &MemberVerdict, device: &Device, on: OnDevice) -> Words {
    let reason = verdict.reasons.first().map(|reason| format!(": {}", reason.text)).unwrap_or_default();
    let name = match &on.fleet {
        Some(fleet) => format!("{} of fleet `{fleet}`", name(device)),
        None => name(device),
    };
    let (message, hint) = match rule {
        Rule::Jit => (format!("runs on {name} only by compiling PTX"), Some("--allow-jit lets it pass")),
        Rule::Partial => (
            format!("{} of {} modules load on {name}{reason}", verdict.modules_ok, verdict.modules),
            Some("--allow-partial=PERCENT lets it pass"),
        ),
        Rule::Unknown => (format!("uncertain on {name}{reason}"), Some("--allow-unknown lets it pass")),
        Rule::DriverTooOld => (format!("does not load on {name} with this driver{reason}"), None),
        _ => (format!("does not run on {name}{reason}"), None),
    };
    Words { rule, device: Some(on), subject: None, message, hint: hint.map(ToOwned::to_owned) }
}
