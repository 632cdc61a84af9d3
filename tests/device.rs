//! The commands that look at the GPUs of this machine, on a machine whose driver library is a fake.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a panic here is a failing test, and what is skipped is said"
)]

mod program;

use std::path::Path;
use std::process::Command;

use program::{Folder, Run, finish, module, program as command, run, wheel_of};

/// A folder with a wheel for sm_80, and a driver library for one RTX 4090; nothing, with a line that says why, where the
/// library cannot be made or a real one would answer beside it.
fn machine(defines: &[&str]) -> Option<Folder> {
    let compiles = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    let real = ["/proc/driver/nvidia", "/dev/nvidiactl", "/dev/dxg"].iter().any(|path| Path::new(path).exists());
    let why = match (cfg!(target_os = "linux"), compiles, real) {
        (false, ..) => "not on Linux",
        (_, false, _) => "no C compiler",
        (.., true) => "a real driver is here",
        _ => {
            let folder = wheel();
            let library = folder.file("libcuda.so.1");
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/device-probe/tests/fake/cuda.c");
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "-O0", "-w", "-o"]).arg(library).arg(source);
            let output = command.args(defines.iter().map(|define| format!("-D{define}"))).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            return Some(folder);
        }
    };
    println!("skipped: {why}");
    None
}

fn wheel() -> Folder {
    let folder = Folder::new();
    folder.write(WHEEL, wheel_of(&[module(&["80"])]));
    folder
}

fn on(folder: &Folder, arguments: &[&str]) -> Run {
    let mut command = command();
    command.current_dir(folder.path()).env("LD_LIBRARY_PATH", folder.path()).env("PATH", "/nowhere").args(arguments);
    command.env_remove("CUDA_VISIBLE_DEVICES").env_remove("CUDA_HOME").env_remove("CUDA_PATH");
    finish(command)
}

const WHEEL: &str = "a-1-py3-none-any.whl";
const VERDICT: &str = "  native on NVIDIA GeForce RTX 4090 of compute capability 8.9, a driver for CUDA 12.4\n";

#[test]
fn every_command_uses_the_gpu_of_the_machine() {
    // what a driver prints is nobody's output
    let Some(folder) = machine(&["PRINT"]) else { return };
    let device = on(&folder, &["device", "--record", "gpu.json"]).ending(0);
    assert!(device.out.contains("NVIDIA GeForce RTX 4090: compute capability 8.9"), "{}", device.out);
    let json = on(&folder, &["device", "--json"]).ending(0).json();
    assert_eq!(json["probe"]["devices"][0]["capability"], "8.9", "{json}");

    let explained = on(&folder, &["explain", WHEEL]).ending(0);
    assert!(explained.out.contains("native: it holds machine code for this GPU"), "{}", explained.out);
    let checked = on(&folder, &["check", "--device", WHEEL]).ending(0);
    assert!(checked.out.contains("passed"), "{}", checked.out);
    let listed = on(&folder, &["list", "--device", WHEEL]).ending(0);
    assert!(listed.out.ends_with(VERDICT), "{}", listed.out);
    assert!(
        on(&folder, &["list", "--driver", "450.80.02", WHEEL]).ending(0).out.contains("  driver too old on NVIDIA")
    );
    let json = on(&folder, &["list", "--device", "--format", "json", WHEEL]).ending(0).json();
    assert_eq!(json, on(&folder, &["explain", "--format", "json", WHEEL]).ending(0).json());

    // elsewhere, with the recording
    for command in ["list", "explain", "check"] {
        let [recording, wheel] = ["gpu.json", WHEEL].map(|name| folder.file(name).display().to_string());
        let recorded = run([command, "--recording", &recording, &wheel]);
        assert_eq!(recorded.code, Some(0), "{command}: {} {}", recorded.out, recorded.err);
    }
}

#[test]
fn a_listing_has_the_verdict_on_a_terminal_only() {
    let Some(folder) = machine(&["PRINT"]) else { return };
    let piped = on(&folder, &[WHEEL]).ending(0);
    assert!(!piped.out.contains("NVIDIA"), "{}", piped.out);
    let terminal = |folder: &Folder| {
        let mut command = Command::new("script");
        let call = format!("'{}' {WHEEL}", env!("CARGO_BIN_EXE_fatscan"));
        command.args(["-qec", &call, "/dev/null"]).current_dir(folder.path()).env("LD_LIBRARY_PATH", folder.path());
        command.env_remove("CUDA_VISIBLE_DEVICES").env("NO_COLOR", "1").env("COLUMNS", "100");
        finish(command)
    };
    if !Command::new("script").args(["-qec", "true", "/dev/null"]).output().is_ok_and(|output| output.status.success())
    {
        println!("skipped: no terminal can be made without `script`");
        return;
    }
    let shown = terminal(&folder);
    let out = shown.out.replace('\r', "");
    assert!(out.ends_with(VERDICT), "{out}");
    assert_eq!(out.strip_suffix(VERDICT), Some(&*piped.out), "all else is the same");

    // without a GPU nothing is said
    let Some(none) = machine(&["INIT=100"]) else { return };
    assert_eq!(terminal(&none).out.replace('\r', ""), piped.out);
}

#[test]
fn formats_without_room_for_a_verdict_refuse_it() {
    let folder = wheel();
    let path = &*folder.file(WHEEL).display().to_string();
    for format in ["csv", "ndjson", "markdown"] {
        let refused = run(["list", "--gpu", "8.0", "--format", format, path]).ending(2);
        assert!(refused.err.contains("verdicts for a GPU go with --format table and json"), "{}", refused.err);
    }
    let listed = run(["--gpu", "9.0,8.6", path]).ending(0);
    let lines: Vec<&str> = listed.out.lines().rev().take(2).collect();
    let [last, first] = lines[..] else { panic!("{}", listed.out) };
    assert!(last.starts_with("  native on a GPU of compute capability 8.6"), "{}", listed.out);
    assert!(first.starts_with("  not covered on a GPU of compute capability 9.0"), "{}", listed.out);
    assert!(first.ends_with("; `fatscan explain` says why"), "{}", listed.out);
    run(["list", "--gpu", "8.0", "--device", path]).ending(2);
    run(["list", "--gpu", "nonsense", path]).ending(2);
}
