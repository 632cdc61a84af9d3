//! What `METADATA` says: classifiers, requirements, and sentences that name compute capabilities.

use gpu_arch::Capability;

use super::name::cuda_of;
use super::{Claim, Says, Speaker};

/// What PyPI calls packages for a version of CUDA.
const CLASSIFIER: &str = "Environment :: GPU :: NVIDIA CUDA :: ";

/// The claims of a file of core metadata: headers, an empty line, the description.
pub(super) fn claims(place: &str, text: &str) -> Vec<Claim> {
    let headers = || text.lines().take_while(|line| !line.is_empty());
    let values = |name: &'static str| headers().filter_map(move |line| line.strip_prefix(name)).map(str::trim);
    let mut claims = Vec::new();
    let classifiers: Vec<&str> = values("Classifier:").filter(|value| value.starts_with(CLASSIFIER)).collect();
    let majors = |words: &[&str], major: &dyn Fn(&str) -> Option<u16>| {
        let mut majors: Vec<u16> = words.iter().filter_map(|word| major(word)).collect();
        majors.sort_unstable();
        majors.dedup();
        majors
    };
    let of_classifier = |value: &str| {
        let version = value.strip_prefix(CLASSIFIER)?.split([' ', '.']).next()?;
        version.parse::<u16>().ok()
    };
    let own = majors(&classifiers, &of_classifier);
    if !own.is_empty() {
        claims.push(Claim::new(Speaker::Metadata, place, &classifiers.join(", "), Says::Cuda(own)));
    }
    // what an extra asks for is a choice of the user
    let required: Vec<&str> =
        values("Requires-Dist:").filter(|value| !value.contains("extra") && requirement(value).is_some()).collect();
    let own = majors(&required, &requirement);
    if !own.is_empty() {
        claims.push(Claim::new(Speaker::Metadata, place, &required.join(", "), Says::Cuda(own)));
    }
    for (words, lowest, highest) in ranges(text) {
        let says = match highest {
            Some(_) => Says::Runs(lowest),
            None => Says::RunsFrom(lowest),
        };
        claims.push(Claim::new(Speaker::Metadata, place, &words, says));
        if let Some(highest) = highest {
            claims.push(Claim::new(Speaker::Metadata, place, &words, Says::Runs(highest)));
        }
    }
    claims.dedup();
    claims
}

/// The major version of CUDA that a requirement names: `nvidia-cublas-cu12>=12.1`, `cuda-toolkit[cudart]==13.2.2`.
fn requirement(value: &str) -> Option<u16> {
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(value.len());
    let (name, rest) = value.split_at_checked(end)?;
    let name = name.to_ascii_lowercase().replace(['_', '.'], "-");
    let rest = rest.split(';').next().unwrap_or_default();
    if matches!(name.as_str(), "cuda-toolkit" | "nvidia-cuda-runtime") {
        let version =
            rest.find("==").or_else(|| rest.find("~=")).and_then(|start| rest.get(start.saturating_add(2)..))?;
        return version.trim().split('.').next()?.parse().ok();
    }
    name.starts_with("nvidia-").then(|| name.rsplit('-').next().and_then(cuda_of))?
}

/// The most sentences that are looked at.
const SENTENCES: usize = 64;

/// Ranges of compute capabilities in running text: the words, the lowest, and the highest where an end is named. A single
/// number is no claim: it may be what is *not* supported.
fn ranges(text: &str) -> Vec<(String, Capability, Option<Capability>)> {
    const KEY: &str = "compute capabilit";
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (start, _) in lower.match_indices(KEY).take(SENTENCES) {
        let Some(line) = text.get(start..).and_then(|rest| rest.lines().next()) else { continue };
        let words: String = line.chars().take(60).collect();
        let Some(digit) = words.find(|c: char| c.is_ascii_digit()) else { continue };
        let (before, rest) = words.split_at(digit);
        let negates = ["not", "below", "than", "before", "without"];
        if before.split(|c: char| !c.is_alphanumeric()).any(|word| negates.contains(&word)) {
            continue;
        }
        let Some((lowest, rest)) = number(rest) else { continue };
        let rest = rest.trim_start();
        let end = ["–", "—", "-", "~", "\\~", "to ", "through "].iter().find_map(|sign| rest.strip_prefix(sign));
        let highest = end.and_then(|rest| number(rest.trim_start()));
        let is_open = ["+", "or higher", "or newer", "or above", "or greater", "or later", "and above", "and higher"]
            .iter()
            .any(|sign| rest.starts_with(sign));
        let (highest, rest) = match highest {
            Some((highest, rest)) if highest > lowest => (Some(highest), rest),
            None if is_open => {
                (None, rest.get(..rest.len().min(10)).map_or("", |shown| rest.strip_prefix(shown).unwrap_or("")))
            }
            _ => continue,
        };
        let shown = words.len().saturating_sub(rest.len());
        let claim = (words.get(..shown).unwrap_or(&words).trim_end_matches(['.', ' ']).to_owned(), lowest, highest);
        if !found.iter().any(|(_, low, high)| (*low, *high) == (lowest, highest)) {
            found.push(claim);
        }
    }
    found
}

