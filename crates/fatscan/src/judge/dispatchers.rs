use crate::pattern::Pattern;

/// Libraries that pick among overlapping modules by heuristics of their own, by the name of their file. Source: the
/// sets of architectures in their modules (cuBLASLt 13 has 26, cuDNN's engines 24, cuSPARSELt 13), where no architecture
/// is in every module although the libraries' documentation supports them all.
pub const DISPATCHERS: &[&str] =
    &["libcublasLt*", "cublasLt*", "libcusparseLt*", "cusparseLt*", "libcudnn_engines*", "cudnn_engines*"];

/// Whether the file of this path is named like one of `names`.
#[must_use]
pub(super) fn is_dispatcher(path: &str, names: &[Pattern]) -> bool {
    let file = path.rsplit(['/', '!']).next().unwrap_or(path);
    names.iter().any(|name| name.matches(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_name_counts() {
        let names: Vec<Pattern> = DISPATCHERS.iter().map(|name| Pattern::new(name).unwrap()).collect();
        assert!(is_dispatcher("nvidia/cu13/lib/libcublasLt.so.13", &names));
        assert!(is_dispatcher("bin/cudnn_engines_precompiled64_9.dll", &names));
        assert!(!is_dispatcher("libcublasLt.so.13/other.so", &names));
        assert!(!is_dispatcher("nvidia/libcublas.so.13", &names));
    }
}
