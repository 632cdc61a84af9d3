//! Whether what an artefact says of itself is true.

use std::collections::BTreeSet;

use gpu_arch::rules::{Device, Verdict};
use gpu_arch::catalogue::{self, Platform};
use gpu_arch::{Capability, Target};

use super::{At, Demands, Rule, Severity, Words, contains, is_vendored};
use crate::declared::{Claim, Says, Speaker, propose};
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

/// The report judged for the capabilities that claims are about.
pub(super) fn judge(report: &Report, demands: &Demands) -> Judgement {
    let mut wanted = BTreeSet::new();
    for claim in demands.declared.iter().flatten() {
        match claim.says {
            Says::Runs(capability) => drop(wanted.insert(capability)),
            Says::RunsFrom(capability) => wanted.extend(from(capability)),
            _ => {}
        }
    }
    let devices: Vec<Device> = wanted.into_iter().map(Device::of).collect();
    let none = Judgement { devices: Vec::new(), fleets: Vec::new(), artefacts: Vec::new() };
    if devices.is_empty() { none } else { crate::judge::judge(report, &devices, &Policy::default()).unwrap_or(none) }
}

/// A capability and those after it; of chips with a GPU in them, whose code is their own, only the one that is named.
fn from(capability: Capability) -> impl Iterator<Item = Capability> {
    let rows = catalogue::architectures().iter().filter(|row| row.platform == Platform::Discrete);
    let newer = rows.map(|row| row.capability).filter(move |own| *own > capability);
    core::iter::once(capability).chain(newer)
}

pub(super) fn check(at: &mut At<'_, '_>, judged: &ArtefactJudgement, claimed: &Judgement) {
    let demands = at.sink.demands;
    for claim in demands.declared.get(at.index).into_iter().flatten() {
        match &claim.says {
            Says::Code { targets, all } => code(at, judged, claim, targets, *all),
            Says::Runs(capability) => runs(at, claim, claimed, &[*capability]),
            Says::RunsFrom(capability) => runs(at, claim, claimed, &from(*capability).collect::<Vec<_>>()),
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
                    let message =
                        format!("{claim} admits drivers before CUDA {version} only, and the file needs CUDA runtime {runtime}");
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

fn code(at: &mut At<'_, '_>, judged: &ArtefactJudgement, claim: &Claim, targets: &[Target], all: bool) {
    let (demands, artefact) = (at.sink.demands, at.artefact);
    let counts = |member: &Member| {
        let index = artefact.members.iter().position(|own| core::ptr::eq(own, member));
        let is_profiler = index.and_then(|index| judged.members.get(index)).is_some_and(|own| own.is_profiler);
        !is_profiler && !is_vendored(&member.path)
    };
    let wanted = |member: &Member| if counts(member) { targets } else { &[] };
    for (index, words) in contains::lacking(artefact, judged, demands, &wanted, false) {
        for words in words {
            let message = format!("{claim}; {}", words.message);
            say(at, artefact.members.get(index), claim, None, words.subject, message);
        }
    }
    if artefact.members.is_empty() && !at.has_unread {
        say(at, None, claim, None, None, format!("{claim}, and there is no device code"));
    }
    if all {
        let undeclared = propose(artefact, judged).targets;
        for target in undeclared.into_iter().filter(|target| !targets.contains(target)) {
            let message = format!("`{target}` is in every module and not declared: installers pass the wheel over there");
            say(at, None, claim, Some(Severity::Warn), Some(target.to_string()), message);
        }
    }
}

/// Capabilities on which an artefact is said to run.
fn runs(at: &mut At<'_, '_>, claim: &Claim, claimed: &Judgement, wanted: &[Capability]) {
    if at.artefact.members.is_empty() {
        return;
    }
    let Some(judged) = claimed.artefacts.get(at.index) else { return };
    let mut failing: Vec<(Capability, &'static str, String)> = Vec::new();
    for (device, whole) in claimed.devices.iter().zip(&judged.verdicts) {
        let verdict = &whole.verdict;
        let fails = matches!(verdict.verdict, Verdict::NotCovered | Verdict::Partial);
        if fails && wanted.contains(&device.capability) {
            let file = whole.decided_by.first().and_then(|index| at.artefact.members.get(*index));
            let file = file.map(|member| member.path.clone()).unwrap_or_default();
            failing.push((device.capability, verdict.verdict.as_str(), file));
        }
    }
    let Some((first, word, file)) = failing.first() else { return };
    let names: Vec<String> = failing.iter().map(|(capability, ..)| capability.to_string()).collect();
    let message = format!("{claim}, and it does not run on {}: {word} on {first} ({file})", names.join(", "));
    // a bound that is too wide admits GPUs to come as well; that it is wrong at its own end is no oversight
    let severity = (!wanted.first().is_some_and(|own| own == first)).then_some(Severity::Warn);
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
