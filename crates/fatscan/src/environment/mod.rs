//! Environments: directories that packages are installed in, and whose each file is.
//!
//! [`Environment::of_path`] recognises a venv, a conda prefix, a directory of packages or the prefix of a system by its
//! layout; nothing that is found there is run. [`Environment::read`] then reads what is installed, and [`group`] takes the
//! report of a scan of [`Environment::inputs`] apart, one artefact a distribution, so that [`crate::judge`] judges each by
//! itself.

mod conda;
mod distribution;
mod group;
mod layout;
mod linked;
mod links;
mod process;
mod record;
mod site;
mod standing;

use std::path::{Path, PathBuf};

use crate::open;

pub use distribution::{Distribution, FileList, Listed, Made};
pub use group::{Groups, group, name_of_nobody};
pub use linked::{Link, links, natives};
pub use process::ProcessError;
pub(crate) use standing::state;
pub use standing::{Rank, Row, State, rows, sum};

/// Entries of one directory that are looked at.
pub(crate) const ENTRIES: usize = 100_000;
/// Distributions that are read at most.
const DISTRIBUTIONS: usize = 20_000;

/// Directories that hold a system: nobody's project, whatever leads to them.
const SYSTEM: [&str; 16] = [
    "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/run", "/sys",
    "/tmp", "/usr", "/var",
];

/// What an environment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A directory with `pyvenv.cfg`.
    Venv,
    /// A directory with `conda-meta`.
    Conda,
    /// The prefix of an installation of Python.
    Prefix,
    /// A directory of packages: `site-packages`.
    Site,
    /// What a running process has mapped.
    Process,
}

impl Kind {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Venv => "venv",
            Self::Conda => "conda",
            Self::Prefix => "prefix",
            Self::Site => "site-packages",
            Self::Process => "process",
        }
    }
}

/// Why a directory is part of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SiteKind {
    /// It is the environment's own.
    Own,
    /// The venv takes the packages of the system too.
    System,
    /// The packages of the user.
    User,
    /// A `.pth` file or an editable installation leads there.
    Linked,
}

impl SiteKind {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::System => "system",
            Self::User => "user",
            Self::Linked => "linked",
        }
    }
}

/// A directory of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is part of it.
    pub kind: SiteKind,
    /// Files that belong to its packages lie below this directory.
    pub prefix: PathBuf,
}

/// Where packages are installed, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Environment {
    /// What it is.
    pub kind: Kind,
    /// Its directory.
    pub root: PathBuf,
    /// How it was found, for people: `given`, `VIRTUAL_ENV`.
    pub found: String,
    /// The version of its Python, where known.
    pub python: Option<String>,
    /// Its directories of packages, in the order that Python looks into them.
    pub sites: Vec<Site>,
    /// What is installed, by name; after [`Environment::read`].
    pub distributions: Vec<Distribution>,
    /// What there is to say of it beside, one sentence each.
    pub notes: Vec<String>,
    /// Files that are part of it and lie in none of its sites.
    files: Vec<PathBuf>,
}

impl Environment {
    fn new(kind: Kind, root: &Path, found: &str) -> Self {
        Self {
            kind,
            root: root.to_owned(),
            found: found.to_owned(),
            python: None,
            sites: Vec::new(),
            distributions: Vec::new(),
            notes: Vec::new(),
            files: Vec::new(),
        }
    }

    /// An environment of directories that an interpreter named.
    #[must_use]
    pub fn of_sites(root: &Path, found: &str, python: Option<String>, sites: &[(PathBuf, SiteKind)]) -> Self {
        let mut own = Self { python, ..Self::new(Kind::Prefix, root, found) };
        for (path, kind) in sites {
            own.add_site(path, *kind, &layout::prefix_of(path));
        }
        own
    }

    /// Adds a directory, if it is one and is not known under another name.
    fn add_site(&mut self, path: &Path, kind: SiteKind, prefix: &Path) {
        let Ok(real) = std::fs::canonicalize(path) else { return };
        let same = |site: &Site| std::fs::canonicalize(&site.path).is_ok_and(|known| known == real);
        if real.is_dir() && !self.sites.iter().any(same) {
            self.sites.push(Site { path: path.to_owned(), kind, prefix: prefix.to_owned() });
        }
    }

    /// Adds a directory that something leads to; not what holds a whole system.
    fn follow(&mut self, link: &Path) {
        let real = std::fs::canonicalize(link).unwrap_or_else(|_| link.to_owned());
        if real.parent().is_none() || SYSTEM.iter().any(|folder| real == Path::new(folder)) {
            let note = format!("something leads to {}, which is not looked into", link.display());
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
            return;
        }
        self.add_site(link, SiteKind::Linked, link);
    }

