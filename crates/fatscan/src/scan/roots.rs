//! What was given, and the files that it means.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use fatscan_containers::{Source, tree};

use super::Input;
use super::deliver::{Event, Out, Sums};
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::locator::{Locator, Place};
use crate::model::{Artefact, ArtefactKind, Unread, Why};
use crate::open;
use crate::run::Run;

/// A file to look at.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) at: Locator,
    pub(super) size: u64,
    pub(super) in_directory: bool,
}

/// What was given.
#[derive(Default)]
pub(super) struct Root {
    /// Which of the inputs.
    pub(super) input: usize,
    /// A directory.
    pub(super) directory: Option<Artefact>,
    pub(super) tasks: Vec<Task>,
    pub(super) events: Vec<Event>,
    /// A directory holds something that was not read.
    pub(super) has_unread: bool,
    /// The directory that was given, where those below it are artefacts of their own: one without device code is none.
    pub(super) grouped: Option<Artefact>,
}

impl Root {
    /// The roots of one input: several where its directories are artefacts of their own.
    pub(super) fn of(input: &Input<'_>, index: usize, run: &Run) -> Vec<Self> {
        let mut root = Self { input: index, ..Self::default() };
        match input {
            Input::Path(path) => return root.path(path, run),
            Input::Bytes { name, bytes } => root.named(name, Source::len(bytes)),
            Input::Source { name, source } => root.named(name, source.len()),
        }
        vec![root]
    }

    fn named(&mut self, name: &str, size: u64) {
        let at = Locator::given(&OsString::from(name));
        self.tasks.push(Task { at, size, in_directory: false });
    }

    fn path(mut self, path: &Path, run: &Run) -> Vec<Self> {
        let at = Locator::given(path.as_os_str());
        let say = |code, detail: &str| Event::Diagnostic(Diagnostic::new(code, at.clone(), detail));
        match std::fs::metadata(path) {
            Err(error) => self.events.push(say(Code::Unreadable, &reason(&error))),
            Ok(metadata) if metadata.is_dir() => return self.tree(path, &at, run),
            Ok(metadata) if metadata.is_file() => {
                self.tasks.push(Task { at, size: metadata.len(), in_directory: false });
            }
            Ok(_) => self.events.push(say(Code::NotAFile, "")),
        }
        vec![self]
    }

    fn tree(self, path: &Path, at: &Locator, run: &Run) -> Vec<Self> {
        let found = tree(path, run.options.follow_links);
        let mut groups = Groups { path, at, levels: run.options.group_by, input: self.input, roots: BTreeMap::new() };
        let excluded = |relative: &Path| run.excludes(slashed(relative).as_encoded_bytes());
        for (relative, error) in found.problems.iter().filter(|(relative, _)| !excluded(relative)) {
            let (root, at) = groups.of(relative);
            root.events.push(Event::Diagnostic(Diagnostic::new(Code::Unreadable, at, reason(error))));
        }
        let outside: Vec<PathBuf> = found.outside.into_iter().filter(|relative| !excluded(relative)).collect();
        if !outside.is_empty() {
            let names: Vec<String> = outside.iter().take(3).map(|path| path.display().to_string()).collect();
            let more = outside.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let detail = format!("{}{more}", names.join(", "));
            let (root, at) = groups.of(Path::new(""));
            root.events.push(Event::Diagnostic(Diagnostic::new(Code::LeadsOutside, at, detail)));
        }
        for relative in outside {
            let (root, at) = groups.of(&relative);
            // what is neither a library nor an archive by its name is no loss
            if open::promises(&at.file_name()) {
                root.has_unread = true;
                root.events.push(Event::Unread(Unread { at, why: Why::Outside }));
            }
        }
        for file in found.files.into_iter().filter(|file| !excluded(&file.relative)) {
            let (root, at) = groups.of(&file.relative);
            root.tasks.push(Task { at, size: file.size, in_directory: true });
        }
        groups.finish()
    }
}

/// A directory, and those below it that are artefacts of their own.
struct Groups<'a> {
    path: &'a Path,
    at: &'a Locator,
    levels: usize,
    input: usize,
    /// By their paths in the directory; what is its own under the empty path.
    roots: BTreeMap<PathBuf, Root>,
}

impl Groups<'_> {
    /// The root that a path in the directory belongs to, and its place.
    fn of(&mut self, relative: &Path) -> (&mut Root, Locator) {
        let group = group(relative, self.levels);
        let at = self.place(&group);
        let inner = relative.strip_prefix(&group).unwrap_or(relative).as_os_str().as_encoded_bytes();
        let at = if inner.is_empty() { at } else { at.inside(inner, Place::File) };
        let input = self.input;
        (self.roots.entry(group).or_insert_with(|| Root { input, ..Root::default() }), at)
    }

    fn place(&self, group: &Path) -> Locator {
        if group.as_os_str().is_empty() { self.at.clone() } else { Locator::given(self.path.join(group).as_os_str()) }
    }

    fn finish(mut self) -> Vec<Root> {
        if self.roots.is_empty() {
            self.of(Path::new(""));
        }
        let roots = core::mem::take(&mut self.roots).into_iter().map(|(group, mut root)| {
            // as members are shown: `a-b/x` before `a/x`
            root.tasks.sort_by_cached_key(|task| task.at.names(1));
            root.directory = Some(artefact(self.place(&group), ArtefactKind::Directory, 0));
            root.grouped = (self.levels > 0).then(|| artefact(self.at.clone(), ArtefactKind::Directory, 0));
            root
        });
        roots.collect()
    }
}

