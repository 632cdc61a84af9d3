//! Drivers and programs that print for ever, start others or never answer: one deadline, little memory, nothing left.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use device_probe::{Deadline, FindingCode, Isolation, Status, ToolkitSources, Way, ask, probe_until, toolkits};

use crate::child::{assert_ends, file_for, read_pid, state};
use crate::machine::{Machine, ROW0, codes, finding, judged, write_program};
use crate::toolkits::nvcc;

const MIB: u64 = 1 << 20;
/// What a slow machine may take beyond a limit.
const SLACK: Duration = Duration::from_secs(4);

/// A machine whose `nvidia-smi` is a script, and a file for a number that the script writes: `FILE` in it.
fn smi(script: &str) -> (Machine, PathBuf) {
    let machine = Machine::without_compiler().smi(&[]);
    let file = machine.path("pid");
    write_program(&machine.sources.nvidia_smi[0], &script.replace("FILE", &file.display().to_string()));
    (machine, file)
}

/// The status of a way, and how long it took.
fn timed(way: Way, machine: &Machine) -> (Status, Duration) {
    let started = Instant::now();
    let status = ask(way, &machine.sources).status;
    (status, started.elapsed())
}

/// The most memory that this process has had, in KiB.
fn peak_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
fn a_driver_that_prints_for_ever_is_ended_with_what_it_told_before() {
    for (stream, bytes, text) in [("1", MIB, "1 MiB"), ("2", MIB / 16, "64 KiB")] {
        let Some(machine) = Machine::new() else { return };
        let (file, define) = file_for(&machine, "pid");
        let machine = machine.cuda(&[("FLOOD", stream), ("PID_FILE", &define)]);
        let started = Instant::now();
        let probe = machine.probe();
        assert!(started.elapsed() < machine.sources.limit, "not the time ended it");
        let outcome = probe.way(Way::Cuda).unwrap();
        assert_eq!(outcome.status, Status::TooMuchOutput { bytes });
        assert_eq!(outcome.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"));
        assert_eq!(state(&read_pid(&file)), None);
        let found = finding(&probe, FindingCode::CudaOutput);
        assert_eq!(found.text, format!("the driver API printed more than {text}, and was ended"));
    }
}

#[test]
fn a_program_that_prints_for_ever_takes_no_memory() {
    let mut machine = Machine::without_compiler();
    // lines, and one line without an end
    let endless_line = "cat /dev/zero";
    for (program, arguments) in [("yes", vec![]), ("sh", vec!["-c", endless_line])] {
        machine.sources.isolation =
            Isolation::Child { program: program.into(), arguments: arguments.into_iter().map(Into::into).collect() };
        let (status, took) = timed(Way::Cuda, &machine);
        assert_eq!(status, Status::TooMuchOutput { bytes: MIB }, "{program}");
        assert!(took < SLACK, "{took:?}");
    }
    match peak_memory() {
        Some(peak) => assert!(peak < 500 << 10, "{peak} KiB"),
        None => println!("skipped: no /proc/self/status"),
    }
}

#[test]
fn output_up_to_the_limits_is_read() {
    // 60 KiB of errors and almost 1 MiB of text
    let script = format!(
        "head -c 61440 /dev/zero >&2; head -c 1040000 /dev/zero; echo; echo '{}'",
        "0, GPU-1, 550.54.14, 8.9, 00000000:41:00.0, 0x268410DE, [N/A], NVIDIA GeForce RTX 4090"
    );
    let (machine, _) = smi(&script);
    assert_eq!(judged(&machine.probe()), ["8.9"]);
    for (script, bytes) in [("head -c 70000 /dev/zero >&2", MIB / 16), ("head -c 1048577 /dev/zero", MIB)] {
        let (machine, _) = smi(script);
        assert_eq!(ask(Way::NvidiaSmi, &machine.sources).status, Status::TooMuchOutput { bytes }, "{script}");
    }
    let (machine, _) = smi("head -c 1048576 /dev/zero");
    assert_eq!(ask(Way::NvidiaSmi, &machine.sources).status, Status::Answered);
}

#[test]
fn nvidia_smi_that_prints_for_ever_is_told() {
    let (machine, _) = smi("exec yes");
    let probe = machine.probe();
    assert_eq!(finding(&probe, FindingCode::NvidiaSmiError).text, "nvidia-smi printed more than 1 MiB");
}

#[test]
fn what_a_driver_forks_ends_with_it() {
    for hangs in [false, true] {
        let Some(machine) = Machine::new() else { return };
        let (file, define) = file_for(&machine, "forked");
        let mut defines = vec![("FORK_FILE", define.as_str())];
        defines.extend(hangs.then_some(("HANG", "")));
        let machine = machine.cuda(&defines);
        let machine = if hangs { machine.limit(1000) } else { machine };
        let (status, took) = timed(Way::Cuda, &machine);
        let expected = if hangs { Status::TimedOut { milliseconds: 1000 } } else { Status::Answered };
        assert_eq!(status, expected);
        assert!(took < Duration::from_secs(1) + SLACK, "{took:?}");
        assert_ends(&read_pid(&file));
    }
}

#[test]
fn what_a_program_starts_ends_with_it() {
    // ends by itself, and leaves one that holds its output
    let (machine, file) = smi("sleep 1000 & echo $! > FILE; echo 'No devices were found'");
    let (status, took) = timed(Way::NvidiaSmi, &machine);
    assert_eq!(status, Status::Answered);
    assert!(took < SLACK, "{took:?}");
    assert_ends(&read_pid(&file));
    // never ends, nor does the other
    let (machine, file) = smi("sleep 1000 & echo $! > FILE; sleep 1000");
    let machine = machine.limit(500);
    let (status, took) = timed(Way::NvidiaSmi, &machine);
    assert_eq!(status, Status::TimedOut { milliseconds: 500 });
    assert!(took >= Duration::from_millis(500) && took < Duration::from_millis(500) + SLACK, "{took:?}");
    assert_ends(&read_pid(&file));
}

#[test]
fn who_leaves_the_group_keeps_nobody_waiting() {
    if !Command::new("setsid").arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: no setsid");
        return;
    }
    let (machine, file) = smi("setsid sh -c 'echo $$ > FILE; exec sleep 1000' & \
         while ! [ -s FILE ]; do sleep 0.01; done; echo 'No devices were found'");
    let (status, took) = timed(Way::NvidiaSmi, &machine);
    let pid = read_pid(&file);
    assert!(matches!(state(&pid), Some('S' | 'R' | 'D')), "it has a group of its own");
    Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    assert_eq!(status, Status::Answered);
    assert!(took < SLACK, "{took:?}");
}

