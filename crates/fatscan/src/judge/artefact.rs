//! How the members of an artefact add up.

use core::cmp::Reverse;

use gpu_arch::rules::{Device, Reason, ReasonCode, Verdict};

use super::{Alternatives, ArtefactJudgement, ArtefactVerdict, Choice, Loose, MemberJudgement, MemberVerdict, Policy};
use super::{alternatives, member};
use crate::model::{Artefact, ArtefactKind, Member};

pub(super) fn judge(artefact: &Artefact, devices: &[Device], policy: &Policy) -> ArtefactJudgement {
    let own = |member: &Member| {
        let package = if artefact.kind == ArtefactKind::Directory { package_of(&member.path) } else { "" };
        MemberJudgement { package: package.to_owned(), ..member::judge(member, devices, policy) }
    };
    let members: Vec<MemberJudgement> = artefact.members.iter().map(own).collect();
    let alternatives = if policy.alternatives { groups(artefact, &members, devices.len()) } else { Vec::new() };
    let loose = loose(artefact, devices, policy);
    let mut judged = ArtefactJudgement { verdicts: Vec::new(), members, alternatives, loose };
    judged.verdicts = (0..devices.len()).map(|device| whole(&judged, device)).collect();
    judged
}

/// The folder of a package in a directory of packages: the one below `site-packages`, else the first.
fn package_of(path: &str) -> &str {
    let below = ["site-packages/", "dist-packages/"].into_iter().find_map(|folder| Some(path.split_once(folder)?.1));
    let below = below.unwrap_or(path);
    below.split_once('/').map_or("", |(first, _)| first)
}

/// Files that are device code and nothing else, where there are several: they are the modules of one program.
fn loose(artefact: &Artefact, devices: &[Device], policy: &Policy) -> Option<Loose> {
    if artefact.kind == ArtefactKind::File {
        return None;
    }
    let is_bare = |format: &str| matches!(format, "cubin" | "fatbin" | "ptx");
    let own = artefact.members.iter().enumerate().filter(|(_, member)| is_bare(member.format));
    let members: Vec<usize> = own.map(|(index, _)| index).collect();
    let mut files = members.iter().filter_map(|index| artefact.members.get(*index));
    let mut together = files.next().filter(|_| members.len() > 1)?.clone();
    together.modules.extend(files.flat_map(|member| member.modules.iter().cloned()));
    Some(Loose { members, verdicts: member::judge(&together, devices, policy).verdicts })
}

fn verdict_of(members: &[MemberJudgement], index: usize, device: usize) -> Verdict {
    let own = members.get(index).filter(|member| !member.is_profiler);
    own.and_then(|member| member.verdicts.get(device)).map_or(Verdict::NoDeviceCode, |verdict| verdict.verdict)
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
                let verdicts = (0..devices)
                    .map(|device| worst(indices.iter().map(|index| verdict_of(members, *index, device))))
                    .collect();
                Choice { path, members: indices, verdicts }
            })
            .collect();
        let best = (0..devices).map(|device| {
            let verdict = |choice: &Choice| choice.verdicts.get(device).copied().unwrap_or(Verdict::NoDeviceCode);
            // of equal ones the last: the newest version
            let ranked = choices.iter().enumerate().min_by_key(|(index, choice)| (verdict(choice), Reverse(*index)));
            ranked.map_or(0, |(index, _)| index)
        });
        let best = best.collect();
        Alternatives { name, choices, best }
    });
    groups.collect()
}

/// A part of an artefact that is judged as one: a file, the best of several alternatives, the loose files together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing<'a> {
    /// Indices of its members.
    pub members: Vec<usize>,
    /// Its verdict; of an alternative of several files that of its worst one.
    pub verdict: &'a MemberVerdict,
    /// Whether it is a feature of other GPUs: it does not load here, and another part does.
    pub is_optional: bool,
}

/// The parts of an artefact that count on a device, in the order of their first members. Members without device code and
/// profilers are in none.
#[must_use]
pub fn standing(judged: &ArtefactJudgement, device: usize) -> Vec<Standing<'_>> {
    let members = &judged.members;
    let has_code = |index: &usize| verdict_of(members, *index, device) != Verdict::NoDeviceCode;
    let verdict = |index: usize| members.get(index).and_then(|member| member.verdicts.get(device));
    let of = |members: Vec<usize>, verdict| Standing { members, verdict, is_optional: false };
    let is_loose = |index: &usize| judged.loose.as_ref().is_some_and(|loose| loose.members.contains(index));
    let is_choice = |index: &usize| {
        judged.alternatives.iter().any(|group| group.choices.iter().any(|choice| choice.members.contains(index)))
    };
    let mut parts = Vec::new();
    if let Some(loose) = &judged.loose
        && let Some(own) = loose.verdicts.get(device)
    {
        parts.push(of(loose.members.clone(), own));
    }
    for group in &judged.alternatives {
        let best = group.best.get(device).and_then(|best| group.choices.get(*best));
        let own = best.into_iter().flat_map(|choice| &choice.members);
        let own = own.filter(|index| has_code(index) && !is_loose(index));
        parts.extend(own.filter_map(|index| Some(of(vec![*index], verdict(*index)?))));
    }
    let single = (0..members.len()).filter(|index| has_code(index) && !is_loose(index) && !is_choice(index));
    parts.extend(single.filter_map(|index| Some(of(vec![index], verdict(index)?))));
    parts.retain(|part| part.verdict.verdict != Verdict::NoDeviceCode);
    parts.sort_by(|left, right| left.members.cmp(&right.members));
    let package = |part: &Standing<'_>| {
        part.members.first().and_then(|member| members.get(*member)).map(|member| member.package.as_str())
    };
    let loading: Vec<Option<&str>> =
        parts.iter().filter(|part| part.verdict.verdict.is_usable()).map(package).collect();
    for part in &mut parts {
        let is_feature = part.verdict.verdict == Verdict::NotCovered && part.verdict.optional;
        part.is_optional = is_feature && loading.contains(&package(part));
    }
    parts
}

