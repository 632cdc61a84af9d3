//! Which images stay.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gpu_arch::Suffix;
use gpu_arch::catalogue::toolkits;
use gpu_arch::rules::{Code, Device, Driver, Environment, select};

use super::alike::{Alike, Looks};
use super::wish::{KeepPtx, Named, Wish};
use crate::judge::modules::code;
use crate::model::{CodeKind, Image, Linkage, Member, Module, Source};

/// Why a module stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stays {
    /// It is damaged, or what it holds lies otherwise than in a row.
    Damaged,
    /// It is a cubin, a text or another vendor's bundle by itself.
    Bare,
    /// It is input of a device link, or part of a file that is still to be linked.
    Relocatable,
    /// It came out of a device link.
    Prelinked,
    /// No wrapper record points at it, or whether one does cannot be told.
    Unwrapped,
    /// The file is of a format that is not written anew here.
    Format,
    /// It is followed by something in a file of fatbins, which would move.
    Followed,
    /// The file is signed, and the signature would no longer hold.
    Signed,
}

impl Stays {
    /// The reason as a part of a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Damaged => "damaged or of an odd layout",
            Self::Bare => "no fatbin",
            Self::Relocatable => "for a device link",
            Self::Prelinked => "made by a device link",
            Self::Unwrapped => "found by the library's own tables (no wrapper record)",
            Self::Format => "in a file of a format that is not rewritten",
            Self::Followed => "followed by other code in a file of fatbins",
            Self::Signed => "in a file with a signature that would no longer hold",
        }
    }
}

/// Why an image stays in a module that could change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Why {
    /// One of the devices picks it with one of the drivers.
    Picked,
    /// It is named, or all else is.
    Named,
    /// It is the newest PTX, or all PTX is wished for.
    Ptx,
    /// It is no code that the driver loads by itself, or of no known architecture.
    Other,
    /// The module would mean something else to the verdicts without it.
    Alike,
    /// It is the smallest of a fatbin of which nothing else stays.
    Smallest,
}

impl Why {
    /// The reason as a part of a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Picked => "a GPU picks it",
            Self::Named => "it is named",
            Self::Ptx => "PTX that is wished for (--keep-ptx)",
            Self::Other => "not SASS or PTX that loads by itself",
            Self::Alike => "so that its module is judged as before",
            Self::Smallest => "the smallest where nothing else stays",
        }
    }
}

/// Images by number, and their bytes in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub images: usize,
    /// Bytes with headers and padding.
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, images: usize, bytes: u64) {
        self.images = self.images.saturating_add(images);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// One entry of a fatbin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes from its header to the next entry.
    pub size: u64,
    /// Whether it stays.
    pub keep: bool,
}

/// A fatbin that is written anew in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where its header is in the member, in bytes.
    pub offset: u64,
    /// Bytes with its header.
    pub size: u64,
    /// Its entries in their order: all of `size` behind the header.
    pub extents: Vec<Extent>,
    /// Whether it ends a file that holds fatbins alone: what goes is cut off then, since other programs take zeros behind a
    /// fatbin for a further one that is damaged (cuobjdump: "Invalid fatbin header").
    pub is_last: bool,
}

impl Edit {
    /// Bytes that go.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.extents.iter().filter(|own| !own.keep).map(|own| own.size).fold(0, u64::saturating_add)
    }

    /// The indices of the images of its module that stay.
    pub(super) fn kept(&self, module: &Module) -> Vec<usize> {
        let groups = module.images.chunk_by(|one, other| one.offset == other.offset).zip(&self.extents);
        let keep = groups.flat_map(|(images, extent)| images.iter().map(|_| extent.keep));
        keep.enumerate().filter(|(_, keep)| *keep).map(|(index, _)| index).collect()
    }
}

/// What happens to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberPlan {
    /// The fatbins that change, by offset.
    pub edits: Vec<Edit>,
    /// Where the checksum of a PE image stands, which follows what changes.
    pub checksum: Option<u64>,
    /// Modules that stay as they are although something else was wished, by reason.
    pub stays: BTreeMap<Stays, Tally>,
    /// Images that stay in the modules that could change, by architecture.
    pub kept: BTreeMap<String, Tally>,
    /// The same by the reason for which they stay.
    pub why: BTreeMap<Why, Tally>,
    /// Images that go, by architecture.
    pub dropped: BTreeMap<String, Tally>,
}

impl MemberPlan {
    /// Bytes that become zero, or are cut off.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.edits.iter().map(Edit::dropped).fold(0, u64::saturating_add)
    }

    /// Bytes by which the file becomes shorter.
    #[must_use]
    pub fn cut_bytes(&self) -> u64 {
        self.edits.iter().filter(|edit| edit.is_last).map(Edit::dropped).fold(0, u64::saturating_add)
    }
}

