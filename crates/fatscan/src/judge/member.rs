//! How the modules of a member add up: the steps of `docs/VERDICTS.md`, "Files".

use std::collections::BTreeMap;

use gpu_arch::rules::{Coverage, Device, ModuleVerdict, Reason, ReasonCode, Verdict};

use super::classify::{Class, NotCounted, classify};
use super::limits::{self, LimitKind};
use super::modules::Judge;
use super::named::is_named;
use super::{Load, MemberJudgement, MemberVerdict, Policy, empty, relink, runtime};
use crate::model::{CodeKind, Image, Member, Module};

/// One module that counts, judged.
pub(super) struct Judged<'m> {
    pub(super) index: usize,
    pub(super) module: &'m Module,
    pub(super) class: Class,
    pub(super) verdict: ModuleVerdict,
    pub(super) picked: Option<&'m Image>,
}

impl Judged<'_> {
    const fn is_usable(&self) -> bool {
        self.verdict.verdict.is_usable()
    }

    /// Whether it loads now or with a newer driver.
    pub(super) fn fits(&self) -> bool {
        self.is_usable() || self.waits()
    }

    fn waits(&self) -> bool {
        self.verdict.verdict == Verdict::DriverTooOld && self.verdict.coverage == Coverage::Yes
    }
}

pub(crate) fn judge(member: &Member, devices: &[Device], policy: &Policy) -> MemberJudgement {
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
    let dispatches = is_named(&member.path, &policy.dispatchers);
    let runtime = runtime::major(member);
    let verdicts = devices.iter().map(|device| {
        let mut judge = Judge::new(device, &policy.environment, runtime);
        let counted = member.modules.iter().zip(&classes).enumerate();
        let counted = counted.filter(|(_, (_, class))| matches!(class, Class::General | Class::Specialised));
        let mut modules: Vec<Judged<'_>> = counted
            .map(|(index, (module, class))| {
                let (verdict, picked) = judge.module(module);
                Judged { index, module, class: *class, verdict, picked }
            })
            .collect();
        if modules.is_empty() {
            return nothing(&not_counted, member.is_bare_ir());
        }
        relink::doubt(&mut modules, member, &classes, device);
        let verdict = add_up(&modules, device, dispatches);
        match (member.machine, device.host.map(|host| host.to_string())) {
            (Some(machine), Some(host)) if machine != host => on_other_host(verdict, machine, &host),
            _ => verdict,
        }
    });
    MemberJudgement {
        verdicts: verdicts.collect(),
        not_counted,
        is_profiler: is_named(&member.path, &policy.profilers),
        dispatches,
        package: String::new(),
    }
}

/// A file that no process of the device's host loads.
fn on_other_host(verdict: MemberVerdict, machine: &str, host: &str) -> MemberVerdict {
    let text = format!("the file is for {machine} hosts, and this GPU is in a host of {host}");
    MemberVerdict {
        verdict: Verdict::NotCovered,
        reasons: vec![Reason::new(ReasonCode::HostMismatch, None, text)],
        needs_driver: None,
        limits: Vec::new(),
        optional: false,
        ..verdict
    }
}

/// Nothing counts: the first reason that fits. `bare`: the file is nothing but intermediate code.
fn nothing(not_counted: &NotCounted, bare: bool) -> MemberVerdict {
    let (code, text) = if not_counted.relocatable > 0 {
        let text = "all device code here is input of a device link, and no linked code is beside it";
        (ReasonCode::RelocatableOnly, text)
    } else if not_counted.lto > 0 && bare {
        // both begin alike
        (ReasonCode::LtoOnly, "it is LTO-IR for a linker or OptiX-IR, which OptiX compiles for the GPU")
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
        limits: Vec::new(),
        compiled: 0,
        optional: false,
    }
}

