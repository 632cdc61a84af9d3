//! A report taken apart: one artefact a distribution.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::distribution::{Distribution, Listed, Made};
use super::{Environment, record};
use crate::diagnostic::Level;
use crate::locator::Locator;
use crate::model::{Artefact, ArtefactKind, Member, Report};
use crate::package::{Owners, plain};

/// A report with one artefact for each distribution that has device code, in the order of the distributions, and a last one
/// for the files that belong to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Groups {
    /// The report; its artefacts are called as their distributions.
    pub report: Report,
    /// Of each artefact the index of its distribution; `None` for the files of nobody.
    pub of: Vec<Option<usize>>,
    /// Indices of the distributions whose files could not all be read.
    pub damaged: Vec<usize>,
}

/// What the files are called that no distribution owns.
#[must_use]
pub const fn name_of_nobody() -> &'static str {
    "files of no distribution"
}

impl Groups {
    /// The artefact of a distribution, or of the files of nobody.
    #[must_use]
    pub fn artefact_of(&self, distribution: Option<usize>) -> Option<usize> {
        self.of.iter().position(|own| *own == distribution)
    }

    /// Leaves the artefacts of some distributions; one without device code has an empty one.
    pub fn keep(&mut self, distributions: &[usize], environment: &Environment) {
        let mut of = std::mem::take(&mut self.of).into_iter();
        let artefacts = std::mem::take(&mut self.report.artefacts).into_iter();
        let mut own: BTreeMap<usize, Artefact> =
            artefacts.filter_map(|artefact| Some((of.next()??, artefact))).collect();
        for index in distributions {
            let Some(distribution) = environment.distributions.get(*index) else { continue };
            self.of.push(Some(*index));
            self.report.artefacts.push(own.remove(index).unwrap_or_else(|| artefact(distribution, Vec::new())));
        }
    }

    /// The packages of the files, for advice.
    #[must_use]
    pub fn owners(&self, environment: &Environment) -> Owners {
        let package = |own: &Option<usize>| environment.distributions.get((*own)?)?.package();
        let artefacts = self.report.artefacts.iter().zip(&self.of);
        Owners::new(artefacts.map(|(artefact, own)| vec![package(own); artefact.members.len()]).collect())
    }
}

/// Takes the report of a scan of [`Environment::inputs`] apart. This reads the lists of the distributions from the disk.
#[must_use]
pub fn group(report: Report, environment: &Environment) -> Groups {
    let errors = report.diagnostics.iter().filter(|own| own.level == Level::Error).map(|own| own.at.path());
    let unread = report.unread.iter().map(|own| own.at.path());
    let unreadable: Vec<PathBuf> = errors.chain(unread).collect();
    let members: Vec<PathBuf> =
        report.artefacts.iter().flat_map(|artefact| &artefact.members).map(|member| member.at.path()).collect();
    let owners = owners(environment, members.iter().chain(&unreadable));
    let mut damaged: Vec<usize> = unreadable.iter().filter_map(|path| owners.get(path.as_path()).copied()).collect();
    damaged.sort_unstable();
    damaged.dedup();
    // those of nobody come last
    let mut groups: BTreeMap<usize, (Option<usize>, Vec<Member>)> = BTreeMap::new();
    let mut known: HashMap<Locator, ()> = HashMap::new();
    let mut all: Vec<Member> = Vec::new();
    for artefact in report.artefacts {
        all.extend(artefact.members);
    }
    for (mut member, path) in all.into_iter().zip(&members) {
        if known.insert(member.at.clone(), ()).is_some() {
            continue;
        }
        let own = owners.get(path.as_path()).copied();
        member.path = match &*member.at.steps {
            // a file that was given by itself
            [_] => {
                let site = own.and_then(|own| environment.distributions.get(own)).map(|own| own.site.as_path());
                let relative = site.and_then(|site| path.strip_prefix(site).ok()).unwrap_or(path);
                relative.to_string_lossy().into_owned()
            }
            _ => member.at.names(1),
        };
        groups.entry(own.unwrap_or(usize::MAX)).or_insert_with(|| (own, Vec::new())).1.push(member);
    }
    let mut grouped = Groups { damaged, ..Groups::default() };
    for (own, members) in groups.into_values() {
        grouped.of.push(own);
        grouped.report.artefacts.push(match own.and_then(|own| environment.distributions.get(own)) {
            Some(distribution) => artefact(distribution, members),
            None => named(name_of_nobody().to_owned(), &environment.root, members),
        });
    }
    grouped.report.diagnostics = report.diagnostics;
    grouped.report.unread = report.unread;
    grouped.report.depth = report.depth;
    grouped
}

/// The files of a distribution.
fn artefact(own: &Distribution, members: Vec<Member>) -> Artefact {
    named(own.title(), &own.site, members)
}

fn named(path: String, place: &Path, members: Vec<Member>) -> Artefact {
    Artefact {
        path,
        at: Locator::given(place.as_os_str()),
        kind: ArtefactKind::Directory,
        size: members.iter().map(|member| member.size).fold(0, u64::saturating_add),
        members_without_code: 0,
        members,
    }
}

/// The distributions of files: by their lists, then by editable directories, then, where a list is missing or broken, by the
/// name of the topmost directory.
pub(super) fn owners<'a>(
    environment: &Environment,
    files: impl Iterator<Item = &'a PathBuf>,
) -> HashMap<&'a Path, usize> {
    let mut wanted: HashMap<&Path, Option<usize>> = files.map(|file| (file.as_path(), None)).collect();
    let mut order: Vec<(usize, &Distribution)> = environment.distributions.iter().enumerate().collect();
    // a package of conda may hold what pip knows better
    order.sort_by_key(|(index, own)| (own.made == Made::Conda, *index));
    for (index, own) in &order {
        let Some(list) = &own.list else { continue };
        let prefix = record::prefix(own, &environment.sites);
        // what is wrong with the list is known
        let _ = record::each(list, own, &prefix, |path| {
            if let Some(slot) = wanted.get_mut(path) {
                slot.get_or_insert(*index);
            }
        });
    }
    let editable: Vec<(usize, &Path)> =
        order.iter().filter_map(|(index, own)| Some((*index, own.editable.as_deref()?))).collect();
    let unlisted: Vec<(usize, &Distribution)> = order
        .iter()
        .filter(|(_, own)| !matches!(own.listed, Listed::Files(_)) && own.made != Made::Conda)
        .copied()
        .collect();
    for (file, slot) in wanted.iter_mut().filter(|(_, slot)| slot.is_none()) {
        let around = editable.iter().filter(|(_, place)| file.starts_with(place));
        *slot = around.max_by_key(|(_, place)| place.components().count()).map(|(index, _)| *index);
        if slot.is_none() {
            let mut named = unlisted.iter().filter(|(_, own)| is_named_for(file, own));
            // two versions, one of which was left behind: it is not known whose the file is
            *slot = named.next().map(|(index, _)| *index).filter(|_| named.next().is_none());
        }
    }
    wanted.into_iter().filter_map(|(file, owner)| Some((file, owner?))).collect()
}

/// Whether the topmost name of a file in its directory of packages is one of a distribution.
fn is_named_for(file: &Path, own: &Distribution) -> bool {
    let Ok(relative) = file.strip_prefix(&own.site) else { return false };
    let Some(first) = relative.iter().next().map(|name| name.to_string_lossy().into_owned()) else { return false };
    // `name.libs` beside `name`, `name.cpython-312-x86_64-linux-gnu.so`
    let top = first.split('.').next().unwrap_or_default();
    own.tops.iter().any(|own| own == top) || plain(top) == plain(&own.name)
}
