//! How libraries are linked, and what the dynamic loader does about it: by hand, and as the loader of this machine says.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "a panic here is a failing test"
)]

mod compiled;
mod judged;
mod memory;
mod names;
mod processes;
mod reading;
mod searching;
