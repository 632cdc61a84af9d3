//! Rules that need no device.

use super::{At, Glob, Rule, Sink, Words};
use crate::diagnostic::{Code, Level};
use crate::model::{ArtefactKind, Report};

/// What could not be read, and damage.
pub(super) fn diagnostics(report: &Report, sink: &mut Sink<'_>) {
    for diagnostic in report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error) {
        let (artefact, member) = subject(report, &diagnostic.place);
        let unreadable = [Code::Unreadable, Code::NotAFile].iter().any(|code| code.to_string() == diagnostic.code);
        let rule = if unreadable { Rule::Unreadable } else { Rule::Damage };
        let message = format!("{} ({})", diagnostic.message, diagnostic.code);
        let words = Words { rule, device: None, subject: None, message, hint: diagnostic.hint.clone() };
        let artefact = artefact.and_then(|index| Some((index, report.artefacts.get(index)?.path.as_str())));
        sink.add(artefact, diagnostic.place.clone(), member, words);
    }
}

/// The artefact and the member that a place lies in; the member is empty where the place is the artefact or none of the
/// report's. Names may hold the separators of a place too.
fn subject<'place>(report: &Report, place: &'place str) -> (Option<usize>, &'place str) {
    let separated = |rest: &str| rest.is_empty() || rest.starts_with(['!', '@']);
    let paths = report.artefacts.iter().enumerate();
    let rests = paths.filter_map(|(index, artefact)| Some((index, artefact, place.strip_prefix(&artefact.path)?)));
    let own = rests.filter(|(.., rest)| separated(rest));
    let Some((index, artefact, rest)) = own.min_by_key(|(.., rest)| rest.len()) else { return (None, "") };
    if artefact.kind == ArtefactKind::File {
        return (Some(index), place.strip_suffix(rest).unwrap_or(place));
    }
    let Some(inside) = rest.strip_prefix('!') else { return (Some(index), "") };
    let known = artefact.members.iter().map(|member| member.path.as_str());
    let known = known.filter(|path| inside.strip_prefix(path).is_some_and(separated)).max_by_key(|path| path.len());
    let end = known.map(str::len).or_else(|| inside.find(['!', '@'])).unwrap_or(inside.len());
    (Some(index), inside.get(..end).unwrap_or(inside))
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
        let (_, member) = subject(report, &diagnostic.place);
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
