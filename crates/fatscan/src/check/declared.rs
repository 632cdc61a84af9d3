//! Whether what an artefact says of itself is true.

use std::collections::BTreeSet;

use gpu_arch::catalogue::{self, Platform};
use gpu_arch::rules::{Device, Verdict};
use gpu_arch::{Capability, Target};

use super::{At, Demands, Rule, Severity, Words, contains, is_vendored};
use crate::declared::{Claim, Proposal, Says, Speaker, propose};
use crate::judge::{ArtefactJudgement, Judgement, Policy};
use crate::model::{Member, Report};

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

/// What claims are held to.
#[derive(Default)]
pub(super) struct Facts {
    /// The report judged for the capabilities that claims are about.
    judgement: Option<Judgement>,
    /// What variants should declare; none where nobody asks.
    proposals: Vec<Proposal>,
}

/// Finds what the claims that are there want to know.
pub(super) fn facts(report: &Report, demands: &Demands) -> Facts {
    let mut wanted = BTreeSet::new();
    let mut is_exact = false;
    for claim in demands.declared.iter().flatten() {
        match &claim.says {
            Says::Runs(capability) => drop(wanted.insert(*capability)),
            Says::RunsFrom(capability) => wanted.extend(from(*capability)),
            Says::Code { targets, all } => {
                is_exact |= all;
                wanted.extend(targets.iter().map(|target| target.arch().capability()));
            }
            _ => {}
        }
    }
    if wanted.is_empty() {
        return Facts::default();
    }
    let devices: Vec<Device> = wanted.into_iter().map(Device::of).collect();
    let judgement = crate::judge::judge(report, &devices, &Policy::default()).ok();
    let proposals = if is_exact { propose(report).unwrap_or_default() } else { Vec::new() };
    Facts { judgement, proposals }
}

