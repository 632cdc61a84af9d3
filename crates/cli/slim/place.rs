//! Files that are changed in their places: each is written anew beside itself and takes its name, so that other names of the
//! old one, as installers link them into their caches, keep what they had.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fatscan::ArtefactKind;

use super::folder::{self, Kind};
use super::lists::{self, Changed};
use super::one::Reader;
use super::tree::{self, Planned, slimmed, tell};
use super::{Done, refused};
use crate::args::SlimArgs;
use crate::failure::Failure;
use crate::terminal::count;
use crate::unfinished::Unfinished;

/// Changes what is at a path, a directory or a file. The flag says whether something that was planned failed.
pub(super) fn slim(path: &Path, reader: &Reader<'_>, args: &SlimArgs) -> Result<(Done, bool), Failure> {
    let known = fs::metadata(path).map_err(|error| refused(path, &error.to_string()))?;
    if known.is_dir() {
        return all(tree::plan(path, reader)?, args, reader);
    }
    let real = path.canonicalize().map_err(|error| refused(path, &error.to_string()))?;
    let planned = reader.plan(&real, true)?;
    if planned.artefact.kind != ArtefactKind::File {
        return Err(Failure::with_hint(
            format!("`{}` is a {}", path.display(), planned.artefact.kind.name()),
            "--in-place is for libraries and directories; write the archive anew with -o OUT",
        ));
    }
    let changes = planned.changes();
    let done = Done { from: path.to_owned(), ..planned.done() };
    all(Planned::of_file(&real, changes, done).map_err(|error| refused(path, &error.to_string()))?, args, reader)
}

/// Keeps files as they were.
struct Backup<'a> {
    root: &'a Path,
    to: Option<PathBuf>,
}

impl Backup<'_> {
    /// Copies a file before it changes. One that is there already and holds something else is not written over.
    fn keep(&self, path: &Path) -> Result<(), String> {
        let Some(to) = &self.to else { return Ok(()) };
        // a list beside a directory that was given lies above it
        let relative = path.strip_prefix(self.root).map(Path::to_owned).unwrap_or_else(|_| {
            let info = path.parent().and_then(Path::file_name).unwrap_or_default();
            Path::new(info).join(path.file_name().unwrap_or_default())
        });
        let to = to.join(relative);
        let text = |error: io::Error| format!("no backup can be made at {}: {error}", to.display());
        if fs::symlink_metadata(&to).is_ok() {
            return match folder::is_equal(path, &to) {
                Ok(true) => Ok(()),
                Ok(false) => Err(format!("another backup is at {}; name a new directory", to.display())),
                Err(error) => Err(text(error)),
            };
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(text)?;
        }
        let file = Unfinished::begin(&to).map_err(text)?;
        let temporary = file.temporary().ok_or_else(|| format!("{} is no file", to.display()))?.to_owned();
        fs::remove_file(&temporary).and_then(|()| folder::copy(path, &temporary)).map_err(text)?;
        fs::File::open(&temporary).and_then(|own| own.sync_all()).map_err(text)?;
        file.finish_new().map_err(text)
    }
}

