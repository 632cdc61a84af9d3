//! How the modules of a member add up.

use std::collections::BTreeMap;

use gpu_arch::rules::{Coverage, Device, ModuleVerdict, Reason, ReasonCode, Verdict};

use super::classify::{Class, NotCounted, classify};
use super::dispatchers::is_dispatcher;
use super::modules::Judge;
use super::{Load, MemberJudgement, MemberVerdict, Policy, runtime};
use crate::model::{CodeKind, Image, Member, Module};

/// One module that counts, judged.
struct Judged<'m> {
    index: usize,
    module: &'m Module,
    verdict: ModuleVerdict,
    picked: Option<&'m Image>,
}

impl Judged<'_> {
    const fn is_usable(&self) -> bool {
        self.verdict.verdict.is_usable()
    }

    fn fits(&self) -> bool {
        self.verdict.coverage == Coverage::Yes
    }
}

pub(super) fn judge(member: &Member, devices: &[Device], policy: &Policy) -> MemberJudgement {
    let classes: Vec<Class> = member.modules.iter().map(classify).collect();
    let number = |class| classes.iter().filter(|own| **own == class).count();
    let not_counted = NotCounted {
        stub: number(Class::Stub),
        relocatable: number(Class::Relocatable),
        lto: number(Class::Lto),
        empty: usize::try_from(member.empty_fatbins).unwrap_or(usize::MAX),
        other: number(Class::Other),
        unmapped: number(Class::Unmapped),
    };
    let dispatches = is_dispatcher(&member.path, &policy.dispatchers);
    let runtime = runtime::major(member);
    let verdicts = devices.iter().map(|device| {
        let mut judge = Judge::new(device, &policy.environment, runtime);
        let mut of = |wanted: &[Class]| -> Vec<Judged<'_>> {
            let counted = member.modules.iter().zip(&classes).enumerate();
            let counted = counted.filter(|(_, (_, class))| wanted.contains(class));
            counted
                .map(|(index, (module, _))| {
                    let (verdict, picked) = judge.module(module);
                    Judged { index, module, verdict, picked }
                })
                .collect()
        };
        if dispatches {
            return dispatcher(of(&[Class::General, Class::Specialised]), &not_counted);
        }
        let (general, specialised) = (of(&[Class::General]), of(&[Class::Specialised]));
        match (general.is_empty(), specialised.is_empty()) {
            (true, true) => nothing(&not_counted),
            (true, false) => only_specialised(specialised, device),
            (false, _) => all_of(general, &specialised),
        }
    });
    let counted = number(Class::General).saturating_add(number(Class::Specialised));
    MemberJudgement {
        verdicts: verdicts.collect(),
        not_counted,
        decides: number(Class::General) > 0 || (dispatches && counted > 0),
    }
}

/// Nothing counts: the first reason that fits.
fn nothing(not_counted: &NotCounted) -> MemberVerdict {
    let (code, text) = if not_counted.relocatable > 0 {
        let text = "all device code here is input of a device link, and no linked code is beside it";
        (ReasonCode::RelocatableOnly, text)
    } else if not_counted.lto > 0 {
        (ReasonCode::LtoOnly, "there is only LTO-IR, which no driver loads")
    } else if not_counted.stub > 0 {
        (ReasonCode::StubsOnly, "there are only modules without kernels")
    } else if not_counted.other > 0 {
        (ReasonCode::OtherVendor, "there is only device code for GPUs of another vendor")
    } else if not_counted.unmapped > 0 {
        (ReasonCode::None_, "device code lies only where no program that loads the file has it in memory")
    } else {
        (ReasonCode::None_, "there is no device code")
    };
    MemberVerdict {
        verdict: Verdict::NoDeviceCode,
        modules: 0,
        modules_ok: 0,
        modules_fit: 0,
        specialised: 0,
        specialised_ok: 0,
        loads: Vec::new(),
        reasons: vec![Reason::new(code, None, text)],
        needs_driver: None,
        failing: Vec::new(),
    }
}

