//! `fatscan device`, and the live or recorded devices of the other commands.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use device_probe::{
    Deadline, Level, Probe, Recording, Sources, Visibility, builds_for, load, probe, probe_until, record, toolkits,
};
use gpu_arch::rules::Device;

use crate::args::{DeviceArgs, DeviceFormat, DriverArgs, TargetArgs};
use crate::failure::{CANNOT, Failure};
use crate::terminal::{bytes, width, wrap};
use crate::{escape, target};

const BOLD: Style = Style::new().bold();
/// How long the end of a listing waits for a driver that nobody asked for.
const IN_PASSING: Duration = Duration::from_secs(3);

pub(crate) fn run(args: &DeviceArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let outputs = args.formats.open(args.recording.as_slice())?;
    let sources = Sources::system();
    let deadline = Deadline::after(sources.limit);
    let probe = match &args.recording {
        Some(path) => read(path)?,
        None => probe_until(&sources, deadline),
    };
    let none = probe.devices().is_empty();
    if let Some(path) = &args.record {
        record(probe.clone(), path).map_err(|error| Failure::new(format!("--record `{}`: {error}", path.display())))?;
    }
    outputs.write(|format, out| match format {
        DeviceFormat::Json => {
            let text = Recording::of(probe.clone()).to_json().map_err(|error| Failure::new(error.to_string()))?;
            Ok(out.write_all(escape::json(&text).as_bytes())?)
        }
        DeviceFormat::Text => {
            show(out, &probe)?;
            if args.recording.is_none() { show_toolkits(out, &probe, &sources, deadline) } else { Ok::<_, Failure>(()) }
        }
    })?;
    Ok(if none { ExitCode::from(CANNOT) } else { ExitCode::SUCCESS })
}

/// The devices that are named, or those of this machine.
pub(crate) fn named(target: &TargetArgs) -> Result<Vec<Device>, Failure> {
    if target.gpu.is_empty() {
        devices(target.recording.as_deref(), &target.driver)
    } else {
        target::devices("--gpu", &target.gpu, &target.driver)
    }
}

/// The devices of this machine for who did not ask: none where the driver takes its time, and no word about it.
pub(crate) fn in_passing() -> Vec<Device> {
    let mut sources = Sources::system();
    sources.limit = IN_PASSING;
    let mut devices = probe(&sources).devices();
    devices.dedup();
    devices
}

/// The devices of a recording, or of this machine; the driver that was typed stands above the one that was found.
pub(crate) fn devices(recording: Option<&Path>, driver: &DriverArgs) -> Result<Vec<Device>, Failure> {
    let probe = match recording {
        Some(path) => read(path)?,
        None => probe(&Sources::system()),
    };
    let typed = target::read_drivers(driver)?;
    let mut devices = probe.devices();
    if devices.is_empty() {
        return Err(Failure::with_hint(
            probe.headline(),
            "name a GPU instead: --gpu 8.9 or --gpu \"RTX 4090\" (check: --require)",
        ));
    }
    if typed.iter().any(|driver| !driver.is_unknown()) {
        let each = |device: Device| typed.iter().map(move |driver| device.clone().with_driver(*driver));
        devices = devices.into_iter().flat_map(each).collect();
    }
    devices.dedup();
    Ok(devices)
}

fn read(path: &Path) -> Result<Probe, Failure> {
    load(path)
        .map(|recording| recording.probe)
        .map_err(|error| Failure::new(format!("--recording `{}`: {error}", path.display())))
}

fn show(out: &mut impl Write, probe: &Probe) -> Result<(), Failure> {
    let width = width();
    let headline = probe.headline();
    let words: Vec<&str> = headline.split(' ').collect();
    writeln!(out, "{BOLD}{}{BOLD:#}", wrap(&words, 0, 0, width))?;
    for device in &probe.devices {
        let seen = match device.visible {
            Visibility::Visible => "",
            Visibility::Hidden => ", hidden from CUDA programs",
            Visibility::Unknown => ", not known whether CUDA programs see it",
        };
        let mut parts = vec![match device.capability {
            Some(capability) => format!("compute capability {capability}"),
            None => "compute capability not known".to_owned(),
        }];
        parts.extend(device.memory.map(bytes));
        parts.extend(device.pci.map(|pci| format!("at {pci}")));
        parts.extend(device.mig.filter(|mig| *mig).map(|_| format!("split by MIG into {}", device.instances.len())));
        let text = format!("{}: {}{seen}", device.label(), parts.join(", "));
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "  {}", wrap(&words, 4, 2, width))?;
    }
    for finding in &probe.findings {
        let (word, style) = match finding.level {
            Level::Error => ("error", AnsiColor::Red.on_default().bold()),
            Level::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
            Level::Note => ("note", BOLD),
        };
        // with no GPU the first error is the headline
        if finding.text != headline {
            let words: Vec<&str> = finding.text.split(' ').collect();
            writeln!(out, "{style}{word}{style:#}: {}", wrap(&words, 2, word.len().saturating_add(2), width))?;
        }
        if let Some(advice) = &finding.advice {
            let words: Vec<&str> = advice.split(' ').collect();
            writeln!(out, "  {}", wrap(&words, 2, 2, width))?;
        }
    }
    if probe.devices().is_empty() {
        writeln!(out, "  fatscan needs no GPU: --gpu 8.9 or --gpu \"RTX 4090\" names one, check takes --require 8.9")?;
    }
    Ok(())
}

fn show_toolkits(out: &mut impl Write, probe: &Probe, sources: &Sources, deadline: Deadline) -> Result<(), Failure> {
    for toolkit in toolkits(&sources.toolkits, deadline) {
        let release = toolkit.release.as_deref().map_or("of unknown version".into(), escape::text);
        writeln!(out, "{BOLD}CUDA toolkit {release}{BOLD:#} in {}", escape::text(&toolkit.root.display().to_string()))?;
        if let Some(problem) = &toolkit.problem {
            writeln!(out, "  {}", escape::text(problem))?;
        }
        let Some(version) = toolkit.version else { continue };
        for device in probe.devices() {
            let build = builds_for(version, device.capability);
            let what = match build.flags {
                Some(flags) => flags.nvcc,
                None => format!("builds nothing that runs there: needs CUDA {}", needs(&build)),
            };
            writeln!(out, "  for {}: {what}", device.capability)?;
        }
    }
    Ok(())
}

fn needs(build: &device_probe::Build) -> String {
    match (build.first_toolkit, build.last_toolkit) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        (Some(first), None) => format!("{first} or newer"),
        _ => "of another version".to_owned(),
    }
}
