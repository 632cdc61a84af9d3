//! What a reader of the list alone must know: labels that their payload refutes, and files that were not read whole.

use std::collections::{BTreeMap, BTreeSet};

use fatscan::{Code, CodeKind, Diagnostic, Level, Locator, Member, Module, Place, Report, Step};
use gpu_arch::Arch;

use super::words;
use crate::terminal::count;

/// Files that are named one by one.
const SHOWN: usize = 5;

/// What images are labelled otherwise than their payload says, by the diagnostics of a report.
pub(super) struct Labels<'report> {
    /// By the file or object that holds the image, the place of its entry and its index in the module.
    says: BTreeMap<(&'report [Step], u64, usize), &'report str>,
    /// Files with more problems than are told.
    untold: BTreeSet<&'report [Step]>,
}

/// The refuted labels of some modules.
#[derive(Default)]
pub(super) struct Refuted {
    /// Architectures that get a mark.
    pub(super) marks: words::Marks,
    /// Images by label and by what their payload says.
    images: BTreeMap<(CodeKind, Option<Arch>, String), usize>,
    /// Whether there may be more.
    untold: bool,
}

impl<'report> Labels<'report> {
    pub(super) fn of(report: &'report Report) -> Self {
        let own = report.diagnostics.iter();
        let about =
            own.clone().filter(|own| matches!(own.code, Code::HeaderAgainstPayload | Code::HeaderAgainstCompat));
        let says = about.filter_map(|own| Some(((own.at.steps.as_slice(), own.at.offset?, own.at.image?), said(own))));
        let untold = own.filter(|own| own.code == Code::LimitDiagnostics && own.level <= Level::Warning);
        Self { says: says.collect(), untold: untold.map(|own| own.at.steps.as_slice()).collect() }
    }

    /// What the payload of an image says, where it is not what the label says: `the cubin says sm_75`.
    pub(super) fn says(&self, member: &Member, module: &Module, index: usize) -> Option<&str> {
        if self.says.is_empty() {
            return None;
        }
        let at = module.object.as_ref().map_or(&member.at, |object| &object.at);
        let image = module.images.get(index)?;
        self.says.get(&(at.steps.as_slice(), image.offset, index)).copied()
    }

    /// The refuted labels of some members.
    pub(super) fn refuted<'a>(&self, members: impl IntoIterator<Item = &'a Member>) -> Refuted {
        let mut refuted = Refuted::default();
        for member in members {
            refuted.untold |= self.untold.contains(member.at.steps.as_slice());
            member.modules.iter().for_each(|module| self.add(&mut refuted, member, module));
        }
        refuted
    }

    /// The marks of one module.
    pub(super) fn marks(&self, member: &Member, module: &Module) -> words::Marks {
        let mut refuted = Refuted::default();
        self.add(&mut refuted, member, module);
        refuted.marks
    }

    fn add(&self, refuted: &mut Refuted, member: &Member, module: &Module) {
        for (index, image) in module.images.iter().enumerate() {
            let Some(says) = self.says(member, module, index) else { continue };
            refuted.marks.extend(image.arch.map(|arch| (image.kind, arch)));
            let number = refuted.images.entry((image.kind, image.arch, says.to_owned())).or_default();
            *number = number.saturating_add(1);
        }
    }
}

/// The part of the message that is about the payload: what the label says is in the list.
fn said(diagnostic: &Diagnostic) -> &str {
    diagnostic.detail.rsplit(", ").next().unwrap_or_default()
}

impl Refuted {
    /// What the marks mean, a sentence for each label: `sm_80 in 1 image: the payload disagrees, the cubin says sm_75`.
    pub(super) fn sentences(&self) -> Vec<String> {
        let shown = self.images.iter().take(SHOWN).map(|((kind, arch, says), number)| {
            let label = match arch {
                Some(arch) => format!("{}_{arch}", words::prefix(*kind)),
                None => words::label(*kind).to_owned(),
            };
            format!("{label} in {}: the payload disagrees, {says}", count(*number, "image", "images"))
        });
        let mut sentences: Vec<String> = shown.collect();
        if let Some(more) = self.images.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            sentences.push(format!("and {} more", count(more, "such label", "such labels")));
        }
        if self.untold {
            sentences.push("there are more problems than are told: other labels may be wrong too".to_owned());
        }
        sentences
    }
}

/// Some files, the first few by name.
pub(super) struct Few {
    pub(super) heading: String,
    /// A file and what is said of it.
    pub(super) files: Vec<(String, String)>,
    /// `and 3 more files`, where there are more.
    pub(super) rest: Option<String>,
}

/// The files of which something was not read as it should be. Where nothing is listed no list misleads.
pub(super) fn damaged(report: &Report) -> Option<Few> {
    if report.artefacts.is_empty() {
        return None;
    }
    let errors = report.diagnostics.iter().filter(|own| own.level == Level::Error);
    few(
        errors.map(|own| (&own.at, own.message())),
        "file is damaged or could not be read whole: the list may lack something",
        "files are damaged or could not be read whole: the list may lack something",
    )
}

/// The files that were passed over.
pub(super) fn unread(report: &Report) -> Option<Few> {
    few(
        report.unread.iter().map(|own| (&own.at, own.why.to_string())),
        "file was not read and may hold device code",
        "files were not read and may hold device code",
    )
}

fn few<'a>(said: impl Iterator<Item = (&'a Locator, String)>, one: &str, many: &str) -> Option<Few> {
    // objects and slices are no files of their own
    let is_file = |step: &&Step| !matches!(step.place, Place::Part { .. });
    let mut files: BTreeMap<Vec<&Step>, (&Locator, String, usize)> = BTreeMap::new();
    for (at, message) in said {
        let file = files.entry(at.steps.iter().filter(is_file).collect()).or_insert((at, message, 0));
        file.2 = file.2.saturating_add(1);
    }
    if files.is_empty() {
        return None;
    }
    let number = files.len();
    let shown = files.into_values().take(SHOWN).map(|(at, message, times)| {
        let more = if times > 1 { format!(" (and {} more)", times.saturating_sub(1)) } else { String::new() };
        (at.names(0), format!("{message}{more}"))
    });
    let rest = number.checked_sub(SHOWN).filter(|rest| *rest > 0);
    Some(Few {
        heading: count(number, one, many),
        files: shown.collect(),
        rest: rest.map(|rest| format!("and {}", count(rest, "more file", "more files"))),
    })
}
