//! Modules on one device. Most modules of a library hold the same set of images: each set is judged once.

use std::collections::HashMap;

use gpu_arch::rules::{
    Code, Device, Environment, ModuleVerdict, Reason, ReasonCode, Verdict, judge_module, runtime_condition,
};
use gpu_arch::{Isa, Target};

use crate::model::{CodeKind, Image, Linkage, Module, Source};

pub(crate) struct Judge<'a> {
    device: &'a Device,
    environment: &'a Environment,
    runtime: Option<u16>,
    known: HashMap<Vec<Code>, ModuleVerdict>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(device: &'a Device, environment: &'a Environment, runtime: Option<u16>) -> Self {
        Self { device, environment, runtime, known: HashMap::new() }
    }

    /// The verdict on a module, and the image that was picked.
    pub(crate) fn module<'m>(&mut self, module: &'m Module) -> (ModuleVerdict, Option<&'m Image>) {
        let mut codes = Vec::new();
        let mut images = Vec::new();
        for image in &module.images {
            if let Some(code) = code(module.source, image) {
                codes.push(code);
                images.push(image);
            }
        }
        let verdict = match self.known.get(&codes) {
            Some(known) => known.clone(),
            None => {
                let verdict = self.judge(&codes);
                self.known.insert(codes, verdict.clone());
                verdict
            }
        };
        let is_broken = images.is_empty() && module.images.iter().any(|image| image.begins == Some(false));
        let verdict = if is_broken { broken(verdict) } else { verdict };
        let picked = verdict.picked.and_then(|index| images.get(index).copied());
        (verdict, picked)
    }

    fn judge(&self, codes: &[Code]) -> ModuleVerdict {
        let mut verdict = judge_module(codes, self.device, self.environment);
        if codes.is_empty() {
            // a module that counts and has neither SASS nor PTX holds Tile IR
            verdict.verdict = Verdict::Unknown;
            let text = "there is only Tile IR, and which drivers load it is not known";
            verdict.reasons = vec![Reason::new(ReasonCode::Uncertain, None, text)];
        }
        if let Some(major) = self.runtime {
            verdict.hold_to(runtime_condition(major, self.device));
        }
        verdict
    }
}

/// A module of which nothing begins as code.
fn broken(verdict: ModuleVerdict) -> ModuleVerdict {
    let text = "no payload begins as the code that its label says";
    let reasons = vec![Reason::new(ReasonCode::NoImage, Some(300), text)];
    ModuleVerdict { verdict: Verdict::NotCovered, coverage: gpu_arch::rules::Coverage::No, reasons, ..verdict }
}

/// What the rules look at in an image; nothing for what no driver loads from a fatbin.
fn code(source: Source, image: &Image) -> Option<Code> {
    let arch = image.arch?;
    // what does not begin as code is none, whatever its label says
    if image.linkage == Linkage::Relocatable || image.begins == Some(false) {
        return None;
    }
    let target = match image.kind {
        CodeKind::Sass => Target::Sass(arch),
        CodeKind::Ptx => {
            let isa = image.version.map(|(major, minor)| Isa::new(major, minor));
            Target::Ptx(arch, isa)
        }
        _ => return None,
    };
    let is_32bit = source == Source::Fatbin && image.flags & fatbin::Flags::BITS_64.bits() == 0;
    Some(Code {
        target,
        zstd: image.compression == fatbin::Compression::Zstd,
        cubin_abi: image.cubin_abi.filter(|_| image.kind == CodeKind::Sass),
        is_32bit,
    })
}
