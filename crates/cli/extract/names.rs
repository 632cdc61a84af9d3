//! Names of files that lead nowhere.

use std::collections::BTreeMap;

use super::index::INDEX;

/// Longest part of a file name that comes from a name in the file.
const NAME: usize = 100;

/// Names of folders for members, safe and each for one member only.
pub(super) struct Names {
    taken: BTreeMap<String, usize>,
}

impl Default for Names {
    fn default() -> Self {
        Self { taken: BTreeMap::from([(INDEX.to_owned(), 1)]) }
    }
}

/// Names that Windows keeps for devices, with any ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = |start: &str| stem.strip_prefix(start).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']));
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

impl Names {
    /// A single name made of a path: whatever the path says, it leads nowhere else.
    pub(super) fn unique(&mut self, path: &str) -> String {
        let safe: String = path
            .chars()
            .map(
                |character| {
                    if character.is_ascii_alphanumeric() || "._-+".contains(character) { character } else { '_' }
                },
            )
            .collect();
        let start = safe.len().saturating_sub(NAME);
        // hidden files, and what Windows drops at the end of a name
        let name = safe.get(start..).unwrap_or_default().trim_matches('.');
        let name = if name.is_empty() || is_device(name) { format!("_{name}") } else { name.to_owned() };
        // systems that do not tell upper from lower case must not see one name twice
        let taken = self.taken.entry(name.to_ascii_lowercase()).or_default();
        *taken = taken.saturating_add(1);
        if *taken == 1 { name } else { format!("{name}~{taken}") }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn names_lead_nowhere_else_and_stand_apart() {
        let mut names = Names::default();
        for path in ["../../etc/passwd", "/etc/passwd", "", "..", "a/b", "a_b", "A_b", &"x".repeat(32_000)] {
            let name = names.unique(path);
            assert!(!name.contains(['/', '\\']) && !name.starts_with('.') && !name.is_empty(), "{name}");
            assert!(name.len() <= NAME + 8, "{name}");
            assert_eq!(PathBuf::from(&name).components().count(), 1, "{name}");
        }
        assert_eq!(Names::default().unique("torch/lib/libtorch_cuda.so"), "torch_lib_libtorch_cuda.so");
        let mut names = Names::default();
        let all: Vec<String> = ["a/b", "a_b", "A_b"].iter().map(|path| names.unique(path)).collect();
        assert_eq!(all, ["a_b", "a_b~2", "A_b~3"]);
        let mut names = Names::default();
        let all: Vec<String> =
            ["index.json", "a", "a.", "NUL.so", "com1", "command"].iter().map(|p| names.unique(p)).collect();
        assert_eq!(all, ["index.json~2", "a", "a~2", "_NUL.so", "_com1", "command"]);
    }
}
