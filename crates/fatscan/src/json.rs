//! The report for other programs: JSON of schema 1. Fields keep their names and meanings; new ones may come.

mod advice;
pub mod arch;
mod coverage;
pub mod difference;
mod environment;
pub mod extracted;
mod fleet;
pub mod kernels;
pub mod lines;
pub mod sizes;
pub mod slim;
pub mod variants;

use std::collections::BTreeMap;

pub use coverage::{Coverage, Covered, CoveredArch, CoveredSet, MemberCoverage};
pub use environment::{Distribution, DistributionVerdict, Environment, EnvironmentVerdict, Link, Nobody, Site};
pub use fleet::{Fleet, FleetArtefact, FleetCell, FleetReason, Target};
use serde::{Deserialize, Serialize};

use crate::diagnostic::{self, Level};
use crate::locator::LocatorView;
use crate::model;

pub use advice::{Error, ErrorCause, Remedy};

/// Version of the schema.
pub const SCHEMA: u32 = 1;

/// A whole report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// Version of the schema, 1.
    pub schema: u32,
    /// Who wrote the report.
    pub tool: Tool,
    /// What was scanned, in the order given.
    pub artefacts: Vec<Artefact>,
    /// The devices that were judged for, with `explain` and `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<Device>>,
    /// What the scan has to say beside, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What may hold device code and was not read, by place.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// What a check found, with `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// How many findings there are of which weight, with `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What is taken for granted of drivers that are not known, with `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumptions: Option<Vec<Assumption>>,
    /// Vendored libraries of which less is asked, with `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendored: Option<Vendored>,
    /// The error that was asked about, with `explain --error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// The environment whose distributions the artefacts are, with `env`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
}

/// Libraries of NVIDIA in a package of which a check asks less than of other files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vendored {
    /// `run`: they need not hold what was declared; `ignore`: they were not looked at.
    pub asked: String,
    /// Their paths.
    pub files: Vec<String>,
}

/// What a check takes for granted of a driver that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assumption {
    /// Path of the artefact.
    pub artefact: String,
    /// Ids of the devices.
    pub devices: Vec<String>,
    /// The oldest driver that would do, where one can be named.
    pub driver: Option<String>,
    /// One sentence for each condition.
    pub texts: Vec<String>,
}

/// One thing that the scan has to say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnostic {
    /// Where, for people: `a.whl!lib/x.so@0x40`.
    pub place: String,
    /// Where.
    #[serde(default)]
    pub at: LocatorView,
    /// Stable code, `FS0101`.
    pub code: String,
    /// Weight.
    pub level: Level,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// What to do about it, where there is something.
    #[serde(default)]
    pub hint: Option<String>,
}

impl From<&diagnostic::Diagnostic> for Diagnostic {
    fn from(own: &diagnostic::Diagnostic) -> Self {
        Self {
            place: own.at.to_string(),
            at: (&own.at).into(),
            code: own.code.to_string(),
            level: own.level,
            message: own.message(),
            hint: own.hint().map(ToOwned::to_owned),
        }
    }
}

/// Something that may hold device code and was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unread {
    /// Where, for people.
    pub place: String,
    /// Where.
    pub at: LocatorView,
    /// `encrypted`, `unsupported`, `too-deep`, `over-budget` or `outside`.
    pub why: String,
    /// One sentence.
    pub message: String,
}

impl From<&model::Unread> for Unread {
    fn from(own: &model::Unread) -> Self {
        Self {
            place: own.at.to_string(),
            at: (&own.at).into(),
            why: own.why.name().to_owned(),
            message: own.why.to_string(),
        }
    }
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Id of the rule.
    pub rule: String,
    /// `error`, `warning`, `note` or `allowed`.
    pub level: String,
    /// Artefact and member, for people.
    pub place: String,
    /// Where.
    #[serde(default)]
    pub at: LocatorView,
    /// Of damage: the code of the diagnostic.
    #[serde(default)]
    pub code: Option<String>,
    /// The id of the device that it is about, where it is about one.
    pub device: Option<String>,
    /// Compute capability of that device.
    #[serde(default)]
    pub cc: Option<String>,
    /// The fleet or group that the device is of.
    #[serde(default)]
    pub fleet: Option<String>,
    /// The driver that it was judged with.
    #[serde(default)]
    pub driver: Option<String>,
    /// The code that it is about, where it is about some: `sm_90a`.
    #[serde(default)]
    pub subject: Option<String>,
    /// One sentence.
    pub message: String,
    /// What to do, or what would let it pass.
    pub hint: Option<String>,
    /// Why it does not count, where it does not.
    pub ignored_by: Option<String>,
}

