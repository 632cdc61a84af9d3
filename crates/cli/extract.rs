//! `fatscan extract`.

use core::ops::ControlFlow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use fatscan::extract::{ExtractError, Job, Wanted, extract};
use fatscan::{CodeKind, Image, Level, Limits, Locator, LocatorView, Member, Pattern, Report, Source};
use gpu_arch::{Arch, Target, spelling};
use regex_lite::Regex;
use serde_json::{Value, json};

use crate::args::{ExtractArgs, KindArg};
use crate::failure::Failure;
use crate::terminal::count;
use crate::{list, output};

/// Longest part of a file name that comes from a name in the file.
const NAME: usize = 100;
/// Name of the file that lists the others.
const INDEX: &str = "index.json";

pub(crate) fn run(args: &ExtractArgs) -> Result<ExitCode, Failure> {
    let filter = Filter::new(args)?;
    let depth = if filter.kernel.is_some() { list::Depth::Kernels } else { list::Depth::Headers };
    let report = list::scan(&args.paths, &args.common, depth)?;
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
    let failed = match &args.output {
        Some(folder) => to_folder(&report, &jobs, folder, args)?,
        None if total > 1 => {
            return Err(Failure::with_hint(
                format!("{total} images match, and --stdout takes one"),
                "narrow it with --arch, --kind, --member and --module, or write to a directory with -o DIR",
            ));
        }
        None => to_stdout(&jobs, args)?,
    };
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error));
    let code = list::exit_code(&report);
    Ok(if failed && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// Which images are wanted.
struct Filter {
    archs: Vec<(CodeKind, Arch)>,
    kind: Option<CodeKind>,
    kernel: Option<Regex>,
    module: Option<usize>,
    member: Option<Pattern>,
}

impl Filter {
    fn new(args: &ExtractArgs) -> Result<Self, Failure> {
        let archs = match &args.arch {
            Some(text) => {
                let targets = spelling::code(text).map_err(|error| Failure::new(format!("--arch: {error}")))?;
                targets
                    .into_iter()
                    .map(|target| match target {
                        Target::Sass(arch) => (CodeKind::Sass, arch),
                        Target::Ptx(arch, _) => (CodeKind::Ptx, arch),
                        Target::Lto(arch) => (CodeKind::LtoIr, arch),
                    })
                    .collect()
            }
            None => Vec::new(),
        };
        let kernel = match &args.kernel {
            Some(text) => Some(Regex::new(text).map_err(|error| Failure::new(format!("--kernel: {error}")))?),
            None => None,
        };
        let kind = args.kind.map(|kind| match kind {
            KindArg::Sass => CodeKind::Sass,
            KindArg::Ptx => CodeKind::Ptx,
            KindArg::LtoIr => CodeKind::LtoIr,
            KindArg::TileIr => CodeKind::TileIr,
        });
        let member = match &args.member {
            Some(text) => Some(Pattern::new(text).map_err(|error| Failure::new(format!("--member: {error}")))?),
            None => None,
        };
        Ok(Self { archs, kind, kernel, module: args.module, member })
    }

    fn choose(&self, member: &Member, raw: bool) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        if self.member.as_ref().is_some_and(|glob| !glob.matches(&member.path)) {
            return wanted;
        }
        for (module, own) in member.modules.iter().enumerate() {
            if own.source == Source::OffloadBundle || self.module.is_some_and(|only| only != module) {
                continue;
            }
            let mut last = None;
            for (image, own) in own.images.iter().enumerate().filter(|(_, image)| self.keeps(image)) {
                // the images of a concatenated entry have one payload
                if !raw || own.concat.is_none() || last != Some(own.offset) {
                    wanted.push(Wanted { module, image });
                }
                last = Some(own.offset);
            }
        }
        wanted
    }

    fn keeps(&self, image: &Image) -> bool {
        let arch = self.archs.is_empty() || image.arch.is_some_and(|arch| self.archs.contains(&(image.kind, arch)));
        let kernel = self.kernel.as_ref().is_none_or(|kernel| {
            image.kernels.iter().flatten().any(|own| {
                kernel.is_match(&own.name)
                    || fatscan::demangle(own.name.as_bytes()).is_some_and(|name| kernel.is_match(&name))
            })
        });
        arch && kernel && self.kind.is_none_or(|kind| kind == image.kind)
    }
}

