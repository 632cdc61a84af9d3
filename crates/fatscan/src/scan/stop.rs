//! The end of a scan from outside.

use core::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Sink;
use crate::diagnostic::Diagnostic;
use crate::model::{Artefact, Member, Unread};

/// Ends scans from outside, from any thread. What was delivered by then is what stands before some place, as if the sink
/// had said `Break`.
///
/// ```
/// use fatscan_core::{Input, Options, Scanner, Stop};
/// let stop = Stop::default();
/// let scanner = Scanner::new(Options::new()).unwrap().stopped_by(&stop);
/// stop.stop();
/// let inputs = [Input::Bytes { name: "a.so", bytes: b"" }];
/// assert!(scanner.collect(&inputs).is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop {
    is_set: Arc<AtomicBool>,
}

impl Stop {
    /// Ends all scans that it was given to, now and later.
    pub fn stop(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    pub(super) fn flow(&self) -> ControlFlow<()> {
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A sink that hears nothing more once it is stopped: what comes then may be cut.
pub(super) struct Until<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) stop: &'a Stop,
}

impl Sink for Until<'_> {
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.stop.flow()?;
        self.sink.begin(artefact)
    }

    fn member(&mut self, artefact: &Artefact, member: Member) -> ControlFlow<()> {
        self.stop.flow()?;
        self.sink.member(artefact, member)
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        self.stop.flow()?;
        self.sink.diagnostic(diagnostic)
    }

    fn unread(&mut self, unread: Unread) -> ControlFlow<()> {
        self.stop.flow()?;
        self.sink.unread(unread)
    }

    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.stop.flow()?;
        self.sink.end(artefact)
    }
}
