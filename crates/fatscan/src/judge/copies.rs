//! Files that are in an artefact more than once.

use std::collections::BTreeMap;

use crate::model::Artefact;

/// Members that hold the same as an earlier one, by index, with the index of that one.
#[must_use]
pub fn copies(artefact: &Artefact) -> BTreeMap<usize, usize> {
    let mut copies = BTreeMap::new();
    let mut by_size: BTreeMap<(u64, usize), Vec<usize>> = BTreeMap::new();
    for (index, member) in artefact.members.iter().enumerate() {
        let alike = by_size.entry((member.size, member.modules.len())).or_default();
        let first = alike.iter().find(|first| {
            artefact.members.get(**first).is_some_and(|first| {
                let pairs = first.modules.iter().zip(&member.modules);
                pairs.clone().all(|(left, right)| left.offset == right.offset && left.images == right.images)
                    && file_name(&first.path) == file_name(&member.path)
            })
        });
        match first {
            Some(first) => drop(copies.insert(index, *first)),
            None => alike.push(index),
        }
    }
    copies
}

/// The name of a library without its versions: `libx.so.1.2` is a copy of `libx.so`.
fn file_name(path: &str) -> &str {
    let file = path.rsplit(['/', '!']).next().unwrap_or(path);
    file.split_once(".so").map_or(file, |(stem, _)| stem)
}
