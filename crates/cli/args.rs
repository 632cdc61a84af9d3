//! What can be typed. Nothing here has an effect.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// List the CUDA device code inside wheels and libraries: which GPU architectures they were built for.
///
/// `fatscan PATH...` is `fatscan list PATH...`.
#[derive(Debug, Parser)]
#[command(name = "fatscan", version, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(subcommand_help_heading = "Commands", disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the architectures in wheels, libraries and directories (the default)
    List(ListArgs),
    /// Print the JSON schema of `--format json`
    Schema,
}

/// Exit code: 0 read, also when there is no device code; 1 damage, a limit reached, or one of several paths
/// unreadable (all else is listed); 2 nothing readable, or a wrong argument.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Wheels, zip archives, libraries, object files, static archives, fatbins, cubins, PTX, directories; `-` reads
    /// paths from standard input, one a line
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<String>,
    /// What to list one by one
    #[arg(long, value_enum, default_value_t = By::Member)]
    pub(crate) by: By,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Decode every payload and compare it with its entry header
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Threads to use; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print without colour (so does the environment variable NO_COLOR)
    #[arg(long)]
    pub(crate) no_color: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Each wheel, directory or file as a whole
    Artefact,
    /// Each library in it
    Member,
    /// Each fatbin, bare cubin or PTX text: what the driver loads at once
    Module,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One document, see `fatscan schema`
    Json,
    /// One JSON value a line
    Ndjson,
    /// Comma-separated values with a header line
    Csv,
    /// A table for issues and pull requests
    Markdown,
}
