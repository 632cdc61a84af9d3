//! `fatscan env`, and the environments of other commands.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use fatscan::environment::{Environment, Groups, Link, SiteKind, group, links, natives};
use fatscan::json::Document;
use fatscan::{Judgement, Level, Owners, Package, Policy, Report};
use gpu_arch::rules::Device;
use serde::Deserialize;

use crate::args::{Common, EnvArgs, Files, TextFormat};
use crate::failure::Failure;
use crate::formats::Formats;
use crate::{device, list, output, render, target};

/// How long an interpreter may take to answer.
const LIMIT: Duration = Duration::from_secs(10);
/// What an interpreter is asked, without the packages of its environment.
const QUESTION: &str = "import json, site, sys, sysconfig\n\
    paths = sysconfig.get_paths()\n\
    print(json.dumps({'prefix': sys.prefix, 'version': '%d.%d.%d' % sys.version_info[:3],\n\
    'sites': [paths['purelib'], paths['platlib']] + site.getsitepackages(), 'user': site.getusersitepackages()}))";

/// What was found of an environment, with what is judged.
pub(crate) struct Seen {
    pub(crate) environment: Environment,
    pub(crate) groups: Groups,
    pub(crate) judgement: Judgement,
    /// How files find the CUDA libraries that they ask for.
    pub(crate) links: Vec<Link>,
}

pub(crate) fn run(args: &EnvArgs) -> Result<ExitCode, Failure> {
    let environment = find(args)?;
    let devices = device::named(&args.target)?;
    show(environment, &devices, &args.common, &args.formats)
}

/// Explains a directory that is an environment.
pub(crate) fn explain(
    path: &Path,
    devices: &[Device],
    common: &Common,
    formats: &Formats<TextFormat>,
) -> Result<ExitCode, Failure> {
    show(of_path(path, "as given")?, devices, common, formats)
}

