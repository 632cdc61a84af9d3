//! `fatscan fleet`: many artefacts on many targets. It demands, judges and ends as `fatscan check` does.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

use fatscan::check::{Config, Rule};
use fatscan::environment::{Environment, group};
use fatscan::fleet::{Board, Origin};
use fatscan::json;
use fatscan::{Artefact, Level, Report};
use gpu_arch::rules::Device;

use crate::args::{CheckArgs, CheckFormat, Common, DriverArgs, Files, FleetArgs, FleetFormat};
use crate::check::{self, Judged, Typed};
use crate::failure::Failure;
use crate::formats::Formats;
use crate::{device, output, render, target};

/// An environment that was given, with what is scanned of it.
struct Given {
    path: String,
    environment: Environment,
    inputs: Vec<PathBuf>,
}

/// What the rows are, as far as the report does not tell.
#[derive(Default)]
pub(crate) struct Origins {
    /// As the artefacts of the report.
    pub(crate) artefacts: Vec<Origin>,
    /// Distributions of each environment, in all.
    pub(crate) installed: Vec<(String, usize)>,
}

pub(crate) fn run(args: &FleetArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let (given, paths) = environments(&args.paths);
    let own = CheckArgs { paths, ..demands(args) };
    let config = check::config(&own)?;
    let typed = typed(args)?;
    let has_config = !config.fleets.is_empty() || !config.any_of.is_empty();
    if typed.is_empty() && !has_config {
        return Err(no_target(args, &config));
    }
    let origins = RefCell::new(Origins::default());
    let outputs = args.formats.open(&args.paths)?;
    let choose = |report: &mut Report, vendored, inputs: &[PathBuf]| {
        let left_out = check::choose(report, &own, vendored, inputs)?;
        origins.replace(apart(report, &given));
        Ok(left_out)
    };
    let mut seen = check::judged(&own, &config, typed, &choose)?;
    let origins = origins.into_inner();
    // most packages have no device code, and nothing is wrong with that
    let is_installed = |artefact: Option<usize>| {
        artefact.and_then(|own| origins.artefacts.get(own)).is_some_and(|own| own.environment.is_some())
    };
    seen.outcome.findings.retain(|own| own.rule != Rule::NoDeviceCode || !is_installed(own.artefact));
    let board = Board::of(&seen.report, &seen.judgement, &seen.outcome, seen.targets.clone(), &origins.artefacts);
    let Judged { report, outcome, .. } = &seen;
    outputs.write(|format, out| match format {
        FleetFormat::Table => render::fleet::text(out, report, outcome, &board, &origins),
        FleetFormat::Csv => render::fleet::csv(out, &board),
        FleetFormat::Markdown => render::fleet::markdown(out, report, outcome, &board, &origins),
        FleetFormat::Html => render::html::fleet(out, report, outcome, &board, &origins),
        FleetFormat::Json => render::fleet::json(out, &json::Fleet::new(report, &board, outcome)),
    })?;
    if args.formats.printed() == FleetFormat::Table {
        output::diagnostics(report.diagnostics.iter().filter(|own| own.level == Level::Error));
    }
    if report.artefacts.is_empty() && !given.is_empty() && outcome.passed() {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(seen.code())
}

fn no_target(args: &FleetArgs, config: &Config) -> Failure {
    let hint = "name GPUs (--gpu T4,A100 --driver 535.183.01), or fleets in a file (--config fleet.toml)";
    let text = match &args.config {
        Some(path) if *config == Config::default() => format!("--config `{path}` is empty: it names no fleet"),
        Some(path) => format!("--config `{path}` names no fleet"),
        None if !args.driver.is_empty() || !args.driver_cuda.is_empty() => "a driver without a GPU".to_owned(),
        None => "no target is named".to_owned(),
    };
    Failure::with_hint(text, hint)
}

/// The devices that are typed: each GPU with each driver, then those of each recording under its name.
fn typed(args: &FleetArgs) -> Result<Vec<Typed>, Failure> {
    let of = |driver: Option<&String>, driver_cuda: Option<&String>| DriverArgs {
        driver: driver.cloned(),
        driver_cuda: driver_cuda.cloned(),
    };
    let mut drivers: Vec<DriverArgs> = args.driver.iter().map(|own| of(Some(own), None)).collect();
    drivers.extend(args.driver_cuda.iter().map(|own| of(None, Some(own))));
    if drivers.is_empty() {
        drivers.push(of(None, None));
    }
    let mut all: Vec<Typed> = Vec::new();
    let mut add = |name: Option<String>, devices: Vec<Device>| {
        let own = Typed { name, devices };
        if !all.contains(&own) {
            all.push(own);
        }
    };
    if !args.gpu.is_empty() {
        // the columns of a GPU stand beside each other
        for gpu in target::devices("--gpu", &args.gpu, &of(None, None))? {
            for driver in &drivers {
                let own = target::read_drivers(driver)?;
                add(None, own.into_iter().map(|driver| gpu.clone().with_driver(driver)).collect());
            }
        }
    }
    for path in &args.recording {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        add(name.filter(|_| args.recording.len() > 1), device::devices(Some(path), &of(None, None))?);
    }
    if args.device {
        add(None, device::devices(None, &of(None, None))?);
    }
    Ok(all)
}

/// The same demands as words of `check`.
fn demands(args: &FleetArgs) -> CheckArgs {
    let Common { threads, no_color, mmap, follow_links } = args.common;
    CheckArgs {
        paths: Vec::new(),
        env: None,
        require: Vec::new(),
        device: false,
        recording: None,
        driver: DriverArgs { driver: None, driver_cuda: None },
        allow_jit: args.allow_jit,
        allow_partial: args.allow_partial,
        allow_unknown: args.allow_unknown,
        no_alternatives: false,
        contains: None,
        strict: false,
        declared: false,
        lint: false,
        host: None,
        member: Vec::new(),
        files: Files { exclude: args.files.exclude.clone(), group_by: args.files.group_by },
        no_device_code: args.no_device_code,
        max_size: None,
        vendored: None,
        deny: Vec::new(),
        warn: Vec::new(),
        allow: Vec::new(),
        baseline: args.baseline.clone(),
        config: args.config.clone(),
        formats: Formats::only(CheckFormat::Table),
        common: Common { threads, no_color, mmap, follow_links },
    }
}

/// The environments among the paths, and what is scanned.
fn environments(paths: &[PathBuf]) -> (Vec<Given>, Vec<PathBuf>) {
    let mut given = Vec::new();
    let mut all = Vec::new();
    for path in paths {
        let found = if Environment::is_one(path) { Environment::of_path(path, "as given") } else { None };
        let Some(mut environment) = found else {
            all.push(path.clone());
            continue;
        };
        environment.read();
        let mut inputs = environment.inputs();
        if inputs.is_empty() {
            // nothing is installed there
            inputs.push(path.clone());
        }
        all.extend(inputs.iter().cloned());
        given.push(Given { path: path.display().to_string(), environment, inputs });
    }
    (given, all)
}

/// Takes the environments in a report apart, one artefact a distribution.
fn apart(report: &mut Report, given: &[Given]) -> Origins {
    let mut origins = Origins::default();
    if given.is_empty() {
        return origins;
    }
    let mut mine: Vec<Vec<Artefact>> = given.iter().map(|_| Vec::new()).collect();
    // the rows of an environment stand where its first artefact stood
    let mut order: Vec<Result<Artefact, usize>> = Vec::new();
    for artefact in std::mem::take(&mut report.artefacts) {
        let path = artefact.at.path();
        let own = given.iter().position(|own| own.inputs.iter().any(|input| path.starts_with(input)));
        match own.and_then(|own| Some((own, mine.get_mut(own)?))) {
            Some((own, list)) => {
                if list.is_empty() {
                    order.push(Err(own));
                }
                list.push(artefact);
            }
            None => order.push(Ok(artefact)),
        }
    }
    for own in given {
        origins.installed.push((own.path.clone(), own.environment.distributions.len()));
    }
    for own in order {
        let index = match own {
            Ok(artefact) => {
                report.artefacts.push(artefact);
                origins.artefacts.push(Origin::default());
                continue;
            }
            Err(index) => index,
        };
        let Some((own, list)) = given.get(index).zip(mine.get_mut(index)) else { continue };
        let mut part = Report::default();
        part.artefacts = std::mem::take(list);
        part.diagnostics.clone_from(&report.diagnostics);
        part.unread.clone_from(&report.unread);
        part.depth = report.depth;
        let groups = group(part, &own.environment);
        for (artefact, distribution) in groups.report.artefacts.into_iter().zip(groups.of) {
            let is_damaged = distribution.is_some_and(|own| groups.damaged.contains(&own));
            report.artefacts.push(artefact);
            origins.artefacts.push(Origin { environment: Some(own.path.clone()), is_damaged });
        }
    }
    origins
}
