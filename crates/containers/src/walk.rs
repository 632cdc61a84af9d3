use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file under a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEntry {
    /// Path from the directory, with `/` between its parts.
    pub relative: String,
    /// Path to open.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
}

/// What [`walk`] found.
#[derive(Debug, Default)]
pub struct Walk {
    /// Regular files in the order of their relative paths.
    pub files: Vec<WalkEntry>,
    /// What could not be read: path from the directory, and why.
    pub problems: Vec<(String, io::Error)>,
}

/// All regular files under `root`. A file that several links lead to is listed once, under its own path where that is
/// below `root`; a directory is entered once, so that links in a circle end. Pipes, devices and sockets are left out.
#[must_use]
pub fn walk(root: &Path) -> Walk {
    let mut walk = Walk::default();
    let mut links = Vec::new();
    let mut seen = HashSet::new();
    visit(root, String::new(), &mut walk, &mut links, &mut seen);
    // what a link leads to is taken only where no path of its own did
    links.sort();
    let mut next = 0;
    while let Some((relative, path)) = links.get(next).cloned() {
        next = next.saturating_add(1);
        follow(&path, relative, &mut walk, &mut links, &mut seen);
    }
    walk.files.sort_by(|a, b| a.relative.cmp(&b.relative));
    walk.problems.sort_by(|a, b| a.0.cmp(&b.0));
    walk
}

type Links = Vec<(String, PathBuf)>;

fn visit(directory: &Path, prefix: String, walk: &mut Walk, links: &mut Links, seen: &mut HashSet<PathBuf>) {
    let mut pending = vec![(directory.to_path_buf(), prefix)];
    while let Some((directory, prefix)) = pending.pop() {
        let real = match fs::canonicalize(&directory) {
            Ok(real) => real,
            Err(error) => {
                walk.problems.push((prefix, error));
                continue;
            }
        };
        if !seen.insert(real.clone()) {
            continue;
        }
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                walk.problems.push((prefix, error));
                continue;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    walk.problems.push((prefix.clone(), error));
                    continue;
                }
            };
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let relative = if prefix.is_empty() { shown.into_owned() } else { format!("{prefix}/{shown}") };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push((relative, path)),
                Ok(kind) if kind.is_dir() => pending.push((path, relative)),
                Ok(kind) if kind.is_file() => match entry.metadata() {
                    Ok(metadata) => {
                        // the directory is canonical, and so is a file in it that is no link
                        seen.insert(real.join(&name));
                        walk.files.push(WalkEntry { relative, path, size: metadata.len() });
                    }
                    Err(error) => walk.problems.push((relative, error)),
                },
                Ok(_) => {}
                Err(error) => walk.problems.push((relative, error)),
            }
        }
    }
}

fn follow(path: &Path, relative: String, walk: &mut Walk, links: &mut Links, seen: &mut HashSet<PathBuf>) {
    // a link that leads nowhere is no file
    let Ok(real) = fs::canonicalize(path) else { return };
    let Ok(metadata) = fs::metadata(path) else { return };
    if metadata.is_dir() {
        visit(path, relative, walk, links, seen);
    } else if metadata.is_file() && seen.insert(real) {
        walk.files.push(WalkEntry { relative, path: path.to_path_buf(), size: metadata.len() });
    }
}
