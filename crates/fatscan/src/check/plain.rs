//! Rules that need no device.

use super::{At, Glob, Rule, Sink, Words};
use crate::diagnostic::{Code, Level};
use crate::model::Report;

/// What could not be read, and damage.
pub(super) fn diagnostics(report: &Report, sink: &mut Sink<'_>) {
    for diagnostic in report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error) {
        let (artefact, member) = report.subject(diagnostic);
        let unreadable = [Code::Unreadable, Code::NotAFile].iter().any(|code| code.to_string() == diagnostic.code);
        let rule = if unreadable { Rule::Unreadable } else { Rule::Damage };
        let message = format!("{} ({})", diagnostic.message, diagnostic.code);
        let words = Words { rule, device: None, subject: None, message, hint: diagnostic.hint.clone() };
        let artefact = artefact.and_then(|index| Some((index, report.artefacts.get(index)?.path.as_str())));
        sink.add(artefact, diagnostic.place.clone(), member, words);
    }
}

/// Leaves the files of a report that are `wanted` (all, where the list is empty) and not `excluded`, and what there is to
/// say about them. What is said about an artefact as a whole stays.
pub fn select(report: &mut Report, wanted: &[Glob], excluded: &[Glob]) {
    let stays = |path: &str| {
        let is_wanted = wanted.is_empty() || wanted.iter().any(|glob| glob.matches(path));
        is_wanted && !excluded.iter().any(|glob| glob.matches(path))
    };
    let said = core::mem::take(&mut report.diagnostics);
    let said = said.into_iter().filter(|diagnostic| {
        let (_, member) = report.subject(diagnostic);
        member.is_empty() || stays(member)
    });
    let said = said.collect();
    report.diagnostics = said;
    for artefact in &mut report.artefacts {
        artefact.members.retain(|member| stays(&member.path));
    }
}

/// The size on disk.
pub(super) fn size(at: &mut At<'_, '_>) {
    let Some(limit) = at.sink.demands.max_size else { return };
    if at.artefact.size > limit {
        let message = format!("{} bytes, {limit} are allowed", at.artefact.size);
        at.add(None, Words { rule: Rule::MaxSize, device: None, subject: None, message, hint: None });
    }
}

/// The host architecture of files with device code.
pub(super) fn host(at: &mut At<'_, '_>) {
    let Some(host) = at.sink.demands.host.clone() else { return };
    for member in &at.artefact.members {
        if let Some(machine) = member.machine.filter(|machine| *machine != host) {
            let message = format!("the file is for {machine} hosts, {host} is demanded");
            at.add(Some(member), Words { rule: Rule::HostMismatch, device: None, subject: None, message, hint: None });
        }
    }
}
