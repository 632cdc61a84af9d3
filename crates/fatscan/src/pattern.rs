//! Patterns for paths and names: the one syntax of this project.

use core::fmt;

use globset::{GlobBuilder, GlobMatcher};

/// A pattern for paths: `*` stands for any characters but `/`, `**` for any directories, `?` for one character, `[abc]` for
/// one of several, `{a,b}` for either. A pattern without `/` is compared with the last part of the path alone.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

/// A text that is no pattern, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// One sentence with the text in it.
    pub text: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl core::error::Error for PatternError {}

impl Pattern {
    /// The pattern as typed.
    ///
    /// # Errors
    /// [`PatternError`] where a bracket or brace has no end.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
        let error = |error: globset::Error| PatternError { text: format!("`{text}` is no pattern: {}", error.kind()) };
        Ok(Self { text: text.to_owned(), matcher: glob.map_err(error)?.compile_matcher() })
    }

    /// Whether a path, with `/` between its parts, matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let subject = if self.text.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
        self.matcher.is_match(subject)
    }

    /// Whether a path or a directory above it matches: `tests` covers all below any directory of this name.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let ends = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        ends.chain([path.len()]).any(|end| path.get(..end).is_some_and(|above| self.matches(above)))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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
            ("torch/**/*.so", "torch/lib/x.so", true),
            ("torch/**/*.so", "torch/x.so", true),
            ("*.libs/*", "torchvision.libs/libnvjpeg.so.13", true),
            ("*.libs/*", "a/torchvision.libs/x", false),
            ("**/*.libs/*", "a/torchvision.libs/x", true),
            ("**/*.libs/*", "x.libs/v.so", true),
            ("lib?.so", "liba.so", true),
            ("lib?.so", "lib.so", false),
            ("lib[ab].so", "libb.so", true),
            ("*.{so,dll}", "a/b.dll", true),
            ("", "", true),
            ("**", "anything/at/all", true),
            ("**", "anything", true),
            ("a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().matches(path), expected, "{pattern} {path}");
        }
        for (pattern, path, expected) in [
            ("tests", "a/tests/b/x.so", true),
            ("a/tests", "a/tests/b/x.so", true),
            ("a/tests", "b/a/tests/x.so", false),
            ("*.libs/*", "x.libs/y/v.so", true),
            ("*.part", "a/b.part", true),
            ("test", "a/tests/x.so", false),
            ("x.so", "x.so", true),
            ("", "a/x.so", false),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().covers(path), expected, "{pattern} {path}");
        }
        assert!(Pattern::new("a[b").unwrap_err().text.contains("a[b"));
    }
}
