//! One file, whatever holds its bytes.

use core::ops::ControlFlow;

use fatscan_containers::{ByteStream, Package, SNIFF_SIZE, SliceStream, Source, open_file};

use super::Input;
use super::deliver::Take;
use super::roots::{Task, artefact, reason};
use crate::archive;
use crate::diagnostic::{Code, Diagnostic};
use crate::forward::{Found, Walker};
use crate::locator::Locator;
use crate::model::{Artefact, ArtefactKind, Unread, Why};
use crate::object::{self, Leaf};
use crate::open::{self, What};
use crate::run::{Allowance, Run};

/// Scans one file.
pub(super) fn scan_task(run: &Run, task: &Task, input: Option<&Input<'_>>, take: &mut dyn Take) -> ControlFlow<()> {
    if run.is_cancelled() {
        return ControlFlow::Break(());
    }
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
    let wanted = |prefix: &[u8]| !task.in_directory || open::what(prefix) != What::Unknown || open::is_library(&name);
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
    let what = open::what(&prefix);
    // an archive may stand behind a script that unpacks it (`.pyz`, `.pex`), a program, or anything else
    if archive::is_one(what, source, &task.at) {
        run.progress.advance(task.size);
        take.sums().archives = take.sums().archives.saturating_add(1);
        return archive::scan(run, source, &task.at, take);
    }
    if matches!(what, What::Package(_) | What::Compressed(_)) {
        let inner = match what {
            What::Compressed(codec) => open::what_is_in(codec, &mut *source.stream(0, u64::MAX), run.limits()),
            what => what,
        };
        return scan_packed(run, task, (what, inner), source.len(), &mut *source.stream(0, u64::MAX), take);
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
    let mut without =
        u64::from(leaf.member.is_none() && leaf.nested.is_empty() && (leaf.is_candidate || !task.in_directory));
    let nested = leaf.nested.clone();
    let sums = take.sums();
    sums.size = sums.size.saturating_add(task.size);
    sums.without = sums.without.saturating_add(without);
    sums.members = sums.members.saturating_add(u64::from(leaf.member.is_some()));
    sums.unread |= !leaf.unread.is_empty();
    take.leaf(&shown, leaf, &read)?;
    for at in nested {
        without = without.saturating_add(archive::nested(run, source, &at, &shown, take)?);
    }
    if task.in_directory {
        return ControlFlow::Continue(());
    }
    take.end(&Artefact { members_without_code: without, ..shown })
}

/// Scans an archive that is read forward, or a compressed file. `what` it is, and what is in it.
fn scan_packed(
    run: &Run,
    task: &Task,
    (what, inner): (What, What),
    size: u64,
    stream: &mut dyn ByteStream,
    take: &mut dyn Take,
) -> ControlFlow<()> {
    let is_archive = matches!(inner, What::Package(_) | What::Table | What::Compressed(_));
    let mut shown = match what {
        What::Package(Package::Deb | Package::Rpm) => artefact(task.at.clone(), ArtefactKind::Package, size),
        _ if is_archive => artefact(task.at.clone(), ArtefactKind::Archive, size),
        _ if task.in_directory => artefact(task.at.root(), ArtefactKind::Directory, 0),
        _ => artefact(task.at.clone(), ArtefactKind::File, size),
    };
    let is_own = is_archive || !task.in_directory;
    if is_own {
        take.begin(&shown)?;
    }
    // of a stream nobody knows how long it is
    let mut room = if size > 0 { archive::room(run, size) } else { run.limits().member_bytes };
    let windows = archive::windows(run, take);
    let held = run.limits().held_bytes;
    let explicit = !task.in_directory && !is_archive;
    let mut walker =
        Walker { run, shown: &shown, held, room: &mut room, windows: &windows, take, found: Found::default() };
    walker.file(&task.at, stream, explicit)?;
    let found = walker.found;
    run.progress.advance(task.size);
    if size == 0 && !run.is_cancelled() {
        // what is behind the end of the archive counts
        stream.skip(u64::MAX);
    }
    let sums = take.sums();
    let without = if explicit && found.members == 0 { 1 } else { found.without };
    if is_own {
        sums.archives = sums.archives.saturating_add(u64::from(is_archive));
        shown.members_without_code = without;
        shown.size = if size > 0 { size } else { stream.position() };
        return take.end(&shown);
    }
    sums.size = sums.size.saturating_add(task.size);
    sums.without = sums.without.saturating_add(without);
    sums.members = sums.members.saturating_add(found.members);
    sums.unread |= found.unread;
    ControlFlow::Continue(())
}

/// Bytes of a stream that are looked at for what is compressed in it: a block of bzip2.
const PEEK: usize = 1 << 20;

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
    let what = open::what(window.get(..SNIFF_SIZE).unwrap_or(window));
    if what == What::Table {
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
    if matches!(what, What::Package(_) | What::Compressed(_)) {
        let inner = match what {
            What::Compressed(codec) => {
                stream.fill(PEEK);
                open::what_is_in(codec, &mut SliceStream::new(stream.window()), run.limits())
            }
            what => what,
        };
        let task = Task { at: at.clone(), size: 0, in_directory: false };
        return scan_packed(run, &task, (what, inner), 0, stream, take);
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
