//! The text of `nvidia-smi`.

use std::io;
use std::process::Command;

use crate::deadline::Deadline;
use crate::process::{self, End};
use crate::sources::Sources;
use crate::way::{SeenDevice, Status, Way, WayOutcome};

/// What is asked of each device. The name comes last because it alone may hold a comma.
///
/// `compute_cap` came with R510; older programs refuse the whole question because of it.
const FIELDS: [&str; 8] =
    ["index", "uuid", "driver_version", "compute_cap", "pci.bus_id", "pci.device_id", "mig.mode.current", "name"];

/// Runs the first program of [`Sources::nvidia_smi`] that is here.
pub(crate) fn ask(sources: &Sources, deadline: Deadline) -> WayOutcome {
    for program in &sources.nvidia_smi {
        let mut fields = FIELDS.to_vec();
        // each round drops a field that the program does not know
        while !fields.is_empty() {
            let mut command = Command::new(program);
            command.arg(format!("--query-gpu={}", fields.join(","))).arg("--format=csv,noheader");
            sources.set_environment(&mut command);
            process::end_with_parent(&mut command);
            let ran = process::run(&mut command, deadline, |_| false);
            let text = String::from_utf8_lossy(&ran.output);
            let status = match ran.end {
                End::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => break,
                End::Exited(status) if status.success() || text.contains("No devices were found") => Status::Answered,
                End::Exited(status) => {
                    let before = fields.len();
                    fields.retain(|field| !text.contains(&format!("Field \"{field}\" is not a valid field")));
                    if fields.len() < before {
                        continue;
                    }
                    let said = text.lines().map(str::trim).find(|line| !line.is_empty());
                    Status::Unusable { text: said.map_or_else(|| process::how(status), str::to_owned) }
                }
                // it was asked before
                End::NoTimeLeft if fields.len() < FIELDS.len() => deadline.timed_out(),
                end => end.status(deadline),
            };
            let rows: Vec<Row> = match status {
                Status::Answered => text.lines().filter_map(|line| row(line, &fields)).collect(),
                _ => Vec::new(),
            };
            return WayOutcome {
                source: Some(program.display().to_string()),
                driver: rows.iter().find_map(|row| row.driver),
                devices: rows.into_iter().map(|row| row.device).collect(),
                ..WayOutcome::without_answer(Way::NvidiaSmi, status)
            };
        }
    }
    WayOutcome::without_answer(Way::NvidiaSmi, Status::Absent)
}

struct Row {
    driver: Option<gpu_arch::DriverVersion>,
    device: SeenDevice,
}

/// Reads a line; nothing if it has too few fields.
fn row(line: &str, fields: &[&str]) -> Option<Row> {
    let values: Vec<&str> = line.splitn(fields.len(), ',').map(str::trim).collect();
    if values.len() < fields.len() {
        return None;
    }
    let value = |name: &str| {
        let (_, value) = fields.iter().zip(&values).find(|(field, _)| **field == name)?;
        // `[N/A]`, `[Not Supported]`, `[Unknown Error]`
        (!value.is_empty() && !value.starts_with('[') && *value != "N/A").then_some(*value)
    };
    Some(Row {
        driver: value("driver_version").and_then(|text| text.parse().ok()),
        device: SeenDevice {
            index: value("index").and_then(|text| text.parse().ok()),
            name: value("name").map(str::to_owned),
            uuid: value("uuid").map(str::to_owned),
            capability: value("compute_cap").and_then(|text| text.parse().ok()),
            pci: value("pci.bus_id").and_then(|text| text.parse().ok()),
            pci_id: value("pci.device_id").and_then(pci_id),
            mig: value("mig.mode.current").and_then(|text| match text {
                "Enabled" => Some(true),
                "Disabled" => Some(false),
                _ => None,
            }),
            ..SeenDevice::default()
        },
    })
}

/// The device in `0x233010DE`, device and vendor.
fn pci_id(text: &str) -> Option<u16> {
    let both = u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
    u16::try_from(both >> 16).ok().filter(|_| both & 0xffff == 0x10de)
}
