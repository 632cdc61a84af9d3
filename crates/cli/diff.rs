//! `fatscan diff`.

mod fail_on;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::ExitCode;

use fatscan::diff::{Diff, Side, diff, stable_name};
use fatscan::{ArtefactKind, Level, json};
use serde_json::Value;

use self::fail_on::FailOn;
use crate::args::{DiffArgs, Files, TableFormat};
use crate::failure::Failure;
use crate::{list, output, render};

pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let demands = FailOn::parse(&args.fail_on)?;
    let outputs = args.formats.open(&[args.old.clone(), args.new.clone()])?;
    let old = sides(&args.old, args)?;
    let new = sides(&args.new, args)?;
    let mut changed = false;
    let mut pairs = Vec::new();
    for (old, new) in matched(old, new) {
        let found = diff(&old, &new);
        changed |= !found.is_empty();
        pairs.push(Compared { old, new, found });
    }
    let failed = fail_on::failed(&pairs, &demands)?;
    let failed = (!demands.is_empty()).then_some(failed);
    outputs.write(|format, out| match format {
        TableFormat::Table => render::diff::table(out, &pairs, failed.as_deref(), args.kernels),
        TableFormat::Json => render::diff::json(out, &pairs, failed.as_deref()),
        TableFormat::Csv => render::diff::csv(out, &pairs),
        TableFormat::Markdown => render::diff::markdown(out, &pairs, failed.as_deref(), args.kernels),
    })?;
    if args.formats.printed() == TableFormat::Csv {
        failed.iter().flatten().for_each(|own| output::complain(&format!("[{}] {}", own.on, own.message), None));
    }
    let damaged = pairs.iter().any(|own| own.old.damaged || own.new.damaged);
    let fails = failed.is_some_and(|failed| !failed.is_empty());
    Ok(if damaged || fails || (changed && args.exit_code) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Two artefacts, and what changed between them.
pub(crate) struct Compared {
    pub(crate) old: Side,
    pub(crate) new: Side,
    pub(crate) found: Diff,
}

/// The artefacts of one side: scanned, or read from a report.
fn sides(path: &Path, args: &DiffArgs) -> Result<Vec<Side>, Failure> {
    let shown = path.display();
    if path.extension().is_some_and(|extension| extension == "json") {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::new(format!("`{shown}` cannot be read: {error}")))?;
        let no_report = |error| Failure::new(format!("`{shown}` is no report: {error}"));
        let value: Value = serde_json::from_str(&text).map_err(no_report)?;
        // before anything else: a newer one need not hold what is read here
        let schema = value.get("schema").and_then(Value::as_u64).unwrap_or_default();
        if schema > u64::from(json::SCHEMA) {
            return Err(Failure::new(format!("`{shown}` has schema {schema}, newer than {}", json::SCHEMA)));
        }
        let document: json::Document = serde_json::from_value(value).map_err(no_report)?;
        let mut errors = document.diagnostics;
        errors.retain(|diagnostic| diagnostic.level == Level::Error);
        let side = |artefact: json::Artefact| {
            let damaged = errors.iter().any(|diagnostic| diagnostic.at.steps.starts_with(&artefact.at.steps));
            Side { artefact, model: None, damaged }
        };
        return Ok(document.artefacts.into_iter().map(side).collect());
    }
    let request = list::Request { paths: &[path.to_path_buf()], files: &Files::default(), common: &args.common };
    let report = list::scan(&request, list::Depth::Diff)?;
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error));
    if report.artefacts.is_empty() {
        return Err(Failure::new(format!("`{shown}` cannot be read")));
    }
    let damaged: Vec<bool> = (0..report.artefacts.len()).map(|index| report.is_damaged(index)).collect();
    let side = |(artefact, damaged): (fatscan::Artefact, bool)| Side {
        artefact: json::Artefact::new(&artefact, false),
        model: Some(artefact),
        damaged,
    };
    Ok(report.artefacts.into_iter().zip(damaged).map(side).collect())
}

/// Two of one each are compared; of several, those of the same package or name, in their order. What has no partner is
/// compared with nothing.
fn matched(mut old: Vec<Side>, mut new: Vec<Side>) -> Vec<(Side, Side)> {
    if old.len() == 1 && new.len() == 1 {
        return old.pop().zip(new.pop()).into_iter().collect();
    }
    let mut by_name: BTreeMap<String, (VecDeque<Side>, VecDeque<Side>)> = BTreeMap::new();
    for side in old {
        by_name.entry(name(&side)).or_default().0.push_back(side);
    }
    for side in new {
        by_name.entry(name(&side)).or_default().1.push_back(side);
    }
    let nothing = |like: &Side| {
        let mut nothing = Side { damaged: false, ..like.clone() };
        nothing.artefact.size = 0;
        nothing.artefact.members.clear();
        if let Some(model) = &mut nothing.model {
            model.size = 0;
            model.members.clear();
        }
        nothing
    };
    let mut pairs = Vec::new();
    for (old, mut new) in by_name.into_values() {
        // wheels for several versions of Python have one name: the tags tell them apart
        let mut rest = VecDeque::new();
        for side in old {
            match new.iter().position(|other| tags(other) == tags(&side)).and_then(|index| new.remove(index)) {
                Some(other) => pairs.push((side, other)),
                None => rest.push_back(side),
            }
        }
        let mut old = rest;
        loop {
            pairs.push(match (old.pop_front(), new.pop_front()) {
                (Some(old), Some(new)) => (old, new),
                (Some(old), None) => {
                    let nothing = nothing(&old);
                    (old, nothing)
                }
                (None, Some(new)) => (nothing(&new), new),
                (None, None) => break,
            });
        }
    }
    pairs
}

fn file(side: &Side) -> &str {
    side.artefact.path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Name and version in the name of a wheel; a report holds no model, and its path tells the same.
fn wheel(side: &Side) -> Option<(&str, &str)> {
    let mut parts = file(side).strip_suffix(".whl")?.split('-');
    Some((parts.next()?, parts.next()?))
}

/// The tags at the end of the name of a wheel: Python, ABI, platform.
fn tags(side: &Side) -> Option<Vec<&str>> {
    Some(file(side).strip_suffix(".whl")?.rsplit('-').take(3).collect())
}

/// By what artefacts of two sides are matched: the loose files of one directory are compared with those of the other.
fn name(side: &Side) -> String {
    if side.artefact.kind == ArtefactKind::Directory.name() {
        return String::new();
    }
    wheel(side).map_or_else(|| stable_name(file(side)), |(name, _)| name.to_owned())
}

/// `torchvision 0.23.0`, or the name of the file.
pub(crate) fn title(side: &Side) -> String {
    match wheel(side) {
        Some((name, version)) => format!("{name} {version}"),
        None => file(side).to_owned(),
    }
}
