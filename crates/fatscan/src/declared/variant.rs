//! Wheel variants: PEP 825 as drafted, format 0.1.0 of 2026-02-17 and its clarifications up to 2026-05-11, and the properties
//! of the namespace `nvidia` as its provider writes them: `sm_arch :: 90_real`, `cuda_version_lower_bound :: 12.6`.

use std::collections::{BTreeMap, BTreeSet};

use gpu_arch::{CudaVersion, Target, spelling};
use serde::Deserialize;

use super::{Claim, Says, Speaker};

/// What `$schema` ends with in the format that is known here.
const FORMAT: &str = "/v0.1.0.json";

/// What is read of the file.
#[derive(Deserialize)]
struct File {
    #[serde(default, rename = "$schema")]
    schema: Option<String>,
    #[serde(default)]
    variants: BTreeMap<String, BTreeMap<String, BTreeMap<String, Vec<String>>>>,
}

/// The claims of `variant.json`, whose file name has this label.
pub(super) fn claims(place: &str, text: &[u8], label: Option<&str>) -> Vec<Claim> {
    let claim = |words: &str, says| Claim::new(Speaker::Variant, place, words, says);
    let nothing = |words: &str, why: &str| vec![claim(words, Says::Nothing(why.to_owned()))];
    let file: File = match serde_json::from_slice(text) {
        Ok(file) => file,
        Err(error) => return nothing("variants", &format!("it is no metadata of a variant: {error}")),
    };
    let mut own = file.variants.iter();
    let (name, namespaces) = match (own.next(), own.next()) {
        (Some(own), None) => own,
        _ => return nothing("variants", "it names other than one variant"),
    };
    let mut claims = Vec::new();
    if let Some(schema) = file.schema.as_deref().filter(|schema| !schema.ends_with(FORMAT)) {
        claims.push(claim(
            schema,
            Says::Doubt("it is of another format than 0.1.0, and is read like that one".to_owned()),
        ));
    }
    match label {
        Some(label) if label == name => {}
        Some(label) => claims.extend(nothing(name, &format!("the file name says `{label}`"))),
        None => claims.extend(nothing(name, "the file name has no label of a variant")),
    }
    let features = namespaces.get("nvidia").into_iter().flatten();
    for (feature, values) in features {
        let words = format!("nvidia :: {feature} :: {}", values.join(", "));
        match feature.as_str() {
            "sm_arch" => {
                let targets: Result<Vec<Vec<Target>>, _> =
                    values.iter().map(|value| spelling::code(&value.replace('_', "-"))).collect();
                claims.push(match targets {
                    Ok(targets) => {
                        let targets: BTreeSet<Target> = targets.into_iter().flatten().collect();
                        claim(&words, Says::Code { targets: targets.into_iter().collect(), all: true })
                    }
                    Err(error) => claim(&words, Says::Nothing(error.to_string())),
                });
            }
            "cuda_version_lower_bound" => claims.extend(
                values
                    .iter()
                    .map(|value| claim(&words, version(value).map_or_else(|| no_version(value), Says::DriverFrom))),
            ),
            "cuda_version_upper_bound" => claims.extend(
                values
                    .iter()
                    .map(|value| claim(&words, version(value).map_or_else(|| no_version(value), Says::DriverBefore))),
            ),
            _ => {}
        }
    }
    claims
}

fn no_version(value: &str) -> Says {
    Says::Nothing(format!("`{value}` is no version of CUDA"))
}

fn version(text: &str) -> Option<CudaVersion> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Some(CudaVersion::new(major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str, label: Option<&str>) -> Vec<Says> {
        claims("variant.json", text.as_bytes(), label).into_iter().map(|claim| claim.says).collect()
    }

    #[test]
    fn properties_are_claims() {
        let text = r#"{"variants": {"cu129": {"nvidia": {"sm_arch": ["75_real", "120_virtual", "90a_real"],
            "cuda_version_lower_bound": ["12.9"], "cuda_version_upper_bound": ["13"]}, "x86_64": {"level": ["v3"]}}}}"#;
        let targets = spelling::code("75-real;90a-real;120-virtual").unwrap_or_default();
        assert_eq!(targets.len(), 3);
        let expected = [
            Says::DriverFrom(CudaVersion::new(12, 9)),
            Says::DriverBefore(CudaVersion::new(13, 0)),
            Says::Code { targets, all: true },
        ];
        assert_eq!(says(text, Some("cu129")), expected);
        assert!(matches!(says(text, Some("other")).first(), Some(Says::Nothing(_))));
        assert!(matches!(says(text, None).first(), Some(Says::Nothing(_))));
    }

    #[test]
    fn what_means_nothing_is_said() {
        let two = r#"{"variants": {"a": {}, "b": {}}}"#;
        let odd = r#"{"variants": {"a": {"nvidia": {"sm_arch": ["ninety"]}}}}"#;
        let version = r#"{"variants": {"a": {"nvidia": {"cuda_version_lower_bound": ["x"]}}}}"#;
        for text in ["", "[]", "{}", two, odd, version, r#"{"variants": {"a": 5}}"#] {
            assert!(matches!(says(text, Some("a")).as_slice(), [Says::Nothing(_)]), "{text}");
        }
        assert_eq!(says(r#"{"variants": {"null": {}}}"#, Some("null")), []);
    }
}