/// The steps, in their order.
fn add_up(modules: &[Judged<'_>], device: &Device, dispatches: bool) -> MemberVerdict {
    let capability = device.capability;
    let count = |wanted: &dyn Fn(&Judged<'_>) -> bool| modules.iter().filter(|judged| wanted(judged)).count();
    let general = count(&|judged| judged.class == Class::General);
    let usable = count(&|judged| judged.is_usable());
    let fitting = count(&|judged| judged.fits());
    // a dispatcher's modules are all alike
    let mut verdict = tally(modules, if dispatches { 0 } else { general });
    verdict.limits = limits::limits(modules, device);
    verdict.optional = modules.iter().all(|judged| limits::is_feature(judged, capability));
    // 1. nothing here, whatever the driver
    if fitting == 0 {
        let unknown = count(&|judged| judged.verdict.verdict == Verdict::Unknown);
        verdict.verdict = if unknown > 0 { Verdict::Unknown } else { Verdict::NotCovered };
        verdict.limits.clear();
        verdict.explain(modules, |judged| unknown == 0 || judged.verdict.verdict == Verdict::Unknown);
        return verdict;
    }
    // 2. libraries that pick among their modules
    let is_sliver = fitting.saturating_mul(SLIVER) < modules.len();
    if is_sliver && (dispatches || general == 0) {
        verdict.verdict = Verdict::Partial;
        let text = format!("only {fitting} of {} modules are for compute capability {capability}", modules.len());
        verdict.explain(modules, |judged| judged.fits());
        verdict.reasons.push(Reason::new(ReasonCode::NoImage, Some(209), text));
        verdict.reasons.sort_by_key(|reason| reason.code.rank());
        return verdict;
    }
    if dispatches {
        let word = if usable > 0 { loaded_word(modules) } else { Verdict::DriverTooOld };
        verdict.verdict = word;
        // one that loads is enough: a single PTX among native code asks nothing of the driver
        let best = modules.iter().filter(|judged| judged.fits()).map(|judged| judged.verdict.verdict).min();
        verdict.explain(modules, |judged| Some(judged.verdict.verdict) == best);
        if usable < modules.len() {
            let text = format!(
                "{usable} of {} modules load on this GPU; the library, known by its name, picks among them by itself",
                modules.len()
            );
            verdict.reasons.push(Reason::new(ReasonCode::Dispatching, None, text));
        }
        return verdict;
    }
    // 3. too much of it is missing
    let of_kind = |wanted: &[LimitKind]| {
        count(&|judged| {
            judged.class == Class::General
                && limits::kind(judged, capability).is_some_and(|kind| wanted.contains(&kind))
        })
    };
    let holes = of_kind(&[LimitKind::Older, LimitKind::Gap, LimitKind::Refused]);
    let newer = of_kind(&[LimitKind::Newer]);
    let specialised = count(&|judged| judged.class == Class::Specialised);
    let special = count(&|judged| judged.class == Class::Specialised && judged.fits());
    let is_older_set = special == 0
        && specialised.saturating_mul(2) > modules.len()
        && count(&|judged| limits::is_plain_and_older(judged, capability)) > 0;
    if holes.saturating_mul(4) > general || newer.saturating_mul(2) > general || is_older_set {
        verdict.verdict = Verdict::Partial;
        let decides = |judged: &Judged<'_>| is_older_set || general == 0 || judged.class == Class::General;
        verdict.explain(modules, decides);
        return verdict;
    }
    // 4. a module for this GPU that waits, a general one that is uncertain
    let waiting = count(&|judged| judged.waits());
    let uncertain = count(&|judged| judged.class == Class::General && judged.verdict.verdict == Verdict::Unknown);
    if waiting > 0 {
        verdict.verdict = Verdict::DriverTooOld;
        verdict.explain(modules, |judged| judged.fits());
    } else if uncertain > 0 {
        verdict.verdict = Verdict::Unknown;
        verdict.explain(modules, |judged| judged.verdict.verdict != Verdict::NotCovered);
    } else {
        // 5. it runs
        verdict.verdict = loaded_word(modules);
        verdict.explain(modules, |judged| judged.is_usable());
        if let Some((limit, is_most)) = empty::limit(modules) {
            if is_most {
                verdict.verdict = Verdict::Partial;
                verdict.reasons.insert(0, Reason::new(ReasonCode::EmptyKernels, None, limit.text.clone()));
            }
            verdict.limits.push(limit);
        }
        if general == 0 && usable < modules.len() {
            let text = format!("{usable} of {} modules are for this GPU; the others are for other ones", modules.len());
            verdict.reasons.push(Reason::new(ReasonCode::ArchSplit, None, text));
        }
    }
    verdict
}

/// A library of which fewer than one in so many modules are for a GPU does not support it.
const SLIVER: usize = 50;

/// Native if at least nine tenths of the modules that load are.
fn loaded_word(modules: &[Judged<'_>]) -> Verdict {
    let count = |wanted| modules.iter().filter(|judged| judged.verdict.verdict == wanted).count();
    let (native, jit) = (count(Verdict::Native), count(Verdict::Jit));
    if jit.saturating_mul(9) <= native { Verdict::Native } else { Verdict::Jit }
}

impl MemberVerdict {
    /// Takes the reasons of some modules, with what they ask of the driver.
    fn explain(&mut self, modules: &[Judged<'_>], wanted: impl Fn(&Judged<'_>) -> bool) {
        let own: Vec<&Judged<'_>> = modules.iter().filter(|judged| wanted(judged)).collect();
        self.reasons = reasons(&own, own.len());
        self.needs_driver = self.reasons.iter().filter_map(|reason| reason.needs_driver).max();
    }
}

/// Counts and loads; the verdict with its reasons is for the caller to set.
fn tally(modules: &[Judged<'_>], general: usize) -> MemberVerdict {
    let mut loads = BTreeMap::new();
    for image in modules.iter().filter(|judged| judged.is_usable()).filter_map(|judged| judged.picked) {
        if let Some(arch) = image.arch {
            let isa = image.version.filter(|_| image.kind == CodeKind::Ptx);
            let count: &mut usize = loads.entry((image.kind, arch, isa)).or_default();
            *count = count.saturating_add(1);
        }
    }
    // the general ones, or the specialised where there are none
    let main = |judged: &&Judged<'_>| general == 0 || judged.class == Class::General;
    let beside = |judged: &&Judged<'_>| !main(judged);
    let ok = |judged: &&Judged<'_>| judged.is_usable();
    MemberVerdict {
        verdict: Verdict::NotCovered,
        modules: modules.iter().filter(main).count(),
        modules_ok: modules.iter().filter(main).filter(ok).count(),
        modules_fit: modules.iter().filter(main).filter(|judged| judged.fits()).count(),
        specialised: modules.iter().filter(beside).count(),
        specialised_ok: modules.iter().filter(beside).filter(ok).count(),
        compiled: modules.iter().filter(|judged| judged.verdict.verdict == Verdict::Jit).count(),
        loads: loads.into_iter().map(|((kind, arch, isa), count)| Load { kind, arch, isa, count }).collect(),
        reasons: Vec::new(),
        needs_driver: None,
        limits: Vec::new(),
        optional: false,
        failing: modules.iter().filter(|judged| !judged.is_usable()).map(|judged| judged.index).collect(),
    }
}

/// The distinct reasons of the modules: of each code the sentence that holds for most of them, with their number where
/// it does not hold for all.
fn reasons(modules: &[&Judged<'_>], total: usize) -> Vec<Reason> {
    let mut counts: Vec<(Reason, usize)> = Vec::new();
    for reason in modules.iter().flat_map(|judged| &judged.verdict.reasons) {
        match counts.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counts.push((reason.clone(), 1)),
        }
    }
    counts.sort_by_key(|(reason, count)| (reason.code.rank(), core::cmp::Reverse(*count)));
    let mut kept: Vec<Reason> = Vec::new();
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
