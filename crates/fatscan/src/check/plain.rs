//! Rules that need no device.

use super::{At, Rule, Sink, Subject, Words};
use crate::diagnostic::{Code, Level};
use crate::locator::Locator;
use crate::model::Report;
use crate::pattern::Pattern;

/// What a finding about a place is about.
fn subject<'a>(report: &'a Report, at: &Locator, code: Option<Code>) -> Subject<'a> {
    let artefact = report.artefact_of(at);
    let path = artefact.and_then(|index| report.artefacts.get(index)).map_or("", |artefact| artefact.path.as_str());
    Subject { artefact, path, at: at.clone(), member: report.member_of(at), code }
}

/// Damage, and what cannot be read.
pub(super) fn diagnostics(report: &Report, sink: &mut Sink<'_>) {
    let errors = report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
    for diagnostic in errors {
        // these are data too: see `unread`
        if matches!(
            diagnostic.code,
            Code::Unread | Code::NotRead | Code::Encrypted | Code::ZipMethod | Code::LimitBytes
        ) && report.unread.iter().any(|unread| unread.at == diagnostic.at)
        {
            continue;
        }
        let unreadable = matches!(diagnostic.code, Code::Unreadable | Code::NotAFile);
        let rule = if unreadable { Rule::Unreadable } else { Rule::Damage };
        let message = format!("{} ({})", diagnostic.message(), diagnostic.code);
        let words = Words {
            rule,
            severity: None,
            device: None,
            subject: None,
            message,
            hint: diagnostic.hint().map(ToOwned::to_owned),
        };
        sink.add(subject(report, &diagnostic.at, Some(diagnostic.code)), words);
    }
}

/// What may hold device code and was not read.
pub(super) fn unread(report: &Report, sink: &mut Sink<'_>) {
    for unread in &report.unread {
        let message = format!("it was not read, and may hold device code: {}", unread.why);
        let hint = Some("unpack it and check what is in it, or leave it out by name: --exclude GLOB".to_owned());
        let words = Words { rule: Rule::Unread, severity: None, device: None, subject: None, message, hint };
        sink.add(subject(report, &unread.at, None), words);
    }
}

/// What [`select`] left of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Files with device code that stayed.
    pub kept: usize,
    /// Paths of files with device code that were left out.
    pub left_out: Vec<String>,
}

/// Leaves the files of a report that are `wanted` (all, where the list is empty) and not `excluded`, nor below a directory
/// that is, and what there is to
/// say about them. What is said about an artefact as a whole stays.
pub fn select(report: &mut Report, wanted: &[Pattern], excluded: &[Pattern]) -> Selection {
    let stays = |path: &str| {
        let is_wanted = wanted.is_empty() || wanted.iter().any(|glob| glob.matches(path));
        is_wanted && !excluded.iter().any(|glob| glob.covers(path))
    };
    retain(report, &stays)
}

/// Leaves the files of a report whose path `stays`, and what there is to say about them.
pub fn retain(report: &mut Report, stays: &dyn Fn(&str) -> bool) -> Selection {
    let about = |report: &Report, at: &Locator| {
        let member = report.member_of(at);
        member.is_empty() || stays(&member)
    };
    let mut said = core::mem::take(&mut report.diagnostics);
    said.retain(|diagnostic| about(report, &diagnostic.at));
    report.diagnostics = said;
    let mut unread = core::mem::take(&mut report.unread);
    unread.retain(|unread| about(report, &unread.at));
    report.unread = unread;
    let mut selection = Selection::default();
    for artefact in &mut report.artefacts {
        let left_out = artefact.members.iter().filter(|member| !stays(&member.path));
        selection.left_out.extend(left_out.map(|member| member.path.clone()));
        artefact.members.retain(|member| stays(&member.path));
        selection.kept = selection.kept.saturating_add(artefact.members.len());
    }
    selection
}

/// The size on disk.
pub(super) fn size(at: &mut At<'_, '_>) {
    let Some(limit) = at.sink.demands.max_size else { return };
    if at.artefact.size > limit {
        let message = format!("{} bytes, {limit} are allowed", at.artefact.size);
        at.add(None, Words { rule: Rule::MaxSize, severity: None, device: None, subject: None, message, hint: None });
    }
}

/// The host architecture of files with device code.
pub(super) fn host(at: &mut At<'_, '_>) {
    let Some(host) = at.sink.demands.host.clone() else { return };
    for member in &at.artefact.members {
        if let Some(machine) = member.machine.filter(|machine| *machine != host) {
            let message = format!("the file is for {machine} hosts, {host} is demanded");
            at.add(
                Some(member),
                Words { rule: Rule::HostMismatch, severity: None, device: None, subject: None, message, hint: None },
            );
        }
    }
}