/// How many findings there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Whether the check passed.
    pub passed: bool,
    /// Those that fail.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Known and accepted.
    pub ignored: u64,
    /// Allowed by the levels given.
    pub allowed: u64,
}

/// The writer of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `fatscan`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Default for Tool {
    /// This version of fatscan.
    fn default() -> Self {
        Self { name: "fatscan".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// A wheel, a directory, a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Artefact {
    /// Path as given, or below a directory that was given.
    pub path: String,
    /// Where it is.
    #[serde(default)]
    pub at: LocatorView,
    /// `wheel`, `zip`, `directory` or `file`.
    pub kind: String,
    /// Bytes on disk.
    pub size: u64,
    /// Native files without device code, by number.
    pub members_without_code: u64,
    /// Files with device code, by path.
    pub members: Vec<Member>,
    /// One for each device, with `explain` and `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Vec<Verdict>>,
    /// Members that are alternatives to each other, with `explain` and `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<Alternatives>>,
}

/// A file with device code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Member {
    /// Path in the artefact.
    pub path: String,
    /// Where it is.
    #[serde(default)]
    pub at: LocatorView,
    /// `elf`, `pe`, `coff`, `macho`, `archive`, `fatbin`, `cubin`, `ptx`, `lto-ir`, `tile-ir`, `offload-bundle`; or
    /// `unknown` for a file of another format that was given by name.
    pub format: String,
    /// Machine of the host code, `x86_64`, `aarch64`, ...
    pub machine: Option<String>,
    /// Bytes, unpacked.
    pub size: u64,
    /// Fatbins that are not empty, bare cubins, PTX texts, bare files of LTO-IR or Tile IR.
    pub modules: u64,
    /// Pieces of code in them and in other vendors' bundles.
    pub images: u64,
    /// Fatbins without entries.
    pub empty_fatbins: u64,
    /// The images, counted by kind, architecture, ISA, source and linkage.
    pub code: Vec<Code>,
    /// How many of its modules hold each architecture: the sums in `code` do not tell.
    #[serde(default)]
    pub coverage: MemberCoverage,
    /// Every module, with `--by module`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules_detail: Option<Vec<Module>>,
    /// One for each device, with `explain` and `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Vec<Verdict>>,
}

/// Images that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Code {
    /// `sass`, `ptx`, `lto-ir`, `tile-ir` or `other`.
    pub kind: String,
    /// `sm_100f`, `compute_90`, `lto_90`, `gfx942`, ...; null where there is none.
    pub arch: Option<String>,
    /// PTX ISA version of PTX.
    pub isa: Option<String>,
    /// `fatbin`, `cubin`, `ptx-text`, `raw` or `offload-bundle`.
    pub source: String,
    /// `loadable`, `relocatable` or `unknown`, which counts as loadable.
    pub linkage: String,
    /// How many.
    pub count: u64,
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// Bytes when unpacked, as stated; null where one of them does not state it.
    pub unpacked_bytes: Option<u64>,
    /// How many by compression: `none`, `zlib`, `lz4`, `lz4-frame`, `zstd`.
    pub compression: BTreeMap<String, u64>,
}

