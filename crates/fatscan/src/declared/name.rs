//! What the file name of a wheel says: its tags, the label of a variant, a CUDA version.

use super::{Claim, Says, Speaker};

/// The parts of a wheel's file name: PyPA's "Binary distribution format", and the label of PEP 825.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WheelName<'a> {
    pub(super) package: &'a str,
    pub(super) version: &'a str,
    pub(super) platforms: &'a str,
    pub(super) label: Option<&'a str>,
}

impl<'a> WheelName<'a> {
    pub(super) fn parse(file: &'a str) -> Option<Self> {
        let parts: Vec<&str> = file.strip_suffix(".whl")?.split('-').collect();
        let (package, version, rest) = match parts.as_slice() {
            [package, version, rest @ ..] => (*package, *version, rest),
            _ => return None,
        };
        // a build tag begins with a digit, as no tag of a Python does
        let rest = match rest {
            [build, tags @ ..] if build.starts_with(|c: char| c.is_ascii_digit()) => tags,
            tags => tags,
        };
        match rest {
            [_, _, platforms] => Some(Self { package, version, platforms, label: None }),
            [_, _, platforms, label] => Some(Self { package, version, platforms, label: Some(label) }),
            _ => None,
        }
    }
}

/// What a name claims.
pub(super) fn claims(file: &str) -> Vec<Claim> {
    let Some(name) = WheelName::parse(file) else { return Vec::new() };
    let claim = |speaker, words: &str, says| Claim::new(speaker, "its file name", words, says);
    let mut claims = vec![claim(Speaker::Tag, name.platforms, Says::Hosts(hosts(name.platforms)))];
    let local = name.version.split_once('+').map_or("", |(_, local)| local);
    let words = name.package.split(['_', '.']).chain(local.split(['.', '_']));
    for (word, major) in words.filter_map(|word| Some((word, cuda_of(word)?))) {
        claims.push(claim(Speaker::Name, word, Says::Cuda(vec![major])));
        // NVIDIA's own packages are libraries, headers and tools as well
        if !name.package.to_ascii_lowercase().starts_with("nvidia") {
            claims.push(claim(Speaker::Name, word, Says::DeviceCode));
        }
    }
    claims
}

/// The major version of CUDA that a word of a name tells: `cu12`, `cu126`, `cuda12x`, `cuda102`.
pub(super) fn cuda_of(word: &str) -> Option<u16> {
    let word = word.to_ascii_lowercase();
    let digits = word.strip_prefix("cuda").or_else(|| word.strip_prefix("cu"))?;
    let digits = digits.strip_suffix('x').unwrap_or(digits);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u16 = digits.parse().ok()?;
    match (digits.len(), number) {
        // 9.0 to 9.2 were written so
        (2, 90..=92) => Some(9),
        (2, 10..) => Some(number),
        (3, 100..=999) => Some(number / 10),
        _ => None,
    }
}

/// The host architectures of platform tags; none for `any` and for what is not known here.
fn hosts(platforms: &str) -> Vec<&'static str> {
    let mut hosts = Vec::new();
    for tag in platforms.split('.') {
        let host = match tag {
            _ if tag.ends_with("_x86_64") || tag.ends_with("_amd64") => "x86_64",
            _ if tag.ends_with("_aarch64") || tag.ends_with("_arm64") => "aarch64",
            _ if tag.ends_with("_universal2") => {
                hosts.extend(["x86_64", "aarch64"]);
                continue;
            }
            _ => continue,
        };
        hosts.push(host);
    }
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic here is a failing test")]

    use super::*;

    #[test]
    fn names_have_their_parts() {
        let name = |file| WheelName::parse(file).map(|own| (own.package, own.version, own.platforms, own.label));
        let linux = "manylinux_2_28_x86_64";
        assert_eq!(name("a-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"), Some(("a", "1.0", linux, None)));
        assert_eq!(name("a-1.0-2x-cp312-cp312-manylinux_2_28_x86_64.whl"), Some(("a", "1.0", linux, None)));
        assert_eq!(name("a-1.0-cp312-cp312-manylinux_2_28_x86_64-cu129.whl"), Some(("a", "1.0", linux, Some("cu129"))));
        assert_eq!(name("a-1.0-1-cp312-cp312-manylinux_2_28_x86_64-cu1.whl"), Some(("a", "1.0", linux, Some("cu1"))));
        assert_eq!(name("a-1.0-cp312.whl"), None);
        assert_eq!(name("a.zip"), None);
    }

    #[test]
    fn versions_of_cuda_are_told_by_words() {
        for (word, major) in [
            ("cu12", Some(12)),
            ("cu126", Some(12)),
            ("cu118", Some(11)),
            ("cuda12x", Some(12)),
            ("cuda102", Some(10)),
            ("cu92", Some(9)),
            ("CU13", Some(13)),
            ("cuda", None),
            ("cu", None),
            ("cu1", None),
            ("cu12_1", None),
            ("cudnn9", None),
            ("cupy", None),
            ("cu1234", None),
        ] {
            assert_eq!(cuda_of(word), major, "{word}");
        }
    }

    #[test]
    fn tags_tell_hosts() {
        assert_eq!(hosts("manylinux_2_17_x86_64.manylinux2014_x86_64"), ["x86_64"]);
        assert_eq!(hosts("win_amd64"), ["x86_64"]);
        assert_eq!(hosts("manylinux2014_aarch64"), ["aarch64"]);
        assert_eq!(hosts("any"), Vec::<&str>::new());
    }
}
