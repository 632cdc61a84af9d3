/// A decimal number of digits alone. Text is not made of the bytes: they may lie in a file that changes.
pub(crate) fn digits<Number: TryFrom<u64>>(bytes: &[u8]) -> Option<Number> {
    if bytes.is_empty() {
        return None;
    }
    let mut number = 0u64;
    for byte in bytes {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Number::try_from(number).ok()
}