/// One module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Module {
    /// `x.so!.nv_fatbin@0x3a40`, objects of archives before it: below the member's path.
    pub place: String,
    /// Where it is.
    #[serde(default)]
    pub at: LocatorView,
    /// Section, where known.
    pub section: Option<String>,
    /// As in [`Code`].
    pub source: String,
    /// Whether a wrapper record points at it; null where that cannot be told.
    pub wrapped: Option<bool>,
    /// Whether a program that loads the file has it in memory; null where that cannot be told.
    #[serde(default)]
    pub mapped: Option<bool>,
    /// Whether its chain of entries is broken: there may have been more images.
    pub damaged: bool,
    /// Its images, in the order of the file.
    pub images: Vec<Image>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Image {
    /// As in [`Code`].
    pub kind: String,
    /// As in [`Code`].
    pub arch: Option<String>,
    /// As in [`Code`].
    pub isa: Option<String>,
    /// As in [`Code`].
    pub source: String,
    /// As in [`Code`].
    pub linkage: String,
    /// The flag word of a fatbin entry.
    pub flags: u64,
    /// `none`, `zlib`, `lz4`, `lz4-frame` or `zstd`.
    pub compression: String,
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// Bytes when unpacked, as stated.
    pub unpacked_bytes: Option<u64>,
    /// Compiled for debugging.
    pub debug: bool,
    /// Identifier of the entry, often the source file.
    pub identifier: Option<String>,
    /// Options of the compiler behind it.
    pub options: Option<String>,
}

impl Document {
    /// The document of a report; with `modules` every module is listed.
    #[must_use]
    pub fn new(report: &model::Report, modules: bool) -> Self {
        Self {
            schema: SCHEMA,
            tool: Tool::default(),
            artefacts: report.artefacts.iter().map(|artefact| Artefact::new(artefact, modules)).collect(),
            devices: None,
            diagnostics: report.diagnostics.iter().map(Diagnostic::from).collect(),
            unread: report.unread.iter().map(Unread::from).collect(),
            findings: None,
            summary: None,
            assumptions: None,
            vendored: None,
            error: None,
            environment: None,
        }
    }
}

impl Artefact {
    /// The view of an artefact.
    #[must_use]
    pub fn new(artefact: &model::Artefact, modules: bool) -> Self {
        Self {
            path: artefact.path.clone(),
            at: (&artefact.at).into(),
            kind: artefact.kind.name().to_owned(),
            size: artefact.size,
            members_without_code: artefact.members_without_code,
            members: artefact.members.iter().map(|member| Member::new(member, modules)).collect(),
            verdicts: None,
            alternatives: None,
        }
    }
}

impl Member {
    /// The view of a member.
    #[must_use]
    pub fn new(member: &model::Member, modules: bool) -> Self {
        let own = member.modules.iter().filter(|module| module.source != model::Source::OffloadBundle);
        let images = member.modules.iter().map(|module| module.images.len()).fold(0, usize::saturating_add);
        Self {
            path: member.path.clone(),
            at: (&member.at).into(),
            format: member.format.to_owned(),
            machine: member.machine.map(ToOwned::to_owned),
            size: member.size,
            modules: own.count().try_into().unwrap_or(u64::MAX),
            images: images.try_into().unwrap_or(u64::MAX),
            empty_fatbins: member.empty_fatbins,
            code: Code::rows(&member.modules),
            coverage: MemberCoverage::of(member),
            modules_detail: modules.then(|| member.modules.iter().map(|module| Module::new(member, module)).collect()),
            verdicts: None,
        }
    }
}

impl Code {
    /// One row for each kind, architecture, ISA, source and linkage, in that order.
    #[must_use]
    pub fn rows(modules: &[model::Module]) -> Vec<Self> {
        let mut rows = BTreeMap::new();
        let images = modules.iter().flat_map(|module| module.images.iter().map(move |image| (module.source, image)));
        for (source, image) in images {
            let key = (image.kind, image.arch, image.foreign.clone(), isa(image), source, image.linkage);
            let row = rows.entry(key).or_insert_with(|| Self {
                kind: image.kind.name().to_owned(),
                arch: image.arch_name(),
                isa: isa_text(image),
                source: source.name().to_owned(),
                linkage: image.linkage.name().to_owned(),
                count: 0,
                stored_bytes: 0,
                unpacked_bytes: Some(0),
                compression: BTreeMap::new(),
            });
            row.count = row.count.saturating_add(1);
            row.stored_bytes = row.stored_bytes.saturating_add(image.stored_bytes);
            row.unpacked_bytes =
                row.unpacked_bytes.zip(image.unpacked_bytes).map(|(sum, more)| sum.saturating_add(more));
            let compression = row.compression.entry(image.compression.name().to_owned()).or_default();
            *compression = compression.saturating_add(1);
        }
        rows.into_values().collect()
    }
}

