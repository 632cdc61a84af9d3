//! Lists of files: whether they can be relied on, and what they name.

use std::path::{Path, PathBuf};

use super::conda;
use super::distribution::{Distribution, FileList, Listed, Made};
use super::{Site, layout};
use crate::open;
use crate::package::paths_of_record;

/// Files outside of the directories of packages that are looked at.
const OUTSIDE: usize = 10_000;

/// Reads every list once: what it is worth, and the libraries that it names outside of the directories of packages.
pub(super) fn read_lists(all: &mut [Distribution], sites: &[Site], outside: &mut Vec<PathBuf>) {
    for own in all {
        let Some(list) = own.list.clone() else { continue };
        // an editable installation lists what leads to it
        let mut number = 0_u64;
        let result = each(&list, own, &prefix(own, sites), |file| {
            number = number.saturating_add(1);
            let is_inside = sites.iter().any(|site| file.starts_with(&site.path));
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !is_inside && own.made != Made::Conda && open::is_library(&name) && outside.len() < OUTSIDE {
                outside.push(file.to_owned());
            }
        });
        own.listed = match result {
            Err(why) => Listed::Broken(why),
            Ok(false) => Listed::Missing,
            Ok(true) if number == 0 => Listed::Broken("it names no file".to_owned()),
            Ok(true) => Listed::Files(number),
        };
    }
    outside.retain(|file| std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file()));
    outside.sort();
    outside.dedup();
}

/// The directory that the files of a distribution lie below.
pub(super) fn prefix(own: &Distribution, sites: &[Site]) -> PathBuf {
    let site = sites.iter().find(|site| site.path == own.site);
    site.map_or_else(|| own.site.clone(), |site| site.prefix.clone())
}

/// Gives the paths that a list names and that lie below the prefix: no `..` and no absolute path leads out of it. `false`
/// where there is no list.
pub(super) fn each(
    list: &FileList,
    own: &Distribution,
    prefix: &Path,
    mut give: impl FnMut(&Path),
) -> Result<bool, String> {
    let base = match list {
        FileList::Record(_) | FileList::Conda(_) => own.site.as_path(),
        FileList::Installed(_) => own.info.as_path(),
    };
    let mut path = |name: &str| {
        if let Some(path) = layout::plain(&base.join(name)).filter(|path| path.starts_with(prefix)) {
            give(&path);
        }
    };
    match list {
        FileList::Conda(file) => {
            // the prefix is the directory above `conda-meta`
            let root = file.ancestors().nth(2).unwrap_or(prefix);
            for name in conda::files(file)? {
                if let Some(path) = layout::plain(&root.join(name)).filter(|path| path.starts_with(root)) {
                    give(&path);
                }
            }
            Ok(true)
        }
        FileList::Record(file) => paths_of_record(file, true, path),
        FileList::Installed(file) => paths_of_record(file, false, |name| path(name)),
    }
}