    /// Reads what is installed, and follows `.pth` files and editable installations.
    pub fn read(&mut self) {
        let mut next = 0;
        // sites that are linked are read too; their own links are not followed
        while let Some(site) = self.sites.get(next).cloned() {
            next = next.saturating_add(1);
            let found = site::read(&site, DISTRIBUTIONS.saturating_sub(self.distributions.len()));
            // an editable installation is known by both its ends
            let is_known = |own: &Distribution| {
                let same = |known: &Distribution| {
                    crate::package::plain(&known.name) == crate::package::plain(&own.name)
                        && known.editable.as_ref().is_some_and(|place| site.path.starts_with(place))
                };
                site.kind == SiteKind::Linked && self.distributions.iter().any(same)
            };
            let mut own: Vec<Distribution> = found.distributions.into_iter().filter(|own| !is_known(own)).collect();
            distribution::drop_second_metadata(&mut own);
            self.distributions.extend(own);
            self.notes.extend(found.notes);
            if site.kind != SiteKind::Linked {
                for link in found.links {
                    self.follow(&link);
                }
            }
        }
        if self.kind == Kind::Conda {
            conda::read(self);
        }
        for place in self.distributions.iter().filter_map(|own| own.editable.clone()).collect::<Vec<_>>() {
            if !self.holds(&place) {
                self.follow(&place);
            }
        }
        distribution::tell_duplicates(&mut self.distributions);
        self.distributions.sort_by(|left, right| left.order().cmp(&right.order()));
        record::read_lists(&mut self.distributions, &self.sites, &mut self.files);
    }

    /// Whether a path lies in one of its directories.
    fn holds(&self, path: &Path) -> bool {
        self.sites.iter().any(|site| path.starts_with(&site.path))
    }

    /// The same with absolute paths.
    fn absolute(&self) -> Self {
        let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut own = self.clone();
        own.root = full(&own.root);
        for site in &mut own.sites {
            (site.path, site.prefix) = (full(&site.path), full(&site.prefix));
        }
        for distribution in &mut own.distributions {
            (distribution.site, distribution.info) = (full(&distribution.site), full(&distribution.info));
            distribution.editable = distribution.editable.as_deref().map(full);
        }
        own
    }

    /// The directories and files to scan.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        if self.kind == Kind::Process {
            return self.files.clone();
        }
        let mut roots: Vec<PathBuf> = Vec::new();
        if self.kind == Kind::Conda {
            roots.push(self.root.clone());
        }
        let mut sites: Vec<&Site> = self.sites.iter().collect();
        // a directory within another one is read with it
        sites.sort_by_key(|site| (site.kind == SiteKind::Linked, site.path.components().count()));
        for site in sites {
            if roots.iter().any(|root| site.path.starts_with(root)) {
                continue;
            }
            if roots.iter().any(|root| root.starts_with(&site.path)) {
                // a project with its venv in it: the venv is read already
                roots.extend(layout::around(&site.path, &roots.clone(), &self.root));
            } else {
                roots.push(site.path.clone());
            }
        }
        let loose = self.files.iter().filter(|file| !roots.iter().any(|root| file.starts_with(root)));
        let loose: Vec<PathBuf> = loose.cloned().collect();
        roots.extend(loose);
        roots
    }

    /// The files of some distributions that may hold device code, by their names; nothing where their lists do not tell.
    #[must_use]
    pub fn files_of(&self, distributions: &[usize]) -> Option<Vec<PathBuf>> {
        let mut files = std::collections::BTreeSet::new();
        for own in distributions.iter().filter_map(|index| self.distributions.get(*index)) {
            let (Listed::Files(_), Some(list), None) = (&own.listed, &own.list, &own.editable) else { return None };
            // it was read before
            let _ = record::each(list, own, &record::prefix(own, &self.sites), |path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if (open::promises(&name) || name.ends_with(".ptx")) && path.is_file() {
                    files.insert(path.to_owned());
                }
            });
        }
        Some(files.into_iter().collect())
    }

    /// The distribution of a name, as pip compares names.
    #[must_use]
    pub fn find(&self, name: &str) -> Vec<usize> {
        let name = crate::package::plain(name);
        let own = self.distributions.iter().enumerate().filter(|(_, own)| crate::package::plain(&own.name) == name);
        own.map(|(index, _)| index).collect()
    }
}
