//! The major version in the name of a CUDA runtime library.

/// The major version that a name from `cudart` on states, and how many bytes of the name stand before: `libcudart.so.12`
/// (also `libcudart-d0da41ae.so.11.0`, as repaired wheels rename it) behind `lib`, `cudart64_12.dll` and
/// `cudart64_110.dll` else.
pub(super) fn major(text: &[u8], is_library: bool) -> Option<(u16, u64)> {
    if is_library {
        let at = memchr::memmem::find(text, b".so.")?;
        return Some((number(text.get(at.checked_add(4)?..)?, b'.')?, 3));
    }
    let digits = text.strip_prefix(b"cudart64_")?.strip_suffix(b".dll")?;
    let number = number(digits, b'_')?;
    // up to CUDA 11 the minor version stands behind the major one without a dot
    Some((if number >= 50 { number.checked_div(10)? } else { number }, 0))
}

/// The major version that the whole name of a library states.
pub(crate) fn major_of(name: &[u8]) -> Option<u16> {
    match name.strip_prefix(b"libcudart") {
        Some(_) => major(name.get(3..)?, true),
        None => major(name, false),
    }
    .map(|(major, _)| major)
}

/// The number before the first `end`, or all of it.
fn number(text: &[u8], end: u8) -> Option<u16> {
    let digits = text.split(|byte| *byte == end).next().filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0u16, |sum, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        sum.checked_mul(10)?.checked_add(u16::from(digit))
    })
}
