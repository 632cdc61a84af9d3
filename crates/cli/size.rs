//! `fatscan size`, and sizes as people write them.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::Style;
use fatscan::{
    Artefact, CodeSizes, KernelSize, Member, Module, Report, Size, artefact_sizes, kernel_sizes, member_sizes,
};
use serde_json::{Value, json};

use crate::args::{PlainFormat, SizeArgs, SizeBy};
use crate::failure::Failure;
use crate::render::kernels::{arch_name, label};
use crate::terminal::{bytes, count, width, wrap};
use crate::{escape, list, output};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn run(args: &SizeArgs) -> Result<ExitCode, Failure> {
    let budget = match &args.budget {
        Some(text) => Some(parse(text).ok_or_else(|| {
            Failure::with_hint(format!("--budget: `{text}` is no size"), "write it like 500MB, 1.5GB or 300MiB")
        })?),
        None => None,
    };
    let depth = if args.by == SizeBy::Kernel { list::Depth::Kernels } else { list::Depth::Headers };
    let request = list::Request { paths: &args.paths, files: &args.files, common: &args.common };
    let report = list::scan(&request, depth)?;
    match args.format {
        PlainFormat::Table => table(&report, args, budget)?,
        PlainFormat::Json => document(&report, args)?,
    }
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != fatscan::Level::Note));
    let over = budget.is_some_and(|budget| report.artefacts.iter().any(|artefact| artefact.size > budget));
    let code = list::exit_code(&report);
    Ok(if over && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

fn table(report: &Report, args: &SizeArgs, budget: Option<u64>) -> io::Result<()> {
    let mut out = output::text();
    for (index, artefact) in report.artefacts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let over = budget.filter(|budget| artefact.size > *budget);
        let over = over.map(|budget| format!(", over the budget of {}", bytes(budget))).unwrap_or_default();
        let path = escape::text(&artefact.path);
        writeln!(out, "{BOLD}{path}{BOLD:#}  {}, {}{over}", artefact.kind.name(), bytes(artefact.size))?;
        match args.by {
            SizeBy::Arch => by_arch(&mut out, artefact)?,
            SizeBy::Member => by_member(&mut out, artefact)?,
            SizeBy::Module => by_module(&mut out, artefact, args.top)?,
            SizeBy::Kernel => by_kernel(&mut out, artefact, args.top)?,
        }
    }
    out.flush()
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

fn module((stored, index, module): (u64, usize, &Module)) -> Value {
    let archs: Vec<String> = module.images.iter().filter_map(fatscan::Image::arch_name).collect();
    json!({ "index": index, "object": module.object.as_ref().map(|object| object.name.as_str()), "section": module.section.as_deref(), "offset": module.offset, "archs": archs,
        "images": module.images.len(), "stored_bytes": stored })
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
            writeln!(out, "  {:>12}  {}{DIM}{copies}{DIM:#}", bytes(kernel.code_bytes), escape::text(&name))?;
        }
        rest(out, kernels.len().saturating_sub(top), "kernel", "kernels")?;
    }
    Ok(())
}

fn rest(out: &mut impl Write, number: usize, one: &str, many: &str) -> io::Result<()> {
    if number > 0 {
        writeln!(out, "  {:>12}  and {} more (--top N)", "", count(number, one, many))?;
    }
    Ok(())
}

/// A row for each architecture, and one that names none where there is such code.
fn code(sizes: &CodeSizes) -> Vec<Value> {
    let value = |kind: Option<&str>, arch: Option<String>, relocatable: Option<bool>, size: &Size| {
        json!({ "kind": kind, "arch": arch, "relocatable": relocatable, "images": size.images,
            "stored_bytes": size.stored, "unpacked_bytes": size.unpacked, "archive_bytes_estimate": size.packed })
    };
    let named = sizes.by_arch.iter().map(|(column, size)| {
        value(Some(column.kind.name()), Some(arch_name(*column)), Some(column.relocatable), size)
    });
    let other = (sizes.without_arch.images > 0).then(|| value(None, None, None, &sizes.without_arch));
    named.chain(other).collect()
}

fn document(report: &Report, args: &SizeArgs) -> io::Result<()> {
    let member = |member: &Member| {
        let sizes = member_sizes(member);
        let kernels: Vec<Value> = if args.by == SizeBy::Kernel {
            kernel_sizes(member)
                .iter()
                .map(|kernel| {
                    json!({ "name": &*kernel.name, "code_bytes": kernel.code_bytes, "modules": kernel.modules,
                        "duplicated_bytes": kernel.duplicated })
                })
                .collect()
        } else {
            Vec::new()
        };
        let modules: Vec<Value> =
            if args.by == SizeBy::Module { by_size(member).map(module).collect() } else { Vec::new() };
        json!({ "path": member.path, "modules": modules, "size": member.size, "archive_bytes": member.packed, "host_bytes": sizes.host,
            "code": code(&sizes), "kernels": kernels })
    };
    let artefacts: Vec<Value> = report
        .artefacts
        .iter()
        .map(|artefact| {
            let code = code(&artefact_sizes(artefact));
            let members: Vec<Value> = artefact.members.iter().map(member).collect();
            json!({ "path": artefact.path, "size": artefact.size, "code": code, "members": members })
        })
        .collect();
    let diagnostics: Vec<fatscan::json::Diagnostic> = report.diagnostics.iter().map(Into::into).collect();
    let unread: Vec<fatscan::json::Unread> = report.unread.iter().map(Into::into).collect();
    let document = json!({ "schema": 1, "tool": { "name": "fatscan", "version": env!("CARGO_PKG_VERSION") },
        "artefacts": artefacts, "diagnostics": diagnostics, "unread": unread });
    let mut out = output::data();
    escape::json_line(&mut out, &document)?;
    out.flush()
}

/// `500MB`, `1.5 GB`, `300MiB`, `1000`: at most three digits behind the point.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 3 {
        return None;
    }
    let thousandths: u64 = format!("{fraction:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(thousandths)?.checked_mul(unit)?.checked_div(1000)
}
