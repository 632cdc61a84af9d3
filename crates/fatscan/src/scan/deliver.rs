//! Results on their way to a sink: at once, or kept for their turn; the totals of a run are cut here.

use core::ops::ControlFlow;
use std::sync::Arc;

use super::Sink;
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::finder::Hidden;
use crate::locator::Locator;
use crate::model::{Artefact, Member, Unread};
use crate::object::Leaf;
use crate::run::{Allowance, Run, Used};

/// What the files of a directory add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(super) size: u64,
    pub(super) without: u64,
    pub(super) members: u64,
    pub(super) archives: u64,
    pub(super) unread: bool,
    /// An error was said of one.
    pub(super) damaged: bool,
}

impl Sums {
    pub(super) fn add(&mut self, more: Self) {
        self.size = self.size.saturating_add(more.size);
        self.without = self.without.saturating_add(more.without);
        self.members = self.members.saturating_add(more.members);
        self.archives = self.archives.saturating_add(more.archives);
        self.unread |= more.unread;
        self.damaged |= more.damaged;
    }
}

/// Something for a sink, kept for its turn.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Begin(Artefact),
    /// Shared by all members of an artefact.
    Member(Arc<Artefact>, Box<Member>),
    Diagnostic(Diagnostic),
    Unread(Unread),
    End(Artefact),
}

/// How many times the diagnostics of a file a run shows.
const FILES: usize = 1000;

/// How many diagnostics a run has shown, and those beyond its limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    shown: usize,
    hidden: Hidden,
}

impl Said {
    /// Whether a diagnostic is shown; else it is counted.
    fn shows(&mut self, run: &Run, level: Level) -> bool {
        let limit = run.limits().diagnostics.saturating_mul(FILES);
        // errors may take as much room again
        let room = if level == Level::Error { limit.saturating_mul(2) } else { limit };
        let shows = self.shown < room;
        if shows {
            self.shown = self.shown.saturating_add(1);
        } else {
            self.hidden.count(level);
        }
        shows
    }
}

/// Where results go for good: the totals of the run are cut here, in the order of places.
pub(super) struct Out<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) run: &'a Run,
    pub(super) committed: Used,
    pub(super) said: Said,
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

impl Outcome for Kept<'_> {
    fn used(&self) -> Used {
        self.used
    }

    fn is_put_off(&self) -> bool {
        self.put_off
    }
}

impl<'a> Out<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink, run: &'a Run) -> Self {
        Self { sink, run, committed: Used::default(), said: Said::default() }
    }

    pub(super) fn event(&mut self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Begin(artefact) => self.sink.begin(&artefact),
            Event::Member(artefact, member) => self.sink.member(&artefact, *member),
            Event::Diagnostic(diagnostic) => self.diagnostic(diagnostic),
            Event::Unread(unread) => self.sink.unread(unread),
            Event::End(artefact) => self.sink.end(&artefact),
        }
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        if self.said.shows(self.run, diagnostic.level) {
            return self.sink.diagnostic(diagnostic);
        }
        ControlFlow::Continue(())
    }

    /// What a task has kept.
    pub(super) fn kept(&mut self, kept: Kept<'_>) -> ControlFlow<()> {
        kept.events.into_iter().try_for_each(|event| self.event(event))?;
        self.said.hidden.add(kept.said.hidden);
        ControlFlow::Continue(())
    }

    /// Says at the end how many diagnostics were not shown; `at` is what was given.
    pub(super) fn close(&mut self, at: Locator) -> ControlFlow<()> {
        let Hidden { number, gravest } = self.said.hidden;
        let Some(level) = gravest else { return ControlFlow::Continue(()) };
        let diagnostic = Diagnostic::new(Code::LimitDiagnostics, at, format!("{number} more of all files"));
        self.sink.diagnostic(diagnostic.weighed(level))
    }

    /// The result if the totals hold it, else made again with what is left of them.
    pub(super) fn committed<R: Outcome>(&mut self, result: R, again: &dyn Fn(Allowance) -> R) -> R {
        let left = Allowance::whole(self.run.limits()).after(self.committed);
        let result = if !result.is_put_off() && left.holds(result.used()) {
            result
        } else {
            self.run.release(result.used());
            drop(result);
            self.run.forget_names();
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
    /// What a file may use that is read now, and never again: exact where all before it is delivered.
    fn forward(&self) -> Allowance {
        self.allowance()
    }
    /// Whether it is the calling thread, which hands on at once what the others make.
    fn is_live(&self) -> bool;
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()>;
    /// `again` makes the leaf once more, with what is left of the totals.
    fn leaf(&mut self, artefact: &Artefact, leaf: Leaf, again: &dyn Fn(Allowance) -> Leaf) -> ControlFlow<()>;
    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()>;
    fn sums(&mut self) -> &mut Sums;
}

/// Hands on what comes at once.
pub(super) struct Live<'a, 'out> {
    pub(super) out: &'a mut Out<'out>,
    pub(super) sums: Sums,
}

impl Take for Live<'_, '_> {
    fn allowance(&self) -> Allowance {
        Allowance::whole(self.out.run.limits())
    }

    fn forward(&self) -> Allowance {
        self.allowance().after(self.out.committed)
    }

    fn is_live(&self) -> bool {
        true
    }

    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.out.sink.begin(artefact)
    }

    fn leaf(&mut self, artefact: &Artefact, leaf: Leaf, again: &dyn Fn(Allowance) -> Leaf) -> ControlFlow<()> {
        let leaf = self.out.committed(leaf, again);
        self.sums.damaged |= leaf.is_damaged();
        leaf.diagnostics.into_iter().try_for_each(|diagnostic| self.out.diagnostic(diagnostic))?;
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
pub(super) struct Kept<'run> {
    run: &'run Run,
    pub(super) events: Vec<Event>,
    pub(super) sums: Sums,
    pub(super) allowance: Allowance,
    pub(super) used: Used,
    pub(super) put_off: bool,
    said: Said,
    /// The artefact of the last member.
    pub(super) shown: Option<Arc<Artefact>>,
}

impl<'run> Kept<'run> {
    pub(super) fn new(run: &'run Run, allowance: Allowance) -> Self {
        let (events, sums, used) = (Vec::new(), Sums::default(), Used::default());
        Self { run, events, sums, allowance, used, put_off: false, said: Said::default(), shown: None }
    }
}

impl Take for Kept<'_> {
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
        self.sums.damaged |= leaf.is_damaged();
        let (run, said) = (self.run, &mut self.said);
        let shown = leaf.diagnostics.into_iter().filter(|diagnostic| said.shows(run, diagnostic.level));
        self.events.extend(shown.map(Event::Diagnostic));
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
            self.events = Vec::new();
            self.said = Said::default();
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