/// All general modules decide; the specialised are reported beside.
fn all_of(general: Vec<Judged<'_>>, specialised: &[Judged<'_>]) -> MemberVerdict {
    let mut verdict = tally(&general, general.iter().chain(specialised));
    verdict.specialised = specialised.len();
    verdict.specialised_ok = specialised.iter().filter(|judged| judged.is_usable()).count();
    verdict.verdict = combine(general.iter().map(|judged| judged.verdict.verdict));
    verdict
}

/// Several modules that are all needed: the laws of `docs/VERDICTS.md`, "Member".
fn combine(verdicts: impl Iterator<Item = Verdict> + Clone) -> Verdict {
    let all = |allowed: &[Verdict]| verdicts.clone().all(|verdict| allowed.contains(&verdict));
    let any = |wanted: &[Verdict]| verdicts.clone().any(|verdict| wanted.contains(&verdict));
    if all(&[Verdict::Native]) {
        Verdict::Native
    } else if all(&[Verdict::Native, Verdict::Jit]) {
        Verdict::Jit
    } else if all(&[Verdict::Native, Verdict::Jit, Verdict::DriverTooOld]) {
        Verdict::DriverTooOld
    } else if any(&[Verdict::Native, Verdict::Jit, Verdict::DriverTooOld]) {
        Verdict::Partial
    } else if any(&[Verdict::Unknown]) {
        Verdict::Unknown
    } else {
        Verdict::NotCovered
    }
}

/// A library that picks among overlapping modules by itself: one that loads is enough.
fn dispatcher(modules: Vec<Judged<'_>>, not_counted: &NotCounted) -> MemberVerdict {
    if modules.is_empty() {
        return nothing(not_counted);
    }
    let mut verdict = tally(&modules, modules.iter());
    verdict.verdict = best(modules.iter());
    if verdict.verdict.is_usable() && verdict.modules_ok < verdict.modules {
        let text = format!(
            "{} of {} modules load on this GPU; the library picks among them by itself",
            verdict.modules_ok, verdict.modules
        );
        verdict.hold_to_those_that_load(&modules);
        verdict.reasons.push(Reason::new(ReasonCode::Dispatching, None, text));
    }
    verdict
}

/// Only specialised modules: groups of one architecture each, of which the library takes one.
fn only_specialised(modules: Vec<Judged<'_>>, device: &Device) -> MemberVerdict {
    let mut verdict = tally(&modules, modules.iter());
    verdict.verdict = combine(modules.iter().map(|judged| judged.verdict.verdict));
    if verdict.verdict != Verdict::Partial {
        return verdict;
    }
    let mut groups: BTreeMap<Vec<u32>, Vec<&Judged<'_>>> = BTreeMap::new();
    for judged in &modules {
        groups.entry(numbers(judged.module)).or_default().push(judged);
    }
    let largest = groups.values().map(Vec::len).max().unwrap_or(0);
    let usable = |group: &&Vec<&Judged<'_>>| group.iter().all(|judged| judged.is_usable());
    let is_native = |group: &Vec<&Judged<'_>>| group.iter().all(|judged| judged.verdict.verdict == Verdict::Native);
    let Some(group) = groups.values().filter(usable).max_by_key(|group| (group.len(), is_native(group))) else {
        // none loads now; where one would with a newer driver, that is what to say
        let waits = groups.values().any(|group| group.iter().all(|one| one.verdict.verdict == Verdict::DriverTooOld));
        if waits {
            verdict.verdict = Verdict::DriverTooOld;
        }
        return verdict;
    };
    if group.len().saturating_mul(2) >= largest {
        verdict.verdict = if is_native(group) { Verdict::Native } else { Verdict::Jit };
        let text = format!(
            "{} of {} modules are for this GPU ({}); the others are for other architectures",
            group.len(),
            modules.len(),
            device.capability
        );
        verdict.hold_to_those_that_load(&modules);
        verdict.reasons.push(Reason::new(ReasonCode::ArchSplit, None, text));
    }
    verdict
}

