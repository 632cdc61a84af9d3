//! What is installed in one directory.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::distribution::{Distribution, FileList, Made};
use super::{ENTRIES, Site, links};

/// Bytes of one file of metadata that are read; a long description stands behind what is wanted.
const METADATA: u64 = 256 << 10;
/// Bytes of a small file that are read: `INSTALLER`, `direct_url.json`, `top_level.txt`, `.pth`.
pub(super) const SMALL: u64 = 64 << 10;
/// Letters of a name or a version.
const LONGEST: usize = 256;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) distributions: Vec<Distribution>,
    pub(super) links: Vec<PathBuf>,
    pub(super) notes: Vec<String>,
}

/// The start of a plain file as text; nothing of a pipe, a device or what cannot be read.
pub(super) fn text(path: &Path, most: u64) -> Option<String> {
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a directory.
pub(super) fn read(site: &Site, most: usize) -> Found {
    let mut found = Found::default();
    let entries = match std::fs::read_dir(&site.path) {
        Ok(entries) => entries,
        Err(error) => {
            found.notes.push(format!("{} cannot be read: {}", site.path.display(), error.kind()));
            return found;
        }
    };
    let mut names: Vec<String> =
        entries.take(ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    if names.len() == ENTRIES {
        found.notes.push(format!("of {} only {ENTRIES} entries were looked at", site.path.display()));
    }
    names.sort();
    let mut left_behind = Vec::new();
    for name in &names {
        let info = site.path.join(name);
        if name.starts_with('~') && name.ends_with(".dist-info") {
            left_behind.push(name.as_str());
            continue;
        }
        let own = if let Some(stem) = name.strip_suffix(".dist-info") {
            dist_info(stem, &info, site)
        } else if let Some(stem) = name.strip_suffix(".egg-info") {
            egg_info(stem, &info, site)
        } else if let Some(stem) = name.strip_suffix(".egg-link") {
            links::egg_link(stem, &info, site)
        } else {
            if name.ends_with(".pth") {
                found.links.extend(links::pth(&info, site));
            }
            None
        };
        let Some(own) = own else { continue };
        if found.distributions.len() >= most {
            found.notes.push(format!("of {} only {most} distributions were read", site.path.display()));
            break;
        }
        found.links.extend(own.editable.clone());
        found.distributions.push(own);
    }
    if !left_behind.is_empty() {
        found.notes.push(format!("left behind by an installation that broke off: {}", left_behind.join(", ")));
    }
    found
}

fn dist_info(stem: &str, info: &Path, site: &Site) -> Option<Distribution> {
    if !info.is_dir() {
        return None;
    }
    let metadata = text(&info.join("METADATA"), METADATA);
    let mut own = named(stem, metadata.as_deref(), Made::DistInfo, info, site)?;
    if metadata.is_none() {
        own.notes.push("it has no METADATA: name and version are those of its directory".to_owned());
    }
    let installer = text(&info.join("INSTALLER"), SMALL);
    own.installer = installer.map(|text| first_line(&text)).filter(|text| !text.is_empty());
    own.tops = tops(&info.join("top_level.txt"));
    own.list = Some(FileList::Record(info.join("RECORD")));
    own.editable = editable(&info.join("direct_url.json"));
    if own.editable.is_none() {
        own.editable = links::editable_pth(&own, site);
    }
    Some(own)
}

fn egg_info(stem: &str, info: &Path, site: &Site) -> Option<Distribution> {
    let is_folder = info.is_dir();
    let metadata = if is_folder { text(&info.join("PKG-INFO"), METADATA) } else { text(info, METADATA) };
    // `name-1.0-py3.11.egg-info`
    let stem = stem.split("-py3").next().unwrap_or(stem);
    let mut own = named(stem, metadata.as_deref(), Made::EggInfo, info, site)?;
    if is_folder {
        own.tops = tops(&info.join("top_level.txt"));
        let list = info.join("installed-files.txt");
        own.list = list.is_file().then_some(FileList::Installed(list));
    }
    Some(own)
}

/// A distribution with the name of its metadata, else that of its directory.
fn named(stem: &str, metadata: Option<&str>, made: Made, info: &Path, site: &Site) -> Option<Distribution> {
    // the header ends with an empty line
    let header = metadata.unwrap_or_default().lines().take_while(|line| !line.trim_end().is_empty());
    let (mut name, mut version) = (None, None);
    for line in header {
        match line.split_once(':') {
            Some((key, value)) if key.eq_ignore_ascii_case("name") && name.is_none() => name = word(value),
            Some((key, value)) if key.eq_ignore_ascii_case("version") && version.is_none() => version = word(value),
            _ => {}
        }
    }
    let (own, of_name) = stem.split_once('-').unwrap_or((stem, ""));
    let name = name.or_else(|| word(own))?;
    let version = version.or_else(|| word(of_name)).unwrap_or_default();
    Some(Distribution::new(&name, &version, made, info, &site.path))
}

/// A word of a name or version; a long one is none.
pub(super) fn word(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_whitespace);
    fits.then(|| text.to_owned())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().chars().take(64).collect()
}

fn tops(path: &Path) -> Vec<String> {
    let text = text(path, SMALL).unwrap_or_default();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).take(1000).map(ToOwned::to_owned).collect()
}

#[derive(Deserialize)]
struct DirectUrl {
    url: String,
    dir_info: Option<DirInfo>,
}

#[derive(Deserialize)]
struct DirInfo {
    #[serde(default)]
    editable: bool,
}

/// Where an editable installation leads, by its `direct_url.json`.
fn editable(path: &Path) -> Option<PathBuf> {
    let own: DirectUrl = serde_json::from_str(&text(path, SMALL)?).ok()?;
    if !own.dir_info?.editable {
        return None;
    }
    let place = PathBuf::from(decoded(own.url.strip_prefix("file://")?));
    (place.is_absolute() && place.is_dir()).then_some(place)
}

/// `%20` as what it stands for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let mut digit = || char::from(ahead.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (byte, byte == b'%') {
            (_, true) => match (digit(), digit()) {
                (Some(high), Some(low)) => {
                    bytes.push((high << 4) | low);
                    rest = ahead;
                }
                _ => bytes.push(byte),
            },
            (byte, false) => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(decoded("/a%20b/%e4%bd%a0%"), "/a b/\u{4f60}%");
    }
}
