//! The program `fatscan`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // the probe asks the driver in a child process, which is this program: a driver can hang or crash
    device_probe::run_child_if_asked();
    fatscan_cli::run(std::env::args_os())
}
