//! What device code costs, in every format.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use fatscan::json::Tool;
use fatscan::json::sizes::{CodeSize, SizedArtefact, SizedKernel, SizedMember, SizedModule, SizedSlim, Sizes};
use fatscan::{
    Artefact, CodeSizes, KernelSize, Member, Module, Report, Size, artefact_sizes, kernel_sizes, member_sizes,
};

use super::csv;
use super::kernels::{arch_name, label};
use crate::args::SizeBy;
use crate::escape;
use crate::size::Asked;
use crate::terminal::{bytes, count, width, wrap};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn table(out: &mut impl Write, report: &Report, asked: Asked<'_>) -> io::Result<()> {
    let Asked { args, budget, slim } = asked;
    for (index, artefact) in report.artefacts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let over = budget.filter(|budget| artefact.size > *budget);
        let over = over.map(|budget| format!(", over the budget of {}", bytes(budget))).unwrap_or_default();
        let path = escape::text(&artefact.path);
        writeln!(out, "{BOLD}{path}{BOLD:#}  {}, {}{over}", artefact.kind.name(), bytes(artefact.size))?;
        match args.by {
            SizeBy::Arch => by_arch(out, artefact)?,
            SizeBy::Member => by_member(out, artefact)?,
            SizeBy::Module => by_module(out, artefact, args.top)?,
            SizeBy::Kernel => by_kernel(out, artefact, args.top)?,
        }
        if let Some(slim) = slim.get(index) {
            writeln!(out, "  {}", would_save(slim))?;
        }
    }
    Ok(())
}

/// What `fatscan slim` would save, in one sentence.
fn would_save(slim: &SizedSlim) -> String {
    let gpus = slim.gpus.join(",");
    if slim.images == 0 {
        return format!("slim --for {gpus}: nothing to leave out");
    }
    let (images, zeros) = (count(slim.images, "image", "images"), bytes(slim.zeroed_bytes));
    format!("slim --for {gpus}: leaves out {images}, {zeros} of its files")
}

fn head(out: &mut impl Write, first: &str) -> io::Result<()> {
    writeln!(out, "  {BOLD}{first:<26}{:>8}{:>12}{:>12}{:>14}{BOLD:#}", "images", "in file", "unpacked", "in archive")
}

fn row(out: &mut impl Write, name: &str, size: &Size) -> io::Result<()> {
    let (stored, unpacked, packed) = (bytes(size.stored), bytes(size.unpacked), bytes(size.packed));
    writeln!(out, "  {name:<26}{:>8}{stored:>12}{unpacked:>12}{packed:>14}", size.images)
}

/// What each architecture costs is what the artefact would save without it.
fn by_arch(out: &mut impl Write, artefact: &Artefact) -> io::Result<()> {
    let sizes = artefact_sizes(artefact);
    if sizes.code.images == 0 {
        return writeln!(out, "  no device code");
    }
    head(out, "architecture")?;
    rows(out, &sizes)?;
    writeln!(out, "  {DIM}in archive: estimated; about what the artefact would save without that code{DIM:#}")
}

fn rows(out: &mut impl Write, sizes: &CodeSizes) -> io::Result<()> {
    for (column, size) in &sizes.by_arch {
        row(out, &label(*column), size)?;
    }
    if sizes.without_arch.images > 0 {
        row(out, "without architecture", &sizes.without_arch)?;
    }
    row(out, "all device code", &sizes.code)
}

fn by_member(out: &mut impl Write, artefact: &Artefact) -> io::Result<()> {
    for member in &artefact.members {
        let sizes = member_sizes(member);
        let packed = member.packed.map(|packed| format!(", {} in the archive", bytes(packed))).unwrap_or_default();
        writeln!(out, "\n  {BOLD}{}{BOLD:#}  {}{packed}", escape::text(&member.path), bytes(member.size))?;
        head(out, "")?;
        rows(out, &sizes)?;
        writeln!(out, "  {:<26}{:>8}{:>12}", "host code and the rest", "", bytes(sizes.host))?;
    }
    Ok(())
}

