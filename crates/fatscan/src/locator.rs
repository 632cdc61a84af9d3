//! Where something is: every byte has an address that can be opened again.

use core::fmt;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where something is: the file that was given, then from the outside in the files, members and objects in it, then the
/// section, the offset in the innermost file and the index of an image.
///
/// Names are bytes: a path of the system, the bytes of an archive. They are shown lossily, `a.whl!lib/x.so!.nv_fatbin@0x40#2`,
/// and never read back from there: [`crate::extract`] opens the steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Locator {
    /// From the outside in.
    pub steps: Vec<Step>,
    /// Section of the innermost file.
    pub section: Option<Arc<str>>,
    /// Offset in the innermost file, in bytes.
    pub offset: Option<u64>,
    /// Index of the image in its module.
    pub image: Option<usize>,
}

/// One step from a file to what is in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Step {
    /// The name as it is, in bytes.
    pub name: Arc<[u8]>,
    /// Which of several with that name.
    pub place: Place,
}

/// How a step is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Place {
    /// A path that was given.
    Given,
    /// A file below the directory before it.
    File,
    /// A member of an archive with a table: its index there, from 0.
    Member(usize),
    /// A part of a file that is read forward: where it begins, and its bytes.
    Part {
        /// Offset in the file before it, in bytes.
        offset: u64,
        /// Bytes.
        size: u64,
    },
    /// A file in an archive that is read forward: where its bytes begin, and how many there are.
    Entry {
        /// Offset in the archive before it, in bytes.
        offset: u64,
        /// Bytes.
        size: u64,
    },
    /// What a compressed file holds, unpacked, or a package behind its headers. Its name is not shown.
    Content {
        /// Where it begins in the file before it, in bytes.
        offset: u64,
    },
}

impl Step {
    pub(crate) fn new(name: impl Into<Arc<[u8]>>, place: Place) -> Self {
        Self { name: name.into(), place }
    }

    /// The name as text, bytes that are not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

impl Locator {
    /// A path that was given.
    #[must_use]
    pub fn given(path: &OsStr) -> Self {
        Self { steps: vec![Step::new(path.as_encoded_bytes(), Place::Given)], ..Self::default() }
    }

    /// What is called `name` in this.
    #[must_use]
    pub fn inside(&self, name: impl Into<Arc<[u8]>>, place: Place) -> Self {
        let mut steps = Vec::with_capacity(self.steps.len().saturating_add(1));
        steps.extend_from_slice(&self.steps);
        steps.push(Step::new(name, place));
        Self { steps, ..Self::default() }
    }

    /// What was given: the first step alone.
    #[must_use]
    pub fn root(&self) -> Self {
        Self { steps: self.steps.iter().take(1).cloned().collect(), ..Self::default() }
    }

    /// The file of the system that it is in, or is.
    #[must_use]
    pub fn root_file(&self) -> Self {
        let outer = self.steps.len().saturating_sub(self.inner().len());
        Self { steps: self.steps.iter().take(outer).cloned().collect(), ..Self::default() }
    }

    /// Whether it is `other` or something in it.
    #[must_use]
    pub fn is_in(&self, other: &Self) -> bool {
        self.steps.starts_with(&other.steps)
    }

    /// The file of the system that it begins with: what was given, and below a directory the file in it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let mut path = PathBuf::new();
        for step in self.steps.iter().take_while(|step| matches!(step.place, Place::Given | Place::File)) {
            path.push(os(&step.name));
        }
        path
    }

    /// The last part of the last name.
    #[must_use]
    pub fn file_name(&self) -> String {
        let name = self.steps.last().map(Step::text).unwrap_or_default();
        let own = name.trim_end_matches('/').rsplit('/').next().map(ToOwned::to_owned);
        own.filter(|own| !own.is_empty()).unwrap_or(name)
    }

    /// The steps behind that file.
    #[must_use]
    pub fn inner(&self) -> &[Step] {
        let outer = self.steps.iter().take_while(|step| matches!(step.place, Place::Given | Place::File)).count();
        self.steps.get(outer..).unwrap_or_default()
    }

    /// The names from step `from` on as one path: archives nest with `!`. Parts of a file that is read forward are left
    /// out: they are no files. So are the two archives in a package of conda, whose names differ with every version, where
    /// something else follows.
    #[must_use]
    pub fn names(&self, from: usize) -> String {
        let mut out = String::new();
        let last = self.steps.len().saturating_sub(1);
        for (index, step) in self.steps.iter().enumerate().skip(from) {
            let outer = index.checked_sub(1).and_then(|outer| self.steps.get(outer));
            let is_payload = index < last
                && matches!(step.place, Place::Member(_))
                && step.name.ends_with(b".tar.zst")
                && outer.is_some_and(|outer| outer.name.to_ascii_lowercase().ends_with(b".conda"));
            if !is_payload && !matches!(step.place, Place::Part { .. }) {
                join(&mut out, step);
            }
        }
        out
    }
}

