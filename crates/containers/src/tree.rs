//! The files below a directory.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// A file under a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Path from the directory.
    pub relative: PathBuf,
    /// Path to open.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
}

/// What [`tree`] found.
#[derive(Debug, Default)]
pub struct Tree {
    /// Regular files in the order of their relative paths.
    pub files: Vec<TreeFile>,
    /// What could not be read: path from the directory, and why.
    pub problems: Vec<(PathBuf, io::Error)>,
    /// Links that lead out of the directory, which were not followed: path from the directory.
    pub outside: Vec<PathBuf>,
}

/// Files that the system makes while they are read, by the magic of their file system.
const KERNEL_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// All regular files under `root`. A file that several links lead to is listed once, under its own path where that is
/// below `root`; a directory is entered once, so that links in a circle end. Links that lead out of `root` are followed with
/// `outside` only. Pipes, devices and sockets are left out, and so are `/proc`, `/sys` and `/dev` unless `root` lies in them.
#[must_use]
pub fn tree(root: &Path, outside: bool) -> Tree {
    let mut tree = Tree::default();
    let own = match fs::canonicalize(root) {
        Ok(own) => own,
        Err(error) => {
            tree.problems.push((PathBuf::new(), error));
            return tree;
        }
    };
    let mut visit = Visit { tree, links: Vec::new(), seen: HashSet::new(), root: own, outside };
    visit.directory(root.to_path_buf(), PathBuf::new());
    // what a link leads to is taken only where no path of its own did
    visit.links.sort();
    let mut next = 0;
    while let Some((relative, path)) = visit.links.get(next).cloned() {
        next = next.saturating_add(1);
        visit.link(path, relative);
    }
    let mut tree = visit.tree;
    tree.files.sort_by_cached_key(|file| order(&file.relative));
    tree.problems.sort_by(|a, b| a.0.cmp(&b.0));
    tree.outside.sort();
    tree
}

/// The bytes of a path whose order is that of its components, as `Path` has it: no name holds a separator or a NUL.
fn order(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.map(|byte| if std::path::is_separator(char::from(*byte)) { 0 } else { *byte }).collect()
}

struct Visit {
    tree: Tree,
    links: Vec<(PathBuf, PathBuf)>,
    seen: HashSet<PathBuf>,
    /// The directory without links in its path.
    root: PathBuf,
    outside: bool,
}

impl Visit {
    fn directory(&mut self, directory: PathBuf, prefix: PathBuf) {
        let mut pending = vec![(directory, prefix)];
        while let Some((directory, prefix)) = pending.pop() {
            let real = match fs::canonicalize(&directory) {
                Ok(real) => real,
                Err(error) => {
                    self.tree.problems.push((prefix, error));
                    continue;
                }
            };
            let kernel =
                KERNEL_FOLDERS.iter().any(|folder| real == Path::new(folder) && !self.root.starts_with(folder));
            if kernel || !self.seen.insert(real.clone()) {
                continue;
            }
            let is_below = real.starts_with(&self.root);
            let entries = match fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    self.tree.problems.push((prefix, error));
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.tree.problems.push((prefix.clone(), error));
                        continue;
                    }
                };
                let name = entry.file_name();
                let relative = prefix.join(&name);
                let found = entry.file_type();
                let is = |kind: fn(&FileType) -> bool| found.as_ref().is_ok_and(kind);
                if is(FileType::is_symlink) {
                    self.links.push((relative, entry.path()));
                } else if is(FileType::is_dir) {
                    pending.push((entry.path(), relative));
                } else if is(FileType::is_file) {
                    match entry.metadata() {
                        Ok(metadata) => {
                            // what is below the root has a path of its own there, and needs no memory
                            if !is_below {
                                self.seen.insert(real.join(&name));
                            }
                            self.tree.files.push(TreeFile { relative, path: entry.path(), size: metadata.len() });
                        }
                        Err(error) => self.tree.problems.push((relative, error)),
                    }
                } else if let Err(error) = found {
                    self.tree.problems.push((relative, error));
                }
            }
        }
    }

    fn link(&mut self, path: PathBuf, relative: PathBuf) {
        // a link that leads nowhere is no file
        let (Ok(real), Ok(metadata)) = (fs::canonicalize(&path), fs::metadata(&path)) else { return };
        if !self.outside && !real.starts_with(&self.root) {
            if (metadata.is_dir() || metadata.is_file()) && !self.is_here(&path) {
                self.tree.outside.push(relative);
            }
            return;
        }
        if metadata.is_dir() {
            self.directory(path, relative);
        } else if metadata.is_file() && !real.starts_with(&self.root) && self.seen.insert(real) {
            self.tree.files.push(TreeFile { relative, path, size: metadata.len() });
        }
    }

    /// Whether an absolute link means a file of this tree, if the tree is the root of a system: then it is listed under its
    /// own path.
    fn is_here(&self, link: &Path) -> bool {
        let Ok(target) = fs::read_link(link) else { return false };
        let Ok(below) = target.strip_prefix("/") else { return false };
        fs::canonicalize(self.root.join(below)).is_ok_and(|real| real.starts_with(&self.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_the_order_of_their_paths() {
        let mut paths =
            ["b", "a.b", "a/b", "a b", "a-b/c", "a/b/c", "a/b.c", "a", "a\u{1}", "a/\u{e9}", ""].map(PathBuf::from);
        let mut same = paths.clone();
        paths.sort();
        same.sort_by_cached_key(|path| order(path));
        assert_eq!(same, paths);
    }
}
