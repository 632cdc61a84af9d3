//! Tables for issues and pull requests.

use std::io::{self, Write};

use fatscan::{Coverage, Member, Report, Source};

use super::notes::{self, Labels};
use super::words;
use crate::args::By;
use crate::escape;
use crate::terminal::{bytes, count};

pub(crate) fn write(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    let labels = Labels::of(report);
    for artefact in &report.artefacts {
        writeln!(out, "### {}\n", escape::markdown(&artefact.path))?;
        if artefact.members.is_empty() {
            writeln!(out, "No device code.\n")?;
            continue;
        }
        writeln!(out, "| file | SASS | PTX | other | modules | images | stored |")?;
        writeln!(out, "|---|---|---|---|---:|---:|---:|")?;
        match by {
            By::Artefact => {
                let name = count(artefact.members.len(), "file", "files");
                line(out, &name, &artefact.members, &labels.refuted(&artefact.members).marks)?;
            }
            By::Member => {
                for member in &artefact.members {
                    let own = std::slice::from_ref(member);
                    line(out, &member.path, own, &labels.refuted(own).marks)?;
                }
            }
            By::Module => {
                for member in &artefact.members {
                    modules(out, member, &labels)?;
                }
            }
        }
        writeln!(out)?;
        let sentences = labels.refuted(&artefact.members).sentences();
        for sentence in &sentences {
            writeln!(out, "{}\n", escape::markdown(&format!("* {sentence}")))?;
        }
    }
    for few in [notes::damaged(report), notes::unread(report)].into_iter().flatten() {
        writeln!(out, "{}:\n", few.heading)?;
        for (file, message) in &few.files {
            writeln!(out, "- {}", escape::markdown(&format!("{file}: {message}")))?;
        }
        if let Some(rest) = few.rest {
            writeln!(out, "- {rest}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn modules(out: &mut impl Write, member: &Member, labels: &Labels<'_>) -> io::Result<()> {
    line(out, &member.path, std::slice::from_ref(member), &labels.refuted([member]).marks)?;
    // the member without its modules: one with all for each module would be quadratic
    let mut head = Member::clone_without_modules(member);
    head.path.clear();
    for module in &member.modules {
        let mut one = head.clone();
        one.modules.push(module.clone());
        let section = module.section.as_deref().unwrap_or_default();
        line(out, &format!("{section}@{:#x}", module.offset), &[one], &labels.marks(member, module))?;
    }
    Ok(())
}

/// A line of the table: of one file as it is, of several their sum.
fn line(out: &mut impl Write, name: &str, members: &[Member], marks: &words::Marks) -> io::Result<()> {
    let sum = |of: fn(&Member) -> Coverage| Coverage::sum(members.iter().map(of));
    let coverage = sum(|member| Coverage::of(member, false));
    let linked = sum(|member| Coverage::of(member, true));
    let mut cells: Vec<String> = vec![escape::markdown(name)];
    let mut other = Vec::new();
    for kind in words::KINDS {
        let mut text = words::archs(kind, &coverage.everywhere(kind), marks).join(" ");
        let some = coverage.somewhere(kind);
        if !some.is_empty() {
            let gap = if text.is_empty() { "" } else { "; " };
            let counted = words::counted(kind, &some, marks).join(" ");
            text = format!("{text}{gap}in some of {} modules: {counted}", coverage.deciding());
        }
        match kind {
            fatscan::CodeKind::Sass | fatscan::CodeKind::Ptx => cells.push(text),
            _ if !text.is_empty() => other.push(text),
            _ => {}
        }
    }
    let names = |of: &Coverage| -> Vec<String> {
        of.images.keys().map(|(kind, arch)| words::name(*kind, *arch, marks)).collect()
    };
    if linked.modules() > 0 {
        let names = names(&linked);
        other.push(format!("relocatable: {}", names.join(" ")));
    }
    let unmapped = sum(Coverage::unmapped);
    if unmapped.modules() > 0 {
        let names = names(&unmapped);
        other.push(format!("not loaded: {}", names.join(" ")));
    }
    if coverage.general > 0 && !coverage.specialised.is_empty() {
        other.push(format!("specialised modules: {}", words::specialised(&coverage, marks).join(", ")));
    }
    let modules = || members.iter().flat_map(|member| &member.modules);
    let own = || modules().filter(|module| module.source != Source::OffloadBundle);
    let images = || own().flat_map(|module| &module.images);
    let stored = images().map(|image| image.stored_bytes).fold(0, u64::saturating_add);
    cells.push(other.join("; "));
    cells.push(own().count().to_string());
    cells.push(images().count().to_string());
    cells.push(bytes(stored));
    // the mark is no emphasis; the name is escaped already
    for cell in cells.iter_mut().skip(1) {
        *cell = cell.replace('*', "\\*");
    }
    writeln!(out, "| {} |", cells.join(" | "))
}
