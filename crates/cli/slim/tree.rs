//! Directories and environments: copied with their libraries slimmed, or changed in their places.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fatscan::slim::{MemberPlan, Planner};
use fatscan::{ArtefactKind, Input, Level};

use super::folder::{self, Entry, Kind, UnfinishedFolder};
use super::lists::{self, Changed};
use super::one::{Finished, Reader};
use super::{Done, refused};
use crate::args::SlimArgs;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::terminal::count;
use crate::unfinished::Unfinished;

/// A directory that was read and planned.
pub(super) struct Planned {
    /// Without links on the way.
    pub(super) root: PathBuf,
    pub(super) entries: Vec<Entry>,
    /// Files that change, by their paths below the root.
    pub(super) files: BTreeSet<PathBuf>,
    /// The same of those that have several names.
    ids: BTreeSet<(u64, u64)>,
    pub(super) done: Done,
}

/// Files that are named in a sentence.
const NAMED: usize = 5;

/// A few names, and how many more there are.
pub(super) fn some(names: &BTreeSet<String>) -> String {
    let few: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let rest = names.len().saturating_sub(few.len());
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", few.join(", "))
}

pub(super) fn plan(path: &Path, reader: &Reader<'_>) -> Result<Planned, Failure> {
    let root = path.canonicalize().map_err(|error| refused(path, &error.to_string()))?;
    let entries = folder::walk(&root).map_err(|(at, error)| refused(&at, &error.to_string()))?;
    let kinds: BTreeMap<&Path, Kind> = entries.iter().map(|own| (own.relative.as_path(), own.kind)).collect();
    let bar = Bar::start(reader.scanner.progress());
    let report = reader.scanner.report(&[Input::Path(&root)]);
    bar.finish();
    let below = |own: PathBuf| own.strip_prefix(&root).map(Path::to_owned).ok();
    let errors = report.diagnostics.iter().filter(|own| own.level == Level::Error).map(|own| &own.at);
    let mut odd = BTreeSet::new();
    for at in errors.chain(report.unread.iter().map(|own| &own.at)) {
        odd.extend(below(at.path()).map(|own| own.display().to_string()).filter(|own| !own.is_empty()));
    }
    let mut done = Done { kind: ArtefactKind::Directory, is_in_place: false, ..Done::of(path) };
    let (mut files, mut archives) = (BTreeSet::new(), BTreeSet::new());
    let mut planner = Planner::new(reader.chosen.wish());
    for artefact in &report.artefacts {
        done.before = done.before.saturating_add(artefact.size);
        for member in &artefact.members {
            let Some(relative) = member.at.path().canonicalize().ok().and_then(below) else { continue };
            if !member.at.inner().is_empty() {
                archives.insert(relative.display().to_string());
                continue;
            }
            let is_file = matches!(kinds.get(relative.as_path()), Some(Kind::File(_)));
            if !is_file || odd.contains(&relative.display().to_string()) {
                continue;
            }
            let plan = planner.plan(member);
            if !plan.edits.is_empty() {
                files.insert(relative.clone());
            }
            done.members.push((relative.display().to_string(), plan));
        }
    }
    if !odd.is_empty() {
        let number = count(odd.len(), "file", "files");
        done.notes.push(format!("damaged or not wholly read, and left as they are: {number}: {}", some(&odd)));
    }
    if !archives.is_empty() {
        let number = count(archives.len(), "archive", "archives");
        done.notes.push(format!("left as they are: {number}, to be slimmed by themselves: {}", some(&archives)));
    }
    let ids = entries.iter().filter(|own| files.contains(&own.relative));
    let ids = ids.filter_map(|own| match own.kind {
        Kind::File(names) => names.map(|(id, _)| id),
        _ => None,
    });
    let ids = ids.collect();
    Ok(Planned { root, files, ids, entries, done })
}

impl Planned {
    /// Of one file.
    pub(super) fn of_file(path: &Path, changes: bool, done: Done) -> io::Result<Self> {
        let known = fs::symlink_metadata(path)?;
        let kind = Kind::File(folder::names_of(&known));
        let files = if changes { BTreeSet::from([PathBuf::new()]) } else { BTreeSet::new() };
        let entries = vec![Entry { relative: PathBuf::new(), kind }];
        Ok(Self { root: path.to_owned(), entries, files, ids: BTreeSet::new(), done })
    }

    /// Whether something is a file that changes, perhaps under another name.
    fn changes(&self, relative: &Path, id: Option<(u64, u64)>) -> bool {
        self.files.contains(relative) || id.is_some_and(|id| self.ids.contains(&id))
    }

    /// What was planned and did not come about.
    pub(super) fn undo(&mut self, file: &Path, why: &Failure) {
        let name = file.display().to_string();
        let shown = if name.is_empty() { self.done.from.display().to_string() } else { name.clone() };
        self.done.notes.push(format!("left as it is: {shown}: {}", why.text()));
        // of a single file that is all there is
        let is_only = name.is_empty();
        if let Some((_, plan)) = self.done.members.iter_mut().find(|(path, _)| is_only || *path == name) {
            *plan = MemberPlan::default();
        }
    }
}

