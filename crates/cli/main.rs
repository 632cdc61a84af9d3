//! The command line of fatscan: words typed, calls, exit code.

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
mod kernels;
mod list;
mod output;
mod progress;
mod render;
mod shell;
mod size;
mod slim;
mod target;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // the probe asks the driver in a child process, which is this program: a driver can hang or crash
    device_probe::run_child_if_asked();
    output::end(args::Cli::try_parse().map_or_else(output::usage, run))
}

fn run(cli: args::Cli) -> Result<ExitCode, failure::Failure> {
    match cli.command {
        None => list::run(&cli.list),
        Some(args::Command::List(list)) => list::run(&list),
        Some(args::Command::Explain(explain)) => explain::run(&explain),
        Some(args::Command::Env(env)) => env::run(&env),
        Some(args::Command::Check(check)) => check::run(&check),
        Some(args::Command::Kernels(kernels)) => kernels::run(&kernels),
        Some(args::Command::Size(size)) => size::run(&size),
        Some(args::Command::Diff(diff)) => diff::run(&diff),
        Some(args::Command::Extract(extract)) => extract::run(&extract),
        Some(args::Command::Slim(slim)) => slim::run(&slim),
        Some(args::Command::Device(device)) => device::run(&device),
        Some(args::Command::Arch(arch)) => arch::run(&arch),
        Some(args::Command::Schema) => output::schema(),
        Some(args::Command::Completions(completions)) => shell::completions(&completions),
        Some(args::Command::Man(man)) => shell::man(&man),
    }
}
