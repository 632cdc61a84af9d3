//! Libraries of NVIDIA that tools which repair wheels put into them.

use super::Demands;
use crate::advice::is_nvidia_library;
use crate::model::{Member, Report};

/// What is asked of libraries of NVIDIA that lie in a folder of vendored libraries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vendored {
    /// They must run where the package must, but need not hold what its owner declared: they are built elsewhere.
    #[default]
    Run,
    /// Nothing: they are left out.
    Ignore,
    /// All that is asked of every other file.
    Check,
}

impl Vendored {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Ignore => "ignore",
            Self::Check => "check",
        }
    }
}

impl core::str::FromStr for Vendored {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Run, Self::Ignore, Self::Check];
        let own = all.into_iter().find(|own| own.name() == text);
        own.ok_or_else(|| format!("vendored: `{text}` is none of run, ignore, check"))
    }
}

/// Vendored libraries of which less is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excused {
    /// What is asked of them.
    pub asked: Vendored,
    /// Their paths, each once.
    pub files: Vec<String>,
}

impl Excused {
    /// One sentence for people, with the first names.
    #[must_use]
    pub fn sentence(&self) -> String {
        const NAMED: usize = 3;
        let named: Vec<&str> = self.files.iter().take(NAMED).map(String::as_str).collect();
        let more = match self.files.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = match self.asked {
            Vendored::Ignore => "was not looked at",
            Vendored::Run | Vendored::Check => "must run, and need not hold what was declared",
        };
        format!("vendored code of NVIDIA {what}: {}{more}; --vendored check asks it all", named.join(", "))
    }
}

/// The files of which less is asked here; none where nothing is asked that they would not have to meet.
pub(super) fn excused(report: &Report, demands: &Demands) -> Option<Excused> {
    let ignored = demands.left_out.iter().filter(|path| demands.vendored == Vendored::Ignore && is_vendored(path));
    let mut files: Vec<String> = ignored.cloned().collect();
    if demands.vendored == Vendored::Run && (demands.names_code() || demands.strict) {
        for artefact in &report.artefacts {
            let own = artefact.members.iter().filter(|own| is_vendored(&own.path));
            files.extend(own.filter(|own| !demands.has_own_code(artefact, own)).map(|own| own.path.clone()));
        }
    }
    files.sort();
    files.dedup();
    (!files.is_empty()).then_some(Excused { asked: demands.vendored, files })
}

/// Whether a path in a package is a library of NVIDIA in a folder where auditwheel, delvewheel (`NAME.libs`) or delocate
/// (`.dylibs`) put what a package needs. Other libraries there may be the owner's own.
#[must_use]
pub fn is_vendored(path: &str) -> bool {
    let mut parts = path.split(['/', '!']);
    parts.next_back();
    parts.any(|folder| folder.ends_with(".libs") || folder == ".dylibs") && is_nvidia_library(path)
}

impl Demands {
    /// Whether a file need not hold what was declared.
    pub(super) fn is_vendored(&self, member: &Member) -> bool {
        self.vendored != Vendored::Check && is_vendored(&member.path)
    }
}

#[cfg(test)]
mod tests {
    use super::is_vendored;

    #[test]
    fn only_libraries_of_nvidia_in_folders_of_vendored_ones_are() {
        for (path, expected) in [
            ("torchvision.libs/libnvjpeg.4a0b5c81.so.13", true),
            ("pkg.libs/libcudart-d0da41ae.so.11.0", true),
            ("pkg/.dylibs/libcudart.12.dylib", true),
            ("a.whl!pkg.libs/libcublasLt-1234abcd.so.12", true),
            ("nvidia_x.libs/cudart64_12-abcd1234.dll", true),
            ("faiss_gpu.libs/libfaiss-aa62252d.so", false),
            ("pkg/lib/libcublas.so.12", false),
            ("pkg.libs", false),
            ("libcublas.libs", false),
        ] {
            assert_eq!(is_vendored(path), expected, "{path}");
        }
    }
}
