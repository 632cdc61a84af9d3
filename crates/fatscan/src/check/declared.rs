//! Whether what an artefact says of itself is true.

use std::collections::BTreeSet;

use gpu_arch::catalogue::{self, Platform};
use gpu_arch::rules::{Device, Verdict};
use gpu_arch::{Capability, Target};

use super::{At, Rule, Severity, Words, is_vendored};
use crate::declared::{Claim, Parts, Says, Speaker, propose_one};
use crate::judge::{ArtefactJudgement, Policy, judge_artefact};
use crate::model::{Artefact, CodeKind, Member};

const fn rule(speaker: Speaker) -> Rule {
    match speaker {
        Speaker::Variant => Rule::DeclaredVariant,
        Speaker::Conda => Rule::DeclaredConda,
        Speaker::ArchList => Rule::DeclaredList,
        Speaker::Cmake => Rule::DeclaredCmake,
        Speaker::Metadata => Rule::DeclaredMetadata,
        Speaker::Name => Rule::DeclaredName,
        Speaker::Tag => Rule::DeclaredTag,
    }
}

/// What the claims of an artefact are held to.
struct Facts<'a> {
    judged: &'a ArtefactJudgement,
    /// The capabilities that they are about, and the artefact judged for these.
    capabilities: Vec<Capability>,
    verdicts: ArtefactJudgement,
}

impl<'a> Facts<'a> {
    fn of(artefact: &Artefact, judged: &'a ArtefactJudgement, claims: &[Claim]) -> Self {
        let mut wanted = BTreeSet::new();
        for claim in claims {
            match &claim.says {
                Says::Runs(capability) => drop(wanted.insert(*capability)),
                Says::RunsFrom(capability) => wanted.extend(from(*capability)),
                Says::Code { targets, .. } => wanted.extend(targets.iter().map(|target| target.arch().capability())),
                _ => {}
            }
        }
        let capabilities: Vec<Capability> = wanted.into_iter().collect();
        let devices: Vec<Device> = capabilities.iter().map(|capability| Device::of(*capability)).collect();
        Self { judged, capabilities, verdicts: judge_artefact(artefact, &devices, &Policy::default()) }
    }

    /// The verdict on an artefact for a capability, and the file that it comes from.
    fn verdict(&self, artefact: &Artefact, capability: Capability) -> Option<(Verdict, String)> {
        let index = self.capabilities.iter().position(|own| *own == capability)?;
        let whole = self.verdicts.verdicts.get(index)?;
        let file = whole.decided_by.first().and_then(|index| artefact.members.get(*index));
        Some((whole.verdict.verdict, file.map(|member| member.path.clone()).unwrap_or_default()))
    }
}

/// A capability and those after it; of chips with a GPU in them, whose code is their own, only the one that is named.
fn from(capability: Capability) -> impl Iterator<Item = Capability> {
    let rows = catalogue::architectures().iter().filter(|row| row.platform == Platform::Discrete);
    let newer = rows.map(|row| row.capability).filter(move |own| *own > capability);
    core::iter::once(capability).chain(newer)
}

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement) {
    let demands = at.sink.demands;
    let Some(claims) = demands.declared.get(at.index).filter(|claims| !claims.is_empty()) else { return };
    let facts = Facts::of(at.artefact, judged, claims);
    for claim in claims {
        match &claim.says {
            Says::Code { targets, all } => code(at, claim, &facts, targets, *all),
            Says::Runs(capability) => runs(at, claim, &facts, &[*capability]),
            Says::RunsFrom(capability) => runs(at, claim, &facts, &from(*capability).collect::<Vec<_>>()),
            Says::Cuda(majors) => cuda(at, claim, majors),
            Says::DeviceCode => {
                if !holds_code(at) {
                    say(at, None, claim, None, None, format!("{claim}, and there is no CUDA code"));
                }
            }
            Says::DriverFrom(version) => {
                bound(at, claim, &format!("drivers of CUDA {version}"), |own| own > version.major);
            }
            Says::DriverBefore(version) => {
                bound(at, claim, &format!("drivers before CUDA {version} only"), |own| own >= version.major);
            }
            Says::Hosts(hosts) => machines(at, claim, hosts),
            Says::Nothing(why) => say(at, None, claim, None, None, format!("{claim}: {why}")),
            Says::Doubt(why) => say(at, None, claim, Some(Severity::Warn), None, format!("{claim}: {why}")),
        }
    }
}

/// Whether there is code for NVIDIA's GPUs, or may be in what was not read or was left out.
fn holds_code(at: &At<'_, '_>) -> bool {
    let mut images = at.artefact.members.iter().flat_map(|own| &own.modules).flat_map(|module| &module.images);
    at.has_unread || !at.sink.demands.left_out.is_empty() || images.any(|image| image.kind != CodeKind::Other)
}

/// Files whose CUDA runtime none of the drivers has that a bound admits: the first, and how many more.
fn bound(at: &mut At<'_, '_>, claim: &Claim, admitted: &str, refuses: impl Fn(u16) -> bool) {
    let files = files(at);
    let mut refused =
        files.iter().filter_map(|member| Some((*member, member.runtime?))).filter(|(_, own)| refuses(*own));
    let Some((first, runtime)) = refused.next() else { return };
    let more = more(refused.count());
    let message = format!("{claim} admits {admitted}, and the file needs CUDA runtime {runtime}{more}");
    say(at, Some(first), claim, None, None, message);
}

