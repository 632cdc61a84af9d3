//! What can be typed. Nothing here has an effect.

mod examples;
mod format;
mod values;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub(crate) use self::format::{
    CheckFormat, DeviceFormat, FleetFormat, Format, SlimFormat, TableFormat, TextFormat, VariantFormat,
};
pub(crate) use self::values::FAIL_ON_WORDS;
use crate::formats::Formats;

/// List the CUDA device code inside wheels and libraries: which GPU architectures they were built for.
///
/// `fatscan PATH...` is `fatscan list PATH...`.
#[derive(Debug, Parser)]
#[command(name = "fatscan", version, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(subcommand_help_heading = "Commands")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// The program as it is typed, with the examples of each command.
pub(crate) fn program() -> clap::Command {
    let with = |command: clap::Command, name: Option<&str>| {
        let after = command.get_after_help().map(|own| format!("\n{own}")).unwrap_or_default();
        match examples::text(name) {
            Some(examples) => command.after_help(format!("{examples}{after}")),
            None => command,
        }
    };
    let names: Vec<String> = Cli::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
    names.iter().fold(with(Cli::command(), None), |program, name| {
        program.mut_subcommand(name, |command| with(command, Some(name)))
    })
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the architectures in wheels, libraries and directories (the default)
    List(ListArgs),
    /// Say whether a GPU and its driver can run it, why, and what to do; the GPUs of this machine if none is named
    Explain(ExplainArgs),
    /// Say which packages of a Python environment run on a GPU: a venv, a conda prefix, site-packages
    Env(EnvArgs),
    /// Let a wheel or library pass or fail: the gate for continuous integration
    Check(Box<CheckArgs>),
    /// Show which of many wheels, libraries or packages run on which of many GPUs: one table, also as a web page
    Fleet(Box<FleetArgs>),
    /// List the kernels by architecture, and those that one lacks
    Kernels(KernelsArgs),
    /// Tell what device code costs in bytes
    Size(SizeArgs),
    /// Tell what changed between two wheels, libraries, directories or reports
    Diff(DiffArgs),
    /// Write cubins, PTX and intermediate code to files
    Extract(ExtractArgs),
    /// Write wheels and libraries without the device code that some GPUs do not use (experimental)
    Slim(SlimArgs),
    /// Tell what a wheel should declare of its GPUs: the properties of a wheel variant (PEP 825, a draft)
    Variant(VariantArgs),
    /// Tell which NVIDIA GPUs, driver and toolkits are here
    Device(DeviceArgs),
    /// Tell what an architecture or a GPU is, and how to build for it
    Arch(ArchArgs),
    /// Print the JSON schema of `--format json`: of a report, or of another document by its name
    Schema(SchemaArgs),
    /// Print a script that completes the command line: `fatscan completions bash > fatscan.bash`
    Completions(CompletionsArgs),
    /// Print the manual page, or that of one command; or write them all: `fatscan man check | man -l -`
    Man(ManArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 read, also when there is no device code; 1 damage, a limit reached, or one of several paths unreadable (all else is listed); 2 nothing readable, or a wrong argument."
)]
pub(crate) struct ListArgs {
    /// Wheels, zip archives, libraries, object files, static archives, fatbins, cubins, PTX, directories; `-` reads
    /// paths from standard input, one a line or as `find -print0` writes them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// What to list one by one
    #[arg(long, value_enum, default_value_t = By::Member)]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) formats: Formats<Format>,
    /// Decode every payload and compare it with its entry header
    #[arg(long)]
    pub(crate) verify: bool,
    /// Add the verdict for the GPUs of this machine; a table on a terminal has it by itself where there is one
    #[arg(long, conflicts_with_all = ["gpu", "recording"])]
    pub(crate) device: bool,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) files: Files,
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
    /// Whether files are mapped into memory: `auto` reads small files and those of a network
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Mmap::Auto)]
    pub(crate) mmap: Mmap,
    /// Follow links that lead out of a directory that is given
    #[arg(long)]
    pub(crate) follow_links: bool,
}

