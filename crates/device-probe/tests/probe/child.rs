//! The child process: its time, its end, and what it prints.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use device_probe::{FindingCode, Isolation, Status, Way};

use crate::machine::{Machine, codes, finding, judged, write_program};

/// Which library a test program started by a test is to probe.
const LIBRARY: &str = "DEVICE_PROBE_TEST_LIBRARY";
/// Which program, if any.
const NVIDIA_SMI: &str = "DEVICE_PROBE_TEST_NVIDIA_SMI";

fn pid_file(machine: &Machine) -> (PathBuf, String) {
    file_for(machine, "pid")
}

/// A file and its name in C.
pub(crate) fn file_for(machine: &Machine, name: &str) -> (PathBuf, String) {
    let file = machine.path(name);
    let define = format!("\"{}\"", file.display());
    (file, define)
}

/// The state of a process: nothing if there is none, `Z` for one that ended and was not reaped.
pub(crate) fn state(pid: &str) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The number in a file that is written once.
pub(crate) fn read_pid(file: &Path) -> String {
    let started = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(file)
            && text.ends_with('\n')
        {
            return text.trim().to_owned();
        }
        assert!(started.elapsed() < Duration::from_secs(20), "the child did not start");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for the end of a process. Who reaps an orphan is not up to us.
pub(crate) fn assert_ends(pid: &str) {
    let started = Instant::now();
    while !matches!(state(pid), None | Some('Z' | 'X')) {
        assert!(started.elapsed() < Duration::from_secs(10), "process {pid} goes on");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_driver_that_hangs_is_ended_in_time_and_reaped() {
    let Some(machine) = Machine::new() else { return };
    let (file, define) = pid_file(&machine);
    let machine = machine.cuda(&[("HANG", ""), ("PID_FILE", &define)]).limit(1500);
    let started = Instant::now();
    let probe = machine.probe();
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(1500) && took < Duration::from_secs(6), "{took:?}");
    assert_eq!(state(&read_pid(&file)), None, "neither running nor a zombie");
    let outcome = probe.way(Way::Cuda).unwrap();
    assert_eq!(outcome.status, Status::TimedOut { milliseconds: 1500 });
    assert_eq!(outcome.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"), "told before it hung");
    assert!(outcome.source.as_deref().is_some_and(|path| path.ends_with("libcuda.so.1")));
    assert_eq!(probe.headline(), "the driver API does not answer within 1500 ms");
}

#[test]
fn the_other_ways_answer_while_one_hangs() {
    let Some(machine) = Machine::new() else { return };
    let machine = machine.cuda(&[("HANG", "")]).nvml(&[]).smi(&[("hangs", "")]).limit(1500);
    let started = Instant::now();
    let probe = machine.probe();
    assert!(started.elapsed() < Duration::from_secs(6), "all are asked at the same time");
    assert_eq!(judged(&probe), ["8.9"]);
    let found = codes(&probe);
    assert!(found.contains(&FindingCode::CudaHung) && found.contains(&FindingCode::NvidiaSmiError), "{found:?}");
}

#[test]
fn nvml_hangs_beside_a_driver_that_works() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[]).nvml(&[("HANG", "")]).limit(1500).probe();
    assert_eq!(judged(&probe), ["8.9"]);
    assert_eq!(codes(&probe), [FindingCode::NvmlError]);
}

#[test]
fn a_driver_that_crashes_ends_only_its_child() {
    let Some(machine) = Machine::new() else { return };
    let (file, define) = pid_file(&machine);
    let machine = machine.cuda(&[("CRASH", ""), ("PID_FILE", &define)]).nvml(&[]);
    let probe = machine.probe();
    assert_eq!(probe.way(Way::Cuda).unwrap().status, Status::Crashed { text: "signal 11".to_owned() });
    assert_eq!(state(&read_pid(&file)), None);
    assert_eq!(judged(&probe), ["8.9"], "NVML has a child of its own");
    assert!(finding(&probe, FindingCode::CudaCrashed).text.ends_with("signal 11"));
}

#[test]
fn a_driver_that_prints_is_understood() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("PRINT", "")]).probe();
    assert_eq!(judged(&probe), ["8.9"]);
}

#[test]
fn a_child_that_answers_leaves_no_process() {
    let Some(machine) = Machine::new() else { return };
    let (file, define) = pid_file(&machine);
    let machine = machine.cuda(&[("PID_FILE", &define)]);
    machine.probe();
    assert_eq!(state(&read_pid(&file)), None);
}

