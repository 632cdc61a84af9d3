//! Work on a thread of its own: Python waits for it in short steps, so that it hears of signals and of other threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use fatscan_core::{Progress, Stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::tasks::Report;

/// What a job has to tell.
pub(crate) enum Event {
    /// A member: path of its artefact, the member as JSON.
    Member(String, Vec<u8>),
    /// The end of a scan.
    Report(Box<Report>),
    /// The end of something else: a document as JSON.
    Document(Vec<u8>),
    /// It was stopped.
    Stopped,
    /// It gave up.
    Failed(Failure),
    /// A file object raised this.
    Raised(PyErr),
}

/// Why something cannot be done.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Its kind, which makes the class of the exception.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), hint: None }
    }

    pub(crate) fn with_hint(kind: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, text: text.into(), hint: Some(hint.into()) }
    }
}

/// Events that wait for Python at most.
const WAITING: usize = 64;
/// Between two looks whether there is room for an event.
const TICK: Duration = Duration::from_millis(1);

/// Work that goes on.
#[pyclass(frozen)]
pub(crate) struct Job {
    events: Mutex<Option<Receiver<Event>>>,
    progress: Progress,
    stop: Stop,
}

/// Where a job tells what it has.
#[derive(Clone)]
pub(crate) struct Teller {
    events: SyncSender<Event>,
    stop: Stop,
}

impl Teller {
    /// Tells it, as soon as there is room; `false` where nobody listens any more.
    pub(crate) fn tell(&self, event: Event) -> bool {
        let mut event = event;
        loop {
            match self.events.try_send(event) {
                Ok(()) => return true,
                Err(TrySendError::Disconnected(_)) => return false,
                Err(TrySendError::Full(back)) => event = back,
            }
            if self.stop.is_stopped() {
                return false;
            }
            thread::sleep(TICK);
        }
    }
}

impl Job {
    /// Starts `work`, which ends with the last event.
    pub(crate) fn start(
        stop: Stop,
        progress: Progress,
        work: impl FnOnce(&Teller) -> Event + Send + 'static,
    ) -> PyResult<Self> {
        let (events, receiver) = sync_channel(WAITING);
        let teller = Teller { events, stop: stop.clone() };
        let run = move || {
            let last = catch_unwind(AssertUnwindSafe(|| work(&teller)));
            let last =
                last.unwrap_or_else(|_| Event::Failed(Failure::new("internal", "fatscan met a defect of its own")));
            // nobody may listen any more
            let _ = teller.tell(last);
        };
        let started = thread::Builder::new().name("fatscan".to_owned()).spawn(run);
        started.map_err(|error| PyRuntimeError::new_err(format!("no threads: {error}")))?;
        Ok(Self { events: Mutex::new(Some(receiver)), progress, stop })
    }

    fn wait(&self, seconds: f64) -> Option<Event> {
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        // who stopped it has taken them
        let Some(events) = events.as_ref() else { return Some(Event::Stopped) };
        match events.recv_timeout(time) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            // a thread that is gone has told its end, or nobody was to hear it
            Err(RecvTimeoutError::Disconnected) => Some(Event::Stopped),
        }
    }
}

#[pymethods]
impl Job {
    /// The next event, `(kind, value, text)`, or `None` where there is none within the time.
    fn next<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(event) = py.detach(|| self.wait(seconds)) else { return Ok(None) };
        let none = || py.None();
        let tuple = match event {
            Event::Member(artefact, json) => ("member", PyBytes::new(py, &json).into_any().unbind(), artefact),
            Event::Report(report) => ("report", Py::new(py, *report)?.into_any(), String::new()),
            Event::Document(json) => ("document", PyBytes::new(py, &json).into_any().unbind(), String::new()),
            Event::Stopped => ("stopped", none(), String::new()),
            Event::Failed(Failure { kind, text, hint }) => (kind, hint.into_pyobject(py)?.into_any().unbind(), text),
            Event::Raised(error) => return Err(error),
        };
        Ok(Some(tuple.into_pyobject(py)?.into_any()))
    }

    /// Bytes looked at, and those known so far that have to be.
    fn progress(&self) -> (u64, u64) {
        (self.progress.done(), self.progress.total())
    }

    /// Ends it, and waits for that as long.
    fn stop(&self, py: Python<'_>, seconds: f64) {
        self.stop.stop();
        py.detach(|| {
            let end = std::time::Instant::now().checked_add(Duration::try_from_secs_f64(seconds).unwrap_or_default());
            while end.is_some_and(|end| std::time::Instant::now() < end) {
                match self.wait(0.01) {
                    None | Some(Event::Member(..)) => {}
                    Some(_) => break,
                }
            }
            // who still tells something hears that nobody listens
            self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        });
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop.stop();
    }
}
