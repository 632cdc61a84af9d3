//! `fatscan check`: words typed and the configuration become demands.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use fatscan::check::{
    Baseline, Config, Date, Demands, Fleet, Group, Outcome, Rule, Severity, Vendored, check, is_vendored, retain,
    select,
};
use fatscan::fleet::{Board, Target};
use fatscan::json::Document;
use fatscan::{Artefact, Judgement, Locator, Owners, Pattern, Policy, Report};
use gpu_arch::rules::{Device, Environment};
use gpu_arch::spelling::{self, SpellingErrorKind};

use crate::args::{CheckArgs, CheckFormat, DriverArgs, Files, NoDeviceCode, VendoredArg};
use crate::failure::{CANNOT, Failure};
use crate::{device, env, list, output, render, size, target};

/// What was scanned, judged and checked.
pub(crate) struct Judged {
    pub(crate) report: Report,
    pub(crate) judgement: Judgement,
    pub(crate) outcome: Outcome,
    /// What the GPUs are that must run it.
    pub(crate) targets: Vec<Target>,
    /// Why some of them could not be asked.
    pub(crate) unjudged: Option<Failure>,
}

/// Devices that are no fleet of a configuration, perhaps under a name.
#[derive(PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) name: Option<String>,
    pub(crate) devices: Vec<Device>,
}

