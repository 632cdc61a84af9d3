//! `fatscan explain`.

use std::process::ExitCode;

use fatscan::environment::Environment;
use fatscan::json::Document;
use fatscan::{Level, Owners, Policy, Report};
use gpu_arch::catalogue;

use crate::args::{ExplainArgs, Files, TextFormat};
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
        args.formats.open(&[])?.write(|format, out| {
            let document = || Document::new(&Report::default(), false).with_error(error, None);
            match format {
                TextFormat::Text => render::explain::error_alone(out, error),
                TextFormat::Json => render::explain::json(out, &document()),
                TextFormat::Csv => render::verdicts::csv(out, &document()),
                TextFormat::Markdown => render::verdicts::markdown(out, &document()),
            }
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let devices = device::named(&args.target)?;
    let environment = target::environment();
    let policy = Policy { environment, alternatives: !args.no_alternatives, ..Policy::default() };
    let depth = if args.why { list::Depth::Diff } else { list::Depth::Judge };
    let depths = (depth, list::Depth::Diff);
    let outputs = args.formats.open(&args.paths)?;
    let mut known = None;
    if let [path] = args.paths.as_slice() {
        let is_plain = error.is_none() && !args.why && !args.all_files && !args.no_alternatives;
        let is_plain = is_plain && args.files == Files::default();
        if is_plain && args.formats.all().all(|format| format != TextFormat::Json) && Environment::is_one(path) {
            return env::explain(path, &devices, &args.common, &args.formats);
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
    outputs.write(|format, out| {
        let document = || {
            let document = Document::judged(&report, &judgement, false);
            let document = document.with_remedies(&report, &judgement, &owners);
            match error {
                Some(error) => document.with_error(error, Some((&report, &judgement))),
                None => document,
            }
        };
        match format {
            TextFormat::Text => {
                let about = (&report, &judgement, &owners);
                render::explain::text(out, about, &environment, error, args.all_files)?;
                if args.why { render::why::text(out, &report, &judgement, &environment) } else { Ok(()) }
            }
            TextFormat::Json => render::explain::json(out, &document()),
            TextFormat::Csv => render::verdicts::csv(out, &document()),
            TextFormat::Markdown => render::verdicts::markdown(out, &document()),
        }
    })?;
    if args.formats.printed() != TextFormat::Json {
        // what a note tells stands in the file's own lines
        output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != Level::Note));
    }
    Ok(list::exit_code(&report))
}
