//! Comma-separated values (RFC 4180), a line for each kind of code in an artefact or member, or for each image.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fatscan::Report;
use fatscan::json::{Code, Module};

use crate::args::By;
use crate::escape;

pub(crate) fn write(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    match by {
        By::Module => by_module(out, report),
        By::Member | By::Artefact => by_code(out, report, by),
    }
}

fn by_code(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    line(
        out,
        &[
            "artefact",
            "member",
            "format",
            "machine",
            "kind",
            "arch",
            "isa",
            "source",
            "linkage",
            "count",
            "stored_bytes",
            "unpacked_bytes",
            "compression",
        ],
    )?;
    for artefact in &report.artefacts {
        if by == By::Artefact {
            let modules: Vec<_> = artefact.members.iter().flat_map(|member| member.modules.iter().cloned()).collect();
            rows(out, [&artefact.path, "", artefact.kind.name(), ""], &Code::rows(&modules))?;
            continue;
        }
        for member in &artefact.members {
            let place = [&artefact.path, &member.path, member.format, member.machine.unwrap_or_default()];
            rows(out, place, &Code::rows(&member.modules))?;
        }
    }
    Ok(())
}

fn rows(out: &mut impl Write, place: [&str; 4], codes: &[Code]) -> io::Result<()> {
    let [artefact, member, format, machine] = place;
    for code in codes {
        line(
            out,
            &[
                artefact,
                member,
                format,
                machine,
                &code.kind,
                code.arch.as_deref().unwrap_or_default(),
                code.isa.as_deref().unwrap_or_default(),
                &code.source,
                &code.linkage,
                &code.count.to_string(),
                &code.stored_bytes.to_string(),
                &code.unpacked_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
                &compression(&code.compression),
            ],
        )?;
    }
    Ok(())
}

fn compression(counts: &BTreeMap<String, u64>) -> String {
    counts.iter().map(|(name, count)| format!("{name}:{count}")).collect::<Vec<_>>().join(" ")
}

fn by_module(out: &mut impl Write, report: &Report) -> io::Result<()> {
    line(
        out,
        &[
            "artefact",
            "place",
            "image",
            "section",
            "source",
            "wrapped",
            "kind",
            "arch",
            "isa",
            "linkage",
            "flags",
            "compression",
            "stored_bytes",
            "unpacked_bytes",
            "debug",
            "identifier",
            "options",
        ],
    )?;
    for artefact in &report.artefacts {
        for member in &artefact.members {
            for module in &member.modules {
                let module = Module::new(member, module);
                for (index, image) in module.images.iter().enumerate() {
                    line(
                        out,
                        &[
                            &artefact.path,
                            &module.place,
                            &index.to_string(),
                            module.section.as_deref().unwrap_or_default(),
                            &module.source,
                            module.wrapped.map(|wrapped| if wrapped { "true" } else { "false" }).unwrap_or_default(),
                            &image.kind,
                            image.arch.as_deref().unwrap_or_default(),
                            image.isa.as_deref().unwrap_or_default(),
                            &image.linkage,
                            &format!("{:#x}", image.flags),
                            &image.compression,
                            &image.stored_bytes.to_string(),
                            &image.unpacked_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
                            if image.debug { "true" } else { "false" },
                            image.identifier.as_deref().unwrap_or_default(),
                            image.options.as_deref().unwrap_or_default(),
                        ],
                    )?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn line(out: &mut impl Write, all: &[&str]) -> io::Result<()> {
    fields(out, all)?;
    out.write_all(b"\r\n")
}

/// Fields without the end of the line.
pub(super) fn fields(out: &mut impl Write, fields: &[&str]) -> io::Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(escape::csv(field).as_bytes())?;
    }
    Ok(())
}