/// The directory so many levels deep that a file lies in; none where it lies above.
fn group(file: &Path, levels: usize) -> PathBuf {
    let folders = file.parent().map(|folder| folder.components().count()).unwrap_or(0);
    if levels == 0 || folders < levels { PathBuf::new() } else { file.components().take(levels).collect() }
}

/// A path with `/` between its parts, whatever the system writes.
fn slashed(path: &Path) -> Cow<'_, OsStr> {
    if std::path::MAIN_SEPARATOR == '/' {
        return Cow::Borrowed(path.as_os_str());
    }
    Cow::Owned(path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/").into())
}

/// An artefact without members.
pub(crate) fn artefact(at: Locator, kind: ArtefactKind, size: u64) -> Artefact {
    Artefact { path: at.to_string(), at, kind, size, members_without_code: 0, members: Vec::new() }
}

/// The system's words without its number.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

/// Begins and ends what was given, in its order.
pub(super) struct OpenRoots<'a> {
    pub(super) roots: &'a [Root],
    /// The first root that has not begun.
    pub(super) next: usize,
    pub(super) sums: Vec<Sums>,
    pub(super) groups: Groupings,
}

/// What came of the directories below the one that was given last.
#[derive(Debug, Default)]
pub(super) struct Groupings {
    all: usize,
    without: Sums,
    /// Those without device code.
    count: usize,
}

impl OpenRoots<'_> {
    pub(super) fn add(&mut self, root: usize, more: Sums) {
        if let Some(sums) = self.sums.get_mut(root) {
            sums.add(more);
        }
    }

    /// Ends the roots before `root` and begins it.
    pub(super) fn up_to(&mut self, root: usize, out: &mut Out<'_>) -> ControlFlow<()> {
        while self.next <= root {
            if let Some(last) = self.next.checked_sub(1) {
                self.end(last, out)?;
            }
            if let Some(own) = self.roots.get(self.next) {
                if let Some(directory) = &own.directory {
                    out.sink.begin(directory)?;
                }
                own.events.iter().cloned().try_for_each(|event| out.event(event))?;
            }
            self.next = self.next.saturating_add(1);
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, root: usize, out: &mut Out<'_>) -> ControlFlow<()> {
        let (Some(own), Some(sums)) = (self.roots.get(root), self.sums.get(root).copied()) else {
            return ControlFlow::Continue(());
        };
        let Some(directory) = &own.directory else { return ControlFlow::Continue(()) };
        // a directory of wheels is those wheels, and no further artefact without code
        let has_own = sums.members > 0 || sums.without > 0 || sums.unread || own.has_unread;
        let is_beside = sums.archives > 0 && !has_own;
        if let Some(given) = &own.grouped {
            let is_error = |event: &Event| matches!(event, Event::Diagnostic(said) if said.level == Level::Error);
            let is_damaged = sums.damaged || own.events.iter().any(is_error);
            let is_empty = sums.members == 0 && !sums.unread && !own.has_unread && !is_damaged;
            // what lies above the groups is none of them
            let is_group = directory.at != given.at;
            self.groups.all = self.groups.all.saturating_add(usize::from(is_group || !is_empty));
            if is_empty {
                self.groups.count = self.groups.count.saturating_add(usize::from(is_group && !is_beside));
                self.groups.without.add(sums);
            } else {
                out.sink.end(&ended(directory, sums))?;
            }
            let next = self.roots.get(root.saturating_add(1)).and_then(|next| next.grouped.as_ref());
            return if next.is_some_and(|next| next.at == given.at) {
                ControlFlow::Continue(())
            } else {
                self.groups_end(given, out)
            };
        }
        if is_beside {
            return ControlFlow::Continue(());
        }
        out.sink.end(&ended(directory, sums))
    }

    /// Says how many of the directories below the one that was given hold no device code.
    fn groups_end(&mut self, given: &Artefact, out: &mut Out<'_>) -> ControlFlow<()> {
        let Groupings { all, without, count } = core::mem::take(&mut self.groups);
        if without.archives == 0 && count == all {
            // there is none at all
            return out.sink.end(&ended(given, without));
        }
        if count == 0 {
            return ControlFlow::Continue(());
        }
        let detail = format!("{count} of {all} directories");
        out.event(Event::Diagnostic(Diagnostic::new(Code::WithoutCode, given.at.clone(), detail)))
    }
}

/// A directory with what its files add up to.
fn ended(directory: &Artefact, sums: Sums) -> Artefact {
    Artefact { size: sums.size, members_without_code: sums.without, ..directory.clone() }
}
