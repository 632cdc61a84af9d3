//! The report for people, in blocks that fit 80 columns.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fatscan::{
    Artefact, ArtefactJudgement, ArtefactKind, CodeKind, Coverage, Image, Judgement, Linkage, Member, Module, Report,
    Source,
};
use gpu_arch::Arch;
use gpu_arch::rules::{Device, Verdict};

use super::notes::{self, Labels, Refuted};
use super::{explain, words};
use crate::args::By;
use crate::escape;
use crate::terminal::{bytes, count, width, wrap};

/// Columns of the label in front of every line of a block.
const LABEL: usize = 10;

/// OptiX-IR begins as LTO-IR does.
const BARE_IR: &str = "LTO-IR or OptiX-IR";

/// What stands before the last name of a path.
fn folder(member: &Member) -> &str {
    member.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const SOME: Style = AnsiColor::Yellow.on_default();
const DAMAGE: Style = AnsiColor::Red.on_default();

pub(crate) fn write(out: &mut impl Write, report: &Report, judgement: Option<&Judgement>, by: By) -> io::Result<()> {
    let mut page = Page { out, width: width(), labels: Labels::of(report) };
    for (index, artefact) in report.artefacts.iter().enumerate() {
        if index > 0 {
            writeln!(page.out)?;
        }
        page.artefact(artefact, by)?;
        if let Some(judgement) = judgement
            && let Some(judged) = judgement.artefacts.get(index)
        {
            page.verdicts(judged, &judgement.devices, explain::caution(report, index))?;
        }
        page.unread(report, index)?;
    }
    page.damage(report)
}

struct Page<'a, W> {
    out: &'a mut W,
    width: usize,
    labels: Labels<'a>,
}

