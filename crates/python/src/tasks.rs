//! The functions of the module: each starts a job.

use core::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use device_probe::{Recording, Sources};
use fatscan_core::environment::{Environment, Groups, SiteKind, group, links, natives};
use fatscan_core::json::{self, Document};
use fatscan_core::{
    Artefact, Collect, Diagnostic, Judgement, KernelDepth, Level, Member, Options, Owners, Pattern, Policy, Progress,
    Scanner, Sink, Stop, Unread, deepen, wants_kernels,
};
use gpu_arch::rules::Device;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::given::Given;
use crate::job::{Event, Failure, Job, Teller};
use crate::words::{Gpus, Settings, Wanted, policy};

/// What a scan found, for more questions.
#[pyclass(frozen)]
#[derive(Clone)]
pub(crate) struct Report {
    report: Arc<fatscan_core::Report>,
    scan: Arc<Prepared>,
}

#[pymethods]
impl Report {
    /// The JSON document; with `modules` each module is listed.
    fn document<'py>(&self, py: Python<'py>, modules: bool) -> PyResult<Bound<'py, PyBytes>> {
        let json = py.detach(|| serde_json::to_vec(&Document::new(&self.report, modules)));
        json.map(|json| PyBytes::new(py, &json)).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// What to scan, and how.
struct Prepared {
    given: Vec<Given>,
    settings: Settings,
    patterns: Vec<Pattern>,
    stop: Stop,
}

/// Why a scan gives no report.
enum Ended {
    Stopped,
    Failed(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Prepared {
    fn new(given: &[Bound<'_, PyAny>], settings: Settings) -> PyResult<Result<Self, Failure>> {
        let stop = Stop::default();
        let given = given.iter().map(|own| Given::read(own, &stop)).collect::<PyResult<Vec<_>>>()?;
        Ok(settings.patterns().map(|patterns| Self { given, settings, patterns, stop }))
    }

    fn scanner(&self, options: Options, stop: &Stop, devices: &[Device]) -> Result<(Options, Scanner), Failure> {
        let options = self.settings.apply(options)?;
        let scanner = Scanner::new(options).map_err(|error| Failure::new("error", format!("no threads: {error}")))?;
        Ok((options, scanner.excluding(self.patterns.clone()).stopped_by(stop).for_devices(devices)))
    }

    /// Scans all of it.
    fn report(
        &self,
        scanner: &Scanner,
        options: &Options,
        teller: Option<&Teller>,
    ) -> Result<fatscan_core::Report, Ended> {
        let inputs: Vec<_> = self.given.iter().map(Given::input).collect();
        let mut tell = Tell { collect: Collect::new(options), teller };
        if scanner.scan(&inputs, &mut tell).is_break() {
            return Err(Ended::Stopped);
        }
        let report = tell.collect.report();
        let errors = report.diagnostics.iter().filter(|own| own.level == Level::Error);
        match errors.into_iter().next() {
            Some(error) if report.artefacts.is_empty() => {
                let text = format!("{}: {}", error.at, error.message());
                Err(Failure { kind: "unreadable", text, hint: error.hint().map(ToOwned::to_owned) }.into())
            }
            _ => Ok(report),
        }
    }

    /// Judges a report; where what loads is suspiciously small, its kernels are read too: they may be empty.
    fn judged(
        &self,
        report: &mut fatscan_core::Report,
        devices: &[Device],
        policy: &Policy,
        stop: &Stop,
        deeper: Options,
    ) -> Result<Judgement, Ended> {
        let shallow = |error: fatscan_core::TooShallow| {
            Failure::with_hint("shallow", error.to_string(), "scan with depth=\"judge\", which is the default")
        };
        let judgement = fatscan_core::judge(report, devices, policy).map_err(shallow)?;
        let suspects = wants_kernels(report, &judgement);
        if suspects.is_empty() {
            return Ok(judgement);
        }
        deepen(report, suspects, |path| self.again(path, stop, deeper))?;
        Ok(fatscan_core::judge(report, devices, policy).map_err(shallow)?)
    }

    fn again(&self, path: &Path, stop: &Stop, deeper: Options) -> Result<fatscan_core::Report, Ended> {
        let (_, scanner) = self.scanner(deeper, stop, &[])?;
        let named = self.given.iter().find(|own| own.name().is_some_and(|name| Path::new(name) == path));
        let input = named.map_or(fatscan_core::Input::Path(path), Given::input);
        scanner.collect(&[input]).ok_or(Ended::Stopped)
    }

    /// The last event, where there is none better.
    fn ended(&self, ended: Ended) -> Event {
        match self.given.iter().find_map(Given::raised) {
            Some(error) => Event::Raised(error),
            None => match ended {
                Ended::Stopped => Event::Stopped,
                Ended::Failed(failure) => Event::Failed(failure),
            },
        }
    }
}

/// Collects, and tells of members as they come.
struct Tell<'a> {
    collect: Collect,
    teller: Option<&'a Teller>,
}

impl Sink for Tell<'_> {
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.collect.begin(artefact)
    }