/// Which files of a directory or archive are looked at, and what is one artefact.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Files {
    /// Leave out files that match, and all below directories that do: "*.libs/*", tests, "**/examples"
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Of a tree, take each directory so many levels down as an artefact of its own: 2 for software/NAME/VERSION
    #[arg(long, value_name = "LEVELS", default_value_t = 0, hide_default_value = true)]
    pub(crate) group_by: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mmap {
    /// Regular files of local file systems
    Auto,
    /// None: slower, and safe from whoever shortens a file meanwhile
    Never,
    /// All
    Always,
}

impl From<Mmap> for fatscan::Mapping {
    fn from(mmap: Mmap) -> Self {
        match mmap {
            Mmap::Auto => Self::Auto,
            Mmap::Never => Self::Never,
            Mmap::Always => Self::Always,
        }
    }
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

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 explained, whatever the verdict; 1 damage, a limit reached, or one of several paths unreadable; 2 nothing readable, or a wrong argument."
)]
pub(crate) struct ExplainArgs {
    /// As for `list`; a venv or site-packages as for `env`; or the name of an installed package
    #[arg(value_name = "PATH", required_unless_present = "error")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The message that a program printed; says which of its causes applies
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
    /// Judge every library by itself, also those that are alternatives to each other
    #[arg(long)]
    pub(crate) no_alternatives: bool,
    /// Which kernels do not load, file by file, by their names without template arguments; reads all kernels
    #[arg(long)]
    pub(crate) why: bool,
    /// Show every file, also of many those that load in full
    #[arg(long)]
    pub(crate) all_files: bool,
    #[command(flatten)]
    pub(crate) formats: Formats<TextFormat>,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 told, whatever the verdict; 1 damage, or a limit reached; 2 no environment, or a wrong argument."
)]
pub(crate) struct EnvArgs {
    /// The root of a venv, a conda prefix, or a directory of packages; without it that of VIRTUAL_ENV or CONDA_PREFIX, else
    /// that of the `python3` on the path
    #[arg(value_name = "PATH", conflicts_with_all = ["python", "prefix", "pid"])]
    pub(crate) path: Option<PathBuf>,
    /// The environment of this interpreter; it is run where its place does not tell
    #[arg(long, value_name = "EXE", conflicts_with_all = ["prefix", "pid"])]
    pub(crate) python: Option<PathBuf>,
    /// The installation of Python below this directory: `/usr`
    #[arg(long, value_name = "DIR", conflicts_with = "pid")]
    pub(crate) prefix: Option<PathBuf>,
    /// What the process of this number has mapped
    #[arg(long, value_name = "N")]
    pub(crate) pid: Option<u32>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) formats: Formats<TextFormat>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// GPUs, and the driver that is on them; without one the GPUs of this machine.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// GPUs: compute capabilities, architectures or names, separated by commas: `8.9`, `sm_90`, "RTX 4090", H200
    #[arg(long, value_name = "GPU", conflicts_with = "recording", value_parser = values::GPUS, hide_possible_values = true)]
    pub(crate) gpu: Vec<String>,
    /// The GPUs and the driver that `fatscan device --record` noted elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) recording: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
}

impl TargetArgs {
    /// Whether nothing of it was typed.
    pub(crate) const fn is_empty(&self) -> bool {
        let driver = self.driver.driver.is_some() || self.driver.driver_cuda.is_some();
        self.gpu.is_empty() && self.recording.is_none() && !driver
    }
}

