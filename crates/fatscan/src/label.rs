//! Gives the findings of a member their sections, and with them their linkage.

use std::collections::HashMap;
use std::sync::Arc;

use fatbin::Wrapper;
use fatscan_containers::{Layout, ObjectType};

use crate::model::{CodeKind, Image, Linkage, Module, Source};

/// Section names of relocatable device code; a PE image cuts them to 8 bytes.
fn is_relocatable(section: &str) -> bool {
    section.starts_with("__nv_relfatbin") || section == "__nv_rel"
}

/// A section of a file that says that other vendors' code is there, although none of it was recognised.
pub(crate) fn foreign_section(layout: &Layout) -> Option<String> {
    layout.sections.iter().filter_map(|section| layout.name(section)).find(|name| {
        name.starts_with(".hip_fat")
            || name.starts_with("__CLANG_OFFLOAD_BUNDLE__")
            || name.starts_with(".llvm.offload")
    })
}

/// Labels the modules of a host file; without a layout their linkage stays unknown.
pub(crate) fn label(modules: &mut [Module], layout: Option<&Layout>, wrappers: &[Wrapper]) {
    let pointed = layout.and_then(|layout| pointed(layout, wrappers));
    // sections by where they begin, each name once
    let mut names: HashMap<u64, Option<Arc<str>>> = HashMap::new();
    for module in modules {
        let section = layout.and_then(|layout| Some((layout, layout.section_at(module.offset)?)));
        module.section = section.and_then(|(layout, section)| {
            let name = || layout.name(section).map(Arc::from);
            names.entry(section.offset).or_insert_with(name).clone()
        });
        module.mapped = layout.and_then(|layout| layout.is_mapped(module.offset));
        if module.source == Source::Fatbin {
            let own = [1, 2].map(|version| {
                pointed.as_ref().map(|offsets| offsets.binary_search(&(module.offset, version)).is_ok())
            });
            module.prelinked = own.last() == Some(&Some(true));
            module.wrapped = pointed.as_ref().map(|_| own.contains(&Some(true)));
            let linkage = match (layout.is_some_and(|layout| layout.named), &module.section) {
                (false, _) => Linkage::Unknown,
                (true, Some(section)) if is_relocatable(section) => Linkage::Relocatable,
                (true, _) => Linkage::Loadable,
            };
            for image in module.images.iter_mut().filter(|image| !is_link_input(image)) {
                image.linkage = linkage;
            }
        }
    }
}

/// Code that is made for a link, wherever it stands: LTO-IR, relocatable PTX, and cubins that say so themselves.
fn is_link_input(image: &Image) -> bool {
    let says_so = matches!(image.kind, CodeKind::Ptx | CodeKind::Sass) && image.linkage == Linkage::Relocatable;
    image.kind == CodeKind::LtoIr || says_so
}

/// File offsets that wrappers point at with the versions of these, sorted; `None` where pointers are only made by the linker.
fn pointed(layout: &Layout, wrappers: &[Wrapper]) -> Option<Vec<(u64, u32)>> {
    if layout.object_type != ObjectType::Linked || layout.segments.is_empty() {
        return None;
    }
    // some linkers leave the pointers to relocations alone
    if !wrappers.is_empty() && wrappers.iter().all(|wrapper| wrapper.pointer == 0) {
        return None;
    }
    let place = |wrapper: &Wrapper| Some((layout.offset_of(wrapper.pointer)?, wrapper.version));
    let mut offsets: Vec<(u64, u32)> = wrappers.iter().filter_map(place).collect();
    offsets.sort_unstable();
    offsets.dedup();
    Some(offsets)
}
