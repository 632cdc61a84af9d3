//! Lists of architectures in files: the one that is compiled into PyTorch, and those of CMake files.

use fatscan_containers::ByteStream;
use gpu_arch::spelling;

use super::{Claim, Says, Speaker};

/// Libraries that hold the list which `torch.cuda.get_arch_list()` prints: PyTorch's `torch/csrc/cuda/Module.cpp`.
pub(super) const TORCH: [&str; 2] = ["libtorch_python.so", "torch_python.dll"];
/// The longest list that is looked for, in bytes.
const LONGEST: usize = 512;
/// Bytes that are looked at at once.
const STEP: usize = 1 << 18;

/// The list that a library holds as a text of its own: names as `nvcc -code` takes them, with spaces between. Of several
/// the longest.
pub(super) fn compiled(place: &str, stream: &mut dyn ByteStream) -> Option<Claim> {
    let mut best: Option<Vec<u8>> = None;
    loop {
        stream.fill(STEP);
        let window = stream.window();
        for start in memchr::memmem::find_iter(window, b"\0sm_") {
            let text = window.get(start.saturating_add(1)..).unwrap_or_default();
            let Some(end) = text.iter().take(LONGEST).position(|byte| *byte == 0) else { continue };
            let text = text.get(..end).unwrap_or_default();
            let is_list = text.split(|byte| *byte == b' ').all(is_arch);
            if is_list && best.as_ref().is_none_or(|best| best.len() < text.len()) {
                best = Some(text.to_vec());
            }
        }
        if window.len() < STEP {
            break;
        }
        stream.skip((STEP - LONGEST) as u64);
    }
    let text = String::from_utf8(best?).ok()?;
    let mut targets = spelling::code(&text.replace(' ', ",")).ok()?;
    targets.sort_unstable();
    targets.dedup();
    Some(Claim::new(Speaker::ArchList, place, &text, Says::Code { targets, all: false }))
}

fn is_arch(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"sm_").or_else(|| word.strip_prefix(b"compute_"));
    number.is_some_and(|number| number.len() >= 2 && number.iter().all(u8::is_ascii_alphanumeric))
}

/// Properties and variables that hold architectures.
const CMAKE: [&str; 3] = ["CMAKE_CUDA_ARCHITECTURES", "CUDA_ARCHITECTURES", "TORCH_CUDA_ARCH_LIST"];

/// The lists that a CMake file states as they are: a name, then a quoted list or words up to a bracket. What it computes is not
/// known.
pub(super) fn cmake(place: &str, text: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let is_statement =
            line.starts_with("set(") || line.starts_with("CUDA_ARCHITECTURES ") || line.starts_with("set (");
        let Some((name, start)) =
            CMAKE.iter().find_map(|name| Some((*name, line.find(name)?))).filter(|_| is_statement)
        else {
            continue;
        };
        let rest = line.get(start.saturating_add(name.len())..).unwrap_or_default().trim_start();
        let value = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => rest.split(')').next().unwrap_or_default(),
        };
        let value = value.trim();
        let first = value.starts_with(|c: char| c.is_ascii_digit());
        if let (true, Ok(targets)) = (first, spelling::code(&value.replace(' ', ";"))) {
            let claim =
                Claim::new(Speaker::Cmake, place, &format!("{name} {value}"), Says::Code { targets, all: false });
            if !claims.contains(&claim) {
                claims.push(claim);
            }
            if claims.len() > super::CLAIMS {
                break;
            }
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic here is a failing test")]

    use fatscan_containers::SliceStream;

    use super::*;

    fn targets(says: &Says) -> String {
        let Says::Code { targets, .. } = says else { return String::new() };
        targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_list_of_pytorch_is_found_wherever_it_lies() {
        let list = b"\0sm_75 sm_80 sm_90 compute_90\0";
        for before in [0, STEP - 40, STEP - LONGEST - 10, STEP - 3, 3 * STEP + 7] {
            let mut bytes = vec![b'x'; before];
            bytes.extend_from_slice(b"\0sm_90\0\0sm_9 and words\0\0sm_80 sm_");
            bytes.extend_from_slice(list);
            bytes.extend_from_slice(&vec![1; STEP]);
            let claim = compiled("l.so", &mut SliceStream::new(&bytes)).unwrap();
            assert_eq!(claim.words, "sm_75 sm_80 sm_90 compute_90", "{before}");
            assert_eq!(targets(&claim.says), "sm_75 sm_80 sm_90 compute_90");
        }
        for none in [&b""[..], b"\0sm_90", b"\0sm_\0", b"\0sm_90 \0", b"sm_75 sm_80\0"] {
            assert_eq!(compiled("l.so", &mut SliceStream::new(none)), None, "{none:?}");
        }
    }

    #[test]
    fn cmake_files_state_lists() {
        let text = "# CUDA_ARCHITECTURES \"50\"\nset_target_properties(x PROPERTIES\n  CUDA_ARCHITECTURES \"70-real;90\"\n)\n\
            set(CMAKE_CUDA_ARCHITECTURES 80 86-real)\nset(TORCH_CUDA_ARCH_LIST \"8.0;9.0+PTX\")\n\
            set(CMAKE_CUDA_ARCHITECTURES ${ARCHS})\nif(CMAKE_CUDA_ARCHITECTURES STREQUAL \"75\")\n";
        let found: Vec<String> = cmake("x.cmake", text).iter().map(|claim| targets(&claim.says)).collect();
        assert_eq!(found, ["sm_70 sm_90 compute_90", "sm_80 compute_80 sm_86", "sm_80 sm_90 compute_90"]);
    }
}
