//! `fatscan diff`.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use fatscan::diff::{CodeDiff, Diff, MemberDiff, Side, diff};
use fatscan::{ArtefactKind, Level, json};
use gpu_arch::DriverVersion;
use gpu_arch::rules::Verdict;
use serde_json::{Value, json};

use crate::args::{DiffArgs, Files, PlainFormat};
use crate::failure::Failure;
use crate::terminal::{bytes, count, width, wrap};
use crate::{escape, list, output};

const BOLD: Style = Style::new().bold();
const CAME: Style = AnsiColor::Green.on_default();
const WENT: Style = AnsiColor::Red.on_default();

pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let old = sides(&args.old, args)?;
    let new = sides(&args.new, args)?;
    let mut changed = false;
    let mut pairs = Vec::new();
    for (before, after) in matched(old, new) {
        let found = diff(&before, &after);
        changed |= !found.is_empty();
        pairs.push((before, after, found));
    }
    match args.format {
        PlainFormat::Table => {
            let mut out = output::text();
            for (old, new, found) in &pairs {
                table(&mut out, old, new, found, args)?;
            }
            out.flush()?;
        }
        PlainFormat::Json => {
            let all: Vec<Value> = pairs.iter().map(|(old, new, found)| document(old, new, found)).collect();
            let mut out = output::data();
            let document = json!({ "schema": 1, "tool": { "name": "fatscan", "version": env!("CARGO_PKG_VERSION") },
                "differences": all });
            escape::json_line(&mut out, &document)?;
            out.flush()?;
        }
    }
    let damaged = pairs.iter().any(|(old, new, _)| old.damaged || new.damaged);
    Ok(if damaged || (changed && args.exit_code) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
    wheel(side).map_or_else(|| file(side).to_owned(), |(name, _)| name.to_owned())
}

/// `torchvision 0.23.0`, or the name of the file.
fn title(side: &Side) -> String {
    match wheel(side) {
        Some((name, version)) => format!("{name} {version}"),
        None => file(side).to_owned(),
    }
}

fn table(out: &mut impl Write, old: &Side, new: &Side, found: &Diff, args: &DiffArgs) -> io::Result<()> {
    let (before, after) = (title(old), title(new));
    let size = change(found.size);
    let names = format!("{before} -> {after}");
    let mut words: Vec<&str> = names.split(' ').collect();
    let size = format!(" {size}");
    words.push(&size);
    writeln!(out, "{BOLD}{}{BOLD:#}", wrap(&words, 2, 0, width()))?;
    let damaged = match (old.damaged, new.damaged) {
        (false, false) => None,
        (true, false) => Some("the old side is damaged"),
        (false, true) => Some("the new side is damaged"),
        (true, true) => Some("both sides are damaged"),
    };
    if let Some(damaged) = damaged {
        let text = format!("{damaged}: what is missing may only be unreadable");
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "  {WENT}{}{WENT:#}", wrap(&words, 2, 2, width()))?;
    }
    if found.is_empty() {
        return writeln!(out, "  no difference in device code");
    }
    members(out, found, args)?;
    if !found.judged {
        return writeln!(out, "\n  verdicts are not compared: a report does not hold the modules");
    }
    let words: Vec<(String, String)> =
        found.verdicts.iter().map(|own| (own.capability.to_string(), meaning(own.verdict, own.needs_driver))).collect();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (capability, meaning) in words {
        match groups.iter_mut().find(|(known, _)| *known == meaning) {
            Some((_, capabilities)) => capabilities.push(capability),
            None => groups.push((meaning, vec![capability])),
        }
    }
    if !groups.is_empty() {
        writeln!(out, "\n{BOLD}what it means for GPUs, by compute capability{BOLD:#}")?;
    }
    for (meaning, capabilities) in groups {
        let text = format!("{}: {meaning}", capabilities.join(" "));
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "  {}", wrap(&words, 4, 2, width()))?;
    }
    Ok(())
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Native => "native",
        Verdict::Jit => "JIT from PTX",
        Verdict::Partial => "partial",
        Verdict::Unknown => "unknown",
        Verdict::DriverTooOld => "driver too old",
        Verdict::NotCovered => "not covered",
        Verdict::NoDeviceCode => "without device code",
    }
}

