//! What a wheel variant should declare, by what is in it.

use std::collections::BTreeSet;

use gpu_arch::rules::{Device, Verdict};
use gpu_arch::{Arch, Suffix};
use serde_json::{Value, json};

use crate::check::is_vendored;
use crate::coverage::Coverage;
use crate::judge::{ArtefactJudgement, Policy, TooShallow, judge};
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

/// Files or groups of alternatives that count.
struct Part<'a> {
    name: &'a str,
    members: Vec<&'a Member>,
}

fn parts<'a>(artefact: &'a Artefact, judged: &'a ArtefactJudgement) -> Vec<Part<'a>> {
    let counts = |index: usize| {
        let member = artefact.members.get(index)?;
        let is_left_out = judged.members.get(index)?.is_profiler || is_vendored(&member.path);
        (!is_left_out && Coverage::of(member, false).general > 0).then_some(member)
    };
    let in_group = |index: &usize| {
        judged.alternatives.iter().any(|group| group.choices.iter().any(|choice| choice.members.contains(index)))
    };
    let alone = (0..artefact.members.len()).filter(|index| !in_group(index)).filter_map(counts);
    let mut parts: Vec<Part<'a>> = alone.map(|own| Part { name: &own.path, members: vec![own] }).collect();
    for group in &judged.alternatives {
        let members = group.choices.iter().flat_map(|choice| &choice.members).filter_map(|index| counts(*index));
        let members: Vec<&Member> = members.collect();
        if !members.is_empty() {
            parts.push(Part { name: &group.name, members });
        }
    }
    parts
}

/// What the properties of each artefact of a report should be: the architectures of its machine code on which the judgement
/// says that it runs, and the PTX that is everywhere.
///
/// # Errors
/// [`TooShallow`] as for [`judge`].
pub fn propose(report: &Report) -> Result<Vec<Proposal>, TooShallow> {
    let general = |member: &Member| {
        let coverage = Coverage::of(member, false);
        let plain = |kind| {
            let own = coverage.images.iter().filter(move |((of, _), count)| *of == kind && count.general > 0);
            own.map(|((_, arch), _)| *arch).filter(|arch| arch.suffix() == Suffix::None).collect::<Vec<Arch>>()
        };
        (plain(CodeKind::Sass), plain(CodeKind::Ptx))
    };
    let none = judge(report, &[], &Policy::default())?;
    let all: Vec<Vec<Part<'_>>> =
        report.artefacts.iter().zip(&none.artefacts).map(|(artefact, judged)| parts(artefact, judged)).collect();
    let archs: BTreeSet<Arch> =
        all.iter().flatten().flat_map(|part| &part.members).flat_map(|member| general(member).0).collect();
    let archs: Vec<Arch> = archs.into_iter().collect();
    let devices: Vec<Device> = archs.iter().map(|arch| Device::of(arch.capability())).collect();
    let judged = judge(report, &devices, &Policy::default())?;
    let of = |((artefact, judged), parts): ((&Artefact, &ArtefactJudgement), Vec<Part<'_>>)| {
        let mut proposal = Proposal { files: parts.len(), ..Proposal::default() };
        let members = || parts.iter().flat_map(|part| &part.members);
        let real: BTreeSet<Arch> = members().flat_map(|member| general(member).0).collect();
        for (arch, whole) in archs.iter().zip(&judged.verdicts).filter(|(arch, _)| real.contains(arch)) {
            let verdict = whole.verdict.verdict;
            if verdict.is_usable() {
                proposal.real.push(*arch);
            }
            if verdict == Verdict::Native {
                continue;
            }
            let files = whole.decided_by.iter().filter_map(|index| artefact.members.get(*index));
            let files = files.map(|member| member.path.clone()).collect();
            proposal.remarks.push(Remark {
                code: format!("sm_{arch}"),
                declared: verdict.is_usable(),
                what: verdict.as_str(),
                files,
            });
        }
        let portable: BTreeSet<Arch> = members().flat_map(|member| general(member).1).collect();
        for arch in portable {
            let holds = |member: &&Member| {
                let coverage = Coverage::of(member, false);
                coverage.holding(CodeKind::Ptx, arch) == coverage.deciding()
            };
            let lacking = parts.iter().filter(|part| !part.members.iter().any(holds));
            let files: Vec<String> = lacking.map(|part| part.name.to_owned()).collect();
            if files.is_empty() {
                proposal.portable.push(arch);
            } else {
                let what = "not in every module";
                proposal.remarks.push(Remark { code: format!("compute_{arch}"), declared: false, what, files });
            }
        }
        let oldest = |part: &Part<'_>| part.members.iter().filter_map(|member| member.runtime).min();
        proposal.runtime = parts.iter().filter_map(oldest).max();
        proposal
    };
    Ok(report.artefacts.iter().zip(&judged.artefacts).zip(all).map(of).collect())
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
