//! Wheel variants: PEP 825 as drafted, format 0.1.0 of 2026-02-17 and its clarifications up to 2026-05-11, and the properties
//! of the namespace `nvidia` as its provider writes them: `sm_arch :: 90_real`, `cuda_version_lower_bound :: 12.6`.

use std::collections::{BTreeMap, BTreeSet};

use gpu_arch::{CudaVersion, Target, spelling};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Claim, Says, Speaker};
use crate::check::is_vendored;
use crate::coverage::Coverage;
use crate::judge::ArtefactJudgement;
use crate::model::{Artefact, CodeKind, Member};

/// The formats whose properties are read: only `$schema` tells them apart, and these three levels are the same in all.
#[derive(Deserialize)]
struct File {
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
                    Ok(targets) => claim(&words, Says::Code { targets: targets.concat(), all: true }),
                    Err(error) => claim(&words, Says::Nothing(error.to_string())),
                });
            }
            "cuda_version_lower_bound" => claims.extend(values.iter().map(|value| {
                claim(&words, version(value).map_or_else(|| no_version(value), Says::DriverFrom))
            })),
            "cuda_version_upper_bound" => claims.extend(values.iter().map(|value| {
                claim(&words, version(value).map_or_else(|| no_version(value), Says::DriverBefore))
            })),
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

/// What the declaration of a wheel should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// Code that every general module of every file that counts holds, oldest first.
    pub targets: Vec<Target>,
    /// Code that only some hold, with the files in which it is missing.
    pub partly: Vec<(Target, Vec<String>)>,
    /// The major version of the CUDA runtime that files are linked to: the newest.
    pub runtime: Option<u16>,
    /// Files that count.
    pub files: usize,
}

/// Code of a file that is in each of its general modules, and code that is in some.
fn held(member: &Member) -> (BTreeSet<Target>, BTreeSet<Target>) {
    let coverage = Coverage::of(member, false);
    let (mut every, mut some) = (BTreeSet::new(), BTreeSet::new());
    for kind in [CodeKind::Sass, CodeKind::Ptx] {
        let target = |arch| if kind == CodeKind::Sass { Target::Sass(arch) } else { Target::Ptx(arch, None) };
        every.extend(coverage.everywhere(kind).into_iter().map(target));
        some.extend(coverage.somewhere(kind).into_iter().map(|(arch, _)| target(arch)));
    }
    (every, some)
}

/// What the properties of an artefact should be, by what is in it: what every file holds that decides where it runs. Of files
/// that are alternatives to each other one is enough.
#[must_use]
pub fn propose(artefact: &Artefact, judged: &ArtefactJudgement) -> Proposal {
    let counts = |index: usize| {
        let member = artefact.members.get(index)?;
        let own = judged.members.get(index)?;
        let is_left_out = own.is_profiler || is_vendored(&member.path);
        (!is_left_out && Coverage::of(member, false).general > 0).then_some(member)
    };
    let mut parts: Vec<(String, BTreeSet<Target>, BTreeSet<Target>)> = Vec::new();
    let in_group = |index: &usize| {
        judged.alternatives.iter().any(|group| group.choices.iter().any(|choice| choice.members.contains(index)))
    };
    for member in (0..artefact.members.len()).filter(|index| !in_group(index)).filter_map(counts) {
        let (every, some) = held(member);
        parts.push((member.path.clone(), every, some));
    }
    for group in &judged.alternatives {
        let members = group.choices.iter().flat_map(|choice| &choice.members).filter_map(|index| counts(*index));
        let (mut every, mut some) = (BTreeSet::new(), BTreeSet::new());
        for member in members {
            let own = held(member);
            every.extend(own.0);
            some.extend(own.1);
        }
        if !every.is_empty() || !some.is_empty() {
            some.retain(|target| !every.contains(target));
            parts.push((group.name.clone(), every, some));
        }
    }
    let all: BTreeSet<Target> = parts.iter().flat_map(|(_, every, some)| every.iter().chain(some)).copied().collect();
    let mut proposal = Proposal { files: parts.len(), ..Proposal::default() };
    for target in all {
        let lacking = parts.iter().filter(|(_, every, _)| !every.contains(&target));
        let lacking: Vec<String> = lacking.map(|(path, ..)| path.clone()).collect();
        if lacking.is_empty() {
            proposal.targets.push(target);
        } else {
            proposal.partly.push((target, lacking));
        }
    }
    proposal.runtime = artefact.members.iter().filter(|own| !is_vendored(&own.path)).filter_map(|own| own.runtime).max();
    proposal
}

impl Proposal {
    /// The properties as `namespace :: feature :: value`.
    #[must_use]
    pub fn properties(&self) -> Vec<String> {
        self.features().into_iter().flat_map(|(feature, values)| {
            values.into_iter().map(move |value| format!("nvidia :: {feature} :: {value}"))
        })
        .collect()
    }

    fn features(&self) -> Vec<(&'static str, Vec<String>)> {
        let mut features = Vec::new();
        if let Some(major) = self.runtime {
            features.push(("cuda_version_lower_bound", vec![format!("{major}.0")]));
        }
        let value = |target: &Target| match target {
            Target::Sass(arch) => Some(format!("{arch}_real")),
            Target::Ptx(arch, _) => Some(format!("{arch}_virtual")),
            _ => None,
        };
        let archs: Vec<String> = self.targets.iter().filter_map(value).collect();
        if !archs.is_empty() {
            features.push(("sm_arch", archs));
        }
        features
    }

    /// `variant.json` with these properties under a label.
    #[must_use]
    pub fn json(&self, label: &str) -> Value {
        let features: serde_json::Map<String, Value> =
            self.features().into_iter().map(|(feature, values)| (feature.to_owned(), json!(values))).collect();
        json!({
            "$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",
            "default-priorities": { "namespace": ["nvidia"] },
            "variants": { label: { "nvidia": features } },
        })
    }
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
        let targets = spelling::code("75-real;120-virtual;90a-real").unwrap_or_default();
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