#[derive(Debug, Args)]
pub(crate) struct DriverArgs {
    /// Version of the driver, as nvidia-smi shows it: 535.183.01; or both ends of a range: 535..580
    #[arg(long, value_name = "VERSION")]
    pub(crate) driver: Option<String>,
    /// CUDA version of the driver, as nvidia-smi shows it: 12.4
    #[arg(long, value_name = "CUDA")]
    pub(crate) driver_cuda: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ArchArgs {
    /// An architecture in any spelling (`sm_90a`, `8.9`, `compute_120`), a GPU ("RTX 4090"), or `list`
    #[arg(value_name = "NAME", default_value = "list", value_parser = values::ARCHS, hide_possible_values = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) formats: Formats<TextFormat>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code, the same in every format: 0 passed; 1 a finding, also damage or one of several paths unreadable; 2 could not judge: a wrong argument, an architecture that does not exist, nothing readable, no device. 2 beats 1."
)]
pub(crate) struct CheckArgs {
    /// As for `list`
    #[arg(value_name = "PATH", required_unless_present = "env")]
    pub(crate) paths: Vec<PathBuf>,
    /// The directories of an environment: PATH, or the active one; as for `env`
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    pub(crate) env: Option<Option<PathBuf>>,
    /// It must run on these GPUs: `9.0`, `sm_90`, "RTX 4090"; several separated by `,` or `;`
    #[arg(long, value_name = "GPUS", value_parser = values::GPUS, hide_possible_values = true,
          help_heading = "Must run there")]
    pub(crate) require: Vec<String>,
    /// It must run on every GPU of this machine
    #[arg(long, help_heading = "Must run there")]
    pub(crate) device: bool,
    /// It must run on the GPUs that `fatscan device --record` noted elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "device", help_heading = "Must run there")]
    pub(crate) recording: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    /// PTX that the driver compiles is enough: for all modules that load, or for at most PERCENT of them
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "100",
          value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Must run there")]
    pub(crate) allow_jit: Option<u8>,
    /// A file is enough of whose modules at least PERCENT load
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "1",
          value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Must run there")]
    pub(crate) allow_partial: Option<u8>,
    /// What is uncertain passes
    #[arg(long, help_heading = "Must run there")]
    pub(crate) allow_unknown: bool,
    /// Judge every library by itself, also those that are alternatives to each other
    #[arg(long, help_heading = "Must run there")]
    pub(crate) no_alternatives: bool,
    /// Every general module must hold this code: `sm_90,compute_90`, "90-real;120-virtual", "7.5;8.0;9.0+PTX", a value
    /// of TORCH_CUDA_ARCH_LIST or CMAKE_CUDA_ARCHITECTURES as it is
    #[arg(long, value_name = "CODE", value_parser = values::CODE, hide_possible_values = true,
          help_heading = "Must hold what was declared")]
    pub(crate) contains: Option<String>,
    /// Nothing beyond --contains may be there
    #[arg(long, help_heading = "Must hold what was declared")]
    pub(crate) strict: bool,
    /// What is asked of libraries of NVIDIA in `*.libs` and `.dylibs`, where tools that repair wheels put them
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Must hold what was declared")]
    pub(crate) vendored: Option<VendoredArg>,
    /// What a package says of itself must be true: variant properties, conda's __cuda_arch, METADATA, its name and tags,
    /// lists of architectures that are compiled in or exported
    #[arg(long, help_heading = "Must hold what was declared")]
    pub(crate) declared: bool,
    /// Tell what packagers do without meaning it, too: no PTX for the newest architecture, gaps, nvcc's default alone
    #[arg(long, help_heading = "Rules")]
    pub(crate) lint: bool,
    /// The files must be for this host: x86_64, aarch64
    #[arg(long, value_name = "MACHINE")]
    pub(crate) host: Option<String>,
    /// Look at files that match only
    #[arg(long, value_name = "GLOB")]
    pub(crate) member: Vec<String>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// What an artefact without device code does
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) no_device_code: Option<NoDeviceCode>,
    /// The largest artefact: 500MB, 1.5GB, 300MiB, or bytes
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<String>,
    /// Findings of this rule fail; several with commas between them, as with --warn and --allow
    #[arg(long, value_name = "RULE", value_parser = values::RULES, help_heading = "Rules")]
    pub(crate) deny: Vec<String>,
    /// Findings of this rule are said and pass
    #[arg(long, value_name = "RULE", value_parser = values::RULES, hide_possible_values = true, help_heading = "Rules")]
    pub(crate) warn: Vec<String>,
    /// Findings of this rule are counted only
    #[arg(long, value_name = "RULE", value_parser = values::RULES, hide_possible_values = true, help_heading = "Rules")]
    pub(crate) allow: Vec<String>,
    /// Findings in this report of an earlier `check --format json` do not count
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub(crate) baseline: Option<String>,
    /// Configuration: fleets of GPUs, levels by file, ignores
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub(crate) config: Option<String>,
    #[command(flatten)]
    pub(crate) formats: Formats<CheckFormat>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VendoredArg {
    /// They must run where the package must, and need not hold what was declared (the default)
    Run,
    /// They are left out
    Ignore,
    /// The same as of all other files
    Check,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoDeviceCode {
    /// It fails (the default)
    Fail,
    /// It is said
    Warn,
    /// It is counted only
    Pass,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which document
    #[arg(value_enum, value_name = "NAME", default_value_t = crate::schema::Name::default())]
    pub(crate) name: crate::schema::Name,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code, the same in every format and as for `check`: 0 all of it runs on every target; 1 something does not, is damaged or was not read; 2 could not judge: a wrong argument, a broken configuration, nothing readable. 2 beats 1."
)]
pub(crate) struct FleetArgs {
    /// As for `list`; of an environment, as for `env`, each distribution is a row
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Targets by name: the fleets of a configuration of `check`, with what else it demands
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub(crate) config: Option<String>,
    /// GPUs, as for `check --require`; each with each --driver is a target
    #[arg(long, value_name = "GPU", help_heading = "Targets")]
    pub(crate) gpu: Vec<String>,
    /// A version of the driver for --gpu, or both ends of a range: 535.183.01, 535..580; may be given several times
    #[arg(long, value_name = "VERSION", help_heading = "Targets")]
    pub(crate) driver: Vec<String>,
    /// The same by the CUDA version of the driver: 12.4
    #[arg(long, value_name = "CUDA", help_heading = "Targets")]
    pub(crate) driver_cuda: Vec<String>,
    /// The GPUs and the driver that `fatscan device --record` noted on a machine; may be given several times
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub(crate) recording: Vec<PathBuf>,
    /// The GPUs of this machine
    #[arg(long, help_heading = "Targets")]
    pub(crate) device: bool,
    /// PTX that the driver compiles is enough: for all modules that load, or for at most PERCENT of them
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "100",
          value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "What passes")]
    pub(crate) allow_jit: Option<u8>,
    /// A file is enough of whose modules at least PERCENT load
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "1",
          value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "What passes")]
    pub(crate) allow_partial: Option<u8>,
    /// What is uncertain passes
    #[arg(long, help_heading = "What passes")]
    pub(crate) allow_unknown: bool,
    /// What an artefact without device code does; distributions of an environment pass
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "What passes")]
    pub(crate) no_device_code: Option<NoDeviceCode>,
    /// Findings in this report of an earlier `check --format json` do not count
    #[arg(long, value_name = "FILE", help_heading = "What passes")]
    pub(crate) baseline: Option<String>,
    #[command(flatten)]
    pub(crate) formats: Formats<FleetFormat>,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// A command; the program as a whole where none is named
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(crate) command: Option<String>,
    /// Write a page for the program and one for each command into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 at least one GPU that CUDA programs see; 2 none, or a recording that cannot be read."
)]
pub(crate) struct DeviceArgs {
    #[command(flatten)]
    pub(crate) formats: Formats<DeviceFormat>,
    /// Note everything that was found in a file, for `--recording` elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Show a recording instead of this machine
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub(crate) recording: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code: as for `list`.")]
pub(crate) struct KernelsArgs {
    /// As for `list`
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Every kernel with its code size for every architecture
    #[arg(long)]
    pub(crate) matrix: bool,
    /// Kernels that no image of this architecture holds, though another one does: sm_86, sm_90a, compute_90
    #[arg(long, value_name = "ARCH", conflicts_with = "missing_for", value_parser = values::CODE,
          hide_possible_values = true)]
    pub(crate) missing: Option<String>,
    /// Kernels that only images of this architecture hold: sm_90a, compute_90
    #[arg(long, value_name = "ARCH", conflicts_with_all = ["missing", "missing_for"], value_parser = values::CODE,
          hide_possible_values = true)]
    pub(crate) only: Option<String>,
    /// Kernels that this GPU would lack in what it loads, though an image for another one holds them: 8.9, "RTX 4090"
    #[arg(long, value_name = "GPU", value_parser = values::GPUS, hide_possible_values = true)]
    pub(crate) missing_for: Option<String>,
    /// Kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) filter: Option<String>,
    /// Registers, stack, shared, local and constant memory, as `cuobjdump -res-usage` prints them
    #[arg(long)]
    pub(crate) resources: bool,
    /// Names as in the file
    #[arg(long)]
    pub(crate) mangled: bool,
    #[command(flatten)]
    pub(crate) formats: Formats<TableFormat>,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code: as for `list`. Whether what is declared is true: `fatscan check --declared`.")]
