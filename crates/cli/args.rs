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
    /// Say whether a GPU and its driver can run it, why, and what to do
    Explain(ExplainArgs),
    /// Tell what an architecture or a GPU is, and how to build for it
    Arch(ArchArgs),
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

/// Exit code: 0 explained, whatever the verdict; 1 damage, a limit reached, or one of several paths unreadable; 2 nothing
/// readable, or a wrong argument.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// As for `list`
    #[arg(value_name = "PATH", required_unless_present = "error")]
    pub(crate) paths: Vec<String>,
    /// GPUs: compute capabilities, architectures or names, separated by commas: `8.9`, `sm_90`, "RTX 4090", H200
    #[arg(long, value_name = "GPU")]
    pub(crate) gpu: Vec<String>,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    /// The message that a program printed; says which of its causes applies
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
    /// Judge every library by itself, also those that are alternatives to each other
    #[arg(long)]
    pub(crate) no_alternatives: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct DriverArgs {
    /// Version of the driver, as nvidia-smi shows it: 535.183.01
    #[arg(long, value_name = "VERSION")]
    pub(crate) driver: Option<String>,
    /// CUDA version of the driver, as nvidia-smi shows it: 12.4
    #[arg(long, value_name = "CUDA")]
    pub(crate) driver_cuda: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// For people
    Text,
    /// One document, see `fatscan schema`
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ArchArgs {
    /// An architecture in any spelling (`sm_90a`, `8.9`, `compute_120`), a GPU ("RTX 4090"), or `list`
    #[arg(value_name = "NAME", default_value = "list")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}
