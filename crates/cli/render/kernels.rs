//! Kernels by architecture.

use std::io::{self, Write};
use std::sync::mpsc;

use anstyle::Style;
use fatscan::json::Tool;
use fatscan::json::kernels::{KernelImage, KernelTotals};
use fatscan::{Artefact, CodeKind, Column, KernelResources, LocatorView, Matrix, Member, Report, Row, Totals, holes};
use gpu_arch::Arch;
use gpu_arch::rules::{Device, Environment};
use regex_lite::Regex;
use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct, Serializer};

use super::{csv, words};
use crate::args::TableFormat;
use crate::escape;
use crate::terminal::{bytes, count, width};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Names that are demangled at a time; the longest text of one is 64 KiB.
const NAMES: usize = 256;
/// So many names are demangled where they are shown.
const FEW: usize = 512;
/// How many times as many may wait to be written.
const AHEAD: usize = 2;

/// What to show.
pub(crate) enum Query {
    /// Sums by architecture.
    Totals,
    /// Every kernel.
    All,
    /// Kernels that an architecture lacks.
    Missing(CodeKind, Arch),
    /// Kernels that only images of an architecture hold.
    Only(CodeKind, Arch),
    /// Kernels that a device would lack.
    MissingFor(Box<Device>),
}

pub(crate) struct View {
    pub(crate) query: Query,
    pub(crate) filter: Option<Regex>,
    pub(crate) resources: bool,
    pub(crate) mangled: bool,
    pub(crate) environment: Environment,
    /// As `--threads` says.
    pub(crate) threads: usize,
}

impl View {
    /// Calls `each` with every row and the name to show, in their order.
    fn named<'r>(&self, rows: &[&'r Row], mut each: impl FnMut(&'r Row, &str) -> io::Result<()>) -> io::Result<()> {
        if self.mangled {
            return rows.iter().try_for_each(|row| each(row, &row.name));
        }
        self.demangled(rows, |row, plain| each(row, plain.as_deref().unwrap_or(&row.name)))
    }

    /// Calls `each` with every row and its demangled name, in their order. Names are demangled by all threads, ahead of
    /// `each` but not far, so that few are held.
    fn demangled<'r, E>(
        &self,
        rows: &[&'r Row],
        mut each: impl FnMut(&'r Row, Option<String>) -> Result<(), E>,
    ) -> Result<(), E> {
        // many small files must not make threads for each
        if rows.len() <= FEW {
            return rows.iter().try_for_each(|row| each(row, fatscan::demangle(row.name.as_bytes())));
        }
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::sync_channel(AHEAD);
            scope.spawn(move || {
                let work = || {
                    for rows in rows.chunks(NAMES) {
                        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
                        // the other end has met an error
                        if send.send(fatscan::demangle_each(&names)).is_err() {
                            return;
                        }
                    }
                };
                // without threads the names stay as they are
                fatscan::with_threads(self.threads, work)
            });
            for rows in rows.chunks(NAMES) {
                let mut plain = receive.recv().unwrap_or_default().into_iter();
                for row in rows {
                    each(row, plain.next().flatten())?;
                }
            }
            Ok(())
        })
    }

    fn keeps(&self, mangled: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| {
            filter.is_match(mangled)
                || fatscan::demangle(mangled.as_bytes()).is_some_and(|plain| filter.is_match(&plain))
        })
    }
}

pub(crate) fn write(out: &mut impl Write, report: &Report, view: &View, format: TableFormat) -> io::Result<()> {
    match format {
        TableFormat::Table => report.artefacts.iter().try_for_each(|artefact| table(out, artefact, view)),
        TableFormat::Json => escape::json_line(out, &document(report, view)),
        TableFormat::Csv => comma(out, report, view),
        TableFormat::Markdown => report.artefacts.iter().try_for_each(|artefact| markdown(out, artefact, view)),
    }
}

