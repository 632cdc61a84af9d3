//! Modules that do not load, and what they mean: features of other GPUs that a library picks by device, or holes.

use std::collections::BTreeSet;

use gpu_arch::rules::{Device, ReasonCode, Verdict};
use gpu_arch::{Arch, Capability, Suffix};

use super::classify::Class;
use super::member::Judged;
use crate::model::{CodeKind, Linkage, Module};

/// What does not load and is no reason against a file by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it means.
    pub kind: LimitKind,
    /// Modules of this kind; of [`LimitKind::EmptyKernels`] kernels.
    pub count: usize,
    /// Of so many: specialised modules, general modules, kernels that load.
    pub of: usize,
    /// One sentence, lower case, without a full stop.
    pub text: String,
}

/// What modules that do not load mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKind {
    /// For one architecture, or exact targets only: picked by device.
    Specialised,
    /// For several architectures, all of newer GPUs: features that this GPU lacks.
    Newer,
    /// For several architectures, all of older GPUs: replaced on newer ones, or forgotten in a new build.
    Older,
    /// Code on both sides of this GPU, none for it.
    Gap,
    /// The label fits, and the driver refuses the payload.
    Refused,
    /// Kernels without code.
    EmptyKernels,
}

impl LimitKind {
    /// All kinds.
    pub const ALL: &'static [Self] =
        &[Self::Specialised, Self::Newer, Self::Older, Self::Gap, Self::Refused, Self::EmptyKernels];

    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Specialised => "specialised",
            Self::Newer => "newer",
            Self::Older => "older",
            Self::Gap => "gap",
            Self::Refused => "refused",
            Self::EmptyKernels => "empty-kernels",
        }
    }
}

/// The architectures of a module's code, LTO-IR aside.
pub(super) fn archs(module: &Module) -> impl Iterator<Item = (CodeKind, Arch)> + '_ {
    let images = module.images.iter().filter(|image| image.kind != CodeKind::LtoIr);
    images.filter(|image| image.linkage != Linkage::Relocatable).filter_map(|image| Some((image.kind, image.arch?)))
}

/// What a module means that is not covered; nothing for any other.
pub(super) fn kind(judged: &Judged<'_>, device: Capability) -> Option<LimitKind> {
    if judged.verdict.verdict != Verdict::NotCovered {
        return None;
    }
    let refused = [ReasonCode::LabelMismatch, ReasonCode::JitDisabled];
    if judged.verdict.reasons.iter().any(|reason| refused.contains(&reason.code)) {
        return Some(LimitKind::Refused);
    }
    if judged.class == Class::Specialised {
        return Some(LimitKind::Specialised);
    }
    let Some(own) = device.arch().map(Arch::number) else { return Some(LimitKind::Gap) };
    let mut numbers = archs(judged.module).map(|(_, arch)| arch.number());
    let (mut newer, mut older) = (true, true);
    numbers.by_ref().for_each(|number| {
        newer &= number > own;
        older &= number < own;
    });
    Some(match (newer, older) {
        (true, false) => LimitKind::Newer,
        (false, true) => LimitKind::Older,
        _ => LimitKind::Gap,
    })
}

/// Whether a module that is not covered is a feature of other GPUs: for newer ones, or exact targets only.
pub(super) fn is_feature(judged: &Judged<'_>, device: Capability) -> bool {
    match kind(judged, device) {
        Some(LimitKind::Newer) => true,
        Some(LimitKind::Specialised) => {
            let own = device.arch().map_or(0, Arch::number);
            archs(judged.module).all(|(_, arch)| arch.suffix() != Suffix::None || arch.number() > own)
        }
        _ => false,
    }
}

/// Whether a module is specialised with plain code for GPUs older than this one.
pub(super) fn is_plain_and_older(judged: &Judged<'_>, device: Capability) -> bool {
    let own = device.arch().map_or(0, Arch::number);
    kind(judged, device) == Some(LimitKind::Specialised)
        && archs(judged.module).any(|(_, arch)| arch.suffix() == Suffix::None && arch.number() < own)
}

/// The limits of a member on a device, by kind.
pub(super) fn limits(modules: &[Judged<'_>], device: &Device) -> Vec<Limit> {
    let total = |class| modules.iter().filter(|judged| judged.class == class).count();
    let (general, specialised) = (total(Class::General), total(Class::Specialised));
    let each = LimitKind::ALL.iter().filter_map(|wanted| {
        let own: Vec<&Judged<'_>> =
            modules.iter().filter(|judged| kind(judged, device.capability) == Some(*wanted)).collect();
        if own.is_empty() {
            return None;
        }
        let of = match wanted {
            LimitKind::Specialised => specialised,
            LimitKind::Refused => modules.len(),
            _ => general,
        };
        Some(Limit { kind: *wanted, count: own.len(), of, text: text(*wanted, &own, of, device.capability) })
    });
    each.collect()
}

fn text(kind: LimitKind, own: &[&Judged<'_>], of: usize, device: Capability) -> String {
    let all: BTreeSet<Arch> = own.iter().flat_map(|judged| archs(judged.module)).map(|(_, arch)| arch).collect();
    let (least, most) =
        (all.iter().map(|arch| arch.capability()).min(), all.iter().map(|arch| arch.capability()).max());
    let count = own.len();
    let word = match (kind, of) {
        (LimitKind::Specialised, 1) => "specialised module",
        (LimitKind::Specialised, _) => "specialised modules",
        (_, 1) => "module",
        _ => "modules",
    };
    let (is, holds) = if count == 1 { ("is", "holds") } else { ("are", "hold") };
    let part = format!("{count} of {of} {word}");
    match (kind, least, most) {
        (LimitKind::Newer, Some(least), _) => format!("{part} {is} for {least} and newer"),
        (LimitKind::Older, _, Some(most)) => format!("{part} {is} for {most} and older"),
        (LimitKind::Refused, ..) => {
            let reason = own.first().and_then(|judged| judged.verdict.reasons.first());
            let text = reason.map(|reason| reason.text.as_str()).unwrap_or_default();
            format!("{part}: {text}")
        }
        (LimitKind::Specialised, ..) => format!("{part} {is} for other GPUs ({})", listed(&all)),
        _ => format!("{part} {holds} code for other GPUs ({}) and none for {device}", listed(&all)),
    }
}

/// `sm_89 120f`.
fn listed(archs: &BTreeSet<Arch>) -> String {
    /// More are counted only.
    const SHOWN: usize = 12;
    let names: Vec<String> = archs.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = archs.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("`sm_{}`{more}", names.join(" "))
}
