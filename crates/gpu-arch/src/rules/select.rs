//! Which image of a module the driver takes.

use std::cmp::Reverse;

use crate::arch::{Arch, Suffix};
use crate::target::Target;

use super::code::Code;
use super::coverage::Coverage;
use super::device::Device;
use super::environment::Environment;
use super::fit::coverage;
use super::known::Known;

/// The image that the driver of a device takes out of a module, by the labels alone: nothing where none is a candidate.
/// What it takes it is bound to: the payload is checked afterwards, and another image does not help.
///
/// 1. What the device cannot run is no candidate; neither is `a` or `f` code of an architecture that has none.
/// 2. SASS comes before PTX, whatever the architectures. `CUDA_FORCE_PTX_JIT` takes SASS out.
/// 3. Of one kind the nearest compatible architecture; of equal numbers `a` before `f` before plain.
/// 4. Of equal ones an entry without bit 24 of the flags.
/// 5. Of equal SASS the first, of equal PTX the last.
///
/// An image of which it is not certain that the device runs it is a candidate only where no other is: if the driver
/// took it beside another one, it would run.
///
/// Source: `bechirBOUALI/cuda-fatbin-precedence` (40 built containers on an RTX 2000 Ada, driver 597.06, CUDA 13.2);
/// suffixes of equal numbers as nvlink 13.5.
pub fn select(images: &[Code], device: &Device, environment: &Environment) -> Option<usize> {
    select_for(images, device, &Known::of(device), environment)
}

/// Whether the driver may select an image of this label on this device, where others do not come before it. The payload of
/// one that it cannot select says nothing of what runs there.
#[must_use]
pub fn may_select(label: Target, device: &Device) -> bool {
    coverage(&Code::new(label), label, device, &Known::of(device)) != Coverage::No
}

/// As [`select`], with the driver's facts looked up before.
pub(super) fn select_for(images: &[Code], device: &Device, known: &Known, environment: &Environment) -> Option<usize> {
    let candidates = images.iter().enumerate().filter_map(|(index, code)| {
        let is_sass = matches!(code.target, Target::Sass(_));
        let fits = coverage(code, code.target, device, known);
        if fits == Coverage::No || (is_sass && environment.force_ptx_jit) {
            return None;
        }
        let order = if is_sass { index } else { images.len().saturating_sub(index) };
        let key = (fits, !is_sass, Reverse(strength(code.target.arch())), code.has_compat, order);
        Some((key, index))
    });
    candidates.min_by_key(|(key, _)| *key).map(|(_, index)| index)
}

/// Higher numbers are nearer, since none is above the device's; then `a`, `f`, plain.
const fn strength(arch: Arch) -> (u32, u8) {
    let suffix = match arch.suffix() {
        Suffix::None => 0,
        Suffix::F => 1,
        Suffix::A => 2,
    };
    (arch.number(), suffix)
}
