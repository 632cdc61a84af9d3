//! Which architectures a member holds in every module, and which in some only.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{CodeKind, Image, Linkage, Member, Module, Source};

/// The architectures of the loadable (or of the relocatable) code of a member, told apart by how many of its modules
/// have them: a union over a library overstates what it can run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Modules with code for several architectures: the ones that the library's general kernels are in.
    pub general: usize,
    /// Modules for one architecture only, which a library picks by device itself; by their set of architectures.
    pub specialised: Vec<Specialised>,
    /// Images by kind and name of the architecture, with the number of modules (general and specialised) that hold
    /// one, in the order of the architectures.
    pub images: BTreeMap<(CodeKind, gpu_arch::Arch), Count>,
}

/// How often an architecture occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Images.
    pub images: usize,
    /// General modules with such an image.
    pub general: usize,
    /// Specialised modules with such an image.
    pub specialised: usize,
}

/// Specialised modules of one set of architectures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specialised {
    /// Kinds and architectures that each of them holds.
    pub archs: BTreeSet<(CodeKind, gpu_arch::Arch)>,
    /// How many there are.
    pub modules: usize,
}

/// Whether a module is specialised: its images, LTO-IR aside, name one architecture number only, or only targets with
/// a suffix.
#[must_use]
pub fn is_specialised(module: &Module) -> bool {
    let archs = || module.images.iter().filter(|image| image.kind != CodeKind::LtoIr).filter_map(|image| image.arch);
    let mut numbers = archs().map(gpu_arch::Arch::number);
    let first = numbers.next();
    numbers.all(|number| Some(number) == first) || archs().all(|arch| arch.suffix() != gpu_arch::Suffix::None)
}

impl Coverage {
    /// The coverage by code that the driver loads (`relocatable` false; unknown linkage counts as loadable) or by code
    /// that still needs a device link. What no program has in its memory is in neither.
    #[must_use]
    pub fn of(member: &Member, relocatable: bool) -> Self {
        Self::by(member, true, |image| (image.linkage == Linkage::Relocatable) == relocatable)
    }

    /// The coverage by code in places that no program which loads the file has in its memory.
    #[must_use]
    pub fn unmapped(member: &Member) -> Self {
        Self::by(member, false, |_| true)
    }

    fn by(member: &Member, mapped: bool, counts: impl Fn(&Image) -> bool) -> Self {
        let mut coverage = Self::default();
        let mut specialised: BTreeMap<BTreeSet<(CodeKind, gpu_arch::Arch)>, usize> = BTreeMap::new();
        let modules = member.modules.iter().filter(|module| module.source != Source::OffloadBundle);
        for module in modules.filter(|module| module.mapped.unwrap_or(true) == mapped) {
            let images = module.images.iter().filter(|image| counts(image));
            let keys: Vec<_> = images.filter_map(|image| Some((image.kind, image.arch?))).collect();
            if keys.is_empty() {
                continue;
            }
            let distinct: BTreeSet<_> = keys.iter().copied().collect();
            let alone = is_specialised(module);
            for key in keys {
                let count = coverage.images.entry(key).or_default();
                count.images = count.images.saturating_add(1);
            }
            for key in &distinct {
                let count = coverage.images.entry(*key).or_default();
                let modules = if alone { &mut count.specialised } else { &mut count.general };
                *modules = modules.saturating_add(1);
            }
            if alone {
                let number = specialised.entry(distinct).or_default();
                *number = number.saturating_add(1);
            } else {
                coverage.general = coverage.general.saturating_add(1);
            }
        }
        coverage.specialised = specialised.into_iter().map(|(archs, modules)| Specialised { archs, modules }).collect();
        coverage
    }

    /// The coverage of several files, as of one that holds the modules of all. Where a file has specialised modules only
    /// they decide for it, and count as general ones here: what is everywhere in the whole is so in each of the files.
    #[must_use]
    pub fn sum(files: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        let mut specialised: BTreeMap<BTreeSet<(CodeKind, gpu_arch::Arch)>, usize> = BTreeMap::new();
        for file in files {
            let deciding = file.deciding();
            sum.general = sum.general.saturating_add(deciding);
            for (key, own) in &file.images {
                let count = sum.images.entry(*key).or_default();
                let (general, beside) =
                    if file.general > 0 { (own.general, own.specialised) } else { (own.specialised, 0) };
                count.images = count.images.saturating_add(own.images);
                count.general = count.general.saturating_add(general);
                count.specialised = count.specialised.saturating_add(beside);
            }
            for set in file.specialised.into_iter().filter(|_| file.general > 0) {
                let number = specialised.entry(set.archs).or_default();
                *number = number.saturating_add(set.modules);
            }
        }
        sum.specialised = specialised.into_iter().map(|(archs, modules)| Specialised { archs, modules }).collect();
        sum
    }

    /// Modules that decide what is everywhere: the general ones; where there are none, all.
    #[must_use]
    pub fn deciding(&self) -> usize {
        if self.general > 0 { self.general } else { self.modules() }
    }

    /// How many of those hold an architecture of a kind.
    #[must_use]
    pub fn holding(&self, kind: CodeKind, arch: gpu_arch::Arch) -> usize {
        let count = self.images.get(&(kind, arch)).copied().unwrap_or_default();
        if self.general > 0 { count.general } else { count.specialised }
    }

    /// Modules counted here.
    #[must_use]
    pub fn modules(&self) -> usize {
        self.specialised.iter().map(|set| set.modules).fold(self.general, usize::saturating_add)
    }

    /// Architectures of one kind that every general module holds; where there are none, that every module holds.
    #[must_use]
    pub fn everywhere(&self, kind: CodeKind) -> Vec<gpu_arch::Arch> {
        let held = self.held(kind).filter(|(_, number)| *number == self.deciding());
        held.map(|(arch, _)| arch).collect()
    }

    /// Architectures of one kind that only some of those modules hold, with the number that do.
    #[must_use]
    pub fn somewhere(&self, kind: CodeKind) -> Vec<(gpu_arch::Arch, usize)> {
        self.held(kind).filter(|(_, number)| *number < self.deciding()).collect()
    }

    fn held(&self, kind: CodeKind) -> impl Iterator<Item = (gpu_arch::Arch, usize)> {
        let own = self.images.keys().filter(move |(of, _)| *of == kind);
        own.map(move |(_, arch)| (*arch, self.holding(kind, *arch))).filter(|(_, number)| *number > 0)
    }
}
