//! From what was given to artefacts: a scan and who listens to it.

use core::ops::ControlFlow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fatscan_containers::{ByteStream, SNIFF_SIZE, Source, open_file, tree};
use rayon::ThreadPool;

use crate::archive;
use crate::diagnostic::{Code, Diagnostic};
use crate::locator::{Locator, Place};
use crate::model::{Artefact, ArtefactKind, Depth, Member, Report, Unread, Why};
use crate::object::{self, Leaf};
use crate::open::{self, What};
use crate::options::Options;
use crate::parallel;
use crate::progress::Progress;
use crate::run::{Allowance, Run, Used};

/// What to scan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A file or a directory of the system.
    Path(&'a Path),
    /// Bytes of one file in memory, under a name.
    Bytes {
        /// What it is called.
        name: &'a str,
        /// Its content.
        bytes: &'a [u8],
    },
    /// A file that something else reads, under a name.
    Source {
        /// What it is called.
        name: &'a str,
        /// Its content.
        source: &'a dyn Source,
    },
}

/// Who listens to a scan. Everything comes on the thread that called [`Scanner::scan`], in the order of places, whatever
/// the threads do; `Break` ends the scan, and what came is what stands before that place.
///
/// ```
/// use std::ops::ControlFlow;
/// use fatscan_core::{Artefact, Input, Member, Options, Scanner, Sink};
///
/// struct First(Option<String>);
/// impl Sink for First {
///     fn member(&mut self, _: &Artefact, member: Member) -> ControlFlow<()> {
///         self.0 = Some(member.path);
///         ControlFlow::Break(())
///     }
/// }
/// let ptx = b".version 8.5\n.target sm_90a\n.visible .entry k() { ret; }\n";
/// let mut first = First(None);
/// let scanner = Scanner::new(Options::new()).unwrap();
/// assert!(scanner.scan(&[Input::Bytes { name: "k.ptx", bytes: ptx }], &mut first).is_break());
/// assert_eq!(first.0.unwrap(), "k.ptx");
/// ```
pub trait Sink {
    /// An artefact begins; its numbers and members are still to come. Those of a directory may begin within it.
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        let _ = artefact;
        ControlFlow::Continue(())
    }

    /// A file with device code in the artefact.
    fn member(&mut self, artefact: &Artefact, member: Member) -> ControlFlow<()>;

    /// Something to say.
    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        let _ = diagnostic;
        ControlFlow::Continue(())
    }

    /// Something that may hold device code and was not read.
    fn unread(&mut self, unread: Unread) -> ControlFlow<()> {
        let _ = unread;
        ControlFlow::Continue(())
    }

    /// The artefact ends: now its numbers are known. Its list of members is empty.
    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        let _ = artefact;
        ControlFlow::Continue(())
    }
}

/// Scans with the same options and threads, any number of times.
#[derive(Debug)]
pub struct Scanner {
    options: Options,
    progress: Progress,
    pool: Arc<ThreadPool>,
}

impl Scanner {
    /// A scanner.
    ///
    /// # Errors
    /// The system's words where it gives no threads.
    pub fn new(options: Options) -> Result<Self, String> {
        Ok(Self { pool: Arc::new(parallel::pool(options.threads)?), options, progress: Progress::default() })
    }

