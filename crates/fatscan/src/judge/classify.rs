use crate::coverage::is_specialised;
use crate::model::{CodeKind, Image, Linkage, Module, Source};

/// What a module counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// For several architectures: the library's general kernels.
    General,
    /// For one architecture, picked by the library itself.
    Specialised,
    /// Without any kernel: device links and sources without kernels leave such modules.
    Stub,
    /// Input of a device link.
    Relocatable,
    /// LTO-IR only.
    Lto,
    /// Other vendors' code, or kinds that no driver loads.
    Other,
    /// Where no program that loads the file has it in memory.
    Unmapped,
}

/// Modules that do not count, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotCounted {
    /// Without kernels.
    pub stub: usize,
    /// Input of a device link.
    pub relocatable: usize,
    /// LTO-IR only.
    pub lto: usize,
    /// Fatbins without entries.
    pub empty: usize,
    /// Other vendors' code.
    pub other: usize,
    /// Where no program that loads the file has it in memory.
    pub unmapped: usize,
}

/// What a module counts as.
#[must_use]
pub fn classify(module: &Module) -> Class {
    if module.source == Source::OffloadBundle {
        return Class::Other;
    }
    if module.mapped == Some(false) {
        return Class::Unmapped;
    }
    let images = || module.images.iter().filter(|image| image.kind != CodeKind::LtoIr);
    if images().next().is_none() {
        return Class::Lto;
    }
    if images().all(|image| image.kind == CodeKind::Other) {
        return Class::Other;
    }
    if images().all(|image| image.linkage == Linkage::Relocatable) {
        return Class::Relocatable;
    }
    if is_stub(module.source, images()) {
        return Class::Stub;
    }
    if is_specialised(module) { Class::Specialised } else { Class::General }
}

fn is_stub<'a>(source: Source, mut images: impl Iterator<Item = &'a Image>) -> bool {
    images.all(|image| {
        let is_small = image.unpacked_bytes.is_some_and(|bytes| bytes <= crate::STUB_BYTES);
        image.has_kernels == Some(false) && (is_small || source != Source::Fatbin)
    })
}