#[test]
fn an_old_nvidia_smi_has_one_deadline_for_all_its_rounds() {
    // each round takes a while and refuses one more field
    let (machine, _) = smi("sleep 0.3\n\
         for field in name mig.mode.current pci.device_id pci.bus_id compute_cap driver_version uuid index; do\n\
         case ,${1#*=}, in *,$field,*) echo \"Field \\\"$field\\\" is not a valid field to query.\"; exit 2 ;; esac\n\
         done");
    let machine = machine.limit(700);
    let (status, took) = timed(Way::NvidiaSmi, &machine);
    assert_eq!(status, Status::TimedOut { milliseconds: 700 });
    assert!(took < Duration::from_millis(1600), "eight rounds take 2.4 s: {took:?}");
}

#[test]
fn all_ways_and_toolkits_share_one_deadline() {
    let Some(machine) = Machine::new() else { return };
    let machine = machine
        .cuda(&[("HANG", ""), ("COUNT", "2")])
        .nvml(&[("HANG", "")])
        .smi(&[("hangs", "")])
        .pci_4090(None)
        .variables(&[("CUDA_VISIBLE_DEVICES", "0")]);
    let roots = [machine.path("cuda-1"), machine.path("cuda-2")];
    for root in &roots {
        nvcc(root, "exec sleep 600");
    }
    fs::write(roots[1].join("version.txt"), "CUDA Version 10.2.89\n").unwrap();
    let limit = Duration::from_millis(1000);
    let milliseconds = 1000;
    let started = Instant::now();
    let deadline = Deadline::after(limit);
    let probe = probe_until(&machine.sources, deadline);
    let found = toolkits(&ToolkitSources { folders: roots.to_vec(), ..Default::default() }, deadline);
    let took = started.elapsed();
    assert!(took >= limit && took < limit + SLACK, "{took:?}");
    for way in [Way::Cuda, Way::CudaUnfiltered, Way::Nvml, Way::NvidiaSmi] {
        assert_eq!(probe.way(way).unwrap().status, Status::TimedOut { milliseconds }, "{way}");
    }
    assert_eq!(probe.way(Way::Pci).unwrap().status, Status::Answered);
    assert_eq!(judged(&probe), ["8.9"], "by the PCI bus");
    let statuses: Vec<&Status> = found.iter().map(|toolkit| &toolkit.status).collect();
    assert_eq!(statuses, [&Status::NoTimeLeft { milliseconds }; 2]);
    assert_eq!(found[0].problem.as_deref(), Some("nvcc was not asked: the time was up"));
    assert_eq!(found[1].release.as_deref(), Some("10.2.89"), "by a file");
}

