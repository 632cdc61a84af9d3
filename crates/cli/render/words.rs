//! Lists of architectures as people read them.

use std::collections::BTreeSet;

use fatscan::{CodeKind, Coverage};
use gpu_arch::Arch;

/// Architectures of which an image has a payload that says otherwise: they are written with an asterisk.
pub(crate) type Marks = BTreeSet<(CodeKind, Arch)>;

/// The prefix and the label of a kind.
pub(crate) const fn prefix(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Sass | CodeKind::TileIr | CodeKind::Other => "sm",
        CodeKind::Ptx => "compute",
        CodeKind::LtoIr => "lto",
    }
}

/// The label of a kind in the first column.
pub(crate) const fn label(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Sass => "SASS",
        CodeKind::Ptx => "PTX",
        CodeKind::LtoIr => "LTO-IR",
        CodeKind::TileIr => "Tile IR",
        CodeKind::Other => "other",
    }
}

fn marked(kind: CodeKind, arch: Arch, marks: &Marks) -> String {
    format!("{arch}{}", if marks.contains(&(kind, arch)) { "*" } else { "" })
}

/// `sm_90a*`, `compute_90`.
pub(crate) fn name(kind: CodeKind, arch: Arch, marks: &Marks) -> String {
    format!("{}_{}", prefix(kind), marked(kind, arch, marks))
}

/// `sm_75 80 86 90a`: the prefix once.
pub(crate) fn archs(kind: CodeKind, archs: &[Arch], marks: &Marks) -> Vec<String> {
    let word = |(index, arch): (usize, &Arch)| {
        if index == 0 { name(kind, *arch, marks) } else { marked(kind, *arch, marks) }
    };
    archs.iter().enumerate().map(word).collect()
}

/// `sm_89 (1) 90a (4)`: with the number of modules that hold each.
pub(crate) fn counted(kind: CodeKind, archs: &[(Arch, usize)], marks: &Marks) -> Vec<String> {
    let names: Vec<Arch> = archs.iter().map(|(arch, _)| *arch).collect();
    let words = self::archs(kind, &names, marks).into_iter().zip(archs);
    words.map(|(word, (_, count))| format!("{word} ({count})")).collect()
}

/// The specialised modules of a member, the most frequent sets first: `29 sm_90`, `4 sm_90a compute_90a`.
pub(crate) fn specialised(coverage: &Coverage, marks: &Marks) -> Vec<String> {
    let mut sets: Vec<_> = coverage.specialised.iter().collect();
    sets.sort_by_key(|set| core::cmp::Reverse(set.modules));
    let words = sets.into_iter().map(|set| {
        let names: Vec<String> = set.archs.iter().map(|(kind, arch)| name(*kind, *arch, marks)).collect();
        format!("{} x {}", set.modules, names.join(" "))
    });
    words.collect()
}

/// The kinds in the order of a report.
pub(crate) const KINDS: [CodeKind; 5] =
    [CodeKind::Sass, CodeKind::Ptx, CodeKind::LtoIr, CodeKind::TileIr, CodeKind::Other];
