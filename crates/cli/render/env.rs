//! An environment: what fails or that nothing does, a line a distribution, what to do.

use std::io::{self, Write};

use anstyle::Style;
use fatscan::environment::{Distribution, Kind, Link, Rank, Row, State, name_of_nobody, rows};
use fatscan::{Fix, Level, advise};
use gpu_arch::DriverVersion;
use gpu_arch::rules::{Device, Verdict};

use super::csv::line;
use super::explain::{on, sentence, style, words};
use crate::env::Seen;
use crate::escape;
use crate::terminal::{count, width, wrap};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
/// Distributions that advice is given about.
const ADVISED: usize = 5;
/// Remarks on distributions without device code that are shown.
const REMARKS: usize = 5;
/// Files of nobody that are named.
const FILES: usize = 5;

pub(crate) fn text(out: &mut impl Write, seen: &Seen) -> io::Result<()> {
    let page = Page::new(seen);
    page.head(out)?;
    page.table(out)?;
    page.advice(out)
}

/// What is shown, and where.
struct Page<'a> {
    seen: &'a Seen,
    rows: Vec<Row>,
    ids: Vec<String>,
    width: usize,
}

impl<'a> Page<'a> {
    fn new(seen: &'a Seen) -> Self {
        let rows = rows(&seen.groups, &seen.judgement, &seen.environment);
        Self { seen, rows, ids: seen.judgement.ids(), width: width() }
    }

