//! What changed between two artefacts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gpu_arch::catalogue::architectures;
use gpu_arch::rules::{Device, Verdict};
use gpu_arch::{Capability, DriverVersion};

use crate::json;
use crate::judge::{ArtefactJudgement, Policy, judge_artefact};
use crate::model::{Artefact, ArtefactKind, Linkage, Member};

/// One of the two sides: the contract's view, and the model where the side was scanned and not read from a report.
#[derive(Clone, Debug)]
pub struct Side {
    /// The view.
    pub artefact: json::Artefact,
    /// The model.
    pub model: Option<Artefact>,
    /// Whether something of it could not be read: what is missing may be in there.
    pub damaged: bool,
}

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Files, by path, that came, went or changed.
    pub members: Vec<MemberDiff>,
    /// Verdicts that changed, by capability; empty if a side is a report, which lacks the modules.
    pub verdicts: Vec<VerdictDiff>,
    /// Whether verdicts could be compared.
    pub judged: bool,
    /// Bytes of both artefacts.
    pub size: (u64, u64),
}

impl Diff {
    /// Whether nothing that is compared changed. Sizes alone are no change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.verdicts.is_empty()
    }
}

/// A file that came, went or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberDiff {
    /// Path, of the new side where it is there. The hash that repaired wheels put into names is `*`.
    pub path: String,
    /// On the old side, on the new side.
    pub present: (bool, bool),
    /// Bytes of the file.
    pub size: (u64, u64),
    /// Code that came, went or is there in another number, by kind, architecture and linkage.
    pub code: Vec<CodeDiff>,
    /// Kernels that came and went, where both sides were read for kernels.
    pub kernels: Option<KernelDiff>,
}

/// Kernels by demangled name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelDiff {
    /// On the new side only.
    pub came: Vec<Arc<str>>,
    /// On the old side only.
    pub went: Vec<Arc<str>>,
    /// On both sides, with architectures that lost it although the file still holds others of their kernels.
    pub lost: Vec<(Arc<str>, Vec<String>)>,
    /// Images before and after whose kernels could not be read. Kernels that may be in them neither came nor went.
    pub unreadable: (usize, usize),
}

impl KernelDiff {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let same = self.unreadable.0 == self.unreadable.1;
        self.came.is_empty() && self.went.is_empty() && self.lost.is_empty() && same
    }
}

/// One kind of code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeDiff {
    /// `sass`, `ptx`, ...
    pub kind: String,
    /// `sm_90a`, `compute_90`, ...
    pub arch: String,
    /// Input of a device link.
    pub relocatable: bool,
    /// Images before and after.
    pub count: (u64, u64),
    /// Bytes in the file before and after.
    pub stored: (u64, u64),
    /// PTX ISA versions before and after.
    pub isa: (BTreeSet<String>, BTreeSet<String>),
    /// Compressions before and after.
    pub compression: (BTreeSet<String>, BTreeSet<String>),
}

/// A verdict that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictDiff {
    /// The devices.
    pub capability: Capability,
    /// Before and after.
    pub verdict: (Verdict, Verdict),
    /// The oldest driver before and after, where one is asked for.
    pub needs_driver: (Option<DriverVersion>, Option<DriverVersion>),
}

/// Compares two sides.
#[must_use]
pub fn diff(old: &Side, new: &Side) -> Diff {
    let (before, after) = (&old.artefact.members, &new.artefact.members);
    // two files are compared whatever they are called
    let both_files = [old, new].iter().all(|side| side.artefact.kind == ArtefactKind::File.name());
    let members = match (before.as_slice(), after.as_slice()) {
        ([_], [own]) if both_files => vec![(own.path.clone(), (Some(0), Some(0)))],
        _ => paired(before, after),
    };
    let members = members.into_iter();
    let members = members.filter_map(|(path, (before, after))| {
        let views = (
            before.and_then(|index| old.artefact.members.get(index)),
            after.and_then(|index| new.artefact.members.get(index)),
        );
        let models = (model(old, before), model(new, after));
        let found = member(path, views, models);
        let changed = found.present.0 != found.present.1
            || !found.code.is_empty()
            || found.kernels.as_ref().is_some_and(|kernels| !kernels.is_empty());
        changed.then_some(found)
    });
    let members = members.collect();
    let verdicts = old.model.as_ref().zip(new.model.as_ref()).map(|(old, new)| verdicts(old, new));
    Diff {
        members,
        judged: verdicts.is_some(),
        verdicts: verdicts.unwrap_or_default(),
        size: (old.artefact.size, new.artefact.size),
    }
}

