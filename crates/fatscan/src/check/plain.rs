//! Rules that need no device.

use super::{At, Rule, Sink, Words};
use crate::diagnostic::{Code, Level};
use crate::model::Report;

/// What could not be read, and damage.
pub(super) fn diagnostics(report: &Report, sink: &mut Sink<'_>) {
    for diagnostic in report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error) {
        let (artefact, rest) = artefact_of(report, &diagnostic.place);
        let unreadable = [Code::Unreadable, Code::NotAFile].iter().any(|code| code.to_string() == diagnostic.code);
        let rule = if unreadable { Rule::Unreadable } else { Rule::Damage };
        let member = rest.strip_prefix('!').and_then(|rest| rest.split(['!', '@']).next()).unwrap_or_default();
        let message = format!("{} ({})", diagnostic.message, diagnostic.code);
        let words = Words { rule, device: None, subject: None, message, hint: diagnostic.hint.clone() };
        let artefact = artefact.and_then(|index| Some((index, report.artefacts.get(index)?.path.as_str())));
        sink.add(artefact, diagnostic.place.clone(), member, words);
    }
}

/// The artefact that a place lies in, with what the place says beyond its path: names may hold the separators too.
fn artefact_of<'place>(report: &Report, place: &'place str) -> (Option<usize>, &'place str) {
    let paths = report.artefacts.iter().map(|artefact| artefact.path.as_str()).enumerate();
    let rests = paths.filter_map(|(index, path)| Some((index, place.strip_prefix(path)?)));
    let own = rests.filter(|(_, rest)| rest.is_empty() || rest.starts_with(['!', '@']));
    own.min_by_key(|(_, rest)| rest.len()).map_or((None, place), |(index, rest)| (Some(index), rest))
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
