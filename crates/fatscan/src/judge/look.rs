//! What one module adds to the verdict of its file.

use gpu_arch::rules::{Coverage, Verdict};

use super::classify::{Class, classify};
use super::limits::{self, LimitKind};
use super::member::Judged;
use super::modules::Judge;
use crate::model::Module;

/// All that the verdict of a file takes from one of its modules, on one device: files whose modules look the same have the same
/// verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    class: Class,
    verdict: Verdict,
    coverage: Coverage,
    kind: Option<LimitKind>,
    is_feature: bool,
    is_plain_and_older: bool,
    /// Whether it loads now or with a newer driver.
    pub(crate) fits: bool,
}

/// How a module looks to the device of `judge`.
pub(crate) fn look(module: &Module, judge: &mut Judge<'_>) -> Look {
    let capability = judge.device().capability;
    let (verdict, picked) = judge.module(module);
    let judged = Judged { index: 0, module, class: classify(module), verdict, picked };
    Look {
        class: judged.class,
        verdict: judged.verdict.verdict,
        coverage: judged.verdict.coverage,
        kind: limits::kind(&judged, capability),
        is_feature: limits::is_feature(&judged, capability),
        is_plain_and_older: limits::is_plain_and_older(&judged, capability),
        fits: judged.fits(),
    }
}