fn show(
    environment: Environment,
    devices: &[Device],
    common: &Common,
    formats: &Formats<TextFormat>,
) -> Result<ExitCode, Failure> {
    let outputs = formats.open(&[])?;
    let seen = see(environment, devices, common)?;
    outputs.write(|format, out| match format {
        TextFormat::Text => render::env::text(out, &seen),
        TextFormat::Csv => render::env::csv(out, &seen),
        TextFormat::Markdown => render::env::markdown(out, &seen),
        TextFormat::Json => {
            let report = &seen.groups.report;
            let document = Document::judged(report, &seen.judgement, false);
            let document = document.with_remedies(report, &seen.judgement, &seen.groups.owners(&seen.environment));
            let document = document.with_environment(&seen.environment, &seen.groups, &seen.judgement, &seen.links);
            render::explain::json(out, &document)
        }
    })?;
    let errors = || seen.groups.report.diagnostics.iter().filter(|own| own.level == Level::Error);
    if formats.printed() != TextFormat::Json {
        output::diagnostics(errors());
    }
    Ok(if errors().next().is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads, scans and judges an environment, one artefact a distribution.
fn see(mut environment: Environment, devices: &[Device], common: &Common) -> Result<Seen, Failure> {
    environment.read();
    let policy = Policy { environment: target::environment(), ..Policy::default() };
    let (paths, depths) = (environment.inputs(), (list::Depth::Judge, list::Depth::Diff));
    // a scan begins with a walk that keeps one core busy
    let (seen, files) = std::thread::scope(|scope| {
        let own = environment.clone();
        let files = scope.spawn(move || natives(&own));
        let seen = judged(environment, &paths, common, depths, devices, &policy);
        (seen, files.join().unwrap_or_default())
    });
    let mut seen = seen?;
    seen.links = links(&seen.environment, &files, &seen.groups, &seen.judgement);
    Ok(seen)
}

/// Scans files of an environment and judges each distribution by itself.
fn judged(
    environment: Environment,
    paths: &[PathBuf],
    common: &Common,
    depths: (list::Depth, list::Depth),
    devices: &[Device],
    policy: &Policy,
) -> Result<Seen, Failure> {
    let mut groups = Groups::default();
    if paths.is_empty() {
        // there is nothing to scan, and nothing is wrong with that
        if common.no_color {
            anstream::ColorChoice::Never.write_global();
        }
        let judgement = fatscan::judge(&groups.report, devices, policy)?;
        return Ok(Seen { environment, groups, judgement, links: Vec::new() });
    }
    let known = RefCell::new(Groups::default());
    let files = Files::default();
    let request = list::Request { paths, files: &files, common };
    let (report, judgement) = list::judged(&request, depths, devices, policy, false, |report| {
        let mut own = group(std::mem::take(report), &environment);
        *report = std::mem::take(&mut own.report);
        known.replace(own);
        Ok(())
    })?;
    groups = known.into_inner();
    groups.report = report;
    Ok(Seen { environment, groups, judgement, links: Vec::new() })
}

/// An installed package: what is judged of its files, with their packages. `None` where a word is no name of a package.
pub(crate) fn package(
    name: &Path,
    common: &Common,
    depths: (list::Depth, list::Depth),
    devices: &[Device],
    policy: &Policy,
) -> Result<Option<(Report, Judgement, Owners)>, Failure> {
    let Some(word) = name.to_str().filter(|word| Package::new(word, "0").is_some()) else { return Ok(None) };
    // a name with the ending of a file is that of a file that is not there
    let is_file = [".whl", ".so", ".dll", ".pyd", ".a", ".zip"].iter().any(|end| word.ends_with(end));
    if is_file || name.symlink_metadata().is_ok() {
        return Ok(None);
    }
    let missing = |text: String| Failure::new(format!("`{word}`: no such file or directory, {text}"));
    let mut environment = active().map_err(|_| missing("and no environment is active".to_owned()))?;
    environment.read();
    let found = environment.find(word);
    if found.is_empty() {
        let root = environment.root.display();
        return Err(missing(format!("and no package of this name is installed in {root} ({})", environment.found)));
    }
    let paths = environment.files_of(&found).unwrap_or_else(|| environment.inputs());
    let seen = judged(environment, &paths, common, depths, devices, policy)?;
    let Seen { environment, mut groups, .. } = seen;
    groups.keep(&found, &environment);
    let judgement = fatscan::judge(&groups.report, devices, policy)?;
    let owners = groups.owners(&environment);
    Ok(Some((groups.report, judgement, owners)))
}

/// The environment that is asked for.
fn find(args: &EnvArgs) -> Result<Environment, Failure> {
    if let Some(path) = &args.path {
        return of_path(path, "as given");
    }
    if let Some(program) = &args.python {
        return of_interpreter(program, "of --python");
    }
    if let Some(prefix) = &args.prefix {
        return of_path(prefix, "of --prefix");
    }
    if let Some(pid) = args.pid {
        return Environment::of_process(pid).map_err(|error| Failure::new(format!("--pid {pid}: {error}")));
    }
    active()
}

/// The environment of a directory, or the one that is active.
pub(crate) fn named(path: Option<&Path>) -> Result<Environment, Failure> {
    path.map_or_else(active, |path| of_path(path, "as given"))
}

fn of_path(path: &Path, found: &str) -> Result<Environment, Failure> {
    if path.is_file() {
        let hint = "a file goes to `fatscan explain`, an interpreter to --python";
        return Err(Failure::with_hint(format!("`{}` is a file, and no environment", path.display()), hint));
    }
    if !path.is_dir() {
        return Err(Failure::new(format!("`{}`: no such directory", path.display())));
    }
    Environment::of_path(path, found).ok_or_else(|| {
        Failure::with_hint(
            format!("`{}` is no environment of Python", path.display()),
            "give the root of a venv (with pyvenv.cfg), a conda prefix (with conda-meta) or a site-packages directory; \
             other directories go to `fatscan explain`",
        )
    })
}

/// The environment of this shell.
fn active() -> Result<Environment, Failure> {
    for (name, found) in [("VIRTUAL_ENV", "by VIRTUAL_ENV"), ("CONDA_PREFIX", "by CONDA_PREFIX")] {
        if let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) {
            return of_path(Path::new(&path), found).map_err(|failure| failure.within(name));
        }
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names: &[&str] = if cfg!(windows) { &["python3.exe", "python.exe"] } else { &["python3"] };
    let programs = std::env::split_paths(&folders).flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    // a folder that is not absolute is whatever lies in the directory at hand
    match programs.filter(|program| program.is_absolute()).find(|program| program.is_file()) {
        Some(program) => of_interpreter(&program, "by the python3 on the path"),
        None => Err(Failure::with_hint(
            "no environment is active: neither VIRTUAL_ENV nor CONDA_PREFIX is set, and there is no python3 on the path",
            "name one: fatscan env .venv",
        )),
    }
}

#[derive(Deserialize)]
struct Answer {
    prefix: PathBuf,
    version: String,
    sites: Vec<PathBuf>,
    user: PathBuf,
}

/// The environment of an interpreter: by the layout around it, else by asking it.
fn of_interpreter(program: &Path, found: &str) -> Result<Environment, Failure> {
    if let Some(environment) = Environment::of_interpreter(program, found) {
        return Ok(environment);
    }
    let mut command = Command::new(program);
    command.args(["-I", "-S", "-c", QUESTION]);
    let failure =
        |why: &str| Failure::with_hint(format!("`{}` {why}", program.display()), "name the environment by its path");
    let output = device_probe::answer(&mut command, LIMIT).map_err(|why| failure(&why))?;
    let answer: Answer =
        serde_json::from_slice(&output).map_err(|_| failure("answered with something else than its paths"))?;
    let mut sites: Vec<(PathBuf, SiteKind)> = Vec::new();
    if std::env::var_os("PYTHONNOUSERSITE").is_none_or(|value| value.is_empty()) {
        sites.push((answer.user, SiteKind::User));
    }
    sites.extend(answer.sites.into_iter().map(|site| (site, SiteKind::Own)));
    sites.retain(|(path, _)| path.is_absolute());
    Ok(Environment::of_sites(&answer.prefix, found, Some(answer.version), &sites))
}
