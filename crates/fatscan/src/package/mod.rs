//! Which Python package a file belongs to.

mod installed;

use crate::locator::{Locator, Place};
use crate::model::{Artefact, Report};

use installed::Installed;
pub(crate) use installed::paths_of_record;

/// Letters of a name or a version at most: longer ones are no packages.
const LONGEST: usize = 128;

/// A Python package. Its words are safe to be put into a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Package {
    /// The name as pip compares it: lower case, `-` between words.
    pub name: String,
    /// The version.
    pub version: String,
}

impl Package {
    /// A package of this name and version; nothing if they are none, whatever a file calls itself.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Option<Self> {
        let fits = |text: &str, more: &[u8]| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || more.contains(&byte);
            text.len() <= LONGEST
                && text.bytes().all(is_known)
                && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        };
        (fits(name, b"._-") && fits(version, b"._-+!")).then(|| Self { name: plain(name), version: version.to_owned() })
    }

    /// The package of a wheel by its file name: `torch-2.15.0-cp312-...whl`.
    #[must_use]
    pub fn of_wheel(file: &str) -> Option<Self> {
        let (name, version) = parts(file)?;
        Self::new(name, version)
    }
}

/// A name as pip compares it.
pub(crate) fn plain(name: &str) -> String {
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

fn parts(file: &str) -> Option<(&str, &str)> {
    let mut parts = file.strip_suffix(".whl")?.split('-');
    Some((parts.next()?, parts.next()?))
}

/// Name and version in the file name of a wheel, as they stand there.
#[must_use]
pub fn package(artefact: &Artefact) -> Option<(&str, &str)> {
    parts(artefact.path.rsplit(['/', '\\']).next()?)
}

/// The packages of the files of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    artefacts: Vec<Vec<Option<Package>>>,
}

impl Owners {
    /// The packages of files that are known already.
    pub(crate) const fn new(artefacts: Vec<Vec<Option<Package>>>) -> Self {
        Self { artefacts }
    }

    /// Finds the package of every file with device code: of a file in a wheel by the wheel's name, of another one by the
    /// `*.dist-info` directories in the nearest directory above it that has some. This reads from the disk; what cannot be
    /// read is no package.
    #[must_use]
    pub fn find(report: &Report) -> Self {
        let mut installed = Installed::default();
        let mut artefacts: Vec<Vec<Option<Package>>> = Vec::with_capacity(report.artefacts.len());
        for (index, artefact) in report.artefacts.iter().enumerate() {
            let mut own = Vec::with_capacity(artefact.members.len());
            for (member, file) in artefact.members.iter().enumerate() {
                let wheel = wheel(&file.at);
                if wheel.is_none() {
                    installed.ask(&file.at.path(), (index, member));
                }
                own.push(wheel);
            }
            artefacts.push(own);
        }
        for ((artefact, member), package) in installed.answers() {
            if let Some(slot) = artefacts.get_mut(artefact).and_then(|own| own.get_mut(member)) {
                *slot = Some(package);
            }
        }
        Self { artefacts }
    }

    /// The packages of an artefact's files, in their order.
    #[must_use]
    pub fn of(&self, artefact: usize) -> &[Option<Package>] {
        self.artefacts.get(artefact).map_or(&[], Vec::as_slice)
    }
}

/// The package of the innermost wheel that a place is in.
fn wheel(at: &Locator) -> Option<Package> {
    let mut files = at.steps.iter().rev().filter(|step| !matches!(step.place, Place::Part { .. }));
    files.find_map(|step| Package::of_wheel(step.text().rsplit(['/', '\\']).next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_pip_and_never_words_of_a_shell() {
        let of = |file| Package::of_wheel(file).map(|own| format!("{} {}", own.name, own.version));
        assert_eq!(of("torch-2.15.0+cu126-cp312-cp312-linux_x86_64.whl").as_deref(), Some("torch 2.15.0+cu126"));
        assert_eq!(of("nvidia_cublas_cu12-12.9.1.4-py3-none-any.whl").as_deref(), Some("nvidia-cublas-cu12 12.9.1.4"));
        assert_eq!(of("Zope.Interface-5.0-py3-none-any.whl").as_deref(), Some("zope-interface 5.0"));
        for file in
            ["x; rm y-1.0-py3-none-any.whl", "$(x)-1-a.whl", "--x-1.0.whl", "x-`y`-1.whl", "x-.whl", "x.whl", "x.so"]
        {
            assert_eq!(of(file), None, "{file}");
        }
        assert_eq!(of(&format!("{}-1.0-py3-none-any.whl", "x".repeat(200))), None);
    }
}