fn by_module(out: &mut impl Write, artefact: &Artefact, top: usize) -> io::Result<()> {
    for member in &artefact.members {
        writeln!(out, "\n  {BOLD}{}{BOLD:#}", escape::text(&member.path))?;
        for (stored, index, module) in by_size(member).take(top) {
            let archs: Vec<String> = module.images.iter().filter_map(fatscan::Image::arch_name).collect();
            let section = module.section.as_deref().unwrap_or_default();
            let mut words = vec![format!("module {index} {section}@{:#x}:", module.offset)];
            words.extend(archs);
            writeln!(out, "  {:>12}  {}", bytes(stored), wrap(&words, 18, 16, width()))?;
        }
        rest(out, member.modules.len().saturating_sub(top), "module", "modules")?;
    }
    Ok(())
}

/// Modules with their bytes in the file and their index, the largest first.
fn by_size(member: &Member) -> impl Iterator<Item = (u64, usize, &Module)> {
    let stored = |module: &Module| module.images.iter().map(|image| image.stored_bytes).fold(0, u64::saturating_add);
    let mut modules: Vec<_> =
        member.modules.iter().enumerate().map(|(index, module)| (stored(module), index, module)).collect();
    modules.sort_by_key(|(stored, index, _)| (core::cmp::Reverse(*stored), *index));
    modules.into_iter()
}

fn by_kernel(out: &mut impl Write, artefact: &Artefact, top: usize) -> io::Result<()> {
    for member in &artefact.members {
        let kernels = kernel_sizes(member);
        let sum = |of: fn(&KernelSize) -> u64| kernels.iter().map(of).fold(0, u64::saturating_add);
        let (code, again) = (sum(|kernel| kernel.code_bytes), sum(|kernel| kernel.duplicated));
        writeln!(
            out,
            "\n  {BOLD}{}{BOLD:#}\n  {} of machine code, {} of it copies of a kernel in other modules",
            escape::text(&member.path),
            bytes(code),
            bytes(again)
        )?;
        for kernel in kernels.iter().take(top) {
            let copies = if kernel.modules > 1 {
                format!(" in {} modules, {} again", kernel.modules, bytes(kernel.duplicated))
            } else {
                String::new()
            };
            let name = fatscan::demangle(kernel.name.as_bytes()).unwrap_or_else(|| kernel.name.to_string());
            let name = escape::text(&name);
            let name = cut(&name, width().saturating_sub(copies.len()).saturating_sub(16));
            writeln!(out, "  {:>12}  {name}{DIM}{copies}{DIM:#}", bytes(kernel.code_bytes))?;
        }
        rest(out, kernels.len().saturating_sub(top), "kernel", "kernels")?;
    }
    Ok(())
}

/// A name in one line of the terminal; in a pipe it is whole.
fn cut(name: &str, room: usize) -> Cow<'_, str> {
    const LEAST: usize = 20;
    let room = room.max(LEAST);
    if name.chars().count() <= room {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(room.saturating_sub(3)).chain("...".chars()).collect())
}

fn rest(out: &mut impl Write, number: usize, one: &str, many: &str) -> io::Result<()> {
    if number > 0 {
        writeln!(out, "  {:>12}  and {} more (--top N)", "", count(number, one, many))?;
    }
    Ok(())
}

/// A row for each architecture, and one that names none where there is such code.
fn code(sizes: &CodeSizes) -> Vec<CodeSize> {
    let view = |kind: Option<&str>, arch: Option<String>, relocatable: Option<bool>, size: &Size| CodeSize {
        kind: kind.map(ToOwned::to_owned),
        arch,
        relocatable,
        images: size.images,
        stored_bytes: size.stored,
        unpacked_bytes: size.unpacked,
        archive_bytes_estimate: size.packed,
    };
    let named = sizes
        .by_arch
        .iter()
        .map(|(column, size)| view(Some(column.kind.name()), Some(arch_name(*column)), Some(column.relocatable), size));
    let other = (sizes.without_arch.images > 0).then(|| view(None, None, None, &sizes.without_arch));
    named.chain(other).collect()
}

fn module(member: &Member, (stored, index, module): (u64, usize, &Module)) -> SizedModule {
    SizedModule {
        index,
        at: (&module.at(member)).into(),
        object: module.object.as_ref().map(|object| object.name.to_string()),
        section: module.section.as_deref().map(ToOwned::to_owned),
        offset: module.offset,
        archs: module.images.iter().filter_map(fatscan::Image::arch_name).collect(),
        images: module.images.len(),
        stored_bytes: stored,
    }
}

