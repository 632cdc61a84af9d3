//! What to do, and where an error comes from.

use gpu_arch::catalogue::CudaError;
use serde::{Deserialize, Serialize};

use super::Document;
use crate::package::Owners;
use crate::{Fix, Judgement, Report, When, advise, cause_of};

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// `setting` (a variable of the environment), `variant` (another build of the package), `driver` (a newer one),
    /// `compat` (the package `cuda-compat` beside the driver) or `build` (a build of one's own).
    pub kind: String,
    /// One sentence, lower case, without a full stop.
    pub text: String,
    /// Lines to copy: commands, flags. Words that stand for something are told in the sentence.
    pub lines: Vec<String>,
}

/// The error that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Error {
    /// Its number, the same in driver and runtime.
    pub code: u32,
    /// The name in the driver API: `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    pub name: String,
    /// The name in the runtime: `cudaErrorNoKernelImageForDevice`.
    pub runtime_name: String,
    /// What it means and what to do, in general.
    pub advice: String,
    /// Why it comes here: the first of the causes that is `here`. Null where nothing that was scanned gives this error.
    pub cause: Option<String>,
    /// One for each artefact and device where something may give it.
    pub causes: Vec<ErrorCause>,
}

/// Where an error comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorCause {
    /// Path of the artefact.
    pub artefact: String,
    /// Path of the file in it; null where the artefact as a whole is meant.
    pub member: Option<String>,
    /// The device's id.
    pub device: String,
    /// `here`: a file that decides the verdict gives it; `old-driver`: with a driver that is older than what such a file asks
    /// for, where the driver is not known; `if-used`: where a file that does not decide is used.
    pub when: String,
    /// One sentence.
    pub text: String,
}

impl From<Fix> for Remedy {
    fn from(fix: Fix) -> Self {
        Self { kind: fix.kind.name().to_owned(), text: fix.text, lines: fix.lines }
    }
}

impl Document {
    /// The same with what to do about each verdict on an artefact; `report` and `judgement` are those of the document.
    #[must_use]
    pub fn with_remedies(mut self, report: &Report, judgement: &Judgement, owners: &Owners) -> Self {
        let own = self.artefacts.iter_mut().zip(&report.artefacts).zip(&judgement.artefacts).enumerate();
        for (place, ((view, artefact), judged)) in own {
            for (index, verdict) in view.verdicts.iter_mut().flatten().enumerate() {
                let fixes = advise(artefact, judged, &judgement.devices, index, owners.of(place));
                verdict.remedies = Some(fixes.into_iter().map(Remedy::from).collect());
            }
        }
        self
    }

    /// The same with an error, and where it comes from if something was judged.
    #[must_use]
    pub fn with_error(mut self, error: &CudaError, judged: Option<(&Report, &Judgement)>) -> Self {
        let causes = judged.map(|(report, judgement)| causes(error.code, report, judgement)).unwrap_or_default();
        let here = causes.iter().find(|cause| cause.when == When::Here.name());
        self.error = Some(Error {
            code: error.code,
            name: error.name.to_owned(),
            runtime_name: error.runtime_name.to_owned(),
            advice: error.advice.to_owned(),
            cause: here.map(|cause| cause.text.clone()),
            causes,
        });
        self
    }
}

fn causes(error: u32, report: &Report, judgement: &Judgement) -> Vec<ErrorCause> {
    let ids = judgement.ids();
    let mut causes = Vec::new();
    for (artefact, judged) in report.artefacts.iter().zip(&judgement.artefacts) {
        for (index, id) in ids.iter().enumerate() {
            let Some(cause) = cause_of(error, judged, &judgement.devices, index) else { continue };
            let member = cause.member.and_then(|member| artefact.members.get(member));
            causes.push(ErrorCause {
                artefact: artefact.path.clone(),
                member: member.map(|member| member.path.clone()),
                device: id.clone(),
                when: cause.when.name().to_owned(),
                text: cause.text,
            });
        }
    }
    causes
}
