//! From the paths that were given to artefacts.

use std::io;
use std::path::Path;

use fatscan_containers::{
    Format, Inflater, Mapped, SNIFF_SIZE, SliceStream, Zip, ZipMember, ZipMethod, ZipProblem, map, map_if, walk,
};

use crate::diagnostic::{Code, Diagnostic};
use crate::member::{Names, Scanned, scan};
use crate::model::{Artefact, ArtefactKind, Member, Report};
use crate::options::Options;
use crate::parallel;

/// A file to look at.
struct Task {
    /// Index of the path given.
    root: usize,
    /// Path to open.
    path: std::path::PathBuf,
    /// Path to show; for a file of a directory, from there.
    shown: String,
    size: u64,
    in_directory: bool,
}

/// What a file turned out to be.
#[derive(Default)]
struct Outcome {
    archive: Option<Artefact>,
    loose: Scanned,
    diagnostics: Vec<Diagnostic>,
    unreadable: bool,
}

/// Scans files, archives and directories. Everything that can be read is read; what cannot is a diagnostic.
#[must_use]
pub fn scan_paths<P: AsRef<Path>>(paths: &[P], options: &Options) -> Report {
    let mut report = Report::default();
    let mut tasks = Vec::new();
    for (root, path) in paths.iter().enumerate() {
        collect(root, path.as_ref(), &mut tasks, &mut report.diagnostics);
    }
    options.progress.expect(tasks.iter().map(|task| task.size).fold(0, u64::saturating_add));
    let outcomes = parallel::each(&tasks, |task| task.size, || (), |(), task| read(task, options));
    for (root, path) in paths.iter().enumerate() {
        assemble(root, path.as_ref(), &tasks, &outcomes, &mut report);
    }
    report.diagnostics.sort();
    report
}

fn collect(root: usize, path: &Path, tasks: &mut Vec<Task>, diagnostics: &mut Vec<Diagnostic>) {
    let shown = path.display().to_string();
    match std::fs::metadata(path) {
        Err(error) => diagnostics.push(Diagnostic::new(Code::Unreadable, shown, &reason(&error))),
        Ok(metadata) if metadata.is_dir() => {
            let found = walk(path);
            for (relative, error) in found.problems {
                let place = if relative.is_empty() { shown.clone() } else { format!("{shown}/{relative}") };
                diagnostics.push(Diagnostic::new(Code::Unreadable, place, &reason(&error)));
            }
            tasks.extend(found.files.into_iter().map(|file| Task {
                root,
                path: file.path,
                shown: file.relative,
                size: file.size,
                in_directory: true,
            }));
        }
        Ok(metadata) if metadata.is_file() => {
            let size = metadata.len();
            tasks.push(Task { root, path: path.to_path_buf(), shown, size, in_directory: false });
        }
        Ok(_) => diagnostics.push(Diagnostic::new(Code::NotAFile, shown, "")),
    }
}

/// The system's words without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

fn read(task: &Task, options: &Options) -> Outcome {
    let full = task.path.display().to_string();
    let fail = |error: &io::Error| Outcome {
        diagnostics: vec![Diagnostic::new(Code::Unreadable, full.clone(), &reason(error))],
        unreadable: true,
        ..Outcome::default()
    };
    let mapped = if task.in_directory {
        // most files of a directory are none of our business: a look at their start is all they get
        match map_if(&task.path, SNIFF_SIZE, |prefix| Format::sniff(prefix).is_some()) {
            Ok(Some(mapped)) => mapped,
            Ok(None) => {
                options.progress.advance(task.size);
                return Outcome::default();
            }
            Err(error) => return fail(&error),
        }
    } else {
        match map(&task.path) {
            Ok(mapped) => mapped,
            Err(error) => return fail(&error),
        }
    };
    let format = Format::sniff(mapped.get(..SNIFF_SIZE).unwrap_or(&mapped));
    // an archive may stand behind a script that unpacks it (`.pyz`, `.pex`)
    if format == Some(Format::Zip) || (format.is_none() && Zip::ends_as_one(&mapped)) {
        options.progress.advance(task.size);
        let shown = if task.in_directory { full } else { task.shown.clone() };
        return archive(&shown, &mapped, options);
    }
    let names = if task.in_directory {
        Names { artefact: "", member: &full }
    } else {
        Names { artefact: "", member: &task.shown }
    };
    let mut loose = scan(names, &mut SliceStream::new(&mapped), !task.in_directory, options);
    if let Some(member) = &mut loose.member {
        member.path = if task.in_directory { task.shown.clone() } else { file_name(&task.path) };
    }
    Outcome { loose, ..Outcome::default() }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn archive(shown: &str, mapped: &Mapped, options: &Options) -> Outcome {
    let zip = Zip::list(mapped, options.limits.members);
    let mut diagnostics = Vec::new();
    let mut problem = |code, detail: &str| diagnostics.push(Diagnostic::new(code, shown.to_owned(), detail));
    match zip.problem {
        Some(ZipProblem::NoDirectory) => problem(Code::ZipDirectory, &format!("{} members found", zip.members.len())),
        Some(ZipProblem::DirectoryCut(count)) => problem(Code::ZipDirectoryCut, &format!("after {count} entries")),
        Some(ZipProblem::TooMany) => problem(Code::LimitMembers, &format!("{} members", options.limits.members)),
        None => {}
    }
    let total = zip.members.iter().filter(|member| member.size != u64::MAX).map(|member| member.size);
    options.progress.expect(total.fold(0, u64::saturating_add));
    let scanned =
        parallel::each(&zip.members, |member| member.size, || (), |(), member| zip_member(shown, member, options));
    let mut without = 0u64;
    let mut members = Vec::new();
    for (entry, scanned) in scanned.into_iter().enumerate() {
        diagnostics.extend(scanned.diagnostics);
        match scanned.member {
            Some(member) => members.push(Member { entry: Some(entry), ..member }),
            None if scanned.is_candidate => without = without.saturating_add(1),
            None => {}
        }
    }
    members.sort_by(|a, b| a.path.cmp(&b.path));
    let is_wheel = Path::new(shown).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("whl"));
    let artefact = Artefact {
        path: shown.to_owned(),
        kind: if is_wheel { ArtefactKind::Wheel } else { ArtefactKind::Zip },
        size: u64::try_from(mapped.len()).unwrap_or(u64::MAX),
        members_without_code: without,
        members,
    };
    Outcome { archive: Some(artefact), diagnostics, ..Outcome::default() }
}

