use core::fmt;

/// A pattern for paths: `*` stands for any characters but `/`, `**` for any at all, `?` for one. A pattern without `/`
/// is compared with the file's name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
}

impl Glob {
    /// The pattern as typed.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// Whether a path, with `/` between its parts, matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let subject = if self.text.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
        matches(self.text.as_bytes(), subject.as_bytes())
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Position by position, keeping the set of places in the pattern that are reached: no input makes it slow.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let tokens = tokens(pattern);
    let mut reached = vec![false; tokens.len().saturating_add(1)];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    skip_stars(&tokens, &mut reached);
    for byte in text {
        let mut next = vec![false; reached.len()];
        for (place, token) in tokens.iter().enumerate() {
            if reached.get(place) != Some(&true) {
                continue;
            }
            let (stays, moves) = match token {
                Token::Byte(own) => (false, own == byte),
                Token::One => (false, *byte != b'/'),
                Token::Star => (*byte != b'/', false),
                Token::DoubleStar => (true, false),
            };
            if let Some(here) = next.get_mut(place) {
                *here |= stays;
            }
            if let Some(ahead) = next.get_mut(place.saturating_add(1)) {
                *ahead |= moves;
            }
        }
        skip_stars(&tokens, &mut next);
        reached = next;
    }
    reached.last() == Some(&true)
}

enum Token {
    Byte(u8),
    One,
    Star,
    DoubleStar,
}

fn tokens(mut pattern: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    loop {
        pattern = match pattern {
            [] => return tokens,
            [b'*', b'*', rest @ ..] => {
                tokens.push(Token::DoubleStar);
                rest
            }
            [b'*', rest @ ..] => {
                tokens.push(Token::Star);
                rest
            }
            [b'?', rest @ ..] => {
                tokens.push(Token::One);
                rest
            }
            [byte, rest @ ..] => {
                tokens.push(Token::Byte(*byte));
                rest
            }
        };
    }
}

/// A star may stand for nothing.
fn skip_stars(tokens: &[Token], reached: &mut [bool]) {
    for (place, token) in tokens.iter().enumerate() {
        let is_star = matches!(token, Token::Star | Token::DoubleStar);
        if is_star
            && reached.get(place) == Some(&true)
            && let Some(ahead) = reached.get_mut(place.saturating_add(1))
        {
            *ahead = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_slashes() {
        for (pattern, path, expected) in [
            ("*.so", "torch/lib/x.so", true),
            ("torch/*.so", "torch/lib/x.so", false),
            ("torch/**.so", "torch/lib/x.so", true),
            ("*.libs/*", "torchvision.libs/libnvjpeg.so.13", true),
            ("*.libs/*", "a/torchvision.libs/x", false),
            ("**/*.libs/*", "a/torchvision.libs/x", true),
            ("lib?.so", "liba.so", true),
            ("lib?.so", "lib.so", false),
            ("", "", true),
            ("**", "anything/at/all", true),
            ("a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(path), expected, "{pattern} {path}");
        }
    }
}