fn isa(image: &model::Image) -> Option<(u16, u16)> {
    image.version.filter(|_| image.kind == model::CodeKind::Ptx)
}

fn isa_text(image: &model::Image) -> Option<String> {
    isa(image).map(|(major, minor)| format!("{major}.{minor}"))
}

impl Module {
    /// The view of a module.
    #[must_use]
    pub fn new(member: &model::Member, module: &model::Module) -> Self {
        let object = module.object.as_ref().map(|object| format!("!{}", object.name)).unwrap_or_default();
        let section = module.section.as_deref().map(|section| format!("!{section}")).unwrap_or_default();
        Self {
            place: format!("{}{object}{section}@{:#x}", member.path, module.offset),
            at: (&module.at(member)).into(),
            section: module.section.as_deref().map(ToOwned::to_owned),
            source: module.source.name().to_owned(),
            wrapped: module.wrapped,
            mapped: module.mapped,
            damaged: module.damaged,
            images: module.images.iter().map(|image| Image::new(module.source, image)).collect(),
        }
    }
}

impl Image {
    fn new(source: model::Source, image: &model::Image) -> Self {
        Self {
            kind: image.kind.name().to_owned(),
            arch: image.arch_name(),
            isa: isa_text(image),
            source: source.name().to_owned(),
            linkage: image.linkage.name().to_owned(),
            flags: image.flags,
            compression: image.compression.name().to_owned(),
            stored_bytes: image.stored_bytes,
            unpacked_bytes: image.unpacked_bytes,
            debug: image.is_debug(),
            identifier: image.identifier.as_deref().map(ToOwned::to_owned),
            options: image.options.as_deref().map(ToOwned::to_owned),
        }
    }
}

/// A device that was judged for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// What verdicts call it; unique in a report.
    pub id: String,
    /// Its name, where one was given or found.
    pub name: Option<String>,
    /// The fleet or group of a configuration that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// Compute capability, `8.9`.
    pub cc: String,
    /// `discrete`, `tegra` or `sbsa`.
    pub platform: String,
    /// Version of its driver, where known.
    pub driver: Option<String>,
    /// CUDA version of its driver, where known.
    pub driver_cuda: Option<String>,
    /// The processor beside it, `x86_64` or `aarch64`: of a live device, or what its name implies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// Whether something runs on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The device's id.
    pub device: String,
    /// `native`, `jit`, `partial`, `unknown`, `driver-too-old`, `not-covered` or `no-device-code`.
    pub verdict: String,
    /// Modules that decided and are native or jit now.
    pub modules_ok: u64,
    /// Modules that decided: the general ones, or the specialised where there are none.
    pub modules: u64,
    /// Modules that decided and whose architecture fits the device, whatever the driver.
    pub modules_fit: u64,
    /// Specialised modules beside them that are native or jit now.
    pub specialised_ok: u64,
    /// Specialised modules beside them.
    pub specialised: u64,
    /// Modules that do not count, by reason.
    pub not_counted: NotCounted,
    /// What the driver would load.
    pub loads: Vec<Load>,
    /// Modules that the driver compiles from PTX at first use.
    #[serde(default)]
    pub compiled: u64,
    /// What does not load and is no failure by itself, by kind.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Why, the headline first; with an unknown driver also the conditions under which it runs.
    pub reasons: Vec<Reason>,
    /// The oldest driver that meets all conditions, each of which is among the reasons.
    pub needs_driver: Option<String>,
    /// Of an artefact: the members that the verdict comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided_by: Vec<String>,
    /// Of an artefact: the members that do not load there and are features of other GPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<String>,
    /// What to do, the nearest first; of an artefact only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Vec<Remedy>>,
}

/// Modules that do not load, and what they mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// `specialised`, `newer`, `older`, `gap`, `refused` or `empty-kernels`.
    pub kind: String,
    /// Modules; kernels of `empty-kernels`.
    pub count: u64,
    /// Of so many.
    pub of: u64,
    /// One sentence.
    pub text: String,
}

