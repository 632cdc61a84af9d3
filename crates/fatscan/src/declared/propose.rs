//! What a wheel variant should declare, by what is in it.

use std::collections::BTreeSet;

use gpu_arch::rules::{Device, Verdict};
use gpu_arch::{Arch, Suffix};
use serde_json::{Value, json};

use crate::check::is_vendored;
use crate::coverage::Coverage;
use crate::judge::{ArtefactJudgement, Policy, TooShallow, judge, judge_artefact};
use crate::model::{Artefact, CodeKind, Member, Report};

/// What the declaration of a wheel should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// Architectures of machine code on whose GPUs it runs, oldest first: `90_real`.
    pub real: Vec<Arch>,
    /// Architectures of PTX that every general module of every file that counts holds: `90_virtual`.
    pub portable: Vec<Arch>,
    /// Code that is there and not declared, or declared although some of it is compiled at first use.
    pub remarks: Vec<Remark>,
    /// The major version of the CUDA runtime that it needs at least.
    pub runtime: Option<u16>,
    /// Files, or groups of files that are alternatives to each other, that decide it.
    pub files: usize,
}

/// What is to be said of some code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// `sm_75`, `compute_90`.
    pub code: String,
    /// Whether it is declared.
    pub declared: bool,
    /// The verdict on such a GPU, or that not every module holds it.
    pub what: &'static str,
    /// The files that decide it.
    pub files: Vec<String>,
}

/// A file that counts, or files that are alternatives to each other.
struct Part<'a> {
    name: &'a str,
    members: Vec<(&'a Member, Coverage)>,
}

/// What decides where an artefact runs: not what measures programs, nor NVIDIA's libraries that were put into it.
pub(crate) struct Parts<'a>(Vec<Part<'a>>);

impl<'a> Parts<'a> {
    pub(crate) fn of(artefact: &'a Artefact, judged: &'a ArtefactJudgement) -> Self {
        let counts = |index: usize| {
            let member = artefact.members.get(index)?;
            if judged.members.get(index)?.is_profiler || is_vendored(&member.path) {
                return None;
            }
            let coverage = Coverage::of(member, false);
            (coverage.general > 0).then_some((member, coverage))
        };
        let choices = judged.alternatives.iter().flat_map(|group| &group.choices);
        let grouped: BTreeSet<usize> = choices.flat_map(|choice| choice.members.iter().copied()).collect();
        let alone = (0..artefact.members.len()).filter(|index| !grouped.contains(index)).filter_map(counts);
        let mut parts: Vec<Part<'a>> = alone.map(|own| Part { name: &own.0.path, members: vec![own] }).collect();
        for group in &judged.alternatives {
            let members = group.choices.iter().flat_map(|choice| &choice.members);
            let members: Vec<_> = members.filter_map(|index| counts(*index)).collect();
            if !members.is_empty() {
                parts.push(Part { name: &group.name, members });
            }
        }
        Self(parts)
    }

    /// Architectures without a suffix in general modules.
    fn plain(&self, kind: CodeKind) -> BTreeSet<Arch> {
        let images = self.0.iter().flat_map(|part| &part.members).flat_map(|(_, coverage)| &coverage.images);
        let own = images.filter(|((of, _), count)| *of == kind && count.general > 0).map(|((_, arch), _)| *arch);
        own.filter(|arch| arch.suffix() == Suffix::None && arch.is_known()).collect()
    }

    /// The parts of which not every general module holds this PTX; of alternatives one is enough.
    pub(crate) fn lacking(&self, arch: Arch) -> Vec<&'a str> {
        let holds = |coverage: &Coverage| coverage.holding(CodeKind::Ptx, arch) == coverage.deciding();
        let lacking = self.0.iter().filter(|part| !part.members.iter().any(|(_, coverage)| holds(coverage)));
        lacking.map(|part| part.name).collect()
    }
}

/// What the properties of each artefact of a report should be: the architectures of its machine code on which the judgement
/// says that it runs, and the PTX that is everywhere.
///
/// # Errors
/// [`TooShallow`] as for [`judge`].
pub fn propose(report: &Report) -> Result<Vec<Proposal>, TooShallow> {
    judge(report, &[], &Policy::default())?;
    Ok(report.artefacts.iter().map(propose_one).collect())
}

/// The same for one artefact.
pub(crate) fn propose_one(artefact: &Artefact) -> Proposal {
    let images = artefact.members.iter().flat_map(|member| &member.modules).flat_map(|module| &module.images);
    let archs = images.filter(|image| image.kind == CodeKind::Sass).filter_map(|image| image.arch);
    let archs: BTreeSet<Arch> = archs.filter(|arch| arch.suffix() == Suffix::None && arch.is_known()).collect();
    let devices: Vec<Device> = archs.iter().map(|arch| Device::of(arch.capability())).collect();
    let judged = judge_artefact(artefact, &devices, &Policy::default());
    let parts = Parts::of(artefact, &judged);
    let mut proposal = Proposal { files: parts.0.len(), ..Proposal::default() };
    let real = parts.plain(CodeKind::Sass);
    for (arch, whole) in archs.iter().zip(&judged.verdicts).filter(|(arch, _)| real.contains(arch)) {
        let verdict = whole.verdict.verdict;
        let declared = verdict.is_usable();
        if declared {
            proposal.real.push(*arch);
        }
        if verdict != Verdict::Native {
            let files = whole.decided_by.iter().filter_map(|index| artefact.members.get(*index));
            let files = files.map(|member| member.path.clone()).collect();
            proposal.remarks.push(Remark { code: format!("sm_{arch}"), declared, what: verdict.as_str(), files });
        }
    }
    for arch in parts.plain(CodeKind::Ptx) {
        let files: Vec<String> = parts.lacking(arch).into_iter().map(ToOwned::to_owned).collect();
        if files.is_empty() {
            proposal.portable.push(arch);
        } else {
            let (code, what) = (format!("compute_{arch}"), "not in every module");
            proposal.remarks.push(Remark { code, declared: false, what, files });
        }
    }
    let oldest = |part: &Part<'_>| part.members.iter().filter_map(|(member, _)| member.runtime).min();
    proposal.runtime = parts.0.iter().filter_map(oldest).max();
    proposal
}

impl Proposal {
    /// The properties as `namespace :: feature :: value`.
    #[must_use]
    pub fn properties(&self) -> Vec<String> {
        let of = |(feature, values): (&'static str, Vec<String>)| {
            values.into_iter().map(move |value| format!("nvidia :: {feature} :: {value}"))
        };
        self.features().into_iter().flat_map(of).collect()
    }

    fn features(&self) -> Vec<(&'static str, Vec<String>)> {
        let mut features = Vec::new();
        if let Some(major) = self.runtime {
            features.push(("cuda_version_lower_bound", vec![format!("{major}.0")]));
        }
        let real = self.real.iter().map(|arch| format!("{arch}_real"));
        let archs: Vec<String> = real.chain(self.portable.iter().map(|arch| format!("{arch}_virtual"))).collect();
        if !archs.is_empty() {
            features.push(("sm_arch", archs));
        }
        features
    }

    /// `variant.json` with these properties under a label: PEP 825, draft format 0.1.0.
    #[must_use]
    pub fn json(&self, label: &str) -> Value {
        let features: serde_json::Map<String, Value> =
            self.features().into_iter().map(|(feature, values)| (feature.to_owned(), json!(values))).collect();
        json!({
            "$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",
            "default-priorities": { "namespace": ["nvidia"] },
            "variants": { label: { "nvidia": features } },
        })
    }
}
