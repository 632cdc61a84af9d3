//! The list of files in a wheel, and the name and tag of one that was written anew.

use std::collections::BTreeMap;

/// What a member became: SHA-256 and bytes.
pub type Entry = ([u8; 32], u64);

/// Whether a path in a wheel is a signature of its list of files: it does not hold for other bytes.
pub(crate) fn is_signature(name: &[u8]) -> bool {
    is_in_info(name, b"RECORD.jws") || is_in_info(name, b"RECORD.p7s")
}

/// Whether a path is the file `own` of a wheel's `NAME.dist-info`.
pub(crate) fn is_in_info(name: &[u8], own: &[u8]) -> bool {
    let mut parts = name.split(|byte| *byte == b'/');
    let info = parts.next().unwrap_or_default();
    info.ends_with(b".dist-info") && parts.next() == Some(own) && parts.next().is_none()
}

/// The list with other hashes and sizes for the files that changed, without its signatures; all else stays as it is, line
/// by line.
///
/// A line is `path,sha256=BASE64,bytes`; the path may be quoted as in CSV. PyPA's "Recording installed projects".
pub(crate) fn record(text: &[u8], changed: &BTreeMap<Vec<u8>, Entry>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (path, written) = path_of(line);
        if is_signature(&path) {
            continue;
        }
        match changed.get(&path) {
            Some((hash, size)) => {
                let end: &[u8] = if line.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
                out.extend_from_slice(written);
                out.extend_from_slice(format!(",sha256={},{size}", base64(hash)).as_bytes());
                out.extend_from_slice(if line.ends_with(b"\n") { end } else { b"" });
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// The list of an installed package with the hashes and sizes of files that changed, without its signatures; nothing where it
/// names none of them. Paths are as the list writes them, each with SHA-256 and bytes.
#[must_use]
pub fn relisted(text: &[u8], changed: &BTreeMap<Vec<u8>, Entry>) -> Option<Vec<u8>> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.any(|line| changed.contains_key(&path_of(line).0)).then(|| record(text, changed))
}

/// The path of a line, and how it is written there.
fn path_of(line: &[u8]) -> (Vec<u8>, &[u8]) {
    if line.first() != Some(&b'"') {
        let end = line.iter().position(|byte| matches!(byte, b',' | b'\r' | b'\n')).unwrap_or(line.len());
        let path = line.get(..end).unwrap_or_default();
        return (path.to_vec(), path);
    }
    let mut path = Vec::new();
    let mut rest = line.iter().enumerate().skip(1).peekable();
    while let Some((index, byte)) = rest.next() {
        if *byte != b'"' {
            path.push(*byte);
        } else if rest.next_if(|(_, next)| **next == b'"').is_some() {
            path.push(b'"');
        } else {
            return (path, line.get(..=index).unwrap_or_default());
        }
    }
    (path, line)
}

/// Base64 for addresses, without padding: RFC 4648, section 5.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut bits = 0u32;
        for index in 0..3 {
            bits = bits << 8 | u32::from(group.get(index).copied().unwrap_or(0));
        }
        for index in 0..=group.len() {
            let shift = 18usize.saturating_sub(index.saturating_mul(6));
            let letter = usize::try_from(bits >> shift & 63).unwrap_or(0);
            text.push(char::from(LETTERS.get(letter).copied().unwrap_or(b'A')));
        }
    }
    text
}

/// The name of a wheel with a build tag that says what was done: behind the version, or behind the tag that is there.
/// Nothing where it is no name of a wheel. PyPA's "Binary distribution format".
#[must_use]
pub fn tagged(name: &str, what: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = name.strip_suffix(".whl")?.split('-').collect();
    let (package, version, own, rest) = match parts.as_slice() {
        [package, version, rest @ ..] if rest.len() == 3 => (package, version, "1", rest),
        [package, version, own, rest @ ..] if rest.len() == 3 && own.starts_with(|c: char| c.is_ascii_digit()) => {
            (package, version, *own, rest)
        }
        _ => return None,
    };
    let tag = if own == "1" { format!("1{what}") } else { format!("{own}.{what}") };
    Some((format!("{package}-{version}-{tag}-{}.whl", rest.join("-")), tag))
}

/// The file `WHEEL` with another build tag.
pub(crate) fn wheel(text: &[u8], tag: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        if !is_blank && !line.to_ascii_lowercase().starts_with(b"build:") {
            out.extend_from_slice(line);
        }
    }
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out.extend_from_slice(format!("Build: {tag}\n").as_bytes());
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_list_names_what_changed_and_keeps_all_else() {
        let text =
            b"a/lib.so,sha256=old,5\n\"a/b,\"\"c.so\",sha256=old,6\r\nx.dist-info/RECORD.jws,,\nx.dist-info/RECORD,,\n";
        let hash = *b"\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f\x41\x14\x93\x51\x55\x97\x61\x96\x9b\x71\xd7\x9f\x82\x18\xa3\x92\x59\xa7\xa2\x9a";
        let changed = BTreeMap::from([(b"a/lib.so".to_vec(), (hash, 7)), (b"a/b,\"c.so".to_vec(), (hash, 8))]);
        // the letters of RFC 4648 in their order; 32 bytes end with 4 bits of the last one
        let own = "sha256=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopo";
        let own = own.strip_suffix("po").unwrap();
        let lines = String::from_utf8(record(text, &changed)).unwrap();
        assert!(lines.starts_with(&format!("a/lib.so,{own}")), "{lines}");
        assert!(lines.contains(&format!("\"a/b,\"\"c.so\",{own}")), "{lines}");
        assert!(lines.contains(",8\r\n") && lines.ends_with("x.dist-info/RECORD,,\n"), "{lines}");
        assert!(!lines.contains("jws") && !lines.contains("old"), "{lines}");
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10
        for (bytes, text) in [("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn a_build_tag_is_added_to_the_one_that_is_there() {
        let name = |name| tagged(name, "slim_90").map(|(name, _)| name);
        assert_eq!(name("a-1.0-py3-none-any.whl").unwrap(), "a-1.0-1slim_90-py3-none-any.whl");
        assert_eq!(name("a-1.0-2b-py3-none-any.whl").unwrap(), "a-1.0-2b.slim_90-py3-none-any.whl");
        assert_eq!(name("a.whl"), None);
        assert_eq!(wheel(b"Wheel-Version: 1.0\nBuild: 2\n\n", "2.slim"), b"Wheel-Version: 1.0\nBuild: 2.slim\n");
    }
}
