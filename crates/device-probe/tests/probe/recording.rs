//! Probes in files.

use std::fs;

use device_probe::{Recording, RecordingError, SCHEMA, load, record};
use gpu_arch::catalogue::Host;
use gpu_arch::rules::Device;

use crate::machine::{Machine, ROW0, ROW1, judged};

#[test]
fn a_recording_is_read_as_it_was_written() {
    let machine = Machine::without_compiler()
        .smi_rows(&[ROW0, ROW1])
        .pci_4090(Some("nvidia"))
        .variables(&[("CUDA_VISIBLE_DEVICES", "0")]);
    let probe = machine.probe();
    let file = machine.path("recording.json");
    record(probe.clone(), &file).unwrap();
    let recording = load(&file).unwrap();
    assert_eq!(recording.schema, SCHEMA);
    assert_eq!(recording.probe, probe);
    assert_eq!(recording.probe.devices(), probe.devices());
    assert!(recording.taken.starts_with("20") && recording.taken.ends_with('Z'), "{}", recording.taken);
    assert!(fs::read_to_string(&file).unwrap().ends_with("}\n"));
}

/// The machine is the one that was recorded, not the one that reads.
#[test]
fn devices_know_the_host_of_their_machine() {
    let machine = Machine::without_compiler().smi_rows(&[ROW0, ROW1]);
    let probe = machine.probe();
    let here = std::env::consts::ARCH;
    let hosts = |probe: &device_probe::Probe| probe.devices().iter().map(|device| device.host).collect::<Vec<_>>();
    assert_eq!(hosts(&probe), [here.parse::<Host>().ok(); 2]);
    let text = Recording::of(probe).to_json().unwrap();
    let told = format!("\"architecture\": \"{here}\"");
    assert_eq!(text.matches(&told).count(), 1, "{text}");
    let read = |text: &str| hosts(&Recording::from_json(text).unwrap().probe);
    for (other, expected) in
        [("aarch64", Some(Host::Aarch64)), ("x86_64", Some(Host::X86_64)), ("powerpc64", None), ("x86", None)]
    {
        assert_eq!(read(&text.replace(&told, &format!("\"architecture\": \"{other}\""))), [expected; 2], "{other}");
    }
    // a recording that does not tell it: what the capability implies, of a card nothing
    let silent = text.replace(&format!("{told},"), "");
    assert!(!silent.contains("\"architecture\""), "{silent}");
    assert_eq!(read(&silent), [None; 2]);
    let orin = silent.replace("\"capability\": \"8.9\"", "\"capability\": \"8.7\"");
    assert!(read(&orin).contains(&Some(Host::Aarch64)), "{orin}");
}

#[test]
fn a_device_of_before_hosts_is_read() {
    let old = r#"{"name":null,"capability":"9.0","platform":"discrete","driver":{"version":null,"cuda":null}}"#;
    let device: Device = serde_json::from_str(old).unwrap();
    assert_eq!(device, Device::of("9.0".parse().unwrap()));
    assert_eq!(serde_json::to_string(&device).unwrap(), old);
    let device = Device { host: Some(Host::Aarch64), ..device };
    let text = serde_json::to_string(&device).unwrap();
    assert!(text.contains(r#""host":"aarch64""#), "{text}");
    assert_eq!(serde_json::from_str::<Device>(&text).unwrap(), device);
}

#[test]
fn a_recording_with_every_kind_of_answer_is_read() {
    let Some(machine) = Machine::new() else { return };
    let machine = machine
        .cuda(&[("INIT", "803")])
        .nvml(&[("MIG", "2"), ("COUNT", "2"), ("LOST", "15")])
        .smi(&[("fails", "9 failed\n")])
        .file("etc/nv_tegra_release", "# R36 (release), REVISION: 4.4\n");
    let recording = Recording::of(machine.probe());
    assert_eq!(Recording::from_json(&recording.to_json().unwrap()).unwrap(), recording);
}

#[test]
fn a_newer_schema_is_refused_whatever_else_is_in_it() {
    let error = Recording::from_json(r#"{"schema": 2, "future": [1, 2]}"#).unwrap_err();
    assert!(matches!(error, RecordingError::NewerSchema { found: 2 }), "{error:?}");
    assert_eq!(error.to_string(), "recording of a newer version: its schema is 2, the newest that is known is 1");
}

#[test]
fn fields_and_findings_of_later_versions_are_read() {
    let machine = Machine::without_compiler().smi_rows(&[ROW0]);
    let text = Recording::of(machine.probe()).to_json().unwrap();
    let text = text.replacen("\"schema\"", "\"added\": {\"a\": 1},\n  \"schema\"", 1);
    let text = text.replace("cuda-library-missing", "something-later");
    let recording = Recording::from_json(&text).unwrap();
    assert_eq!(judged(&recording.probe), ["8.9"]);
    assert_eq!(recording.probe.findings[0].code, device_probe::FindingCode::Other);
}

#[test]
fn what_is_no_recording_is_refused_with_its_place() {
    for text in ["", "{", "[]", "{}", "{\"schema\": 1}", "{\"schema\": -1}", "{\"schema\": \"1\"}"] {
        let error = Recording::from_json(text).unwrap_err();
        assert!(matches!(error, RecordingError::Malformed(_)), "{text}: {error:?}");
        assert!(error.to_string().contains("line 1"), "{text}: {error}");
    }
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let machine = Machine::without_compiler();
    assert!(matches!(load(&machine.path("nowhere.json")), Err(RecordingError::Io(_))));
    let file = machine.path("no/such/folder/recording.json");
    assert!(matches!(record(machine.probe(), &file), Err(RecordingError::Io(_))));
}