impl<W: Write> Page<'_, W> {
    fn artefact(&mut self, artefact: &Artefact, by: By) -> io::Result<()> {
        let path = escape::text(&artefact.path);
        let size = bytes(artefact.size);
        if artefact.kind == ArtefactKind::File {
            match artefact.members.first() {
                Some(member) => self.member(&path, member, by)?,
                None => writeln!(self.out, "{BOLD}{path}{BOLD:#}  {size}\n  no device code")?,
            }
            return Ok(());
        }
        writeln!(self.out, "{BOLD}{path}{BOLD:#}  {}, {size}", artefact.kind.name())?;
        let without = usize::try_from(artefact.members_without_code).unwrap_or(usize::MAX);
        if artefact.members.is_empty() {
            let natives = match without {
                0 => "no native libraries in it".to_owned(),
                _ => format!("{} without any", count(without, "native file", "native files")),
            };
            return writeln!(self.out, "  no device code: {natives}");
        }
        if by == By::Artefact {
            self.body(&artefact.members)?;
        } else {
            let alike = |one: &Member, next: &Member| {
                by == By::Member && one.is_bare_ir() && next.is_bare_ir() && folder(one) == folder(next)
            };
            for group in artefact.members.chunk_by(alike) {
                writeln!(self.out)?;
                match group {
                    [first, .., last] => self.files(first, last, group)?,
                    _ => group.iter().try_for_each(|own| self.member(&escape::text(&own.path), own, by))?,
                }
            }
            writeln!(self.out)?;
        }
        let with = count(artefact.members.len(), "file", "files");
        let rest = if without > 0 {
            format!(", {} without", count(without, "native file", "native files"))
        } else {
            String::new()
        };
        writeln!(self.out, "{DIM}{with} with device code{rest}{DIM:#}")
    }

    /// Files of intermediate code in one folder, of which there may be hundreds.
    fn files(&mut self, first: &Member, last: &Member, group: &[Member]) -> io::Result<()> {
        let folder = escape::text(folder(first));
        let name = |member: &Member| escape::text(member.path.rsplit('/').next().unwrap_or_default()).into_owned();
        let size = bytes(group.iter().map(|member| member.size).fold(0, u64::saturating_add));
        let files = count(group.len(), "file", "files");
        writeln!(self.out, "{BOLD}{folder}/{BOLD:#}  {files} of {BARE_IR}, {size}")?;
        let words: Vec<String> = vec![name(first), "to".to_owned(), name(last)];
        self.styled("names", &words, Style::new())?;
        self.body(group)
    }

    fn member(&mut self, path: &str, member: &Member, by: By) -> io::Result<()> {
        let machine = member.machine.map(|machine| format!(" {machine}")).unwrap_or_default();
        let format = if member.is_bare_ir() { BARE_IR } else { member.format };
        writeln!(self.out, "{BOLD}{path}{BOLD:#}  {format}{machine}, {}", bytes(member.size))?;
        if by == By::Module {
            self.modules(member)?;
            return self.refuted(&self.labels.refuted([member]));
        }
        self.body(std::slice::from_ref(member))
    }

    /// What is in some files: of one as it is, of several their sum.
    fn body(&mut self, members: &[Member]) -> io::Result<()> {
        let refuted = self.labels.refuted(members);
        let sum = |of: fn(&Member) -> Coverage| Coverage::sum(members.iter().map(of));
        let loadable = sum(|member| Coverage::of(member, false));
        let linked = sum(|member| Coverage::of(member, true));
        let unmapped = sum(Coverage::unmapped);
        if loadable.modules() > 0 {
            self.coverage(&loadable, &refuted.marks)?;
        }
        if linked.modules() > 0 {
            let only_ir = linked.images.keys().all(|(kind, _)| *kind == CodeKind::LtoIr);
            if !only_ir {
                writeln!(self.out, "  for a device link only, not loaded by the driver as it is:")?;
            }
            self.coverage(&linked, &refuted.marks)?;
        }
        if unmapped.modules() > 0 {
            writeln!(self.out, "  in places that no program has in its memory, so nothing loads it:")?;
            self.coverage(&unmapped, &refuted.marks)?;
        }
        self.foreign(members)?;
        self.summary(members)?;
        self.refuted(&refuted)
    }

    /// What the marks mean.
    fn refuted(&mut self, refuted: &Refuted) -> io::Result<()> {
        for sentence in refuted.sentences() {
            let words: Vec<String> = sentence.split(' ').map(ToOwned::to_owned).collect();
            self.styled("*", &words, SOME)?;
        }
        Ok(())
    }

    /// What is damaged, at the end: a reader of this list alone is not to take it for whole.
    fn damage(&mut self, report: &Report) -> io::Result<()> {
        let Some(few) = notes::damaged(report) else { return Ok(()) };
        writeln!(self.out)?;
        let words: Vec<&str> = few.heading.split(' ').collect();
        writeln!(self.out, "{DAMAGE}{}{DAMAGE:#}", wrap(&words, 2, 0, self.width))?;
        for (file, message) in &few.files {
            let text = format!("{file}: {message}");
            let words: Vec<&str> = text.split(' ').collect();
            writeln!(self.out, "  {}", wrap(&words, 4, 2, self.width))?;
        }
        few.rest.map_or(Ok(()), |rest| writeln!(self.out, "  {rest}"))
    }

    /// What was not read, in a line: it may hold what is not listed.
    fn unread(&mut self, report: &Report, index: usize) -> io::Result<()> {
        let own = report.unread.iter().filter(|unread| report.artefact_of(&unread.at) == Some(index));
        let own: Vec<_> = own.collect();
        let Some(first) = own.first() else { return Ok(()) };
        let number = count(
            own.len(),
            "file was not read and may hold device code",
            "files were not read and may hold device code",
        );
        let member = report.member_of(&first.at);
        let which = if member.is_empty() { String::new() } else { format!("`{member}`: ") };
        let more = if own.len() > 1 { ", ..." } else { "" };
        let text = format!("{number} ({which}{}{more})", first.why);
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(self.out, "  {SOME}{}{SOME:#}", wrap(&words, 4, 2, self.width))
    }

    /// What each GPU can do with it, in a line.
    fn verdicts(&mut self, judged: &ArtefactJudgement, devices: &[Device], caution: Option<&str>) -> io::Result<()> {
        for (device, whole) in devices.iter().zip(&judged.verdicts) {
            let verdict = whole.verdict.verdict;
            let (word, _) = explain::sentence(verdict);
            let style = explain::style(verdict);
            // what is native needs no reasons
            let more = if verdict == Verdict::Native { "" } else { "; `fatscan explain` says why" };
            let reserve = caution.map(|text| format!("; {text}")).unwrap_or_default();
            let line = explain::words(&format!("{word} {}{reserve}{more}", explain::on(device)));
            let text = wrap(&line, 4, 2, self.width);
            let rest = text.strip_prefix(word).unwrap_or_default();
            writeln!(self.out, "  {style}{word}{style:#}{rest}")?;
        }
        Ok(())
    }

    /// The architectures of one coverage, kind by kind: those of every module, then those of some.
    fn coverage(&mut self, coverage: &Coverage, marks: &words::Marks) -> io::Result<()> {
        for kind in words::KINDS {
            let everywhere = coverage.everywhere(kind);
            let somewhere = coverage.somewhere(kind);
            let mut label = words::label(kind);
            if !everywhere.is_empty() {
                self.line(label, &words::archs(kind, &everywhere, marks))?;
                label = "";
            }
            if !somewhere.is_empty() {
                let mut words = vec![format!("in some of {} modules only:", coverage.deciding())];
                words.extend(words::counted(kind, &somewhere, marks));
                self.styled(label, &words, SOME)?;
                label = "";
            }
            let alone = coverage.general > 0 && coverage.images.keys().any(|(of, _)| *of == kind);
            let shown = matches!(kind, CodeKind::Sass | CodeKind::Ptx)
                && !coverage.images.keys().all(|(of, _)| *of == CodeKind::LtoIr);
            if !label.is_empty() && shown {
                let text = if alone { "in specialised modules only" } else { "none" };
                self.line(label, &[text.to_owned()])?;
            }
        }
        if coverage.general > 0 && !coverage.specialised.is_empty() {
            let modules = coverage.modules().saturating_sub(coverage.general);
            let sets = words::specialised(coverage, marks);
            let shown = sets.len().min(6);
            let mut words = vec![format!("{}:", count(modules, "specialised module", "specialised modules"))];
            words.extend(
                sets.iter()
                    .take(shown)
                    .enumerate()
                    .map(|(index, set)| if index.saturating_add(1) < shown { format!("{set},") } else { set.clone() }),
            );
            if sets.len() > shown {
                words.push(format!("and {} more sets (--by module)", sets.len().saturating_sub(shown)));
            }
            self.line("special", &words)?;
        }
        Ok(())
    }

    fn foreign(&mut self, members: &[Member]) -> io::Result<()> {
        let modules = || members.iter().flat_map(|member| &member.modules);
        let bundles = || modules().filter(|module| module.source == Source::OffloadBundle);
        let targets: BTreeSet<&str> =
            bundles().flat_map(|module| &module.images).filter_map(|image| image.foreign.as_deref()).collect();
        let number = bundles().count();
        if number == 0 {
            return Ok(());
        }
        let mut words = vec![format!("{} of another vendor", count(number, "bundle", "bundles"))];
        words.extend(targets.into_iter().map(ToOwned::to_owned));
        self.line("other", &words)
    }

    fn summary(&mut self, members: &[Member]) -> io::Result<()> {
        let modules = || members.iter().flat_map(|member| &member.modules);
        let own = || modules().filter(|module| module.source != Source::OffloadBundle);
        let images = || own().flat_map(|module| &module.images);
        let empty = members.iter().map(|member| member.empty_fatbins).fold(0, u64::saturating_add);
        if own().next().is_none() && empty == 0 {
            return Ok(());
        }
        let stored = images().map(|image| image.stored_bytes).fold(0, u64::saturating_add);
        let mut words = vec![
            format!("{},", count(own().count(), "module", "modules")),
            format!("{},", count(images().count(), "image", "images")),
            format!("{} ({})", bytes(stored), compression(images())),
        ];
        if empty > 0 {
            let empty = usize::try_from(empty).unwrap_or(usize::MAX);
            words.push(format!("and {}", count(empty, "empty fatbin", "empty fatbins")));
        }
        self.styled("code", &words, DIM)
    }

    /// One line for each module.
    fn modules(&mut self, member: &Member) -> io::Result<()> {
        for module in &member.modules {
            let object = module.object.as_ref().map(|object| format!("{}!", object.name)).unwrap_or_default();
            let section = module.section.as_deref().unwrap_or_default();
            let place = format!("{object}{section}@{:#x}", module.offset);
            let mut words: Vec<String> = vec![place];
            words.extend(set(module, &self.labels.marks(member, module)));
            if module.source != Source::Fatbin {
                words.push(format!("[{}]", module.source.name()));
            }
            if module.images.iter().all(|image| image.linkage == Linkage::Relocatable) {
                words.push("[relocatable]".to_owned());
            }
            if module.wrapped == Some(false) {
                words.push("[no wrapper]".to_owned());
            }
            if module.mapped == Some(false) {
                words.push("[not loaded]".to_owned());
            }
            if module.damaged {
                words.push("[damaged]".to_owned());
            }
            let stored = module.images.iter().map(|image| image.stored_bytes).fold(0, u64::saturating_add);
            words.push(format!("{}, {}", compression(module.images.iter()), bytes(stored)));
            let text = wrap(&words, 6, 2, self.width);
            writeln!(self.out, "  {text}")?;
        }
        self.summary(std::slice::from_ref(member))
    }

    fn line(&mut self, label: &str, words: &[String]) -> io::Result<()> {
        self.styled(label, words, Style::new())
    }

    fn styled(&mut self, label: &str, words: &[String], style: Style) -> io::Result<()> {
        let text = wrap(words, LABEL, LABEL, self.width);
        writeln!(self.out, "  {label:<8}{style}{text}{style:#}")
    }
}

/// `sm_75 80 compute_80`: what one module holds, every image named.
fn set(module: &Module, marks: &words::Marks) -> Vec<String> {
    let mut words = Vec::new();
    for kind in words::KINDS {
        let archs: Vec<Arch> =
            module.images.iter().filter(|image| image.kind == kind).filter_map(|image| image.arch).collect();
        words.extend(words::archs(kind, &archs, marks));
        let foreign =
            module.images.iter().filter(|image| image.kind == kind).filter_map(|image| image.foreign.as_deref());
        words.extend(foreign.map(ToOwned::to_owned));
        if module.images.iter().any(|image| image.kind == kind && image.arch.is_none() && image.foreign.is_none()) {
            words.push(words::label(kind).to_owned());
        }
    }
    words
}

fn compression<'a>(images: impl Iterator<Item = &'a Image>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for image in images {
        let number = counts.entry(image.compression.name()).or_default();
        *number = number.saturating_add(1);
    }
    match counts.len() {
        0 => "nothing".to_owned(),
        1 => counts.into_keys().map(|name| if name == "none" { "not compressed" } else { name }).collect(),
        _ => {
            let words: Vec<String> = counts.iter().map(|(name, number)| format!("{name} {number}")).collect();
            words.join(", ")
        }
    }
}
