//! What is in a directory, name by name, and how it is copied.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What a name in a directory is. Nothing is reached through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    /// A file; where it has several names, what they have in common, and how many there are in all.
    File(Option<((u64, u64), u64)>),
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// A name below a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) relative: PathBuf,
    pub(super) kind: Kind,
}

/// All that is below a directory, folders before what is in them. Files that an earlier run was killed over are left out.
pub(super) fn walk(root: &Path) -> Result<Vec<Entry>, (PathBuf, io::Error)> {
    let mut entries = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(folder) = pending.pop() {
        let at = |error| (root.join(&folder), error);
        let mut names = Vec::new();
        for entry in fs::read_dir(root.join(&folder)).map_err(at)? {
            names.push(entry.map_err(at)?.file_name());
        }
        names.sort();
        for name in names {
            let relative = folder.join(&name);
            let text = name.to_string_lossy();
            if text.starts_with(".fatscan-") && (text.ends_with(".tmp") || text.ends_with(".whl")) {
                continue;
            }
            let own = fs::symlink_metadata(root.join(&relative)).map_err(|error| (root.join(&relative), error))?;
            let kind = match own.file_type() {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_file() => Kind::File(names_of(&own)),
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Special,
            };
            if kind == Kind::Folder {
                pending.push(relative.clone());
            }
            entries.push(Entry { relative, kind });
        }
    }
    // a path sorts behind those that it lies in
    entries.sort_by(|one, other| one.relative.cmp(&other.relative));
    Ok(entries)
}

#[cfg(unix)]
pub(super) fn names_of(own: &Metadata) -> Option<((u64, u64), u64)> {
    use std::os::unix::fs::MetadataExt;
    (own.nlink() > 1).then(|| ((own.dev(), own.ino()), own.nlink()))
}

#[cfg(not(unix))]
pub(super) const fn names_of(_: &Metadata) -> Option<((u64, u64), u64)> {
    None
}

/// Copies a file to a name that is free, with its permissions and times. A link that came in its place is not followed.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut old = plain(from)?;
    let known = old.metadata()?;
    if !known.is_file() {
        return Err(io::Error::other("it is no file any more"));
    }
    let mut new = OpenOptions::new().write(true).create_new(true).open(to)?;
    io::copy(&mut old, &mut new)?;
    let times = known.modified().map(|modified| FileTimes::new().set_modified(modified));
    // a file system may know none
    let _ = times.and_then(|times| new.set_times(times));
    permit(to, &known)
}

/// Opens a file that is no link.
#[cfg(unix)]
fn plain(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn plain(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The permissions of something, without the right to run as its owner: who writes it may be somebody else.
#[cfg(unix)]
pub(super) fn permit(path: &Path, known: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(known.permissions().mode() & 0o1777))
}

#[cfg(not(unix))]
pub(super) fn permit(path: &Path, known: &Metadata) -> io::Result<()> {
    fs::set_permissions(path, known.permissions())
}

/// Writes a link that leads to where another one does.
#[cfg(unix)]
pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(windows)]
pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    let target = fs::read_link(from)?;
    if fs::metadata(from).is_ok_and(|own| own.is_dir()) {
        std::os::windows::fs::symlink_dir(target, to)
    } else {
        std::os::windows::fs::symlink_file(target, to)
    }
}

/// Whether two files hold the same.
pub(super) fn is_equal(one: &Path, other: &Path) -> io::Result<bool> {
    use std::io::BufRead;
    let (mut one, mut other) = (io::BufReader::new(plain(one)?), io::BufReader::new(plain(other)?));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let count = left.len().min(right.len());
        if count == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left.get(..count) != right.get(..count) {
            return Ok(false);
        }
        one.consume(count);
        other.consume(count);
    }
}

/// A path without links on the way, also where its end is not there yet.
pub(super) fn real(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    for there in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
        }
    }
    Ok(path)
}

/// Makes a directory for this user alone: what is copied into it may be meant for nobody else.
fn private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A directory that gets its name when all is in it. Where it is not finished it goes.
#[derive(Debug)]
pub(super) struct UnfinishedFolder {
    pub(super) path: PathBuf,
    is_named: bool,
}

impl UnfinishedFolder {
    pub(super) fn begin(beside: &Path) -> io::Result<Self> {
        let folder = beside.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut number = 0u32;
        loop {
            let path = folder.join(format!(".fatscan-{}-tree-{number}.tmp", std::process::id()));
            match private(&path) {
                Ok(()) => return Ok(Self { path, is_named: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {
                    number = number.saturating_add(1);
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn finish(mut self, to: &Path) -> io::Result<()> {
        if fs::symlink_metadata(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.path, to)?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        if !self.is_named {
            // links in it are taken away and not followed
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
