//! The major version in the name of a CUDA runtime library.

/// The major version that a name from `cudart` on states, and how many bytes of the name stand before: `libcudart.so.12`
/// (also `libcudart-d0da41ae.so.11.0`, as repaired wheels rename it) behind `lib`, `cudart64_12.dll` and
/// `cudart64_110.dll` else.
pub(super) fn major(text: &[u8], is_library: bool) -> Option<(u16, u64)> {
    let text = core::str::from_utf8(text).ok()?;
    if is_library {
        let (_, version) = text.split_once(".so.")?;
        let digits = version.split('.').next()?;
        return Some((digits.parse().ok()?, 3));
    }
    let digits = text.strip_prefix("cudart64_")?.strip_suffix(".dll")?.split('_').next()?;
    let number: u16 = digits.parse().ok()?;
    // up to CUDA 11 the minor version stands behind the major one without a dot
    Some((if number >= 50 { number.checked_div(10)? } else { number }, 0))
}
