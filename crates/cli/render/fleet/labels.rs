//! Names of rows that are short, and no two alike.

use fatscan::fleet::Board;
use fatscan::{Report, package};

/// The shortest name of each row that no other row has: `torch 2.15.0`, with the platform behind it, the file, the path.
pub(crate) fn labels(report: &Report, board: &Board) -> Vec<String> {
    let names: Vec<Vec<String>> = board
        .rows
        .iter()
        .map(|row| {
            let file = row.name.rsplit(['/', '\\']).next().filter(|file| !file.is_empty()).unwrap_or(&row.name);
            let own = row.artefact.and_then(|index| report.artefacts.get(index)).and_then(package);
            let mut all = Vec::new();
            if let Some((name, version)) = own.filter(|_| row.environment.is_none()) {
                all.push(format!("{name} {version}"));
                let platform = file.trim_end_matches(".whl").rsplit('-').next().and_then(|tag| tag.split('.').next());
                all.extend(platform.map(|platform| format!("{name} {version} {platform}")));
            }
            if row.environment.is_none() {
                all.push(file.to_owned());
            }
            all.push(row.name.clone());
            // two environments may hold one package
            all.extend(row.environment.as_ref().map(|environment| format!("{environment}: {}", row.name)));
            all
        })
        .collect();
    let level = |index: usize, level: usize| {
        let own = names.get(index);
        own.and_then(|own| own.get(level).or_else(|| own.last())).cloned().unwrap_or_default()
    };
    // rows that share a name go on to their next one
    let mut levels = vec![0usize; names.len()];
    for _ in 0..3 {
        let now: Vec<String> = levels.iter().enumerate().map(|(index, own)| level(index, *own)).collect();
        let mut sorted: Vec<&String> = now.iter().collect();
        sorted.sort_unstable();
        let is_shared = |name: &String| {
            let first = sorted.partition_point(|other| *other < name);
            sorted.get(first.saturating_add(1)).is_some_and(|next| *next == name)
        };
        for (own, name) in levels.iter_mut().zip(&now) {
            if is_shared(name) {
                *own = own.saturating_add(1);
            }
        }
    }
    levels.iter().enumerate().map(|(index, own)| level(index, *own)).collect()
}
