//! Gives the findings of a member their sections, and with them their linkage.

use fatbin::Wrapper;
use fatscan_containers::{Layout, ObjectType};

use crate::model::{CodeKind, Image, Linkage, Module, Source};

/// Section names of relocatable device code; a PE image cuts them to 8 bytes.
fn is_relocatable(section: &str) -> bool {
    section.starts_with("__nv_relfatbin") || section == "__nv_rel"
}

/// Sections of a file that say that other vendors' code is there, although none of it was recognised.
pub(crate) fn foreign_sections(layout: &Layout) -> impl Iterator<Item = &str> {
    layout.sections.iter().map(|section| section.name.as_str()).filter(|name| {
        name.starts_with(".hip_fat")
            || name.starts_with("__CLANG_OFFLOAD_BUNDLE__")
            || name.starts_with(".llvm.offload")
    })
}

/// Labels the modules of a host file; without a layout their linkage stays unknown.
pub(crate) fn label(modules: &mut [Module], layout: Option<&Layout>, wrappers: &[Wrapper]) {
    let pointed = layout.and_then(|layout| pointed(layout, wrappers));
    for module in modules {
        let section = layout.and_then(|layout| layout.section_at(module.offset));
        module.section = section.map(|section| section.name.as_str().into());
        if module.source == Source::Fatbin {
            module.wrapped = pointed.as_ref().map(|offsets| offsets.binary_search(&module.offset).is_ok());
            let linkage = match (layout.is_some_and(|layout| layout.named), section) {
                (false, _) => Linkage::Unknown,
                (true, Some(section)) if is_relocatable(&section.name) => Linkage::Relocatable,
                (true, _) => Linkage::Loadable,
            };
            for image in module.images.iter_mut().filter(|image| !is_link_input(image)) {
                image.linkage = linkage;
            }
        }
    }
}

/// Code that is made for a link, wherever it stands: LTO-IR and relocatable PTX.
fn is_link_input(image: &Image) -> bool {
    image.kind == CodeKind::LtoIr || (image.kind == CodeKind::Ptx && image.linkage == Linkage::Relocatable)
}

/// File offsets that wrappers point at, sorted; `None` where pointers are only made by the linker.
fn pointed(layout: &Layout, wrappers: &[Wrapper]) -> Option<Vec<u64>> {
    if layout.object_type != ObjectType::Linked || layout.segments.is_empty() {
        return None;
    }
    // some linkers leave the pointers to relocations alone
    if !wrappers.is_empty() && wrappers.iter().all(|wrapper| wrapper.pointer == 0) {
        return None;
    }
    let mut offsets: Vec<u64> = wrappers.iter().filter_map(|wrapper| layout.offset_of(wrapper.pointer)).collect();
    offsets.sort_unstable();
    offsets.dedup();
    Some(offsets)
}