pub(crate) struct VariantArgs {
    /// As for `list`
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The label of the variant; by default that of the file name
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) formats: Formats<VariantFormat>,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code: as for `list`; 1 also if an artefact exceeds --budget.")]
pub(crate) struct SizeArgs {
    /// As for `list`
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// What to list one by one
    #[arg(long, value_enum, default_value_t = SizeBy::Arch)]
    pub(crate) by: SizeBy,
    /// Rows of modules and kernels to list, the largest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// The largest artefact: 500MB, 1.5GB, 300MiB, or bytes
    #[arg(long, value_name = "SIZE")]
    pub(crate) budget: Option<String>,
    /// Say what `fatscan slim --for` would save for these GPUs
    #[arg(long = "for", value_name = "GPUS", value_parser = values::GPUS, hide_possible_values = true)]
    pub(crate) gpus: Vec<String>,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    #[command(flatten)]
    pub(crate) formats: Formats<TableFormat>,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizeBy {
    /// Each architecture, over all files
    Arch,
    /// Each file
    Member,
    /// Each fatbin
    Module,
    /// Each kernel
    Kernel,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 compared; 1 a side is damaged, with --exit-code something changed, or with --fail-on what it names was found; 2 a side cannot be read."
)]
pub(crate) struct DiffArgs {
    /// Wheel, library, directory, or a JSON report of `fatscan list`
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The same
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// Exit with 1 if something changed
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Exit with 1 if one of these was found, with commas between them: a file lost an architecture, lost a kernel, runs
    /// worse on some GPU, or the artefact grew by more than a share or a size
    #[arg(long, value_name = "WHAT", value_parser = values::FAIL_ON)]
    pub(crate) fail_on: Vec<String>,
    /// Name every kernel that came or went
    #[arg(long)]
    pub(crate) kernels: bool,
    #[command(flatten)]
    pub(crate) formats: Formats<TableFormat>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 all written; 1 something could not be, or what was read is damaged; 2 nothing matches, or a wrong argument."
)]
pub(crate) struct ExtractArgs {
    /// As for `list`
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The directory to write to; it is made where it does not exist
    #[arg(short, long, value_name = "DIR", required_unless_present = "stdout")]
    pub(crate) output: Option<PathBuf>,
    /// Write the one image that matches to standard output
    #[arg(long, conflicts_with = "output")]
    pub(crate) stdout: bool,
    /// Images of this architecture: sm_90a, compute_90, lto_90; several separated by commas
    #[arg(long, value_name = "ARCH", value_parser = values::CODE, hide_possible_values = true)]
    pub(crate) arch: Option<String>,
    /// Images of this kind
    #[arg(long, value_enum)]
    pub(crate) kind: Option<KindArg>,
    /// Images that define a kernel whose name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<String>,
    /// Images of this module, by its number in the file (from 0)
    #[arg(long, value_name = "N")]
    pub(crate) module: Option<usize>,
    /// Files in the archive that match
    #[arg(long, value_name = "GLOB")]
    pub(crate) member: Option<String>,
    /// Payloads as they are stored, not unpacked
    #[arg(long)]
    pub(crate) raw: bool,
    /// Write over files that exist; the index of an earlier run goes
    #[arg(long)]
    pub(crate) force: bool,
    /// Stop before more is written: 500MB, 1.5GB, 300MiB, or bytes; without it 64 times the size of the files given,
    /// and 1 GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What stays of each fatbin is what the GPUs pick, with any driver if none is given. What was written is read and judged again before it gets its name. Not tried on a GPU yet: see docs/SLIM.md.\n\nExit code: 0 written; 1 one of several, or a file of a directory that was to change, could not be; 2 nothing could be, or a wrong argument."
)]
pub(crate) struct SlimArgs {
    /// Wheels, zip archives, libraries of Linux and Windows, fatbins; directories and environments
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The directory to write to, where a wheel gets a build tag that says what it is for; or a file, of one PATH; a
    /// directory is copied to it
    #[arg(short = 'o', long, value_name = "OUT", required_unless_present_any = ["dry_run", "in_place"])]
    pub(crate) to: Option<PathBuf>,
    /// Change libraries, directories, environments where they are, with the lists of what is installed; wants --backup or
    /// --yes
    #[arg(long, conflicts_with_all = ["to", "force"])]
    pub(crate) in_place: bool,
    /// Keep files in this directory as they were before --in-place
    #[arg(long, value_name = "DIR", requires = "in_place")]
    pub(crate) backup: Option<PathBuf>,
    /// Change files in their places without a backup
    #[arg(long, requires = "in_place", conflicts_with = "backup")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) what: SlimWhat,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    /// Which PTX stays beside what these GPUs pick, or what is kept
    #[arg(long, value_enum, default_value_t = KeepPtxArg::Newest, conflicts_with = "drop")]
    pub(crate) keep_ptx: KeepPtxArg,
    /// Change fatbins too that the library finds by tables of its own
    #[arg(long)]
    pub(crate) include_unwrapped: bool,
    /// Change signed libraries of Windows too: their signature no longer holds
    #[arg(long)]
    pub(crate) allow_broken_signature: bool,
    /// Make holes on the disk of zeros in libraries, where the file system has them
    #[arg(long)]
    pub(crate) punch: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write over a file that exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) formats: Formats<SlimFormat>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What decides, one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SlimWhat {
    /// GPUs that it must still run on: `9.0`, sm_90, "RTX 4090"; several separated by commas
    #[arg(long = "for", value_name = "GPUS", value_parser = values::GPUS, hide_possible_values = true)]
    pub(crate) gpus: Vec<String>,
    /// The GPUs and drivers of a configuration, as for `fatscan fleet --config`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["driver", "driver_cuda"])]
    pub(crate) fleet: Option<String>,
    /// Code that stays, by its label and whoever picks it, in any spelling: "9.0a", `sm_90,compute_90`
    #[arg(long, value_name = "CODE", conflicts_with_all = ["driver", "driver_cuda"], value_parser = values::CODE,
          hide_possible_values = true)]
    pub(crate) keep: Option<String>,
    /// Code that goes, by its label; all else stays
    #[arg(long, value_name = "CODE", conflicts_with_all = ["driver", "driver_cuda"], value_parser = values::CODE,
          hide_possible_values = true)]
    pub(crate) drop: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepPtxArg {
    /// The newest of each module, for GPUs to come
    Newest,
    /// All
    All,
    /// None
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Machine code
    Sass,
    /// Portable code
    Ptx,
    /// Input of a link-time optimiser
    LtoIr,
    /// CUDA Tile IR
    TileIr,
}
