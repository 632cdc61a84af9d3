//! The command line of fatscan: words typed, calls, exit code.
//!
//! [`run`] is the whole program. What calls it (the program itself, the Python module) says beforehand how the probe gets
//! its child process: [`device_probe::run_child_if_asked`], [`device_probe::child_is`].

// the modules use what the library `fatscan` shows
extern crate fatscan_core as fatscan;

mod arch;
mod args;
mod check;
mod device;
mod diff;
mod env;
mod escape;
mod explain;
mod extract;
mod failure;
mod fleet;
mod formats;
mod kernels;
mod list;
mod output;
mod progress;
mod render;
mod schema;
mod shell;
mod size;
mod slim;
mod target;
mod terminal;
mod unfinished;
mod variant;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;

/// Runs the command with the words that were typed, the first of which is the name of the program: prints what it has to
/// print, and returns the exit code.
#[must_use]
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed = args::program().try_get_matches_from(words).and_then(|typed| args::Cli::from_arg_matches(&typed));
    output::end(typed.map_or_else(output::usage, command))
}

fn command(cli: args::Cli) -> Result<ExitCode, failure::Failure> {
    match cli.command {
        None => match shell::mistyped(&cli.list.paths) {
            Some(failure) => Err(failure),
            None => list::run(&cli.list),
        },
        Some(args::Command::List(list)) => list::run(&list),
        Some(args::Command::Explain(explain)) => explain::run(&explain),
        Some(args::Command::Env(env)) => env::run(&env),
        Some(args::Command::Check(check)) => check::run(&check),
        Some(args::Command::Fleet(fleet)) => fleet::run(&fleet),
        Some(args::Command::Kernels(kernels)) => kernels::run(&kernels),
        Some(args::Command::Size(size)) => size::run(&size),
        Some(args::Command::Diff(diff)) => diff::run(&diff),
        Some(args::Command::Extract(extract)) => extract::run(&extract),
        Some(args::Command::Slim(slim)) => slim::run(&slim),
        Some(args::Command::Variant(variant)) => variant::run(&variant),
        Some(args::Command::Device(device)) => device::run(&device),
        Some(args::Command::Arch(arch)) => arch::run(&arch),
        Some(args::Command::Schema(schema)) => schema::run(schema.name),
        Some(args::Command::Completions(completions)) => shell::completions(&completions),
        Some(args::Command::Man(man)) => shell::man(&man),
    }
}
