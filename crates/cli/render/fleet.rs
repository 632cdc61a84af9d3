//! The table of artefacts by targets: as text, Markdown, comma-separated values and JSON.

mod csv;
mod labels;
mod markdown;
mod text;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fatscan::check::{Finding, Outcome};
use fatscan::fleet::{Board, Cell, Grade};
use fatscan::json;
use gpu_arch::rules::Verdict;

use super::explain::sentence;
use crate::escape;
use crate::terminal::count;

pub(crate) use csv::csv;
pub(super) use labels::labels;
pub(crate) use markdown::markdown;
pub(crate) use text::{compact, installed, text};

pub(crate) fn json(out: &mut impl Write, document: &json::Fleet) -> io::Result<()> {
    escape::json_line(out, document)?;
    Ok(())
}

/// The word of a cell: that of `explain`, in short; with a question mark where it is judged by what could be read.
pub(super) fn word(cell: &Cell) -> String {
    let word = match cell.verdict {
        Some(Verdict::Jit) => "JIT",
        Some(verdict) => sentence(verdict).0,
        None => return "not read".to_owned(),
    };
    if cell.is_doubtful { format!("{word}?") } else { word.to_owned() }
}

/// The number that a reason is shown under.
pub(super) fn number(reason: usize) -> String {
    reason.saturating_add(1).to_string()
}

const fn style(grade: Grade) -> Style {
    match grade {
        Grade::Good => AnsiColor::Green.on_default().bold(),
        Grade::Fair => AnsiColor::Yellow.on_default().bold(),
        Grade::Bad => AnsiColor::Red.on_default().bold(),
    }
}

/// How it ended: the word, and what it is about.
pub(super) fn ending(board: &Board, outcome: &Outcome) -> (&'static str, String) {
    let word = if outcome.passed() { "passed" } else { "failed" };
    let all = count(board.rows.len(), "artefact", "artefacts");
    let targets = count(board.targets.len(), "target", "targets");
    let passing = board.rows.iter().filter(|row| !row.fails()).count();
    let cells = board.cells(Grade::Good).saturating_add(board.cells(Grade::Fair));
    let sum = cells.saturating_add(board.cells(Grade::Bad));
    let on = if board.targets.len() == 1 { "on 1 target".to_owned() } else { format!("on all {targets}") };
    let verb = if passing == 1 { "passes" } else { "pass" };
    (word, format!("{passing} of {all} {verb} {on}; {cells} of {sum} cells pass"))
}

/// Findings that fail the check and are in no cell.
pub(super) fn beside<'a>(board: &'a Board, outcome: &'a Outcome) -> impl Iterator<Item = &'a Finding> {
    board.beside.iter().filter_map(|index| outcome.findings.get(*index))
}

/// What is taken for granted of drivers that are not known: one sentence for each driver.
pub(super) fn assumptions(board: &Board, names: &[String]) -> Vec<String> {
    let mut all: Vec<(String, Vec<&str>, Vec<&str>)> = Vec::new();
    for (row, name) in board.rows.iter().zip(names) {
        for (cell, target) in row.cells.iter().zip(&board.targets) {
            let Some(driver) = cell.assumes.map(|driver| driver.to_string()) else { continue };
            let index = all.iter().position(|(known, ..)| *known == driver).unwrap_or(all.len());
            if index == all.len() {
                all.push((driver, Vec::new(), Vec::new()));
            }
            let Some((_, rows, targets)) = all.get_mut(index) else { continue };
            if !rows.contains(&name.as_str()) {
                rows.push(name);
            }
            if !targets.contains(&target.name.as_str()) {
                targets.push(&target.name);
            }
        }
    }
    let say = |(driver, rows, targets): (String, Vec<&str>, Vec<&str>)| {
        let on = super::headline::first_of(&targets, 12);
        format!("assumes driver {driver} or newer on {on}: {}", super::headline::first_of(&rows, 6))
    };
    all.into_iter().map(say).collect()
}
