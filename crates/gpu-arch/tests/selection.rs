//! Which image a driver takes, and what it does with a payload that is not what its label says: the numbered findings of
//! `bechirBOUALI/cuda-fatbin-precedence`, measured on an RTX 2000 Ada (8.9) with driver 597.06.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::Target;
use gpu_arch::rules::{Code, Device, Driver, Environment, ModuleVerdict, Payload, ReasonCode, Verdict};
use gpu_arch::rules::{judge_module, select};

/// `sm_90a`, or `compute_80@7.8` with the version of its PTX, 7.8 where none is given.
fn target(text: &str) -> Target {
    let (text, isa) = text.split_once('@').unwrap_or((text, "7.8"));
    match text.parse().unwrap() {
        Target::Ptx(arch, _) => Target::Ptx(arch, Some(isa.parse().unwrap())),
        other => other,
    }
}

fn code(label: &str) -> Code {
    Code::new(target(label))
}

fn holding(label: &str, payload: &str) -> Code {
    code(label).with_payload(Payload::Is(target(payload)))
}

fn on(capability: &str) -> Device {
    Device::of(capability.parse().unwrap()).with_driver(Driver::of_version("597.06".parse().unwrap()))
}

fn taken(images: &[Code]) -> Option<usize> {
    select(images, &on("8.9"), &Environment::default())
}

fn judged(images: &[Code], capability: &str) -> ModuleVerdict {
    judge_module(images, &on(capability), &Environment::default())
}

fn outcome(verdict: &ModuleVerdict) -> (Verdict, Option<u32>) {
    (verdict.verdict, verdict.reasons.first().and_then(|reason| reason.error))
}

#[test]
fn rule_1_what_cannot_run_is_no_candidate() {
    assert_eq!(outcome(&judged(&[code("sm_75")], "8.9")), (Verdict::NotCovered, Some(209)));
    let (cubin, text) = (code("sm_75"), code("compute_75"));
    assert_eq!((taken(&[cubin, text]), taken(&[text, cubin])), (Some(1), Some(0)));
    // bits 20 and 21 of the flags make names that 8.9 does not know
    assert_eq!(taken(&[code("sm_89a")]), None);
    assert_eq!(taken(&[code("sm_89f")]), None);
    assert_eq!(taken(&[code("sm_89a"), code("sm_80")]), Some(1));
}

#[test]
fn rule_2_sass_comes_before_ptx() {
    assert_eq!(taken(&[code("compute_89"), code("sm_86")]), Some(1));
    assert_eq!(taken(&[code("sm_80"), code("compute_86")]), Some(0));
}

#[test]
fn rule_3_the_nearest_architecture() {
    assert_eq!(taken(&[code("sm_80"), code("sm_86")]), Some(1));
    assert_eq!(taken(&[code("sm_86"), code("sm_80")]), Some(0));
    assert_eq!(taken(&[code("sm_86"), code("sm_89"), code("sm_80")]), Some(1));
    assert_eq!(taken(&[code("compute_80"), code("compute_89"), code("compute_90")]), Some(1));
}

#[test]
fn rule_4_without_bit_24() {
    let with = Code { has_compat: true, ..code("sm_89") };
    assert_eq!(taken(&[with, code("sm_89")]), Some(1));
    assert_eq!(taken(&[code("sm_89"), with]), Some(0));
    // the architecture comes first
    assert_eq!(taken(&[code("sm_86"), with]), Some(1));
}

#[test]
fn rule_5_the_first_cubin_and_the_last_ptx() {
    assert_eq!(taken(&[code("sm_89"), code("sm_89")]), Some(0));
    assert_eq!(taken(&[code("compute_89"), code("compute_89")]), Some(1));
}

#[test]
fn rule_6_selection_commits() {
    // label 8.9 over a 7.5 payload: refused, and a good entry behind it does not help
    let bad = holding("sm_89", "sm_75");
    for images in [&[bad][..], &[bad, code("sm_86")], &[bad, code("sm_89")], &[bad, code("compute_80")]] {
        let verdict = judged(images, "8.9");
        assert_eq!(outcome(&verdict), (Verdict::NotCovered, Some(300)), "{images:?}");
        assert_eq!(verdict.reasons[0].code, ReasonCode::LabelMismatch);
    }
    // label 7.5 over an 8.9 payload: never read
    assert_eq!(outcome(&judged(&[holding("sm_75", "sm_89")], "8.9")), (Verdict::NotCovered, Some(209)));
    // both run: without a word
    for images in [[holding("sm_89", "sm_86")], [holding("sm_86", "sm_89")]] {
        assert_eq!(outcome(&judged(&images, "8.9")), (Verdict::Native, None));
    }
    // no code at all
    let nothing = code("sm_89").with_payload(Payload::Foreign);
    assert_eq!(outcome(&judged(&[nothing, code("compute_80")], "8.9")), (Verdict::NotCovered, Some(300)));
    // TensorFlow 2.20: labelled compute_90, the text is sm_90a
    let text = [holding("compute_90", "compute_90a")];
    assert_eq!(outcome(&judged(&text, "9.0")), (Verdict::Jit, None));
    for newer in ["10.0", "12.0"] {
        assert_eq!(outcome(&judged(&text, newer)), (Verdict::NotCovered, Some(218)));
    }
}

#[test]
fn rule_7_forced_jit_takes_cubins_out() {
    let forced = Environment { force_ptx_jit: true, ..Environment::default() };
    let images = [code("sm_89"), code("compute_80")];
    assert_eq!(select(&images, &on("8.9"), &forced), Some(1));
    assert_eq!(select(&images[..1], &on("8.9"), &forced), None);
}

#[test]
fn rule_9_obfuscated_ptx_is_unknown() {
    let hidden = code("compute_80").with_payload(Payload::Obfuscated);
    let verdict = judged(&[hidden], "8.9");
    assert_eq!((verdict.verdict, verdict.reasons[0].code), (Verdict::Unknown, ReasonCode::Obfuscated));
    // what is not selected is not looked at
    assert_eq!(judged(&[hidden, code("sm_86")], "8.9").verdict, Verdict::Native);
    let unclear = code("compute_80").with_payload(Payload::Unclear);
    assert_eq!(judged(&[unclear], "8.9").verdict, Verdict::Unknown);
}

#[test]
fn the_version_of_the_text_counts_not_that_of_the_label() {
    let device = Device::of("8.9".parse().unwrap()).with_driver(Driver::of_version("550.54.14".parse().unwrap()));
    let judged = |images: &[Code]| judge_module(images, &device, &Environment::default()).verdict;
    assert_eq!(judged(&[code("compute_80@7.8")]), Verdict::Jit);
    assert_eq!(judged(&[holding("compute_80@7.8", "compute_80@8.7")]), Verdict::DriverTooOld);
}
