//! What was given, and the files that it means.

use core::ops::ControlFlow;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fatscan_containers::{Source, tree};

use super::Input;
use super::deliver::{Event, Out, Sums};
use crate::diagnostic::{Code, Diagnostic};
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
pub(super) struct Root {
    /// A directory.
    pub(super) directory: Option<Artefact>,
    pub(super) tasks: Vec<Task>,
    pub(super) events: Vec<Event>,
    /// A directory holds something that was not read.
    pub(super) has_unread: bool,
}

impl Root {
    pub(super) fn new(input: &Input<'_>, run: &Run) -> Self {
        let mut root = Self { directory: None, tasks: Vec::new(), events: Vec::new(), has_unread: false };
        match input {
            Input::Path(path) => root.path(path, run),
            Input::Bytes { name, bytes } => root.named(name, Source::len(bytes)),
            Input::Source { name, source } => root.named(name, source.len()),
        }
        root
    }

    fn named(&mut self, name: &str, size: u64) {
        let at = Locator::given(&OsString::from(name));
        self.tasks.push(Task { at, size, in_directory: false });
    }

    fn path(&mut self, path: &Path, run: &Run) {
        let at = Locator::given(path.as_os_str());
        let say = |code, detail: &str| Event::Diagnostic(Diagnostic::new(code, at.clone(), detail));
        match std::fs::metadata(path) {
            Err(error) => self.events.push(say(Code::Unreadable, &reason(&error))),
            Ok(metadata) if metadata.is_dir() => self.tree(path, &at, run),
            Ok(metadata) if metadata.is_file() => {
                self.tasks.push(Task { at, size: metadata.len(), in_directory: false });
            }
            Ok(_) => self.events.push(say(Code::NotAFile, "")),
        }
    }

    fn tree(&mut self, path: &Path, at: &Locator, run: &Run) {
        let found = tree(path, run.options.follow_links);
        let inside = |relative: PathBuf| {
            if relative.as_os_str().is_empty() {
                at.clone()
            } else {
                at.inside(relative.as_os_str().as_encoded_bytes(), Place::File)
            }
        };
        for (relative, error) in found.problems {
            let diagnostic = Diagnostic::new(Code::Unreadable, inside(relative), reason(&error));
            self.events.push(Event::Diagnostic(diagnostic));
        }
        if !found.outside.is_empty() {
            let names: Vec<String> = found.outside.iter().take(3).map(|path| path.display().to_string()).collect();
            let more = found.outside.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let detail = format!("{}{more}", names.join(", "));
            self.events.push(Event::Diagnostic(Diagnostic::new(Code::LeadsOutside, at.clone(), detail)));
        }
        for relative in found.outside {
            let at = inside(relative);
            // what is neither a library nor an archive by its name is no loss
            if open::promises(&at.file_name()) {
                self.has_unread = true;
                self.events.push(Event::Unread(Unread { at, why: Why::Outside }));
            }
        }
        self.tasks.extend(found.files.into_iter().map(|file| {
            let size = file.size;
            Task { at: inside(file.relative), size, in_directory: true }
        }));
        // as members are shown: `a-b/x` before `a/x`
        self.tasks.sort_by_cached_key(|task| task.at.names(1));
        self.directory = Some(artefact(at.clone(), ArtefactKind::Directory, 0));
    }
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
        let (Some(own), Some(sums)) = (self.roots.get(root), self.sums.get(root)) else {
            return ControlFlow::Continue(());
        };
        let Some(directory) = &own.directory else { return ControlFlow::Continue(()) };
        // a directory of wheels is those wheels, and no further artefact without code
        let has_own = sums.members > 0 || sums.without > 0 || sums.unread || own.has_unread;
        if sums.archives > 0 && !has_own {
            return ControlFlow::Continue(());
        }
        out.sink.end(&Artefact { size: sums.size, members_without_code: sums.without, ..directory.clone() })
    }
}
