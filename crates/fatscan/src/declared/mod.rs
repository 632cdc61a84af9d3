//! What packages say of their own device code: the claims that [`crate::check`] holds to what is in them.
//!
//! A wheel speaks through its name, its tags, METADATA, the properties of a wheel variant, CMake files that it exports, and
//! the list of architectures that is compiled into PyTorch; a package of conda through `index.json`. [`find`] reads them from
//! the disk; that they are true is nobody's word here.

mod conda;
mod lists;
mod metadata;
mod name;
mod propose;
mod read;
mod variant;

use core::fmt;

use fatscan_containers::Limits;
use gpu_arch::{Capability, CudaVersion, Target};

use crate::model::Report;

pub(crate) use propose::{Parts, propose_one};
pub use propose::{Proposal, Remark, propose};

/// Where a claim is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Speaker {
    /// `variant.json` of a variant wheel, and the label in its name: PEP 825, draft format 0.1.0.
    Variant,
    /// `index.json` and `run_exports.json` of a package of conda: `__cuda_arch` (CEP 46), `cuda-arch`, `cuda-version`.
    Conda,
    /// The list that `torch.cuda.get_arch_list()` prints.
    ArchList,
    /// Architectures in CMake files that are installed.
    Cmake,
    /// Classifiers, requirements and words of `METADATA`.
    Metadata,
    /// `-cu12` or `+cu126` in the name.
    Name,
    /// The platform tags of a wheel.
    Tag,
}

/// One claim.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// Who makes it.
    pub speaker: Speaker,
    /// The path in the package, or what else it stands in.
    pub place: String,
    /// As it is written there, cut where it is long.
    pub words: String,
    /// What it means.
    pub says: Says,
}

/// What a claim means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Says {
    /// It runs by this machine code on GPUs that it is for, and holds this PTX in every general module.
    Code {
        /// The code.
        targets: Vec<Target>,
        /// Whether it is for no other GPUs.
        all: bool,
    },
    /// It runs on GPUs of this compute capability.
    Runs(Capability),
    /// It runs on these GPUs and on all newer ones.
    RunsFrom(Capability),
    /// It is for these major versions of CUDA.
    Cuda(Vec<u16>),
    /// It holds device code.
    DeviceCode,
    /// Drivers of this CUDA version are new enough.
    DriverFrom(CudaVersion),
    /// Only drivers before this CUDA version are meant.
    DriverBefore(CudaVersion),
    /// It is for these host architectures; for any where there is none.
    Hosts(Vec<&'static str>),
    /// It cannot mean anything: why.
    Nothing(String),
    /// It may not mean what it is taken for, or not all of it was read: why.
    Doubt(String),
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.words.is_empty() { f.write_str(&self.place) } else { write!(f, "`{}` in {}", self.words, self.place) }
    }
}

/// The most claims of one package: who makes more means no GPU by them.
const CLAIMS: usize = 64;
/// The most letters of words that are repeated.
const WORDS: usize = 120;

impl Claim {
    fn new(speaker: Speaker, place: &str, words: &str, says: Says) -> Self {
        let words = words.trim();
        let short: String = words.chars().take(WORDS).collect();
        let words = if short.len() < words.len() { format!("{short}...") } else { short };
        Self { speaker, place: place.to_owned(), words, says }
    }
}

/// The label of a variant in the file name of a wheel.
#[must_use]
pub fn label(file: &str) -> Option<&str> {
    name::WheelName::parse(file)?.label
}

/// The claims of each artefact of a report, in its order. They are read from the disk again: of wheels and packages of conda
/// that are files of their own.
#[must_use]
pub fn find(report: &Report, limits: &Limits) -> Vec<Vec<Claim>> {
    let of = |artefact| {
        let mut claims = read::claims(artefact, limits);
        if claims.len() > CLAIMS {
            let why = format!("it makes {} claims, of which the first {CLAIMS} are looked at", claims.len());
            claims.truncate(CLAIMS);
            claims.push(Claim::new(Speaker::Metadata, "the package", "", Says::Doubt(why)));
        }
        claims
    };
    report.artefacts.iter().map(of).collect()
}
