//! Verdicts as cells: comma-separated values, and tables for issues.

use std::io::{self, Write};

use fatscan::json::{Artefact, Document, Verdict};

use super::csv;
use crate::escape;

/// A line for each artefact and device, and one for each of its files.
pub(crate) fn csv(out: &mut impl Write, document: &Document) -> io::Result<()> {
    csv::line(
        out,
        &[
            "artefact",
            "member",
            "device",
            "cc",
            "driver",
            "verdict",
            "modules_ok",
            "modules",
            "specialised_ok",
            "specialised",
            "compiled",
            "needs_driver",
            "loads",
            "why",
            "what_to_do",
            "error",
        ],
    )?;
    if let Some(error) = document.error.as_ref().filter(|_| document.artefacts.is_empty()) {
        let name = format!("{} {}", error.code, error.name);
        csv::line(out, &[[""; 14].as_slice(), &[&error.advice, &name]].concat())?;
    }
    for artefact in &document.artefacts {
        for verdict in artefact.verdicts.iter().flatten() {
            line(out, document, artefact, "", verdict)?;
        }
        for member in &artefact.members {
            for verdict in member.verdicts.iter().flatten() {
                line(out, document, artefact, &member.path, verdict)?;
            }
        }
    }
    Ok(())
}

fn line(
    out: &mut impl Write,
    document: &Document,
    artefact: &Artefact,
    member: &str,
    verdict: &Verdict,
) -> io::Result<()> {
    let device = document.devices.iter().flatten().find(|device| device.id == verdict.device);
    let cc = device.map_or("", |device| device.cc.as_str());
    let driver = device.and_then(|device| device.driver.as_deref().or(device.driver_cuda.as_deref()));
    let loads: Vec<String> = verdict.loads.iter().map(|load| format!("{} ({})", load.arch, load.count)).collect();
    let of_this = document.error.iter().flat_map(|error| &error.causes).filter(|cause| {
        let is_here = cause.artefact == artefact.path && cause.device == verdict.device;
        is_here && cause.member.as_deref().unwrap_or_default() == member
    });
    let causes = of_this.map(|cause| format!("{}: {}", cause.when, cause.text));
    let remedies = verdict.remedies.iter().flatten().map(|remedy| remedy.text.as_str());
    csv::line(
        out,
        &[
            &artefact.path,
            member,
            &verdict.device,
            cc,
            driver.unwrap_or_default(),
            &verdict.verdict,
            &verdict.modules_ok.to_string(),
            &verdict.modules.to_string(),
            &verdict.specialised_ok.to_string(),
            &verdict.specialised.to_string(),
            &verdict.compiled.to_string(),
            verdict.needs_driver.as_deref().unwrap_or_default(),
            &loads.join(" "),
            &why(verdict).join("; "),
            &remedies.collect::<Vec<_>>().join("; "),
            &causes.collect::<Vec<_>>().join("; "),
        ],
    )
}

fn why(verdict: &Verdict) -> Vec<&str> {
    let limits = verdict.limits.iter().map(|limit| limit.text.as_str());
    verdict.reasons.iter().map(|reason| reason.text.as_str()).chain(limits).collect()
}

/// Of each artefact a table of devices, what to do, and a table of files by device.
pub(crate) fn markdown(out: &mut impl Write, document: &Document) -> io::Result<()> {
    if let Some(error) = &document.error {
        let (name, advice) = (escape::markdown(&error.name), escape::markdown(&error.advice));
        writeln!(out, "Error {}, {name}: {advice}\n", error.code)?;
        for cause in &error.causes {
            let place = cause.member.as_deref().unwrap_or(&cause.artefact);
            let text = format!("{place} on {}, {}: {}", cause.device, cause.when, cause.text);
            writeln!(out, "- {}", escape::markdown(&text))?;
        }
        writeln!(out)?;
    }
    for artefact in &document.artefacts {
        writeln!(out, "### {}\n", escape::markdown(&artefact.path))?;
        writeln!(out, "| GPU | verdict | why |\n|---|---|---|")?;
        for verdict in artefact.verdicts.iter().flatten() {
            let why = escape::markdown(&why(verdict).join("; "));
            writeln!(out, "| {} | {} | {why} |", escape::markdown(&verdict.device), verdict.verdict)?;
        }
        writeln!(out)?;
        todo(out, artefact)?;
        files(out, document, artefact)?;
    }
    if !document.diagnostics.is_empty() {
        writeln!(out, "What the scan says:\n")?;
    }
    for own in document.diagnostics.iter().filter(|own| own.level != fatscan::Level::Note) {
        writeln!(out, "- {}", escape::markdown(&format!("{}: {} ({})", own.place, own.message, own.code)))?;
    }
    Ok(())
}

fn todo(out: &mut impl Write, artefact: &Artefact) -> io::Result<()> {
    for verdict in artefact.verdicts.iter().flatten() {
        let remedies = verdict.remedies.as_deref().unwrap_or_default();
        if remedies.is_empty() {
            continue;
        }
        writeln!(out, "What to do on {}, the nearest first:\n", escape::markdown(&verdict.device))?;
        for (number, remedy) in remedies.iter().enumerate() {
            writeln!(out, "{}. {}", number.saturating_add(1), escape::markdown(&remedy.text))?;
            for line in &remedy.lines {
                writeln!(out, "   - {}", escape::markdown(line))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn files(out: &mut impl Write, document: &Document, artefact: &Artefact) -> io::Result<()> {
    if artefact.members.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = document.devices.iter().flatten().map(|device| escape::markdown(&device.id)).collect();
    writeln!(out, "| file | {} |\n|---{}|", ids.join(" | "), "|---".repeat(ids.len()))?;
    for member in &artefact.members {
        let verdicts = member.verdicts.iter().flatten();
        let cells = verdicts.map(|own| match (own.modules_ok, own.modules) {
            (_, 0) => own.verdict.clone(),
            (ok, all) => format!("{} {ok}/{all}", own.verdict),
        });
        writeln!(out, "| {} | {} |", escape::markdown(&member.path), cells.collect::<Vec<_>>().join(" | "))?;
    }
    writeln!(out)
}