fn zip_member(shown: &str, member: &ZipMember<'_>, options: &Options) -> Scanned {
    let mut scanned = read_zip_member(shown, member, options);
    if let Some(found) = &mut scanned.member {
        found.packed = member.data.and_then(|data| u64::try_from(data.len()).ok());
    }
    for diagnostic in &mut scanned.diagnostics {
        diagnostic.member = Some(member.path.as_str().into());
    }
    scanned
}

fn read_zip_member(shown: &str, member: &ZipMember<'_>, options: &Options) -> Scanned {
    let names = Names { artefact: shown, member: &member.path };
    let only = |code, detail: &str| Scanned {
        diagnostics: vec![Diagnostic::new(code, names.place(), detail)],
        ..Scanned::default()
    };
    let Some(data) = member.data else { return only(Code::ZipMemberMissing, "") };
    if member.encrypted {
        return only(Code::Encrypted, "");
    }
    // no directory, no stated size: the limit serves as one, and its excess is no lie
    let known = member.size != u64::MAX;
    let limit = options.limits.member_bytes;
    if known && member.size > limit {
        return only(Code::LimitBytes, &format!("{} bytes", member.size));
    }
    match member.method {
        ZipMethod::Stored => {
            let stated = usize::try_from(member.size).unwrap_or(usize::MAX);
            let mut scanned = scan(names, &mut SliceStream::new(data), false, options);
            if known && stated != data.len() {
                let detail = format!("{} bytes are stored, {stated} are stated", data.len());
                scanned.diagnostics.push(Diagnostic::new(Code::MemberDamaged, names.place(), &detail));
            }
            scanned
        }
        ZipMethod::Deflated => {
            let size = if known { member.size } else { limit };
            let mut stream = Inflater::new(data, size, member.checksum, known);
            let scanned = scan(names, &mut stream, false, options);
            if !scanned.is_candidate {
                options.progress.advance(member.size);
            }
            scanned
        }
        ZipMethod::Other(method) => only(Code::ZipMethod, &method.to_string()),
    }
}

/// Puts the outcomes of one given path together: archives by themselves, loose files of a directory as one.
fn assemble(root: usize, path: &Path, tasks: &[Task], outcomes: &[Outcome], report: &mut Report) {
    let shown = path.display().to_string();
    let own = || tasks.iter().zip(outcomes).filter(|(task, _)| task.root == root);
    for (_, outcome) in own() {
        report.diagnostics.extend(outcome.diagnostics.iter().chain(&outcome.loose.diagnostics).cloned());
    }
    let loose = || own().filter(|(_, outcome)| outcome.archive.is_none() && !outcome.unreadable);
    if path.is_dir() {
        let mut directory = Artefact {
            path: shown,
            kind: ArtefactKind::Directory,
            size: 0,
            members_without_code: 0,
            members: Vec::new(),
        };
        for (task, outcome) in loose() {
            directory.size = directory.size.saturating_add(task.size);
            match &outcome.loose.member {
                Some(member) => directory.members.push(member.clone()),
                None if outcome.loose.is_candidate => {
                    directory.members_without_code = directory.members_without_code.saturating_add(1);
                }
                None => {}
            }
        }
        let archives: Vec<Artefact> = own().filter_map(|(_, outcome)| outcome.archive.clone()).collect();
        // a directory of wheels is those wheels, and no further artefact without code
        if archives.is_empty() || !directory.members.is_empty() || directory.members_without_code > 0 {
            report.artefacts.push(directory);
        }
        report.artefacts.extend(archives);
        return;
    }
    for (task, outcome) in own() {
        if let Some(archive) = &outcome.archive {
            report.artefacts.push(archive.clone());
        } else if !outcome.unreadable {
            report.artefacts.push(Artefact {
                path: task.shown.clone(),
                kind: ArtefactKind::File,
                size: task.size,
                members_without_code: u64::from(outcome.loose.member.is_none()),
                members: outcome.loose.member.iter().cloned().collect(),
            });
        }
    }
}
