//! The vectors of `vectors.tsv`: codes, device, driver, environment, and what must come of it.
//!
//! The expected words are those of the rule book, which are finer than verdicts; the reason makes
//! up the difference.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::catalogue::Platform;
use gpu_arch::rules::{Code, Device, Driver, Environment, ModuleVerdict, ReasonCode, Verdict, judge_module, runs};
use gpu_arch::{Isa, Target};

struct Row {
    id: u32,
    images: Vec<Code>,
    device: Device,
    environment: Environment,
    expected: String,
    why: String,
}

fn rows() -> Vec<Row> {
    include_str!("vectors.tsv")
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [id, codes, capability, platform, cuda, environment, expected, why] = columns[..] else {
                panic!("eight columns in {line:?}");
            };
            let platform: Platform = platform.parse().unwrap();
            Row {
                id: id.parse().unwrap(),
                images: codes.split(',').map(image).collect(),
                device: Device {
                    platform,
                    ..Device::of(capability.parse().unwrap()).with_driver(Driver::of_cuda(cuda.parse().unwrap()))
                },
                environment: Environment::from_vars(
                    environment.split_whitespace().filter_map(|pair| pair.split_once('=')),
                ),
                expected: expected.to_owned(),
                why: why.to_owned(),
            }
        })
        .collect()
}

/// `compute_80@8.7` is PTX ISA 8.7.
fn image(text: &str) -> Code {
    let (target, isa) = match text.split_once('@') {
        Some((target, isa)) => (target, Some(isa.parse::<Isa>().unwrap())),
        None => (text, None),
    };
    Code::new(match target.parse().unwrap() {
        Target::Ptx(arch, _) => Target::Ptx(arch, isa),
        other => other,
    })
}

fn word(verdict: &ModuleVerdict) -> &'static str {
    let headline = verdict.reasons.first().map(|reason| reason.code);
    match (verdict.verdict, headline) {
        (Verdict::Native, None) => "RUNS_SASS",
        (Verdict::Jit, None) => "RUNS_JIT",
        (Verdict::Unknown, Some(_)) => "UNKNOWN",
        (Verdict::NotCovered, Some(ReasonCode::NoImage)) => "FAIL_NO_IMAGE",
        (Verdict::NotCovered, Some(ReasonCode::JitDisabled)) => "FAIL_JIT_DISABLED",
        (Verdict::DriverTooOld, Some(ReasonCode::PtxIsa)) => "FAIL_PTX_TOO_NEW",
        // LTO-IR alone does not count as a module: the verdict is "no device code", the effect 209
        (Verdict::NoDeviceCode, Some(ReasonCode::LtoOnly)) => "FAIL_NO_IMAGE",
        other => panic!("no word for {other:?}"),
    }
}

#[test]
fn every_vector_holds() {
    let rows = rows();
    assert_eq!(rows.len(), 51);
    for row in rows {
        let verdict = judge_module(&row.images, &row.device, &row.environment);
        assert_eq!(word(&verdict), row.expected, "vector {}: {} ({verdict:?})", row.id, row.why);
        // the picked image must come to the same alone
        if let Some(picked) = verdict.picked {
            let alone = runs(&row.images[picked], &row.device, &row.environment);
            assert_eq!(alone.verdict, verdict.verdict, "vector {}", row.id);
        }
        let expected_error = match row.expected.as_str() {
            "FAIL_NO_IMAGE" => Some(209),
            "FAIL_JIT_DISABLED" => Some(223),
            "FAIL_PTX_TOO_NEW" => Some(222),
            _ => None,
        };
        assert_eq!(verdict.reasons.first().and_then(|reason| reason.error), expected_error, "vector {}", row.id);
    }
}

/// 46 is the only vector on which the sources disagree, and the only one that may be unknown.
#[test]
fn only_the_uncertain_vector_is_unknown() {
    for row in rows() {
        let verdict = judge_module(&row.images, &row.device, &row.environment);
        assert_eq!(verdict.verdict == Verdict::Unknown, row.id == 46, "vector {}", row.id);
    }
}