/// The format of a file that begins with a fatbin and holds no host code.
const BARE: &str = "fatbin";

/// Plans files for one wish. Modules that hold the same kinds of images are decided once.
#[derive(Debug)]
pub struct Planner<'a> {
    wish: Wish<'a>,
    devices: Vec<Device>,
    known: HashMap<Vec<Code>, BTreeSet<usize>>,
}

impl<'a> Planner<'a> {
    /// For a wish.
    #[must_use]
    pub fn new(wish: Wish<'a>) -> Self {
        let mut devices = Vec::new();
        for device in wish.devices {
            devices.push(device.clone());
            devices.push(device.clone().with_driver(Driver::default()));
            if device.driver.is_unknown() {
                let drivers = toolkits().iter().map(|toolkit| Driver::of_cuda(toolkit.version));
                devices.extend(drivers.map(|driver| device.clone().with_driver(driver)));
            }
        }
        devices.dedup();
        Self { wish, devices, known: HashMap::new() }
    }

    /// Every device with every driver that is planned for.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The devices that were wished for.
    #[must_use]
    pub const fn targets(&self) -> &'a [Device] {
        self.wish.devices
    }

    /// What happens to a file. It must have been scanned with [`crate::Options::for_judging`], for all devices.
    ///
    /// What the devices pick stays, and no more, if the file is judged as before then. Else modules keep images that no device
    /// picks but that say what they are for: those that a device finds nothing in, and if need be all.
    pub fn plan(&mut self, member: &Member) -> MemberPlan {
        let environment = Environment::default();
        let mut looks = Looks::new(member, self.wish.devices, &environment);
        let mut plan = MemberPlan::default();
        for alike in [Alike::Nothing, Alike::Unserved, Alike::All] {
            plan = self.plan_alike(member, alike, &mut looks);
            if looks.holds(member, &plan) {
                break;
            }
        }
        plan
    }

    fn plan_alike(&mut self, member: &Member, alike: Alike, looks: &mut Looks<'_>) -> MemberPlan {
        let mut plan = MemberPlan { checksum: member.pe.map(|pe| pe.checksum), ..MemberPlan::default() };
        let mut starts: Vec<u64> =
            member.modules.iter().map(|module| module.base().saturating_add(module.offset)).collect();
        starts.sort_unstable();
        for module in &member.modules {
            let bytes = module.images.iter().map(|image| image.stored_bytes).fold(0, u64::saturating_add);
            let stays = self.stays(member, module);
            let extents = extents(module);
            let end = module.offset.saturating_add(module.size);
            let inside = starts.partition_point(|start| *start < end);
            let before = starts.partition_point(|start| *start <= module.offset);
            let (None, Some(extents), true) = (stays, extents, inside == before) else {
                plan.stays.entry(stays.unwrap_or(Stays::Damaged)).or_default().add(module.images.len(), bytes);
                continue;
            };
            let keep = self.keep(module);
            let is_last = member.format == BARE;
            let mut edit = Edit { offset: module.offset, size: module.size, extents: Vec::new(), is_last };
            let mut reasons = Vec::new();
            for (images, size) in &extents {
                let why = keep.get(images.clone()).unwrap_or_default().iter().flatten().min().copied();
                reasons.push(why);
                edit.extents.push(Extent { size: *size, keep: why.is_some() });
            }
            // registration of an empty fatbin is not known to work: the smallest entry stays
            if edit.extents.iter().all(|own| !own.keep)
                && let Some(smallest) = edit.extents.iter_mut().min_by_key(|own| own.size)
            {
                smallest.keep = true;
            }
            for index in looks.missing(module, &edit, alike) {
                if let (Some(extent), Some(why)) = (edit.extents.get_mut(index), reasons.get_mut(index)) {
                    (extent.keep, *why) = (true, why.or(Some(Why::Alike)));
                }
            }
            for (((images, size), extent), why) in extents.iter().zip(&edit.extents).zip(reasons) {
                if extent.keep {
                    plan.why.entry(why.unwrap_or(Why::Smallest)).or_default().add(images.len(), *size);
                }
                let side = if extent.keep { &mut plan.kept } else { &mut plan.dropped };
                let image = module.images.get(images.start);
                let name = image.and_then(Image::arch_name).unwrap_or_else(|| "other".to_owned());
                side.entry(name).or_default().add(images.len(), *size);
            }
            if edit.dropped() > 0 {
                plan.edits.push(edit);
            }
        }
        plan.edits.sort_by_key(|edit| edit.offset);
        plan
    }

    fn stays(&self, member: &Member, module: &Module) -> Option<Stays> {
        let is_bare_fatbin = member.format == BARE;
        let is_followed = is_bare_fatbin && module.offset.checked_add(module.size) != Some(member.size);
        let is_wrapped = module.wrapped == Some(true) || is_bare_fatbin;
        let relocatable = |image: &Image| image.linkage != Linkage::Loadable && is_code(image);
        match () {
            () if module.source != Source::Fatbin => Some(Stays::Bare),
            () if module.damaged => Some(Stays::Damaged),
            () if !matches!(member.format, "elf" | BARE | "pe") => Some(Stays::Format),
            () if member.pe.is_some_and(|pe| pe.is_signed) && !self.wish.signed => Some(Stays::Signed),
            // headers that lie in code are no headers that a linker wrote
            () if member.pe.is_some_and(|pe| {
                module.offset.saturating_add(module.size) > pe.checksum && module.offset < pe.checksum.saturating_add(4)
            }) =>
            {
                Some(Stays::Damaged)
            }
            () if module.object.is_some() || module.images.iter().any(relocatable) => Some(Stays::Relocatable),
            () if is_followed => Some(Stays::Followed),
            () if module.prelinked => Some(Stays::Prelinked),
            () if !is_wrapped && !self.wish.unwrapped => Some(Stays::Unwrapped),
            () => None,
        }
    }

    /// For each image why it stays, if it does.
    fn keep(&mut self, module: &Module) -> Vec<Option<Why>> {
        let mut codes = Vec::new();
        let mut places = Vec::new();
        for (index, image) in module.images.iter().enumerate() {
            if let Some(code) = code(module.source, image) {
                codes.push(code);
                places.push(index);
            }
        }
        let devices = &self.devices;
        let picked = self.known.entry(codes.clone()).or_insert_with(|| {
            let environment = Environment::default();
            devices.iter().filter_map(|device| select(&codes, device, &environment)).collect()
        });
        let picked: BTreeSet<usize> = picked.iter().filter_map(|index| places.get(*index).copied()).collect();
        let newest = module
            .images
            .iter()
            .enumerate()
            .filter(|(_, image)| image.kind == CodeKind::Ptx && can_go(image))
            // code for exact targets or a family is none for GPUs to come
            .max_by_key(|(index, image)| {
                let arch = image.arch.map(|arch| (arch.suffix() == Suffix::None, arch.number()));
                (arch, image.version, *index)
            })
            .map(|(index, _)| index);
        let images = module.images.iter().enumerate();
        images
            .map(|(index, image)| {
                if !can_go(image) {
                    return Some(Why::Other);
                }
                let is_ptx = image.kind == CodeKind::Ptx;
                match (self.wish.named, self.wish.keep_ptx) {
                    _ if picked.contains(&index) => Some(Why::Picked),
                    (Some(named), _) if named.keeps(image) => Some(Why::Named),
                    (Some(Named::Drop(_)), _) => None,
                    (_, KeepPtx::All) if is_ptx => Some(Why::Ptx),
                    (_, KeepPtx::Newest) if Some(index) == newest => Some(Why::Ptx),
                    _ => None,
                }
            })
            .collect()
    }
}

