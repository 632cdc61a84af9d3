//! Whether what was written is what was planned: it is read and judged again.

use std::collections::HashMap;
use std::path::Path;

use fatscan_containers::{Windows, Zip, open_file};
use gpu_arch::rules::{Code, Device, Environment, select};

use super::plan::{Edit, MemberPlan, Planner};
use super::rewrite::{Seal, seal_of};
use super::{SlimError, Written, index_of, open_member, whole};
use crate::judge::modules::code;
use crate::judge::{Policy, judge};
use crate::model::{Artefact, ArtefactKind, Image, Member, Module, Report};
use crate::options::Options;
use crate::scan::{Input, Scanner};

/// Compares an artefact with what was written of it to `path`. Whatever was not to change did not; of each fatbin that was
/// planned those images are there that stay, in their order, with the bytes that they had; and each device picks with every driver
/// what it picked before, of every module. Verdicts of files and of the whole are equal.
///
/// # Errors
/// [`SlimError::Differs`] with the first difference.
pub fn prove(
    scanner: &Scanner,
    options: &Options,
    before: &Artefact,
    plans: &[MemberPlan],
    planner: &Planner<'_>,
    written: &Written,
    path: &Path,
) -> Result<Report, SlimError> {
    let differs = |what: String| Err(SlimError::Differs(what));
    let report = scanner.report(&[Input::Path(path)]);
    let [after] = report.artefacts.as_slice() else {
        return differs(format!("{} artefacts are read", report.artefacts.len()));
    };
    if before.members.len() != after.members.len() || before.members_without_code != after.members_without_code {
        return differs("other files are read".to_owned());
    }
    let mut picks = Picks { devices: planner.devices(), known: HashMap::new() };
    for ((old, new), plan) in before.members.iter().zip(&after.members).zip(plans) {
        // a single file has the name that was written to
        if before.kind != ArtefactKind::File && old.path != new.path {
            return differs(format!("`{}` is read instead of `{}`", new.path, old.path));
        }
        if let Err(what) = same_member(old, new, plan, &mut picks) {
            return differs(format!("`{}`: {what}", old.path));
        }
    }
    sealed(options, after, plans, written, path)?;
    if planner.targets().is_empty() {
        // code was named and no device: nobody's verdict is to stay
        return Ok(report);
    }
    let own = |artefact: &Artefact| {
        let report = Report { artefacts: vec![artefact.clone()], depth: report.depth, ..Report::default() };
        let judgement = judge(&report, planner.targets(), &Policy::default());
        judgement.map_err(|error| SlimError::Differs(error.to_string()))
    };
    let (old, new) = (own(before)?, own(after)?);
    for (old, new) in old.artefacts.iter().zip(&new.artefacts) {
        let whole =
            old.verdicts.iter().map(|own| own.verdict.verdict).zip(new.verdicts.iter().map(|own| own.verdict.verdict));
        let members =
            old.members.iter().zip(&new.members).flat_map(|(old, new)| old.verdicts.iter().zip(&new.verdicts));
        let members = members.map(|(old, new)| (old.verdict, new.verdict));
        if let Some((old, new)) = whole.chain(members).find(|(old, new)| old != new) {
            return differs(format!("a verdict was {} and is {}", old.as_str(), new.as_str()));
        }
    }
    Ok(report)
}

/// What stays has the bytes that it had.
fn sealed(
    options: &Options,
    after: &Artefact,
    plans: &[MemberPlan],
    written: &Written,
    path: &Path,
) -> Result<(), SlimError> {
    let Some(source) = open_file(path, options.mapping, 0, |_| true)? else { return Ok(()) };
    let limits = &options.limits;
    let windows = Windows::new(limits.window_bytes, 1, true);
    let zip = (after.kind != ArtefactKind::File).then(|| Zip::list(&source, limits));
    for ((member, plan), seal) in after.members.iter().zip(plans).zip(&written.seals) {
        let Some(seal) = seal else { continue };
        let own: Seal = match (&zip, index_of(member)) {
            (Some(zip), Some(index)) => {
                let Some(found) = zip.members.get(index) else {
                    return Err(SlimError::Differs(format!("`{}` is not found again", member.path)));
                };
                seal_of(&mut *open_member(&source, found, limits, &windows)?, &plan.edits)?
            }
            _ => seal_of(&mut *whole(&source), &plan.edits)?,
        };
        if own != *seal {
            return Err(SlimError::Differs(format!("`{}`: bytes that stay are other ones", member.path)));
        }
    }
    Ok(())
}

fn same_member(old: &Member, new: &Member, plan: &MemberPlan, picks: &mut Picks<'_>) -> Result<(), String> {
    let size = old.size.saturating_sub(plan.cut_bytes());
    if (old.format, old.machine, old.runtime, size) != (new.format, new.machine, new.runtime, new.size) {
        return Err("format, machine, runtime or size changed".to_owned());
    }
    if old.modules.len() != new.modules.len() || old.empty_fatbins != new.empty_fatbins {
        return Err(format!("{} modules became {}", old.modules.len(), new.modules.len()));
    }
    let edits: HashMap<u64, &Edit> = plan.edits.iter().map(|edit| (edit.offset, edit)).collect();
    for (old, new) in old.modules.iter().zip(&new.modules) {
        let edit = edits.get(&old.offset).filter(|_| old.object.is_none());
        let stays = edit.map(|edit| edit.kept(old)).unwrap_or_else(|| (0..old.images.len()).collect());
        let about = |module: &Module| {
            let object = module.object.as_ref().map(|object| (object.name.clone(), object.base));
            (module.offset, module.source, module.wrapped, module.mapped, module.section.clone(), object)
        };
        if about(old) != about(new) || stays.len() != new.images.len() {
            return Err(format!("the module at {:#x} is another one", old.offset));
        }
        let pairs = stays.iter().filter_map(|index| old.images.get(*index)).zip(&new.images);
        if pairs.into_iter().any(|(old, new)| Image { offset: 0, ..old.clone() } != Image { offset: 0, ..new.clone() })
        {
            return Err(format!("an image of the module at {:#x} is another one", old.offset));
        }
        let mapped = |index: usize| stays.iter().position(|own| *own == index);
        if !picks.same(old, new, &mapped) {
            return Err(format!("a device picks another image of the module at {:#x}", old.offset));
        }
    }
    Ok(())
}

/// What devices pick of a set of images, by index.
struct Picks<'a> {
    devices: &'a [Device],
    known: HashMap<Vec<Code>, Vec<Option<usize>>>,
}

impl Picks<'_> {
    fn of(&mut self, module: &Module) -> Vec<Option<usize>> {
        let (mut codes, mut places) = (Vec::new(), Vec::new());
        for (index, image) in module.images.iter().enumerate() {
            if let Some(code) = code(module.source, image) {
                codes.push(code);
                places.push(index);
            }
        }
        let devices = self.devices;
        let environment = Environment::default();
        let own = self.known.entry(codes.clone());
        let own = own.or_insert_with(|| devices.iter().map(|device| select(&codes, device, &environment)).collect());
        own.iter().map(|pick| pick.and_then(|index| places.get(index).copied())).collect()
    }

    fn same(&mut self, old: &Module, new: &Module, mapped: &dyn Fn(usize) -> Option<usize>) -> bool {
        let (old, new) = (self.of(old), self.of(new));
        old.iter().zip(&new).all(|(old, new)| match old {
            Some(index) => mapped(*index).is_some_and(|index| Some(index) == *new),
            None => new.is_none(),
        })
    }
}