/// Slims one file to a place. Nothing where it has nothing to leave out.
pub(super) fn slimmed(from: &Path, to: &Path, reader: &Reader<'_>) -> Result<Option<(Unfinished, Finished)>, Failure> {
    let planned = reader.plan(from, false)?;
    if !planned.changes() {
        return Ok(None);
    }
    let file = Unfinished::begin(to).map_err(|error| refused(to, &format!("cannot be written: {error}")))?;
    let finished = reader.write(&planned, None, &file)?;
    Ok(Some((file, finished)))
}

/// Copies a directory with its libraries slimmed.
pub(super) fn copy(
    path: &Path,
    is_folder: bool,
    reader: &Reader<'_>,
    args: &SlimArgs,
) -> Result<(Done, bool), Failure> {
    let mut planned = plan(path, reader)?;
    let Some(out) = args.to.as_ref().filter(|_| !args.dry_run) else { return Ok((planned.done.in_place(), false)) };
    let name = planned.root.file_name().map(PathBuf::from).unwrap_or_default();
    let to = if is_folder { out.join(name) } else { out.clone() };
    if fs::symlink_metadata(&to).is_ok() {
        let hint = "a directory is written to a new name";
        return Err(Failure::with_hint(format!("`{}` exists", to.display()), hint));
    }
    let unwritten = |error: io::Error| refused(&to, &format!("cannot be written: {error}"));
    if folder::real(&to).map_err(unwritten)?.starts_with(&planned.root) {
        return Err(refused(&to, "lies in the directory that is copied"));
    }
    let new = UnfinishedFolder::begin(&to).map_err(unwritten)?;
    let base = new.path.canonicalize().map_err(unwritten)?;
    let entries = std::mem::take(&mut planned.entries);
    let mut first_names: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
    let (mut changed, mut specials, mut has_failed) = (Vec::new(), BTreeSet::new(), false);
    for Entry { relative, kind } in &entries {
        let (from, to) = (planned.root.join(relative), base.join(relative));
        let failed = |error: io::Error| refused(&from, &format!("cannot be copied: {error}"));
        match kind {
            Kind::Folder => fs::create_dir(&to).map_err(failed)?,
            Kind::Link => folder::link(&from, &to).map_err(failed)?,
            Kind::Special => {
                specials.insert(relative.display().to_string());
            }
            Kind::File(names) => {
                let id = names.map(|(id, _)| id);
                if let Some(first) = id.and_then(|id| first_names.get(&id))
                    && fs::hard_link(first, &to).is_ok()
                {
                    if let Some(own) = changed.iter().find(|own: &&Changed| own.path == *first) {
                        changed.push(Changed { path: to, hash: own.hash, size: own.size });
                    }
                    continue;
                }
                let own = if planned.changes(relative, id) { slimmed(&from, &to, reader) } else { Ok(None) };
                match own {
                    Ok(Some((file, finished))) => {
                        file.finish_new().map_err(failed)?;
                        changed.push(Changed { path: to.clone(), hash: finished.hash, size: finished.size });
                    }
                    Ok(None) => folder::copy(&from, &to).map_err(failed)?,
                    Err(failure) => {
                        planned.undo(relative, &failure);
                        has_failed = true;
                        folder::copy(&from, &to).map_err(failed)?;
                    }
                }
                if let Some(id) = id {
                    first_names.insert(id, to);
                }
            }
        }
    }
    let lists = lists::update(&changed, Some(&base), &mut |_| Ok(()));
    if let Some(why) = lists.failures.first() {
        return Err(refused(&to, why));
    }
    let shown = |own: &PathBuf| own.strip_prefix(&base).unwrap_or(own).display().to_string();
    planned.done.signatures = lists.signatures.iter().map(shown).collect();
    tell(&mut planned.done, &specials, lists.is_conda);
    // a folder that may not be written to is filled first; its own permissions come last
    let folders = entries.iter().rev().filter(|own| own.kind == Kind::Folder).map(|own| own.relative.clone());
    for relative in folders.chain([PathBuf::new()]) {
        let known = fs::symlink_metadata(planned.root.join(&relative)).map_err(unwritten)?;
        folder::permit(&base.join(&relative), &known).map_err(unwritten)?;
    }
    new.finish(&to).map_err(unwritten)?;
    Ok((Done { to: Some(to), ..planned.done.in_place() }, has_failed))
}

/// What else is to be known.
pub(super) fn tell(done: &mut Done, specials: &BTreeSet<String>, is_conda: bool) {
    if !specials.is_empty() {
        done.notes.push(format!("not copied, since they are no files: {}", some(specials)));
    }
    if is_conda {
        done.notes.push("conda's own lists (conda-meta) state the old hashes: `conda doctor` will say so".to_owned());
    }
}