impl Judged {
    /// The exit code.
    pub(crate) fn code(self) -> ExitCode {
        if let Some(failure) = self.unjudged {
            return failure.report();
        }
        if self.report.artefacts.is_empty() {
            return ExitCode::from(CANNOT);
        }
        if self.outcome.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The configuration that was named.
pub(crate) fn config(args: &CheckArgs) -> Result<Config, Failure> {
    let Some(path) = &args.config else { return Ok(Config::default()) };
    let text = read(path, "--config")?;
    Config::parse(&text).map_err(|error| Failure::of_lines(&format!("--config `{path}`"), &error.text))
}

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let config = config(args)?;
    let outputs = args.formats.open(&args.paths)?;
    let choose = |report: &mut Report, vendored, environment: &[PathBuf]| choose(report, args, vendored, environment);
    let seen = judged(args, &config, Vec::new(), &choose)?;
    let Judged { report, judgement, outcome, .. } = &seen;
    outputs.write(|format, out| match format {
        CheckFormat::Table => {
            let board = Board::of(report, judgement, outcome, seen.targets.clone(), &[]);
            render::check::table(out, report, judgement, outcome, &board)
        }
        CheckFormat::Json => {
            let document = Document::checked(report, judgement, outcome);
            render::explain::json(out, &document.with_remedies(report, judgement, &Owners::find(report)))
        }
        CheckFormat::Sarif => render::check::sarif(out, report, outcome),
        CheckFormat::Github => render::check::github(out, report, outcome),
        CheckFormat::Junit => render::check::junit(out, report, outcome),
        CheckFormat::Markdown => render::check::markdown(out, report, judgement, outcome),
    })?;
    if let Some(own) = outcome.vendored.as_ref().filter(|_| !says_vendored(args.formats.printed())) {
        output::note(&own.sentence());
    }
    Ok(seen.code())
}

/// Leaves in a report what is asked for, and tells the paths of the rest: as [`choose`].
pub(crate) type Choose<'a> = dyn Fn(&mut Report, Vendored, &[PathBuf]) -> Result<Vec<String>, Failure> + 'a;

/// Scans, judges and checks. `typed` are devices beside those of the flags and of the configuration, `choose` leaves in the
/// report what is asked for.
pub(crate) fn judged(
    args: &CheckArgs,
    config: &Config,
    typed: Vec<Typed>,
    choose: &Choose<'_>,
) -> Result<Judged, Failure> {
    let mut devices = Vec::new();
    let mut fleets = Vec::new();
    let mut targets = Vec::new();
    let mut demands = demands(args, config)?;
    for Typed { name, devices: own } in typed {
        targets.extend(Target::each(&own, devices.len(), name.as_deref(), demands.allow_jit));
        devices.extend(own);
        fleets.resize(devices.len(), name);
    }
    // without a device the other demands are judged all the same, and the answer is "could not judge"
    let mut unjudged = None;
    if args.device || args.recording.is_some() {
        match device::devices(args.recording.as_deref(), &args.driver) {
            Ok(found) => {
                targets.extend(Target::each(&found, devices.len(), None, demands.allow_jit));
                devices.extend(found);
            }
            Err(failure) => unjudged = Some(failure),
        }
    }
    if !args.require.is_empty() {
        let own = named(&args.require, &args.driver, "--require")?;
        targets.extend(Target::each(&own, devices.len(), None, demands.allow_jit));
        devices.extend(own);
    }
    demands.files = config.files.iter().map(|table| table.demands.clone()).collect();
    let file = format!("--config `{}`", args.config.as_deref().unwrap_or_default());
    for fleet in &config.fleets {
        let driver = DriverArgs { driver: fleet.driver.clone(), driver_cuda: fleet.driver_cuda.clone() };
        let own = named(&fleet.gpus, &driver, &format!("fleet `{}`", fleet.name));
        let own = own.map_err(|failure| failure.within(&file))?;
        fleets.resize(devices.len(), None);
        allow_jit(&mut demands, devices.len(), own.len(), fleet);
        targets.extend(targets_of(fleet, &own, devices.len(), &demands));
        fleets.resize(devices.len().saturating_add(own.len()), Some(fleet.name.clone()));
        devices.extend(own);
    }
    for group in &config.any_of {
        if group.driver.as_ref().is_some_and(|driver| driver.contains("..")) {
            let text = format!("any-of `{}`: one driver of a range is not enough", group.name);
            return Err(Failure::with_hint(text, "make a fleet of it, or name one driver").within(&file));
        }
        let driver = DriverArgs { driver: group.driver.clone(), driver_cuda: group.driver_cuda.clone() };
        let own = named(&group.gpus, &driver, &format!("any-of `{}`", group.name));
        let own = own.map_err(|failure| failure.within(&file))?;
        let first = devices.len();
        allow_jit(&mut demands, first, own.len(), group);
        let one_of = |target| Target { is_one_of: true, ..target };
        targets.extend(targets_of(group, &own, first, &demands).into_iter().map(one_of));
        fleets.resize(first, None);
        fleets.resize(first.saturating_add(own.len()), Some(group.name.clone()));
        devices.extend(own);
        demands.any_of.push(Group { name: group.name.clone(), devices: (first..devices.len()).collect() });
    }
    for (index, table) in config.files.iter().enumerate() {
        let Some(fleet) = &table.require else { continue };
        let driver = DriverArgs { driver: fleet.driver.clone(), driver_cuda: fleet.driver_cuda.clone() };
        let own = if fleet.gpus.is_empty() {
            Vec::new()
        } else {
            let own = named(&fleet.gpus, &driver, &format!("files `{}`", fleet.name));
            own.map_err(|failure| failure.within(&file))?
        };
        let indices = (devices.len()..devices.len().saturating_add(own.len())).collect();
        devices.extend(own);
        if let Some(demands) = demands.files.get_mut(index) {
            demands.require = Some(indices);
        }
    }
    fleets.resize(devices.len(), None);
    let names_code = !demands.contains.is_empty() || demands.files.iter().any(|own| own.contains.is_some());
    let declared = args.declared || config.declared == Some(true);
    let nothing = devices.is_empty() && !names_code && demands.max_size.is_none() && demands.host.is_none();
    let nothing = nothing && !declared && !demands.lint;
    if nothing && let Some(failure) = unjudged {
        return Err(failure);
    }
    if nothing {
        return Err(Failure::with_hint(
            "nothing is demanded",
            "name GPUs that it must run on (--require 9.0,\"RTX 4090\") or code that it must hold (--contains \"8.0;9.0+PTX\"), or hold it to its own words (--declared)",
        ));
    }
    let environment = Environment::default();
    let policy = Policy { environment, alternatives: !args.no_alternatives, ..Policy::default() };
    let depths = (list::Depth::Check, list::Depth::CheckDiff);
    let mut paths = args.paths.clone();
    let mut inputs = Vec::new();
    if let Some(path) = &args.env {
        let mut own = env::named(path.as_deref())?;
        own.read();
        inputs = own.inputs();
        paths.extend(inputs.iter().cloned());
    }
    let wants_all = names_code || demands.strict || declared || demands.lint;
    // what is left out is read all the same: a gate that leaves out everything is to say so
    let files = Files { exclude: Vec::new(), group_by: args.files.group_by };
    let request = list::Request { paths: &paths, files: &files, common: &args.common };
    let left_out = RefCell::new(Vec::new());
    let choose = |report: &mut Report| {
        left_out.replace(choose(report, demands.vendored, &inputs)?);
        Ok(())
    };
    let (report, mut judgement) = list::judged(&request, depths, &devices, &policy, wants_all, choose)?;
    demands.left_out = left_out.into_inner();
    if declared {
        demands.declared = fatscan::declared::find(&report, &fatscan::Limits::default());
    }
    judgement.fleets = fleets;
    let outcome = check(&report, &judgement, &demands);
    Ok(Judged { report, judgement, outcome, targets, unjudged })
}

/// The targets of a fleet whose devices come at `first`.
fn targets_of(fleet: &Fleet, devices: &[Device], first: usize, demands: &Demands) -> Vec<Target> {
    Target::each(devices, first, Some(&fleet.name), fleet.allow_jit.or(demands.allow_jit))
}

/// Whether a format has a place for what was not asked of vendored libraries.
const fn says_vendored(format: CheckFormat) -> bool {
    matches!(format, CheckFormat::Table | CheckFormat::Markdown | CheckFormat::Json)
}

/// Devices by their names; code where a device is wanted is pointed to `--contains`.
fn named(gpus: &[String], driver: &DriverArgs, flag: &str) -> Result<Vec<Device>, Failure> {
    if gpus.is_empty() {
        return Err(Failure::with_hint(format!("{flag}: no GPU is named"), "write gpus = [\"T4\", \"8.9\"]"));
    }
    for gpu in gpus {
        if let Err(error) = spelling::devices(gpu) {
            let hint = match error.kind {
                SpellingErrorKind::NamesCode => "code that must be there goes to --contains",
                SpellingErrorKind::Empty => "name a GPU: 9.0, \"RTX 4090\"",
                _ => "`fatscan arch list` shows the architectures",
            };
            return Err(target::refused(flag, &error, Some(hint)));
        }
    }
    target::devices(flag, gpus, driver)
        .map_err(|failure| if flag.starts_with("--") { failure } else { failure.within(flag) })
}

/// What a fleet says of code that is compiled, for its devices.
fn allow_jit(demands: &mut Demands, first: usize, count: usize, fleet: &Fleet) {
    let own = fleet.allow_jit.into_iter().flat_map(|percent| (first..).take(count).map(move |index| (index, percent)));
    demands.allow_jit_on.extend(own);
}

/// Where a demand was written.
fn source(typed: bool, name: &str) -> String {
    if typed { format!("--{name}") } else { format!("--config: {name}") }
}

fn demands(args: &CheckArgs, config: &Config) -> Result<Demands, Failure> {
    let contains = match args.contains.as_ref().or(config.contains.as_ref()) {
        Some(text) => {
            let mut targets: Vec<_> = spelling::code(text)
                .map_err(|error| Failure::new(format!("{}: {error}", source(args.contains.is_some(), "contains"))))?
                .into_iter()
                .map(gpu_arch::Target::without_isa)
                .collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        }
        None => Vec::new(),
    };
    let runs = args.device || args.recording.is_some() || !args.require.is_empty();
    let runs = runs || !config.fleets.is_empty() || !config.any_of.is_empty();
    let runs = runs || config.files.iter().any(|own| own.require.is_some() || own.demands.contains.is_some());
    if contains.is_empty() && !runs && (args.strict || config.strict == Some(true)) {
        return Err(Failure::with_hint(
            "--strict without --contains and without a GPU",
            "name what may be there (--contains \"8.0;9.0+PTX\") or where all of it must run (--require 9.0)",
        ));
    }
    let mut levels = config.levels.clone();
    if let Some(severity) = config.no_device_code {
        levels.insert(Rule::NoDeviceCode, severity);
    }
    match args.no_device_code {
        Some(NoDeviceCode::Fail) => levels.insert(Rule::NoDeviceCode, Severity::Deny),
        Some(NoDeviceCode::Warn) => levels.insert(Rule::NoDeviceCode, Severity::Warn),
        Some(NoDeviceCode::Pass) => levels.insert(Rule::NoDeviceCode, Severity::Allow),
        None => None,
    };
    let mut typed: Vec<(Rule, Severity)> = Vec::new();
    for (flag, words, severity) in [
        ("--deny", &args.deny, Severity::Deny),
        ("--warn", &args.warn, Severity::Warn),
        ("--allow", &args.allow, Severity::Allow),
    ] {
        for word in words.iter().flat_map(|word| word.split(',')) {
            let rule: Rule = word.trim().parse().map_err(|error| Failure::new(format!("{flag}: {error}")))?;
            if typed.iter().any(|(other, level)| *other == rule && *level != severity) {
                return Err(Failure::new(format!(
                    "`{rule}` is given two levels: --deny, --warn and --allow contradict"
                )));
            }
            typed.push((rule, severity));
        }
    }
    levels.extend(typed);
    let max_size = match &args.max_size {
        Some(text) => Some(size::parse(text).ok_or_else(|| {
            Failure::with_hint(format!("--max-size: `{text}` is no size"), "write it like 500MB, 1.5GB or 300MiB")
        })?),
        None => config.max_size,
    };
    let host = args.host.clone().or_else(|| config.host.clone());
    if let Some(host) = host.as_ref().filter(|host| !["x86_64", "aarch64"].contains(&host.as_str())) {
        return Err(Failure::new(format!("--host: `{host}` is neither x86_64 nor aarch64")));
    }
    let baseline = match &args.baseline {
        Some(path) => Baseline::parse(&read(path, "--baseline")?)
            .map_err(|error| Failure::new(format!("--baseline `{path}`: {error}")))?,
        None => Baseline::default(),
    };
    Ok(Demands {
        allow_jit: args.allow_jit.or(config.allow_jit),
        allow_jit_on: BTreeMap::new(),
        allow_partial: args.allow_partial.or(config.allow_partial),
        allow_unknown: args.allow_unknown || config.allow_unknown == Some(true),
        contains,
        strict: args.strict || config.strict == Some(true),
        host,
        declared: Vec::new(),
        lint: args.lint || config.lint == Some(true),
        max_size,
        any_of: Vec::new(),
        levels,
        files: Vec::new(),
        vendored: match args.vendored {
            Some(VendoredArg::Run) => Vendored::Run,
            Some(VendoredArg::Ignore) => Vendored::Ignore,
            Some(VendoredArg::Check) => Vendored::Check,
            None => config.vendored.unwrap_or_default(),
        },
        left_out: Vec::new(),
        ignores: ignores(config)?,
        baseline,
        today: Date::today(),
    })
}

/// The ignores, with the capabilities of their devices.
fn ignores(config: &Config) -> Result<Vec<fatscan::check::Ignore>, Failure> {
    let resolve = |ignore: &fatscan::check::Ignore| {
        let capability = match &ignore.device {
            Some(text) => {
                let named = spelling::device(text).map_err(|error| Failure::new(format!("ignore: device {error}")))?;
                Some(named.capability)
            }
            None => None,
        };
        Ok(fatscan::check::Ignore { capability, ..ignore.clone() })
    };
    config.ignores.iter().map(resolve).collect()
}

/// Leaves the files that were asked for; the paths of the others. `environment` are the directories of one environment.
pub(crate) fn choose(
    report: &mut Report,
    args: &CheckArgs,
    vendored: Vendored,
    environment: &[PathBuf],
) -> Result<Vec<String>, Failure> {
    let is_own = |own: &Artefact| environment.iter().any(|path| own.at == Locator::given(path.as_os_str()));
    if report.artefacts.iter().any(|own| is_own(own) && !own.members.is_empty()) {
        // not each of them must hold device code
        report.artefacts.retain(|own| !own.members.is_empty() || !is_own(own));
    }
    let (wanted, excluded) = (patterns(&args.member, "--member")?, patterns(&args.files.exclude, "--exclude")?);
    let mut selection = select(report, &wanted, &excluded);
    // an artefact that the patterns emptied is not one without device code
    if selection.kept == 0 && !selection.left_out.is_empty() {
        let flags = match (wanted.is_empty(), excluded.is_empty()) {
            (false, true) => "no file with device code matches --member",
            (true, false) => "--exclude leaves out every file with device code",
            _ => "--member and --exclude leave no file with device code",
        };
        return Err(Failure::new(flags));
    }
    if vendored == Vendored::Ignore {
        let own = retain(report, &|path| !is_vendored(path));
        if own.kept == 0 && !own.left_out.is_empty() {
            return Err(Failure::new("--vendored ignore leaves out every file with device code"));
        }
        selection.left_out.extend(own.left_out);
    }
    Ok(selection.left_out)
}

pub(crate) fn patterns(words: &[String], flag: &str) -> Result<Vec<Pattern>, Failure> {
    let pattern = |word: &String| Pattern::new(word).map_err(|error| Failure::new(format!("{flag}: {error}")));
    words.iter().map(pattern).collect()
}

pub(crate) fn read(path: &str, flag: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{flag} `{path}` cannot be read: {error}")))
}
