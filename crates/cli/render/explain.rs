//! Verdicts for people: what, why, what to do; then file by file.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fatscan::json::Document;
use fatscan::{
    Artefact, ArtefactJudgement, ArtefactVerdict, CodeKind, Fix, Judgement, Level, Limit, LimitKind, Load, Locator,
    Member, MemberJudgement, MemberVerdict, Owners, Report, Standing, When, advise, cause_of, copies, standing,
};
use gpu_arch::catalogue::{self, CudaError};
use gpu_arch::rules::{Device, Environment, Reason, ReasonCode, Verdict};

use super::headline::{few, file, headline, is_limited, of_files, shortened};
use crate::escape;
use crate::terminal::{count, width, wrap};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn json(out: &mut impl Write, document: &Document) -> io::Result<()> {
    escape::json_line(out, document)
}

/// What an error means, without a file.
pub(crate) fn error_alone(out: &mut impl Write, error: &CudaError) -> io::Result<()> {
    let mut page = Page { out, width: width(), caution: None, all_files: true };
    page.error(error)?;
    page.para(2, "add the wheel or library and --gpu to see whether this is what happens")
}

pub(crate) fn text(
    out: &mut impl Write,
    (report, judgement, owners): (&Report, &Judgement, &Owners),
    environment: &Environment,
    error: Option<&CudaError>,
    all_files: bool,
) -> io::Result<()> {
    let mut page = Page { out, width: width(), caution: None, all_files };
    let mut first = true;
    for (place, (artefact, judged)) in report.artefacts.iter().zip(&judgement.artefacts).enumerate() {
        // archives among the data of a directory are not what was asked about
        if artefact.is_beside() {
            continue;
        }
        page.caution = caution(report, place);
        for (index, device) in judgement.devices.iter().enumerate() {
            if !first {
                writeln!(page.out)?;
            }
            first = false;
            let fixes = advise(artefact, judged, &judgement.devices, index, owners.of(place));
            page.artefact(artefact, judged, (device, index), &fixes, environment)?;
            if let Some(error) = error {
                page.error_here(error, artefact, judged, (&judgement.devices, index))?;
            }
        }
    }
    Ok(())
}

/// What a verdict on a damaged file is worth.
const DAMAGED: &str = "the file is damaged: this is judged by what could be read of it";
/// The same where nothing is damaged.
const UNREAD: &str = "what may hold libraries in it was not read in full: this is judged by what could be read";

/// What there is to say of how an artefact was read.
pub(super) fn caution(report: &Report, artefact: usize) -> Option<&'static str> {
    let is_own = |at: &Locator| report.artefact_of(at) == Some(artefact);
    let mut errors = report.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
    if errors.any(|diagnostic| is_own(&diagnostic.at)) {
        return Some(DAMAGED);
    }
    report.unread.iter().any(|unread| is_own(&unread.at)).then_some(UNREAD)
}

struct Page<'out, W> {
    out: &'out mut W,
    width: usize,
    /// What there is to say of how the artefact at hand was read.
    caution: Option<&'static str>,
    /// Whether each file is shown.
    all_files: bool,
}

pub(super) fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Native => AnsiColor::Green,
        Verdict::Jit | Verdict::Partial | Verdict::Unknown => AnsiColor::Yellow,
        Verdict::DriverTooOld | Verdict::NotCovered | Verdict::NoDeviceCode => AnsiColor::Red,
    };
    colour.on_default().bold()
}

/// The words of a verdict and what they mean.
pub(super) const fn sentence(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Native => ("native", "it holds machine code for this GPU"),
        Verdict::Jit => (
            "JIT from PTX",
            "no machine code for this GPU, but portable code that the driver compiles at the first start (slow once)",
        ),
        Verdict::Partial => ("partial", "some of it runs on this GPU, too much of the rest fails if it is used there"),
        Verdict::Unknown => ("unknown", "whether this GPU and driver load it is not certain"),
        Verdict::DriverTooOld => ("driver too old", "it holds code for this GPU, but this driver does not load it"),
        Verdict::NotCovered => ("not covered", "it holds no code that this GPU and driver can run"),
        Verdict::NoDeviceCode => ("no device code", "it holds nothing that an NVIDIA GPU runs"),
    }
}

