//! `fatscan list`.

use std::io::{self, BufWriter, IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use fatscan::{Input, Judgement, KernelDepth, Level, Options, Policy, Report, Scanner, deepen, judge, wants_kernels};
use gpu_arch::rules::Device;

use crate::args::{Common, Files, Format, ListArgs};
use crate::failure::{CANNOT, Failure};
use crate::progress::Bar;
use crate::render::lines::{End, Lines};
use crate::{device, output, render, target};

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let wanted = args.device || !args.target.is_empty();
    if wanted && args.formats.all().any(|format| !matches!(format, Format::Table | Format::Json)) {
        return Err(Failure::with_hint(
            "verdicts for a GPU go with --format table and json",
            "`fatscan check --require` has other formats",
        ));
    }
    let named = if wanted { Some(device::named(&args.target)?) } else { None };
    // elsewhere the same files give the same listing on every machine
    let in_passing = !wanted && args.formats.printed() == Format::Table && io::stdout().is_terminal();
    let asked = in_passing.then(|| std::thread::spawn(device::in_passing));
    let depth = match (args.verify, wanted || in_passing) {
        (true, _) => Depth::Verify,
        (false, true) => Depth::Judge,
        (false, false) => Depth::Headers,
    };
    if args.formats.printed() == Format::Ndjson && !args.formats.has_files() {
        return lines(args, depth);
    }
    let outputs = args.formats.open(&args.paths)?;
    let request = Request { paths: &args.paths, files: &args.files, common: &args.common };
    let report = scan(&request, depth)?;
    let devices = named.or_else(|| asked?.join().ok()).filter(|devices| !devices.is_empty());
    let judgement = match devices {
        Some(devices) => {
            let policy = Policy { environment: target::environment(), ..Policy::default() };
            Some(judge(&report, &devices, &policy)?)
        }
        None => None,
    };
    let mut in_passing = in_passing;
    outputs.write(|format, out| {
        // files come behind what is printed, and are the same on every machine
        let is_shown = wanted || core::mem::take(&mut in_passing);
        render::render(out, &report, judgement.as_ref().filter(|_| is_shown), args.by, format)
    })?;
    if args.formats.printed() != Format::Json {
        output::diagnostics(&report.diagnostics);
    }
    Ok(exit_code(&report))
}

/// Lines of JSON, each when it is known. They show how far the scan is, so that no bar does.
fn lines(args: &ListArgs, depth: Depth) -> Result<ExitCode, Failure> {
    let request = Request { paths: &args.paths, files: &args.files, common: &args.common };
    let (scanner, paths) = prepare(&request, depth)?;
    let mut lines = Lines::new(BufWriter::new(output::lines()), args.by);
    // how it ended is in the sink
    let _ = scanner.scan(&inputs(&paths), &mut lines);
    Ok(code(lines.finish()?))
}

/// The code of [`code`] for a report.
pub(crate) fn exit_code(report: &Report) -> ExitCode {
    let damaged = report.diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error);
    code(End { read: !report.artefacts.is_empty(), damaged })
}

/// 0 read, 1 something is damaged or missing, 2 nothing could be read.
fn code(end: End) -> ExitCode {
    match (end.read, end.damaged) {
        (false, _) => ExitCode::from(CANNOT),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    }
}

/// How deep to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Entry headers.
    Headers,
    /// Small payloads too, for their entry functions.
    Judge,
    /// The same, and the hashes of files.
    Check,
    /// Every payload.
    Verify,
    /// The names of kernels.
    Kernels,
    /// What kernels need.
    Resources,
    /// The names of kernels, and what a judgement wants to know.
    Diff,
    /// The same, and the hashes of files.
    CheckDiff,
}

/// What to scan, as it was typed.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) files: &'a Files,
    pub(crate) common: &'a Common,
}

/// Scans with a progress bar, on as many threads as were asked for.
pub(crate) fn scan(request: &Request<'_>, depth: Depth) -> Result<Report, Failure> {
    scan_for(request, depth, &[])
}

