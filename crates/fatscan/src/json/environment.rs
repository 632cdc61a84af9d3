//! An environment and what is installed in it.

use serde::{Deserialize, Serialize};

use super::{Document, number};
use crate::Judgement;
use crate::environment::{self, Groups, Listed, Row, SiteKind, rows, sum};

/// An environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// `venv`, `conda`, `prefix`, `site-packages` or `process`.
    pub kind: String,
    /// Its directory; of a process its program.
    pub root: String,
    /// How it was found.
    pub found: String,
    /// The version of its Python, where known.
    pub python: Option<String>,
    /// Its directories, in the order that Python looks into them.
    pub sites: Vec<Site>,
    /// What is installed, by name.
    pub distributions: Vec<Distribution>,
    /// The files with device code that belong to no distribution; null where there are none.
    pub nobody: Option<Nobody>,
    /// One for each device.
    pub verdicts: Vec<EnvironmentVerdict>,
    /// How its files find the CUDA libraries that they ask for, where that is about no distribution.
    pub linkage: Vec<Link>,
    /// What there is to say beside, one sentence each.
    pub notes: Vec<String>,
}

/// How files find the CUDA libraries that they ask for, on the machine that tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// `missing`, `broken`, `preloaded`, `shadowed`, `mixed-majors`, `wrong-machine`, `stepped-over` or `runpath-nowhere`.
    pub kind: String,
    /// Whether the files cannot be loaded so.
    pub error: bool,
    /// Whether it is usual, so that it is not told to people.
    pub usual: bool,
    /// The files; none where it is about a distribution or the environment.
    pub files: Vec<String>,
    /// One sentence, with the first file.
    pub text: String,
}

/// A directory of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Site {
    /// Where it is.
    pub path: String,
    /// `own`, `system`, `user` or `linked`.
    pub kind: String,
}

/// What is installed under one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Its name.
    pub name: String,
    /// Its version; empty where nothing tells it.
    pub version: String,
    /// How it is known: `dist-info`, `egg-info`, `egg-link` or `conda`.
    pub made: String,
    /// Where that stands.
    pub info: String,
    /// What installed it.
    pub installer: Option<String>,
    /// The directory that an editable installation leads to.
    pub editable: Option<String>,
    /// How many files its list names; null where there is no list, or a broken one.
    pub files: Option<u64>,
    /// Index of its artefact; null where it has no file with device code.
    pub artefact: Option<u64>,
    /// Whether some of its files could not be read in full.
    pub damaged: bool,
    /// One for each device; empty where it has no file with device code.
    pub verdicts: Vec<DistributionVerdict>,
    /// How its files find the CUDA libraries that they ask for.
    pub linkage: Vec<Link>,
    /// What there is to say of it, one sentence each.
    pub notes: Vec<String>,
}

/// How a distribution stands on a device; all that led to it is with its artefact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionVerdict {
    /// The device's id.
    pub device: String,
    /// As in [`super::Verdict`].
    pub verdict: String,
    /// Whether it runs and more is missing than what is picked by device.
    pub limited: bool,
    /// The first reason with the file that it is about; null where all of it is native.
    pub reason: Option<String>,
}

/// Files that no distribution owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nobody {
    /// Index of their artefact.
    pub artefact: u64,
    /// One for each device.
    pub verdicts: Vec<DistributionVerdict>,
}

/// How an environment stands on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnvironmentVerdict {
    /// The device's id.
    pub device: String,
    /// As in [`super::Verdict`], over its distributions.
    pub verdict: String,
    /// Distributions with device code that counts; the files of nobody are one.
    pub distributions: u64,
    /// Those of them that run.
    pub distributions_ok: u64,
}

impl Document {
    /// The same with the environment whose distributions its artefacts are.
    #[must_use]
    pub fn with_environment(
        mut self,
        environment: &environment::Environment,
        groups: &Groups,
        judgement: &Judgement,
        links: &[environment::Link],
    ) -> Self {
        let linkage = |own: Option<usize>| {
            let own = links.iter().filter(|link| link.distribution == own);
            let text = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
            let view = own.map(|link| Link {
                kind: link.kind.to_owned(),
                error: link.is_error,
                usual: link.is_usual,
                files: link.files.iter().map(text).collect(),
                text: link.text.clone(),
            });
            view.collect::<Vec<_>>()
        };
        let rows = rows(groups, judgement, environment);
        let ids = judgement.ids();
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let verdicts = |own: Option<usize>| -> Vec<DistributionVerdict> {
            let row = rows.iter().find(|row| row.distribution == own);
            let states = row.into_iter().flat_map(|row| &row.states).zip(&ids);
            let view = states.map(|(state, id)| DistributionVerdict {
                device: id.clone(),
                verdict: state.verdict.to_string(),
                limited: state.is_limited,
                reason: state.reason.clone(),
            });
            view.collect()
        };
        let distributions = environment.distributions.iter().enumerate().map(|(index, own)| Distribution {
            name: own.name.clone(),
            version: own.version.clone(),
            made: own.made.name().to_owned(),
            info: text(&own.info),
            installer: own.installer.clone(),
            editable: own.editable.as_deref().map(text),
            files: match own.listed {
                Listed::Files(files) => Some(files),
                Listed::Missing | Listed::Broken(_) => None,
            },
            artefact: groups.artefact_of(Some(index)).map(number),
            damaged: groups.damaged.contains(&index),
            verdicts: verdicts(Some(index)),
            linkage: linkage(Some(index)),
            notes: own.remarks(),
        });
        let site =
            |site: &environment::Site| Site { path: text(&site.path), kind: SiteKind::name(site.kind).to_owned() };
        let count = |device: usize, is_counted: fn(&environment::State) -> bool| {
            let states = rows.iter().filter_map(|row: &Row| row.states.get(device));
            number(states.filter(|state| is_counted(state)).count())
        };
        let has_code = |state: &environment::State| state.rank() != environment::Rank::Without;
        let of_all = ids.iter().enumerate().map(|(device, id)| EnvironmentVerdict {
            device: id.clone(),
            verdict: sum(&rows, device).to_string(),
            distributions: count(device, has_code),
            distributions_ok: count(device, |state| state.verdict.is_usable()),
        });
        self.environment = Some(Environment {
            kind: environment.kind.name().to_owned(),
            root: text(&environment.root),
            found: environment.found.clone(),
            python: environment.python.clone(),
            sites: environment.sites.iter().map(site).collect(),
            distributions: distributions.collect(),
            nobody: groups
                .artefact_of(None)
                .map(|artefact| Nobody { artefact: number(artefact), verdicts: verdicts(None) }),
            verdicts: of_all.collect(),
            linkage: linkage(None),
            notes: environment.notes.clone(),
        });
        self
    }
}