/// Modules that do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotCounted {
    /// Without kernels.
    pub stub: u64,
    /// Input of a device link.
    pub relocatable: u64,
    /// LTO-IR only.
    pub lto: u64,
    /// Fatbins without entries.
    pub empty: u64,
    /// Other vendors' code.
    pub other: u64,
    /// Where no program that loads the file has it in memory.
    #[serde(default)]
    pub unmapped: u64,
}

/// Images alike that would be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// `sass` or `ptx`.
    pub kind: String,
    /// As in [`Code`].
    pub arch: String,
    /// As in [`Code`].
    pub isa: Option<String>,
    /// In how many modules.
    pub count: u64,
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// Its kind: `no-image`, `ptx-isa`, `zstd`, ...
    pub code: String,
    /// The CUDA error that a program sees.
    pub error: Option<u32>,
    /// One sentence.
    pub text: String,
    /// The oldest driver that would do.
    pub needs_driver: Option<String>,
}

/// Members of which one must fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternatives {
    /// What they have in common, with `*` where they differ.
    pub name: String,
    /// Their paths.
    pub choices: Vec<String>,
    /// By device id, the path of the best.
    pub best: BTreeMap<String, String>,
}

impl Document {
    /// The document of a report with its judgement.
    #[must_use]
    pub fn judged(report: &model::Report, judgement: &crate::Judgement, modules: bool) -> Self {
        let mut document = Self::new(report, modules);
        let devices = devices(judgement);
        for (artefact, judged) in document.artefacts.iter_mut().zip(&judgement.artefacts) {
            let sum = judged.members.iter().fold(NotCounted::default(), |sum, member| sum.plus(&member.not_counted));
            let whole = judged.verdicts.iter().zip(&devices);
            let names = |indices: &[usize]| -> Vec<String> {
                indices
                    .iter()
                    .filter_map(|index| artefact.members.get(*index))
                    .map(|member| member.path.clone())
                    .collect()
            };
            let of = |(verdict, device): (&crate::ArtefactVerdict, &Device)| Verdict {
                decided_by: names(&verdict.decided_by),
                optional: names(&verdict.optional),
                ..Verdict::new(&verdict.verdict, sum, &device.id)
            };
            artefact.verdicts = Some(whole.map(of).collect());
            artefact.alternatives =
                Some(judged.alternatives.iter().map(|group| Alternatives::new(group, &devices)).collect());
            for (member, judged) in artefact.members.iter_mut().zip(&judged.members) {
                let not_counted = NotCounted::default().plus(&judged.not_counted);
                let own = judged.verdicts.iter().zip(&devices);
                member.verdicts =
                    Some(own.map(|(verdict, device)| Verdict::new(verdict, not_counted, &device.id)).collect());
            }
        }
        document.devices = Some(devices);
        document
    }
}

impl Document {
    /// The document of a check.
    #[must_use]
    pub fn checked(report: &model::Report, judgement: &crate::Judgement, outcome: &crate::check::Outcome) -> Self {
        let findings = outcome.findings.iter().map(Finding::new);
        let assumptions = outcome.assumptions.iter().map(|own| Assumption {
            artefact: report.artefacts.get(own.artefact).map(|artefact| artefact.path.clone()).unwrap_or_default(),
            devices: own.devices.clone(),
            driver: own.driver.map(|driver| driver.to_string()),
            texts: own.texts.clone(),
        });
        Self {
            assumptions: Some(assumptions.collect()),
            vendored: outcome
                .vendored
                .as_ref()
                .map(|own| Vendored { asked: own.asked.name().to_owned(), files: own.files.clone() }),
            findings: Some(findings.collect()),
            summary: Some(Summary::new(outcome)),
            ..Self::judged(report, judgement, false)
        }
    }
}

impl Finding {
    fn new(finding: &crate::check::Finding) -> Self {
        Self {
            rule: finding.rule.id().to_owned(),
            level: finding.severity.name().to_owned(),
            place: finding.at.to_string(),
            at: (&finding.at).into(),
            code: finding.code.map(|code| code.to_string()),
            device: finding.device.as_ref().map(|device| device.id.clone()),
            cc: finding.capability.map(|capability| capability.to_string()),
            fleet: finding.device.as_ref().and_then(|device| device.fleet.clone()),
            driver: finding.device.as_ref().and_then(|device| device.driver.clone()),
            subject: finding.subject.clone(),
            message: finding.message.clone(),
            hint: finding.hint.clone(),
            ignored_by: finding.ignored_by.clone(),
        }
    }
}

