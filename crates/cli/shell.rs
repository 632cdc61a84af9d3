//! `fatscan completions` and `fatscan man`: the command line as shells and `man` want to have it.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fatscan", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let mut program = Cli::command();
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => {
            let known = program.get_subcommands().filter(|command| !command.is_hide_set());
            let names: Vec<String> = known.map(|command| command.get_name().to_owned()).collect();
            let found = program.find_subcommand(name).filter(|command| !command.is_hide_set());
            found.cloned().ok_or_else(|| {
                Failure::with_hint(format!("`{name}` is no command"), format!("the commands are {}", names.join(", ")))
            })?
        }
    };
    let mut page = Vec::new();
    let source = concat!("fatscan ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page)?;
    print(&page)
}
