//! A report, made of what a scan delivers.

use core::ops::ControlFlow;
use std::collections::HashMap;

use super::Sink;
use crate::diagnostic::Diagnostic;
use crate::locator::Locator;
use crate::model::{Artefact, Depth, Member, Report, Unread};
use crate::options::Options;

/// Makes a report of what comes: what [`super::Scanner::report`] does, for a sink that also does something else with it.
#[derive(Debug)]
pub struct Collect {
    report: Report,
    /// Artefacts that have begun, by where they are.
    open: HashMap<Locator, usize>,
    ended: Vec<bool>,
}

impl Collect {
    /// Nothing yet, of a scan with these options.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        let depth = Depth { entry_functions: options.entry_functions || options.verify };
        let report = Report { depth, ..Report::default() };
        Self { report, open: HashMap::new(), ended: Vec::new() }
    }

    /// The report of what came.
    #[must_use]
    pub fn report(mut self) -> Report {
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
