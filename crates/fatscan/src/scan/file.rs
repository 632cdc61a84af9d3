//! One file, whatever holds its bytes.

use core::ops::ControlFlow;

use fatscan_containers::{ByteStream, SNIFF_SIZE, Source, open_file};

use super::Input;
use super::deliver::Take;
use super::roots::{Task, artefact, reason};
use crate::archive;
use crate::diagnostic::{Code, Diagnostic};
use crate::locator::Locator;
use crate::model::{Artefact, ArtefactKind, Unread, Why};
use crate::object::{self, Leaf};
use crate::open::{self, What};
use crate::run::{Allowance, Run};

/// Scans one file.
pub(super) fn scan_task(run: &Run, task: &Task, input: Option<&Input<'_>>, take: &mut dyn Take) -> ControlFlow<()> {
    match input {
        Some(Input::Bytes { bytes, .. }) => scan_open(run, task, bytes, take),
        Some(Input::Source { source, .. }) => scan_open(run, task, *source, take),
        _ => scan_file(run, task, take),
    }
}

/// Scans a file of the system.
pub(super) fn scan_file(run: &Run, task: &Task, take: &mut dyn Take) -> ControlFlow<()> {
    // most files of a directory are none of our business: a look at their start is all they get
    let name = task.at.file_name();
    let wanted =
        |prefix: &[u8]| !task.in_directory || open::what(prefix, &name) != What::Unknown || open::is_library(&name);
    match open_file(&task.at.path(), run.options.mapping, SNIFF_SIZE, wanted) {
        Ok(Some(source)) => {
            scan_open(run, task, &source, take)?;
            if source.changed() {
                return loose(Diagnostic::new(Code::Changed, task.at.clone(), ""), take);
            }
            ControlFlow::Continue(())
        }
        Ok(None) => {
            run.progress.advance(task.size);
            take.sums().size = take.sums().size.saturating_add(task.size);
            ControlFlow::Continue(())
        }
        Err(error) => loose(Diagnostic::new(Code::Unreadable, task.at.clone(), reason(&error)), take),
    }
}

/// Something to say of no artefact in particular.
pub(super) fn loose(diagnostic: Diagnostic, take: &mut dyn Take) -> ControlFlow<()> {
    let nowhere = artefact(Locator::default(), ArtefactKind::File, 0);
    take.leaf(&nowhere, Leaf::saying(diagnostic.clone()), &|_| Leaf::saying(diagnostic.clone()))
}

/// Scans what can be read anywhere.
pub(super) fn scan_open(run: &Run, task: &Task, source: &dyn Source, take: &mut dyn Take) -> ControlFlow<()> {
    let prefix = source.bytes(0, SNIFF_SIZE).unwrap_or_default();
    let what = open::what(&prefix, &task.at.file_name());
    // an archive may stand behind a script that unpacks it (`.pyz`, `.pex`), a program, or anything else
    if archive::is_one(what, source, &task.at) {
        run.progress.advance(task.size);
        take.sums().archives = take.sums().archives.saturating_add(1);
        return archive::scan(run, source, &task.at, take);
    }
    let shown = if task.in_directory {
        artefact(task.at.root(), ArtefactKind::Directory, 0)
    } else {
        artefact(task.at.clone(), ArtefactKind::File, source.len())
    };
    let read = |allowance| {
        let mut leaf = object::scan(run, &task.at, &mut *source.stream(0, u64::MAX), !task.in_directory, allowance);
        if let Some(member) = &mut leaf.member {
            member.path = if task.in_directory { task.at.names(1) } else { task.at.file_name() };
        }
        leaf
    };
    if !task.in_directory {
        take.begin(&shown)?;
    }
    let leaf = read(take.allowance());
    let without = u64::from(leaf.member.is_none() && (leaf.is_candidate || !task.in_directory));
    let nested = leaf.nested.clone();
    let sums = take.sums();
    sums.size = sums.size.saturating_add(task.size);
    sums.without = sums.without.saturating_add(without);
    sums.members = sums.members.saturating_add(u64::from(leaf.member.is_some()));
    sums.unread |= !leaf.unread.is_empty();
    take.leaf(&shown, leaf, &read)?;
    for at in nested {
        archive::nested(run, source, &at, &shown, take)?;
    }
    if task.in_directory {
        return ControlFlow::Continue(());
    }
    take.end(&Artefact { members_without_code: without, ..shown })
}

/// Scans a stream, which is read once.
pub(super) fn scan_forward(
    run: &Run,
    at: &Locator,
    stream: &mut dyn ByteStream,
    take: &mut dyn Take,
) -> ControlFlow<()> {
    let mut shown = artefact(at.clone(), ArtefactKind::File, 0);
    stream.fill(SNIFF_SIZE);
    let window = stream.window();
    if open::what(window.get(..SNIFF_SIZE).unwrap_or(window), &at.file_name()) == What::Table {
        let mut flow = ControlFlow::Continue(());
        let opened = open::with_archive(stream, run.limits().held_bytes, &mut |source, _| {
            flow = archive::scan(run, source, at, take);
        });
        flow?;
        return match opened {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => {
                let leaf = || Leaf::unread(at, Why::OverBudget("held_bytes"), true);
                take.begin(&shown)?;
                take.leaf(&shown, leaf(), &|_| leaf())?;
                take.end(&shown)
            }
        };
    }
    take.begin(&shown)?;
    let mut leaf = object::scan(run, at, stream, true, Allowance { is_exact: true, ..take.allowance() });
    shown.size = leaf.member.as_ref().map_or_else(|| stream.position(), |member| member.size);
    shown.members_without_code = u64::from(leaf.member.is_none());
    if let Some(member) = &mut leaf.member {
        member.path = at.file_name();
    }
    for at in core::mem::take(&mut leaf.nested) {
        leaf.diagnostics.push(open::unread_diagnostic(&at, &Why::Unsupported("an archive in a stream"), false));
        leaf.unread.push(Unread { at, why: Why::Unsupported("an archive in a stream") });
    }
    take.leaf(&shown, leaf, &|_| Leaf::default())?;
    take.end(&shown)
}
