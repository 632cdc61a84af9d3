//! Tables for issues and pull requests.

use std::io::{self, Write};

use fatscan::{Artefact, Coverage, Member, Report, Source};

use super::words;
use crate::args::By;
use crate::escape;
use crate::terminal::bytes;

pub(crate) fn write(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    for artefact in &report.artefacts {
        writeln!(out, "### {}\n", escape::markdown(&artefact.path))?;
        if artefact.members.is_empty() {
            writeln!(out, "No device code.\n")?;
            continue;
        }
        writeln!(out, "| file | SASS | PTX | other | modules | images | stored |")?;
        writeln!(out, "|---|---|---|---|---:|---:|---:|")?;
        match by {
            By::Artefact => whole(out, artefact)?,
            By::Member | By::Module => {
                for member in &artefact.members {
                    row(out, &member.path, member, by == By::Module)?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn whole(out: &mut impl Write, artefact: &Artefact) -> io::Result<()> {
    let Some(first) = artefact.members.first() else { return Ok(()) };
    let modules = artefact.members.iter().flat_map(|member| member.modules.iter().cloned()).collect();
    let mut all = first.clone();
    all.modules = modules;
    row(out, &format!("{} files", artefact.members.len()), &all, false)
}

fn row(out: &mut impl Write, name: &str, member: &Member, modules: bool) -> io::Result<()> {
    line(out, name, member)?;
    if modules {
        // the member without its modules: one with all for each module would be quadratic
        let mut head = Member::clone_without_modules(member);
        head.path.clear();
        for module in &member.modules {
            let mut one = head.clone();
            one.modules.push(module.clone());
            let section = module.section.as_deref().unwrap_or_default();
            line(out, &format!("{section}@{:#x}", module.offset), &one)?;
        }
    }
    Ok(())
}

fn line(out: &mut impl Write, name: &str, member: &Member) -> io::Result<()> {
    let coverage = Coverage::of(member, false);
    let linked = Coverage::of(member, true);
    let mut cells: Vec<String> = vec![escape::markdown(name)];
    let mut other = Vec::new();
    for kind in words::KINDS {
        let mut text = words::archs(kind, &coverage.everywhere(kind)).join(" ");
        let some = coverage.somewhere(kind);
        if !some.is_empty() {
            let gap = if text.is_empty() { "" } else { "; " };
            text = format!("{text}{gap}in some modules: {}", words::counted(kind, &some).join(" "));
        }
        match kind {
            fatscan::CodeKind::Sass | fatscan::CodeKind::Ptx => cells.push(text),
            _ if !text.is_empty() => other.push(text),
            _ => {}
        }
    }
    if linked.modules() > 0 {
        let names: Vec<String> =
            linked.images.keys().map(|(kind, arch)| format!("{}_{arch}", words::prefix(*kind))).collect();
        other.push(format!("relocatable: {}", names.join(" ")));
    }
    let unmapped = Coverage::unmapped(member);
    if unmapped.modules() > 0 {
        let names: Vec<String> =
            unmapped.images.keys().map(|(kind, arch)| format!("{}_{arch}", words::prefix(*kind))).collect();
        other.push(format!("not loaded: {}", names.join(" ")));
    }
    if coverage.general > 0 && !coverage.specialised.is_empty() {
        other.push(format!("specialised modules: {}", words::specialised(&coverage).join(", ")));
    }
    let own = || member.modules.iter().filter(|module| module.source != Source::OffloadBundle);
    let images = || own().flat_map(|module| &module.images);
    let stored = images().map(|image| image.stored_bytes).fold(0, u64::saturating_add);
    cells.push(other.join("; "));
    cells.push(own().count().to_string());
    cells.push(images().count().to_string());
    cells.push(bytes(stored));
    writeln!(out, "| {} |", cells.join(" | "))
}