    fn member(&mut self, artefact: &Artefact, member: Member) -> ControlFlow<()> {
        if let Some(teller) = self.teller {
            let json = serde_json::to_vec(&json::Member::new(&member, false)).unwrap_or_default();
            if !teller.tell(Event::Member(artefact.path.clone(), json)) {
                return ControlFlow::Break(());
            }
        }
        self.collect.member(artefact, member)
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        self.collect.diagnostic(diagnostic)
    }

    fn unread(&mut self, unread: Unread) -> ControlFlow<()> {
        self.collect.unread(unread)
    }

    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.collect.end(artefact)
    }
}

fn document(document: &impl Serialize) -> Event {
    match serde_json::to_vec(document) {
        Ok(json) => Event::Document(json),
        Err(error) => Event::Failed(Failure::new("internal", error.to_string())),
    }
}

/// A job that failed before it began.
fn refused(failure: Failure) -> PyResult<Job> {
    Job::start(Stop::default(), Progress::default(), |_| Event::Failed(failure))
}

/// Scans; with `members` it tells of each as it comes.
#[pyfunction]
pub(crate) fn scan(given: Vec<Bound<'_, PyAny>>, settings: Settings, depth: &str, members: bool) -> PyResult<Job> {
    let options = match depth {
        "headers" => Options::new(),
        "judge" => Options::for_judging(),
        "check" => Options::for_checking(),
        "verify" => Options::verifying(),
        other => {
            let text = format!("depth: `{other}` is unknown");
            return refused(Failure::with_hint("argument", text, "it is headers, judge, check or verify"));
        }
    };
    let scan = match Prepared::new(&given, settings)? {
        Ok(scan) => Arc::new(scan),
        Err(failure) => return refused(failure),
    };
    let stop = scan.stop.clone();
    let (options, scanner) = match scan.scanner(options, &stop, &[]) {
        Ok(scanner) => scanner,
        Err(failure) => return refused(failure),
    };
    Job::start(stop, scanner.progress(), move |teller| {
        match scan.report(&scanner, &options, members.then_some(teller)) {
            Ok(report) => Event::Report(Box::new(Report { report: Arc::new(report), scan })),
            Err(ended) => scan.ended(ended),
        }
    })
}

/// What is judged: a report, or what is still to be scanned.
#[derive(FromPyObject)]
pub(crate) enum Target<'py> {
    Report(Bound<'py, Report>),
    Given(Vec<Bound<'py, PyAny>>),
}

/// A report that is at hand, or a scan.
enum Judged {
    Report(Report),
    Scan(Prepared),
}

/// Judges what was scanned, or scans and judges: only payloads are looked into then that a device could select, unless
/// `wants_all`.
struct Question {
    judged: Judged,
    depth: Options,
    deeper: Options,
    wants_all: bool,
    policy: Policy,
}

impl Question {
    fn new(
        target: Target<'_>,
        settings: Settings,
        (depth, deeper): (Options, Options),
        policy: Policy,
    ) -> PyResult<Result<Self, Failure>> {
        let judged = match target {
            Target::Report(report) => Judged::Report(report.get().clone()),
            Target::Given(given) => match Prepared::new(&given, settings)? {
                Ok(scan) => Judged::Scan(scan),
                Err(failure) => return Ok(Err(failure)),
            },
        };
        Ok(Ok(Self { judged, depth, deeper, wants_all: false, policy }))
    }

    /// Starts it; `answer` makes the document.
    fn start(
        self,
        devices: impl FnOnce() -> Result<Vec<Device>, Failure> + Send + 'static,
        answer: impl FnOnce(&fatscan_core::Report, &Judgement) -> Document + Send + 'static,
    ) -> PyResult<Job> {
        let stop = match &self.judged {
            Judged::Report(_) => Stop::default(),
            Judged::Scan(scan) => scan.stop.clone(),
        };
        let own = stop.clone();
        Job::start(stop, Progress::default(), move |_| {
            let devices = match devices() {
                Ok(devices) => devices,
                Err(failure) => return Event::Failed(failure),
            };
            let scan = match &self.judged {
                Judged::Report(report) => &*report.scan,
                Judged::Scan(scan) => scan,
            };
            let judged = || {
                let mut report = match &self.judged {
                    Judged::Report(report) => (*report.report).clone(),
                    Judged::Scan(scan) => {
                        let selected = if self.wants_all { &[] } else { devices.as_slice() };
                        let (options, scanner) = scan.scanner(self.depth, &own, selected)?;
                        scan.report(&scanner, &options, None)?
                    }
                };
                let judgement = scan.judged(&mut report, &devices, &self.policy, &own, self.deeper)?;
                Ok((report, judgement))
            };
            match judged() {
                Ok((report, judgement)) => document(&answer(&report, &judgement)),
                Err(ended) => scan.ended(ended),
            }
        })
    }
}

/// Judges for GPUs.
#[pyfunction]
pub(crate) fn judge(target: Target<'_>, settings: Settings, gpus: Gpus, alternatives: bool) -> PyResult<Job> {
    let depths = (Options::for_judging(), Options::for_judging().with_kernels(KernelDepth::Names));
    match Question::new(target, settings, depths, policy(alternatives, true))? {
        Ok(question) => question.start(
            move || gpus.devices(),
            |report, judgement| {
                Document::judged(report, judgement, false).with_remedies(report, judgement, &Owners::find(report))
            },
        ),
        Err(failure) => refused(failure),
    }
}

/// Checks against demands.
#[pyfunction]
pub(crate) fn check(
    target: Target<'_>,
    settings: Settings,
    gpus: Gpus,
    wanted: Wanted,
    alternatives: bool,
) -> PyResult<Job> {
    let demands = match wanted.demands() {
        Ok(demands) => demands,
        Err(failure) => return refused(failure),
    };
    let depths = (Options::for_checking(), Options::for_checking().with_kernels(KernelDepth::Names));
    match Question::new(target, settings, depths, policy(alternatives, false))? {
        Ok(mut question) => {
            question.wants_all = !demands.contains.is_empty() || demands.strict;
            question.start(
                move || if wanted.runs() { gpus.devices() } else { Ok(Vec::new()) },
                move |report, judgement| {
                    let outcome = fatscan_core::check::check(report, judgement, &demands);
                    let document = Document::checked(report, judgement, &outcome);
                    document.with_remedies(report, judgement, &Owners::find(report))
                },
            )
        }
        Err(failure) => refused(failure),
    }
}

/// Where an environment is.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Place {
    path: Option<PathBuf>,
    /// Of this interpreter: its program, prefix, version, its own directories of packages, that of the user.
    program: PathBuf,
    prefix: PathBuf,
    version: String,
    sites: Vec<PathBuf>,
    user: Vec<PathBuf>,
}

