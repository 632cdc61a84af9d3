//! Whether what stays of a file is judged as all of it was.
//!
//! A verdict counts modules by the architectures that they hold, also of those that a GPU picks nothing from: with fewer images
//! a general module can look like a specialised one, and a gap like code for newer GPUs.

use gpu_arch::rules::{Device, Environment, Verdict};

use super::plan::{Edit, MemberPlan};
use crate::judge::modules::Judge;
use crate::judge::{Look, Policy, judge_member, look};
use crate::model::{Member, Module};

/// Which modules must look as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alike {
    /// None.
    Nothing,
    /// Those that one of the devices finds nothing in.
    Unserved,
    /// All.
    All,
}

/// What a file and its modules are to some devices.
pub(super) struct Looks<'a> {
    devices: &'a [Device],
    judges: Vec<Judge<'a>>,
    verdicts: Vec<Verdict>,
}

impl<'a> Looks<'a> {
    pub(super) fn new(member: &Member, devices: &'a [Device], environment: &'a Environment) -> Self {
        let judges = devices.iter().map(|device| Judge::new(device, environment, None)).collect();
        Self { devices, judges, verdicts: verdicts(member, devices) }
    }

    /// Whether a file has the verdicts that it had when it is as planned.
    pub(super) fn holds(&self, member: &Member, plan: &MemberPlan) -> bool {
        let mut after = member.clone_without_modules();
        let mut edits = plan.edits.iter().peekable();
        let mut modules: Vec<&Module> = member.modules.iter().collect();
        modules.sort_by_key(|module| module.offset);
        for module in modules {
            let edit = edits.next_if(|edit| module.object.is_none() && edit.offset == module.offset);
            after.modules.push(edit.map_or_else(|| module.clone(), |edit| only(module, &edit.kept(module))));
        }
        plan.edits.is_empty() || self.verdicts == verdicts(&after, self.devices)
    }

    /// The entries, by index, that a fatbin must keep beside those that stay so that its module looks as before: the smallest
    /// that does, or as few as it takes from the smallest on.
    pub(super) fn missing(&mut self, module: &Module, edit: &Edit, alike: Alike) -> Vec<usize> {
        if alike == Alike::Nothing || edit.dropped() == 0 {
            return Vec::new();
        }
        let wanted = self.of(module);
        if alike == Alike::Unserved && wanted.iter().all(|look| look.fits) {
            return Vec::new();
        }
        let mut edit = edit.clone();
        let mut order: Vec<usize> = (0..edit.extents.len()).collect();
        order.sort_by_key(|index| edit.extents.get(*index).map(|own| own.size));
        order.retain(|index| edit.extents.get(*index).is_some_and(|own| !own.keep));
        let mut missing = Vec::new();
        while !order.is_empty() && self.of(&only(module, &edit.kept(module))) != wanted {
            let enough = order.iter().copied().find(|index| {
                let own = with(&edit, *index);
                self.of(&only(module, &own.kept(module))) == wanted
            });
            let Some(next) = enough.or_else(|| order.first().copied()) else { break };
            edit = with(&edit, next);
            order.retain(|index| *index != next);
            missing.push(next);
        }
        missing
    }

    fn of(&mut self, module: &Module) -> Vec<Look> {
        self.judges.iter_mut().map(|judge| look(module, judge)).collect()
    }
}

/// The same with one entry more.
fn with(edit: &Edit, index: usize) -> Edit {
    let mut edit = edit.clone();
    if let Some(own) = edit.extents.get_mut(index) {
        own.keep = true;
    }
    edit
}

/// A module with some of its images.
fn only(module: &Module, kept: &[usize]) -> Module {
    let images = kept.iter().filter_map(|index| module.images.get(*index)).cloned().collect();
    Module { images, ..module.clone() }
}

fn verdicts(member: &Member, devices: &[Device]) -> Vec<Verdict> {
    let judged = judge_member(member, devices, &Policy::default());
    judged.verdicts.iter().map(|own| own.verdict).collect()
}
