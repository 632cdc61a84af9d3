//! Members that do the same for different devices or CUDA versions.

use std::collections::BTreeMap;

use crate::model::Member;

/// One of several alternatives: its path and the indices of its members.
pub(super) type Choices = BTreeMap<String, Vec<usize>>;

/// Groups of alternatives by what they have in common: directories of architectures beside each other
/// (`pkg/sm90/ops.so` and `pkg/sm100/ops.so` are `pkg/sm*`), else libraries of CUDA versions beside each other
/// (`libfoo_cuda118.so` and `libfoo_cuda130.so` are `libfoo_cuda*.so`).
pub(super) fn find(members: &[Member]) -> BTreeMap<String, Choices> {
    let mut groups: BTreeMap<String, Choices> = BTreeMap::new();
    for (index, member) in members.iter().enumerate() {
        if let Some((group, choice)) = directory(&member.path).or_else(|| library(&member.path)) {
            groups.entry(group).or_default().entry(choice).or_default().push(index);
        }
    }
    // one of a kind is no alternative
    groups.retain(|_, choices| choices.len() > 1);
    groups
}

/// The first directory of the path that is named like an architecture: what stands before it with `sm*`, and its path.
fn directory(path: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = path.split('/').collect();
    let (_, directories) = parts.split_last()?;
    let at = directories.iter().position(|part| is_architecture(part))?;
    let before = directories.get(..at)?.iter().map(|part| format!("{part}/")).collect::<String>();
    let own = directories.get(at)?;
    Some((format!("{before}sm*"), format!("{before}{own}")))
}

/// `sm90`, `sm_100a`.
fn is_architecture(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("sm") else { return false };
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    let number = rest.strip_suffix(['a', 'f']).unwrap_or(rest);
    (2..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A library with `_cudaNNN` in its name: the name with `_cuda*`, and the path itself.
fn library(path: &str) -> Option<(String, String)> {
    let file = path.rsplit('/').next()?;
    let directory = path.strip_suffix(file)?;
    let (before, after) = file.split_once("_cuda")?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if !file.starts_with("lib") || !(2..=3).contains(&digits) {
        return None;
    }
    Some((format!("{directory}{before}_cuda*{}", after.get(digits..)?), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_libraries_are_told() {
        assert_eq!(directory("sgl_kernel/sm90/ops.so"), Some(("sgl_kernel/sm*".into(), "sgl_kernel/sm90".into())));
        assert_eq!(directory("a/sm_100a/b/c.so"), Some(("a/sm*".into(), "a/sm_100a".into())));
        assert_eq!(directory("a/small/c.so"), None);
        assert_eq!(directory("a/sm90"), None);
        let path = "bitsandbytes/libbitsandbytes_cuda118_nocublaslt.so";
        assert_eq!(library(path), Some(("bitsandbytes/libbitsandbytes_cuda*_nocublaslt.so".into(), path.into())));
        assert_eq!(library("torch/lib/libtorch_cuda.so"), None);
        assert_eq!(library("torch/lib/libtorch_cuda_linalg.so"), None);
    }
}
