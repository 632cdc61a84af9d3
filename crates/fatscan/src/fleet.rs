//! A fleet: many artefacts on many targets, a cell for each pair.
//!
//! A [`Target`] is a GPU with its driver, or with a range of drivers. [`Board::of`] makes the table of a report that was
//! judged and checked: what the verdict is, whether the check holds, and the one reason that a line has room for. It is
//! pure, and says nothing that [`crate::judge`] and [`crate::check::check`] have not said.

mod cell;
mod row;
mod target;

use crate::check::Outcome;
use crate::judge::Judgement;
use crate::model::Report;
use gpu_arch::rules::Verdict;

pub use cell::{Cell, Grade};
pub use row::{Origin, Row};
pub use target::Target;

/// Artefacts by targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Board {
    /// The columns; no two have one name.
    pub targets: Vec<Target>,
    /// The rows, in the order of the report; behind them the paths that gave nothing.
    pub rows: Vec<Row>,
    /// What cells and rows refer to: what is said of several of them is there once.
    pub reasons: Vec<Reason>,
    /// Indices of the findings that fail the check and are about no row.
    pub beside: Vec<usize>,
}

/// Why cells are not simply native.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The verdict of its cells; `None` where nothing was read, or where it is about the row.
    pub verdict: Option<Verdict>,
    /// Whether its cells fail the check.
    pub fails: bool,
    /// Whether its cells are judged by what could be read.
    pub is_doubtful: bool,
    /// One sentence.
    pub text: String,
    /// How many cells refer to it; rows aside.
    pub cells: usize,
}

impl Board {
    /// The table of a report. `origins` may be shorter than the list of artefacts.
    #[must_use]
    pub fn of(
        report: &Report,
        judgement: &Judgement,
        outcome: &Outcome,
        targets: Vec<Target>,
        origins: &[Origin],
    ) -> Self {
        let mut board = Self { targets: target::named(targets), ..Self::default() };
        row::fill(&mut board, &row::Seen { report, judgement, outcome, origins, ids: judgement.ids() });
        board
    }

    /// Cells of a grade.
    #[must_use]
    pub fn cells(&self, grade: Grade) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.grade() == grade).count()
    }

    /// The index of a reason, which is added if it is new.
    fn reason(&mut self, reason: Reason) -> usize {
        let is_same = |known: &Reason| {
            (known.verdict, known.fails, known.is_doubtful) == (reason.verdict, reason.fails, reason.is_doubtful)
                && known.text == reason.text
        };
        let index = self.reasons.iter().position(is_same).unwrap_or(self.reasons.len());
        match self.reasons.get_mut(index) {
            Some(known) => known.cells = known.cells.saturating_add(reason.cells),
            None => self.reasons.push(reason),
        }
        index
    }
}