/// A capability and those after it; of chips with a GPU in them, whose code is their own, only the one that is named.
fn from(capability: Capability) -> impl Iterator<Item = Capability> {
    let rows = catalogue::architectures().iter().filter(|row| row.platform == Platform::Discrete);
    let newer = rows.map(|row| row.capability).filter(move |own| *own > capability);
    core::iter::once(capability).chain(newer)
}

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement, facts: &Facts) {
    let demands = at.sink.demands;
    for claim in demands.declared.get(at.index).into_iter().flatten() {
        match &claim.says {
            Says::Code { targets, all } => code(at, judged, claim, facts, targets, *all),
            Says::Runs(capability) => runs(at, claim, facts, &[*capability]),
            Says::RunsFrom(capability) => runs(at, claim, facts, &from(*capability).collect::<Vec<_>>()),
            Says::Cuda(majors) => cuda(at, claim, majors),
            Says::DeviceCode => {
                let is_empty = at.artefact.members.is_empty() && !at.has_unread && demands.left_out.is_empty();
                if is_empty {
                    say(at, None, claim, None, None, format!("{claim}, and there is no device code"));
                }
            }
            Says::DriverFrom(version) => {
                let is_newer = |member: &&Member| member.runtime.is_some_and(|own| own > version.major);
                for member in files(at).into_iter().filter(is_newer) {
                    let runtime = member.runtime.unwrap_or_default();
                    let message =
                        format!("{claim} admits drivers of CUDA {version}, and the file needs CUDA runtime {runtime}");
                    say(at, Some(member), claim, None, None, message);
                }
            }
            Says::DriverBefore(version) => {
                let is_newer = |member: &&Member| member.runtime.is_some_and(|own| own >= version.major);
                for member in files(at).into_iter().filter(is_newer) {
                    let runtime = member.runtime.unwrap_or_default();
                    let message = format!(
                        "{claim} admits drivers before CUDA {version} only, and the file needs CUDA runtime {runtime}"
                    );
                    say(at, Some(member), claim, None, None, message);
                }
            }
            Says::Hosts(hosts) => machines(at, claim, hosts),
            Says::Nothing(why) => {
                let message = if claim.words.is_empty() || claim.place == "the package" {
                    why.clone()
                } else {
                    format!("{claim}: {why}")
                };
                let level = (claim.place == "the package").then_some(Severity::Warn);
                say(at, None, claim, level, None, message);
            }
        }
    }
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

fn code(at: &mut At<'_, '_>, judged: &ArtefactJudgement, claim: &Claim, facts: &Facts, targets: &[Target], all: bool) {
    let (demands, artefact) = (at.sink.demands, at.artefact);
    if artefact.members.is_empty() {
        if !at.has_unread && demands.left_out.is_empty() {
            say(at, None, claim, None, None, format!("{claim}, and there is no device code"));
        }
        return;
    }
    for target in targets.iter().filter(|target| matches!(target, Target::Sass(_))) {
        let capability = target.arch().capability();
        let Some((verdict, file)) = verdict(at, facts, capability) else { continue };
        let (severity, why) = match verdict {
            Verdict::Native | Verdict::Unknown => continue,
            // it runs, and starts slowly
            Verdict::Jit => (Some(Severity::Warn), format!("some of it is compiled on {capability} ({file})")),
            verdict => (None, format!("it is {} on {capability} ({file})", verdict.as_str())),
        };
        say(at, None, claim, severity, Some(target.to_string()), format!("{claim} names `{target}`, and {why}"));
    }
    let portable: Vec<Target> = targets.iter().filter(|target| matches!(target, Target::Ptx(..))).copied().collect();
    let counts = |member: &Member| {
        let index = artefact.members.iter().position(|own| core::ptr::eq(own, member));
        let is_profiler = index.and_then(|index| judged.members.get(index)).is_some_and(|own| own.is_profiler);
        !is_profiler && !is_vendored(&member.path)
    };
    let wanted = |member: &Member| if counts(member) { portable.as_slice() } else { &[] };
    for (index, words) in contains::lacking(artefact, judged, demands, &wanted, false) {
        for words in words {
            let message = format!("{claim}; {}", words.message);
            say(at, artefact.members.get(index), claim, None, words.subject, message);
        }
    }
    let Some(proposal) = facts.proposals.get(at.index).filter(|_| all) else { return };
    let real = proposal.real.iter().map(|arch| Target::Sass(*arch));
    for target in real.chain(proposal.portable.iter().map(|arch| Target::Ptx(*arch, None))) {
        if !targets.iter().any(|own| own.without_isa() == target) {
            let message = format!("`{target}` is there and not declared: installers pass the wheel over on such GPUs");
            say(at, None, claim, Some(Severity::Warn), Some(target.to_string()), message);
        }
    }
}

/// The verdict on an artefact for a capability, and the file that it comes from.
fn verdict(at: &At<'_, '_>, facts: &Facts, capability: Capability) -> Option<(Verdict, String)> {
    let judgement = facts.judgement.as_ref()?;
    let index = judgement.devices.iter().position(|device| device.capability == capability)?;
    let whole = judgement.artefacts.get(at.index)?.verdicts.get(index)?;
    let file = whole.decided_by.first().and_then(|index| at.artefact.members.get(*index));
    Some((whole.verdict.verdict, file.map(|member| member.path.clone()).unwrap_or_default()))
}

/// Capabilities on which an artefact is said to run.
fn runs(at: &mut At<'_, '_>, claim: &Claim, facts: &Facts, wanted: &[Capability]) {
    if at.artefact.members.is_empty() {
        return;
    }
    let mut failing: Vec<(Capability, &'static str, String)> = Vec::new();
    for capability in wanted {
        if let Some((verdict @ (Verdict::NotCovered | Verdict::Partial), file)) = verdict(at, facts, *capability) {
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
        let more = others.len().saturating_sub(1);
        let more = if more > 0 { format!(", as {more} more are") } else { String::new() };
        let message = format!("{claim} promises a wheel for any machine, and the file is for {machine} hosts{more}");
        say(at, Some(*first), claim, Some(Severity::Warn), None, message);
    }
}
