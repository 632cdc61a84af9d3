//! A line for each artefact and target.

use std::io::{self, Write};

use fatscan::fleet::Board;

use crate::render::csv::line;

pub(crate) fn csv(out: &mut impl Write, board: &Board) -> io::Result<()> {
    line(
        out,
        &[
            "artefact",
            "environment",
            "target",
            "fleet",
            "gpu",
            "cc",
            "driver",
            "verdict",
            "limited",
            "read_in_full",
            "passes",
            "reason",
            "assumes_driver",
        ],
    )?;
    let yes = |is_so: bool| if is_so { "true" } else { "false" };
    for row in &board.rows {
        for (cell, target) in row.cells.iter().zip(&board.targets) {
            let reason = cell.reason.and_then(|reason| board.reasons.get(reason));
            line(
                out,
                &[
                    &row.name,
                    row.environment.as_deref().unwrap_or_default(),
                    &target.name,
                    target.fleet.as_deref().unwrap_or_default(),
                    &target.gpu,
                    &target.cc,
                    &target.driver,
                    cell.word(),
                    yes(cell.is_limited),
                    yes(!cell.is_doubtful),
                    yes(!cell.fails),
                    reason.map(|reason| reason.text.as_str()).unwrap_or_default(),
                    &cell.assumes.map(|driver| driver.to_string()).unwrap_or_default(),
                ],
            )?;
        }
    }
    Ok(())
}