/// The members of both sides by path: those of the same path, then those that differ in a hash only. Several of one
/// path are paired in their order.
fn paired(old: &[json::Member], new: &[json::Member]) -> Vec<(String, Pair<usize>)> {
    let mut exact: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, member) in old.iter().enumerate() {
        exact.entry(&member.path).or_default().0.push(index);
    }
    for (index, member) in new.iter().enumerate() {
        exact.entry(&member.path).or_default().1.push(index);
    }
    let mut rows = Vec::new();
    let mut left: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (path, (before, after)) in exact {
        let name = stable(path);
        let both = before.len().min(after.len());
        let pairs = before.iter().zip(&after).map(|(old, new)| (name.clone(), (Some(*old), Some(*new))));
        rows.extend(pairs);
        let rest = left.entry(name).or_default();
        rest.0.extend(before.iter().skip(both));
        rest.1.extend(after.iter().skip(both));
    }
    for (name, (before, after)) in left {
        for index in 0..before.len().max(after.len()) {
            rows.push((name.clone(), (before.get(index).copied(), after.get(index).copied())));
        }
    }
    rows.sort();
    rows
}

fn model(side: &Side, index: Option<usize>) -> Option<&Member> {
    side.model.as_ref()?.members.get(index?)
}

/// A path without the hash that tools put into the names of vendored libraries (`libnvjpeg.4a0b5c81.so.13`).
fn stable(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find(['.', '-']) {
        let (before, after) = rest.split_at_checked(at.saturating_add(1)).unwrap_or((rest, ""));
        out.push_str(before);
        let hash = after.get(..8).filter(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let ends = after.get(8..9).is_none_or(|next| matches!(next, "." | "-"));
        rest = match hash {
            Some(_) if ends => {
                out.push('*');
                after.get(8..).unwrap_or_default()
            }
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

type Pair<T> = (Option<T>, Option<T>);

fn member(path: String, views: Pair<&json::Member>, models: Pair<&Member>) -> MemberDiff {
    let mut code: BTreeMap<(String, String, bool), CodeDiff> = BTreeMap::new();
    let mut note = |view: Option<&json::Member>, is_new: bool| {
        for row in view.iter().flat_map(|member| &member.code) {
            let arch = row.arch.clone().unwrap_or_else(|| row.kind.clone());
            let relocatable = row.linkage == Linkage::Relocatable.name();
            let key = (row.kind.clone(), arch.clone(), relocatable);
            let own = code.entry(key).or_insert_with(|| CodeDiff {
                kind: row.kind.clone(),
                arch,
                relocatable,
                count: (0, 0),
                stored: (0, 0),
                isa: Default::default(),
                compression: Default::default(),
            });
            let (count, stored, isa, compression) = if is_new {
                (&mut own.count.1, &mut own.stored.1, &mut own.isa.1, &mut own.compression.1)
            } else {
                (&mut own.count.0, &mut own.stored.0, &mut own.isa.0, &mut own.compression.0)
            };
            *count = count.saturating_add(row.count);
            *stored = stored.saturating_add(row.stored_bytes);
            isa.extend(row.isa.clone());
            compression.extend(row.compression.keys().cloned());
        }
    };
    note(views.0, false);
    note(views.1, true);
    let changed =
        |own: &CodeDiff| own.count.0 != own.count.1 || own.isa.0 != own.isa.1 || own.compression.0 != own.compression.1;
    let kernels = models.0.zip(models.1).map(|(old, new)| {
        let (old, new) = (Kernels::of(old), Kernels::of(new));
        let only = |own: &Kernels, other: &Kernels| {
            let gone = own.archs.iter().filter(|(name, _)| !other.archs.contains_key(*name));
            let gone = gone.filter(|(_, archs)| archs.is_disjoint(&other.hidden_archs));
            gone.map(|(name, _)| Arc::clone(name)).collect()
        };
        let alive: BTreeSet<&String> = new.archs.values().flatten().collect();
        let lost = old.archs.iter().filter_map(|(name, before)| {
            let after = new.archs.get(name)?;
            let lost =
                before.difference(after).filter(|arch| alive.contains(arch) && !new.hidden_archs.contains(*arch));
            let lost: Vec<String> = lost.cloned().collect();
            (!lost.is_empty()).then(|| (Arc::clone(name), lost))
        });
        let unreadable = (old.hidden, new.hidden);
        KernelDiff { came: only(&new, &old), went: only(&old, &new), lost: lost.collect(), unreadable }
    });
    let size = |view: Option<&json::Member>| view.map_or(0, |member| member.size);
    MemberDiff {
        path,
        present: (views.0.is_some(), views.1.is_some()),
        size: (size(views.0), size(views.1)),
        code: code.into_values().filter(changed).collect(),
        kernels,
    }
}

/// The kernels of a file.
#[derive(Default)]
struct Kernels {
    /// Kernels by demangled name, with the architectures that hold them.
    archs: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// Images whose kernels could not be read, and their architectures.
    hidden: usize,
    hidden_archs: BTreeSet<String>,
}

impl Kernels {
    fn of(member: &Member) -> Self {
        let mut kernels = Self::default();
        let mut archs: BTreeMap<&Arc<str>, BTreeSet<String>> = BTreeMap::new();
        for image in member.modules.iter().flat_map(|module| &module.images) {
            if crate::kernels::is_unread(image) {
                kernels.hidden = kernels.hidden.saturating_add(1);
                kernels.hidden_archs.extend(image.arch_name());
            }
            for kernel in image.kernels.iter().flatten() {
                archs.entry(&kernel.name).or_default().extend(image.arch_name());
            }
        }
        // the symbols of anonymous namespaces hold a hash of the source file, which differs from build to build
        for (name, archs) in archs {
            let name = cubin::demangle(name.as_bytes()).map_or_else(|| Arc::clone(name), Into::into);
            kernels.archs.entry(name).or_default().extend(archs);
        }
        kernels
    }
}

/// Verdicts for a device of every known capability, each with a driver that is new enough.
fn verdicts(old: &Artefact, new: &Artefact) -> Vec<VerdictDiff> {
    let devices: Vec<Device> = architectures().iter().map(|row| Device::of(row.capability)).collect();
    let judged = |artefact: &Artefact| -> ArtefactJudgement { judge_artefact(artefact, &devices, &Policy::default()) };
    let (old, new) = (judged(old), judged(new));
    let pairs = devices.iter().zip(old.verdicts.iter().zip(&new.verdicts));
    let changed = pairs.filter(|(_, (old, new))| {
        old.verdict.verdict != new.verdict.verdict || old.verdict.needs_driver != new.verdict.needs_driver
    });
    changed
        .map(|(device, (old, new))| VerdictDiff {
            capability: device.capability,
            verdict: (old.verdict.verdict, new.verdict.verdict),
            needs_driver: (old.verdict.needs_driver, new.verdict.needs_driver),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::stable;

    #[test]
    fn hashes_of_vendored_names_are_taken_out() {
        assert_eq!(stable("a.libs/libnvjpeg.4a0b5c81.so.13"), "a.libs/libnvjpeg.*.so.13");
        assert_eq!(stable("a.libs/libfaiss-aa62252d.so"), "a.libs/libfaiss-*.so");
        assert_eq!(stable("libtorch_cuda.so"), "libtorch_cuda.so");
        assert_eq!(stable("x-deadbeef"), "x-*");
        assert_eq!(stable("lib.abcdefabc.so"), "lib.abcdefabc.so");
    }
}