fn member(member: &Member, by: SizeBy) -> SizedMember {
    let sizes = member_sizes(member);
    let kernels = if by == SizeBy::Kernel { kernel_sizes(member) } else { Vec::new() };
    let kernels = kernels.iter().map(|kernel| SizedKernel {
        name: kernel.name.to_string(),
        code_bytes: kernel.code_bytes,
        modules: kernel.modules,
        duplicated_bytes: kernel.duplicated,
    });
    let modules = by_size(member).filter(|_| by == SizeBy::Module).map(|own| module(member, own));
    SizedMember {
        path: member.path.clone(),
        at: (&member.at).into(),
        size: member.size,
        archive_bytes: member.packed,
        host_bytes: sizes.host,
        code: code(&sizes),
        modules: modules.collect(),
        kernels: kernels.collect(),
    }
}

pub(crate) fn json(out: &mut impl Write, report: &Report, asked: Asked<'_>) -> io::Result<()> {
    let Asked { args, budget, slim } = asked;
    let artefacts = report.artefacts.iter().enumerate().map(|(index, artefact)| SizedArtefact {
        slim: slim.get(index).cloned(),
        path: artefact.path.clone(),
        at: (&artefact.at).into(),
        size: artefact.size,
        over_budget: budget.map(|budget| artefact.size > budget),
        code: code(&artefact_sizes(artefact)),
        members: artefact.members.iter().map(|own| member(own, args.by)).collect(),
    });
    let document = Sizes {
        schema: 1,
        tool: Tool::default(),
        artefacts: artefacts.collect(),
        diagnostics: report.diagnostics.iter().map(Into::into).collect(),
        unread: report.unread.iter().map(Into::into).collect(),
    };
    escape::json_line(out, &document)
}

/// A line for each architecture of an artefact or of a file, for each module, or for each kernel.
pub(crate) fn csv(out: &mut impl Write, report: &Report, by: SizeBy) -> io::Result<()> {
    let sizes = ["kind", "arch", "relocatable", "images", "stored_bytes", "unpacked_bytes", "archive_bytes_estimate"];
    let head: &[&str] = match by {
        SizeBy::Arch => &["artefact"],
        SizeBy::Member => &["artefact", "member"],
        SizeBy::Module => {
            &["artefact", "member", "module", "object", "section", "offset", "archs", "images", "stored_bytes"]
        }
        SizeBy::Kernel => &["artefact", "member", "kernel", "demangled", "code_bytes", "modules", "duplicated_bytes"],
    };
    match by {
        SizeBy::Arch | SizeBy::Member => csv::line(out, &[head, &sizes].concat())?,
        SizeBy::Module | SizeBy::Kernel => csv::line(out, head)?,
    }
    for artefact in &report.artefacts {
        if by == SizeBy::Arch {
            codes(out, &[&artefact.path], &artefact_sizes(artefact))?;
            continue;
        }
        for own in &artefact.members {
            let place = [artefact.path.as_str(), own.path.as_str()];
            match by {
                SizeBy::Arch | SizeBy::Member => codes(out, &place, &member_sizes(own))?,
                SizeBy::Module => by_size(own).try_for_each(|row| module_line(out, place, module(own, row)))?,
                SizeBy::Kernel => kernel_lines(out, place, own)?,
            }
        }
    }
    Ok(())
}

fn codes(out: &mut impl Write, place: &[&str], sizes: &CodeSizes) -> io::Result<()> {
    for own in code(sizes) {
        let relocatable = own.relocatable.map(|own| own.to_string()).unwrap_or_default();
        let (kind, arch) = (own.kind.unwrap_or_default(), own.arch.unwrap_or_default());
        let numbers = [own.stored_bytes, own.unpacked_bytes, own.archive_bytes_estimate].map(|own| own.to_string());
        let images = own.images.to_string();
        let cells = [kind.as_str(), &arch, &relocatable, &images];
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        csv::line(out, &[place, &cells, &numbers].concat())?;
    }
    // what is no device code has neither an architecture nor images
    let host = sizes.host.to_string();
    csv::line(out, &[place, &["host", "", "", "", &host, "", ""]].concat())
}

fn module_line(out: &mut impl Write, place: [&str; 2], own: SizedModule) -> io::Result<()> {
    let [artefact, member] = place;
    csv::line(
        out,
        &[
            artefact,
            member,
            &own.index.to_string(),
            own.object.as_deref().unwrap_or_default(),
            own.section.as_deref().unwrap_or_default(),
            &format!("{:#x}", own.offset),
            &own.archs.join(" "),
            &own.images.to_string(),
            &own.stored_bytes.to_string(),
        ],
    )
}

