//! Files that hold relocatable code beside linked code.

use gpu_arch::rules::{Coverage, Device, Reason, ReasonCode, Verdict, ptx_covers};

use super::classify::Class;
use super::member::Judged;
use crate::model::{CodeKind, Member};

/// Makes unknown what is not covered, where the driver may link the file anew from the PTX of its objects: nvcc's manual
/// ("Device Code Linking", 6.6.2) says that it does where the linked code does not fit; nobody is known to have run it.
pub(super) fn doubt(modules: &mut [Judged<'_>], member: &Member, classes: &[Class], device: &Device) {
    let relocatable = member.modules.iter().zip(classes).filter(|(_, class)| **class == Class::Relocatable);
    let mut texts = relocatable.flat_map(|(module, _)| &module.images).filter(|image| image.kind == CodeKind::Ptx);
    let fits = texts.any(|image| image.arch.is_some_and(|arch| ptx_covers(arch, device.capability) == Coverage::Yes));
    if !fits {
        return;
    }
    for judged in modules.iter_mut().filter(|judged| judged.verdict.verdict == Verdict::NotCovered) {
        let is_mismatch = |reason: &Reason| reason.code != ReasonCode::NoImage;
        if judged.verdict.reasons.iter().any(is_mismatch) {
            continue;
        }
        judged.verdict.verdict = Verdict::Unknown;
        let text = "no linked code fits, but the relocatable PTX beside it does: the driver may link it anew, which nobody \
                    is known to have tried";
        judged.verdict.reasons = vec![Reason::new(ReasonCode::MayRelink, None, text)];
    }
}
