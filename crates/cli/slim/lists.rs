//! The lists of installed files: they state hashes and sizes of what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use fatscan::slim::{Entry, relisted};

use crate::unfinished::Unfinished;

/// Bytes of a list that is read.
const LIST: u64 = 64 << 20;

/// A file that changed: where it is, without links on the way, its hash and its bytes.
pub(super) struct Changed {
    pub(super) path: PathBuf,
    pub(super) hash: [u8; 32],
    pub(super) size: u64,
}

/// Files by the paths that a list has, with their hashes and bytes.
type Files = BTreeMap<Vec<u8>, Entry>;

/// What became of the lists.
#[derive(Default)]
pub(super) struct Lists {
    /// Signatures that no longer hold and were taken away.
    pub(super) signatures: Vec<PathBuf>,
    /// What could not be done, in sentences.
    pub(super) failures: Vec<String>,
    /// Whether a list of conda names something that changed.
    pub(super) is_conda: bool,
}

/// Writes the `RECORD` of each `*.dist-info` that names a changed file anew. They lie beside the directories that the files
/// are in, not above `top`, nor where everybody may write. `keep` is told of a file before it changes or goes.
pub(super) fn update(
    changed: &[Changed],
    top: Option<&Path>,
    keep: &mut dyn FnMut(&Path) -> Result<(), String>,
) -> Lists {
    let mut lists = Lists::default();
    let mut by_folder: BTreeMap<PathBuf, Files> = BTreeMap::new();
    for own in changed {
        for folder in own.path.ancestors().skip(1) {
            if is_open(folder) {
                break;
            }
            if let Some(name) = own.path.strip_prefix(folder).ok().and_then(listed) {
                by_folder.entry(folder.to_owned()).or_default().insert(name, (own.hash, own.size));
            }
            if top == Some(folder) {
                break;
            }
        }
    }
    for (folder, files) in &by_folder {
        let mut infos = BTreeSet::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().ends_with(".dist-info") && entry.file_type().is_ok_and(|own| own.is_dir()) {
                infos.insert(entry.path());
            }
            lists.is_conda |= name == "conda-meta" && !files.is_empty();
        }
        for info in infos {
            if let Err(why) = one(&info, files, &mut lists.signatures, keep) {
                lists.failures.push(format!("{}: {why}", info.join("RECORD").display()));
            }
        }
    }
    lists
}

/// Whether everybody may write to a directory, as to `/tmp`: a list there is not trusted.
#[cfg(unix)]
fn is_open(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(folder).map_or(true, |own| own.permissions().mode() & 0o002 != 0)
}

#[cfg(not(unix))]
const fn is_open(_: &Path) -> bool {
    false
}

/// A path as lists write it.
fn listed(path: &Path) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    for part in path.components() {
        if !name.is_empty() {
            name.push(b'/');
        }
        let std::path::Component::Normal(part) = part else { return None };
        name.extend_from_slice(part.as_encoded_bytes());
    }
    Some(name)
}

fn one(
    info: &Path,
    files: &Files,
    signatures: &mut Vec<PathBuf>,
    keep: &mut dyn FnMut(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let path = info.join("RECORD");
    let text = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
        Ok(own) if !own.is_file() => return Err("it is no plain file, and is left as it is".to_owned()),
        Ok(own) if own.len() > LIST => return Err("it is too large for a list, and is left as it is".to_owned()),
        Ok(_) => read(&path).map_err(|error| error.to_string())?,
    };
    let Some(new) = relisted(&text, files) else { return Ok(()) };
    let text = |error: io::Error| error.to_string();
    for name in ["RECORD.jws", "RECORD.p7s"] {
        let signature = info.join(name);
        if fs::symlink_metadata(&signature).is_ok_and(|own| own.is_file()) {
            keep(&signature)?;
            fs::remove_file(&signature).map_err(text)?;
            signatures.push(signature);
        }
    }
    if new == read(&path).map_err(text)? {
        return Ok(());
    }
    keep(&path)?;
    // what installed it may have linked it into its cache: it is not written through
    let file = Unfinished::begin(&path).map_err(text)?;
    file.take().and_then(|mut out| out.write_all(&new)).and_then(|()| file.sync()).map_err(text)?;
    file.finish().map_err(text)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(path)?.take(LIST).read_to_end(&mut text)?;
    Ok(text)
}