/// Of each file what a table shows of it.
fn markdown(out: &mut impl Write, artefact: &Artefact, view: &View) -> io::Result<()> {
    writeln!(out, "### {}\n", escape::markdown(&artefact.path))?;
    if artefact.members.is_empty() {
        return writeln!(out, "No device code.\n");
    }
    for member in &artefact.members {
        let matrix = Matrix::of(member);
        writeln!(out, "#### {}\n", escape::markdown(&member.path))?;
        if matches!(view.query, Query::Totals) {
            writeln!(out, "| architecture | names | definitions | code | stubs |\n|---|---:|---:|---:|---:|")?;
            for column in &matrix.columns {
                let own = matrix.totals(*column);
                let code = if column.kind == CodeKind::Sass { bytes(own.code_bytes) } else { "-".to_owned() };
                let label = escape::markdown(&label(*column));
                writeln!(out, "| {label} | {} | {} | {code} | {} |", own.names, own.definitions, own.stubs)?;
            }
            writeln!(out)?;
        } else {
            let kept = chosen(member, &matrix, view);
            let number = count(kept.len(), "kernel", "kernels");
            writeln!(out, "{number} of {}{}\n", matrix.rows.len(), escape::markdown(&asked(&view.query)))?;
            if !kept.is_empty() {
                writeln!(out, "| kernel | in |\n|---|---|")?;
            }
            view.named(&kept, |row, name| {
                let cells = row.cells.iter().map(|(column, cell)| {
                    let size = if column.kind == CodeKind::Sass {
                        format!(" {}", bytes(cell.code_bytes))
                    } else {
                        String::new()
                    };
                    let own = cell.resources.as_deref().filter(|_| view.resources).into_iter().flat_map(resources);
                    let own: String = own.map(|own| format!(" {own}")).collect();
                    format!("{}{size}{own}", label(*column))
                });
                let cells = escape::markdown(&cells.collect::<Vec<_>>().join(", "));
                writeln!(out, "| {} | {cells} |", escape::markdown(name))
            })?;
            if !kept.is_empty() {
                writeln!(out)?;
            }
        }
        if matrix.unreadable > 0 {
            writeln!(out, "{} could not be read for kernels\n", count(matrix.unreadable, "image", "images"))?;
        }
    }
    Ok(())
}

/// What the kernels that are shown have in common.
fn asked(query: &Query) -> String {
    match query {
        Query::Totals | Query::All => String::new(),
        Query::Missing(kind, arch) => format!(", not in any {}_{arch} image", words::prefix(*kind)),
        Query::Only(kind, arch) => format!(", only in images of {}_{arch}", words::prefix(*kind)),
        Query::MissingFor(device) => {
            let name = device.name.clone().unwrap_or_else(|| device.capability.to_string());
            format!(", that {name} would lack: in no image that it loads")
        }
    }
}

/// `sm_90`, `compute_90`.
pub(crate) fn arch_name(column: Column) -> String {
    format!("{}_{}", words::prefix(column.kind), column.arch)
}

/// The same with a mark on code for a device link.
pub(crate) fn label(column: Column) -> String {
    let mark = if column.relocatable { " (relocatable)" } else { "" };
    format!("{}{mark}", arch_name(column))
}

fn table(out: &mut impl Write, artefact: &Artefact, view: &View) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", escape::text(&artefact.path))?;
    if artefact.members.is_empty() {
        return writeln!(out, "  no device code");
    }
    for member in &artefact.members {
        let matrix = Matrix::of(member);
        writeln!(out, "\n{BOLD}{}{BOLD:#}", escape::text(&member.path))?;
        match &view.query {
            Query::Totals => totals(out, &matrix)?,
            Query::All => {
                let kept = chosen(member, &matrix, view);
                rows(out, &kept, view)?;
                writeln!(out, "  {} of {}", count(kept.len(), "kernel", "kernels"), matrix.rows.len())?;
            }
            Query::Only(kind, arch) => {
                let only = chosen(member, &matrix, view);
                let name = format!("{}_{arch}", words::prefix(*kind));
                let number = count(only.len(), "kernel", "kernels");
                writeln!(out, "  {number} of {} only in images of {name}", matrix.rows.len())?;
                rows(out, &only, view)?;
            }
            Query::Missing(kind, arch) => {
                let name = format!("{}_{arch}", words::prefix(*kind));
                let missing = chosen(member, &matrix, view);
                writeln!(out, "  {} not in any {name} image", count(missing.len(), "kernel", "kernels"))?;
                view.named(&missing, |row, name| {
                    let held: Vec<String> = row.cells.keys().map(|column| label(*column)).collect();
                    hole(out, name, &held, None)
                })?;
            }
            Query::MissingFor(device) => {
                let missing = holes(member, device, &view.environment);
                let missing: Vec<_> = missing.into_iter().filter(|hole| view.keeps(&hole.name)).collect();
                let name = device.name.clone().unwrap_or_else(|| device.capability.to_string());
                let number = count(missing.len(), "kernel", "kernels");
                let text = format!("{number} that {name} would lack: in no image that it loads");
                let words: Vec<&str> = text.split(' ').collect();
                writeln!(out, "  {}", crate::terminal::wrap(&words, 4, 2, width()))?;
                for own in missing {
                    let held: Vec<String> = own.held_by.iter().map(|column| label(*column)).collect();
                    let plain = if view.mangled { None } else { fatscan::demangle(own.name.as_bytes()) };
                    hole(out, plain.as_deref().unwrap_or(&own.name), &held, Some(own.loads))?;
                }
            }
        }
        if matrix.unreadable > 0 {
            writeln!(out, "  {} could not be read for kernels", count(matrix.unreadable, "image", "images"))?;
        }
    }
    writeln!(out)
}