fn meaning((old, new): (Verdict, Verdict), drivers: (Option<DriverVersion>, Option<DriverVersion>)) -> String {
    let driver = match drivers {
        (old, Some(new)) if old != Some(new) => {
            let old = old.map_or_else(String::new, |old| format!(" instead of {old}"));
            format!("needs driver {new}{old}")
        }
        (Some(old), None) => format!("no longer asks for driver {old}"),
        _ => String::new(),
    };
    match (old == new, driver.is_empty()) {
        (true, _) => driver,
        (false, true) => format!("was {}, is {}", word(old), word(new)),
        (false, false) => format!("was {}, is {}, {driver}", word(old), word(new)),
    }
}

fn change((old, new): (u64, u64)) -> String {
    if old == new { bytes(new) } else { format!("{} -> {}", bytes(old), bytes(new)) }
}

/// The lines of a file below its name.
fn body(member: &MemberDiff) -> Vec<(Style, &'static str, Vec<String>)> {
    let mut lines = Vec::new();
    let came: Vec<(&CodeDiff, String)> =
        member.code.iter().filter(|row| row.count.0 == 0).map(|row| (row, images(row.count.1))).collect();
    let went: Vec<(&CodeDiff, String)> =
        member.code.iter().filter(|row| row.count.1 == 0).map(|row| (row, images(row.count.0))).collect();
    lines.push((CAME, "came", grouped(&came)));
    lines.push((WENT, "went", grouped(&went)));
    let mut changed = Vec::new();
    for row in member.code.iter().filter(|row| row.count.0 > 0 && row.count.1 > 0) {
        let mut parts = Vec::new();
        if row.count.0 != row.count.1 {
            parts.push(format!("{} -> {}", row.count.0, images(row.count.1)));
        }
        for (what, old, new) in [("PTX ISA ", &row.isa.0, &row.isa.1), ("", &row.compression.0, &row.compression.1)] {
            if old != new {
                let join = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join("+");
                parts.push(format!("{what}{} -> {}", join(old), join(new)));
            }
        }
        changed.push((row, parts.join(", ")));
    }
    lines.push((Style::new(), "changed", grouped(&changed)));
    if let Some(kernels) = &member.kernels {
        for (style, what, names) in [(CAME, "came", &kernels.came), (WENT, "went", &kernels.went)] {
            if !names.is_empty() {
                lines.push((style, what, vec![count(names.len(), "kernel", "kernels")]));
            }
        }
        if !kernels.lost.is_empty() {
            let mut archs: Vec<&str> = kernels.lost.iter().flat_map(|(_, archs)| archs).map(String::as_str).collect();
            archs.sort_unstable();
            archs.dedup();
            let text = format!("{} no longer in {}", count(kernels.lost.len(), "kernel", "kernels"), archs.join(" "));
            lines.push((WENT, "went", text.split(' ').map(ToOwned::to_owned).collect()));
        }
        let (before, after) = kernels.unreadable;
        if before > 0 || after > 0 {
            let number = count(after, "image", "images");
            let text =
                format!("{number} could not be read for kernels, {before} before; what may be in them is left out");
            lines.push((WENT, "unread", text.split(' ').map(ToOwned::to_owned).collect()));
        }
    }
    lines.retain(|(_, _, words)| !words.is_empty());
    lines
}

fn images(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "image", "images")
}

/// `sm_50 52 61 (1 image)`: what happened to several architectures alike is said once.
fn grouped(rows: &[(&CodeDiff, String)]) -> Vec<String> {
    let mut groups: Vec<(String, bool, &str, Vec<&str>)> = Vec::new();
    for (row, what) in rows {
        let (prefix, number) = row.arch.split_once('_').unwrap_or((&row.arch, ""));
        let same = |group: &&mut (String, bool, &str, Vec<&str>)| {
            group.0 == prefix && group.1 == row.relocatable && group.2 == what.as_str()
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.3.push(number),
            None => groups.push((prefix.to_owned(), row.relocatable, what, vec![number])),
        }
    }
    let mut words = Vec::new();
    for (index, (prefix, relocatable, what, mut numbers)) in groups.iter().cloned().enumerate() {
        numbers.sort_by_key(|number| (number.trim_end_matches(['a', 'f']).parse::<u32>().unwrap_or(0), number.len()));
        for (position, number) in numbers.iter().enumerate() {
            let gap = if number.is_empty() { "" } else { "_" };
            words.push(if position == 0 { format!("{prefix}{gap}{number}") } else { (*number).to_owned() });
        }
        if relocatable {
            words.push("relocatable".to_owned());
        }
        let end = if index.saturating_add(1) < groups.len() { ";" } else { "" };
        words.extend(format!("({what}){end}").split(' ').map(ToOwned::to_owned));
    }
    words
}