impl Place {
    fn find(&self) -> Result<Environment, Failure> {
        let Some(path) = &self.path else {
            let found = "of this interpreter";
            let sites = self.user.iter().map(|site| (site.clone(), SiteKind::User));
            let sites: Vec<_> = sites.chain(self.sites.iter().map(|site| (site.clone(), SiteKind::Own))).collect();
            let by_layout = Environment::of_interpreter(&self.program, found);
            let by_asking = || Environment::of_sites(&self.prefix, found, Some(self.version.clone()), &sites);
            return Ok(by_layout.unwrap_or_else(by_asking));
        };
        if !path.is_dir() {
            return Err(Failure::new("no-environment", format!("`{}`: no such directory", path.display())));
        }
        Environment::of_path(path, "as given").ok_or_else(|| {
            let text = format!("`{}` is no environment of Python", path.display());
            let hint = "give the root of a venv, a conda prefix or a site-packages directory";
            Failure::with_hint("no-environment", text, hint)
        })
    }
}

/// Reads, scans and judges an environment, one artefact a distribution.
#[pyfunction]
pub(crate) fn environment(place: Place, settings: Settings, gpus: Gpus) -> PyResult<Job> {
    let (stop, depth) = (Stop::default(), Options::for_judging());
    let patterns = match settings.patterns() {
        Ok(patterns) => patterns,
        Err(failure) => return refused(failure),
    };
    let mut scan = Prepared { given: Vec::new(), settings, patterns, stop: stop.clone() };
    Job::start(stop.clone(), Progress::default(), move |_| {
        let mut seen = || -> Result<Document, Ended> {
            let mut environment = place.find()?;
            let devices = gpus.devices()?;
            environment.read();
            scan.given = environment.inputs().into_iter().map(Given::Path).collect();
            let (options, scanner) = scan.scanner(depth, &stop, &devices)?;
            let (found, files) = std::thread::scope(|scope| {
                let own = environment.clone();
                let files = scope.spawn(move || natives(&own));
                let found = match scan.given.is_empty() {
                    true => Ok(fatscan_core::Report::default()),
                    false => scan.report(&scanner, &options, None),
                };
                (found, files.join().unwrap_or_default())
            });
            let mut groups: Groups = group(found?, &environment);
            let (policy, deeper) = (policy(true, true), depth.with_kernels(KernelDepth::Names));
            let judgement = scan.judged(&mut groups.report, &devices, &policy, &stop, deeper)?;
            let links = links(&environment, &files, &groups, &judgement);
            let document = Document::judged(&groups.report, &judgement, false);
            let document = document.with_remedies(&groups.report, &judgement, &groups.owners(&environment));
            Ok(document.with_environment(&environment, &groups, &judgement, &links))
        };
        match seen() {
            Ok(seen) => document(&seen),
            Err(ended) => scan.ended(ended),
        }
    })
}

/// Which GPUs and driver are here.
#[pyfunction]
pub(crate) fn devices() -> PyResult<Job> {
    Job::start(Stop::default(), Progress::default(), |_| {
        document(&Recording::of(device_probe::probe(&Sources::system())))
    })
}
