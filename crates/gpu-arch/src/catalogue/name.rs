//! The words of names.

/// The words of a name in upper case, without the maker's and the brand's.
pub(super) fn words(name: &str) -> Vec<String> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .filter(|word| word != "NVIDIA" && word != "GEFORCE")
        .collect()
}

/// Whether some words that stand together read as `key`.
pub(super) fn has_run(words: &[String], key: &str) -> bool {
    (0..words.len()).any(|start| {
        let mut rest = key;
        for word in words.iter().skip(start) {
            match rest.strip_prefix(word.as_str()) {
                Some("") => return true,
                Some(left) => rest = left,
                None => return false,
            }
        }
        false
    })
}

/// What is left of the words of a name without a system before the GPU (`DGX H100`), a memory size (`12GB`) or the number
/// of GPUs (`NVL72`) behind it; nothing where it has none of these.
pub(super) fn bare(words: &[String]) -> Option<&[String]> {
    let rest = match words {
        [first, rest @ ..] if first == "DGX" || first == "HGX" => rest,
        _ => words,
    };
    let rest = match rest {
        [rest @ .., last] if is_number_with(last.strip_suffix("GB")) || is_number_with(last.strip_prefix("NVL")) => {
            rest
        }
        _ => rest,
    };
    (!rest.is_empty() && rest.len() < words.len()).then_some(rest)
}

fn is_number_with(digits: Option<&str>) -> bool {
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