fn all(mut planned: Planned, args: &SlimArgs, reader: &Reader<'_>) -> Result<(Done, bool), Failure> {
    if args.dry_run {
        return Ok((planned.done.in_place(), false));
    }
    let root = planned.root.clone();
    let above = if root.is_dir() { root.clone() } else { root.parent().unwrap_or(&root).to_owned() };
    let mut backup = Backup { root: &above, to: None };
    if let Some(to) = args.backup.as_ref().filter(|_| !planned.files.is_empty()) {
        let unwritten = |error: io::Error| refused(to, &format!("cannot be written: {error}"));
        let to = folder::real(to).map_err(unwritten)?;
        if root.is_dir() && to.starts_with(&root) {
            return Err(refused(&to, "a backup does not lie in what is changed"));
        }
        fs::create_dir_all(&to).map_err(unwritten)?;
        backup.to = Some(to);
    }
    let (mut changed, mut elsewhere, mut has_failed) = (Vec::new(), BTreeSet::new(), false);
    let mut seen = BTreeSet::new();
    for relative in planned.files.clone() {
        let (names, rest) = planned.names(&relative);
        // joined with nothing a path would end as that of a folder
        let full = |own: &Path| if own.as_os_str().is_empty() { root.clone() } else { root.join(own) };
        let names: Vec<PathBuf> = names.iter().map(|own| full(own)).collect();
        let Some(path) = names.first().cloned().filter(|own| seen.insert(own.clone())) else { continue };
        match one(&path, &names, reader, &backup, &mut changed) {
            Ok(unchanged) => {
                if rest > 0 {
                    elsewhere.insert(relative.display().to_string());
                }
                has_failed |= !unchanged.is_empty();
                planned.done.notes.extend(unchanged);
            }
            Err(failure) => {
                planned.undo(&relative, &failure);
                has_failed = true;
            }
        }
    }
    let lists = lists::update(&changed, None, &mut |path| backup.keep(path));
    has_failed |= !lists.failures.is_empty();
    planned.done.notes.extend(lists.failures);
    planned.done.signatures = lists.signatures.iter().map(|own| own.display().to_string()).collect();
    if !elsewhere.is_empty() {
        let number = count(elsewhere.len(), "file has", "files have");
        let note =
            "other names elsewhere (a cache of the installer), which keep the old bytes and their place on the disk";
        planned.done.notes.push(format!("{number} {note}: {}", tree::some(&elsewhere)));
    }
    tell(&mut planned.done, &BTreeSet::new(), lists.is_conda);
    let to = (!changed.is_empty()).then(|| planned.done.from.clone());
    Ok((Done { to, is_in_place: true, ..planned.done.in_place() }, has_failed))
}

/// Changes one file, all names of it; each that has the new bytes is added to `changed`. The sentences are about further names
/// that keep the old ones.
fn one(
    path: &Path,
    names: &[PathBuf],
    reader: &Reader<'_>,
    backup: &Backup<'_>,
    changed: &mut Vec<Changed>,
) -> Result<Vec<String>, Failure> {
    let mut unchanged = Vec::new();
    let Some((file, finished)) = slimmed(path, path, reader)? else { return Ok(unchanged) };
    backup.keep(path).map_err(|why| refused(path, &why))?;
    if let Some(temporary) = file.temporary() {
        owned(temporary, path);
    }
    file.finish().map_err(|error| refused(path, &format!("cannot be written: {error}")))?;
    changed.push(Changed { path: path.to_owned(), hash: finished.hash, size: finished.size });
    for other in names.iter().skip(1) {
        match again(path, other) {
            Ok(()) => changed.push(Changed { path: other.clone(), hash: finished.hash, size: finished.size }),
            Err(error) => unchanged.push(format!("{} keeps the old bytes: {error}", other.display())),
        }
    }
    Ok(unchanged)
}

/// Gives a file another name, in the place of what has it.
fn again(path: &Path, other: &Path) -> io::Result<()> {
    let own = Unfinished::begin(other)?;
    let temporary = own.temporary().map(Path::to_owned).ok_or(io::ErrorKind::InvalidInput)?;
    let linked = fs::remove_file(&temporary).and_then(|()| fs::hard_link(path, &temporary));
    linked.or_else(|_| folder::copy(path, &temporary)).and_then(|()| own.finish())
}

/// Who owned the old one owns the new one, as far as the system lets it be.
#[cfg(unix)]
fn owned(new: &Path, old: &Path) {
    use std::os::unix::fs::{MetadataExt, chown};
    if let (Ok(new_one), Ok(old)) = (fs::metadata(new), fs::metadata(old))
        && (new_one.uid(), new_one.gid()) != (old.uid(), old.gid())
    {
        let _ = chown(new, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
const fn owned(_: &Path, _: &Path) {}

/// All names of a file below the root that was given, and how many it has elsewhere.
impl Planned {
    fn names(&self, file: &Path) -> (Vec<&Path>, u64) {
        let own = self.entries.iter().find(|own| own.relative == file);
        let Some(Kind::File(Some((id, all)))) = own.map(|own| own.kind) else {
            return (own.map(|own| own.relative.as_path()).into_iter().collect(), 0);
        };
        let same = |own: &&folder::Entry| matches!(own.kind, Kind::File(Some((other, _))) if other == id);
        let names: Vec<&Path> = self.entries.iter().filter(same).map(|own| own.relative.as_path()).collect();
        let rest = all.saturating_sub(u64::try_from(names.len()).unwrap_or(u64::MAX));
        (names, rest)
    }
}
