use super::head::space;

/// Words of a PTX text: directives and identifiers whole, any other byte for itself; comments and strings left out.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'data> {
    rest: &'data [u8],
}

impl<'data> Tokens<'data> {
    pub(super) const fn new(text: &'data [u8]) -> Self {
        Self { rest: text }
    }
}

impl<'data> Iterator for Tokens<'data> {
    type Item = &'data [u8];

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.rest = space(self.rest)?;
            match self.rest {
                [b'"', rest @ ..] => self.rest = rest.get(memchr::memchr(b'"', rest)?.checked_add(1)?..)?,
                [0, rest @ ..] => self.rest = rest,
                _ => break,
            }
        }
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%');
        let (first, tail) = self.rest.split_first()?;
        let end = if *first == b'.' || word(first) {
            tail.iter().position(|byte| !word(byte)).unwrap_or(tail.len()).checked_add(1)?
        } else {
            1
        };
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(token)
    }
}
