//! `fatscan extract`.

mod filter;
mod folder;
mod index;
mod names;
mod system;

use core::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use fatscan::extract::{ExtractError, Job, Wanted, extract};
use fatscan::json::extracted::ExtractedImage;
use fatscan::{CodeKind, Image, Level, Limits, Locator, LocatorView, Member, Report};

use self::filter::Filter;
use self::folder::Folder;
use self::index::{INDEX, Index};
use self::names::Names;
use crate::args::{ExtractArgs, Files};
use crate::escape;
use crate::failure::Failure;
use crate::terminal::count;
use crate::{list, output, size, terminal};

/// Bytes written for each byte of the files given. Of PyTorch they are 10.
const UNPACKED: u64 = 64;

pub(crate) fn run(args: &ExtractArgs) -> Result<ExitCode, Failure> {
    let filter = Filter::new(args)?;
    let most = args.max_bytes.as_deref().map(most).transpose()?;
    let depth = if filter.kernel.is_some() { list::Depth::Kernels } else { list::Depth::Headers };
    let request = list::Request { paths: &args.paths, files: &Files::default(), common: &args.common };
    let report = list::scan(&request, depth)?;
    let mut jobs = Vec::new();
    for artefact in &report.artefacts {
        for member in &artefact.members {
            let wanted = filter.choose(member, args.raw);
            if !wanted.is_empty() {
                jobs.push(Job { member, wanted });
            }
        }
    }
    let total: usize = jobs.iter().map(|job| job.wanted.len()).sum();
    if total == 0 {
        output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error));
        return Err(Failure::new("no image matches"));
    }
    let most = most.unwrap_or_else(|| usual(&report));
    let failed = match &args.output {
        Some(folder) => to_folder(&report, &jobs, folder, most, args)?,
        None if total > 1 => {
            return Err(Failure::with_hint(
                format!("{total} images match, and --stdout takes one"),
                "narrow it with --arch, --kind, --member and --module, or write to a directory with -o DIR",
            ));
        }
        None => to_stdout(&jobs, most, args)?,
    };
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error));
    let code = list::exit_code(&report);
    Ok(if failed && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// What is written at most, as it was typed.
fn most(text: &str) -> Result<u64, Failure> {
    size::parse(text).ok_or_else(|| {
        Failure::with_hint(format!("--max-bytes: `{text}` is no size"), "write it like 500MB, 1.5GB or 300MiB")
    })
}

/// What is written at most where nothing was typed: a multiple of the files given, and 1 GiB.
fn usual(report: &Report) -> u64 {
    // what lies in an archive is part of its size
    let files = report.artefacts.iter().filter(|artefact| artefact.at.inner().is_empty());
    let given = files.map(|artefact| artefact.size).fold(0, u64::saturating_add);
    given.saturating_mul(UNPACKED).saturating_add(1 << 30)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn to_stdout(jobs: &[Job<'_>], most: u64, args: &ExtractArgs) -> Result<bool, Failure> {
    let mut written: Result<bool, Failure> = Ok(false);
    let mut take = |index: usize, _: Wanted, bytes: Result<&[u8], ExtractError>| {
        let complain = |error: &str| {
            let path = jobs.get(index).map(|job| job.member.path.as_str()).unwrap_or_default();
            output::complain(&format!("`{path}`: {error}"), None);
            Ok(true)
        };
        written = match bytes {
            Ok(bytes) if length(bytes) > most => complain(&format!("more than --max-bytes, {}", terminal::bytes(most))),
            Ok(bytes) => output::print(bytes).map(|_| false),
            Err(error) => complain(&error.to_string()),
        };
        ControlFlow::Continue(())
    };
    let failed = extract(jobs, args.raw, &limits(), args.common.mmap.into(), &mut take);
    match failed.into_iter().next() {
        Some((_, error)) => Err(Failure::new(error.to_string())),
        None => written,
    }
}

/// Payloads are unpacked one at a time.
fn limits() -> Limits {
    Limits::default()
}

/// Writes every image and an index; returns whether one could not be written.
fn to_folder(report: &Report, jobs: &[Job<'_>], path: &Path, most: u64, args: &ExtractArgs) -> Result<bool, Failure> {
    let shown = path.display().to_string();
    let shown = escape::text(&shown);
    let folder = Folder::make(path, args.force)
        .map_err(|error| Failure::new(format!("`{}` cannot be made: {error}", path.display())))?;
    // without an index nothing is written: an old one would stand beside what it does not list
    let index = match Index::begin(&folder) {
        Ok(index) => index,
        Err(error) => {
            output::complain(&format!("`{INDEX}`: {error}"), None);
            output::print(format!("nothing written to `{shown}`\n").as_bytes())?;
            return Ok(true);
        }
    };
    let mut names = Names::default();
    let folders = jobs.iter().map(|job| names.unique(&job.member.path)).collect();
    let mut writer = Writer {
        report,
        jobs,
        folder: &folder,
        folders,
        open: None,
        index,
        most,
        left: most,
        raw: args.raw,
        failed: false,
    };
    let mut take =
        |number: usize, wanted: Wanted, bytes: Result<&[u8], ExtractError>| writer.take(number, wanted, bytes);
    for (number, error) in extract(jobs, args.raw, &limits(), args.common.mmap.into(), &mut take) {
        writer.failed = true;
        let path = jobs.get(number).map(|job| job.member.path.as_str()).unwrap_or_default();
        output::complain(&format!("`{path}`: {error}"), None);
    }
    let number = count(writer.index.images, "image", "images");
    match writer.index.finish() {
        Ok(()) => drop(output::print(format!("{number} in `{shown}`, listed in `{INDEX}`\n").as_bytes())?),
        Err(error) => {
            writer.failed = true;
            output::complain(&format!("`{INDEX}`: {error}"), None);
            output::print(format!("{number} written to `{shown}`, and no new index\n").as_bytes())?;
        }
    }
    Ok(writer.failed)
}

/// Writes the images of a run.
struct Writer<'a> {
    report: &'a Report,
    jobs: &'a [Job<'a>],
    folder: &'a Folder,
    /// The name of the folder of each job.
    folders: Vec<String>,
    /// The folder of the last job.
    open: Option<(usize, Folder)>,
    index: Index<'a>,
    /// Bytes that are written at most, images and their lines in the index.
    most: u64,
    /// What is left of them.
    left: u64,
    raw: bool,
    failed: bool,
}

impl Writer<'_> {
    fn take(&mut self, number: usize, wanted: Wanted, bytes: Result<&[u8], ExtractError>) -> ControlFlow<()> {
        let next = ControlFlow::Continue(());
        let jobs = self.jobs;
        let Some((job, own)) = jobs.get(number).zip(self.folders.get(number)) else { return next };
        let Some((module, image)) = look_up(job.member, wanted) else { return next };
        let own = own.clone();
        let name = file_name(wanted, image, self.raw);
        let file = format!("{own}/{name}");
        let mut at = module.at(job.member);
        at.offset = Some(image.offset);
        at.image = Some(wanted.image);
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                self.failed = true;
                // the scan says it too, where it looked into the payload; it does not look for what lies over another
                let is_new = matches!(error, ExtractError::Overlap);
                let same = |own: &Locator| own.steps == at.steps && (own.offset, own.image) == (at.offset, at.image);
                if is_new || !self.report.diagnostics.iter().any(|own| own.level == Level::Error && same(&own.at)) {
                    output::complain(&format!("`{at}`: {error}"), None);
                }
                return next;
            }
        };
        let shared = self.raw && image.concat.is_some();
        let (kind, arch) = if shared { ("concat", None) } else { (image.kind.name(), image.arch_name()) };
        let line = serde_json::to_string(&ExtractedImage {
            file: file.clone(),
            place: at.to_string(),
            at: LocatorView::from(&at),
            kind: kind.to_owned(),
            arch: arch.clone(),
            bytes: length(bytes),
            raw: self.raw,
        })
        .unwrap_or_default();
        let cost = length(bytes).saturating_add(length(line.as_bytes()));
        let Some(left) = self.left.checked_sub(cost) else {
            self.failed = true;
            let most = terminal::bytes(self.most);
            let text = format!("`{file}` and what follows is not written: with it more than {most} would be");
            output::complain(&text, Some("--max-bytes SIZE sets how much is written"));
            return ControlFlow::Break(());
        };
        let written = self
            .folder_of(number, &own)
            .and_then(|folder| folder.write(&name, bytes).map_err(|error| format!("`{file}`: {error}")));
        match written {
            Ok(()) => self.left = left,
            Err(error) => {
                self.failed = true;
                output::complain(&format!("`{at}`: {error}"), None);
                return next;
            }
        }
        if let Err(error) = self.index.add(&line) {
            self.failed = true;
            output::complain(&format!("`{INDEX}`: {error}; what follows is not written"), None);
            return ControlFlow::Break(());
        }
        next
    }

    /// The folder `name` of a job.
    fn folder_of(&mut self, number: usize, name: &str) -> Result<&Folder, String> {
        let open = match self.open.take() {
            Some(open) if open.0 == number => open,
            _ => (number, self.folder.below(name).map_err(|error| format!("`{name}`: {error}"))?),
        };
        Ok(&self.open.insert(open).1)
    }
}

