//! Prints the devices of this machine: what a person should know, then all of it as a recording.
//!
//! `cargo run -p device-probe --example probe`

use std::error::Error;
use std::io::{self, Write};

use device_probe::{Deadline, Recording, Sources, builds_for, probe_until, run_child_if_asked, toolkits};

fn main() -> Result<(), Box<dyn Error>> {
    // first of all: this program is its own child
    run_child_if_asked();
    let sources = Sources::system();
    // one for the devices and the toolkits
    let deadline = Deadline::after(sources.limit);
    let probe = probe_until(&sources, deadline);
    let mut out = io::stdout().lock();
    writeln!(out, "{}", probe.headline())?;
    for finding in &probe.findings {
        writeln!(out, "{}: {}", finding.level, finding.text)?;
        if let Some(advice) = &finding.advice {
            writeln!(out, "  {advice}")?;
        }
    }
    for toolkit in toolkits(&sources.toolkits, deadline) {
        let release = toolkit.release.as_deref().unwrap_or("of unknown version");
        writeln!(out, "toolkit {release} in {}", toolkit.root.display())?;
        for device in probe.devices() {
            if let Some(version) = toolkit.version {
                let build = builds_for(version, device.capability);
                let flags = build.flags.map(|flags| flags.nvcc).unwrap_or_default();
                writeln!(out, "  {}: {:?} {flags}", device.capability, build.kind)?;
            }
        }
    }
    write!(out, "{}", Recording::of(probe).to_json()?)?;
    Ok(())
}