/// A kernel, the images that hold it, and the one that a device loads instead.
fn hole(out: &mut impl Write, name: &str, held: &[String], loads: Option<Option<Column>>) -> io::Result<()> {
    let mut words = vec!["in".to_owned()];
    words.extend_from_slice(held);
    if let (Some(loads), Some(last)) = (loads, words.last_mut()) {
        last.push(';');
        words.push(
            loads
                .map_or_else(|| "loads nothing of its modules".to_owned(), |column| format!("loads {}", label(column))),
        );
    }
    let text = crate::terminal::wrap(&words, 6, 6, width());
    writeln!(out, "  {}\n      {DIM}{text}{DIM:#}", escape::text(name))
}

fn totals(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    if matrix.columns.is_empty() {
        return writeln!(out, "  no kernels");
    }
    writeln!(
        out,
        "  {BOLD}{:<26}{:>9}{:>13}{:>12}{:>8}{BOLD:#}",
        "architecture", "names", "definitions", "code", "stubs"
    )?;
    for column in &matrix.columns {
        let totals = matrix.totals(*column);
        let code = if column.kind == CodeKind::Sass { bytes(totals.code_bytes) } else { "-".to_owned() };
        writeln!(
            out,
            "  {:<26}{:>9}{:>13}{:>12}{:>8}",
            label(*column),
            totals.names,
            totals.definitions,
            code,
            totals.stubs
        )?;
    }
    Ok(())
}

/// A kernel a line with its cells below, or side by side where the terminal is wide enough.
fn rows(out: &mut impl Write, rows: &[&Row], view: &View) -> io::Result<()> {
    let width = width();
    view.named(rows, |row, name| {
        let local = if row.module.is_some() { " [local]" } else { "" };
        writeln!(out, "  {}{local}", escape::text(name))?;
        if view.resources {
            for (column, cell) in row.cells.iter().filter(|(column, _)| column.kind == CodeKind::Sass) {
                let mut words = vec![format!("{:<12} {:>10} ", label(*column), bytes(cell.code_bytes))];
                words.extend(cell.resources.as_deref().into_iter().flat_map(resources));
                writeln!(out, "      {}", crate::terminal::wrap(&words, 8, 6, width))?;
            }
            return Ok(());
        }
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|(column, cell)| {
                let stub = if cell.is_stub { " (stub)" } else { "" };
                match column.kind {
                    CodeKind::Sass => format!("{} {}{stub},", label(*column), bytes(cell.code_bytes)),
                    _ => format!("{},", label(*column)),
                }
            })
            .collect();
        let text = crate::terminal::wrap(&cells, 6, 6, width);
        writeln!(out, "      {DIM}{}{DIM:#}", text.trim_end_matches(','))
    })
}

/// In the words of `cuobjdump -res-usage`.
fn resources(own: &KernelResources) -> [String; 5] {
    let number = |value: Option<u32>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    [
        format!("REG:{}", number(own.registers)),
        format!("STACK:{}", number(own.stack)),
        format!("SHARED:{}", own.shared),
        format!("LOCAL:{}", own.local),
        format!("CONSTANT[0]:{}", own.constant0),
    ]
}

/// The rows that a query keeps.
fn chosen<'m>(member: &Member, matrix: &'m Matrix, view: &View) -> Vec<&'m Row> {
    let rows: Vec<&Row> = match &view.query {
        Query::Totals | Query::All => matrix.rows.iter().collect(),
        Query::Missing(kind, arch) => matrix.missing(*kind, *arch),
        Query::Only(kind, arch) => matrix.only(*kind, *arch),
        Query::MissingFor(device) => {
            let lacking = holes(member, device, &view.environment);
            let keys: std::collections::BTreeSet<_> = lacking.iter().map(|hole| (&hole.name, hole.module)).collect();
            matrix.rows.iter().filter(|row| keys.contains(&(&row.name, row.module))).collect()
        }
    };
    rows.into_iter().filter(|row| view.keeps(&row.name)).collect()
}

/// The document [`fatscan::json::kernels::Kernels`]; of the kernels it makes a few at a time.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: Tool,
    artefacts: Vec<JsonArtefact<'a>>,
    diagnostics: Vec<fatscan::json::Diagnostic>,
    unread: Vec<fatscan::json::Unread>,
}

#[derive(Serialize)]
struct JsonArtefact<'a> {
    path: &'a str,
    at: LocatorView,
    members: Vec<JsonMember<'a>>,
}

struct JsonMember<'a> {
    member: &'a Member,
    view: &'a View,
}

