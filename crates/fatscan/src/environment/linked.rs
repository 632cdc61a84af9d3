//! How the libraries of an environment find the CUDA libraries that they ask for, distribution by distribution.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use fatscan_containers::tree;

use super::group::{Groups, owners};
use super::{Environment, Kind};
use crate::judge::Judgement;
use crate::linkage::{Disk, File, FindingKind, Linkages, Scope, judge};
use crate::open;

/// Native files that are looked at.
const FILES: usize = 100_000;
/// Names that one sentence has.
const NAMES: usize = 3;

/// What is noteworthy about how files of a distribution are linked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// Index of the distribution; `None` where it is about files of nobody, or about the environment.
    pub distribution: Option<usize>,
    /// The word of its kind: `missing`, `broken`, `preloaded`, `shadowed`, `mixed-majors`, `wrong-machine`, `stepped-over` or
    /// `runpath-nowhere`.
    pub kind: &'static str,
    /// Whether the files cannot be loaded so.
    pub is_error: bool,
    /// Whether it is what is usual, and said to programs only.
    pub is_usual: bool,
    /// The files; none where it is about a distribution or the environment.
    pub files: Vec<PathBuf>,
    /// One sentence, with the first file.
    pub text: String,
}

/// How the native files of an environment are linked. What is not a library by its name is not looked at.
#[must_use]
pub fn natives(environment: &Environment) -> Vec<File> {
    let disk = Disk::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in environment.inputs() {
        let root = std::path::absolute(&root).unwrap_or(root);
        if root.is_file() {
            paths.push(root);
        } else {
            paths.extend(tree(&root, false).files.into_iter().map(|file| file.path));
        }
    }
    paths.retain(|path| open::is_library(&path.file_name().unwrap_or_default().to_string_lossy()));
    paths.truncate(FILES);
    // paths as the lists of the distributions have them
    let own = environment.absolute();
    let known: HashMap<PathBuf, usize> =
        owners(&own, paths.iter()).into_iter().map(|(path, index)| (path.to_owned(), index)).collect();
    let files = paths.into_iter().filter_map(|path| {
        // what is damaged is said by the scan
        let library = disk.read_file(&path).ok()??;
        let owner = known.get(&path).map(ToString::to_string);
        Some(File { owner, ..File::new(path, library) })
    });
    files.collect()
}

/// What is noteworthy about the native files of an environment ([`natives`]), judged on this machine. Of libraries that are
/// alternatives to each other those are enough that can be loaded.
#[must_use]
pub fn links(environment: &Environment, files: &[File], groups: &Groups, judgement: &Judgement) -> Vec<Link> {
    let disk = Disk::new();
    let linkages = judge(files, &disk.search(), &disk);
    let excused = excused(&linkages, groups, judgement);
    let mut links: Vec<(Said, Link)> = Vec::new();
    for finding in &linkages.findings {
        // whatever a process has mapped was found
        if environment.kind == Kind::Process && !matches!(finding.kind, FindingKind::MixedMajors { .. }) {
            continue;
        }
        let mut said = Said::of(&finding.kind);
        if finding.path.as_ref().is_some_and(|path| excused.contains(path)) {
            (said.is_error, said.is_usual) = (false, true);
        }
        let distribution = finding.owner.as_deref().and_then(|own| own.parse().ok());
        match links.iter_mut().find(|(known, own)| *known == said && own.distribution == distribution) {
            Some((_, own)) => own.files.extend(finding.path.clone()),
            None => {
                let link = Link {
                    distribution,
                    kind: said.kind,
                    is_error: said.is_error,
                    is_usual: said.is_usual,
                    files: finding.path.iter().cloned().collect(),
                    text: String::new(),
                };
                links.push((said, link));
            }
        }
    }
    finished(links)
}

/// Files that cannot be loaded while an alternative to them can.
fn excused(linkages: &Linkages, groups: &Groups, judgement: &Judgement) -> HashSet<PathBuf> {
    let failing: HashSet<&Path> = linkages
        .findings
        .iter()
        .filter(|finding| Said::of(&finding.kind).is_error)
        .filter_map(|finding| finding.path.as_deref())
        .collect();
    let mut excused = HashSet::new();
    for (artefact, judged) in groups.report.artefacts.iter().zip(&judgement.artefacts) {
        for group in &judged.alternatives {
            let choices: Vec<Vec<PathBuf>> = group
                .choices
                .iter()
                .map(|choice| {
                    let members = choice.members.iter().filter_map(|member| artefact.members.get(*member));
                    let paths = members.map(|member| member.at.path());
                    paths.map(|path| std::path::absolute(&path).unwrap_or(path)).collect()
                })
                .collect();
            let fails = |files: &&Vec<PathBuf>| files.iter().any(|file| failing.contains(file.as_path()));
            if !choices.iter().all(|files| fails(&files)) {
                excused.extend(choices.iter().filter(fails).flatten().cloned());
            }
        }
    }
    excused
}

