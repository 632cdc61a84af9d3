//! Libraries that are known by the names of their files.

use crate::pattern::Pattern;

/// Libraries that pick among overlapping modules by heuristics of their own, by the name of their file. Source: the
/// sets of architectures in their modules (cuBLASLt 13 has 26, cuDNN's engines 24, cuSPARSELt 13), where no architecture
/// is in every module although the libraries' documentation supports them all.
pub const DISPATCHERS: &[&str] =
    &["libcublasLt*", "cublasLt*", "libcusparseLt*", "cusparseLt*", "libcudnn_engines*", "cudnn_engines*"];

/// Libraries that measure programs and whose code decides nothing for who does not measure, by the name of their file.
/// Source: CUPTI, Nsight Perf SDK and the checkpoint library of the CUDA toolkit.
pub const PROFILERS: &[&str] = &[
    "libcupti*",
    "cupti64*",
    "libnvperf*",
    "nvperf_*",
    "libcheckpoint*",
    "checkpoint.dll",
    "libpcsamplingutil*",
    "pcsamplingutil*",
];

/// Whether the file of this path is named like one of `names`.
#[must_use]
pub(super) fn is_named(path: &str, names: &[Pattern]) -> bool {
    let file = path.rsplit(['/', '!']).next().unwrap_or(path);
    names.iter().any(|name| name.matches(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_name_counts() {
        let names: Vec<Pattern> = DISPATCHERS.iter().map(|name| Pattern::new(name).unwrap()).collect();
        assert!(is_named("nvidia/cu13/lib/libcublasLt.so.13", &names));
        assert!(is_named("bin/cudnn_engines_precompiled64_9.dll", &names));
        assert!(!is_named("libcublasLt.so.13/other.so", &names));
        assert!(!is_named("nvidia/libcublas.so.13", &names));
    }
}
