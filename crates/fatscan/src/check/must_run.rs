//! The demand that an artefact runs on devices.

use std::collections::BTreeMap;

use gpu_arch::rules::{Device, Verdict};

use super::{At, Demands, OnDevice, Rule, Severity, Words};
use crate::judge::{ArtefactJudgement, Judgement, LimitKind, MemberVerdict, Standing, copies, standing};
use crate::model::Artefact;

/// What a part of an artefact lacks: the index of its first member, and the words.
type Unmet = (usize, Words);

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement, judgement: &Judgement) {
    let demands = at.sink.demands;
    if judgement.devices.is_empty() {
        if !demands.names_code() {
            no_code(at, judged);
        }
        return;
    }
    no_code(at, judged);
    let copies = copies(at.artefact);
    for index in 0..judgement.devices.len() {
        if demands.any_of.iter().any(|group| group.devices.contains(&index)) {
            continue;
        }
        for (member, words) in unmet(at.artefact, judged, index, judgement, demands) {
            say(at, &copies, member, words);
        }
    }
    for group in &demands.any_of {
        let all: Vec<Vec<Unmet>> =
            group.devices.iter().map(|index| unmet(at.artefact, judged, *index, judgement, demands)).collect();
        if all.is_empty() || all.iter().any(Vec::is_empty) {
            continue;
        }
        for (member, mut words) in all.into_iter().flatten() {
            words.message = format!("none of `{}` is met; {}", group.name, words.message);
            say(at, &copies, member, words);
        }
    }
    for (member, words) in limits(at.artefact, judged, judgement, demands) {
        say(at, &copies, member, words);
    }
}

/// Files of one content are one finding with all names.
fn say(at: &mut At<'_, '_>, copies: &BTreeMap<usize, usize>, member: usize, mut words: Words) {
    if copies.contains_key(&member) {
        return;
    }
    let same =
        copies.iter().filter(|(_, first)| **first == member).filter_map(|(own, _)| at.artefact.members.get(*own));
    let names: Vec<String> = same.map(|member| format!("`{}`", member.path)).collect();
    if !names.is_empty() {
        words.message = format!("{}; the same file is {}", words.message, names.join(", "));
    }
    at.add(at.artefact.members.get(member), words);
}

fn no_code(at: &mut At<'_, '_>, judged: &ArtefactJudgement) {
    let demands = at.sink.demands;
    let is_demanded =
        !judged.verdicts.is_empty() || demands.names_code() || demands.levels.contains_key(&Rule::NoDeviceCode);
    // a package that says nothing of GPUs is true to its word without any code
    if !is_demanded && (demands.lint || !demands.declared.is_empty()) {
        return;
    }
    let nothing = judged.members.iter().all(|member| {
        let counted = member.verdicts.first().map(|verdict| verdict.verdict != Verdict::NoDeviceCode);
        !counted.unwrap_or(true)
    });
    if (at.artefact.members.is_empty() && at.has_unread) || at.artefact.is_beside() {
        return;
    }
    if at.artefact.members.is_empty() || (nothing && !judged.verdicts.is_empty()) {
        let reason = judged.verdicts.first().and_then(|whole| whole.verdict.reasons.first());
        let message = reason.map_or_else(|| "there is no device code".to_owned(), |reason| reason.text.clone());
        let hint = Some("--no-device-code warn or pass, where that is right".to_owned());
        at.add(None, Words { rule: Rule::NoDeviceCode, severity: None, device: None, subject: None, message, hint });
    }
}

/// What is not met on one device.
fn unmet(
    artefact: &Artefact,
    judged: &ArtefactJudgement,
    index: usize,
    judgement: &Judgement,
    demands: &Demands,
) -> Vec<Unmet> {
    let Some((device, on)) = judgement.devices.get(index).zip(OnDevice::new(judgement, index)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for part in parts(artefact, judged, index, demands).into_iter().filter(|part| !part.is_optional) {
        let Some(member) = part.members.first() else { continue };
        let Some(own) = artefact.members.get(*member) else { continue };
        let verdict = part.verdict;
        // a file that a table names must run itself, also where it holds nothing that counts
        let is_empty = verdict.verdict == Verdict::NoDeviceCode;
        let Some(rule) = rule(verdict).or_else(|| is_empty.then_some(Rule::NotCovered)) else { continue };
        if !accepted(verdict, rule, demands, demands.allow_jit_of(artefact, own, index)) {
            let together = match part.members.len() {
                1 => String::new(),
                number => format!("{number} loose files together: "),
            };
            found.push((*member, words(rule, verdict, device, on.clone(), &together)));
        }
    }
    found
}

/// What must run on a device: files that a table names for it by themselves, whatever they are alternatives to; and what
/// stands for the artefact, where the device is of no table.
fn parts<'a>(artefact: &Artefact, judged: &'a ArtefactJudgement, index: usize, demands: &Demands) -> Vec<Standing<'a>> {
    let of = |member: usize| artefact.members.get(member).and_then(|own| demands.devices_of(artefact, own));
    if !demands.is_of_table(index) {
        let mut parts = standing(judged, index);
        parts.retain_mut(|part| {
            part.members.retain(|member| of(*member).is_none());
            !part.members.is_empty()
        });
        return parts;
    }
    let own = judged.members.iter().enumerate();
    let own = own.filter(|(member, _)| of(*member).is_some_and(|devices| devices.contains(&index)));
    own.filter_map(|(member, judged)| {
        Some(Standing { members: vec![member], verdict: judged.verdicts.get(index)?, is_optional: false })
    })
    .collect()
}

