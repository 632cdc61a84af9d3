//! `fatscan list`.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::process::ExitCode;

use fatscan::{KernelDepth, Level, Options, Report, scan_paths, with_threads};

use crate::args::{Common, Format, ListArgs};
use crate::failure::{CANNOT, Failure};
use crate::progress::Bar;
use crate::{output, render};

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let depth = if args.verify { Depth::Verify } else { Depth::Headers };
    let report = scan(&args.paths, &args.common, depth)?;
    render::render(&report, args.by, args.format)?;
    if !matches!(args.format, Format::Json | Format::Ndjson) {
        output::diagnostics(&report.diagnostics);
    }
    Ok(exit_code(&report))
}

/// 0 read, 1 something is damaged or missing, 2 nothing could be read.
pub(crate) fn exit_code(report: &Report) -> ExitCode {
    let damaged = report.diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error);
    match (report.artefacts.is_empty(), damaged) {
        (true, _) => ExitCode::from(CANNOT),
        (false, true) => ExitCode::FAILURE,
        (false, false) => ExitCode::SUCCESS,
    }
}

/// How deep to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Entry headers.
    Headers,
    /// Small payloads too, for their entry functions.
    Judge,
    /// Every payload.
    Verify,
    /// The names of kernels.
    Kernels,
    /// What kernels need.
    Resources,
}

/// Scans with a progress bar, on as many threads as were asked for.
pub(crate) fn scan(paths: &[PathBuf], common: &Common, depth: Depth) -> Result<Report, Failure> {
    if common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let paths = expand(paths)?;
    let options = Options {
        verify: depth == Depth::Verify,
        entry_functions: depth == Depth::Judge,
        kernels: match depth {
            Depth::Kernels => KernelDepth::Names,
            Depth::Resources => KernelDepth::Resources,
            Depth::Headers | Depth::Judge | Depth::Verify => KernelDepth::None,
        },
        ..Options::default()
    };
    let bar = Bar::start(options.progress.clone());
    let report = with_threads(common.threads, || scan_paths(&paths, &options));
    bar.finish();
    report.map_err(|error| Failure::new(format!("no threads: {error}")))
}

/// The paths, with `-` replaced by the lines of standard input.
fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        if path.as_os_str() != "-" {
            all.push(path.clone());
            continue;
        }
        for line in io::stdin().lock().split(b'\n') {
            let line = line.map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if !line.is_empty() {
                all.push(path_of(line));
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
