//! The demand that declared code is there, and that nothing else is.

use std::collections::BTreeSet;

use gpu_arch::Target;

use super::{At, Rule, Words};
use crate::judge::{ArtefactJudgement, Class, classify};
use crate::model::{CodeKind, Image, Linkage, Member, Module};

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement) {
    let demands = at.sink.demands;
    if !demands.names_code() {
        return;
    }
    let artefact = at.artefact;
    let of = |index: usize| {
        let member = artefact.members.get(index)?;
        let wanted = demands.contains_of(artefact, member);
        let found = if wanted.is_empty() { Vec::new() } else { findings(member, wanted, demands.strict) };
        Some((index, found))
    };
    // a file that a table names is asked by itself
    let alone = |index: &usize| artefact.members.get(*index).is_some_and(|own| demands.has_own_code(artefact, own));
    let grouped = |index: &usize| {
        !alone(index)
            && judged.alternatives.iter().any(|group| group.choices.iter().any(|choice| choice.members.contains(index)))
    };
    let mut found: Vec<(usize, Vec<Words>)> =
        (0..at.artefact.members.len()).filter(|index| !grouped(index)).filter_map(of).collect();
    for group in &judged.alternatives {
        // one of them must hold it all; the nearest says what is missing
        let choices = group
            .choices
            .iter()
            .map(|choice| choice.members.iter().filter(|index| !alone(index)).filter_map(|index| of(*index)).collect());
        let choices: Vec<Vec<(usize, Vec<Words>)>> = choices.collect();
        let count = |choice: &Vec<(usize, Vec<Words>)>| choice.iter().map(|(_, words)| words.len()).sum::<usize>();
        found.extend(choices.into_iter().min_by_key(count).unwrap_or_default());
    }
    let anything = found.iter().any(|(index, _)| at.artefact.members.get(*index).is_some_and(has_code));
    if !demands.contains.is_empty() && !anything && (!at.has_unread || !at.artefact.members.is_empty()) {
        let message = "there is no device code that could hold what was declared".to_owned();
        at.add(
            None,
            Words { rule: Rule::NoDeviceCode, severity: None, device: None, subject: None, message, hint: None },
        );
    }
    for (index, words) in found {
        for words in words {
            at.add(at.artefact.members.get(index), words);
        }
    }
}

/// Object files and static libraries are linked later: what they hold for a device link counts.
fn takes_relocatable(member: &Member) -> bool {
    let file = member.path.rsplit('/').next().unwrap_or_default();
    [".o", ".obj", ".a", ".lib"].iter().any(|ending| file.ends_with(ending))
}

fn has_code(member: &Member) -> bool {
    member.modules.iter().any(|module| class(module, takes_relocatable(member)).is_some())
}

/// General or specialised; nothing for what does not count.
fn class(module: &Module, relocatable: bool) -> Option<Class> {
    match classify(module) {
        class @ (Class::General | Class::Specialised) => Some(class),
        Class::Relocatable if relocatable => {
            Some(if crate::is_specialised(module) { Class::Specialised } else { Class::General })
        }
        _ => None,
    }
}

fn target(image: &Image, relocatable: bool) -> Option<Target> {
    if image.linkage == Linkage::Relocatable && !relocatable && image.kind != CodeKind::LtoIr {
        return None;
    }
    // what does not begin as code is none, whatever its label says
    let arch = image.arch.filter(|_| !image.is_refuted())?;
    match image.kind {
        CodeKind::Sass => Some(Target::Sass(arch)),
        CodeKind::Ptx => Some(Target::Ptx(arch, None)),
        CodeKind::LtoIr => Some(Target::Lto(arch)),
        CodeKind::TileIr | CodeKind::Other => None,
    }
}

fn findings(member: &Member, wanted: &[Target], strict: bool) -> Vec<Words> {
    let relocatable = takes_relocatable(member);
    let sets = |wanted: Class| -> Vec<BTreeSet<Target>> {
        let own = member.modules.iter().filter(|module| class(module, relocatable) == Some(wanted));
        own.map(|module| module.images.iter().filter_map(|image| target(image, relocatable)).collect()).collect()
    };
    let (general, specialised) = (sets(Class::General), sets(Class::Specialised));
    let mut found = Vec::new();
    let mut say = |rule, target: &Target, message, hint: Option<&str>| {
        found.push(Words {
            rule,
            severity: None,
            device: None,
            subject: Some(target.to_string()),
            message,
            hint: hint.map(ToOwned::to_owned),
        });
    };
    for target in wanted {
        if general.is_empty() {
            if !specialised.is_empty() && !specialised.iter().any(|set| set.contains(target)) {
                say(Rule::Missing, target, format!("`{target}` is in none of {} modules", specialised.len()), None);
            }
            continue;
        }
        let lacking = general.iter().filter(|set| !set.contains(target)).count();
        if lacking > 0 {
            let message = format!("`{target}` is missing in {lacking} of {} modules", general.len());
            say(Rule::Missing, target, message, None);
        }
    }
    if strict {
        let extra: BTreeSet<&Target> = general.iter().flatten().filter(|target| !wanted.contains(target)).collect();
        for target in extra {
            let holders = general.iter().filter(|set| set.contains(target)).count();
            let message = format!("`{target}` was not declared and is in {holders} of {} modules", general.len());
            say(Rule::Extra, target, message, Some("without --strict more than was declared may be there"));
        }
    }
    found
}
