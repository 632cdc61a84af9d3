//! The page of `fatscan fleet`: how it ended, the table, what a cell means on a click, all reasons, the libraries.

use std::io::{self, Write};

use fatscan::Report;
use fatscan::check::Outcome;
use fatscan::fleet::{Board, Cell, Grade, Row, Target};
use maud::{Markup, html};

use super::{libraries, page, prose, say};
use crate::fleet::Origins;
use crate::render::fleet::{assumptions, beside, ending, installed, labels, number, word};
use crate::terminal::bytes;

pub(crate) fn fleet(
    out: &mut impl Write,
    report: &Report,
    outcome: &Outcome,
    board: &Board,
    origins: &Origins,
) -> io::Result<()> {
    let names = labels(report, board);
    let (end, what) = ending(board, outcome);
    let title = format!("{end}: {what}");
    let body = html! {
        header {
            h1 { "Fleet " span class=(if outcome.passed() { "end g" } else { "end b" }) { (end) } }
            p { (say(&what)) }
            (filter(board))
        }
        main {
            (table(report, board, &names))
            (answer())
            (reasons(outcome, board, origins, &names))
            (libraries::section(report, board, &names))
        }
        footer {
            p { "fatscan " (env!("CARGO_PKG_VERSION")) ". Words: native, machine code for the GPU. JIT, portable code that the \
                driver compiles at the first start. Partial, some of it runs. A question mark, judged by what could be read." }
        }
    };
    out.write_all(page(&title, &body).into_string().as_bytes())?;
    writeln!(out)?;
    Ok(())
}

const GRADES: [(Grade, &str, &str); 3] =
    [(Grade::Bad, "fail", "b"), (Grade::Fair, "pass, with something to know", "f"), (Grade::Good, "native", "g")];

const fn class(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "g",
        Grade::Fair => "f",
        Grade::Bad => "b",
    }
}

/// For who sees no colours.
const fn sign(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "\u{2713}",
        Grade::Fair => "\u{2248}",
        Grade::Bad => "\u{2717}",
    }
}

/// A field for words and a switch for each colour; both do nothing without the script, so that it shows them.
fn filter(board: &Board) -> Markup {
    html! {
        form #filter role="search" hidden {
            label { span { "Filter" } input #words type="search" placeholder="name, library or reason" autocomplete="off"; }
            fieldset {
                legend { "Rows with cells that" }
                @for (grade, what, class) in GRADES {
                    @let cells = board.cells(grade);
                    label class=(class) {
                        input type="checkbox" name="grade" value=(class) checked disabled[cells == 0];
                        span { i { (sign(grade)) } " " (cells) " " (what) }
                    }
                }
            }
            output #count aria-live="polite" {}
        }
    }
}

/// Targets of one fleet beside each other, with how many there are.
fn fleets(targets: &[Target]) -> Vec<(&str, usize)> {
    let own = targets.chunk_by(|one, next| one.fleet == next.fleet);
    own.map(|own| (own.first().and_then(|own| own.fleet.as_deref()).unwrap_or_default(), own.len())).collect()
}

fn table(report: &Report, board: &Board, names: &[String]) -> Markup {
    let fleets = fleets(&board.targets);
    let has_fleets = fleets.iter().any(|(name, _)| !name.is_empty());
    html! {
        section aria-labelledby="by-target" {
            h2 #by-target { "Artefacts by targets" }
            p.quiet { "Choose a cell to see why; the arrow keys go from cell to cell. Numbers are those of the reasons below." }
            div.scroll tabindex="0" role="region" aria-labelledby="by-target" {
                table #heat {
                    caption { "The verdict on each artefact for each target" }
                    @if has_fleets {
                        colgroup span="2" {}
                        @for (_, count) in &fleets { colgroup span=(count) {} }
                    }
                    thead {
                        @if has_fleets {
                            tr.fleets {
                                td colspan="2" {}
                                @for (name, count) in &fleets {
                                    th scope="colgroup" colspan=(count) { (say(name)) }
                                }
                            }
                        }
                        tr {
                            th scope="col" { "artefact" }
                            th.n scope="col" { "size" }
                            @for target in &board.targets { (head(target)) }
                        }
                    }
                    tbody {
                        @for (index, (row, name)) in board.rows.iter().zip(names).enumerate() {
                            (line(report, (index, row), name))
                        }
                    }
                }
            }
            p #none hidden { "No row is left: the filter shows none of them." }
        }
    }
}

fn head(target: &Target) -> Markup {
    let jit = match target.allow_jit {
        None | Some(0) => None,
        Some(100) => Some("JIT allowed".to_owned()),
        Some(percent) => Some(format!("JIT to {percent} %")),
    };
    let cc = (target.cc != target.gpu).then_some(&target.cc);
    let driver = if target.driver.is_empty() { "any driver" } else { &target.driver };
    // a range has a place where it may break
    let (oldest, newest) = driver.split_once("..").map_or((driver, None), |(oldest, newest)| (oldest, Some(newest)));
    html! {
        th.t scope="col" data-n=(say(&target.name)) {
            (say(target.short()))
            @if let Some(cc) = cc { " " small { (say(cc)) } }
            small.d { (say(oldest)) @if let Some(newest) = newest { ".." wbr; (say(newest)) } }
            @if let Some(jit) = jit { small.d { (jit) } }
            @if target.is_one_of { small.d { "one is enough" } }
        }
    }
}

fn line(report: &Report, (index, row): (usize, &Row), name: &str) -> Markup {
    let artefact = row.artefact.and_then(|own| report.artefacts.get(own));
    html! {
        tr data-a=(index) {
            th scope="row" title=[(row.name != name).then(|| say(&row.name))] {
                (say(name))
                @for note in &row.notes { sup.note { (number(*note)) } }
                @if let Some(environment) = &row.environment { small { (say(environment)) } }
            }
            td.n { (artefact.map(|own| bytes(own.size)).unwrap_or_default()) }
            @for cell in &row.cells { (button(cell)) }
        }
    }
}

fn button(cell: &Cell) -> Markup {
    let grade = cell.grade();
    html! {
        td { button class=(class(grade)) data-r=[cell.reason.map(number)] data-d=[cell.assumes] {
            i { (sign(grade)) } (word(cell)) @if let Some(reason) = cell.reason { sup { (number(reason)) } }
        } }
    }
}

/// Where the script says what a cell means.
fn answer() -> Markup {
    html! {
        aside #answer role="status" hidden {
            button #close aria-label="close" { "\u{d7}" }
            p { strong {} " on " strong {} ": " b {} }
            p {}
            p {}
        }
    }
}

fn reasons(outcome: &Outcome, board: &Board, origins: &Origins, names: &[String]) -> Markup {
    html! {
        section aria-labelledby="reasons" {
            h2 #reasons { "Reasons" }
            @if board.reasons.is_empty() { p { "All of it is native." } }
            ol #why {
                @for reason in &board.reasons {
                    @let grade = if reason.fails { Grade::Bad } else { Grade::Fair };
                    li {
                        span class=(class(grade)) { i { (sign(grade)) } (if reason.fails { "fails" } else { "passes" }) }
                        " " span { (prose(&reason.text)) }
                        @if reason.cells > 1 { small { " (" (reason.cells) " cells)" } }
                    }
                }
            }
            @for finding in beside(board, outcome) {
                p { span.b { i { (sign(Grade::Bad)) } (finding.rule) } " " (say(&finding.at.to_string())) ": " (prose(&finding.message)) }
            }
            @for text in assumptions(board, names).into_iter().chain(installed(board, origins)) {
                p.quiet { (say(&text)) }
            }
        }
    }
}
