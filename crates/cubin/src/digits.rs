//! Numbers read from bytes. A `str` must not lie on a mapped file, which another process may change after it was found
//! to be UTF-8.

/// The decimal number that `data` begins with, and what follows it. `None` without a digit, or if it is too large.
pub(crate) fn number<N: TryFrom<u64>>(data: &[u8]) -> Option<(N, &[u8])> {
    let mut value = None;
    let mut rest = data;
    while let [digit @ b'0'..=b'9', behind @ ..] = rest {
        let digit = u64::from(digit.wrapping_sub(b'0'));
        value = Some(value.unwrap_or(0_u64).checked_mul(10)?.checked_add(digit)?);
        rest = behind;
    }
    Some((N::try_from(value?).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_end_where_their_digits_end() {
        assert_eq!(number::<u16>(b"90a"), Some((90, &b"a"[..])));
        assert_eq!(number::<u16>(b"0065535"), Some((65535, &b""[..])));
        assert_eq!(number::<u16>(b"65536"), None);
        assert_eq!(number::<u64>(b"99999999999999999999"), None);
        for nothing in [&b""[..], b"a1", b"-1", b"+1", b" 1"] {
            assert_eq!(number::<u32>(nothing), None);
        }
    }
}