/// The same for some devices only; none: whatever the device.
fn scan_for(request: &Request<'_>, depth: Depth, devices: &[Device]) -> Result<Report, Failure> {
    let (scanner, paths) = prepare(request, depth)?;
    let scanner = scanner.for_devices(devices);
    let bar = Bar::start(scanner.progress());
    let report = scanner.report(&inputs(&paths));
    bar.finish();
    Ok(report)
}

fn prepare(request: &Request<'_>, depth: Depth) -> Result<(Scanner, Vec<PathBuf>), Failure> {
    let Request { paths, files, common } = *request;
    if common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let paths = expand(paths)?;
    let mut options = options(common, depth);
    options.group_by = files.group_by;
    let excluded = crate::check::patterns(&files.exclude, "--exclude")?;
    let scanner = Scanner::new(options).map_err(|error| Failure::new(format!("no threads: {error}")))?;
    Ok((scanner.excluding(excluded), paths))
}

fn inputs(paths: &[PathBuf]) -> Vec<Input<'_>> {
    paths.iter().map(|path| Input::Path(path)).collect()
}

/// What a command asks of a scan.
pub(crate) fn options(common: &Common, depth: Depth) -> Options {
    let options = match depth {
        Depth::Headers => Options::new(),
        Depth::Judge => Options::for_judging(),
        Depth::Check => Options::for_checking(),
        Depth::Verify => Options::verifying(),
        Depth::Kernels => Options::new().with_kernels(KernelDepth::Names),
        Depth::Resources => Options::new().with_kernels(KernelDepth::Resources),
        Depth::CheckDiff => Options::for_checking().with_kernels(KernelDepth::Names),
        Depth::Diff => Options::for_judging().with_kernels(KernelDepth::Names),
    };
    let mut options = options.with_threads(common.threads).with_mapping(common.mmap.into());
    options.follow_links = common.follow_links;
    options
}

/// Scans and judges. Only payloads that one of the devices could select are looked into, unless `wants_all`. Where what loads is suspiciously small, kernels are read too: they may be empty. `choose` leaves in
/// each report what is asked for.
pub(crate) fn judged(
    request: &Request<'_>,
    (depth, deeper): (Depth, Depth),
    devices: &[Device],
    policy: &Policy,
    wants_all: bool,
    choose: impl Fn(&mut Report) -> Result<(), Failure>,
) -> Result<(Report, Judgement), Failure> {
    let mut report = scan_for(request, depth, if wants_all { &[] } else { devices })?;
    choose(&mut report)?;
    let judgement = judge(&report, devices, policy)?;
    let suspects = if depth == deeper { Vec::new() } else { wants_kernels(&report, &judgement) };
    if suspects.is_empty() {
        return Ok((report, judgement));
    }
    deepen(&mut report, suspects, |path| {
        let paths = [path.to_owned()];
        scan(&Request { paths: &paths, files: &Files::default(), common: request.common }, deeper)
    })?;
    let judgement = judge(&report, devices, policy)?;
    Ok((report, judgement))
}

/// The paths, with `-` replaced by the lines of standard input.
fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        if path.as_os_str() != "-" {
            all.push(path.clone());
            continue;
        }
        let mut text = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut text);
        read.map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
        // no path holds a NUL
        let end = if text.contains(&0) { 0 } else { b'\n' };
        for line in text.split(|byte| *byte == end) {
            let line = if end == 0 { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
            if !line.is_empty() {
                // a file of this name is one
                all.push(if line == b"-" { PathBuf::from("./-") } else { path_of(line) });
            }
        }
    }
    if all.is_empty() {
        return Err(Failure::new("no paths on standard input"));
    }
    Ok(all)
}

#[cfg(unix)]
fn path_of(line: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(line))
}

#[cfg(not(unix))]
fn path_of(line: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(line).into_owned())
}
