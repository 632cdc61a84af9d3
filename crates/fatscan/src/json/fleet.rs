//! The table of artefacts by targets for other programs.

use serde::{Deserialize, Serialize};

use super::{Finding, SCHEMA, Summary, Tool, number};
use crate::check::Outcome;
use crate::fleet::{self, Board};
use crate::model::Report;

/// Artefacts by targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fleet {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// The columns.
    pub targets: Vec<Target>,
    /// The rows, in the order given; behind them the paths that gave nothing.
    pub artefacts: Vec<FleetArtefact>,
    /// What cells and rows refer to by its place in this list, from 0.
    pub reasons: Vec<FleetReason>,
    /// What the check found, ignored findings too, as in a report of `check`.
    pub findings: Vec<Finding>,
    /// How many findings there are of which weight, and whether the check passed.
    pub summary: Summary,
}

/// A GPU with its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// What it is called; no two are called the same.
    pub name: String,
    /// The fleet or group of the configuration that it is of.
    pub fleet: Option<String>,
    /// The GPU: its name, or its compute capability.
    pub gpu: String,
    /// Compute capability, `8.9`.
    pub cc: String,
    /// The driver, `535.183.01`, `CUDA 12.4`, a range as `535..580`; null where it is not known.
    pub driver: Option<String>,
    /// Percentage of the modules that load that may be compiled from PTX at first use.
    pub allow_jit: Option<u8>,
    /// Whether one target of its group is enough.
    pub any_of: bool,
}

/// An artefact on all targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetArtefact {
    /// Path as given, or `name version` of a distribution.
    pub path: String,
    /// The environment that the distribution is installed in.
    pub environment: Option<String>,
    /// Size in bytes; null where it could not be read.
    pub size: Option<u64>,
    /// Whether the check holds for it on all targets.
    pub passes: bool,
    /// Reasons that are about it and no target.
    pub reasons: Vec<u64>,
    /// One for each target, in their order.
    pub cells: Vec<FleetCell>,
}

/// An artefact on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetCell {
    /// The name of the target.
    pub target: String,
    /// `native`, `jit`, `partial`, `unknown`, `driver-too-old`, `not-covered`, `no-device-code`, or `not-read`; of a
    /// range of drivers the worst of its ends.
    pub verdict: String,
    /// Whether it runs and more is missing than what is picked by device.
    pub limited: bool,
    /// Whether all of it was read, so that the verdict is about all of it.
    pub read_in_full: bool,
    /// Whether the check holds.
    pub passes: bool,
    /// `good`: native, read in full, and it passes; `fair`: it passes; `bad`: it does not.
    pub grade: String,
    /// Its reason, by its place in the list of reasons.
    pub reason: Option<u64>,
    /// The oldest driver that it needs, where the target names none and a new enough one was assumed.
    pub assumes_driver: Option<String>,
}

/// Why cells are not simply native.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetReason {
    /// One sentence.
    pub text: String,
    /// Whether the check holds where it is referred to.
    pub passes: bool,
    /// How many cells refer to it.
    pub cells: u64,
}

impl Fleet {
    /// The document of a table.
    #[must_use]
    pub fn new(report: &Report, board: &Board, outcome: &Outcome) -> Self {
        let reasons = board.reasons.iter().map(|reason| FleetReason {
            text: reason.text.clone(),
            passes: !reason.fails,
            cells: number(reason.cells),
        });
        Self {
            schema: SCHEMA,
            tool: Tool::default(),
            targets: board.targets.iter().map(Target::new).collect(),
            artefacts: board.rows.iter().map(|row| FleetArtefact::new(report, board, row)).collect(),
            reasons: reasons.collect(),
            findings: outcome.findings.iter().map(Finding::new).collect(),
            summary: Summary::new(outcome),
        }
    }
}

impl Target {
    fn new(own: &fleet::Target) -> Self {
        Self {
            name: own.name.clone(),
            fleet: own.fleet.clone(),
            gpu: own.gpu.clone(),
            cc: own.cc.clone(),
            driver: (!own.driver.is_empty()).then(|| own.driver.clone()),
            allow_jit: own.allow_jit,
            any_of: own.is_one_of,
        }
    }
}

impl FleetArtefact {
    fn new(report: &Report, board: &Board, row: &fleet::Row) -> Self {
        let cells = row.cells.iter().zip(&board.targets).map(|(cell, target)| FleetCell {
            target: target.name.clone(),
            verdict: cell.word().to_owned(),
            limited: cell.is_limited,
            read_in_full: !cell.is_doubtful,
            passes: !cell.fails,
            grade: cell.grade().name().to_owned(),
            reason: cell.reason.map(number),
            assumes_driver: cell.assumes.map(|driver| driver.to_string()),
        });
        Self {
            path: row.name.clone(),
            environment: row.environment.clone(),
            size: row.artefact.and_then(|index| report.artefacts.get(index)).map(|artefact| artefact.size),
            passes: !row.fails(),
            reasons: row.notes.iter().copied().map(number).collect(),
            cells: cells.collect(),
        }
    }
}
