/// Libraries that pick among overlapping modules by heuristics of their own, by the name of their file. Source: the
/// sets of architectures in their modules (cuBLASLt 13 has 26, cuDNN's engines 24, cuSPARSELt 13), where no architecture
/// is in every module although the libraries' documentation supports them all.
pub const DISPATCHERS: &[&str] =
    &["libcublasLt*", "cublasLt*", "libcusparseLt*", "cusparseLt*", "libcudnn_engines*", "cudnn_engines*"];

/// Whether the file of this path is named like one of `names`.
#[must_use]
pub(super) fn is_dispatcher(path: &str, names: &[String]) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    names.iter().any(|name| matches(name.as_bytes(), file.as_bytes()))
}

/// Whether `text` is `pattern`, in which `*` stands for any bytes.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut parts = pattern.split(|byte| *byte == b'*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&[u8]> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match memchr::memmem::find(rest, part).and_then(|at| rest.get(at.saturating_add(part.len())..)) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(matches(b"libcublasLt*", b"libcublasLt.so.13"));
        assert!(matches(b"*", b""));
        assert!(matches(b"lib*_cuda*.so", b"libx_cuda118.so"));
        assert!(!matches(b"libcublasLt*", b"libcublas.so.13"));
        assert!(!matches(b"lib*.so", b"libx.so.1"));
        assert!(!matches(b"abc", b"abcd"));
    }

    #[test]
    fn only_the_file_name_counts() {
        let names: Vec<String> = DISPATCHERS.iter().map(|name| (*name).to_owned()).collect();
        assert!(is_dispatcher("nvidia/cu13/lib/libcublasLt.so.13", &names));
        assert!(is_dispatcher("bin/cudnn_engines_precompiled64_9.dll", &names));
        assert!(!is_dispatcher("libcublasLt.so.13/other.so", &names));
    }
}
