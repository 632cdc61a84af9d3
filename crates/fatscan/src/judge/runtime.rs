use crate::judge::classify::{Class, classify};
use crate::model::{Member, Source};

/// The major version of the CUDA runtime that a host file needs: that of the library in its dependency table, else what
/// the code tells of a runtime linked statically. Cubins of ABI 8 below sm_100 come from CUDA 13 only; those of ABI 7
/// note their toolkit. `None` asks nothing of the driver.
pub(crate) fn major(member: &Member) -> Option<u16> {
    if !matches!(member.format, "elf" | "pe" | "coff" | "macho" | "archive") {
        return None;
    }
    if member.runtime.is_some() {
        return member.runtime;
    }
    let counted = member
        .modules
        .iter()
        .filter(|module| module.source == Source::Fatbin)
        .filter(|module| matches!(classify(module), Class::General | Class::Specialised));
    let images = || counted.clone().flat_map(|module| &module.images);
    let is_13 = images().any(|image| image.cubin_abi == Some(8) && image.arch.is_some_and(|arch| arch.number() < 100));
    if is_13 {
        return Some(13);
    }
    images().filter(|image| image.cubin_abi == Some(7)).filter_map(|image| image.toolkit).map(|(major, _)| major).max()
}