/// One device.
fn whole(judged: &ArtefactJudgement, device: usize) -> ArtefactVerdict {
    let parts = standing(judged, device);
    let (optional, counted): (Vec<Standing<'_>>, Vec<Standing<'_>>) =
        parts.into_iter().partition(|part| part.is_optional);
    let usable = counted.iter().filter(|part| part.verdict.verdict.is_usable()).count();
    let best = counted.iter().map(|part| part.verdict.verdict).min();
    let worst = counted.iter().map(|part| part.verdict.verdict).max();
    let verdict = match (best, worst) {
        (None, _) | (_, None) => Verdict::NoDeviceCode,
        (Some(_), Some(worst)) if usable == counted.len() => worst,
        (Some(best), _) if usable == 0 => best,
        _ => Verdict::Partial,
    };
    let decides = |part: &&Standing<'_>| match verdict {
        Verdict::Partial if usable > 0 => !part.verdict.verdict.is_usable(),
        _ => part.verdict.verdict == verdict,
    };
    let deciding: Vec<&Standing<'_>> = counted.iter().filter(decides).collect();
    let indices = |parts: &mut dyn Iterator<Item = &Standing<'_>>| {
        let mut own: Vec<usize> = parts.flat_map(|part| part.members.iter().copied()).collect();
        own.sort_unstable();
        own
    };
    ArtefactVerdict {
        verdict: sum(judged, &counted, &deciding, verdict, device),
        decided_by: indices(&mut deciding.iter().copied()),
        optional: indices(&mut optional.iter()),
        parts: counted.len(),
        parts_ok: usable,
    }
}

/// Sums over the parts that count; the reasons are those of the parts that decide, and every condition of the driver.
fn sum(
    judged: &ArtefactJudgement,
    counted: &[Standing<'_>],
    deciding: &[&Standing<'_>],
    verdict: Verdict,
    device: usize,
) -> MemberVerdict {
    let mut total = MemberVerdict {
        verdict,
        modules: 0,
        modules_ok: 0,
        modules_fit: 0,
        specialised: 0,
        specialised_ok: 0,
        compiled: 0,
        loads: Vec::new(),
        reasons: Vec::new(),
        needs_driver: None,
        limits: Vec::new(),
        optional: false,
        failing: Vec::new(),
    };
    for own in counted.iter().map(|part| part.verdict) {
        total.modules = total.modules.saturating_add(own.modules);
        total.modules_ok = total.modules_ok.saturating_add(own.modules_ok);
        total.modules_fit = total.modules_fit.saturating_add(own.modules_fit);
        total.specialised = total.specialised.saturating_add(own.specialised);
        total.specialised_ok = total.specialised_ok.saturating_add(own.specialised_ok);
        total.compiled = total.compiled.saturating_add(own.compiled);
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
    let conditions = counted.iter().flat_map(|part| &part.verdict.reasons);
    let conditions = conditions.filter(|reason| reason.needs_driver.is_some() || reason.needs_cuda.is_some());
    for reason in deciding.iter().flat_map(|part| &part.verdict.reasons).chain(conditions) {
        // one sentence of each kind, the one that asks most of the driver: the members have their own
        match total.reasons.iter_mut().find(|known| known.code == reason.code) {
            Some(known) if (known.needs_driver, known.needs_cuda) < (reason.needs_driver, reason.needs_cuda) => {
                *known = reason.clone();
            }
            Some(_) => {}
            None => total.reasons.push(reason.clone()),
        }
    }
    if verdict == Verdict::NoDeviceCode {
        let members = judged.members.iter().filter_map(|member| member.verdicts.get(device));
        let first = members.flat_map(|own| &own.reasons).min_by_key(|reason| order(reason.code)).cloned();
        let none = || Reason::new(ReasonCode::None_, None, "there is no device code");
        total.reasons = vec![first.unwrap_or_else(none)];
    }
    total.reasons.sort_by_key(|reason| reason.code.rank());
    total.needs_driver = total.reasons.iter().filter_map(|reason| reason.needs_driver).max();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_folders_below_the_directory_of_packages() {
        assert_eq!(package_of("torch/lib/libtorch_cuda.so"), "torch");
        assert_eq!(package_of("lib/python3.12/site-packages/vllm/_C.abi3.so"), "vllm");
        assert_eq!(package_of("x.so"), "");
    }
}