    /// How far its scans are, all together.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Scans files, archives and directories. Everything that can be read is read; what cannot is a [`Diagnostic`] or
    /// [`Unread`].
    pub fn scan(&self, inputs: &[Input<'_>], sink: &mut dyn Sink) -> ControlFlow<()> {
        let run = Run::new(&self.options, Arc::clone(&self.pool), self.progress.clone());
        let mut roots = Vec::new();
        let mut tasks = Vec::new();
        for input in inputs {
            let root = Root::new(input, &run);
            tasks.extend(root.tasks.iter().map(|task| (roots.len(), task.clone())));
            roots.push(root);
        }
        run.progress.expect(tasks.iter().map(|(_, task)| task.size).fold(0, u64::saturating_add));
        let mut out = Out { sink, run: &run, committed: Used::default() };
        let flow = self.deliver(&run, &roots, &tasks, inputs, &mut out);
        if flow.is_break() {
            run.cancel();
        }
        flow
    }

    /// Scans and collects all that comes.
    #[must_use]
    pub fn report(&self, inputs: &[Input<'_>]) -> Report {
        let mut collect = Collect::new(&self.options);
        // a sink that never breaks
        let _ = self.scan(inputs, &mut collect);
        collect.report()
    }

    fn deliver(
        &self,
        run: &Run,
        roots: &[Root],
        tasks: &[(usize, Task)],
        inputs: &[Input<'_>],
        out: &mut Out<'_>,
    ) -> ControlFlow<()> {
        let mut open = OpenRoots { roots, next: 0, sums: vec![Sums::default(); roots.len()] };
        if let [(root, task)] = tasks {
            // its members are the tasks
            open.up_to(*root, out)?;
            let input = inputs.get(*root);
            let mut live = Live { out: &mut *out, sums: Sums::default() };
            scan_task(run, task, input, &mut live)?;
            let sums = live.sums;
            open.add(*root, sums);
        } else {
            let work = |(root, task): &(usize, Task)| {
                let mut kept = Kept::new(Allowance::whole(run.limits()));
                // nothing breaks: what is kept is delivered in its turn
                let _ = scan_task(run, task, inputs.get(*root), &mut kept);
                kept
            };
            let flow = parallel::ordered(
                &self.pool,
                tasks,
                |(_, task)| task.size,
                work,
                |index, kept| {
                    let Some((root, task)) = tasks.get(index) else { return ControlFlow::Continue(()) };
                    open.up_to(*root, out)?;
                    let kept = out.committed(kept, &|allowance| {
                        let mut kept = Kept::new(allowance);
                        let _ = self.pool.install(|| scan_task(run, task, inputs.get(*root), &mut kept));
                        kept
                    });
                    open.add(*root, kept.sums);
                    kept.events.into_iter().try_for_each(|event| event.send(out.sink))
                },
            );
            flow?;
        }
        open.up_to(roots.len(), out)
    }
}

/// Scans paths and collects what comes: [`Scanner::report`] with the defaults for threads. Without threads from the system
/// the report says so.
#[must_use]
pub fn scan_paths<P: AsRef<Path>>(paths: &[P], options: &Options) -> Report {
    let inputs: Vec<Input<'_>> = paths.iter().map(|path| Input::Path(path.as_ref())).collect();
    collected(&inputs, options)
}

/// Scans the bytes of one file, held in memory.
#[must_use]
pub fn scan_bytes(name: &str, bytes: &[u8], options: &Options) -> Report {
    collected(&[Input::Bytes { name, bytes }], options)
}

/// Scans one file that something else reads.
#[must_use]
pub fn scan_source(name: &str, source: &dyn Source, options: &Options) -> Report {
    collected(&[Input::Source { name, source }], options)
}

/// Scans one file that is read forward, once: a pipe, a download, a member of an archive. What cannot go back is listed
/// all the same, but behind damage it is not searched a second time, which is said. An archive with a table of its members
/// is held in memory, as far as [`Limits::held_bytes`](crate::Limits::held_bytes) goes.
pub fn scan_stream(name: &str, stream: &mut dyn ByteStream, options: &Options) -> Report {
    let mut collect = Collect::new(options);
    let scanner = match Scanner::new(*options) {
        Ok(scanner) => scanner,
        Err(error) => return no_threads(&error),
    };
    let run = Run::new(options, Arc::clone(&scanner.pool), Progress::default());
    let at = Locator::given(&OsString::from(name));
    let mut out = Out { sink: &mut collect, run: &run, committed: Used::default() };
    let mut live = Live { out: &mut out, sums: Sums::default() };
    // a sink that never breaks
    let _ = scan_forward(&run, &at, stream, &mut live);
    collect.report()
}

/// Scans a stream, which is read once.
fn scan_forward(run: &Run, at: &Locator, stream: &mut dyn ByteStream, take: &mut dyn Take) -> ControlFlow<()> {
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

fn no_threads(error: &str) -> Report {
    let diagnostic = Diagnostic::new(Code::Unreadable, Locator::default(), format!("no threads: {error}"));
    Report { diagnostics: vec![diagnostic], ..Report::default() }
}

fn collected(inputs: &[Input<'_>], options: &Options) -> Report {
    match Scanner::new(*options) {
        Ok(scanner) => scanner.report(inputs),
        Err(error) => no_threads(&error),
    }
}

/// A file to look at.
#[derive(Clone, Debug)]
struct Task {
    at: Locator,
    size: u64,
    in_directory: bool,
}

/// What was given.
struct Root {
    /// A directory.
    directory: Option<Artefact>,
    tasks: Vec<Task>,
    events: Vec<Event>,
    /// A directory holds something that was not read.
    has_unread: bool,
}

impl Root {
    fn new(input: &Input<'_>, run: &Run) -> Self {
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
        self.directory = Some(artefact(at.clone(), ArtefactKind::Directory, 0));
    }
}

/// An artefact without members.
pub(crate) fn artefact(at: Locator, kind: ArtefactKind, size: u64) -> Artefact {
    Artefact { path: at.to_string(), at, kind, size, members_without_code: 0, members: Vec::new() }
}

/// The system's words without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

/// What the files of a directory add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    size: u64,
    without: u64,
    members: u64,
    archives: u64,
    unread: bool,
}

impl Sums {
    fn add(&mut self, more: Self) {
        self.size = self.size.saturating_add(more.size);
        self.without = self.without.saturating_add(more.without);
        self.members = self.members.saturating_add(more.members);
        self.archives = self.archives.saturating_add(more.archives);
        self.unread |= more.unread;
    }
}

/// Begins and ends what was given, in its order.
struct OpenRoots<'a> {
    roots: &'a [Root],
    /// The first root that has not begun.
    next: usize,
    sums: Vec<Sums>,
}

impl OpenRoots<'_> {
    fn add(&mut self, root: usize, more: Sums) {
        if let Some(sums) = self.sums.get_mut(root) {
            sums.add(more);
        }
    }

    /// Ends the roots before `root` and begins it.
    fn up_to(&mut self, root: usize, out: &mut Out<'_>) -> ControlFlow<()> {
        while self.next <= root {
            if let Some(last) = self.next.checked_sub(1) {
                self.end(last, out)?;
            }
            if let Some(own) = self.roots.get(self.next) {
                if let Some(directory) = &own.directory {
                    out.sink.begin(directory)?;
                }
                own.events.iter().cloned().try_for_each(|event| event.send(out.sink))?;
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

/// Something for a sink, kept for its turn.
#[derive(Clone, Debug)]
enum Event {
    Begin(Artefact),
    /// Shared by all members of an artefact.
    Member(Arc<Artefact>, Box<Member>),
    Diagnostic(Diagnostic),
    Unread(Unread),
    End(Artefact),
}

impl Event {
    fn send(self, sink: &mut dyn Sink) -> ControlFlow<()> {
        match self {
            Self::Begin(artefact) => sink.begin(&artefact),
            Self::Member(artefact, member) => sink.member(&artefact, *member),
            Self::Diagnostic(diagnostic) => sink.diagnostic(diagnostic),
            Self::Unread(unread) => sink.unread(unread),
            Self::End(artefact) => sink.end(&artefact),
        }
    }
}

/// Where results go for good: the totals of the run are cut here, in the order of places.
struct Out<'a> {
    sink: &'a mut dyn Sink,
    run: &'a Run,
    committed: Used,
}

/// A result that may have to be made again with what is left of the totals.
pub(crate) trait Outcome {
    fn used(&self) -> Used;
    fn is_put_off(&self) -> bool;
}

impl Outcome for Leaf {
    fn used(&self) -> Used {
        self.used
    }

    fn is_put_off(&self) -> bool {
        self.put_off
    }
}

impl Outcome for Kept {
    fn used(&self) -> Used {
        self.used
    }

    fn is_put_off(&self) -> bool {
        self.put_off
    }
}

impl Out<'_> {
    /// The result if the totals hold it, else made again with what is left of them.
    fn committed<R: Outcome>(&mut self, result: R, again: &dyn Fn(Allowance) -> R) -> R {
        let left = Allowance::whole(self.run.limits()).after(self.committed);
        let result = if !result.is_put_off() && left.holds(result.used()) {
            result
        } else {
            self.run.release(result.used());
            drop(result);
            again(left)
        };
        self.committed.add(result.used());
        result
    }
}

/// Takes the leaves of a task as they come.
pub(crate) trait Take {
    /// What a file may use; members go on in their order where it is exact.
    fn allowance(&self) -> Allowance;
    /// Whether it is the calling thread, which hands on at once what the others make.
    fn is_live(&self) -> bool;
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()>;
    /// `again` makes the leaf once more, with what is left of the totals.
    fn leaf(&mut self, artefact: &Artefact, leaf: Leaf, again: &dyn Fn(Allowance) -> Leaf) -> ControlFlow<()>;
    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()>;
    fn sums(&mut self) -> &mut Sums;
}

/// Scans one file.
fn scan_task(run: &Run, task: &Task, input: Option<&Input<'_>>, take: &mut dyn Take) -> ControlFlow<()> {
    match input {
        Some(Input::Bytes { bytes, .. }) => scan_open(run, task, bytes, take),
        Some(Input::Source { source, .. }) => scan_open(run, task, *source, take),
        _ => scan_file(run, task, take),
    }
}

/// Scans a file of the system.
fn scan_file(run: &Run, task: &Task, take: &mut dyn Take) -> ControlFlow<()> {
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
fn loose(diagnostic: Diagnostic, take: &mut dyn Take) -> ControlFlow<()> {
    let nowhere = artefact(Locator::default(), ArtefactKind::File, 0);
    take.leaf(&nowhere, Leaf::saying(diagnostic.clone()), &|_| Leaf::saying(diagnostic.clone()))
}

/// Scans what can be read anywhere.
fn scan_open(run: &Run, task: &Task, source: &dyn Source, take: &mut dyn Take) -> ControlFlow<()> {
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

/// Hands on what comes at once.
struct Live<'a, 'out> {
    out: &'a mut Out<'out>,
    sums: Sums,
}

impl Take for Live<'_, '_> {
    fn allowance(&self) -> Allowance {
        Allowance::whole(self.out.run.limits())
    }

    fn is_live(&self) -> bool {
        true
    }

    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.out.sink.begin(artefact)
    }

    fn leaf(&mut self, artefact: &Artefact, leaf: Leaf, again: &dyn Fn(Allowance) -> Leaf) -> ControlFlow<()> {
        let leaf = self.out.committed(leaf, again);
        leaf.diagnostics.into_iter().try_for_each(|diagnostic| self.out.sink.diagnostic(diagnostic))?;
        leaf.unread.into_iter().try_for_each(|unread| self.out.sink.unread(unread))?;
        match leaf.member {
            Some(member) => self.out.sink.member(artefact, member),
            None => ControlFlow::Continue(()),
        }
    }

    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.out.sink.end(artefact)
    }

    fn sums(&mut self) -> &mut Sums {
        &mut self.sums
    }
}

/// Keeps what comes for its turn.
struct Kept {
    events: Vec<Event>,
    sums: Sums,
    allowance: Allowance,
    used: Used,
    put_off: bool,
    /// The artefact of the last member.
    shown: Option<Arc<Artefact>>,
}

impl Kept {
    fn new(allowance: Allowance) -> Self {
        let (events, sums, used) = (Vec::new(), Sums::default(), Used::default());
        Self { events, sums, allowance, used, put_off: false, shown: None }
    }
}

impl Take for Kept {
    fn allowance(&self) -> Allowance {
        if self.allowance.is_exact { self.allowance.after(self.used) } else { self.allowance }
    }

    fn is_live(&self) -> bool {
        false
    }

    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.events.push(Event::Begin(artefact.clone()));
        ControlFlow::Continue(())
    }

    fn leaf(&mut self, artefact: &Artefact, leaf: Leaf, _: &dyn Fn(Allowance) -> Leaf) -> ControlFlow<()> {
        self.put_off |= leaf.put_off;
        self.used.add(leaf.used);
        self.events.extend(leaf.diagnostics.into_iter().map(Event::Diagnostic));
        self.events.extend(leaf.unread.into_iter().map(Event::Unread));
        if let Some(member) = leaf.member {
            let shown = match &self.shown {
                Some(shown) if shown.at == artefact.at => Arc::clone(shown),
                _ => Arc::new(artefact.clone()),
            };
            self.shown = Some(Arc::clone(&shown));
            self.events.push(Event::Member(shown, Box::new(member)));
        }
        if self.put_off {
            // the whole task is done again: what it holds until then is wasted
            self.events.clear();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.events.push(Event::End(artefact.clone()));
        ControlFlow::Continue(())
    }

    fn sums(&mut self) -> &mut Sums {
        &mut self.sums
    }
}

/// Makes a report of what comes.
struct Collect {
    report: Report,
    /// Artefacts that have begun, by where they are.
    open: HashMap<Locator, usize>,
    ended: Vec<bool>,
}

impl Collect {
    fn new(options: &Options) -> Self {
        let depth = Depth { entry_functions: options.entry_functions || options.verify };
        let report = Report { depth, ..Report::default() };
        Self { report, open: HashMap::new(), ended: Vec::new() }
    }

    fn report(mut self) -> Report {
        // what was cut by a limit has begun and not ended
        let mut ended = self.ended.iter();
        self.report.artefacts.retain(|_| ended.next() == Some(&true));
        for artefact in &mut self.report.artefacts {
            artefact.members.sort_by(|a, b| (&a.path, &a.at).cmp(&(&b.path, &b.at)));
        }
        self.report.diagnostics.sort();
        self.report.unread.sort();
        self.report
    }
}

impl Sink for Collect {
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.open.insert(artefact.at.clone(), self.report.artefacts.len());
        self.report.artefacts.push(artefact.clone());
        self.ended.push(false);
        ControlFlow::Continue(())
    }

    fn member(&mut self, artefact: &Artefact, member: Member) -> ControlFlow<()> {
        let own = self.open.get(&artefact.at).and_then(|index| self.report.artefacts.get_mut(*index));
        if let Some(own) = own {
            own.members.push(member);
        }
        ControlFlow::Continue(())
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        self.report.diagnostics.push(diagnostic);
        ControlFlow::Continue(())
    }

    fn unread(&mut self, unread: Unread) -> ControlFlow<()> {
        self.report.unread.push(unread);
        ControlFlow::Continue(())
    }

    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        let Some(index) = self.open.remove(&artefact.at) else { return ControlFlow::Continue(()) };
        if let Some(ended) = self.ended.get_mut(index) {
            *ended = true;
        }
        if let Some(own) = self.report.artefacts.get_mut(index) {
            own.size = artefact.size;
            own.members_without_code = artefact.members_without_code;
            own.kind = artefact.kind;
        }
        ControlFlow::Continue(())
    }
}
