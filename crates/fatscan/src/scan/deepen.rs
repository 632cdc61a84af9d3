//! A second look at a few files, deeper than the first.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::{ArtefactKind, Report};

/// Reads some members ([`crate::wants_kernels`]) once more, with their kernels: the file itself where it lies in a directory,
/// else what holds it. `scan` gives the deeper report of a path, as it was given or below it; a name of [`super::Input::Bytes`]
/// is one, too. What changed meanwhile stays as it was.
///
/// # Errors
/// Those of `scan`, at the first.
pub fn deepen<E>(
    report: &mut Report,
    members: Vec<(usize, usize)>,
    mut scan: impl FnMut(&Path) -> Result<Report, E>,
) -> Result<(), E> {
    let mut by_path: BTreeMap<PathBuf, Vec<(usize, usize)>> = BTreeMap::new();
    for (place, index) in members {
        let Some(artefact) = report.artefacts.get(place) else { continue };
        let Some(member) = artefact.members.get(index) else { continue };
        let steps = if artefact.kind == ArtefactKind::Directory { &member.at.steps } else { &artefact.at.steps };
        // what lies deeper than a file below a directory is left as it is
        if steps.len() <= 2 {
            let path: PathBuf = steps.iter().map(|step| path_of(&step.name)).collect();
            by_path.entry(path).or_default().push((place, index));
        }
    }
    for (path, members) in by_path {
        let found = scan(&path)?;
        for (place, index) in members {
            let own = report.artefacts.get_mut(place).and_then(|artefact| artefact.members.get_mut(index));
            let Some(own) = own else { continue };
            let all = || found.artefacts.iter().flat_map(|artefact| &artefact.members);
            let same =
                all().find(|member| member.path == own.path).or_else(|| all().next().filter(|_| all().count() == 1));
            // a file that changed meanwhile is left as it was
            if let Some(same) = same.filter(|same| same.size == own.size && same.modules.len() == own.modules.len()) {
                let pairs = own.modules.iter_mut().zip(&same.modules);
                for (own, same) in pairs.flat_map(|(own, same)| own.images.iter_mut().zip(&same.images)) {
                    own.kernels.clone_from(&same.kernels);
                }
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(name).to_owned()
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> OsString {
    String::from_utf8_lossy(name).into_owned().into()
}
