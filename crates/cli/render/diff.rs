//! What changed, in every format.

use std::io::{self, Write};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use fatscan::diff::{CodeDiff, Diff, MemberDiff, Side};
use fatscan::json::Tool;
use fatscan::json::difference::{
    ChangedCode, ChangedMember, ChangedVerdict, Difference, Differences, Failed, LostKernel,
};
use gpu_arch::DriverVersion;
use gpu_arch::rules::Verdict;

use super::csv;
use crate::diff::{Compared, title};
use crate::escape;
use crate::terminal::{bytes, count, width, wrap};

const BOLD: Style = Style::new().bold();
const CAME: Style = AnsiColor::Green.on_default();
const WENT: Style = AnsiColor::Red.on_default();

/// What changed, file by file, then by architecture, then what it means for GPUs.
pub(crate) fn table(
    out: &mut impl Write,
    pairs: &[Compared],
    failed: Option<&[Failed]>,
    kernels: bool,
) -> io::Result<()> {
    for (index, own) in pairs.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        one(out, &own.old, &own.new, &own.found, kernels)?;
    }
    if pairs.len() > 1 && pairs.iter().all(|own| own.found.judged && own.found.verdicts.is_empty()) {
        writeln!(out, "\nno verdict changed in any of {}", count(pairs.len(), "pair", "pairs"))?;
    }
    let Some(failed) = failed else { return Ok(()) };
    writeln!(out)?;
    for own in failed {
        let text = format!("[{}] {}", own.on, own.message);
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "{WENT}failed{WENT:#} {}", wrap(&words, 4, 7, width()))?;
    }
    if failed.is_empty() {
        writeln!(out, "{CAME}passed{CAME:#}: nothing of --fail-on")?;
    }
    Ok(())
}

fn one(out: &mut impl Write, old: &Side, new: &Side, found: &Diff, kernels: bool) -> io::Result<()> {
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
        writeln!(out, "  no difference in device code")?;
        return unchanged(out, found);
    }
    members(out, found, kernels)?;
    by_arch(out, found)?;
    if !found.judged {
        return writeln!(out, "\n  verdicts are not compared: a report does not hold the modules");
    }
    if found.verdicts.is_empty() {
        writeln!(out)?;
        return unchanged(out, found);
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

/// That no verdict changed, where they were compared.
fn unchanged(out: &mut impl Write, found: &Diff) -> io::Result<()> {
    if !found.judged {
        return Ok(());
    }
    let number = gpu_arch::catalogue::architectures().len();
    writeln!(out, "  no verdict changed, on any of {number} compute capabilities")
}

/// Bytes of all device code, before and after, where an architecture has more or fewer than before.
fn by_arch(out: &mut impl Write, found: &Diff) -> io::Result<()> {
    let changed = || found.code.iter().filter(|row| row.stored.0 != row.stored.1 || row.count.0 != row.count.1);
    if changed().next().is_none() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}{:<26}{:>8}{:>8}{:>12}{:>12}{:>12}{BOLD:#}",
        "bytes in files", "images", "", "before", "after", "change"
    )?;
    let mut sum = (0u64, 0u64);
    for row in &found.code {
        sum = (sum.0.saturating_add(row.stored.0), sum.1.saturating_add(row.stored.1));
    }
    for row in changed() {
        let mark = if row.relocatable { " (relocatable)" } else { "" };
        let name = format!("{}{mark}", row.arch);
        let style = if row.count.1 == 0 {
            WENT
        } else if row.count.0 == 0 {
            CAME
        } else {
            Style::new()
        };
        let images = (row.count.0.to_string(), row.count.1.to_string());
        writeln!(
            out,
            "  {style}{:<24}{style:#}{:>8}{:>8}{:>12}{:>12}{:>12}",
            escape::text(&name),
            images.0,
            images.1,
            bytes(row.stored.0),
            bytes(row.stored.1),
            grown(row.stored)
        )?;
    }
    let (old, new) = (bytes(sum.0), bytes(sum.1));
    writeln!(out, "  {:<24}{:>16}{old:>12}{new:>12}{:>12}", "all device code", "", grown(sum))
}

