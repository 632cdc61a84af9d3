//! What a package of conda says: `info/index.json` and `info/run_exports.json`.

use gpu_arch::Capability;
use serde::Deserialize;
use serde_json::Value;

use super::{Claim, Says, Speaker};

#[derive(Deserialize, Default)]
struct Index {
    #[serde(default)]
    depends: Vec<String>,
    #[serde(default)]
    constrains: Vec<String>,
}

/// The claims of `index.json`.
pub(super) fn index(place: &str, text: &[u8]) -> Vec<Claim> {
    match serde_json::from_slice::<Index>(text) {
        Ok(index) => {
            let specs = index.depends.iter().chain(&index.constrains);
            specs.flat_map(|spec| of_spec(place, spec)).take(super::CLAIMS + 1).collect()
        }
        Err(_) => vec![Claim::new(Speaker::Conda, place, "", Says::Nothing("it is no index of a package".to_owned()))],
    }
}

/// The claims of `run_exports.json`: lists of specifications by how strong they are.
pub(super) fn run_exports(place: &str, text: &[u8]) -> Vec<Claim> {
    let Ok(Value::Object(kinds)) = serde_json::from_slice(text) else { return Vec::new() };
    let specs = kinds.values().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    // those of other packages are for who links them
    specs
        .filter(|spec| spec.contains("cuda-arch") || spec.contains("cuda_arch"))
        .flat_map(|spec| of_spec(place, spec))
        .collect()
}

/// The claims of a match specification: a name, then conditions with commas between. CEP 46 for `__cuda_arch`, whose version
/// is a compute capability; the package `cuda-arch` is constrained by it.
fn of_spec(place: &str, spec: &str) -> Vec<Claim> {
    let (name, rest) = spec
        .trim()
        .split_once([' ', '=', '>', '<'])
        .map_or((spec.trim(), ""), |(name, _)| (name, spec.trim().get(name.len()..).unwrap_or_default()));
    let rest = rest.trim().split(' ').next().unwrap_or_default();
    let claim = |says| Claim::new(Speaker::Conda, place, spec, says);
    let conditions = || rest.split(',').filter(|own| !own.is_empty());
    match name {
        "__cuda_arch" | "cuda-arch" => {
            let lowest = conditions().find_map(|own| capability(own.strip_prefix(">=")?));
            // a build string may follow the version
            let exact = || conditions().find_map(|own| capability(own.trim_start_matches('=').split('=').next()?));
            match (lowest, conditions().any(|own| own.starts_with('<'))) {
                (Some(lowest), false) => vec![claim(Says::RunsFrom(lowest))],
                (Some(lowest), true) => vec![claim(Says::Runs(lowest))],
                (None, false) => exact().map(|own| claim(Says::Runs(own))).into_iter().collect(),
                (None, true) => Vec::new(),
            }
        }
        "cuda-version" => {
            let major = conditions().find_map(|own| {
                let version = own.trim_start_matches(['>', '=', '~']);
                version.split('.').next()?.parse::<u16>().ok()
            });
            major.map(|major| claim(Says::Cuda(vec![major]))).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// `8.9`, `8.9.*`, `9`.
fn capability(text: &str) -> Option<Capability> {
    let text = text.trim().trim_end_matches('*').trim_end_matches('.');
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Some(Capability::new(major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_are_read() {
        let at = Capability::new;
        for (spec, says) in [
            ("__cuda_arch >=7.0", vec![Says::RunsFrom(at(7, 0))]),
            ("__cuda_arch>=7", vec![Says::RunsFrom(at(7, 0))]),
            ("cuda-arch >=8.0,<9.0a0", vec![Says::Runs(at(8, 0))]),
            ("cuda-arch 8.9.*", vec![Says::Runs(at(8, 9))]),
            ("__cuda_arch 9.0=*_h100", vec![Says::Runs(at(9, 0))]),
            ("__cuda_arch ==9.0", vec![Says::Runs(at(9, 0))]),
            ("__cuda_arch", vec![]),
            ("cuda-version >=12.9,<13", vec![Says::Cuda(vec![12])]),
            ("cuda-cudart >=12.9", vec![]),
            ("__cuda >=12", vec![]),
        ] {
            let found: Vec<Says> = of_spec("index.json", spec).into_iter().map(|claim| claim.says).collect();
            assert_eq!(found, says, "{spec}");
        }
    }

    #[test]
    fn files_are_read() {
        let text =
            br#"{"name": "x", "depends": ["python", "cuda-version >=12.9,<13"], "constrains": ["__cuda_arch >=7.0"]}"#;
        assert_eq!(index("info/index.json", text).len(), 2);
        assert_eq!(index("info/index.json", b"{").len(), 1);
        let exports = br#"{"weak": ["cuda-arch >=8.0", "libx >=1"], "strong": []}"#;
        assert_eq!(run_exports("info/run_exports.json", exports).len(), 1);
        assert_eq!(run_exports("info/run_exports.json", b"[").len(), 0);
    }
}
