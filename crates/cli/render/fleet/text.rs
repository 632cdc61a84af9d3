//! The table for people: as many targets beside each other as the terminal has room for, then the next ones.

use std::io::{self, Write};
use std::ops::Range;

use anstyle::Style;
use fatscan::Report;
use fatscan::check::Outcome;
use fatscan::fleet::{Board, Cell, Grade, Row, Target};
use gpu_arch::rules::Verdict;

use super::{assumptions, beside, ending, labels, number, style, word};
use crate::escape;
use crate::fleet::Origins;
use crate::render::check;
use crate::terminal::{count, width, wrap};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
/// Columns between two columns.
const GAP: usize = 2;
/// Columns that the names of artefacts get at least.
const NAME: usize = 24;
/// Columns that the head of a target gets at most.
const HEAD: usize = 16;

pub(crate) fn text(
    out: &mut impl Write,
    report: &Report,
    outcome: &Outcome,
    board: &Board,
    origins: &Origins,
) -> io::Result<()> {
    let names = labels(report, board);
    let rows: Vec<(&Row, &str)> = board.rows.iter().zip(names.iter().map(String::as_str)).collect();
    let page = Page { board, width: width(), is_numbered: true };
    page.table(out, &rows)?;
    page.reasons(out)?;
    for finding in beside(board, outcome) {
        let place = finding.at.to_string();
        let place = if place.is_empty() { place } else { format!("{place}: ") };
        let text = format!("[{}] {place}{}", finding.rule, finding.message);
        let (level, style) = (finding.severity.name(), check::style(finding.severity));
        let text = wrap(&words(&text), 4, level.len().saturating_add(1), page.width);
        writeln!(out, "{style}{level}{style:#} {text}")?;
    }
    for text in assumptions(board, &names).into_iter().chain(installed(board, origins)) {
        writeln!(out, "{DIM}{}{DIM:#}", wrap(&words(&text), 4, 0, page.width))?;
    }
    let (end, what) = ending(board, outcome);
    let style = style(if outcome.passed() { Grade::Good } else { Grade::Bad });
    let text = wrap(&words(&what), 4, end.len().saturating_add(2), page.width);
    writeln!(out, "{style}{end}{style:#}: {text}")?;
    Ok(())
}

/// The table at the end of a check of several artefacts or GPUs: without reasons, which stand above it as findings, and
/// without what is native everywhere, which is counted.
pub(crate) fn compact(out: &mut impl Write, report: &Report, board: &Board) -> io::Result<()> {
    let is_one = board.targets.len() <= 1 && board.rows.len() <= 1;
    if is_one || board.targets.is_empty() || board.rows.is_empty() {
        return Ok(());
    }
    let names = labels(report, board);
    let is_good = |row: &Row| row.cells.iter().all(|cell| cell.grade() == Grade::Good) && row.notes.is_empty();
    let rows: Vec<(&Row, &str)> =
        board.rows.iter().zip(names.iter().map(String::as_str)).filter(|(row, _)| !is_good(row)).collect();
    let good = board.rows.len().saturating_sub(rows.len());
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    Page { board, width: width(), is_numbered: false }.table(out, &rows)?;
    if good > 0 {
        let more = count(good, "more artefact is", "more artefacts are");
        writeln!(out, "{DIM}{more} native on {}{DIM:#}", all_of(board))?;
    }
    writeln!(out)
}

/// What environments hold beside the rows.
pub(crate) fn installed(board: &Board, origins: &Origins) -> Vec<String> {
    let each = origins.installed.iter().map(|(path, all)| {
        let own = board.rows.iter().filter(|row| row.environment.as_ref() == Some(path)).count();
        let without = all.saturating_sub(own);
        let what = count(without, "distribution has no device code", "distributions have no device code");
        format!("{path}: {what} that counts, and no row")
    });
    each.collect()
}

fn all_of(board: &Board) -> String {
    match board.targets.len() {
        1 => board.targets.first().map(|own| own.name.clone()).unwrap_or_default(),
        number => format!("all {number} targets"),
    }
}

struct Page<'a> {
    board: &'a Board,
    width: usize,
    /// Whether cells name their reasons.
    is_numbered: bool,
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The lines of the head of a target: its fleet, its GPU, its driver.
fn head(target: &Target) -> [String; 3] {
    let fleet = target.fleet.as_deref().unwrap_or_default();
    // both ends of a range are too long for a line
    let driver = target.driver.split_once("..").map_or_else(
        || target.driver.clone(),
        |(oldest, newest)| {
            let short = |end: &str| if length(&target.driver) > HEAD { branch(end) } else { end.to_owned() };
            format!("{}..{}", short(oldest), short(newest))
        },
    );
    [fleet, target.short(), &driver].map(|text| cut(&escape::text(text), HEAD))
}

fn branch(driver: &str) -> String {
    driver.split('.').next().unwrap_or(driver).to_owned()
}

/// At most so many characters, without those in the middle.
fn cut(text: &str, most: usize) -> String {
    let all = length(text);
    if all <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(2);
    let behind = kept / 2;
    let before: String = text.chars().take(kept.saturating_sub(behind)).collect();
    let behind: String = text.chars().skip(all.saturating_sub(behind)).collect();
    format!("{before}..{behind}")
}

