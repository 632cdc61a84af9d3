//! What was slimmed, in every format.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;
use fatscan::ArtefactKind;
use fatscan::json::slim::{Slim, SlimFile, SlimMember};
use fatscan::json::{SCHEMA, Tool};
use fatscan::slim::{MemberPlan, Stays, Tally};

use crate::escape;
use crate::slim::{Chosen, Done, name};
use crate::terminal::{bytes, count};

const BOLD: Style = Style::new().bold();

/// Sums over files.
fn summed<K: Ord + Clone>(done: &Done, of: impl Fn(&MemberPlan) -> &BTreeMap<K, Tally>) -> BTreeMap<K, Tally> {
    let mut sums: BTreeMap<K, Tally> = BTreeMap::new();
    for (key, tally) in done.plans().flat_map(of) {
        let own = sums.entry(key.clone()).or_default();
        own.images = own.images.saturating_add(tally.images);
        own.bytes = own.bytes.saturating_add(tally.bytes);
    }
    sums
}

fn percent(after: u64, before: u64) -> u64 {
    after.saturating_mul(100).checked_div(before.max(1)).unwrap_or(100)
}

/// What stays and what goes, by architecture.
fn rows(done: &Done) -> BTreeMap<String, (Tally, Tally)> {
    let mut rows: BTreeMap<String, (Tally, Tally)> = BTreeMap::new();
    for (name, own) in summed(done, |plan| &plan.kept) {
        rows.entry(name).or_default().0 = own;
    }
    for (name, own) in summed(done, |plan| &plan.dropped) {
        rows.entry(name).or_default().1 = own;
    }
    rows
}

/// What was wished, as a part of a sentence.
fn wished(chosen: &Chosen) -> String {
    let names = |list: &[gpu_arch::Target]| list.iter().map(name).collect::<Vec<_>>().join(", ");
    match (chosen.keep.as_slice(), chosen.drop.as_slice()) {
        ([], []) => format!("for {}", chosen.gpus().join(", ")),
        (keep, []) => format!("with {}", names(keep)),
        (_, drop) => format!("without {}", names(drop)),
    }
}

/// What it became, in one sentence.
fn outcome(own: &Done) -> String {
    let (zeros, before, after) = (bytes(own.zeroed()), bytes(own.before), bytes(own.after));
    match own.kind {
        ArtefactKind::Wheel | ArtefactKind::Zip => {
            let share = percent(own.after, own.before);
            format!("{before} -> {after}, {share} %; {zeros} of its files are zero now")
        }
        _ if own.after < own.before => format!("{before} -> {after}; {zeros} are zero now, or cut off bare fatbins"),
        _ => format!("{zeros} of {before} are zero now, in their places"),
    }
}

/// Where it is now, in one sentence.
fn place(own: &Done) -> String {
    let proof = "read again: it is what was planned";
    match &own.to {
        Some(_) if own.is_in_place => format!("changed in its place; {proof}"),
        Some(to) => format!("written to {}; {proof}", to.display()),
        None => "nothing is written".to_owned(),
    }
}

