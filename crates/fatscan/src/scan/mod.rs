//! From what was given to artefacts: a scan and who listens to it.

mod collect;
mod deepen;
mod deliver;
mod file;
mod roots;
mod stop;

use core::ops::ControlFlow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use fatscan_containers::{ByteStream, Source};
use gpu_arch::rules::Device;
use rayon::ThreadPool;

pub use self::collect::Collect;
pub use self::deepen::deepen;
pub(crate) use self::deliver::Take;
use self::deliver::{Kept, Live, Out, Sums};
use self::file::{scan_forward, scan_task};
pub(crate) use self::roots::artefact;
use self::roots::{Groupings, OpenRoots, Root, Task};
pub use self::stop::Stop;
use self::stop::Until;
use crate::diagnostic::{Code, Diagnostic};
use crate::locator::Locator;
use crate::model::{Artefact, Member, Report, Unread};
use crate::options::Options;
use crate::parallel;
use crate::pattern::Pattern;
use crate::progress::Progress;
use crate::run::{Allowance, Run};

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
    devices: Arc<[Device]>,
    excluded: Arc<[Pattern]>,
    stop: Stop,
}

impl Scanner {
    /// A scanner.
    ///
    /// # Errors
    /// The system's words where it gives no threads.
    pub fn new(options: Options) -> Result<Self, String> {
        let pool = Arc::new(parallel::pool(options.threads)?);
        let (progress, devices, excluded, stop) = Default::default();
        Ok(Self { options, progress, pool, devices, excluded, stop })
    }

    /// For these devices and no others: of the payloads that [`Options::entry_functions`] asks for, only those are looked
    /// into that one of them could select. Without devices all are.
    #[must_use]
    pub fn for_devices(self, devices: &[Device]) -> Self {
        Self { devices: devices.into(), ..self }
    }

    /// Without the files below a directory, and the members of archives, whose path there one of the patterns covers
    /// ([`Pattern::covers`]): they are not read. What is given itself stays.
    #[must_use]
    pub fn excluding(self, patterns: Vec<Pattern>) -> Self {
        Self { excluded: patterns.into(), ..self }
    }

    /// Ended by this hand, from any thread.
    #[must_use]
    pub fn stopped_by(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
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
        let run = run.for_devices(Arc::clone(&self.devices)).excluding(Arc::clone(&self.excluded));
        let run = run.stopped_by(self.stop.clone());
        let sink: &mut dyn Sink = &mut Until { sink, stop: &self.stop };
        let mut roots = Vec::new();
        let mut tasks = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            for root in Root::of(input, index, &run) {
                tasks.extend(root.tasks.iter().map(|task| (roots.len(), task.clone())));
                roots.push(root);
            }
        }
        run.progress.expect(tasks.iter().map(|(_, task)| task.size).fold(0, u64::saturating_add));
        let mut out = Out::new(sink, &run);
        let mut flow = self.deliver(&run, &roots, &tasks, inputs, &mut out);
        if flow.is_continue() {
            flow = out.close(tasks.first().map(|(_, task)| task.at.root()).unwrap_or_default());
        }
        // where it was stopped behind the last that was delivered, something may be missing behind that
        if flow.is_continue() {
            flow = self.stop.flow();
        }
        if flow.is_break() {
            run.cancel();
        }
        flow
    }

    /// Scans and collects all that comes; `None` where it was stopped.
    #[must_use]
    pub fn collect(&self, inputs: &[Input<'_>]) -> Option<Report> {
        let mut collect = Collect::new(&self.options);
        self.scan(inputs, &mut collect).is_continue().then(|| collect.report())
    }

    /// Scans and collects all that comes, which is a part where it was stopped.
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
        let mut open =
            OpenRoots { roots, next: 0, sums: vec![Sums::default(); roots.len()], groups: Groupings::default() };
        if let [(root, task)] = tasks {
            // its members are the tasks
            open.up_to(*root, out)?;
            let input = roots.get(*root).and_then(|root| inputs.get(root.input));
            let mut live = Live { out: &mut *out, sums: Sums::default() };
            scan_task(run, task, input, &mut live)?;
            let sums = live.sums;
            open.add(*root, sums);
        } else {
            let input = |root: usize| roots.get(root).and_then(|root| inputs.get(root.input));
            let work = |(root, task): &(usize, Task)| {
                let mut kept = Kept::new(run, Allowance::whole(run.limits()));
                // nothing breaks: what is kept is delivered in its turn
                let _ = scan_task(run, task, input(*root), &mut kept);
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
                        let mut kept = Kept::new(run, allowance);
                        let _ = self.pool.install(|| scan_task(run, task, input(*root), &mut kept));
                        kept
                    });
                    open.add(*root, kept.sums);
                    out.kept(kept)
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
    let mut out = Out::new(&mut collect, &run);
    let mut live = Live { out: &mut out, sums: Sums::default() };
    // a sink that never breaks
    let _ = scan_forward(&run, &at, stream, &mut live);
    let _ = out.close(at);
    collect.report()
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
