//! Pages for a browser: one file, which loads nothing.
use std::io;
use fatscan::Report;
use fatscan::check::Outcome;
use fatscan::fleet::Board;
use crate::fleet::Origins;
pub(crate) fn fleet(_: &Report, _: &Outcome, _: &Board, _: &Origins) -> io::Result<()> { Ok(()) }