impl Serialize for JsonMember<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { member, view } = *self;
        let matrix = Matrix::of(member);
        let rows = if matches!(view.query, Query::Totals) { Vec::new() } else { chosen(member, &matrix, view) };
        let totals = matrix.columns.iter().map(|column| totals_view(*column, matrix.totals(*column)));
        let mut fields = serializer.serialize_struct("Member", 5)?;
        fields.serialize_field("path", &member.path)?;
        fields.serialize_field("at", &LocatorView::from(&member.at))?;
        fields.serialize_field("totals", &totals.collect::<Vec<_>>())?;
        fields.serialize_field("kernels", &JsonRows { rows: &rows, view })?;
        fields.serialize_field("unreadable_images", &matrix.unreadable)?;
        fields.end()
    }
}

fn totals_view(column: Column, totals: Totals) -> KernelTotals {
    KernelTotals {
        kind: column.kind.name().to_owned(),
        arch: arch_name(column),
        relocatable: column.relocatable,
        names: totals.names,
        definitions: totals.definitions,
        code_bytes: totals.code_bytes,
        stubs: totals.stubs,
    }
}

struct JsonRows<'a> {
    rows: &'a [&'a Row],
    view: &'a View,
}

impl Serialize for JsonRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.rows.len()))?;
        self.view.demangled(self.rows, |row, plain| all.serialize_element(&JsonRow::new(row, plain)))?;
        all.end()
    }
}

#[derive(Serialize)]
struct JsonRow<'a> {
    name: &'a str,
    demangled: Option<String>,
    module: Option<usize>,
    images: Vec<KernelImage>,
}

impl<'a> JsonRow<'a> {
    fn new(row: &'a Row, demangled: Option<String>) -> Self {
        let images = row.cells.iter().map(|(column, cell)| {
            let own = cell.resources.as_deref();
            KernelImage {
                kind: column.kind.name().to_owned(),
                arch: arch_name(*column),
                relocatable: column.relocatable,
                definitions: cell.count,
                code_bytes: cell.code_bytes,
                stub: cell.is_stub,
                registers: own.and_then(|own| own.registers),
                stack: own.and_then(|own| own.stack),
                shared: own.map(|own| own.shared),
                local: own.map(|own| own.local),
                constant0: own.map(|own| own.constant0),
                barriers: own.and_then(|own| own.barriers),
            }
        });
        Self { name: &row.name, demangled, module: row.module, images: images.collect() }
    }
}

fn document<'a>(report: &'a Report, view: &'a View) -> Document<'a> {
    let members = |artefact: &'a Artefact| artefact.members.iter().map(|member| JsonMember { member, view }).collect();
    let artefacts = report.artefacts.iter().map(|artefact| JsonArtefact {
        path: &artefact.path,
        at: (&artefact.at).into(),
        members: members(artefact),
    });
    Document {
        schema: 1,
        tool: Tool::default(),
        artefacts: artefacts.collect(),
        diagnostics: report.diagnostics.iter().map(Into::into).collect(),
        unread: report.unread.iter().map(Into::into).collect(),
    }
}

/// Kind, architecture and linkage, between commas.
fn column_fields(column: Column) -> String {
    format!(",{},{},{},", column.kind.name(), arch_name(column), column.relocatable)
}

fn comma(out: &mut impl Write, report: &Report, view: &View) -> io::Result<()> {
    csv::line(
        out,
        &[
            "artefact",
            "member",
            "kernel",
            "demangled",
            "module",
            "kind",
            "arch",
            "relocatable",
            "definitions",
            "code_bytes",
            "stub",
            "registers",
            "stack",
            "shared",
            "local",
            "constant0",
        ],
    )?;
    for artefact in &report.artefacts {
        for member in &artefact.members {
            let matrix = Matrix::of(member);
            let rows = chosen(member, &matrix, view);
            let columns: Vec<(Column, String)> =
                matrix.columns.iter().map(|column| (*column, column_fields(*column))).collect();
            view.demangled(&rows, |row, plain| {
                // what the lines of a kernel share: its names may be long
                let module = row.module.map(|module| module.to_string()).unwrap_or_default();
                let plain = plain.unwrap_or_default();
                let mut start = Vec::new();
                csv::fields(&mut start, &[&artefact.path, &member.path, &row.name, &plain, &module])?;
                for (column, cell) in row.cells.iter() {
                    out.write_all(&start)?;
                    let at = columns.binary_search_by_key(column, |(own, _)| *own);
                    if let Some((_, fields)) = at.ok().and_then(|at| columns.get(at)) {
                        out.write_all(fields.as_bytes())?;
                    }
                    write!(out, "{},{},{}", cell.count, cell.code_bytes, cell.is_stub)?;
                    match &cell.resources {
                        Some(own) => {
                            let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
                            let (registers, stack) = (number(own.registers), number(own.stack));
                            write!(out, ",{registers},{stack},{},{},{}\r\n", own.shared, own.local, own.constant0)?;
                        }
                        None => out.write_all(b",,,,,\r\n")?,
                    }
                }
                Ok::<(), io::Error>(())
            })?;
        }
    }
    Ok(())
}
