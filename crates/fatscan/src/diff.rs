//! What changed between two artefacts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gpu_arch::catalogue::architectures;
use gpu_arch::rules::{Device, Verdict};
use gpu_arch::{Capability, DriverVersion};

use crate::json;
use crate::judge::{ArtefactJudgement, Policy, judge_artefact};
use crate::locator::LocatorView;
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
    /// All device code by kind, architecture and linkage, also what did not change.
    pub code: Vec<CodeDiff>,
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
    /// Where it is.
    pub at: (Option<LocatorView>, Option<LocatorView>),
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
        code: code(before.iter().flat_map(|own| &own.code), after.iter().flat_map(|own| &own.code)),
        judged: verdicts.is_some(),
        verdicts: verdicts.unwrap_or_default(),
        size: (old.artefact.size, new.artefact.size),
    }
}

/// The members of both sides by path: those of the same path, then those that differ in a hash only, then those that
/// differ in the version of Python that they are for, too. Several of one path are paired in their order. A pair has the
/// path of its new side.
fn paired(old: &[json::Member], new: &[json::Member]) -> Vec<(String, Pair<usize>)> {
    let mut exact: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, member) in old.iter().enumerate() {
        exact.entry(&member.path).or_default().0.push(index);
    }
    for (index, member) in new.iter().enumerate() {
        exact.entry(&member.path).or_default().1.push(index);
    }
    let mut rows = Vec::new();
    let mut by_hash = BTreeMap::new();
    pair(exact.into_iter().map(|(path, sides)| (stable(path), sides)), &mut by_hash, &mut rows);
    let mut by_tag = BTreeMap::new();
    pair(by_hash.into_iter().map(|(name, sides)| (untagged(&name), sides)), &mut by_tag, &mut rows);
    for (before, after) in by_tag.into_values() {
        for index in 0..before.len().max(after.len()) {
            rows.push((before.get(index).copied(), after.get(index).copied()));
        }
    }
    let name = |(before, after): &Pair<usize>| {
        let own = after.and_then(|index| new.get(index)).or_else(|| before.and_then(|index| old.get(index)));
        own.map(|member| stable(&member.path)).unwrap_or_default()
    };
    let mut rows: Vec<_> = rows.into_iter().map(|own| (name(&own), own)).collect();
    rows.sort();
    rows
}

type Sides = (Vec<usize>, Vec<usize>);

/// Pairs what has one name; what is left over is known by the next one.
fn pair(
    groups: impl Iterator<Item = (String, Sides)>,
    left: &mut BTreeMap<String, Sides>,
    rows: &mut Vec<Pair<usize>>,
) {
    for (next, (before, after)) in groups {
        let both = before.len().min(after.len());
        rows.extend(before.iter().zip(&after).map(|(old, new)| (Some(*old), Some(*new))));
        let rest = left.entry(next).or_default();
        rest.0.extend(before.iter().skip(both));
        rest.1.extend(after.iter().skip(both));
    }
}

/// A path or a name of a file as it stays from build to build: without hashes, and without the version of Python that an
/// extension is for (`_C.cpython-311-x86_64-linux-gnu.so` and `_C.abi3.so` are `_C.so`, `python3.11` is `python3.*`).
#[must_use]
pub fn stable_name(path: &str) -> String {
    untagged(&stable(path))
}

fn untagged(path: &str) -> String {
    let is_python = |part: &str| {
        let minor = part.strip_prefix("python3.").map(|minor| minor.trim_end_matches('t'));
        minor.is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut parts: Vec<String> = path.split('/').map(ToOwned::to_owned).collect();
    if let Some((file, folders)) = parts.split_last_mut() {
        folders.iter_mut().filter(|part| is_python(part)).for_each(|part| *part = "python3.*".to_owned());
        let tagged = file.rsplit_once('.').and_then(|(rest, ending)| Some((rest.rsplit_once('.')?, ending)));
        if let Some(((stem, tag), ending @ ("so" | "pyd" | "dylib"))) = tagged {
            let is_tag = tag == "abi3" || tag == "abi3t" || tag.starts_with("cpython-") || tag.starts_with("pypy");
            let is_windows = tag.starts_with("cp3") && tag.contains("-win");
            if is_tag || is_windows {
                *file = format!("{stem}.{ending}");
            }
        }
    }
    parts.join("/")
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
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (_, behind) = after.split_at_checked(digits).unwrap_or(("", after));
        let ends = behind.is_empty() || behind.starts_with(['.', '-']);
        // auditwheel takes 8 digits, delvewheel 32
        rest = if ends && matches!(digits, 8 | 32 | 64) {
            out.push('*');
            behind
        } else {
            after
        };
    }
    out.push_str(rest);
    out
}

type Pair<T> = (Option<T>, Option<T>);

/// The code of two sides by kind, architecture and linkage.
fn code<'a>(
    before: impl Iterator<Item = &'a json::Code>,
    after: impl Iterator<Item = &'a json::Code>,
) -> Vec<CodeDiff> {
    let mut code: BTreeMap<(String, String, bool), CodeDiff> = BTreeMap::new();
    let mut note = |rows: &mut dyn Iterator<Item = &'a json::Code>, is_new: bool| {
        for row in rows {
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
    note(&mut { before }, false);
    note(&mut { after }, true);
    code.into_values().collect()
}

fn member(path: String, views: Pair<&json::Member>, models: Pair<&Member>) -> MemberDiff {
    let rows = |view: Option<&'_ json::Member>| view.map(|member| member.code.clone()).unwrap_or_default();
    let (before, after) = (rows(views.0), rows(views.1));
    let code = code(before.iter(), after.iter());
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
        at: (views.0.map(|member| member.at.clone()), views.1.map(|member| member.at.clone())),
        present: (views.0.is_some(), views.1.is_some()),
        size: (size(views.0), size(views.1)),
        code: code.into_iter().filter(changed).collect(),
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
    use super::{stable, stable_name};

    #[test]
    fn an_extension_is_the_same_for_every_version_of_python() {
        for path in [
            "x/_C.cpython-311-x86_64-linux-gnu.so",
            "x/_C.cpython-313t-aarch64-linux-gnu.so",
            "x/_C.abi3.so",
            "x/_C.pypy310-pp73-x86_64-linux-gnu.so",
            "x/_C.so",
        ] {
            assert_eq!(stable_name(path), "x/_C.so", "{path}");
        }
        assert_eq!(stable_name("x/_C.cp312-win_amd64.pyd"), "x/_C.pyd");
        assert_eq!(stable_name("lib/python3.11/site-packages/x/_C.so"), "lib/python3.*/site-packages/x/_C.so");
        assert_eq!(stable_name("x.libs/cudart64_12-0123456789abcdef0123456789abcdef.dll"), "x.libs/cudart64_12-*.dll");
        for path in ["x/libcp3.12.so", "x/python3.x/a.so", "libtorch_cuda.so.2", "x/cpython-311.so"] {
            assert_eq!(stable_name(path), path);
        }
    }

    #[test]
    fn hashes_of_vendored_names_are_taken_out() {
        assert_eq!(stable("a.libs/libnvjpeg.4a0b5c81.so.13"), "a.libs/libnvjpeg.*.so.13");
        assert_eq!(stable("a.libs/libfaiss-aa62252d.so"), "a.libs/libfaiss-*.so");
        assert_eq!(stable("libtorch_cuda.so"), "libtorch_cuda.so");
        assert_eq!(stable("x-deadbeef"), "x-*");
        assert_eq!(stable("lib.abcdefabc.so"), "lib.abcdefabc.so");
    }
}