/// A compute capability at the start of a text, and what follows.
fn number(text: &str) -> Option<(Capability, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (own, rest) = text.split_at_checked(end)?;
    let own = own.trim_end_matches('.');
    let (major, minor) = own.split_once('.')?;
    let capability = Capability::new(major.parse().ok()?, minor.parse().ok()?);
    // what is none is a version of something else
    capability.arch().filter(|arch| arch.is_known()).map(|_| (capability, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(String, Says)> {
        claims("METADATA", text).into_iter().map(|claim| (claim.words, claim.says)).collect()
    }

    #[test]
    fn classifiers_and_requirements_name_versions_of_cuda() {
        let text = "Name: x\nClassifier: Environment :: GPU :: NVIDIA CUDA\nClassifier: Environment :: GPU :: NVIDIA CUDA :: 11.8\n\
            Classifier: Environment :: GPU :: NVIDIA CUDA :: 12 :: 12.4\nRequires-Dist: nvidia-cublas-cu12>=12.1.3.1\n\
            Requires-Dist: nvidia-cuda-runtime-cu11==11.8; extra == \"old\"\nRequires-Dist: nvidia-cudnn-frontend>=1.31.0\n\
            Requires-Dist: numpy\n\nClassifier: Environment :: GPU :: NVIDIA CUDA :: 13\n";
        let [classifiers, required] = [Says::Cuda(vec![11, 12]), Says::Cuda(vec![12])];
        let found: Vec<Says> = said(text).into_iter().map(|(_, says)| says).collect();
        assert_eq!(found, [classifiers, required]);
        assert_eq!(requirement("cuda-toolkit[cublas,cudart]==13.2.2; platform_system == \"Linux\""), Some(13));
        assert_eq!(requirement("nvidia-cuda-runtime~=13.0"), Some(13));
        assert_eq!(requirement("nvidia-cudnn-cu13==9.26.0.51; platform_system == \"Linux\""), Some(13));
        assert_eq!(requirement("nvidia-cutlass-dsl[cu13]==4.8.0"), None);
    }

    #[test]
    fn sentences_name_ranges() {
        let at = Capability::new;
        let text = "\n* Supports Volta to Ada Lovelace GPUs (Compute Capability 7.0\u{2013}8.9)\n";
        let words = "Compute Capability 7.0\u{2013}8.9".to_owned();
        assert_eq!(said(text), [(words.clone(), Says::Runs(at(7, 0))), (words, Says::Runs(at(8, 9)))]);
        let tilde = "\n* GPU architectures: Pascal\\~Hopper (Compute Capability: 6.0\\~9.0)\n";
        let words = "Compute Capability: 6.0\\~9.0".to_owned();
        assert_eq!(said(tilde), [(words.clone(), Says::Runs(at(6, 0))), (words, Says::Runs(at(9, 0)))]);
        let open = "\n- GPU: Must be compute capability 7.5 or higher.\n";
        assert_eq!(said(open), [("compute capability 7.5 or higher".to_owned(), Says::RunsFrom(at(7, 5)))]);
        for text in [
            "Compute capability 7.0 is not supported",
            "compute capability lower than 7.5 or higher",
            "compute capability 10 or above",
            "compute capability 1.2.3 or higher",
            "compute capability",
            "compute capabilities 9.9-99.1",
            "compute capability 8.0-7.0",
        ] {
            assert_eq!(said(&format!("\n{text}\n")), [], "{text}");
        }
    }
}