impl<W: Write> Page<'_, W> {
    fn artefact(
        &mut self,
        artefact: &Artefact,
        judged: &ArtefactJudgement,
        (device, index): (&Device, usize),
        fixes: &[Fix],
        environment: &Environment,
    ) -> io::Result<()> {
        let Some(whole) = judged.verdicts.get(index) else { return Ok(()) };
        let verdict = &whole.verdict;
        writeln!(self.out, "{BOLD}{}{BOLD:#}", escape::text(&artefact.path))?;
        self.para(0, &on(device))?;
        let parts = standing(judged, index);
        let (word, meaning) = headline(artefact, whole, &parts);
        let style = style(verdict.verdict);
        let text = wrap(&words(&format!("{word}: {meaning}")), 0, 0, self.width);
        let rest = text.strip_prefix(word).unwrap_or_default();
        writeln!(self.out, "{style}{word}{style:#}{rest}")?;
        if let Some(text) = self.caution {
            self.bullet(text)?;
        }
        self.reasons(artefact, whole, &parts, device)?;
        if environment.force_ptx_jit || environment.disable_ptx_jit {
            self.para(
                2,
                "the environment sets CUDA_FORCE_PTX_JIT or CUDA_DISABLE_PTX_JIT, which is taken into account",
            )?;
        }
        if !fixes.is_empty() {
            writeln!(self.out, "\n{BOLD}what to do, the nearest first{BOLD:#}")?;
            for (number, fix) in fixes.iter().enumerate() {
                let text = wrap(&words(&fix.text), 5, 5, self.width);
                writeln!(self.out, "  {}. {text}", number.saturating_add(1))?;
                for line in &fix.lines {
                    writeln!(self.out, "       {}", escape::text(line))?;
                }
            }
        }
        self.files(artefact, judged, index, device.driver.is_unknown())
    }

    /// Why, with the file that each reason is about where there are several; every condition of the driver; for code that
    /// runs what is loaded.
    fn reasons(
        &mut self,
        artefact: &Artefact,
        whole: &ArtefactVerdict,
        parts: &[Standing<'_>],
        device: &Device,
    ) -> io::Result<()> {
        /// Of more files the first are named here, all below.
        const FILES: usize = 6;
        let verdict = &whole.verdict;
        let is_condition = |reason: &Reason| reason.needs_driver.is_some() || reason.needs_cuda.is_some();
        let mut rest: Vec<&Reason> = verdict.reasons.iter().collect();
        let deciding: Vec<&Standing<'_>> =
            parts.iter().filter(|part| part.members.iter().any(|member| whole.decided_by.contains(member))).collect();
        if whole.parts > 1 && !verdict.verdict.is_usable() && verdict.verdict != Verdict::NoDeviceCode {
            let copies = copies(artefact);
            let is_copy = |part: &Standing<'_>| part.members.iter().all(|member| copies.contains_key(member));
            let own: Vec<&&Standing<'_>> = deciding.iter().filter(|part| !is_copy(part)).collect();
            // files with one reason are one line
            let mut groups: Vec<(&Reason, Vec<String>)> = Vec::new();
            for part in &own {
                let Some(reason) = part.verdict.reasons.first() else { continue };
                let name = file(artefact, part);
                match groups.iter_mut().find(|(known, _)| known.text == reason.text) {
                    Some((_, names)) => names.push(name),
                    None => groups.push((reason, vec![name])),
                }
            }
            for (reason, names) in groups.iter().take(FILES) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.bullet(&format!("{}: {}", few(&names), said(reason, device)))?;
            }
            if groups.len() > FILES {
                self.bullet("and other reasons, each with its file below")?;
            }
            let shown = |reason: &Reason| groups.iter().take(FILES).any(|(first, _)| first.text == reason.text);
            rest.retain(|reason| is_condition(reason) && !shown(reason));
        }
        // what a name or the split of a library did is said with the file
        rest.retain(|reason| whole.parts <= 1 || !is_remark(reason.code));
        let (assumed, rest): (Vec<&Reason>, Vec<&Reason>) =
            rest.into_iter().partition(|reason| device.driver.is_unknown() && is_condition(reason));
        for reason in rest {
            self.bullet(&said(reason, device))?;
        }
        if !assumed.is_empty() {
            let texts = assumed.iter().map(|reason| {
                // the sentence is about the modules of one file
                let text = reason.text.rsplit_once("needs ").map_or(reason.text.as_str(), |(_, text)| text);
                format!("{text}{}", of_files(artefact, parts, reason))
            });
            self.bullet(&format!("assumes {}", texts.collect::<Vec<_>>().join("; ")))?;
        }
        if verdict.verdict.is_usable() && !verdict.loads.is_empty() && whole.parts == 1 {
            self.bullet(&format!("the driver loads {}", loads(&verdict.loads)))?;
        }
        if verdict.verdict.is_usable() && verdict.compiled > 0 && verdict.verdict == Verdict::Native {
            let all = verdict.modules_ok.saturating_add(verdict.specialised_ok);
            self.bullet(&format!("{} of {all} modules compile at first use", verdict.compiled))?;
        }
        Ok(())
    }

    fn files(
        &mut self,
        artefact: &Artefact,
        judged: &ArtefactJudgement,
        index: usize,
        is_assumed: bool,
    ) -> io::Result<()> {
        /// Of so many files each is shown; of more those that have something to say.
        const ALL: usize = 3;
        if artefact.members.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{BOLD}file by file{BOLD:#}")?;
        // what stands above for the whole is not said again for each file
        let whole = judged.verdicts.get(index);
        let parts = standing(judged, index);
        let own = parts.iter().filter_map(|part| part.verdict.reasons.first());
        let above: Vec<&String> = whole
            .into_iter()
            .flat_map(|whole| &whole.verdict.reasons)
            .chain(own.filter(|_| parts.len() > 1))
            .map(|reason| &reason.text)
            .collect();
        let copies = copies(artefact);
        let optional = |member: usize| whole.is_some_and(|whole| whole.optional.contains(&member));
        let is_passed_over = |member: usize| {
            let mut choices = judged.alternatives.iter().flat_map(|group| &group.choices);
            let is_choice = choices.any(|choice| choice.members.contains(&member));
            is_choice && !parts.iter().any(|part| part.members.contains(&member))
        };
        let rank = |member: usize, verdict: &MemberVerdict| match verdict.verdict {
            _ if judged.members.get(member).is_some_and(|member| member.is_profiler) => 5,
            verdict if verdict != Verdict::NoDeviceCode && is_passed_over(member) => 6,
            Verdict::NoDeviceCode => 4,
            _ if optional(member) => 1,
            verdict if !verdict.is_usable() => 0,
            _ if is_limited(verdict) || verdict.compiled > 0 => 2,
            _ => 3,
        };
        let mut own: Vec<(u8, usize, &Member, &MemberJudgement, &MemberVerdict)> = Vec::new();
        for (place, (member, judged)) in artefact.members.iter().zip(&judged.members).enumerate() {
            if let Some(verdict) = judged.verdicts.get(index) {
                own.push((rank(place, verdict), place, member, judged, verdict));
            }
        }
        let is_long = own.len() > ALL && !self.all_files;
        if is_long {
            own.sort_by_key(|(rank, place, ..)| (*rank, *place));
        }
        let mut quiet: [Vec<&str>; 4] = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for (rank, place, member, judged, verdict) in own {
            if is_long && let Some(names) = rank.checked_sub(3).and_then(|at| quiet.get_mut(usize::from(at))) {
                names.push(&member.path);
                continue;
            }
            if copies.contains_key(&place) {
                continue;
            }
            if is_long && rank > 0 {
                self.limited(member, verdict, judged.dispatches, optional(place))?;
                continue;
            }
            let same = copies.iter().filter(|(_, first)| **first == place);
            let same: Vec<&str> =
                same.filter_map(|(own, _)| artefact.members.get(*own)).map(|member| member.path.as_str()).collect();
            let facts = Facts { above: &above, is_optional: optional(place), same: &same, is_assumed };
            self.file(member, judged, verdict, &facts)?;
        }
        let what = [
            ("loads in full", "load in full"),
            ("without device code that counts", "without device code that counts"),
            (
                "measures programs, by its name, and decides nothing",
                "measure programs, by their names, and decide nothing",
            ),
        ];
        for (names, (one, more)) in quiet.iter().zip(what) {
            if !names.is_empty() {
                let what = if names.len() == 1 { one } else { more };
                let files = count(names.len(), "file", "files");
                let names: Vec<&str> = names.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
                self.para(2, &format!("{files} {what}: {}", escape::text(&shortened(&names))))?;
            }
        }
        if let Some(loose) = &judged.loose
            && let Some(verdict) = loose.verdicts.get(index)
        {
            let text = format!(
                "{} files of device code alone are judged together as one program's: {} ({} of {} load)",
                loose.members.len(),
                sentence(verdict.verdict).0,
                verdict.modules_ok.saturating_add(verdict.specialised_ok),
                verdict.modules.saturating_add(verdict.specialised)
            );
            self.para(2, &text)?;
        }
        for group in &judged.alternatives {
            let best = group.best.get(index).and_then(|best| group.choices.get(*best).map(|choice| (best, choice)));
            let Some((_, choice)) = best else { continue };
            let verdict = choice.verdicts.get(index).copied().unwrap_or(Verdict::NoDeviceCode);
            let text = format!(
                "`{}`: by their names {} are alternatives, of which one is used; the best for this GPU is `{}` ({})",
                group.name,
                count(group.choices.len(), "file or directory", "files or directories"),
                choice.path,
                sentence(verdict).0
            );
            self.para(2, &text)?;
        }
        Ok(())
    }

    /// One line of a file that runs, for what it lacks.
    fn limited(
        &mut self,
        member: &Member,
        verdict: &MemberVerdict,
        dispatches: bool,
        is_optional: bool,
    ) -> io::Result<()> {
        let word = if is_optional { "for other GPUs" } else { sentence(verdict.verdict).0 };
        let mut texts: Vec<String> = Vec::new();
        let all = verdict.modules_ok.saturating_add(verdict.specialised_ok);
        if dispatches {
            let modules = verdict.modules.saturating_add(verdict.specialised);
            texts.push(format!("picks by itself among the {all} of {modules} modules that load"));
        } else {
            let shown = verdict.limits.iter().filter(|limit| limit.kind != LimitKind::Specialised);
            texts.extend(shown.map(|limit| limit.text.clone()));
        }
        if verdict.compiled > 0 {
            texts.push(format!("{} of {all} modules compile at first use", verdict.compiled));
        }
        let path = escape::text(&member.path);
        let style = style(if is_optional { Verdict::Jit } else { verdict.verdict });
        let used = path.chars().count().saturating_add(word.chars().count()).saturating_add(4);
        let texts = if texts.is_empty() { String::new() } else { format!(": {}", escape::text(&texts.join("; "))) };
        let texts = wrap(&words(&texts), 6, used, self.width);
        writeln!(self.out, "  {path}  {style}{word}{style:#}{texts}")
    }

    fn file(
        &mut self,
        member: &Member,
        judged: &MemberJudgement,
        verdict: &MemberVerdict,
        facts: &Facts<'_>,
    ) -> io::Result<()> {
        let Facts { above, is_optional, same, is_assumed } = *facts;
        let style = style(verdict.verdict);
        let word = match sentence(verdict.verdict).0 {
            _ if is_optional => "for other GPUs",
            word if verdict.verdict.is_usable() && is_limited(verdict) => {
                if word == "native" {
                    "native, with limits"
                } else {
                    "JIT from PTX, with limits"
                }
            }
            word => word,
        };
        writeln!(self.out, "  {}  {style}{word}{style:#}", escape::text(&member.path))?;
        if !same.is_empty() {
            self.para(6, &format!("the same file is {}", escape::text(&same.join(", "))))?;
        }
        if judged.is_profiler {
            self.para(6, "measures programs, by its name: it is no part of the verdict")?;
        }
        let mut parts = Vec::new();
        if verdict.modules > 0 {
            let modules = count(verdict.modules, "module", "modules");
            let what = match (verdict.modules_ok == verdict.modules, verdict.modules_ok) {
                (true, _) if verdict.modules == 1 => "its module loads".to_owned(),
                (false, _) if verdict.modules == 1 => "its module does not load".to_owned(),
                (true, _) => format!("all {modules} load"),
                (false, 0) => format!("none of {modules} loads"),
                (false, ok) => format!("{ok} of {modules} load"),
            };
            parts.push(what);
            if verdict.modules_ok < verdict.modules_fit {
                parts.push(format!("{} would with a newer driver", verdict.modules_fit));
            }
        }
        if verdict.compiled > 0 {
            let all = verdict.modules_ok.saturating_add(verdict.specialised_ok);
            parts.push(match verdict.compiled {
                1 if all == 1 => "it compiles at first use".to_owned(),
                own if own == all => "all compile at first use".to_owned(),
                own => format!("{own} of {all} modules compile at first use"),
            });
        }
        if !verdict.loads.is_empty() {
            parts.push(loads(&verdict.loads));
        }
        if verdict.specialised > 0 {
            let modules = count(verdict.specialised, "specialised module", "specialised modules");
            let own = match verdict.specialised_ok {
                0 => "none for this GPU".to_owned(),
                own => format!("{own} for this GPU"),
            };
            parts.push(format!("beside them {modules}, {own}"));
        }
        if !parts.is_empty() {
            self.para(6, &parts.join("; "))?;
        }
        let shown = |limit: &&Limit| limit.kind != LimitKind::Specialised;
        for limit in verdict.limits.iter().filter(shown) {
            self.para(6, &limit.text)?;
        }
        if !verdict.verdict.is_usable() || verdict.reasons.iter().any(|reason| is_remark(reason.code)) {
            let is_new = |reason: &&Reason| {
                let is_condition = reason.needs_driver.is_some() || reason.needs_cuda.is_some();
                !(above.contains(&&reason.text) || is_assumed && is_condition)
            };
            for reason in verdict.reasons.iter().filter(is_new) {
                self.para(6, &reason.text)?;
            }
        }
        self.not_counted(judged)
    }

    fn not_counted(&mut self, member: &fatscan::MemberJudgement) -> io::Result<()> {
        let not = &member.not_counted;
        let parts: Vec<String> = [
            (not.stub, "without kernels"),
            (not.relocatable, "for a device link"),
            (not.lto, "of LTO-IR"),
            (not.empty, "empty"),
            (not.other, "of another vendor"),
            (not.unmapped, "where no program has them in memory"),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
        if parts.is_empty() {
            return Ok(());
        }
        let text = wrap(&words(&format!("not counted: {}", parts.join(", "))), 6, 6, self.width);
        writeln!(self.out, "      {DIM}{text}{DIM:#}")
    }

    fn error(&mut self, error: &CudaError) -> io::Result<()> {
        let runtime = error.runtime_name;
        let names = if runtime == error.name { error.name.to_owned() } else { format!("{}, {runtime}", error.name) };
        let heading = format!("CUDA error {}", error.code);
        let used = heading.len().saturating_add(1);
        let text = wrap(&words(&format!("({names})")), 2, used, self.width);
        writeln!(self.out, "{BOLD}{heading}{BOLD:#} {text}")?;
        self.para(2, error.advice)
    }

    fn error_here(
        &mut self,
        error: &CudaError,
        artefact: &Artefact,
        judged: &ArtefactJudgement,
        (devices, index): (&[Device], usize),
    ) -> io::Result<()> {
        writeln!(self.out)?;
        self.error(error)?;
        let Some(cause) = cause_of(error.code, judged, devices, index) else {
            let gpu = devices.get(index).map(|device| format!(" on compute capability {}", device.capability));
            return self.para(
                2,
                &format!(
                    "nothing in these files gives this error{}: look at the other libraries that the program loads, at \
                     the driver, or at which GPU it runs on",
                    gpu.unwrap_or_default()
                ),
            );
        };
        let member = cause.member.and_then(|member| artefact.members.get(member)).map(|member| &member.path);
        let place = member.map(|path| format!("`{}`", escape::text(path)));
        let text = match cause.when {
            When::Here => format!("that is what happens here: {}", cause.text),
            When::OldDriver => format!("that happens here where the driver is older: {}", cause.text),
            When::IfUsed => {
                format!("the files that decide do not give it, another one does if it is used: {}", cause.text)
            }
        };
        self.para(2, &text)?;
        match place {
            Some(place) => self.para(2, &format!("in {place}")),
            None => Ok(()),
        }
    }

    fn bullet(&mut self, text: &str) -> io::Result<()> {
        let text = wrap(&words(text), 4, 4, self.width);
        writeln!(self.out, "  - {text}")
    }

    fn para(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let text = wrap(&words(text), indent, indent, self.width);
        writeln!(self.out, "{}{text}", " ".repeat(indent))
    }
}

/// A reason as people read it: with the error that programs report, or as what is assumed of the driver.
fn said(reason: &Reason, device: &Device) -> String {
    let is_condition = device.driver.is_unknown() && (reason.needs_driver.is_some() || reason.needs_cuda.is_some());
    if is_condition {
        // of an unknown driver it is only said what it must be
        return reason.text.replacen("needs ", "assumes ", 1);
    }
    let error = reason.error.and_then(catalogue::error);
    let error = error.map(|error| {
        let message = error.messages.first().map(|text| format!(", \"{text}\"")).unwrap_or_default();
        format!("; programs report CUDA error {}{message}", error.code)
    });
    format!("{}{}", reason.text, error.unwrap_or_default())
}

/// What is to be known to show a file.
struct Facts<'a> {
    /// Sentences that stand above for the whole.
    above: &'a [&'a String],
    is_optional: bool,
    /// Files of the same content.
    same: &'a [&'a str],
    /// The driver is not known: its conditions stand above.
    is_assumed: bool,
}

