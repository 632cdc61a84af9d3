//! Environments by their layout.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::{ENTRIES, Environment, Kind, SiteKind, site};

/// Bytes of `pyvenv.cfg` that are read.
const CONFIG: u64 = 64 << 10;

impl Environment {
    /// The environment that a directory is, by its layout; nothing is run. `found` says how it was found.
    #[must_use]
    pub fn of_path(path: &Path, found: &str) -> Option<Self> {
        let path = &*named(path);
        if is_file(&path.join("pyvenv.cfg")) {
            return Some(venv(path, found));
        }
        if path.join("conda-meta").is_dir() {
            let mut own = Self::new(Kind::Conda, path, found);
            own.add_sites(path, None, SiteKind::Own);
            return Some(own);
        }
        if is_site(path) {
            let mut own = Self::new(Kind::Site, path, found);
            own.add_site(path, SiteKind::Own, &prefix_of(path));
            return Some(own);
        }
        let mut own = Self::new(Kind::Prefix, path, found);
        own.add_sites(path, None, SiteKind::Own);
        (!own.sites.is_empty()).then_some(own)
    }

    /// Whether a directory is a venv, a conda prefix or is called as directories of packages are.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        let path = &*named(path);
        path.is_dir() && (is_file(&path.join("pyvenv.cfg")) || path.join("conda-meta").is_dir() || is_named_site(path))
    }

    /// The environment of an interpreter, by the layout around it: a venv or a conda prefix.
    #[must_use]
    pub fn of_interpreter(program: &Path, found: &str) -> Option<Self> {
        // the link in `bin` lies in the venv, what it leads to does not
        let folder = program.parent()?;
        let is_scripts = folder.file_name().is_some_and(|name| name == "bin" || name == "Scripts");
        let root = if is_scripts { folder.parent()? } else { folder };
        if is_file(&root.join("pyvenv.cfg")) || root.join("conda-meta").is_dir() {
            return Self::of_path(root, found);
        }
        None
    }

    /// The directories of packages below a prefix; of one version of Python where it is known.
    fn add_sites(&mut self, prefix: &Path, version: Option<&str>, kind: SiteKind) {
        let mut found = Vec::new();
        for lib in ["lib", "lib64", "local/lib"] {
            let Ok(entries) = std::fs::read_dir(prefix.join(lib)) else { continue };
            let names = entries.take(ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> = names.filter(|name| is_python(name, version)).collect();
            names.sort();
            for name in names {
                for packages in ["site-packages", "dist-packages"] {
                    let path = prefix.join(lib).join(&name).join(packages);
                    // a linked directory is known under its own name
                    if path.is_dir() {
                        found.push(path);
                    }
                }
            }
        }
        found.push(prefix.join("Lib").join("site-packages"));
        for path in found {
            self.add_site(&path, kind, prefix);
        }
    }
}

/// A path with a name: lists of files lead out of their directory (`../../../bin/x`), and nothing stands before `.`.
fn named(path: &Path) -> Cow<'_, Path> {
    let is_named = path.components().any(|part| matches!(part, Component::Normal(_)));
    let whole = if is_named { None } else { path.canonicalize().ok() };
    whole.map_or(Cow::Borrowed(path), Cow::Owned)
}

/// `python3.12` of that version, `python3`, `pypy3.10`.
fn is_python(name: &str, version: Option<&str>) -> bool {
    let Some(own) = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy")) else { return false };
    let own = own.trim_end_matches('t');
    own.starts_with('3') && (own == "3" || version.is_none_or(|version| version == own))
}

fn venv(root: &Path, found: &str) -> Environment {
    let mut own = Environment::new(Kind::Venv, root, found);
    own.add_sites(root, None, SiteKind::Own);
    let config = site::text(&root.join("pyvenv.cfg"), CONFIG).unwrap_or_default();
    let value = |wanted: &str| {
        let pairs = config.lines().filter_map(|line| line.split_once('='));
        let mut own = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim());
        own.next().map(ToOwned::to_owned)
    };
    own.python = value("version").or_else(|| value("version_info"));
    if let Some(uv) = value("uv") {
        own.notes.push(format!("made by uv {uv}"));
    }
    if value("include-system-site-packages").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        && let Some(home) = value("home").map(PathBuf::from)
        && home.is_absolute()
        && let Some(prefix) = home.parent()
    {
        let version = own.python.as_deref().map(|version| version.split('.').take(2).collect::<Vec<_>>().join("."));
        own.add_sites(prefix, version.as_deref(), SiteKind::System);
    }
    if own.sites.is_empty() {
        own.notes.push("it has no directory of packages".to_owned());
    }
    own
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn is_named_site(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    // `.` and `..` have no name
    let name = name.or_else(|| Some(std::fs::canonicalize(path).ok()?.file_name()?.to_string_lossy().into_owned()));
    name.is_some_and(|name| name == "site-packages" || name == "dist-packages")
}

/// Whether packages are installed in a directory itself.
fn is_site(path: &Path) -> bool {
    if !path.is_dir() {
        return false;
    }
    if is_named_site(path) {
        return true;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    let mut names = entries.take(ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.any(|name| name.ends_with(".dist-info") || name.ends_with(".egg-info") || name.ends_with(".egg-link"))
}

/// The prefix that a directory of packages is of; itself where the layout does not tell.
pub(super) fn prefix_of(site: &Path) -> PathBuf {
    let names: Vec<String> = site.iter().rev().take(3).map(|name| name.to_string_lossy().into_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let levels = match names.as_slice() {
        ["site-packages" | "dist-packages", python, "lib" | "lib64"] if is_python(python, None) => 3,
        ["site-packages", "Lib", ..] => 2,
        _ => 0,
    };
    site.ancestors().nth(levels).filter(|path| !path.as_os_str().is_empty()).unwrap_or(site).to_owned()
}

/// What lies beside directories that are read already, below one that is around them.
pub(super) fn around(path: &Path, read: &[PathBuf], root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let paths = entries.take(ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| !path.is_symlink())
        .filter(|path| !read.iter().any(|read| read.starts_with(path)) && !root.starts_with(path))
        .collect();
    paths.sort();
    paths
}

/// A path without `.` and `..`, by its words alone; nothing where it leads above its root.
pub(super) fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !plain.pop() => return None,
            Component::ParentDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic here is a failing test")]

    use super::*;

    #[test]
    fn the_prefix_is_above_the_directory_of_packages() {
        for (site, prefix) in [
            ("/v/lib/python3.12/site-packages", "/v"),
            ("/usr/lib/python3/dist-packages", "/usr"),
            ("/v/Lib/site-packages", "/v"),
            ("/t/site-packages", "/t/site-packages"),
            ("/v/lib/pypy3.10/site-packages", "/v"),
        ] {
            assert_eq!(prefix_of(Path::new(site)), Path::new(prefix), "{site}");
        }
    }

    #[test]
    fn a_path_that_leads_above_its_root_is_none() {
        assert_eq!(plain(Path::new("/a/b/../c/./d")).unwrap(), Path::new("/a/c/d"));
        assert_eq!(plain(Path::new("a/../../c")), None);
    }

    #[test]
    fn versions_are_told_apart() {
        assert!(is_python("python3.12", Some("3.12")) && is_python("python3", Some("3.12")));
        assert!(!is_python("python3.11", Some("3.12")) && !is_python("python2.7", None) && !is_python("x3", None));
    }
}
