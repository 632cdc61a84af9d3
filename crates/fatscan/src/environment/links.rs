//! What leads out of a directory of packages: `.pth` files, `.egg-link` files.

use std::path::{Path, PathBuf};

use super::distribution::{Distribution, Made};
use super::site::{SMALL, text, word};
use super::{Site, layout};
use crate::package::plain;

/// Lines of one file that are looked at.
const LINES: usize = 1000;

/// The directories that a `.pth` file adds. Lines that Python would run are no paths.
pub(super) fn pth(path: &Path, site: &Site) -> Vec<PathBuf> {
    let text = text(path, SMALL).unwrap_or_default();
    // Python 3.13 passes over a mark of UTF-8
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.lines().take(LINES).map(str::trim_end);
    let paths = lines.filter(|line| {
        let is_code = line.starts_with("import ") || line.starts_with("import\t");
        !(line.is_empty() || line.starts_with('#') || is_code || line.contains('\0'))
    });
    let paths = paths.filter_map(|line| layout::plain(&site.path.join(line)));
    paths.filter(|path| path.is_dir() && !path.starts_with(&site.path)).collect()
}

/// Where the `.pth` file of an editable installation leads: `__editable__.NAME-VERSION.pth`.
pub(super) fn editable_pth(own: &Distribution, site: &Site) -> Option<PathBuf> {
    let stem = own.info.file_stem()?.to_str()?;
    pth(&site.path.join(format!("__editable__.{stem}.pth")), site).into_iter().next()
}

/// The distribution of an `.egg-link` file, whose first line is a directory.
pub(super) fn egg_link(stem: &str, path: &Path, site: &Site) -> Option<Distribution> {
    let name = word(stem)?;
    let text = text(path, SMALL)?;
    let place = layout::plain(&site.path.join(text.lines().next()?.trim()))?;
    let mut own = Distribution::new(&name, "", Made::EggLink, path, &site.path);
    if !place.is_dir() {
        own.notes.push("what it leads to is not there".to_owned());
        return Some(own);
    }
    let info = std::fs::read_dir(&place).ok()?.take(super::ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let info = info.filter(|path| path.extension().is_some_and(|end| end == "egg-info"));
    let is_own = |path: &PathBuf| path.file_stem().is_some_and(|stem| plain(&stem.to_string_lossy()) == plain(&name));
    let metadata = info.filter(is_own).find_map(|path| super::site::text(&path.join("PKG-INFO"), SMALL));
    let version = metadata.as_deref().unwrap_or_default().lines().find_map(|line| line.strip_prefix("Version:"));
    own.version = version.and_then(word).unwrap_or_default();
    own.editable = Some(place);
    Some(own)
}
