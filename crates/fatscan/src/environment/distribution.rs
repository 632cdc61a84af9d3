//! What is installed under one name.

use std::path::{Path, PathBuf};

use crate::package::{Package, plain};

/// How a distribution is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Made {
    /// By a `*.dist-info` directory.
    DistInfo,
    /// By an `*.egg-info` directory or file.
    EggInfo,
    /// By an `*.egg-link` file.
    EggLink,
    /// By a file in `conda-meta`.
    Conda,
}

impl Made {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DistInfo => "dist-info",
            Self::EggInfo => "egg-info",
            Self::EggLink => "egg-link",
            Self::Conda => "conda",
        }
    }
}

/// What is known of the files of a distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Listed {
    /// A list names so many.
    Files(u64),
    /// There is no list.
    Missing,
    /// There is one that cannot be relied on: why.
    Broken(String),
}

/// A list of the files of a distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileList {
    /// A `RECORD`: its paths are below the directory of packages.
    Record(PathBuf),
    /// An `installed-files.txt`: its paths are below the directory that it is in.
    Installed(PathBuf),
    /// The names in a file of `conda-meta`, below the prefix.
    Conda(PathBuf),
}

impl FileList {
    /// The file that it is in.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Record(path) | Self::Installed(path) | Self::Conda(path) => path,
        }
    }
}

/// What is installed under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distribution {
    /// The name as its metadata have it.
    pub name: String,
    /// The version; empty where nothing tells it.
    pub version: String,
    /// How it is known.
    pub made: Made,
    /// Where that stands.
    pub info: PathBuf,
    /// The directory that its files are in.
    pub site: PathBuf,
    /// What installed it: `pip`, `uv`, `conda`.
    pub installer: Option<String>,
    /// The directory that an editable installation leads to.
    pub editable: Option<PathBuf>,
    /// Where its files are listed.
    pub list: Option<FileList>,
    /// What is known of its files.
    pub listed: Listed,
    /// Directories and modules that are its own where no list tells.
    pub tops: Vec<String>,
    /// What there is to say of it, one sentence each.
    pub notes: Vec<String>,
}

impl Distribution {
    pub(super) fn new(name: &str, version: &str, made: Made, info: &Path, site: &Path) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            made,
            info: info.to_owned(),
            site: site.to_owned(),
            installer: None,
            editable: None,
            list: None,
            listed: Listed::Missing,
            tops: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Name and version for people.
    #[must_use]
    pub fn title(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{} {}", self.name, self.version) }
    }

    /// The package, where its words are those of one.
    #[must_use]
    pub fn package(&self) -> Option<Package> {
        Package::new(&self.name, &self.version)
    }

    /// What there is to say of it, that of its list of files too: one sentence each.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut all = self.notes.clone();
        let list = self.list.as_ref().and_then(|list| list.path().file_name());
        let list = list.map_or_else(|| "RECORD".into(), |name| name.to_string_lossy());
        match &self.listed {
            Listed::Files(_) => {}
            Listed::Missing if self.made == Made::EggLink => {}
            Listed::Missing => all.push(format!("it has no {list}: its files are told by their directory")),
            Listed::Broken(why) => {
                all.push(format!("its {list} is broken ({why}): its files are told by their directory"))
            }
        }
        all
    }

    pub(super) fn order(&self) -> (String, &str, &Path) {
        (plain(&self.name), &self.version, &self.info)
    }
}

/// Of one installation with metadata of both kinds, as packages of Debian have them, that of the new kind stays.
pub(super) fn drop_second_metadata(of_one_site: &mut Vec<Distribution>) {
    let key = |own: &Distribution| (plain(&own.name), own.version.clone());
    let known = of_one_site.iter().filter(|own| own.made == Made::DistInfo);
    let known: std::collections::HashSet<(String, String)> = known.map(key).collect();
    of_one_site.retain(|own| own.made != Made::EggInfo || !known.contains(&key(own)));
}

/// Says of every distribution that another one has its name.
pub(super) fn tell_duplicates(all: &mut [Distribution]) {
    let names: Vec<(String, PathBuf, String)> =
        all.iter().map(|own| (plain(&own.name), own.site.clone(), own.version.clone())).collect();
    let mut by_name: std::collections::HashMap<(&str, &Path), Vec<&str>> = std::collections::HashMap::new();
    for (name, site, version) in &names {
        by_name.entry((name, site)).or_default().push(version);
    }
    for (own, (name, site, _)) in all.iter_mut().zip(&names) {
        let Some(versions) = by_name.get(&(name.as_str(), site.as_path())).filter(|versions| versions.len() > 1) else {
            continue;
        };
        own.notes.push(format!(
            "installed {} times ({}): one of them was left behind, and whose the files are is not certain",
            versions.len(),
            versions.join(", ")
        ));
    }
    // the same name in two directories: Python takes the first
    let mut first: std::collections::HashMap<&str, &Path> = std::collections::HashMap::new();
    for (own, (name, site, _)) in all.iter_mut().zip(&names) {
        let known = *first.entry(name).or_insert(site);
        if known != site {
            own.notes.push(format!("hidden by the one in {}", known.display()));
        }
    }
}
