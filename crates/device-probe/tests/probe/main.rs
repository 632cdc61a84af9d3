//! The probe without a GPU: fake driver libraries that are compiled here and really loaded, a fake `nvidia-smi`, and
//! fake trees of `/proc`, `/sys`, `/dev` and `/etc`.
//!
//! The child process of a probe is the host program, which here is this test program: it is started with a filter that
//! selects [`child_of_the_probe`], the only test that a child runs, and the argument of the child, which is one more
//! filter to the test harness and selects nothing.
#![cfg(unix)]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

mod bounds;
mod child;
mod codes;
mod machine;
mod recording;
mod table;
mod text;
mod toolkits;
mod visible;

/// What `main` of a host program does first. In an ordinary run of the tests it returns at once.
#[test]
fn child_of_the_probe() {
    device_probe::run_child_if_asked();
}