/// Architecture numbers of a module, sorted.
fn numbers(module: &Module) -> Vec<u32> {
    let images = module.images.iter().filter(|image| image.kind != CodeKind::LtoIr);
    let mut numbers: Vec<u32> = images.filter_map(|image| image.arch).map(gpu_arch::Arch::number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The best verdict of several modules of which one is enough.
fn best<'m>(modules: impl Iterator<Item = &'m Judged<'m>>) -> Verdict {
    modules.map(|judged| judged.verdict.verdict).min().unwrap_or(Verdict::NotCovered)
}

impl MemberVerdict {
    /// Where some modules are enough, those that fail are no reason, and only the conditions of modules with the verdict
    /// itself count: a single PTX among native code asks nothing of the driver.
    fn hold_to_those_that_load(&mut self, modules: &[Judged<'_>]) {
        let own = || modules.iter().filter(|judged| judged.verdict.verdict == self.verdict);
        let mut reasons: Vec<Reason> = Vec::new();
        for reason in own().flat_map(|judged| &judged.verdict.reasons) {
            if !reasons.iter().any(|known| known.code == reason.code) {
                reasons.push(reason.clone());
            }
        }
        reasons.sort_by_key(|reason| reason.code.rank());
        self.needs_driver = own().filter_map(|judged| judged.verdict.needs_driver).max();
        self.reasons = reasons;
        self.failing.clear();
    }
}

/// Counts, loads and reasons; the verdict itself is for the caller to set. `deciding` give the reasons, `all` the loads.
fn tally<'m>(deciding: &[Judged<'m>], all: impl Iterator<Item = &'m Judged<'m>>) -> MemberVerdict {
    let mut loads = BTreeMap::new();
    for image in all.filter(|judged| judged.is_usable()).filter_map(|judged| judged.picked) {
        if let Some(arch) = image.arch {
            let isa = image.version.filter(|_| image.kind == CodeKind::Ptx);
            let count: &mut usize = loads.entry((image.kind, arch, isa)).or_default();
            *count = count.saturating_add(1);
        }
    }
    let failing = deciding.iter().filter(|judged| !judged.is_usable());
    MemberVerdict {
        verdict: Verdict::NotCovered,
        modules: deciding.len(),
        modules_ok: deciding.iter().filter(|judged| judged.is_usable()).count(),
        modules_fit: deciding.iter().filter(|judged| judged.fits()).count(),
        specialised: 0,
        specialised_ok: 0,
        loads: loads.into_iter().map(|((kind, arch, isa), count)| Load { kind, arch, isa, count }).collect(),
        reasons: reasons(deciding),
        needs_driver: deciding.iter().filter_map(|judged| judged.verdict.needs_driver).max(),
        failing: failing.map(|judged| judged.index).collect(),
    }
}

/// The distinct reasons of the modules: of each code the sentence that holds for most of them, with their number where
/// it does not hold for all.
fn reasons(modules: &[Judged<'_>]) -> Vec<Reason> {
    let mut counts: Vec<(Reason, usize)> = Vec::new();
    for reason in modules.iter().flat_map(|judged| &judged.verdict.reasons) {
        match counts.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counts.push((reason.clone(), 1)),
        }
    }
    counts.sort_by_key(|(reason, count)| (reason.code.rank(), core::cmp::Reverse(*count)));
    let mut kept: Vec<Reason> = Vec::new();
    let total = modules.len();
    for (reason, count) in &counts {
        // a module's driver conditions differ by their numbers: the highest counts, and is among the reasons once
        if kept.iter().any(|other| other.code == reason.code) {
            if let Some(other) =
                kept.iter_mut().find(|other| other.code == reason.code && other.needs_driver < reason.needs_driver)
            {
                *other = of_some(reason, *count, total);
            }
            continue;
        }
        let same: usize = counts.iter().filter(|(own, _)| own.code == reason.code).map(|(_, count)| *count).sum();
        let shown = if reason.code == ReasonCode::NoImage { same } else { *count };
        kept.push(of_some(reason, shown, total));
    }
    kept
}

fn of_some(reason: &Reason, count: usize, total: usize) -> Reason {
    if count >= total {
        return reason.clone();
    }
    Reason { text: format!("{count} of {total} modules: {}", reason.text), ..reason.clone() }
}
