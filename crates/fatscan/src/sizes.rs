//! What device code costs: bytes by architecture, file, module and kernel.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::matrix::{Column, column};
use crate::model::{Artefact, Image, Member, Source};

/// Bytes of some images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Images.
    pub images: usize,
    /// Bytes in the file.
    pub stored: u64,
    /// Bytes when unpacked, as far as stated.
    pub unpacked: u64,
    /// An estimate of the bytes in the archive: compressed payloads do not shrink again, others shrink like the rest of
    /// their file. Equal to `stored` outside an archive.
    pub packed: u64,
}

impl Size {
    fn join(&mut self, other: Self) {
        self.images = self.images.saturating_add(other.images);
        self.stored = self.stored.saturating_add(other.stored);
        self.unpacked = self.unpacked.saturating_add(other.unpacked);
        self.packed = self.packed.saturating_add(other.packed);
    }

    fn add(&mut self, image: &Image, ratio: Ratio) {
        self.images = self.images.saturating_add(1);
        self.stored = self.stored.saturating_add(image.stored_bytes);
        self.unpacked = self.unpacked.saturating_add(image.unpacked_bytes.unwrap_or(image.stored_bytes));
        let is_packed = image.compression != fatbin::Compression::None;
        let packed = if is_packed { image.stored_bytes } else { ratio.of(image.stored_bytes) };
        self.packed = self.packed.saturating_add(packed);
    }
}

/// How much smaller a file's bytes are in its archive, payloads that are compressed already left aside.
#[derive(Clone, Copy)]
struct Ratio {
    packed: u64,
    plain: u64,
}

impl Ratio {
    fn new(member: &Member) -> Self {
        let whole = member.packed.unwrap_or(member.size);
        let images = member.modules.iter().flat_map(|module| &module.images);
        let compressed = images.filter(|image| image.compression != fatbin::Compression::None);
        let compressed = compressed.map(|image| image.stored_bytes).fold(0, u64::saturating_add);
        Self { packed: whole.saturating_sub(compressed), plain: member.size.saturating_sub(compressed) }
    }

    fn of(self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes).saturating_mul(u128::from(self.packed));
        let scaled = scaled.checked_div(u128::from(self.plain)).unwrap_or(u128::from(bytes));
        u64::try_from(scaled).unwrap_or(u64::MAX).min(bytes)
    }
}

/// The sizes of one file, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeSizes {
    /// All device code.
    pub code: Size,
    /// By architecture.
    pub by_arch: BTreeMap<Column, Size>,
    /// Code that names no architecture: bare LTO-IR and Tile IR.
    pub without_arch: Size,
    /// Bytes of the file that are no device code: host code, data, headers.
    pub host: u64,
}

/// The sizes of the device code of a file. Other vendors' bundles are host bytes here.
#[must_use]
pub fn member_sizes(member: &Member) -> CodeSizes {
    let ratio = Ratio::new(member);
    let mut sizes = CodeSizes::default();
    for module in member.modules.iter().filter(|module| module.source != Source::OffloadBundle) {
        for image in &module.images {
            sizes.code.add(image, ratio);
            let own = column(image).map(|column| sizes.by_arch.entry(column).or_default());
            own.unwrap_or(&mut sizes.without_arch).add(image, ratio);
        }
    }
    sizes.host = member.size.saturating_sub(sizes.code.stored);
    sizes
}

/// The sizes of the device code of an artefact, over all its files.
#[must_use]
pub fn artefact_sizes(artefact: &Artefact) -> CodeSizes {
    let mut sum = CodeSizes::default();
    for own in artefact.members.iter().map(member_sizes) {
        sum.code.join(own.code);
        sum.without_arch.join(own.without_arch);
        sum.host = sum.host.saturating_add(own.host);
        for (column, size) in own.by_arch {
            sum.by_arch.entry(column).or_default().join(size);
        }
    }
    sum
}

/// The code of one kernel over a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSize {
    /// Symbol, mangled.
    pub name: Arc<str>,
    /// Bytes of machine code of all its copies for all architectures.
    pub code_bytes: u64,
    /// Modules that define it: more than one hold the same kernel again.
    pub modules: usize,
    /// Bytes of all copies beyond the first of each architecture.
    pub duplicated: u64,
}

/// Kernels of a member by the size of their machine code, the largest first. Local kernels of the same name are one row:
/// that they were compiled several times is what this shows.
#[must_use]
pub fn kernel_sizes(member: &Member) -> Vec<KernelSize> {
    struct Sum {
        code_bytes: u64,
        modules: usize,
        last: Option<usize>,
        first_of: BTreeMap<Column, u64>,
    }
    let mut sums: BTreeMap<Arc<str>, Sum> = BTreeMap::new();
    for (index, module) in member.modules.iter().enumerate() {
        for image in &module.images {
            let Some(column) = column(image) else { continue };
            for kernel in image.kernels.iter().flatten() {
                let empty = || Sum { code_bytes: 0, modules: 0, last: None, first_of: BTreeMap::new() };
                let sum = sums.entry(Arc::clone(&kernel.name)).or_insert_with(empty);
                sum.code_bytes = sum.code_bytes.saturating_add(kernel.code_bytes);
                if sum.last != Some(index) {
                    sum.modules = sum.modules.saturating_add(1);
                    sum.last = Some(index);
                }
                sum.first_of.entry(column).or_insert(kernel.code_bytes);
            }
        }
    }
    let mut kernels: Vec<KernelSize> = sums
        .into_iter()
        .map(|(name, sum)| {
            let first = sum.first_of.values().copied().fold(0, u64::saturating_add);
            KernelSize {
                name,
                code_bytes: sum.code_bytes,
                modules: sum.modules,
                duplicated: sum.code_bytes.saturating_sub(first),
            }
        })
        .collect();
    kernels.sort_by(|a, b| b.code_bytes.cmp(&a.code_bytes).then_with(|| a.name.cmp(&b.name)));
    kernels
}
