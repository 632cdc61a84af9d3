//! `fatscan explain`.

use std::process::ExitCode;

use fatscan::environment::Environment;
use fatscan::json::Document;
use fatscan::{Level, Owners, Policy, Report};
use gpu_arch::catalogue;

use crate::args::{ExplainArgs, ExplainFormat, Files};
use crate::failure::Failure;
use crate::{device, env, list, output, render, target};

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let error = match &args.error {
        Some(text) => Some(catalogue::recognise_error(text).ok_or_else(|| {
            Failure::with_hint(
                format!("--error: no CUDA error is recognised in `{text}`"),
                "paste the line with the words or the number of the error, for example \"CUDA error: no kernel image \
                 is available for execution on the device\"",
            )
        })?),
        None => None,
    };
    if let (Some(error), true) = (error, args.paths.is_empty()) {
        if !args.target.is_empty() {
            return Err(Failure::new("whether a GPU gives this error depends on the wheel or library: name it too"));
        }
        match args.format {
            ExplainFormat::Text => render::explain::error_alone(error)?,
            ExplainFormat::Json => {
                render::explain::json(&Document::new(&Report::default(), false).with_error(error, None))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let devices = device::named(&args.target)?;
    let environment = target::environment();
    let policy = Policy { environment, alternatives: !args.no_alternatives, ..Policy::default() };
    let depth = if args.why { list::Depth::Diff } else { list::Depth::Judge };
    let depths = (depth, list::Depth::Diff);
    let mut known = None;
    if let [path] = args.paths.as_slice() {
        let is_plain = error.is_none() && !args.why && !args.all_files && !args.no_alternatives;
        let is_plain = is_plain && args.files == Files::default();
        if is_plain && args.format == ExplainFormat::Text && Environment::is_one(path) {
            return env::explain(path, &devices, &args.common);
        }
        known = env::package(path, &args.common, depths, &devices, &policy)?;
    }
    let (report, judgement, owners) = match known {
        Some(known) => known,
        None => {
            let request = list::Request { paths: &args.paths, files: &args.files, common: &args.common };
            let (report, judgement) = list::judged(&request, depths, &devices, &policy, false, |_| Ok(()))?;
            let owners = Owners::find(&report);
            (report, judgement, owners)
        }
    };
    match args.format {
        ExplainFormat::Text => {
            render::explain::text(&report, &judgement, &owners, &environment, error, args.all_files)?;
            if args.why {
                render::why::text(&report, &judgement, &environment)?;
            }
            // what a note tells stands in the file's own lines
            let grave = report.diagnostics.iter().filter(|diagnostic| diagnostic.level != Level::Note);
            output::diagnostics(grave);
        }
        ExplainFormat::Json => {
            let document = Document::judged(&report, &judgement, false);
            let document = document.with_remedies(&report, &judgement, &owners);
            render::explain::json(&match error {
                Some(error) => document.with_error(error, Some((&report, &judgement))),
                None => document,
            })?;
        }
    }
    Ok(list::exit_code(&report))
}
