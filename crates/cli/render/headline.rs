//! The first line of an answer, and how files are named in it.

use fatscan::{Artefact, ArtefactVerdict, LimitKind, MemberVerdict, Standing};
use gpu_arch::rules::{Reason, Verdict};

use super::explain::sentence;

/// The word of a verdict, and a sentence that is true of the whole artefact or names its part.
pub(super) fn headline(artefact: &Artefact, whole: &ArtefactVerdict, parts: &[Standing<'_>]) -> (&'static str, String) {
    let verdict = &whole.verdict;
    let (word, meaning) = sentence(verdict.verdict);
    let limited = parts.iter().any(|part| is_limited(part.verdict)) || !whole.optional.is_empty();
    match verdict.verdict {
        Verdict::Native if limited => ("native", "it runs on this GPU, with the limits below".to_owned()),
        Verdict::Jit if whole.parts > 1 => {
            let compiled =
                parts.iter().filter(|part| part.verdict.verdict == Verdict::Jit && !part.is_optional).count();
            let own = parts.iter().filter(|part| part.verdict.verdict == Verdict::Jit && !part.is_optional);
            let names: Vec<String> = own.map(|part| file(artefact, part)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = format!(
                "all of it runs; the driver compiles portable code of {compiled} of {} libraries at the first start (slow \
                 once): {}",
                whole.parts,
                shortened(&names)
            );
            (word, text)
        }
        Verdict::Partial | Verdict::NotCovered | Verdict::DriverTooOld | Verdict::Unknown if whole.parts > 1 => {
            let (doubtful, failing): (Vec<&Standing<'_>>, Vec<&Standing<'_>>) = parts
                .iter()
                .filter(|part| !part.is_optional && !part.verdict.verdict.is_usable())
                .partition(|part| part.verdict.verdict == Verdict::Unknown);
            let wait = failing.iter().all(|part| part.verdict.verdict == Verdict::DriverTooOld);
            let (own, all) = (failing.len(), whole.parts);
            let list = |parts: &[&Standing<'_>]| {
                let names: Vec<String> = parts.iter().map(|part| file(artefact, part)).collect();
                shortened(&names.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let mut text = match (wait, own) {
                (_, 0) if doubtful.len() == all => return (word, meaning.to_owned()),
                (_, 0) => String::new(),
                (true, own) if own == all => format!("this driver is too old for all {all} libraries"),
                (true, own) => format!("this driver is too old for {own} of {all} libraries: {}", list(&failing)),
                (false, own) if own == all => meaning.to_owned(),
                (false, own) => {
                    let verb = if own == 1 { "does" } else { "do" };
                    format!("{own} of {all} libraries {verb} not run in full on this GPU: {}", list(&failing))
                }
            };
            match (own, doubtful.len()) {
                (_, 0) => {}
                (0, own) => {
                    let verb = if own == 1 { "runs" } else { "run" };
                    text =
                        format!("whether {own} of {all} libraries {verb} in full is not certain: {}", list(&doubtful))
                }
                (..) => text.push_str(&format!("; whether {} runs in full is not certain", list(&doubtful))),
            }
            (word, text)
        }
        _ => (word, meaning.to_owned()),
    }
}

/// Whether more is missing than what is picked by device.
pub(super) fn is_limited(verdict: &MemberVerdict) -> bool {
    verdict.limits.iter().any(|limit| limit.kind != LimitKind::Specialised)
}

/// The name of the file that a part is.
pub(super) fn file(artefact: &Artefact, part: &Standing<'_>) -> String {
    let member = part.members.first().and_then(|member| artefact.members.get(*member));
    let path = member.map(|member| member.path.as_str()).unwrap_or_default();
    let base = |path: &str| path.rsplit(['/', '!']).next().unwrap_or(path).to_owned();
    // two files of one name are told apart by their folders
    let is_alone = artefact.members.iter().filter(|member| base(&member.path) == base(path)).count() <= 1;
    let name = format!("`{}`", if is_alone { base(path) } else { path.to_owned() });
    match part.members.len() {
        1 => name,
        number => format!("{number} loose files ({name}, ...)"),
    }
}

/// The files that ask something of the driver, in brackets: nothing where all do.
pub(super) fn of_files(artefact: &Artefact, parts: &[Standing<'_>], reason: &Reason) -> String {
    let asks = |part: &&Standing<'_>| {
        let mut own = part.verdict.reasons.iter();
        own.any(|own| {
            own.code == reason.code && own.needs_driver == reason.needs_driver && own.needs_cuda == reason.needs_cuda
        })
    };
    let own: Vec<&Standing<'_>> = parts.iter().filter(asks).collect();
    let counted = parts.iter().filter(|part| !part.is_optional).count();
    match own.as_slice() {
        _ if own.len() >= counted => String::new(),
        [] => String::new(),
        [first] => format!(" ({})", file(artefact, first)),
        own => format!(" ({} libraries)", own.len()),
    }
}

/// The first of some names, and how many more there are.
pub(super) fn shortened(names: &[&str]) -> String {
    first_of(names, 8)
}

/// The same in fewer words.
pub(super) fn few(names: &[&str]) -> String {
    first_of(names, 3)
}

pub(super) fn first_of(names: &[&str], shown: usize) -> String {
    let more = names.len().saturating_sub(shown);
    let first = names.iter().take(shown).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}
