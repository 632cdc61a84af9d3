//! A table for a pull request.

use std::io::{self, Write};

use fatscan::Report;
use fatscan::check::Outcome;
use fatscan::fleet::{Board, Cell, Grade};

use super::{assumptions, beside, ending, labels, number, word};
use crate::escape;
use crate::fleet::Origins;

pub(crate) fn markdown(
    out: &mut impl Write,
    report: &Report,
    outcome: &Outcome,
    board: &Board,
    origins: &Origins,
) -> io::Result<()> {
    let md = escape::markdown;
    let names = labels(report, board);
    let (end, what) = ending(board, outcome);
    writeln!(out, "**{end}**: {what}\n")?;
    let head = |name: &str, driver: &str| match driver {
        "" => md(name),
        driver if name.contains(driver) => md(name),
        driver => format!("{}<br>{}", md(name), md(driver)),
    };
    let heads: Vec<String> = board.targets.iter().map(|own| head(&own.name, &own.driver)).collect();
    writeln!(out, "| artefact | {} |", heads.join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(heads.len()))?;
    for (row, name) in board.rows.iter().zip(&names) {
        let cells: Vec<String> = row.cells.iter().map(cell).collect();
        let notes: Vec<String> = row.notes.iter().map(|note| format!(" <sup>{}</sup>", number(*note))).collect();
        let of = row.environment.as_ref().map(|own| format!(" ({})", md(own))).unwrap_or_default();
        writeln!(out, "| {}{of}{} | {} |", md(name), notes.concat(), cells.join(" | "))?;
    }
    writeln!(out)?;
    for (index, reason) in board.reasons.iter().enumerate() {
        let sign = if reason.fails { sign(Grade::Bad) } else { sign(Grade::Fair) };
        writeln!(out, "{}. {sign} {}", number(index), md(&reason.text))?;
    }
    if !board.reasons.is_empty() {
        writeln!(out)?;
    }
    for finding in beside(board, outcome) {
        writeln!(out, "- **{}** {}: {}", finding.rule, md(&finding.at.to_string()), md(&finding.message))?;
    }
    let said = assumptions(board, &names).into_iter().chain(super::installed(board, origins));
    for text in said {
        writeln!(out, "{}\n", md(&text))?;
    }
    Ok(())
}

fn cell(cell: &Cell) -> String {
    let reason = cell.reason.map(|reason| format!(" <sup>{}</sup>", number(reason))).unwrap_or_default();
    format!("{} {}{reason}", sign(cell.grade()), word(cell))
}

/// The colour of a cell, where there is no other way to colour one.
const fn sign(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "\u{1f7e2}",
        Grade::Fair => "\u{1f7e1}",
        Grade::Bad => "\u{1f534}",
    }
}