fn more(count: usize) -> String {
    if count > 0 { format!(", as {count} more do") } else { String::new() }
}

fn say(
    at: &mut At<'_, '_>,
    member: Option<&Member>,
    claim: &Claim,
    severity: Option<Severity>,
    subject: Option<String>,
    message: String,
) {
    let subject = subject.or_else(|| Some(claim.words.clone()).filter(|words| !words.is_empty()));
    at.add(member, Words { rule: rule(claim.speaker), severity, device: None, subject, message, hint: None });
}

/// Files of the package's own making.
fn files<'a>(at: &At<'a, '_>) -> Vec<&'a Member> {
    at.artefact.members.iter().filter(|member| !is_vendored(&member.path)).collect()
}

fn code(at: &mut At<'_, '_>, claim: &Claim, facts: &Facts<'_>, targets: &[Target], all: bool) {
    let artefact = at.artefact;
    if artefact.members.is_empty() {
        if !holds_code(at) {
            say(at, None, claim, None, None, format!("{claim}, and there is no CUDA code"));
        }
        return;
    }
    let parts = Parts::of(artefact, facts.judged);
    for target in targets {
        let (arch, capability) = (target.arch(), target.arch().capability());
        let (severity, why) = match (target, facts.verdict(artefact, capability)) {
            (Target::Ptx(..), _) => match parts.lacking(arch).as_slice() {
                [] => continue,
                [first] => (None, format!("not every module of {first} holds it")),
                [first, others @ ..] => {
                    (None, format!("not every module of {first} and {} more files holds it", others.len()))
                }
            },
            (_, None | Some((Verdict::Native | Verdict::Unknown, _))) => continue,
            // it runs, and starts slowly
            (_, Some((Verdict::Jit, file))) => {
                (Some(Severity::Warn), format!("some of it is compiled on {capability} ({file})"))
            }
            (_, Some((verdict, file))) => (None, format!("it is {} on {capability} ({file})", verdict.as_str())),
        };
        say(at, None, claim, severity, Some(target.to_string()), format!("{claim} names `{target}`, and {why}"));
    }
    if !all {
        return;
    }
    let proposal = propose_one(artefact);
    let real = proposal.real.iter().map(|arch| Target::Sass(*arch));
    for target in real.chain(proposal.portable.iter().map(|arch| Target::Ptx(*arch, None))) {
        if !targets.iter().any(|own| own.without_isa() == target) {
            let message = format!("`{target}` is there and not declared: installers pass the wheel over on such GPUs");
            say(at, None, claim, Some(Severity::Warn), Some(target.to_string()), message);
        }
    }
}

/// Capabilities on which an artefact is said to run.
fn runs(at: &mut At<'_, '_>, claim: &Claim, facts: &Facts<'_>, wanted: &[Capability]) {
    if at.artefact.members.is_empty() {
        return;
    }
    let mut failing: Vec<(Capability, &'static str, String)> = Vec::new();
    for capability in wanted {
        let verdict = facts.verdict(at.artefact, *capability);
        if let Some((verdict @ (Verdict::NotCovered | Verdict::Partial), file)) = verdict {
            failing.push((*capability, verdict.as_str(), file));
        }
    }
    let Some((first, word, file)) = failing.first() else { return };
    let names: Vec<String> = failing.iter().map(|(capability, ..)| capability.to_string()).collect();
    let message = format!("{claim}, and it does not run on {}: {word} on {first} ({file})", names.join(", "));
    // a bound that is too wide admits GPUs to come as well; that it is wrong at its own end is no oversight
    let severity = wanted.first().is_none_or(|own| own != first).then_some(Severity::Warn);
    say(at, None, claim, severity, None, message);
}

fn cuda(at: &mut At<'_, '_>, claim: &Claim, majors: &[u16]) {
    let own: BTreeSet<u16> = files(at).iter().filter_map(|member| member.runtime).collect();
    // a package for several versions holds a file for each
    if own.is_empty() || own.iter().any(|major| majors.contains(major)) {
        return;
    }
    let first = files(at).into_iter().find(|member| member.runtime.is_some());
    let names: Vec<String> = own.iter().map(ToString::to_string).collect();
    let message = format!("{claim}, and its files are linked to CUDA runtime {}", names.join(", "));
    say(at, first, claim, None, None, message);
}

/// The machines of files with device code against the tags of a wheel.
fn machines(at: &mut At<'_, '_>, claim: &Claim, hosts: &[&'static str]) {
    let others = at.artefact.members.iter().filter(|member| member.machine.is_some_and(|own| !hosts.contains(&own)));
    let others: Vec<&Member> = others.collect();
    if !hosts.is_empty() {
        for member in others {
            let machine = member.machine.unwrap_or_default();
            say(at, Some(member), claim, None, None, format!("{claim}, and the file is for {machine} hosts"));
        }
        return;
    }
    // `any` promises that nothing depends on the machine; other tags are not known here
    if claim.words.split('.').any(|tag| tag == "any")
        && let Some(first) = others.first()
    {
        let machine = first.machine.unwrap_or_default();
        let more = more(others.len().saturating_sub(1));
        let message = format!("{claim} promises a wheel for any machine, and the file needs {machine} hosts{more}");
        say(at, Some(*first), claim, Some(Severity::Warn), None, message);
    }
}
