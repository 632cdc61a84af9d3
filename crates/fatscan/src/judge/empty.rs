//! Kernels without code: a build compiles a kernel for an architecture, and its body is left out there.

use std::collections::{BTreeMap, HashMap};

use gpu_arch::Arch;

use super::limits::{Limit, LimitKind};
use super::member::Judged;
use super::{Judgement, standing};
use crate::matrix::STUB_CODE;
use crate::model::{CodeKind, Image, Module, Report};

/// How many kernels of an architecture are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    empty: usize,
    all: usize,
}

impl Share {
    fn count(&mut self, is_empty: bool) {
        self.all = self.all.saturating_add(1);
        self.empty = self.empty.saturating_add(usize::from(is_empty));
    }

    /// Whether at least (`above`: more than) `part` of `of` are empty.
    const fn reaches(self, part: usize, of: usize) -> bool {
        self.all > 0 && self.empty.saturating_mul(of) >= self.all.saturating_mul(part)
    }
}

/// The most code of each kernel of a module, whatever the architecture.
fn largest(module: &Module) -> HashMap<&str, u64> {
    let mut most: HashMap<&str, u64> = HashMap::new();
    for kernel in module.images.iter().filter_map(|image| image.kernels.as_ref()).flatten() {
        let own = most.entry(&kernel.name).or_default();
        *own = (*own).max(kernel.code_bytes);
    }
    most
}

/// What the kernels that load say, where those of all images that load were read: nothing, or a limit, and whether it is
/// so many that the file does not do there what it does elsewhere.
pub(super) fn limit(modules: &[Judged<'_>]) -> Option<(Limit, bool)> {
    let mut loaded = Share::default();
    let mut by_arch: BTreeMap<Arch, Share> = BTreeMap::new();
    for judged in modules.iter().filter(|judged| judged.verdict.verdict.is_usable()) {
        let picked = judged.picked.filter(|image| image.kind == CodeKind::Sass)?;
        let most = largest(judged.module);
        let is_empty = |name: &str, bytes: u64| {
            bytes <= STUB_CODE && most.get(name).is_some_and(|most| *most >= bytes.saturating_mul(4))
        };
        for kernel in picked.kernels.as_ref()? {
            loaded.count(is_empty(&kernel.name, kernel.code_bytes));
        }
        for image in judged.module.images.iter().filter(|image| image.kind == CodeKind::Sass) {
            let share = by_arch.entry(image.arch?).or_default();
            for kernel in image.kernels.iter().flatten() {
                share.count(is_empty(&kernel.name, kernel.code_bytes));
            }
        }
    }
    let elsewhere = by_arch.values().any(|share| share.all > 0 && !share.reaches(1, 2));
    let Share { empty, all } = loaded;
    // more than a half
    if empty.saturating_mul(2) <= all || !elsewhere {
        return None;
    }
    let text = format!("{empty} of {all} kernels that load here are empty, and are not for other GPUs");
    Some((Limit { kind: LimitKind::EmptyKernels, count: empty, of: all, text }, loaded.reaches(9, 10)))
}

/// Members, by the indices of artefact and member, of which what loads somewhere is so much smaller than what is beside it
/// that its kernels may be empty: in half of the modules that load at most a quarter. A scan with
/// [`crate::KernelDepth::Names`] tells more of them, and [`crate::judge`] of its report takes it into account.
#[must_use]
pub fn wants_kernels(report: &Report, judgement: &Judgement) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (place, (artefact, judged)) in report.artefacts.iter().zip(&judgement.artefacts).enumerate() {
        for device in 0..judgement.devices.len() {
            for part in standing(judged, device) {
                let archs: Vec<Arch> = part.verdict.loads.iter().map(|load| load.arch).collect();
                for index in part.members {
                    let Some(member) = artefact.members.get(index) else { continue };
                    if is_small(&member.modules, &archs) && !found.contains(&(place, index)) {
                        found.push((place, index));
                    }
                }
            }
        }
    }
    found
}

/// Whether the images of these architectures are small in half of the modules that have one.
fn is_small(modules: &[Module], archs: &[Arch]) -> bool {
    let size = |image: &Image| image.unpacked_bytes.unwrap_or(0);
    let (mut small, mut all) = (0_usize, 0_usize);
    for module in modules {
        let sass = || module.images.iter().filter(|image| image.kind == CodeKind::Sass && image.kernels.is_none());
        let loaded = sass().filter(|image| image.arch.is_some_and(|arch| archs.contains(&arch)));
        let Some(loaded) = loaded.map(size).max() else { continue };
        let most = sass().map(size).max().unwrap_or(0);
        all = all.saturating_add(1);
        small = small.saturating_add(usize::from(loaded.saturating_mul(4) <= most));
    }
    small > 0 && small.saturating_mul(2) >= all
}