/// What does not load and is no failure: one finding a file and kind, with all devices in it.
fn limits(artefact: &Artefact, judged: &ArtefactJudgement, judgement: &Judgement, demands: &Demands) -> Vec<Unmet> {
    let mut found: BTreeMap<(usize, Rule), (Vec<String>, bool)> = BTreeMap::new();
    for (index, device) in judgement.devices.iter().enumerate() {
        for part in parts(artefact, judged, index, demands) {
            let Some(member) = part.members.first().copied() else { continue };
            if part.is_optional {
                let text = format!("on {}: all of it is for other GPUs", name(device));
                found.entry((member, Rule::Specialised)).or_default().0.push(text);
                continue;
            }
            if !part.verdict.verdict.is_usable() {
                continue;
            }
            for limit in &part.verdict.limits {
                let (rule, is_note) = match limit.kind {
                    LimitKind::Specialised => (Rule::Specialised, true),
                    LimitKind::Newer => (Rule::Newer, limit.count.saturating_mul(10) <= limit.of),
                    LimitKind::Older => (Rule::Older, false),
                    LimitKind::Gap => (Rule::Gap, false),
                    LimitKind::Refused => (Rule::Refused, false),
                    LimitKind::EmptyKernels => (Rule::EmptyKernels, false),
                };
                let own = found.entry((member, rule)).or_default();
                own.0.push(format!("on {}: {}", name(device), limit.text));
                own.1 |= !is_note;
            }
        }
    }
    let each = found.into_iter().map(|((member, rule), (texts, is_grave))| {
        // what a newer GPU has more than this one weighs by how much it is
        let severity = (rule == Rule::Newer && is_grave).then_some(Severity::Warn);
        let is_vendored = artefact.members.get(member).is_some_and(|own| demands.is_vendored(own));
        let severity = if demands.strict && !is_vendored { Some(Severity::Deny) } else { severity };
        let hint = match rule {
            Rule::Specialised => {
                "expected where the library picks them by device; --deny specialised forbids them".to_owned()
            }
            rule => format!("the rest of the file runs; --deny {rule} or --strict forbid it"),
        };
        (member, Words { rule, severity, device: None, subject: None, message: texts.join("; "), hint: Some(hint) })
    });
    each.collect()
}

/// The rule that a verdict breaks; code that is compiled at first use is told whatever the headline is.
const fn rule(verdict: &MemberVerdict) -> Option<Rule> {
    match verdict.verdict {
        Verdict::Native | Verdict::Jit if verdict.compiled > 0 => Some(Rule::Jit),
        Verdict::Native | Verdict::Jit | Verdict::NoDeviceCode => None,
        Verdict::Partial => Some(Rule::Partial),
        Verdict::Unknown => Some(Rule::Unknown),
        Verdict::DriverTooOld => Some(Rule::DriverTooOld),
        Verdict::NotCovered => Some(Rule::NotCovered),
    }
}

/// Modules that load now.
const fn loading(verdict: &MemberVerdict) -> usize {
    verdict.modules_ok.saturating_add(verdict.specialised_ok)
}

fn accepted(verdict: &MemberVerdict, rule: Rule, demands: &Demands, allow_jit: Option<u8>) -> bool {
    let share = |part: usize, of: usize| part.saturating_mul(100).checked_div(of).unwrap_or(0);
    match rule {
        Rule::Jit => allow_jit.is_some_and(|percent| {
            // rounded up: no more than so many
            let most = usize::from(percent).saturating_mul(loading(verdict));
            verdict.compiled.saturating_mul(100) <= most
        }),
        Rule::Unknown => demands.allow_unknown,
        Rule::Partial => demands
            .allow_partial
            .is_some_and(|percent| share(verdict.modules_ok, verdict.modules) >= usize::from(percent)),
        _ => false,
    }
}

fn name(device: &Device) -> String {
    device.name.clone().unwrap_or_else(|| device.capability.to_string())
}

fn words(rule: Rule, verdict: &MemberVerdict, device: &Device, on: OnDevice, before: &str) -> Words {
    let reason = verdict.reasons.first().map(|reason| format!(": {}", reason.text)).unwrap_or_default();
    let name = match &on.fleet {
        Some(fleet) => format!("{} of fleet `{fleet}`", name(device)),
        None => name(device),
    };
    let (message, hint) = match rule {
        Rule::Jit => (
            match (verdict.compiled, loading(verdict)) {
                (own, all) if own == all => format!("runs on {name} only by compiling PTX"),
                (own, all) => format!("{own} of {all} modules that load on {name} are compiled from PTX at first use"),
            },
            Some("--allow-jit, or --allow-jit=PERCENT of the modules that load, lets it pass"),
        ),
        Rule::Partial => (
            format!("{} of {} modules load on {name}{reason}", verdict.modules_ok, verdict.modules),
            Some("--allow-partial=PERCENT lets it pass"),
        ),
        Rule::Unknown => (format!("uncertain on {name}{reason}"), Some("--allow-unknown lets it pass")),
        Rule::DriverTooOld => (format!("does not load on {name} with this driver{reason}"), None),
        _ => (format!("does not run on {name}{reason}"), None),
    };
    let message = format!("{before}{message}");
    Words { rule, severity: None, device: Some(on), subject: None, message, hint: hint.map(ToOwned::to_owned) }
}