pub(crate) fn table(out: &mut impl Write, done: &[Done], chosen: &Chosen, unwrapped: bool) -> io::Result<()> {
    for (index, own) in done.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let from = own.from.display().to_string();
        writeln!(out, "{BOLD}{}{BOLD:#}  {}", escape::text(&from), wished(chosen))?;
        if own.changes() {
            writeln!(out, "  {BOLD}{:<14}{:>10}{:>12}{:>10}{:>12}{BOLD:#}", "", "images", "stay", "images", "go")?;
            for (name, (stay, go)) in rows(own) {
                let (kept, dropped) = (bytes(stay.bytes), bytes(go.bytes));
                writeln!(out, "  {name:<14}{:>10}{kept:>12}{:>10}{dropped:>12}", stay.images, go.images)?;
            }
            let why = summed(own, |plan| &plan.why);
            for (why, tally) in why {
                let images = count(tally.images, "image", "images");
                writeln!(out, "  stay: {images}, {}: {}", bytes(tally.bytes), why.text())?;
            }
            let changed: Vec<&(String, MemberPlan)> =
                own.members.iter().filter(|(_, plan)| !plan.edits.is_empty()).collect();
            if own.kind != ArtefactKind::File {
                writeln!(
                    out,
                    "  {} of {} with device code change",
                    changed.len(),
                    count(own.members.len(), "file", "files")
                )?;
                let mut largest = changed;
                largest.sort_by_key(|(path, plan)| (core::cmp::Reverse(plan.dropped_bytes()), path.clone()));
                for (path, plan) in largest.iter().take(FILES) {
                    writeln!(out, "  {:>12}  {}", bytes(plan.dropped_bytes()), escape::text(path))?;
                }
                let rest = largest.len().saturating_sub(FILES);
                if rest > 0 {
                    writeln!(out, "  {:>12}  and {rest} more (--json names them)", "")?;
                }
            }
        } else {
            writeln!(out, "  nothing to leave out")?;
        }
        for (stays, tally) in summed(own, |plan| &plan.stays) {
            let images = count(tally.images, "image", "images");
            writeln!(out, "  left as they are: {images}, {}: {}", bytes(tally.bytes), stays.text())?;
            if stays == Stays::Unwrapped && !unwrapped {
                writeln!(out, "    --include-unwrapped changes them too")?;
            }
        }
        for name in &own.signatures {
            writeln!(out, "  left out, since it signed the old bytes: {}", escape::text(name))?;
        }
        for note in &own.notes {
            writeln!(out, "  {}", escape::text(note))?;
        }
        writeln!(out, "  {}", outcome(own))?;
        writeln!(out, "  {}", escape::text(&place(own)))?;
    }
    Ok(())
}

/// Files that are named in a table.
const FILES: usize = 10;

pub(crate) fn markdown(out: &mut impl Write, done: &[Done], chosen: &Chosen) -> io::Result<()> {
    for own in done {
        let from = escape::markdown(&own.from.display().to_string());
        writeln!(out, "### {from} {}\n", escape::markdown(&wished(chosen)))?;
        if own.changes() {
            writeln!(out, "| architecture | images | stay | images | go |\n|---|---:|---:|---:|---:|")?;
            for (name, (stay, go)) in rows(own) {
                let (name, kept, dropped) = (escape::markdown(&name), bytes(stay.bytes), bytes(go.bytes));
                writeln!(out, "| {name} | {} | {kept} | {} | {dropped} |", stay.images, go.images)?;
            }
            writeln!(out)?;
        } else {
            writeln!(out, "Nothing to leave out.\n")?;
        }
        for (why, tally) in summed(own, |plan| &plan.why) {
            writeln!(out, "- stay: {}: {}", count(tally.images, "image", "images"), why.text())?;
        }
        for (stays, tally) in summed(own, |plan| &plan.stays) {
            writeln!(out, "- left as they are: {}: {}", count(tally.images, "image", "images"), stays.text())?;
        }
        for name in &own.signatures {
            writeln!(out, "- left out, since it signed the old bytes: {}", escape::markdown(name))?;
        }
        for note in &own.notes {
            writeln!(out, "- {}", escape::markdown(note))?;
        }
        writeln!(out, "- {}\n- {}\n", outcome(own), escape::markdown(&place(own)))?;
    }
    Ok(())
}

pub(crate) fn json(out: &mut impl Write, done: &[Done], chosen: &Chosen) -> io::Result<()> {
    let files = done.iter().map(|own| SlimFile {
        path: own.from.display().to_string(),
        written: own.to.as_ref().map(|to| to.display().to_string()),
        bytes_before: own.before,
        bytes_after: own.after,
        zeroed_bytes: own.zeroed(),
        why_kept: summed(own, |plan| &plan.why)
            .into_iter()
            .map(|(why, own)| (why.text().to_owned(), own.into()))
            .collect(),
        left: summed(own, |plan| &plan.stays)
            .into_iter()
            .map(|(why, own)| (why.text().to_owned(), own.into()))
            .collect(),
        signatures_left_out: own.signatures.clone(),
        notes: own.notes.clone(),
        members: own.members.iter().map(|(path, plan)| SlimMember::new(path, plan)).collect(),
    });
    let document = Slim {
        schema: SCHEMA,
        tool: Tool::default(),
        gpus: chosen.gpus(),
        keep: chosen.keep.iter().map(name).collect(),
        drop: chosen.drop.iter().map(name).collect(),
        files: files.collect(),
    };
    let text = serde_json::to_string_pretty(&document)?;
    writeln!(out, "{}", escape::json(&text))
}