/// Files with the same change are named together.
fn members(out: &mut impl Write, found: &Diff, args: &DiffArgs) -> io::Result<()> {
    let mut rest = found.members.as_slice();
    while let Some((first, _)) = rest.split_first() {
        let lines = body(first);
        let alike = |member: &&MemberDiff| member.present == first.present && body(member) == lines;
        let number = rest.iter().take_while(alike).count().max(1);
        let (group, behind) = rest.split_at_checked(number).unwrap_or((rest, &[]));
        rest = behind;
        writeln!(out)?;
        for member in group {
            let what = match member.present {
                (false, _) => format!("came, {}", bytes(member.size.1)),
                (_, false) => format!("went, {}", bytes(member.size.0)),
                _ => change(member.size),
            };
            writeln!(out, "{BOLD}{}{BOLD:#}  {what}", escape::text(&member.path))?;
        }
        for (style, label, words) in &lines {
            let text = wrap(words, 11, 11, width());
            writeln!(out, "  {style}{label:<8}{style:#} {text}")?;
        }
        for kernels in group.iter().filter_map(|member| member.kernels.as_ref()) {
            names(out, &kernels.came, args.kernels)?;
            names(out, &kernels.went, args.kernels)?;
            let lost: Vec<Arc<str>> = kernels.lost.iter().map(|(name, _)| Arc::clone(name)).collect();
            names(out, &lost, args.kernels)?;
        }
    }
    Ok(())
}

fn names(out: &mut impl Write, names: &[Arc<str>], all: bool) -> io::Result<()> {
    for name in names.iter().filter(|_| all) {
        let plain = fatscan::demangle(name.as_bytes()).unwrap_or_else(|| name.to_string());
        writeln!(out, "      {}", escape::text(&plain))?;
    }
    Ok(())
}

fn document(old: &Side, new: &Side, found: &Diff) -> Value {
    let members: Vec<Value> = found
        .members
        .iter()
        .map(|member| {
            let code: Vec<Value> = member
                .code
                .iter()
                .map(|row| {
                    json!({ "kind": row.kind, "arch": row.arch, "relocatable": row.relocatable,
                        "count": [row.count.0, row.count.1], "stored_bytes": [row.stored.0, row.stored.1],
                        "isa": [row.isa.0, row.isa.1], "compression": [row.compression.0, row.compression.1] })
                })
                .collect();
            let list = |names: &[Arc<str>]| names.iter().map(|name| Value::from(&**name)).collect::<Vec<_>>();
            let kernels = member.kernels.as_ref();
            json!({ "path": member.path, "present": [member.present.0, member.present.1],
                "size": [member.size.0, member.size.1], "code": code,
                "kernels_came": kernels.map(|kernels| list(&kernels.came)), "kernels_went": kernels.map(|kernels| list(&kernels.went)),
                "kernels_lost": kernels.map(|kernels| {
                    let lost = kernels.lost.iter().map(|(name, archs)| json!({ "name": &**name, "archs": archs }));
                    lost.collect::<Vec<_>>()
                }),
                "unreadable_images": kernels.map(|kernels| [kernels.unreadable.0, kernels.unreadable.1]) })
        })
        .collect();
    let verdicts: Vec<Value> = found
        .verdicts
        .iter()
        .map(|own| {
            let driver = |driver: Option<DriverVersion>| driver.map(|driver| driver.to_string());
            json!({ "cc": own.capability.to_string(), "verdict": [own.verdict.0.as_str(), own.verdict.1.as_str()],
                "needs_driver": [driver(own.needs_driver.0), driver(own.needs_driver.1)] })
        })
        .collect();
    json!({ "old": old.artefact.path, "new": new.artefact.path, "size": [found.size.0, found.size.1],
        "members": members, "judged": found.judged, "verdicts": verdicts, "damaged": [old.damaged, new.damaged] })
}