#[test]
fn toolkits_share_one_deadline() {
    let folder = Machine::without_compiler();
    let roots = [folder.path("cuda-1"), folder.path("cuda-2"), folder.path("cuda-3")];
    for (root, script) in roots.iter().zip(["echo 'release 12.4, V12.4.131'", "exec sleep 600", "exec sleep 600"]) {
        nvcc(root, script);
    }
    let sources = ToolkitSources { folders: roots.to_vec(), ..Default::default() };
    let started = Instant::now();
    let found = toolkits(&sources, Duration::from_millis(1000));
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1) + SLACK, "{took:?}");
    let statuses: Vec<&Status> = found.iter().map(|toolkit| &toolkit.status).collect();
    let milliseconds = 1000;
    let expected = [Status::Answered, Status::TimedOut { milliseconds }, Status::NoTimeLeft { milliseconds }];
    assert_eq!(statuses, expected.iter().collect::<Vec<_>>());
}

#[test]
fn without_time_nothing_is_asked_and_all_of_it_is_told() {
    let machine = Machine::without_compiler().smi_rows(&[ROW0]).pci_4090(None);
    let probe = probe_until(&machine.sources, Deadline::after(Duration::ZERO));
    assert_eq!(probe.ways.len(), 6, "all but the one without CUDA_VISIBLE_DEVICES");
    for outcome in &probe.ways {
        assert_eq!(outcome.status, Status::NoTimeLeft { milliseconds: 0 }, "{}", outcome.way);
    }
    let mut found = codes(&probe);
    found.sort();
    assert_eq!(found, [FindingCode::CudaNotAsked, FindingCode::NvmlError, FindingCode::NvidiaSmiError]);
    assert_eq!(probe.headline(), "the driver API was not asked: the 0 ms were up");
}

#[test]
fn in_this_process_all_libraries_share_one_deadline() {
    let Some(machine) = Machine::new() else { return };
    let mut machine = machine.cuda(&[("HANG", "")]).nvml(&[("HANG", "")]).limit(400);
    machine.sources.isolation = Isolation::InProcess;
    let started = Instant::now();
    let probe = machine.probe();
    assert!(started.elapsed() < Duration::from_millis(400) + SLACK);
    for way in [Way::Cuda, Way::Nvml] {
        assert_eq!(probe.way(way).unwrap().status, Status::TimedOut { milliseconds: 400 }, "{way}");
    }
}