/// Names that are demangled at a time.
const NAMES: usize = 256;

fn kernel_lines(out: &mut impl Write, place: [&str; 2], member: &Member) -> io::Result<()> {
    let [artefact, path] = place;
    for kernels in kernel_sizes(member).chunks(NAMES) {
        let names: Vec<&str> = kernels.iter().map(|kernel| &*kernel.name).collect();
        let plain = fatscan::demangle_each(&names);
        for (kernel, plain) in kernels.iter().zip(plain) {
            let plain = plain.unwrap_or_default();
            let numbers = [kernel.code_bytes.to_string(), kernel.modules.to_string(), kernel.duplicated.to_string()];
            let [code, modules, again] = &numbers;
            csv::line(out, &[artefact, path, &kernel.name, &plain, code, modules, again])?;
        }
    }
    Ok(())
}

/// The same as the table, for issues and pull requests.
pub(crate) fn markdown(out: &mut impl Write, report: &Report, asked: Asked<'_>) -> io::Result<()> {
    let Asked { args, budget, slim } = asked;
    for (index, artefact) in report.artefacts.iter().enumerate() {
        let over = budget.filter(|budget| artefact.size > *budget);
        let over = over.map(|budget| format!(", over the budget of {}", bytes(budget))).unwrap_or_default();
        writeln!(out, "### {}\n\n{}{over}\n", escape::markdown(&artefact.path), bytes(artefact.size))?;
        if let Some(slim) = slim.get(index) {
            writeln!(out, "{}\n", escape::markdown(&would_save(slim)))?;
        }
        if args.by == SizeBy::Arch {
            code_table(out, &artefact_sizes(artefact))?;
            continue;
        }
        for own in &artefact.members {
            writeln!(out, "#### {}\n", escape::markdown(&own.path))?;
            match args.by {
                SizeBy::Arch | SizeBy::Member => code_table(out, &member_sizes(own))?,
                SizeBy::Module => {
                    writeln!(out, "| module | where | architectures | in file |\n|---:|---|---|---:|")?;
                    for row in by_size(own).take(args.top) {
                        let own = module(own, row);
                        let place = format!("{}@{:#x}", own.section.unwrap_or_default(), own.offset);
                        let (place, archs) = (escape::markdown(&place), escape::markdown(&own.archs.join(" ")));
                        writeln!(out, "| {} | {place} | {archs} | {} |", own.index, bytes(own.stored_bytes))?;
                    }
                    more(out, own.modules.len().saturating_sub(args.top), "module", "modules")?;
                }
                SizeBy::Kernel => {
                    let kernels = kernel_sizes(own);
                    writeln!(out, "| kernel | code | modules | copies |\n|---|---:|---:|---:|")?;
                    for own in kernels.iter().take(args.top) {
                        let name = fatscan::demangle(own.name.as_bytes()).unwrap_or_else(|| own.name.to_string());
                        let (code, again) = (bytes(own.code_bytes), bytes(own.duplicated));
                        writeln!(out, "| {} | {code} | {} | {again} |", escape::markdown(&name), own.modules)?;
                    }
                    more(out, kernels.len().saturating_sub(args.top), "kernel", "kernels")?;
                }
            }
        }
    }
    Ok(())
}

fn more(out: &mut impl Write, number: usize, one: &str, many: &str) -> io::Result<()> {
    if number > 0 {
        writeln!(out, "\nand {} more", count(number, one, many))?;
    }
    writeln!(out)
}

fn code_table(out: &mut impl Write, sizes: &CodeSizes) -> io::Result<()> {
    if sizes.code.images == 0 {
        return writeln!(out, "No device code.\n");
    }
    writeln!(out, "| architecture | images | in file | unpacked | in archive |\n|---|---:|---:|---:|---:|")?;
    let mut line = |name: &str, size: &Size| {
        let (stored, unpacked, packed) = (bytes(size.stored), bytes(size.unpacked), bytes(size.packed));
        writeln!(out, "| {} | {} | {stored} | {unpacked} | {packed} |", escape::markdown(name), size.images)
    };
    for (column, size) in &sizes.by_arch {
        line(&label(*column), size)?;
    }
    if sizes.without_arch.images > 0 {
        line("without architecture", &sizes.without_arch)?;
    }
    line("all device code", &sizes.code)?;
    writeln!(out, "| host code and the rest |  | {} |  |  |\n", bytes(sizes.host))
}
