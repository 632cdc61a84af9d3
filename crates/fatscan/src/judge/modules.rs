//! Modules on one device. Most modules of a library hold the same set of images: each set is judged once.

use std::collections::HashMap;

use gpu_arch::rules::{
    Code, Device, Environment, ModuleVerdict, Payload, Reason, ReasonCode, Verdict, judge_module, runtime_condition,
};
use gpu_arch::{Isa, Target};

use crate::model::{CodeKind, Holds, Image, Linkage, Module, Source};

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

    pub(crate) const fn device(&self) -> &'a Device {
        self.device
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

/// What the rules look at in an image; nothing for what no driver loads from a fatbin.
pub(crate) fn code(source: Source, image: &Image) -> Option<Code> {
    let arch = image.arch?;
    if image.linkage == Linkage::Relocatable {
        return None;
    }
    let isa = |version: Option<(u16, u16)>| version.map(|(major, minor)| Isa::new(major, minor));
    let of = |arch, version| match image.kind {
        CodeKind::Sass => Some(Target::Sass(arch)),
        CodeKind::Ptx => Some(Target::Ptx(arch, isa(version))),
        _ => None,
    };
    let found_abi = match image.holds {
        Some(Holds::Code { cubin_abi, .. }) => cubin_abi,
        _ => None,
    };
    let payload = match image.holds {
        None => Payload::Unread,
        Some(Holds::Code { arch, version, .. }) => Payload::Is(of(arch, version)?),
        Some(Holds::Foreign) => Payload::Foreign,
        Some(Holds::Obfuscated) => Payload::Obfuscated,
        Some(Holds::Unclear) => Payload::Unclear,
    };
    Some(Code {
        payload,
        zstd: image.compression == fatbin::Compression::Zstd,
        cubin_abi: found_abi.or(image.cubin_abi).filter(|_| image.kind == CodeKind::Sass),
        is_32bit: source == Source::Fatbin && image.flags & fatbin::Flags::BITS_64.bits() == 0,
        has_compat: image.flags & fatbin::Flags::COMPAT.bits() != 0,
        ..Code::new(of(arch, image.version)?)
    })
}