/// A host program, when it is started by a test with a library to probe.
#[test]
fn host_program() {
    let Some(library) = std::env::var_os(LIBRARY) else { return };
    assert_eq!(Isolation::this_program(), Isolation::InProcess, "it has not said that it can be a child");
    device_probe::run_child_if_asked();
    assert!(matches!(Isolation::this_program(), Isolation::Child { .. }));
    let mut machine = Machine::without_compiler();
    machine.sources.cuda_libraries = vec![library.into()];
    machine.sources.nvidia_smi.extend(std::env::var_os(NVIDIA_SMI).map(PathBuf::from));
    let probe = machine.probe();
    assert_eq!(probe.devices.len(), 1);
}

fn host(library: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::host_program", "--nocapture"]).env(LIBRARY, library);
    command
}

#[test]
fn nothing_that_the_driver_prints_gets_into_the_output() {
    let Some(machine) = Machine::new() else { return };
    let machine = machine.cuda(&[("PRINT", "")]);
    let output = host(&machine.sources.cuda_libraries[0]).output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&both);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    assert!(!text.contains("the driver prints") && !text.contains("device-probe"), "{text}");
}

#[test]
fn a_child_and_its_group_end_when_its_parent_is_killed() {
    let Some(machine) = Machine::new() else { return };
    let (file, define) = pid_file(&machine);
    let (forked, define_forked) = file_for(&machine, "forked");
    let machine = machine.cuda(&[("HANG", ""), ("PID_FILE", &define), ("FORK_FILE", &define_forked)]);
    let mut host =
        host(&machine.sources.cuda_libraries[0]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = read_pid(&file);
    assert!(state(&pid).is_some(), "it hangs");
    host.kill().unwrap();
    host.wait().unwrap();
    assert_ends(&pid);
    assert_ends(&read_pid(&forked));
}

#[test]
fn nvidia_smi_ends_when_the_process_that_asked_it_is_killed() {
    if !cfg!(target_os = "linux") {
        println!("skipped: not on Linux");
        return;
    }
    let machine = Machine::without_compiler().smi(&[]);
    let file = machine.path("pid");
    write_program(&machine.sources.nvidia_smi[0], &format!("echo $$ > {}; exec sleep 600", file.display()));
    let mut command = host(Path::new("/there/is/none"));
    command.env(NVIDIA_SMI, &machine.sources.nvidia_smi[0]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut host = command.spawn().unwrap();
    let pid = read_pid(&file);
    host.kill().unwrap();
    host.wait().unwrap();
    assert_ends(&pid);
}

#[test]
fn a_program_that_is_no_child_is_not_believed() {
    let mut machine = Machine::without_compiler();
    let library = machine.path("libcuda.so.1");
    machine.sources.cuda_libraries = vec![library];
    for (program, crashes) in [("/bin/false", true), ("/bin/echo", true), ("/there/is/none", false)] {
        machine.sources.isolation = Isolation::Child { program: program.into(), arguments: Vec::new() };
        let status = device_probe::ask(Way::Cuda, &machine.sources).status;
        assert_eq!(matches!(status, Status::Crashed { .. }), crashes, "{program}: {status:?}");
        assert_eq!(matches!(status, Status::Unusable { .. }), !crashes, "{program}: {status:?}");
    }
}

#[test]
fn in_this_process_it_works_too() {
    let Some(machine) = Machine::new() else { return };
    let mut machine = machine.cuda(&[("COUNT", "2")]).nvml(&[("COUNT", "2")]);
    machine.sources.isolation = Isolation::InProcess;
    assert_eq!(judged(&machine.probe()), ["8.9", "9.0"]);
}

#[test]
fn in_this_process_a_time_limit_holds_too() {
    let Some(machine) = Machine::new() else { return };
    let mut machine = machine.cuda(&[("HANG", "")]).limit(300);
    machine.sources.isolation = Isolation::InProcess;
    let outcome = device_probe::ask(Way::Cuda, &machine.sources);
    assert_eq!(outcome.status, Status::TimedOut { milliseconds: 300 });
    assert_eq!(outcome.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"));
}

#[test]
fn no_context_is_made() {
    // by the names of all functions that are asked for
    let mut text = String::new();
    for file in ["cuda.rs", "nvml.rs", "load.rs", "mod.rs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/libraries").join(file);
        fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
    }
    assert!(text.contains("\"cuInit\""));
    for word in ["cuCtx", "cuDevicePrimaryCtx", "cuMem", "cuModule", "cuStream"] {
        assert!(!text.contains(&format!("\"{word}")), "{word}");
    }
}