impl Summary {
    fn new(outcome: &crate::check::Outcome) -> Self {
        let summary = outcome.summary();
        Self {
            passed: outcome.passed(),
            errors: number(summary.errors),
            warnings: number(summary.warnings),
            notes: number(summary.notes),
            ignored: number(summary.ignored),
            allowed: number(summary.allowed),
        }
    }
}

fn devices(judgement: &crate::Judgement) -> Vec<Device> {
    let named = judgement.devices.iter().zip(judgement.ids()).enumerate();
    let view = named.map(|(index, (device, id))| Device {
        id,
        name: device.name.clone(),
        fleet: judgement.fleet(index).map(ToOwned::to_owned),
        cc: device.capability.to_string(),
        platform: device.platform.to_string(),
        driver: device.driver.version.map(|version| version.to_string()),
        driver_cuda: device.driver.cuda.map(|cuda| cuda.to_string()),
        host: device.host.map(|host| host.to_string()),
    });
    view.collect()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl NotCounted {
    fn plus(self, more: &crate::NotCounted) -> Self {
        Self {
            stub: self.stub.saturating_add(number(more.stub)),
            relocatable: self.relocatable.saturating_add(number(more.relocatable)),
            lto: self.lto.saturating_add(number(more.lto)),
            empty: self.empty.saturating_add(number(more.empty)),
            other: self.other.saturating_add(number(more.other)),
            unmapped: self.unmapped.saturating_add(number(more.unmapped)),
        }
    }
}

impl Verdict {
    fn new(verdict: &crate::MemberVerdict, not_counted: NotCounted, device: &str) -> Self {
        Self {
            device: device.to_owned(),
            verdict: verdict.verdict.to_string(),
            modules_ok: number(verdict.modules_ok),
            modules: number(verdict.modules),
            modules_fit: number(verdict.modules_fit),
            specialised_ok: number(verdict.specialised_ok),
            specialised: number(verdict.specialised),
            not_counted,
            loads: verdict.loads.iter().map(Load::new).collect(),
            compiled: number(verdict.compiled),
            limits: verdict.limits.iter().map(Limit::new).collect(),
            reasons: verdict.reasons.iter().map(Reason::new).collect(),
            needs_driver: verdict.needs_driver.map(|driver| driver.to_string()),
            decided_by: Vec::new(),
            optional: Vec::new(),
            remedies: None,
        }
    }
}

impl Limit {
    fn new(limit: &crate::Limit) -> Self {
        Self {
            kind: limit.kind.name().to_owned(),
            count: number(limit.count),
            of: number(limit.of),
            text: limit.text.clone(),
        }
    }
}

impl Load {
    fn new(load: &crate::Load) -> Self {
        let prefix = if load.kind == model::CodeKind::Sass { "sm" } else { "compute" };
        Self {
            kind: load.kind.name().to_owned(),
            arch: format!("{prefix}_{}", load.arch),
            isa: load.isa.map(|(major, minor)| format!("{major}.{minor}")),
            count: number(load.count),
        }
    }
}

impl Reason {
    fn new(reason: &gpu_arch::rules::Reason) -> Self {
        Self {
            code: reason.code.to_string(),
            error: reason.error,
            text: reason.text.clone(),
            needs_driver: reason.needs_driver.map(|driver| driver.to_string()),
        }
    }
}

impl Alternatives {
    fn new(group: &crate::Alternatives, devices: &[Device]) -> Self {
        let best = group.best.iter().zip(devices).filter_map(|(best, device)| {
            group.choices.get(*best).map(|choice| (device.id.clone(), choice.path.clone()))
        });
        Self {
            name: group.name.clone(),
            choices: group.choices.iter().map(|choice| choice.path.clone()).collect(),
            best: best.collect(),
        }
    }
}