/// Reasons that say how a usable verdict came about.
const fn is_remark(code: ReasonCode) -> bool {
    matches!(code, ReasonCode::ArchSplit | ReasonCode::Dispatching | ReasonCode::EmptyKernels)
}

pub(super) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(ToOwned::to_owned).collect()
}

pub(super) fn on(device: &Device) -> String {
    let name = device.name.as_deref().unwrap_or("a GPU");
    let driver = match (device.driver.version, device.driver.cuda) {
        (Some(version), Some(cuda)) => format!("driver {version} with CUDA {cuda}"),
        (Some(version), None) => match catalogue::cuda_of_driver(version) {
            Some(cuda) => format!("driver {version} (CUDA {cuda})"),
            None => format!("driver {version}"),
        },
        (None, Some(cuda)) => format!("a driver for CUDA {cuda}"),
        (None, None) => "driver not given, a new enough one assumed".to_owned(),
    };
    format!("on {name} of compute capability {}, {driver}", device.capability)
}

/// `sm_86 in 476 modules, sm_89 in 1`.
fn loads(loads: &[Load]) -> String {
    let mut sorted: Vec<&Load> = loads.iter().collect();
    sorted.sort_by_key(|load| core::cmp::Reverse(load.count));
    let words = sorted.iter().enumerate().map(|(index, load)| {
        let name = match (load.kind, load.isa) {
            (CodeKind::Sass, _) => format!("sm_{}", load.arch),
            (_, Some((major, minor))) => format!("compute_{} (PTX {major}.{minor})", load.arch),
            (_, None) => format!("compute_{}", load.arch),
        };
        if index == 0 {
            format!("{name} in {}", count(load.count, "module", "modules"))
        } else {
            format!("{name} in {}", load.count)
        }
    });
    words.collect::<Vec<_>>().join(", ")
}
