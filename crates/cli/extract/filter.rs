//! Which images are asked for.

use fatscan::extract::Wanted;
use fatscan::{CodeKind, Image, Member, Pattern, Source};
use gpu_arch::{Arch, Target, spelling};
use regex_lite::Regex;

use crate::args::{ExtractArgs, KindArg};
use crate::failure::Failure;

/// Which images are wanted.
pub(super) struct Filter {
    archs: Vec<(CodeKind, Arch)>,
    kind: Option<CodeKind>,
    pub(super) kernel: Option<Regex>,
    module: Option<usize>,
    member: Option<Pattern>,
}

impl Filter {
    pub(super) fn new(args: &ExtractArgs) -> Result<Self, Failure> {
        let archs = match &args.arch {
            Some(text) => {
                let targets = spelling::code(text).map_err(|error| Failure::new(format!("--arch: {error}")))?;
                targets
                    .into_iter()
                    .map(|target| match target {
                        Target::Sass(arch) => (CodeKind::Sass, arch),
                        Target::Ptx(arch, _) => (CodeKind::Ptx, arch),
                        Target::Lto(arch) => (CodeKind::LtoIr, arch),
                    })
                    .collect()
            }
            None => Vec::new(),
        };
        let kernel = match &args.kernel {
            Some(text) => Some(Regex::new(text).map_err(|error| Failure::new(format!("--kernel: {error}")))?),
            None => None,
        };
        let kind = args.kind.map(|kind| match kind {
            KindArg::Sass => CodeKind::Sass,
            KindArg::Ptx => CodeKind::Ptx,
            KindArg::LtoIr => CodeKind::LtoIr,
            KindArg::TileIr => CodeKind::TileIr,
        });
        let member = match &args.member {
            Some(text) => Some(Pattern::new(text).map_err(|error| Failure::new(format!("--member: {error}")))?),
            None => None,
        };
        Ok(Self { archs, kind, kernel, module: args.module, member })
    }

    /// The images of a member that are wanted.
    pub(super) fn choose(&self, member: &Member, raw: bool) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        if self.member.as_ref().is_some_and(|glob| !glob.matches(&member.path)) {
            return wanted;
        }
        for (module, own) in member.modules.iter().enumerate() {
            if own.source == Source::OffloadBundle || self.module.is_some_and(|only| only != module) {
                continue;
            }
            let mut last = None;
            for (image, own) in own.images.iter().enumerate().filter(|(_, image)| self.keeps(image)) {
                // the images of a concatenated entry have one payload
                if !raw || own.concat.is_none() || last != Some(own.offset) {
                    wanted.push(Wanted { module, image });
                }
                last = Some(own.offset);
            }
        }
        wanted
    }

    fn keeps(&self, image: &Image) -> bool {
        let arch = self.archs.is_empty() || image.arch.is_some_and(|arch| self.archs.contains(&(image.kind, arch)));
        let kernel = self.kernel.as_ref().is_none_or(|kernel| {
            image.kernels.iter().flatten().any(|own| {
                kernel.is_match(&own.name)
                    || fatscan::demangle(own.name.as_bytes()).is_some_and(|name| kernel.is_match(&name))
            })
        });
        arch && kernel && self.kind.is_none_or(|kind| kind == image.kind)
    }
}
