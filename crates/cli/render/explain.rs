//! Verdicts for people: what, why, what to do; then file by file.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fatscan::json::Document;
use fatscan::{
    Artefact, ArtefactJudgement, CodeKind, Fix, Judgement, Load, MemberVerdict, Owners, Report, When, advise, cause_of,
};
use gpu_arch::catalogue::{self, CudaError};
use gpu_arch::rules::{Device, Environment, ReasonCode, Verdict};

use crate::terminal::{count, width, wrap};
use crate::{escape, output};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn json(document: &Document) -> io::Result<()> {
    let mut out = output::data();
    escape::json_line(&mut out, document)?;
    out.flush()
}

/// What an error means, without a file.
pub(crate) fn error_alone(error: &CudaError) -> io::Result<()> {
    let mut out = output::text();
    let mut page = Page { out: &mut out, width: width(), damaged: false };
    page.error(error)?;
    page.para(2, "add the wheel or library and --gpu to see whether this is what happens")?;
    out.flush()
}

pub(crate) fn text(
    report: &Report,
    judgement: &Judgement,
    owners: &Owners,
    environment: &Environment,
    error: Option<&CudaError>,
) -> io::Result<()> {
    let mut out = output::text();
    let mut page = Page { out: &mut out, width: width(), damaged: false };
    let mut first = true;
    for (place, (artefact, judged)) in report.artefacts.iter().zip(&judgement.artefacts).enumerate() {
        page.damaged = report.is_damaged(place);
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
    out.flush()
}

/// What a verdict on a damaged file is worth.
pub(super) const DAMAGED: &str = "the file is damaged: this is judged by what could be read of it";

struct Page<'out, W> {
    out: &'out mut W,
    width: usize,
    /// Whether something of the artefact at hand could not be read.
    damaged: bool,
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
        Verdict::Partial => ("partial", "some of it runs on this GPU, the rest fails if it is used there"),
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
        let (word, meaning) = sentence(verdict.verdict);
        let style = style(verdict.verdict);
        let text = wrap(&words(&format!("{word}: {meaning}")), 0, 0, self.width);
        let rest = text.strip_prefix(word).unwrap_or_default();
        writeln!(self.out, "{style}{word}{style:#}{rest}")?;
        if self.damaged {
            self.bullet(DAMAGED)?;
        }
        self.reasons(verdict, device)?;
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
        self.files(artefact, judged, index)
    }

    /// Why; for code that runs, the conditions and what is loaded.
    fn reasons(&mut self, verdict: &MemberVerdict, device: &Device) -> io::Result<()> {
        for reason in &verdict.reasons {
            // of an unknown driver it is only said what it must be
            let is_condition =
                device.driver.is_unknown() && (reason.needs_driver.is_some() || reason.needs_cuda.is_some());
            let error = reason.error.filter(|_| !is_condition).and_then(catalogue::error);
            let error = error.map(|error| {
                let message = error.messages.first().map(|text| format!(", \"{text}\"")).unwrap_or_default();
                format!("; programs report CUDA error {}{message}", error.code)
            });
            self.bullet(&format!("{}{}", reason.text, error.unwrap_or_default()))?;
        }
        if verdict.verdict.is_usable() && !verdict.loads.is_empty() {
            self.bullet(&format!("the driver loads {}", loads(&verdict.loads)))?;
        }
        Ok(())
    }

    fn files(&mut self, artefact: &Artefact, judged: &ArtefactJudgement, index: usize) -> io::Result<()> {
        if artefact.members.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{BOLD}file by file{BOLD:#}")?;
        // what stands above for the whole is not said again for each file
        let whole = judged.verdicts.get(index).map(|whole| &whole.verdict.reasons);
        let above: Vec<&String> = whole.into_iter().flatten().map(|reason| &reason.text).collect();
        for (member, own) in artefact.members.iter().zip(&judged.members) {
            let Some(verdict) = own.verdicts.get(index) else { continue };
            let style = style(verdict.verdict);
            let word = sentence(verdict.verdict).0;
            writeln!(self.out, "  {}  {style}{word}{style:#}", escape::text(&member.path))?;
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
            if !verdict.verdict.is_usable() || verdict.reasons.iter().any(|reason| is_remark(reason.code)) {
                for reason in verdict.reasons.iter().filter(|reason| !above.contains(&&reason.text)) {
                    self.para(6, &reason.text)?;
                }
            }
            self.not_counted(own)?;
        }
        for group in &judged.alternatives {
            let best = group.best.get(index).and_then(|best| group.choices.get(*best).map(|choice| (best, choice)));
            let Some((_, choice)) = best else { continue };
            let verdict = choice.verdicts.get(index).copied().unwrap_or(Verdict::NoDeviceCode);
            let text = format!(
                "`{}`: {} are alternatives, of which one is used; the best for this GPU is `{}` ({})",
                group.name,
                count(group.choices.len(), "file or directory", "files or directories"),
                choice.path,
                sentence(verdict).0
            );
            self.para(2, &text)?;
        }
        Ok(())
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

/// Reasons that say how a usable verdict came about.
const fn is_remark(code: ReasonCode) -> bool {
    matches!(code, ReasonCode::ArchSplit | ReasonCode::Dispatching)
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
