//! The packages of a conda prefix.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::distribution::{Distribution, FileList, Made};
use super::{ENTRIES, Environment};
use crate::package::plain;

/// Bytes of one file of `conda-meta` that are read; that of a toolkit has a few MB.
const META: u64 = 32 << 20;

#[derive(Deserialize)]
struct Meta {
    name: String,
    version: String,
    #[serde(default)]
    files: Vec<String>,
}

fn meta(path: &Path) -> Result<Meta, String> {
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = File::open(path).ok().filter(|_| is_file).ok_or("it cannot be read")?;
    let mut bytes = Vec::new();
    file.take(META).read_to_end(&mut bytes).map_err(|error| error.kind().to_string())?;
    serde_json::from_slice(&bytes).map_err(|_| "it is no file of conda".to_owned())
}

/// The files that a file of `conda-meta` names.
pub(super) fn files(path: &Path) -> Result<Vec<String>, String> {
    meta(path).map(|meta| meta.files)
}

/// Adds the packages of `conda-meta`. One that has a `*.dist-info` too is known already.
pub(super) fn read(environment: &mut Environment) {
    let folder = environment.root.join("conda-meta");
    let Ok(entries) = std::fs::read_dir(&folder) else { return };
    let paths = entries.take(ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let meta = match meta(&path) {
            Ok(meta) => meta,
            Err(why) => {
                environment.notes.push(format!("conda-meta/{name}: {why}"));
                continue;
            }
        };
        let is_known = |own: &&mut Distribution| {
            own.made != Made::Conda && plain(&own.name) == plain(&meta.name) && own.version == meta.version
        };
        let list = Some(FileList::Conda(path.clone()));
        if let Some(known) = environment.distributions.iter_mut().find(is_known) {
            // conda lists what is outside of the directory of packages too
            known.list = list;
            known.installer = Some("conda".to_owned());
            continue;
        }
        if environment.distributions.len() >= super::DISTRIBUTIONS {
            return;
        }
        let own = Distribution::new(&meta.name, &meta.version, Made::Conda, &path, &environment.root);
        environment.distributions.push(Distribution { list, installer: Some("conda".to_owned()), ..own });
    }
}