/// `+1.2 MB`.
fn grown((old, new): (u64, u64)) -> String {
    match new.checked_sub(old) {
        Some(0) => "-".to_owned(),
        Some(more) => format!("+{}", bytes(more)),
        None => format!("-{}", bytes(old.saturating_sub(new))),
    }
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
fn members(out: &mut impl Write, found: &Diff, all: bool) -> io::Result<()> {
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
            names(out, &kernels.came, all)?;
            names(out, &kernels.went, all)?;
            let lost: Vec<Arc<str>> = kernels.lost.iter().map(|(name, _)| Arc::clone(name)).collect();
            names(out, &lost, all)?;
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

fn code(row: &CodeDiff) -> ChangedCode {
    ChangedCode {
        kind: row.kind.clone(),
        arch: row.arch.clone(),
        relocatable: row.relocatable,
        count: row.count.into(),
        stored_bytes: row.stored.into(),
        isa: [&row.isa.0, &row.isa.1].map(|own| own.iter().cloned().collect()),
        compression: [&row.compression.0, &row.compression.1].map(|own| own.iter().cloned().collect()),
    }
}

fn member(own: &MemberDiff) -> ChangedMember {
    let list = |names: &[Arc<str>]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let kernels = own.kernels.as_ref();
    let lost = |(name, archs): &(Arc<str>, Vec<String>)| LostKernel { name: name.to_string(), archs: archs.clone() };
    ChangedMember {
        path: own.path.clone(),
        at: own.at.clone().into(),
        present: own.present.into(),
        size: own.size.into(),
        code: own.code.iter().map(code).collect(),
        kernels_came: kernels.map(|own| list(&own.came)),
        kernels_went: kernels.map(|own| list(&own.went)),
        kernels_lost: kernels.map(|own| own.lost.iter().map(lost).collect()),
        unreadable_images: kernels.map(|own| own.unreadable.into()),
    }
}

fn difference(own: &Compared) -> Difference {
    let Compared { old, new, found } = own;
    let driver = |driver: Option<DriverVersion>| driver.map(|driver| driver.to_string());
    let verdicts = found.verdicts.iter().map(|own| ChangedVerdict {
        cc: own.capability.to_string(),
        verdict: [own.verdict.0.to_string(), own.verdict.1.to_string()],
        needs_driver: [driver(own.needs_driver.0), driver(own.needs_driver.1)],
    });
    Difference {
        old: old.artefact.path.clone(),
        new: new.artefact.path.clone(),
        size: found.size.into(),
        damaged: [old.damaged, new.damaged],
        code: found.code.iter().map(code).collect(),
        members: found.members.iter().map(member).collect(),
        judged: found.judged,
        verdicts: verdicts.collect(),
    }
}

pub(crate) fn json(out: &mut impl Write, pairs: &[Compared], failed: Option<&[Failed]>) -> io::Result<()> {
    let differences = pairs.iter().map(difference).collect();
    let failed = failed.map(<[Failed]>::to_vec);
    escape::json_line(out, &Differences { schema: 1, tool: Tool::default(), differences, failed })
}

/// A line for each artefact, architecture of it, changed file, changed code, kernel and verdict.
pub(crate) fn csv(out: &mut impl Write, pairs: &[Compared]) -> io::Result<()> {
    csv::line(out, &["old", "new", "member", "what", "name", "before", "after", "bytes_before", "bytes_after"])?;
    for own in pairs {
        let paths = [own.old.artefact.path.as_str(), own.new.artefact.path.as_str()];
        let mut line = |member: &str, what: &str, name: &str, values: [String; 2], sizes: Option<(u64, u64)>| {
            let [old, new] = paths;
            let [before, after] = values;
            let size = |of: fn((u64, u64)) -> u64| sizes.map(|own| of(own).to_string()).unwrap_or_default();
            let (least, most) = (size(|own| own.0), size(|own| own.1));
            csv::line(out, &[old, new, member, what, name, &before, &after, &least, &most])
        };
        let none = || [String::new(), String::new()];
        line("", "artefact", "", none(), Some(own.found.size))?;
        let code_name =
            |row: &CodeDiff| if row.relocatable { format!("{} relocatable", row.arch) } else { row.arch.clone() };
        for row in &own.found.code {
            let counts = [row.count.0.to_string(), row.count.1.to_string()];
            line("", "code", &code_name(row), counts, Some(row.stored))?;
        }
        for member in &own.found.members {
            let present = [member.present.0.to_string(), member.present.1.to_string()];
            line(&member.path, "file", "", present, Some(member.size))?;
            for row in &member.code {
                let counts = [row.count.0.to_string(), row.count.1.to_string()];
                line(&member.path, "code", &code_name(row), counts, Some(row.stored))?;
            }
            if let Some(kernels) = &member.kernels {
                for name in &kernels.came {
                    line(&member.path, "kernel", name, ["false".to_owned(), "true".to_owned()], None)?;
                }
                for name in &kernels.went {
                    line(&member.path, "kernel", name, ["true".to_owned(), "false".to_owned()], None)?;
                }
                for (name, archs) in &kernels.lost {
                    line(&member.path, "kernel", name, [archs.join(" "), String::new()], None)?;
                }
            }
        }
        for verdict in &own.found.verdicts {
            let words = [verdict.verdict.0.to_string(), verdict.verdict.1.to_string()];
            line("", "verdict", &verdict.capability.to_string(), words, None)?;
        }
    }
    Ok(())
}

/// The same as the table, for issues and pull requests.
pub(crate) fn markdown(
    out: &mut impl Write,
    pairs: &[Compared],
    failed: Option<&[Failed]>,
    kernels: bool,
) -> io::Result<()> {
    for own in pairs {
        let (old, new) = (escape::markdown(&title(&own.old)), escape::markdown(&title(&own.new)));
        writeln!(out, "### {old} → {new}\n\n{}\n", change(own.found.size))?;
        if own.old.damaged || own.new.damaged {
            writeln!(out, "A side is damaged: what is missing may only be unreadable.\n")?;
        }
        if own.found.is_empty() {
            writeln!(out, "No difference in device code.\n")?;
        }
        let changed: Vec<&CodeDiff> = own.found.code.iter().filter(|row| row.stored.0 != row.stored.1).collect();
        if !changed.is_empty() {
            writeln!(out, "| architecture | images | before | after | change |\n|---|---:|---:|---:|---:|")?;
        }
        for row in &changed {
            let mark = if row.relocatable { " (relocatable)" } else { "" };
            let name = escape::markdown(&format!("{}{mark}", row.arch));
            let (before, after) = (bytes(row.stored.0), bytes(row.stored.1));
            let images = format!("{} → {}", row.count.0, row.count.1);
            writeln!(out, "| {name} | {images} | {before} | {after} | {} |", grown(row.stored))?;
        }
        if !changed.is_empty() {
            writeln!(out)?;
        }
        for member in &own.found.members {
            let what = match member.present {
                (false, _) => format!("came, {}", bytes(member.size.1)),
                (_, false) => format!("went, {}", bytes(member.size.0)),
                _ => change(member.size),
            };
            writeln!(out, "- {}: {what}", escape::markdown(&member.path))?;
            for (_, label, words) in body(member) {
                writeln!(out, "  - {label} {}", escape::markdown(&words.join(" ")))?;
            }
            for own in member.kernels.iter().filter(|_| kernels) {
                let lost = own.lost.iter().map(|(name, _)| ("lost", name));
                let came = own.came.iter().map(|name| ("came", name));
                let went = own.went.iter().map(|name| ("went", name));
                for (what, name) in came.chain(went).chain(lost) {
                    writeln!(out, "  - {what}: {}", escape::markdown(name))?;
                }
            }
        }
        if !own.found.members.is_empty() {
            writeln!(out)?;
        }
        if !own.found.judged {
            writeln!(out, "Verdicts are not compared: a report does not hold the modules.\n")?;
        } else if own.found.verdicts.is_empty() {
            writeln!(out, "No verdict changed.\n")?;
        } else {
            writeln!(out, "| compute capability | what it means |\n|---|---|")?;
            for own in &own.found.verdicts {
                writeln!(out, "| {} | {} |", own.capability, meaning(own.verdict, own.needs_driver))?;
            }
            writeln!(out)?;
        }
    }
    let Some(failed) = failed else { return Ok(()) };
    if failed.is_empty() {
        return writeln!(out, "**passed**: nothing of --fail-on");
    }
    for own in failed {
        writeln!(out, "- **failed** \\[{}\\] {}", own.on, escape::markdown(&own.message))?;
    }
    Ok(())
}