impl Page<'_> {
    fn cell(&self, cell: &Cell) -> String {
        match cell.reason.filter(|_| self.is_numbered) {
            Some(reason) => format!("{} {}", word(cell), number(reason)),
            None => word(cell),
        }
    }

    /// What all cells of a row say, where that is no verdict on a target.
    fn everywhere(&self, row: &Row) -> Option<Cell> {
        let first = row.cells.first()?;
        let is_about_all = first.verdict.is_none_or(|verdict| verdict == Verdict::NoDeviceCode);
        (is_about_all && row.cells.iter().all(|cell| cell == first)).then_some(*first)
    }

    fn title(&self, row: &Row, name: &str) -> String {
        let notes = row.notes.iter().filter(|_| self.is_numbered).map(|note| format!(" [{}]", number(*note)));
        format!("{}{}", escape::text(name), notes.collect::<String>())
    }

    /// The width of each target.
    fn columns(&self, rows: &[(&Row, &str)]) -> Vec<usize> {
        let targets = self.board.targets.iter().enumerate();
        let column = |(index, target): (usize, &Target)| {
            let own = rows.iter().filter(|(row, _)| self.everywhere(row).is_none());
            let cells = own.filter_map(|(row, _)| row.cells.get(index)).map(|cell| length(&self.cell(cell)));
            cells.chain(head(target).iter().map(|line| length(line))).max().unwrap_or(0)
        };
        targets.map(column).collect()
    }

    fn table(&self, out: &mut impl Write, rows: &[(&Row, &str)]) -> io::Result<()> {
        let columns = self.columns(rows);
        let names = rows.iter().map(|(row, name)| length(&self.title(row, name))).max().unwrap_or(0).max(8);
        let sum = |own: &[usize]| own.iter().map(|own| own.saturating_add(GAP)).fold(0, usize::saturating_add);
        // the names are cut where that leaves the table in one piece, or where they would leave no room for it
        let room = self.width.saturating_sub(sum(&columns));
        let most = if room >= NAME { room } else { self.width / 3 };
        let name = names.min(most.max(NAME));
        let mut first = 0;
        while first < columns.len() {
            let mut end = first.saturating_add(1);
            let fits = |end: usize| {
                let own = columns.get(first..end).map_or(usize::MAX, sum);
                name.saturating_add(own) <= self.width
            };
            while end < columns.len() && fits(end.saturating_add(1)) {
                end = end.saturating_add(1);
            }
            if first > 0 {
                writeln!(out)?;
            }
            self.block(out, rows, &columns, first..end, name)?;
            first = end;
        }
        Ok(())
    }

    /// Targets that stand beside each other.
    fn block(
        &self,
        out: &mut impl Write,
        rows: &[(&Row, &str)],
        columns: &[usize],
        own: Range<usize>,
        name: usize,
    ) -> io::Result<()> {
        let heads: Vec<[String; 3]> =
            self.board.targets.get(own.clone()).unwrap_or_default().iter().map(head).collect();
        let widths = columns.get(own.clone()).unwrap_or_default();
        for line in 0..3 {
            let texts: Vec<&str> = heads.iter().filter_map(|head| head.get(line)).map(String::as_str).collect();
            if texts.iter().all(|text| text.is_empty()) {
                continue;
            }
            // a fleet is named once
            let mut before = "";
            let shown = texts.iter().map(|text| {
                let is_same = line == 0 && *text == before;
                before = text;
                if is_same { "" } else { *text }
            });
            let padded: Vec<String> =
                shown.zip(widths).map(|(text, width)| format!("  {text:<width$}", width = *width)).collect();
            let row = format!("{:name$}{}", "", padded.concat());
            let style = if line == 1 { BOLD } else { DIM };
            writeln!(out, "{style}{}{style:#}", row.trim_end())?;
        }
        // what is about all targets is said with the first ones
        let shown = rows.iter().filter(|(row, _)| own.start == 0 || self.everywhere(row).is_none());
        for (row, title) in shown {
            let title = cut(&self.title(row, title), name);
            write!(out, "{title:<name$}")?;
            if let Some(cell) = self.everywhere(row) {
                let style = style(cell.grade());
                let rest = if self.board.targets.len() > 1 { " on all" } else { "" };
                writeln!(out, "  {style}{}{style:#}{rest}", self.cell(&cell))?;
                continue;
            }
            let cells: Vec<(&Cell, usize)> =
                row.cells.get(own.clone()).unwrap_or_default().iter().zip(widths.iter().copied()).collect();
            for (index, (cell, width)) in cells.iter().enumerate() {
                let style = style(cell.grade());
                let text = self.cell(cell);
                let fill = width.saturating_sub(length(&text));
                let fill = if index.saturating_add(1) == cells.len() { 0 } else { fill };
                write!(out, "  {style}{text}{style:#}{}", " ".repeat(fill))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// What the numbers mean.
    fn reasons(&self, out: &mut impl Write) -> io::Result<()> {
        if self.board.reasons.is_empty() {
            return writeln!(out);
        }
        writeln!(out)?;
        let digits = number(self.board.reasons.len().saturating_sub(1)).len();
        for (index, reason) in self.board.reasons.iter().enumerate() {
            let (word, style) =
                if reason.fails { ("fails", style(Grade::Bad)) } else { ("passes", style(Grade::Fair)) };
            let indent = digits.saturating_add(2);
            let used = indent.saturating_add(word.len()).saturating_add(2);
            let text = wrap(&words(&reason.text), indent.saturating_add(2), used, self.width);
            writeln!(out, "{:>digits$}  {style}{word}{style:#}: {text}", number(index))?;
        }
        writeln!(out)
    }
}
