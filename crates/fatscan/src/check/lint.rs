//! Oddities that nobody forbade: what packagers did without meaning it.

use std::collections::BTreeSet;

use gpu_arch::catalogue::{self, Platform};
use gpu_arch::rules::{Coverage as Covers, ptx_covers, sass_covers};
use gpu_arch::{Arch, Capability, Suffix};

use super::{At, Rule, Words, is_vendored};
use crate::coverage::Coverage;
use crate::judge::{Alternatives, ArtefactJudgement, Class, classify};
use crate::model::{CodeKind, Image, Member};

/// What nvcc compiles for where no architecture is named: 5.2 in CUDA 11.0 to 12.9, 7.5 from 13.0 on (nvcc's manual, `-arch`).
const DEFAULTS: [u32; 2] = [52, 75];

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement) {
    if !at.sink.demands.lint {
        return;
    }
    let passed_over = older(at, judged);
    for ((index, member), own) in at.artefact.members.iter().enumerate().zip(&judged.members) {
        if own.is_profiler || is_vendored(&member.path) || passed_over.contains(&index) {
            continue;
        }
        for (rule, message, hint) in of_member(member) {
            at.add(Some(member), Words { rule, severity: None, device: None, subject: None, message, hint });
        }
    }
}

/// Files that are alternatives to one with newer code: what they lack it may have.
fn older(at: &At<'_, '_>, judged: &ArtefactJudgement) -> BTreeSet<usize> {
    let newest = |index: &usize| {
        let modules = at.artefact.members.get(*index).into_iter().flat_map(|member| &member.modules);
        modules.flat_map(|module| &module.images).filter_map(|image| image.arch).map(Arch::number).max()
    };
    let of_group = |group: &Alternatives| {
        let members = group.choices.iter().flat_map(|choice| &choice.members);
        let members: Vec<(usize, Option<u32>)> = members.map(|index| (*index, newest(index))).collect();
        let best = members.iter().filter_map(|(_, own)| *own).max();
        members.into_iter().filter(move |(_, own)| *own < best).map(|(index, _)| index)
    };
    judged.alternatives.iter().flat_map(of_group).collect()
}

fn of_member(member: &Member) -> Vec<(Rule, String, Option<String>)> {
    let mut found = labels(member);
    let coverage = Coverage::of(member, false);
    let counts = |class: Class| member.modules.iter().filter(|module| classify(module) == class).count();
    let archs = |kind: CodeKind| coverage.images.keys().filter(move |(own, _)| *own == kind).map(|(_, arch)| *arch);
    let sass: BTreeSet<Arch> = archs(CodeKind::Sass).collect();
    let ptx: BTreeSet<Arch> = archs(CodeKind::Ptx).collect();
    let all: BTreeSet<Arch> = sass.union(&ptx).copied().collect();
    let is_plain = |arch: &&Arch| arch.suffix() == Suffix::None;
    if counts(Class::General).saturating_add(counts(Class::Specialised)) == 0 || all.is_empty() {
        return found;
    }
    let numbers: BTreeSet<u32> = all.iter().map(|arch| arch.number()).collect();
    if let [only] = numbers.iter().copied().collect::<Vec<_>>().as_slice()
        && DEFAULTS.contains(only)
    {
        let message = format!("all of it is for sm_{only}, which nvcc takes where no architecture is named");
        let hint = "name the architectures: -gencode, CMAKE_CUDA_ARCHITECTURES, TORCH_CUDA_ARCH_LIST".to_owned();
        found.push((Rule::LintDefault, message, Some(hint)));
    }
    if !all.iter().any(|arch| is_plain(&arch)) {
        let names: Vec<String> = sass.iter().map(|arch| format!("sm_{arch}")).collect();
        let names = if names.is_empty() { ptx.iter().map(|arch| format!("compute_{arch}")).collect() } else { names };
        let message = format!("all of it is for exact targets, that no other GPU takes: {}", names.join(" "));
        found.push((Rule::LintExact, message, None));
        return found;
    }
    found.extend(newest(&coverage, &all));
    found.extend(gap(&sass, &ptx));
    found
}

/// PTX of the newest architecture in the modules that decide: GPUs after it compile that.
fn newest(coverage: &Coverage, all: &BTreeSet<Arch>) -> Option<(Rule, String, Option<String>)> {
    let newest = all.iter().filter(|arch| arch.suffix() == Suffix::None).max()?;
    let deciding = coverage.deciding();
    let lacking = deciding.saturating_sub(coverage.holding(CodeKind::Ptx, *newest));
    // any older PTX is compiled for newer GPUs, too
    let has_older = coverage.everywhere(CodeKind::Ptx).iter().any(|arch| arch.suffix() == Suffix::None);
    (lacking > 0).then(|| {
        let what = if has_older { "compile older PTX there" } else { "may find nothing to compile there" };
        let message = format!(
            "`compute_{newest}` is missing in {lacking} of {deciding} modules: GPUs of generations after sm_{newest} {what}"
        );
        let hint = format!("add PTX for the newest architecture: {newest}-virtual, +PTX");
        (Rule::LintPtx, message, Some(hint))
    })
}

/// Capabilities between the oldest and the newest code that nothing in a file covers.
fn gap(sass: &BTreeSet<Arch>, ptx: &BTreeSet<Arch>) -> Option<(Rule, String, Option<String>)> {
    let capabilities: BTreeSet<Capability> = sass.iter().chain(ptx).map(|arch| arch.capability()).collect();
    let (oldest, newest) = (capabilities.first()?, capabilities.last()?);
    let covers = |covers: Covers| matches!(covers, Covers::Yes);
    let is_left_out = |device: &Capability| {
        !sass.iter().any(|arch| covers(sass_covers(*arch, *device, false)))
            && !ptx.iter().any(|arch| covers(ptx_covers(*arch, *device)))
    };
    let between = catalogue::architectures().iter().filter(|row| row.platform == Platform::Discrete);
    let between = between.map(|row| row.capability);
    let left_out: Vec<String> = between
        .filter(|device| device > oldest && device < newest && is_left_out(device))
        .map(|device| device.to_string())
        .collect();
    (!left_out.is_empty()).then(|| {
        let message = format!("there is code for {oldest} and for {newest}, and none for {}", left_out.join(", "));
        (Rule::LintGap, message, None)
    })
}

/// PTX whose text is for another architecture than its label says.
fn labels(member: &Member) -> Vec<(Rule, String, Option<String>)> {
    let images = member.modules.iter().flat_map(|module| &module.images);
    let refuted: Vec<&Image> = images.filter(|image| image.kind == CodeKind::Ptx && image.is_refuted()).collect();
    let Some(first) = refuted.first() else { return Vec::new() };
    let holds = match first.holds {
        Some(crate::model::Holds::Code { arch, .. }) => format!("is for compute_{arch}"),
        _ => "is no PTX".to_owned(),
    };
    let label = first.arch_name().unwrap_or_default();
    let message = format!("{} of its PTX images lie: one is labelled {label} and {holds}", refuted.len());
    vec![(Rule::LintLabel, message, None)]
}