/// A name of the system from its bytes.
#[cfg(unix)]
fn os(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

#[cfg(not(unix))]
fn os(bytes: &[u8]) -> std::ffi::OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn join(out: &mut String, step: &Step) {
    if matches!(step.place, Place::Content { .. }) {
        return;
    }
    if !out.is_empty() {
        let slash = step.place == Place::File;
        if !(slash && out.ends_with('/')) {
            out.push(if slash { '/' } else { '!' });
        }
    }
    out.push_str(&String::from_utf8_lossy(&step.name));
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.steps.iter().for_each(|step| join(&mut out, step));
        f.write_str(&out)?;
        match (&self.section, self.offset) {
            (Some(section), Some(offset)) => write!(f, "!{section}@{offset:#x}")?,
            (None, Some(offset)) => write!(f, "@{offset:#x}")?,
            (Some(section), None) => write!(f, "!{section}")?,
            (None, None) => {}
        }
        match self.image {
            Some(image) => write!(f, "#{image}"),
            None => Ok(()),
        }
    }
}

/// A locator in the JSON contract.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LocatorView {
    /// From the outside in: the path that was given, files below it, members of archives, parts of files.
    pub steps: Vec<StepView>,
    /// Section of the innermost file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Offset in the innermost file, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Index of the image in its module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u64>,
}

/// One step of a locator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepView {
    /// `given`, `file`, `member`, `part`, `entry` or `content`.
    pub kind: String,
    /// The name, bytes that are not UTF-8 replaced.
    pub name: String,
    /// The bytes of the name in hexadecimal, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Of a member: its index in the archive's table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// Of a part, an entry and a content: where it begins in the file before it, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Of a part and an entry: its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl From<&Locator> for LocatorView {
    fn from(locator: &Locator) -> Self {
        Self {
            steps: locator.steps.iter().map(StepView::from).collect(),
            section: locator.section.as_deref().map(ToOwned::to_owned),
            offset: locator.offset,
            image: locator.image.and_then(|image| u64::try_from(image).ok()),
        }
    }
}

impl From<&Step> for StepView {
    fn from(step: &Step) -> Self {
        let is_text = core::str::from_utf8(&step.name).is_ok();
        let hex = || step.name.iter().map(|byte| format!("{byte:02x}")).collect();
        let (kind, index, offset, size) = match step.place {
            Place::Given => ("given", None, None, None),
            Place::File => ("file", None, None, None),
            Place::Member(index) => ("member", u64::try_from(index).ok(), None, None),
            Place::Part { offset, size } => ("part", None, Some(offset), Some(size)),
            Place::Entry { offset, size } => ("entry", None, Some(offset), Some(size)),
            Place::Content { offset } => ("content", None, Some(offset), None),
        };
        let bytes = (!is_text).then(hex);
        Self { kind: kind.to_owned(), name: step.text(), bytes, index, offset, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_nest_and_are_shown() {
        let wheel = Locator::given(OsStr::new("dist/a.whl"));
        let library = wheel.inside(*b"lib/x.so", Place::Member(3));
        let place =
            Locator { section: Some(".nv_fatbin".into()), offset: Some(0x3a40), image: Some(2), ..library.clone() };
        assert_eq!(place.to_string(), "dist/a.whl!lib/x.so!.nv_fatbin@0x3a40#2");
        assert!(place.is_in(&wheel) && place.is_in(&library) && !wheel.is_in(&library));
        let file = Locator::given(OsStr::new("dist")).inside(*b"b/y.so", Place::File);
        assert_eq!(file.to_string(), "dist/b/y.so");
        assert_eq!(file.path(), PathBuf::from("dist/b/y.so"));
        assert_eq!(library.names(1), "lib/x.so");
    }

    #[test]
    fn names_that_hold_separators_stand_apart() {
        let outer = Locator::given(OsStr::new("a.whl"));
        let one = outer.inside(*b"lib!x.so", Place::Member(0));
        let two = outer.inside(*b"lib", Place::Member(0)).inside(*b"x.so", Place::Member(0));
        assert_eq!(one.to_string(), two.to_string());
        assert_ne!(one, two);
    }
}