    fn devices(&self) -> &'a [Device] {
        &self.seen.judgement.devices
    }

    fn distribution(&self, row: &Row) -> Option<&'a Distribution> {
        row.distribution.and_then(|own| self.seen.environment.distributions.get(own))
    }

    fn name(&self, row: &Row) -> String {
        self.distribution(row).map_or_else(|| name_of_nobody().to_owned(), |own| own.name.clone())
    }

    fn title(&self, row: &Row) -> String {
        self.distribution(row).map_or_else(|| name_of_nobody().to_owned(), Distribution::title)
    }

    /// The ids of the devices for which something is so; nothing where it is so for all.
    fn whom(&self, row: &Row, is_so: impl Fn(&State) -> bool) -> String {
        let own = row.states.iter().zip(&self.ids).filter(|(state, _)| is_so(state));
        let own: Vec<&str> = own.map(|(_, id)| id.as_str()).collect();
        if own.len() == self.ids.len() { String::new() } else { own.join(", ") }
    }

    /// Whether all files could be read.
    fn is_whole(&self) -> bool {
        let report = &self.seen.groups.report;
        report.unread.is_empty() && !report.diagnostics.iter().any(|said| said.level == Level::Error)
    }

    /// What fails, or that nothing does.
    fn headline(&self) -> (Verdict, String) {
        let failing: Vec<&Row> = self.rows.iter().filter(|row| row.rank() == Rank::Fails).collect();
        let own: Vec<&Row> = self.rows.iter().filter(|row| row.distribution.is_some()).collect();
        let where_ = match self.ids.len() {
            1 => "on this GPU".to_owned(),
            number => format!("on {number} GPUs"),
        };
        if self.rows.is_empty() {
            return (Verdict::NoDeviceCode, "no device code that an NVIDIA GPU runs is installed here".to_owned());
        }
        let all = count(own.len(), "distribution with device code", "distributions with device code");
        if failing.is_empty() {
            let verdict = self.rows.iter().flat_map(|row| &row.states).map(|state| state.verdict).max();
            let text = match own.len() {
                0 => format!("the {} run {where_}", name_of_nobody()),
                1 => {
                    let name = own.first().map(|row| self.name(row)).unwrap_or_default();
                    format!("{name} runs {where_}: the only distribution with device code")
                }
                _ => format!("all {all} run {where_}"),
            };
            let text = if self.is_whole() { text } else { format!("{text}, as far as they could be read") };
            return (verdict.filter(|verdict| verdict.is_usable()).unwrap_or(Verdict::Native), text);
        }
        let names = failing.iter().map(|row| {
            let whom = self.whom(row, |state| state.rank() == Rank::Fails);
            if whom.is_empty() { self.name(row) } else { format!("{} ({whom})", self.name(row)) }
        });
        let names: Vec<String> = names.collect();
        let shown = names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(8);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let number = failing.iter().filter(|row| row.distribution.is_some()).count();
        let verb = if failing.len() == 1 && number == 1 { "does" } else { "do" };
        let where_ = if self.ids.len() == 1 { " on this GPU" } else { "" };
        let worst = failing.iter().flat_map(|row| &row.states).map(|state| state.verdict).max();
        let worst = worst.unwrap_or(Verdict::NotCovered);
        let of_all = if number > 0 { format!(": {number} of {all}") } else { String::new() };
        let text = format!("{shown}{more} {verb} not run in full{where_}{of_all}");
        (worst, text)
    }

    /// Which environment, and how it was found.
    fn place(&self) -> String {
        let own = &self.seen.environment;
        let what = match own.kind {
            Kind::Venv => "venv",
            Kind::Conda => "conda prefix",
            Kind::Site => "directory of packages",
            Kind::Process => "files that it has mapped",
            _ => "installation of Python",
        };
        let python = own.python.as_ref().map(|version| format!(", Python {version}")).unwrap_or_default();
        let sites = match own.sites.as_slice() {
            [] => String::new(),
            [_] => String::new(),
            sites => format!(" in {} directories", sites.len()),
        };
        let all = count(own.distributions.len(), "distribution", "distributions");
        format!("{}: {what}, {}{python}; {all}{sites}", own.root.display(), own.found)
    }

    /// The devices and the driver.
    fn target(&self) -> String {
        let devices = self.devices();
        let [first, _, ..] = devices else { return devices.first().map(on).unwrap_or_default() };
        let driver = |device: &Device| {
            let text = on(device);
            text.split_once(&format!("capability {}, ", device.capability))
                .map_or(String::new(), |(_, text)| text.to_owned())
        };
        let own = driver(first);
        let is_same = devices.iter().all(|device| driver(device) == own);
        let driver = if is_same { format!("; {own}") } else { String::new() };
        format!("on {}{driver}", self.ids.join(", "))
    }

    /// The newest driver that something asks for, where none is known.
    fn assumed(&self) -> Option<DriverVersion> {
        let verdicts = self.seen.judgement.artefacts.iter().flat_map(|judged| &judged.verdicts);
        let is_unknown = self.devices().iter().all(|device| device.driver.is_unknown());
        verdicts.filter_map(|own| own.verdict.needs_driver).max().filter(|_| is_unknown)
    }

    fn head(&self, out: &mut impl Write) -> io::Result<()> {
        let (verdict, text) = self.headline();
        let style = style(verdict);
        writeln!(out, "{style}{}{style:#}", wrap(&words(&text), 0, 0, self.width))?;
        self.para(out, 0, &self.place())?;
        // of an unknown driver it is only said what it must be
        let target = match self.assumed() {
            Some(driver) => self.target().replace("a new enough one assumed", &format!("{driver} or newer assumed")),
            None => self.target(),
        };
        self.para(out, 0, &target)?;
        let broken: Vec<&Distribution> = self.unloadable().collect();
        if let Some(first) = broken.first() {
            let more = broken.len().saturating_sub(1);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.para(
                out,
                2,
                &format!("- beside the GPU: files of {}{more} cannot be loaded here, see below", first.name),
            )?;
        }
        let links = self.links(None).map(|link| &link.text);
        for note in self.seen.environment.notes.iter().chain(links).take(REMARKS) {
            self.para(out, 2, &format!("- {note}"))?;
        }
        Ok(())
    }

    /// What people are told of how files of a distribution are linked; on several GPUs there is room for what is grave.
    fn links(&self, own: Option<usize>) -> impl Iterator<Item = &'a Link> {
        let has_room = self.ids.len() == 1;
        let is_told = move |link: &&Link| !link.is_usual && (has_room || link.is_error || link.kind == "mixed-majors");
        self.seen.links.iter().filter(move |link| link.distribution == own).filter(is_told)
    }

    /// The distributions with files that do not find what they ask for.
    fn unloadable(&self) -> impl Iterator<Item = &'a Distribution> {
        let all = self.seen.environment.distributions.iter().enumerate();
        all.filter(|(index, _)| self.links(Some(*index)).any(|link| link.is_error)).map(|(_, own)| own)
    }

    fn table(&self, out: &mut impl Write) -> io::Result<()> {
        let (spoken, native): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.rank() < Rank::Native);
        if !self.rows.is_empty() {
            writeln!(out)?;
        }
        for row in &spoken {
            self.row(out, row)?;
        }
        if !native.is_empty() {
            let names: Vec<String> = native.iter().map(|row| self.name(row)).collect();
            let text = match native.len() {
                1 => format!("1 distribution with device code runs natively: {}", names.join(", ")),
                number => format!("{number} distributions with device code run natively: {}", names.join(", ")),
            };
            self.para(out, 2, &text)?;
        }
        for row in &native {
            self.remarks(out, row, true)?;
        }
        let own = self.rows.iter().filter(|row| row.distribution.is_some()).count();
        let without = self.seen.environment.distributions.len().saturating_sub(own);
        let unread = self.seen.groups.report.unread.len();
        let mut text = count(without, "distribution has no device code", "distributions have no device code");
        if unread > 0 {
            text.push_str(&format!("; {} that may hold some: not read", count(unread, "file", "files")));
        }
        if without > 0 || unread > 0 {
            let text = wrap(&words(&text), 2, 2, self.width);
            writeln!(out, "  {DIM}{text}{DIM:#}")?;
        }
        self.quiet(out)
    }

    /// A line of one distribution.
    fn row(&self, out: &mut impl Write, row: &Row) -> io::Result<()> {
        let mut groups: Vec<(&'static str, Verdict, Vec<&str>, Option<&str>)> = Vec::new();
        for (state, id) in row.states.iter().zip(&self.ids) {
            let word = word(state);
            match groups.iter_mut().find(|(known, ..)| *known == word) {
                Some((_, _, ids, _)) => ids.push(id),
                None => groups.push((word, state.verdict, vec![id], state.reason.as_deref())),
            }
        }
        groups.sort_by_key(|(_, verdict, ..)| core::cmp::Reverse(*verdict));
        let all = self.ids.len();
        let mut texts = Vec::new();
        for (place, (word, verdict, ids, reason)) in groups.iter().enumerate() {
            // what is not named runs natively
            if place > 0 && (*word == "native" || *verdict == Verdict::NoDeviceCode) {
                continue;
            }
            let but: Vec<&str> = self.ids.iter().map(String::as_str).filter(|id| !ids.contains(id)).collect();
            let on = match but.len() {
                0 => String::new(),
                1 | 2 if ids.len() > 2 => format!(" on all but {}", but.join(", ")),
                _ => format!(" on {}", ids.join(", ")),
            };
            // on several GPUs there is room for what fails only
            let is_shown = all == 1 || !verdict.is_usable();
            let reason = reason.filter(|_| is_shown).map(|reason| format!(": {reason}")).unwrap_or_default();
            texts.push(format!("{word}{on}{reason}"));
        }
        let text = escape::text(&texts.join("; ")).into_owned();
        let title = escape::text(&self.title(row)).into_owned();
        let (word, verdict) = groups.first().map_or(("", Verdict::Native), |(word, verdict, ..)| (*word, *verdict));
        let used = title.chars().count().saturating_add(4);
        let text = wrap(&words(&text), 6, used, self.width);
        let rest = text.strip_prefix(word).unwrap_or_default();
        let style = style(verdict);
        writeln!(out, "  {BOLD}{title}{BOLD:#}  {style}{word}{style:#}{rest}")?;
        if row.distribution.is_none() {
            let artefact = self.seen.groups.report.artefacts.get(row.artefact);
            let names: Vec<&str> =
                artefact.into_iter().flat_map(|own| &own.members).map(|own| own.path.as_str()).collect();
            let more = names.len().saturating_sub(FILES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = names.iter().take(FILES).copied().collect::<Vec<_>>().join(", ");
            self.para(out, 6, &format!("{names}{more}"))?;
        }
        self.remarks(out, row, false)
    }

    /// What there is to say of a distribution beside its verdict.
    fn remarks(&self, out: &mut impl Write, row: &Row, is_named: bool) -> io::Result<()> {
        let Some(own) = self.distribution(row) else { return Ok(()) };
        let mut all = own.remarks();
        all.extend(own.editable.as_ref().map(|place| format!("editable, in {}", place.display())));
        if row.distribution.is_some_and(|index| self.seen.groups.damaged.contains(&index)) {
            all.push("judged by what could be read: a file of it is damaged or was not read".to_owned());
        }
        all.extend(self.links(row.distribution).map(|link| link.text.clone()));
        for text in all {
            let text = if is_named { format!("- {}: {text}", own.title()) } else { format!("- {text}") };
            self.para(out, 6, &text)?;
        }
        Ok(())
    }

    /// What is wrong with distributions without device code: no missing list, which is usual where they come from a system.
    fn quiet(&self, out: &mut impl Write) -> io::Result<()> {
        let known: Vec<usize> = self.rows.iter().filter_map(|row| row.distribution).collect();
        let own = self.seen.environment.distributions.iter().enumerate().filter(|(index, _)| !known.contains(index));
        let texts = own.flat_map(|(index, own)| {
            let is_wrong = matches!(own.listed, fatscan::environment::Listed::Broken(_));
            let mut texts = if is_wrong { own.remarks() } else { own.notes.clone() };
            texts.extend(self.links(Some(index)).map(|link| link.text.clone()));
            texts.into_iter().map(move |text| format!("- {}: {text}", own.title()))
        });
        let mut texts: Vec<String> = texts.collect();
        texts.dedup();
        for text in texts.iter().take(REMARKS) {
            self.para(out, 6, text)?;
        }
        let more = texts.len().saturating_sub(REMARKS);
        if more > 0 {
            self.para(
                out,
                6,
                &format!("- and {} on distributions without device code", count(more, "more remark", "more remarks")),
            )?;
        }
        Ok(())
    }

    fn advice(&self, out: &mut impl Write) -> io::Result<()> {
        let mut fixes: Vec<Fix> = Vec::new();
        let failing: Vec<&Row> = self.rows.iter().filter(|row| row.rank() == Rank::Fails).collect();
        let owners = self.seen.groups.owners(&self.seen.environment);
        for row in failing.iter().take(ADVISED) {
            let (Some(artefact), Some(judged)) =
                (self.seen.groups.report.artefacts.get(row.artefact), self.seen.judgement.artefacts.get(row.artefact))
            else {
                continue;
            };
            // the first GPU stands for all
            let Some(device) = row.states.iter().position(|state| state.rank() == Rank::Fails) else { continue };
            let own = advise(artefact, judged, self.devices(), device, owners.of(row.artefact));
            fixes.extend(
                own.into_iter().filter(|fix| fix.kind != fatscan::FixKind::Build || row.distribution.is_none()),
            );
        }
        let mut shown: Vec<Fix> = Vec::new();
        for fix in fixes {
            if !shown.contains(&fix) {
                shown.push(fix);
            }
        }
        // what stands for all of them
        shown.sort_by_key(|fix| fix.kind);
        if shown.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{BOLD}what to do, the nearest first{BOLD:#}")?;
        for (number, fix) in shown.iter().enumerate() {
            let text = wrap(&words(&fix.text), 5, 5, self.width);
            writeln!(out, "  {}. {text}", number.saturating_add(1))?;
            for line in &fix.lines {
                writeln!(out, "       {}", escape::text(line))?;
            }
        }
        let more = failing.len().saturating_sub(ADVISED);
        if more > 0 {
            let text = format!("{} fail: `fatscan explain` tells of each what to do", count(more, "more", "more"));
            self.para(out, 2, &text)?;
        }
        Ok(())
    }

    fn para(&self, out: &mut impl Write, indent: usize, text: &str) -> io::Result<()> {
        let under = if text.starts_with("- ") { indent.saturating_add(2) } else { indent };
        let text = wrap(&words(&escape::text(text)), under, indent, self.width);
        writeln!(out, "{}{text}", " ".repeat(indent))
    }
}

/// The words of a verdict.
const fn word(state: &State) -> &'static str {
    match state.verdict {
        Verdict::Native if state.is_limited => "native, with limits",
        Verdict::Jit if state.is_limited => "JIT from PTX, with limits",
        verdict => sentence(verdict).0,
    }
}

pub(crate) fn csv(out: &mut impl Write, seen: &Seen) -> io::Result<()> {
    let page = Page::new(seen);
    line(
        out,
        &[
            "distribution",
            "version",
            "device",
            "cc",
            "verdict",
            "limited",
            "modules_ok",
            "modules",
            "reason",
            "installer",
            "info",
        ],
    )?;
    let known: Vec<usize> = page.rows.iter().filter_map(|row| row.distribution).collect();
    for row in &page.rows {
        let own = page.distribution(row);
        let verdicts = seen.judgement.artefacts.get(row.artefact).into_iter().flat_map(|judged| &judged.verdicts);
        for (((state, id), device), whole) in row.states.iter().zip(&page.ids).zip(page.devices()).zip(verdicts) {
            line(
                out,
                &[
                    &page.name(row),
                    own.map(|own| own.version.as_str()).unwrap_or_default(),
                    id,
                    &device.capability.to_string(),
                    &state.verdict.to_string(),
                    if state.is_limited { "true" } else { "false" },
                    &whole.verdict.modules_ok.to_string(),
                    &whole.verdict.modules.to_string(),
                    state.reason.as_deref().unwrap_or_default(),
                    own.and_then(|own| own.installer.as_deref()).unwrap_or_default(),
                    &own.map(|own| own.info.display().to_string()).unwrap_or_default(),
                ],
            )?;
        }
    }
    for (_, own) in seen.environment.distributions.iter().enumerate().filter(|(index, _)| !known.contains(index)) {
        for (id, device) in page.ids.iter().zip(page.devices()) {
            let (cc, verdict) = (device.capability.to_string(), Verdict::NoDeviceCode.to_string());
            let installer = own.installer.as_deref().unwrap_or_default();
            let info = own.info.display().to_string();
            line(out, &[&own.name, &own.version, id, &cc, &verdict, "false", "0", "0", "", installer, &info])?;
        }
    }
    Ok(())
}

pub(crate) fn markdown(out: &mut impl Write, seen: &Seen) -> io::Result<()> {
    let page = Page::new(seen);
    writeln!(out, "### {}\n", escape::markdown(&page.headline().1))?;
    writeln!(out, "{}, {}\n", escape::markdown(&page.place()), escape::markdown(&page.target()))?;
    let (spoken, native): (Vec<&Row>, Vec<&Row>) = page.rows.iter().partition(|row| row.rank() < Rank::Native);
    if !spoken.is_empty() {
        let ids: Vec<String> = page.ids.iter().map(|id| escape::markdown(id)).collect();
        writeln!(out, "| distribution | version | {} | why |", ids.join(" | "))?;
        writeln!(out, "|---|---|{}---|", "---|".repeat(ids.len()))?;
        for row in spoken {
            let words: Vec<String> = row.states.iter().map(|state| escape::markdown(word(state))).collect();
            let worst = row.states.iter().filter(|state| state.rank() == row.rank());
            let reason = worst.max_by_key(|state| state.verdict).and_then(|state| state.reason.clone());
            let mut why: Vec<String> = reason.into_iter().collect();
            why.extend(page.distribution(row).into_iter().flat_map(Distribution::remarks));
            let version = page.distribution(row).map(|own| own.version.as_str()).unwrap_or_default();
            writeln!(
                out,
                "| {} | {} | {} | {} |",
                escape::markdown(&page.name(row)),
                escape::markdown(version),
                words.join(" | "),
                escape::markdown(&why.join("; "))
            )?;
        }
        writeln!(out)?;
    }
    if !native.is_empty() {
        let names: Vec<String> = native.iter().map(|row| escape::markdown(&page.title(row))).collect();
        writeln!(out, "Native: {}\n", names.join(", "))?;
    }
    Ok(())
}
