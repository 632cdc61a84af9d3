//! Libraries by architectures: which share of the modules of each holds code for it.

use std::collections::BTreeSet;

use fatscan::fleet::Board;
use fatscan::{CodeKind, Coverage, Member, Report};
use gpu_arch::Arch;
use maud::{Markup, html};

use super::say;
use crate::render::words;
use crate::terminal::{bytes, count};

/// Libraries that are shown: more make no page that people look at.
const MOST: usize = 1000;

type Key = (CodeKind, Arch);

/// A file, by the code that a driver loads; where it has none, by what a device link takes.
struct Library<'a> {
    member: &'a Member,
    coverage: Coverage,
    is_linked: bool,
}

impl<'a> Library<'a> {
    fn new(member: &'a Member) -> Self {
        let loadable = Coverage::of(member, false);
        if loadable.modules() > 0 {
            return Self { member, coverage: loadable, is_linked: false };
        }
        Self { member, coverage: Coverage::of(member, true), is_linked: true }
    }
}

pub(super) fn section(report: &Report, board: &Board, names: &[String]) -> Markup {
    let mut left = MOST;
    let mut groups: Vec<(usize, &str, Vec<Library<'_>>)> = Vec::new();
    let mut all = 0usize;
    for (index, (row, name)) in board.rows.iter().zip(names).enumerate() {
        let Some(artefact) = row.artefact.and_then(|own| report.artefacts.get(own)) else { continue };
        let own = artefact.members.iter().map(Library::new).filter(|own| own.coverage.modules() > 0);
        let own: Vec<Library<'_>> = own.collect();
        all = all.saturating_add(own.len());
        let shown: Vec<Library<'_>> = own.into_iter().take(left).collect();
        left = left.saturating_sub(shown.len());
        if !shown.is_empty() {
            groups.push((index, name, shown));
        }
    }
    let keys: BTreeSet<Key> = groups
        .iter()
        .flat_map(|(.., own)| own)
        .flat_map(|own| own.coverage.images.keys().copied())
        .filter(|(kind, _)| matches!(kind, CodeKind::Sass | CodeKind::Ptx))
        .collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    let kinds: Vec<&[Key]> = keys.chunk_by(|one, next| one.0 == next.0).collect();
    let shown = groups.iter().map(|(.., own)| own.len()).fold(0, usize::saturating_add);
    if groups.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="by-arch" {
            h2 #by-arch { "Libraries by architectures" }
            @if shown < all {
                p.quiet { "The first " (shown) " of " (count(all, "library", "libraries")) ": `fatscan list --format csv` has all." }
            }
            p.quiet { "The share of general modules that hold code for it. \"+3\": three specialised modules beside them." }
            div.scroll tabindex="0" role="region" aria-labelledby="by-arch" {
                table #libraries {
                    caption { "The share of modules of each library for each architecture" }
                    thead {
                        tr.fleets {
                            td colspan="4" {}
                            @for own in &kinds {
                                @if let Some((kind, _)) = own.first() {
                                    th scope="colgroup" colspan=(own.len()) { (words::label(*kind)) " " code { (words::prefix(*kind)) "_" } }
                                }
                            }
                        }
                        tr {
                            th scope="col" { "library" }
                            th.n scope="col" { "size" }
                            th.n scope="col" { "code" }
                            th.n scope="col" { "modules" }
                            @for (_, arch) in &keys { th.n scope="col" { (arch) } }
                        }
                    }
                    @for (index, name, own) in &groups {
                        tbody data-a=(index) {
                            tr { th.of scope="rowgroup" colspan=(keys.len().saturating_add(4)) { (say(name)) } }
                            @for own in own { (line(own, &keys)) }
                        }
                    }
                }
            }
        }
    }
}

fn line(own: &Library<'_>, keys: &[Key]) -> Markup {
    let Library { member, coverage, is_linked } = own;
    let code = member.modules.iter().flat_map(|module| &module.images).map(|image| image.stored_bytes);
    let code = bytes(code.fold(0, u64::saturating_add));
    // the folder is in the title
    let name = member.path.rsplit('/').next().unwrap_or(&member.path);
    html! {
        tr {
            th scope="row" title=[(name != member.path).then(|| say(&member.path))] {
                (say(name)) @if *is_linked { small { "for a device link" } }
            }
            td.n { (bytes(member.size)) }
            td.n { (code) }
            td.n { (coverage.modules()) }
            @for key in keys { (share(coverage, *key)) }
        }
    }
}

/// A share in words, and its tenth as the class that colours it.
fn share(coverage: &Coverage, (kind, arch): Key) -> Markup {
    let (own, all) = (coverage.holding(kind, arch), coverage.deciding());
    let beside = coverage.images.get(&(kind, arch)).map_or(0, |own| own.specialised);
    let percent = own.saturating_mul(100).checked_div(all).unwrap_or(0);
    html! {
        @if own == 0 && beside == 0 { td {} }
        @else if own == 0 { td.h0 { "+" (beside) } }
        @else if own == all { td.h9 { "all" } }
        @else { td class={ "h" (percent.min(99) / 10) } { @if percent == 0 { "<1 %" } @else { (percent) " %" } } }
    }
}
