//! Demands of their own for some files: the `[[files]]` of a configuration.

use std::collections::BTreeMap;

use gpu_arch::Target;

use super::{At, Demands, Rule, Severity, Words};
use crate::model::{Artefact, Member};
use crate::pattern::Pattern;

/// What is demanded of the files whose path matches. Of several tables that match a file the last one that says something
/// counts, key by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDemands {
    /// Paths in the artefact.
    pub glob: Pattern,
    /// Artefacts that it is about; all where none is given.
    pub artefact: Option<Pattern>,
    /// Code that these files must hold instead of [`Demands::contains`]; an empty list demands none.
    pub contains: Option<Vec<Target>>,
    /// Devices that these files must run on instead of all others, by their indices in the judgement. No other file is
    /// asked to run on them.
    pub require: Option<Vec<usize>>,
    /// As [`Demands::allow_jit`].
    pub allow_jit: Option<u8>,
    /// What rules weigh for these files.
    pub levels: BTreeMap<Rule, Severity>,
}

impl FileDemands {
    /// Levels for files, and nothing else.
    #[must_use]
    pub const fn levels(glob: Pattern, levels: BTreeMap<Rule, Severity>) -> Self {
        Self { glob, artefact: None, contains: None, require: None, allow_jit: None, levels }
    }

    /// Whether it is about files of this artefact.
    fn is_about(&self, artefact: &str) -> bool {
        self.artefact.as_ref().is_none_or(|glob| glob.matches(artefact))
    }

    fn matches(&self, artefact: &str, member: &str) -> bool {
        !member.is_empty() && self.is_about(artefact) && self.glob.matches(member)
    }

    /// Whether something must be in its files: then they must be there.
    const fn demands(&self) -> bool {
        self.contains.is_some() || self.require.is_some()
    }
}

impl Demands {
    /// What the last table that says it says of a file.
    fn of_file<'a, T>(&'a self, artefact: &str, member: &str, of: impl Fn(&'a FileDemands) -> Option<T>) -> Option<T> {
        self.files.iter().rev().filter(|own| own.matches(artefact, member)).find_map(of)
    }

    /// What a rule weighs for a file, where a table says it.
    pub(super) fn level_of(&self, artefact: &str, member: &str, rule: Rule) -> Option<Severity> {
        self.of_file(artefact, member, |own| own.levels.get(&rule).copied())
    }

    /// The same of the rule that a table matches nothing.
    pub(super) fn level_of_table(&self, glob: &str, rule: Rule) -> Option<Severity> {
        let own = self.files.iter().filter(|own| own.glob.to_string() == glob);
        own.rev().find_map(|own| own.levels.get(&rule).copied())
    }

    /// The code that a file must hold.
    pub(super) fn contains_of(&self, artefact: &Artefact, member: &Member) -> &[Target] {
        let own = self.of_file(&artefact.path, &member.path, |own| own.contains.as_deref());
        own.unwrap_or_else(|| if self.is_vendored(member) { &[] } else { &self.contains })
    }

    /// Whether code is demanded of a file by name.
    pub(super) fn names_code(&self) -> bool {
        !self.contains.is_empty() || self.files.iter().any(|own| own.contains.is_some())
    }

    /// How much of a file may be compiled on a device.
    pub(super) fn allow_jit_of(&self, artefact: &Artefact, member: &Member, device: usize) -> Option<u8> {
        let own = self.of_file(&artefact.path, &member.path, |own| own.allow_jit);
        own.or_else(|| self.allow_jit_on.get(&device).copied()).or(self.allow_jit)
    }

    /// Whether a table says what code a file must hold.
    pub(super) fn has_own_code(&self, artefact: &Artefact, member: &Member) -> bool {
        self.of_file(&artefact.path, &member.path, |own| own.contains.as_ref()).is_some()
    }

    /// The devices that a table says a file must run on.
    pub(super) fn devices_of(&self, artefact: &Artefact, member: &Member) -> Option<&[usize]> {
        self.of_file(&artefact.path, &member.path, |own| own.require.as_deref())
    }

    /// Whether a device is one of a table: no other file must run there.
    pub(super) fn is_of_table(&self, device: usize) -> bool {
        self.files.iter().flat_map(|own| &own.require).any(|own| own.contains(&device))
    }
}

/// Tables whose files are not there: the artefact must have those that something is demanded of.
pub(super) fn unmatched(at: &mut At<'_, '_>) {
    let demands = at.sink.demands;
    if at.artefact.is_beside() {
        return;
    }
    for own in demands.files.iter().filter(|own| own.demands() && own.is_about(&at.artefact.path)) {
        let is_there = at.artefact.members.iter().any(|member| own.glob.matches(&member.path));
        if is_there || is_left_out(demands, own) {
            continue;
        }
        at.add(None, words(own, Severity::Deny, "matches no file with device code"));
    }
}

/// Tables that only permit, and match nowhere: what they were written for has another name now.
pub(super) fn idle(report: &crate::Report, demands: &Demands) -> Vec<Words> {
    let is_idle = |own: &&FileDemands| {
        let of = |artefact: &Artefact| artefact.members.iter().any(|member| own.matches(&artefact.path, &member.path));
        !own.demands() && !report.artefacts.iter().any(of) && !is_left_out(demands, own)
    };
    let idle = demands.files.iter().filter(is_idle);
    idle.map(|own| words(own, Severity::Warn, "matches no file with device code anywhere")).collect()
}

fn is_left_out(demands: &Demands, own: &FileDemands) -> bool {
    demands.left_out.iter().any(|path| own.glob.matches(path))
}

fn words(own: &FileDemands, severity: Severity, what: &str) -> Words {
    let (message, hint) = (
        format!("[[files]] `{}` {what}", own.glob),
        "mend the pattern; levels = { unmatched-files = \"allow\" } in this table where the file may be absent",
    );
    Words {
        rule: Rule::UnmatchedFiles,
        severity: Some(severity),
        device: None,
        subject: Some(own.glob.to_string()),
        message,
        hint: Some(hint.to_owned()),
    }
}