const fn is_code(image: &Image) -> bool {
    matches!(image.kind, CodeKind::Sass | CodeKind::Ptx)
}

/// Whether an image may go at all: code of a known architecture that the driver loads by itself.
fn can_go(image: &Image) -> bool {
    is_code(image) && image.linkage == Linkage::Loadable && image.arch.is_some() && image.concat.is_none()
}

/// The entries of a fatbin, each with its images and its bytes; nothing where they do not lie in a row.
fn extents(module: &Module) -> Option<Vec<(core::ops::Range<usize>, u64)>> {
    let header = u64::try_from(fatbin::FATBIN_HEADER_SIZE).ok()?;
    let end = module.offset.checked_add(module.size)?;
    let mut next = module.offset.checked_add(header)?;
    let mut extents: Vec<(core::ops::Range<usize>, u64)> = Vec::new();
    let mut index = 0usize;
    for group in module.images.chunk_by(|one, other| one.offset == other.offset) {
        let first = group.first()?;
        if first.offset != next {
            return None;
        }
        let behind = index.checked_add(group.len())?;
        next = module.images.get(behind).map_or(end, |image| image.offset);
        extents.push((index..behind, next.checked_sub(first.offset)?));
        index = behind;
    }
    (!extents.is_empty()).then_some(extents)
}
