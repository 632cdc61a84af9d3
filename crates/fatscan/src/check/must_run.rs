//! The demand that an artefact runs on devices.

use gpu_arch::rules::{Device, Verdict};

use super::{At, Demands, Rule, Words};
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
    for (index, device) in judgement.devices.iter().enumerate() {
        if demands.any_of.iter().any(|group| group.devices.contains(&index)) {
            continue;
        }
        for words in unmet(at, judged, index, device) {
            at.add(words.0.and_then(|member| at.artefact.members.get(member)), words.1);
        }
    }
    for group in &demands.any_of {
        let each = group.devices.iter().filter_map(|index| Some((*index, judgement.devices.get(*index)?)));
        let all: Vec<Vec<(Option<usize>, Words)>> =
            each.map(|(index, device)| unmet(at, judged, index, device)).collect();
        let failing =
            |words: &Vec<(Option<usize>, Words)>| words.iter().any(|(_, words)| words.rule != Rule::Specialised);
        if all.is_empty() || all.iter().any(|words| !failing(words)) {
            continue;
        }
        for (member, mut words) in all.into_iter().flatten().filter(|(_, words)| words.rule != Rule::Specialised) {
            words.message = format!("none of `{}` is met; {}", group.name, words.message);
            at.add(member.and_then(|member| at.artefact.members.get(member)), words);
        }
    }
}

fn no_code(at: &mut At<'_, '_>, judged: &ArtefactJudgement) {
    let nothing = judged.members.iter().all(|member| {
        let counted = member.verdicts.first().map(|verdict| verdict.verdict != Verdict::NoDeviceCode);
        !counted.unwrap_or(member.decides)
    });
    if at.artefact.members.is_empty() || (nothing && !judged.verdicts.is_empty()) {
        let reason = judged.verdicts.first().and_then(|whole| whole.verdict.reasons.first());
        let message = reason.map_or_else(|| "there is no device code".to_owned(), |reason| reason.text.clone());
        let hint = Some("--no-device-code warn or pass, where that is right".to_owned());
        at.add(None, Words { rule: Rule::NoDeviceCode, device: None, message, hint });
    }
}

/// What is not met on one device, with the index of the member.
fn unmet(at: &At<'_, '_>, judged: &ArtefactJudgement, index: usize, device: &Device) -> Vec<(Option<usize>, Words)> {
    let demands = at.sink.demands;
    let grouped = |member: usize| {
        let in_choice = |choice: &crate::judge::Choice| choice.members.contains(&member);
        judged.alternatives.iter().find(|group| group.choices.iter().any(in_choice))
    };
    let anyone_decides = judged.members.iter().any(|member| member.decides);
    let mut found = Vec::new();
    for (member, own) in judged.members.iter().enumerate() {
        let Some(verdict) = own.verdicts.get(index) else { continue };
        // of alternatives the best stands for all
        if let Some(group) = grouped(member) {
            let best = group.best.get(index).and_then(|best| group.choices.get(*best));
            if best.is_some_and(|best| !best.members.contains(&member)) {
                continue;
            }
        }
        let rule = rule(verdict.verdict).filter(|rule| !accepted(verdict, *rule, demands));
        let decides = own.decides || !anyone_decides;
        match rule {
            Some(rule) if decides => found.push((Some(member), words(rule, verdict, device))),
            Some(_) => found.push((Some(member), specialised(verdict, device, verdict.modules_ok, verdict.modules))),
            None if verdict.specialised_ok < verdict.specialised => {
                let (ok, all) = (verdict.specialised_ok, verdict.specialised);
                found.push((Some(member), specialised(verdict, device, ok, all)));
            }
            None => {}
        }
    }
    found
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

fn words(rule: Rule, verdict: &MemberVerdict, device: &Device) -> Words {
    let reason = verdict.reasons.first().map(|reason| format!(": {}", reason.text)).unwrap_or_default();
    let name = name(device);
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
    Words { rule, device: Some(name), message, hint: hint.map(ToOwned::to_owned) }
}

fn specialised(verdict: &MemberVerdict, device: &Device, ok: usize, all: usize) -> Words {
    let name = name(device);
    let _ = verdict;
    let message = format!("{all} modules for one architecture, {ok} of them for {name}");
    let hint = Some("expected where the library picks them by device; --deny specialised to forbid it".to_owned());
    Words { rule: Rule::Specialised, device: Some(name), message, hint }
}
