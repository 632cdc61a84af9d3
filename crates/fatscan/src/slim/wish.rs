//! What is to stay, as it is asked for.

use gpu_arch::Target;
use gpu_arch::rules::Device;

use crate::model::{CodeKind, Image};

/// Which PTX stays beside what the devices pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum KeepPtx {
    /// The newest of each module: what GPUs that do not exist yet would compile.
    #[default]
    Newest,
    /// All.
    All,
    /// None.
    None,
}

/// Code that is named by its label in the fatbin.
#[derive(Clone, Copy, Debug)]
pub enum Named<'a> {
    /// It stays, and all else may go.
    Keep(&'a [Target]),
    /// It goes, and all else stays.
    Drop(&'a [Target]),
}

impl Named<'_> {
    /// Whether an image stays.
    pub(super) fn keeps(self, image: &Image) -> bool {
        let (list, is_kept) = match self {
            Self::Keep(list) => (list, true),
            Self::Drop(list) => (list, false),
        };
        let own = |target: &Target| match (target, image.kind) {
            (Target::Sass(arch), CodeKind::Sass) | (Target::Ptx(arch, _), CodeKind::Ptx) => image.arch == Some(*arch),
            _ => false,
        };
        list.iter().any(own) == is_kept
    }
}

/// What is to stay.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// What each of these picks stays: with its driver and the newest, or where it has none with any.
    pub devices: &'a [Device],
    /// What stays by its label, where no devices decide.
    pub named: Option<Named<'a>>,
    /// PTX.
    pub keep_ptx: KeepPtx,
    /// Whether fatbins that no wrapper record points at are changed too: a library finds them by tables of its own.
    pub unwrapped: bool,
    /// Whether images of Windows that are signed are changed too: the signature no longer holds.
    pub signed: bool,
}