fn to_stdout(jobs: &[Job<'_>], args: &ExtractArgs) -> Result<bool, Failure> {
    let mut written: Result<bool, Failure> = Ok(false);
    let mut take = |index: usize, _: Wanted, bytes: Result<&[u8], ExtractError>| {
        written = match bytes {
            Ok(bytes) => io::stdout().write_all(bytes).map(|()| false).map_err(Failure::from),
            Err(error) => {
                let path = jobs.get(index).map(|job| job.member.path.as_str()).unwrap_or_default();
                output::complain(&format!("`{path}`: {error}"), None);
                Ok(true)
            }
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
fn to_folder(report: &Report, jobs: &[Job<'_>], folder: &Path, args: &ExtractArgs) -> Result<bool, Failure> {
    let make = |path: &Path| {
        fs::create_dir_all(path).map_err(|error| Failure::new(format!("`{}` cannot be made: {error}", path.display())))
    };
    make(folder)?;
    let mut names = Names::default();
    let folders: Vec<String> = jobs.iter().map(|job| names.unique(&job.member.path)).collect();
    for own in &folders {
        make(&folder.join(own))?;
    }
    let mut index: Vec<Value> = Vec::new();
    let mut failed = false;
    let mut take = |number: usize, wanted: Wanted, bytes: Result<&[u8], ExtractError>| {
        let next = ControlFlow::Continue(());
        let Some((job, own)) = jobs.get(number).zip(folders.get(number)) else { return next };
        let Some((module, image)) = look_up(job.member, wanted) else { return next };
        let file = format!("{own}/{}", file_name(wanted, image, args.raw));
        let mut at = module.at(job.member);
        at.offset = Some(image.offset);
        at.image = Some(wanted.image);
        let result = bytes.map_err(|error| error.to_string()).and_then(|bytes| {
            let written = write(&folder.join(&file), bytes, args.force).map(|()| bytes.len());
            written.map_err(|error| format!("`{file}`: {error}"))
        });
        match result {
            Ok(length) => {
                let shared = args.raw && image.concat.is_some();
                let (kind, arch) = if shared { ("concat", None) } else { (image.kind.name(), image.arch_name()) };
                index.push(json!({ "file": file, "place": at.to_string(), "at": LocatorView::from(&at), "kind": kind,
                    "arch": arch, "bytes": length, "raw": args.raw }));
            }
            Err(error) => {
                failed = true;
                // the scan says it too, where it looked into the payload
                let same = |own: &Locator| own.steps == at.steps && (own.offset, own.image) == (at.offset, at.image);
                if !report.diagnostics.iter().any(|own| own.level == Level::Error && same(&own.at)) {
                    output::complain(&format!("`{at}`: {error}"), None);
                }
            }
        }
        next
    };
    for (number, error) in extract(jobs, args.raw, &limits(), args.common.mmap.into(), &mut take) {
        failed = true;
        let path = jobs.get(number).map(|job| job.member.path.as_str()).unwrap_or_default();
        output::complain(&format!("`{path}`: {error}"), None);
    }
    let number = index.len();
    let text = format!("{:#}\n", json!({ "schema": 1, "images": index }));
    let number = count(number, "image", "images");
    match write(&folder.join(INDEX), text.as_bytes(), args.force) {
        Ok(()) => writeln!(io::stdout(), "{number} in `{}`, listed in `{INDEX}`", folder.display())?,
        Err(error) => {
            failed = true;
            output::complain(&format!("`{INDEX}`: {error}"), None);
            writeln!(io::stdout(), "{number} written to `{}`, and no new index", folder.display())?;
        }
    }
    Ok(failed)
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

/// A new file, unless an old one may be written over.
fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let result = options.open(path).and_then(|mut file| file.write_all(bytes));
    result.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => "the file exists; --force writes over it".to_owned(),
        _ => error.to_string(),
    })
}

/// Names of folders for members, safe and each for one member only.
struct Names {
    taken: BTreeMap<String, usize>,
}

impl Default for Names {
    fn default() -> Self {
        Self { taken: BTreeMap::from([(INDEX.to_owned(), 1)]) }
    }
}

/// Names that Windows keeps for devices, with any ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = |start: &str| stem.strip_prefix(start).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']));
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

impl Names {
    /// A single name made of a path: whatever the path says, it leads nowhere else.
    fn unique(&mut self, path: &str) -> String {
        let safe: String = path
            .chars()
            .map(
                |character| {
                    if character.is_ascii_alphanumeric() || "._-+".contains(character) { character } else { '_' }
                },
            )
            .collect();
        let start = safe.len().saturating_sub(NAME);
        // hidden files, and what Windows drops at the end of a name
        let name = safe.get(start..).unwrap_or_default().trim_matches('.');
        let name = if name.is_empty() || is_device(name) { format!("_{name}") } else { name.to_owned() };
        // systems that do not tell upper from lower case must not see one name twice
        let taken = self.taken.entry(name.to_ascii_lowercase()).or_default();
        *taken = taken.saturating_add(1);
        if *taken == 1 { name } else { format!("{name}~{taken}") }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn names_lead_nowhere_else_and_stand_apart() {
        let mut names = Names::default();
        for path in ["../../etc/passwd", "/etc/passwd", "", "..", "a/b", "a_b", "A_b", &"x".repeat(32_000)] {
            let name = names.unique(path);
            assert!(!name.contains(['/', '\\']) && !name.starts_with('.') && !name.is_empty(), "{name}");
            assert!(name.len() <= NAME + 8, "{name}");
            assert_eq!(PathBuf::from(&name).components().count(), 1, "{name}");
        }
        assert_eq!(Names::default().unique("torch/lib/libtorch_cuda.so"), "torch_lib_libtorch_cuda.so");
        let mut names = Names::default();
        let all: Vec<String> = ["a/b", "a_b", "A_b"].iter().map(|path| names.unique(path)).collect();
        assert_eq!(all, ["a_b", "a_b~2", "A_b~3"]);
        let mut names = Names::default();
        let all: Vec<String> =
            ["index.json", "a", "a.", "NUL.so", "com1", "command"].iter().map(|p| names.unique(p)).collect();
        assert_eq!(all, ["index.json~2", "a", "a~2", "_NUL.so", "_com1", "command"]);
    }
}