/// The sentences; what is said of several names and the same files is one.
fn finished(links: Vec<(Said, Link)>) -> Vec<Link> {
    let mut merged: Vec<(Said, Link)> = Vec::new();
    for (said, link) in links {
        let same = |(known, own): &&mut (Said, Link)| {
            !said.names.is_empty()
                && (&known.before, &known.after) == (&said.before, &said.after)
                && (own.distribution, &own.files, own.is_usual) == (link.distribution, &link.files, link.is_usual)
        };
        match merged.iter_mut().find(same) {
            Some((known, _)) => known.names.extend(said.names),
            None => merged.push((said, link)),
        }
    }
    let finished = merged.into_iter().map(|(said, mut link)| {
        let names: Vec<String> = said.names.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
        let more = said.names.len().saturating_sub(NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!("{}{}{more}{}", said.before, names.join(", "), said.after);
        let first = link.files.first().map(|file| name(file));
        link.text = match (first, link.files.len().saturating_sub(1)) {
            (None, _) => text,
            (Some(first), 0) => format!("`{first}` {text}"),
            (Some(first), more) => format!("`{first}` and {more} more: {text}"),
        };
        link
    });
    finished.collect()
}

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    kind: &'static str,
    is_error: bool,
    is_usual: bool,
    before: String,
    names: Vec<String>,
    after: String,
}

impl Said {
    fn of(kind: &FindingKind) -> Self {
        let said = |kind, before: &str, name: Option<&String>, after: &str| Self {
            kind,
            is_error: false,
            is_usual: false,
            before: before.to_owned(),
            names: name.into_iter().cloned().collect(),
            after: after.to_owned(),
        };
        match kind {
            FindingKind::Missing { name } => {
                Self { is_error: true, ..said("missing", "asks for ", Some(name), ": nowhere here") }
            }
            FindingKind::Broken { name, path } => {
                let after = format!(" and finds {}, which is no library", path.display());
                Self { is_error: true, ..said("broken", "asks for ", Some(name), &after) }
            }
            FindingKind::PreloadedBy { name, package, is_certain, .. } => {
                let after = format!(" only after `import {package}`");
                Self { is_usual: *is_certain, ..said("preloaded", "finds ", Some(name), &after) }
            }
            FindingKind::Shadowed { name, first, others } => {
                let number = others.len().saturating_add(1);
                let after = format!(", which is here {number} times: the loader takes {}", first.display());
                // copies of one file are no matter
                let size = |path: &PathBuf| std::fs::metadata(path).map(|metadata| metadata.len()).ok();
                let is_usual = others.iter().all(|other| size(other) == size(first));
                Self { is_usual, ..said("shadowed", "asks for ", Some(name), &after) }
            }
            FindingKind::MixedMajors { scope, majors } => {
                let parts = majors.iter().map(|(major, names)| {
                    let names: Vec<&str> = names.iter().map(String::as_str).take(NAMES).collect();
                    let names = if names.is_empty() { String::new() } else { format!(" (`{}`)", names.join("`, `")) };
                    format!("CUDA {major}{names}")
                });
                let parts = parts.collect::<Vec<_>>().join(" and ");
                let text = match scope {
                    Scope::File => format!("comes with libraries of {parts} in one process"),
                    Scope::Distribution => format!("its files ask for {parts}"),
                    Scope::Environment => format!("libraries of {parts} are used side by side"),
                };
                said("mixed-majors", &text, None, "")
            }
            FindingKind::WrongMachine { machine, bits } => {
                Self { is_error: true, ..said("wrong-machine", &format!("is for {machine}, {bits} bits"), None, "") }
            }
            FindingKind::SteppedOver { name, path } => {
                let after = format!("; the loader steps over {}, which is for another machine", path.display());
                said("stepped-over", "asks for ", Some(name), &after)
            }
            FindingKind::RunpathNowhere { entry, .. } => Self {
                is_usual: true,
                ..said("runpath-nowhere", "looks in ", Some(entry), ", which is no directory here")
            },
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
