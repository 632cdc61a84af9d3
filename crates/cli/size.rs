//! `fatscan size`, and sizes as people write them.

use std::process::ExitCode;

use fatscan::json::sizes::SizedSlim;
use fatscan::slim::{Planner, is_writable};
use fatscan::{Artefact, Report};

use crate::args::{SizeArgs, SizeBy, TableFormat};
use crate::failure::Failure;
use crate::slim::Chosen;
use crate::{list, output, render};

pub(crate) fn run(args: &SizeArgs) -> Result<ExitCode, Failure> {
    let budget = match &args.budget {
        Some(text) => Some(parse(text).ok_or_else(|| {
            Failure::with_hint(format!("--budget: `{text}` is no size"), "write it like 500MB, 1.5GB or 300MiB")
        })?),
        None => None,
    };
    let has_driver = args.driver.driver.is_some() || args.driver.driver_cuda.is_some();
    if args.gpus.is_empty() && has_driver {
        return Err(Failure::with_hint("a driver without a GPU", "name the GPU too: --for H100"));
    }
    let chosen = if args.gpus.is_empty() { None } else { Some(Chosen::of_gpus("--for", &args.gpus, &args.driver)?) };
    let outputs = args.formats.open(&args.paths)?;
    let depth = match (args.by == SizeBy::Kernel, chosen.is_some()) {
        (true, true) => list::Depth::Diff,
        (true, false) => list::Depth::Kernels,
        (false, true) => list::Depth::Judge,
        (false, false) => list::Depth::Headers,
    };
    let request = list::Request { paths: &args.paths, files: &args.files, common: &args.common };
    let report = list::scan(&request, depth)?;
    let slim = chosen.as_ref().map(|chosen| savings(&report, chosen)).unwrap_or_default();
    let asked = Asked { args, budget, slim: &slim };
    outputs.write(|format, out| match format {
        TableFormat::Table => render::size::table(out, &report, asked),
        TableFormat::Json => render::size::json(out, &report, asked),
        TableFormat::Csv => render::size::csv(out, &report, args.by),
        TableFormat::Markdown => render::size::markdown(out, &report, asked),
    })?;
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != fatscan::Level::Note));
    let over = budget.is_some_and(|budget| report.artefacts.iter().any(|artefact| artefact.size > budget));
    let code = list::exit_code(&report);
    Ok(if over && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// What was asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) args: &'a SizeArgs,
    pub(crate) budget: Option<u64>,
    /// What each artefact would save; none where nobody asked.
    pub(crate) slim: &'a [SizedSlim],
}

/// What `fatscan slim` would save of each artefact.
fn savings(report: &Report, chosen: &Chosen) -> Vec<SizedSlim> {
    let mut planner = Planner::new(chosen.wish());
    let of = |artefact: &Artefact| {
        let mut sum = SizedSlim { gpus: chosen.gpus(), images: 0, zeroed_bytes: 0 };
        for member in artefact.members.iter().filter(|own| is_writable(artefact.kind, own)) {
            let plan = planner.plan(member);
            let images = plan.dropped.values().map(|own| own.images).fold(0, usize::saturating_add);
            sum.images = sum.images.saturating_add(images);
            sum.zeroed_bytes = sum.zeroed_bytes.saturating_add(plan.dropped_bytes());
        }
        sum
    };
    report.artefacts.iter().map(of).collect()
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
