//! Packages that are installed: `*.dist-info` directories, and the files that their `RECORD` names.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf, absolute};

use super::{Package, plain};

/// Directories above a file that are looked into.
const LEVELS: usize = 32;
/// Entries of one directory that are looked at.
const ENTRIES: usize = 100_000;
/// Bytes of one `RECORD` that are read; torch has 2 MB.
const RECORD_BYTES: u64 = 16 << 20;

/// What is asked about a file by a name of the asker's.
type Key = (usize, usize);

/// Files whose packages are wanted, by the directory that packages are installed in.
#[derive(Debug, Default)]
pub(super) struct Installed {
    sites: HashMap<PathBuf, Vec<Info>>,
    wanted: BTreeMap<PathBuf, HashMap<String, Vec<Key>>>,
}

/// One `*.dist-info` directory.
#[derive(Debug)]
struct Info {
    package: Package,
    record: PathBuf,
}

impl Installed {
    /// Asks for the package of a file.
    pub(super) fn ask(&mut self, file: &Path, key: Key) {
        let Ok(file) = absolute(file) else { return };
        for site in file.ancestors().skip(1).take(LEVELS) {
            let infos = self.sites.entry(site.to_owned()).or_insert_with(|| infos(site));
            if infos.is_empty() {
                continue;
            }
            if let Ok(relative) = file.strip_prefix(site) {
                let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
                let files = self.wanted.entry(site.to_owned()).or_default();
                files.entry(parts.join("/")).or_default().push(key);
            }
            return;
        }
    }

    /// The packages that were found.
    pub(super) fn answers(mut self) -> Vec<(Key, Package)> {
        let mut answers = Vec::new();
        for (site, mut files) in self.wanted {
            let mut infos = self.sites.remove(&site).unwrap_or_default();
            let tops: Vec<String> = files.keys().filter_map(|file| top(file)).collect();
            // those that are named like a directory that is asked for are likely to be the ones
            infos.sort_by_key(|info| !tops.contains(&info.package.name));
            for info in &infos {
                if files.is_empty() {
                    break;
                }
                // what is wrong with it is no matter here
                let _ = paths_of_record(&info.record, true, |path| {
                    let keys = files.remove(path).unwrap_or_default();
                    answers.extend(keys.into_iter().map(|key| (key, info.package.clone())));
                });
            }
            for (file, keys) in files {
                let named: Vec<&Info> = match top(&file) {
                    Some(top) => infos.iter().filter(|info| info.package.name == top).collect(),
                    None => Vec::new(),
                };
                // two versions, one of which was left behind: it is not known whose the file is
                if let [info] = named.as_slice() {
                    answers.extend(keys.into_iter().map(|key| (key, info.package.clone())));
                }
            }
        }
        answers
    }
}

/// The topmost directory of a path, as a package would be called.
fn top(file: &str) -> Option<String> {
    file.split_once('/').map(|(top, _)| plain(top))
}

/// The packages that are installed in a directory, by name.
fn infos(site: &Path) -> Vec<Info> {
    let Ok(entries) = std::fs::read_dir(site) else { return Vec::new() };
    let info = |name: &str| {
        let (package, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
        Some(Info { package: Package::new(package, version)?, record: site.join(name).join("RECORD") })
    };
    let names = entries.take(ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut infos: Vec<Info> = names.filter_map(|name| info(&name)).collect();
    infos.sort_by(|left, right| left.package.cmp(&right.package));
    infos
}

/// Gives the paths of a `RECORD`, or of another list with one path a line; none of what is no plain file. `false` where there
/// is none, and why where it cannot be relied on: what of it is a path is given all the same.
pub(crate) fn paths_of_record(record: &Path, has_columns: bool, mut give: impl FnMut(&str)) -> Result<bool, String> {
    match std::fs::symlink_metadata(record) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.kind().to_string()),
        Ok(metadata) if !metadata.is_file() => return Err("it is no plain file".to_owned()),
        Ok(_) => {}
    }
    let file = File::open(record).map_err(|error| error.kind().to_string())?;
    let mut lines = BufReader::new(file.take(RECORD_BYTES));
    let mut line = Vec::new();
    let (mut read, mut number) = (0_u64, 0_u64);
    let mut wrong = None;
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(bytes) => read = read.saturating_add(bytes.try_into().unwrap_or(u64::MAX)),
            Err(error) => return Err(error.kind().to_string()),
        }
        number = number.saturating_add(1);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            continue;
        }
        let is_row = !has_columns || text.contains(',');
        if !is_row || text.contains(['\0', '\u{fffd}']) {
            wrong.get_or_insert_with(|| format!("line {number} is no row of it"));
        }
        match text.strip_prefix('"') {
            _ if !has_columns => give(text),
            // a quoted path ends at the quote that is not doubled
            Some(quoted) => give(&quoted.split("\",").next().unwrap_or_default().replace("\"\"", "\"")),
            None => give(text.split(',').next().unwrap_or_default().trim_end()),
        }
    }
    if read >= RECORD_BYTES {
        wrong.get_or_insert_with(|| format!("only {} MiB of it were read", RECORD_BYTES >> 20));
    }
    wrong.map_or(Ok(true), Err)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a panic here is a failing test")]

    use super::*;

    fn names(folder: &Path, files: &[&str]) -> Vec<Option<String>> {
        let mut installed = Installed::default();
        for (index, file) in files.iter().enumerate() {
            installed.ask(&folder.join(file), (index, 0));
        }
        let mut names = vec![None; files.len()];
        for ((index, _), package) in installed.answers() {
            names[index] = Some(format!("{} {}", package.name, package.version));
        }
        names
    }

    fn install(folder: &Path, info: &str, record: Option<&str>) {
        std::fs::create_dir_all(folder.join(info)).unwrap();
        if let Some(record) = record {
            std::fs::write(folder.join(info).join("RECORD"), record).unwrap();
        }
    }

    #[test]
    fn the_record_decides_and_then_the_name_of_the_directory() {
        let folder = std::env::temp_dir().join(format!("fatscan-installed-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let site = folder.join("site-packages");
        install(&site, "torch-2.15.0.dist-info", Some("torch/lib/libtorch.so,sha256=x,1\n\"torch/a,b\"\"c.so\",,\n"));
        let cublas = "nvidia/cublas/lib/libcublas.so.12,sha256=x,1\r\n";
        install(&site, "nvidia_cublas_cu12-12.9.1.4.dist-info", Some(cublas));
        // no RECORD: the name alone; two versions: nobody knows
        install(&site, "cupy_x-14.0.dist-info", None);
        install(&site, "old-1.0.dist-info", None);
        install(&site, "old-2.0.dist-info", None);
        install(&site, "$(x)-1.0.dist-info", Some("evil.so,,\n"));
        let files = [
            "torch/lib/libtorch.so",
            "torch/a,b\"c.so",
            "torch/lib/added.so",
            "nvidia/cublas/lib/libcublas.so.12",
            "nvidia/other.so",
            "cupy_x/core.so",
            "old/x.so",
            "evil.so",
        ];
        let found = names(&site, &files);
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        let torch = Some("torch 2.15.0");
        let cublas = Some("nvidia-cublas-cu12 12.9.1.4");
        assert_eq!(found, [torch, torch, torch, cublas, None, Some("cupy-x 14.0"), None, None]);
        assert_eq!(names(&folder, &["x.so"]), [None]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
