//! `fatscan size`, and sizes as people write them.

use std::process::ExitCode;

use crate::args::{SizeArgs, SizeBy, TableFormat};
use crate::failure::Failure;
use crate::{list, output, render};

pub(crate) fn run(args: &SizeArgs) -> Result<ExitCode, Failure> {
    let budget = match &args.budget {
        Some(text) => Some(parse(text).ok_or_else(|| {
            Failure::with_hint(format!("--budget: `{text}` is no size"), "write it like 500MB, 1.5GB or 300MiB")
        })?),
        None => None,
    };
    let outputs = args.formats.open(&args.paths)?;
    let depth = if args.by == SizeBy::Kernel { list::Depth::Kernels } else { list::Depth::Headers };
    let request = list::Request { paths: &args.paths, files: &args.files, common: &args.common };
    let report = list::scan(&request, depth)?;
    outputs.write(|format, out| match format {
        TableFormat::Table => render::size::table(out, &report, args, budget),
        TableFormat::Json => render::size::json(out, &report, args, budget),
        TableFormat::Csv => render::size::csv(out, &report, args.by),
        TableFormat::Markdown => render::size::markdown(out, &report, args, budget),
    })?;
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != fatscan::Level::Note));
    let over = budget.is_some_and(|budget| report.artefacts.iter().any(|artefact| artefact.size > budget));
    let code = list::exit_code(&report);
    Ok(if over && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// `500MB`, `1.5 GB`, `300MiB`, `1000`: at most three digits behind the point.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 3 {
        return None;
    }
    let thousandths: u64 = format!("{fraction:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(thousandths)?.checked_mul(unit)?.checked_div(1000)
}