fn look_up(member: &Member, wanted: Wanted) -> Option<(&fatscan::Module, &Image)> {
    let module = member.modules.get(wanted.module)?;
    Some((module, module.images.get(wanted.image)?))
}

/// `0012.3.sm_90a.cubin`: module, image, architecture. The stored payload of a concatenated entry is of no single one.
fn file_name(wanted: Wanted, image: &Image, raw: bool) -> String {
    let shared = raw && image.concat.is_some();
    let ending = match image.kind {
        _ if shared => "concat",
        CodeKind::Sass => "cubin",
        CodeKind::Ptx => "ptx",
        CodeKind::LtoIr => "ltoir",
        CodeKind::TileIr => "tilebc",
        CodeKind::Other => "bin",
    };
    let codec = match (raw, image.compression.name()) {
        (true, codec) if codec != "none" => format!(".{codec}"),
        _ => String::new(),
    };
    let arch = image.arch_name().filter(|_| !shared).map(|arch| format!(".{arch}")).unwrap_or_default();
    format!("{:04}.{}{arch}.{ending}{codec}", wanted.module, wanted.image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_at_most_follows_from_the_files_given() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        let library = testkit::Elf::shared().section(".nv_fatbin", &testkit::fatbin::fatbin(&[])).bytes();
        let inner = testkit::Zip::new().stored("a.so", &library).bytes();
        let wheel = testkit::Zip::new().stored("inner.zip", &inner).bytes();
        let mut given = 0;
        for (name, bytes) in [("in/a.so", &library), ("in/x.whl", &wheel), ("b.so", &library)] {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            given += length(bytes);
        }
        let paths = ["in", "b.so"].map(|name| folder.path().join(name));
        let report = fatscan::scan_paths(&paths, &fatscan::Options::default());
        assert_eq!(usual(&report), given * 64 + (1 << 30));
    }
}
