use fatbin::{ENTRY_HEADER_SIZE, Entry, EntryHeader, ErrorKind, FATBIN_HEADER_SIZE, FatbinHeader, Kind};
use fatscan_containers::{ByteStream, Format};
use gpu_arch::{Arch, Suffix};

use super::{Finder, Issue};
use crate::diagnostic::Code;
use crate::model::{CodeKind, Holds, Image, Linkage, Module, Source};
use crate::options::KernelDepth;
use crate::{heads, inspect};

/// Uncompressed cubins up to this size are compared with their entry header on the way.
const COMPARE: u64 = 256 * 1024;

/// Payloads of a bare fatbin up to this size are decoded and compared in any case.
const BARE: u64 = 1024 * 1024;

/// The driver takes the size of a fatbin for a signed number of 32 bits. Source: `bechirBOUALI/cuda-fatbin-precedence`.
const SIGNED: u64 = i32::MAX as u64;

/// One entry while its chain is read.
struct Step {
    images: Vec<Image>,
    issues: Vec<Issue>,
}

impl<S: ByteStream> Finder<'_, '_, S> {
    /// A fatbin, if it is one: headers are read, payloads skipped. Where the chain breaks, its good entries stay and
    /// the search goes on behind the fatbin's header, so that a wrong size hides nothing.
    pub(super) fn fatbin(&mut self) {
        let start = self.stream.position();
        let header_size = FATBIN_HEADER_SIZE as u64;
        self.stream.fill(FATBIN_HEADER_SIZE.saturating_add(ENTRY_HEADER_SIZE));
        let header = match FatbinHeader::parse(self.stream.window()) {
            Ok(header) => header,
            Err(error) => {
                // anywhere else the same bytes are program code or data
                let version = self.stream.window().get(4..8);
                let cut = error.kind == ErrorKind::FatbinHeaderCut && version == Some(&[1, 0, 16, 0]);
                if start == 0 || (cut && !self.is_host()) {
                    self.issue(Code::FatbinHeader, Some(start), error.kind.to_string());
                }
                return;
            }
        };
        if header.size == 0 {
            self.harvest.empty_fatbins = self.harvest.empty_fatbins.saturating_add(1);
            self.stream.skip(header_size);
            return;
        }
        let first = self.stream.window().get(FATBIN_HEADER_SIZE..).map(EntryHeader::parse);
        if let Some(Ok(first)) = first
            && !first.is_plausible()
        {
            if start == 0 {
                self.issue(Code::FatbinHeader, Some(start), ErrorKind::NotAnEntry.to_string());
            }
            return;
        }
        if header.size > SIGNED && (start == 0 || matches!(first, Some(Ok(_)))) {
            self.issue(Code::SizeSigned, Some(start), format!("{} bytes", header.size));
        }
        // a fatbin inside the stated size of a damaged one: that one's payloads end here
        let nested = start < self.shadow_end;
        self.stream.skip(header_size);
        let mut images = Vec::new();
        let broken = self.entries(header.size, &mut images);
        // sixteen bytes at the end of a library's data are no fatbin
        if images.is_empty() && self.is_host() && broken.is_some_and(|broken| broken.kind == ErrorKind::EntryHeaderCut)
        {
            self.stream.rewind(start.saturating_add(header_size));
            return;
        }
        self.shadow_end = self.shadow_end.min(start);
        self.link_bare(&mut images);
        if let Some(error) = broken {
            self.broken(start, &header, error, images.len());
        }
        if nested || broken.is_some() {
            let own = self.harvest.modules.len();
            for image in &images {
                let before = if broken.is_some() {
                    self.claims.insert(image.offset, own)
                } else {
                    self.claims.remove(&image.offset)
                };
                if let Some(before) = before.filter(|before| *before != own && nested) {
                    self.disowned.insert((before, image.offset));
                }
            }
        }
        if !images.is_empty() {
            let module = Module::new(Source::Fatbin, start, images);
            let size = header.size.saturating_add(header_size);
            self.module(Module { size, damaged: broken.is_some(), ..module });
        }
    }

    /// Reads the chain of a fatbin of `size` bytes; on a break the error with its offset in the stream, and the
    /// architecture of the entry if its header was whole.
    fn entries(&mut self, size: u64, images: &mut Vec<Image>) -> Option<Break> {
        let mut rest = size;
        while rest > 0 {
            let offset = self.stream.position();
            let first = images.len();
            match self.entry(offset, rest, first) {
                Ok((step, total)) => {
                    rest = rest.saturating_sub(total);
                    images.extend(step.images);
                    step.issues.into_iter().for_each(|issue| self.say(issue));
                }
                Err((kind, header)) => return Some(Break { kind, offset, header }),
            }
            let held = self.state.used.images.saturating_add(images.len());
            if held > self.state.allowance.images || self.run.is_cancelled() {
                return None;
            }
        }
        None
    }

    fn entry(&mut self, offset: u64, rest: u64, index: usize) -> Result<(Step, u64), (ErrorKind, Option<EntryHeader>)> {
        if rest < ENTRY_HEADER_SIZE as u64 || !self.stream.fill(ENTRY_HEADER_SIZE) {
            return Err((ErrorKind::EntryHeaderCut, None));
        }
        let header = EntryHeader::parse(self.stream.window()).map_err(|error| (error.kind, None))?;
        header.check(rest).map_err(|error| (error.kind, Some(header)))?;
        let record_size = usize::try_from(header.header_size).unwrap_or(usize::MAX);
        let read = record_size.min(self.run.limits().entry_header);
        if !self.stream.fill(read) {
            return Err((ErrorKind::EntryHeaderCut, Some(header)));
        }
        let record = self.stream.window().get(..read).unwrap_or_default().to_vec();
        if self.stream.skip(u64::from(header.header_size)) < u64::from(header.header_size) {
            return Err((ErrorKind::EntryHeaderCut, Some(header)));
        }
        let Ok(entry) = Entry::new(&record, &[]) else { return Err((ErrorKind::EntryHeaderCut, Some(header))) };
        let mut step = Step { images: Vec::new(), issues: Vec::new() };
        self.read_entry(offset, index, &entry, &mut step);
        self.look_inside(offset, index, &record, &header, &mut step);
        if self.stream.skip(header.padded_size) < header.padded_size {
            return Err((ErrorKind::PayloadCut, Some(header)));
        }
        let total = header.total_size().ok_or((ErrorKind::PayloadSize, Some(header)))?;
        Ok((step, total))
    }

    /// The image of an entry, or the images of a concatenated one.
    fn read_entry(&mut self, offset: u64, index: usize, entry: &Entry<'_>, step: &mut Step) {
        let header = entry.header();
        let mut say =
            |code, image, detail: String| step.issues.push(Issue { code, offset: Some(offset), image, detail });
        if u64::from(header.compressed_size) > header.padded_size {
            say(Code::EntryCompressedSize, Some(index), String::new());
        }
        if header.kind != Kind::Concat {
            let (identifier, options) = (entry.identifier(), entry.options());
            for error in [identifier.err(), options.err(), entry.compat().err()].into_iter().flatten() {
                say(Code::EntryText, Some(index), error.kind.to_string());
            }
            if let Some(detail) = entry.compat().ok().flatten().and_then(|compat| inspect::compat(header, compat)) {
                say(Code::HeaderAgainstCompat, Some(index), detail);
            }
            let mut image = image(header, offset);
            image.identifier = self.text(identifier.ok().flatten());
            image.options = self.text(options.ok().flatten());
            step.images.push(image);
            return;
        }
        let members: Vec<_> = entry.members().collect();
        let total: u64 = members.iter().flatten().map(|member| member.range().1).fold(0, u64::saturating_add);
        let mut left = header.stored_size();
        let last = members.iter().filter(|member| member.is_ok()).count().saturating_sub(1);
        for (number, member) in members.iter().enumerate() {
            let image_index = index.saturating_add(step.images.len());
            match member {
                Err(error) => step.issues.push(Issue {
                    code: Code::ConcatTable,
                    offset: Some(offset),
                    image: None,
                    detail: error.kind.to_string(),
                }),
                Ok(member) => {
                    let mut say = |code, detail: String| {
                        step.issues.push(Issue { code, offset: Some(offset), image: Some(image_index), detail });
                    };
                    let (identifier, options) = (member.identifier(), member.options());
                    for error in [identifier.err(), options.err(), member.compat().err()].into_iter().flatten() {
                        say(Code::EntryText, error.kind.to_string());
                    }
                    let compat = member.compat().ok().flatten();
                    if let Some(detail) = compat.and_then(|compat| inspect::compat(member.header(), compat)) {
                        say(Code::HeaderAgainstCompat, detail);
                    }
                    let length = member.range().1;
                    // the one compressed payload is shared out by length, the rest goes to the last
                    let share = if number >= last {
                        left
                    } else {
                        let share = u128::from(header.stored_size()).saturating_mul(u128::from(length));
                        u64::try_from(share.checked_div(u128::from(total)).unwrap_or(0)).unwrap_or(0).min(left)
                    };
                    left = left.saturating_sub(share);
                    let mut image = image(member.header(), offset);
                    image.compression = header.compression();
                    image.stored_bytes = share;
                    image.unpacked_bytes = Some(length);
                    image.identifier = self.text(identifier.ok().flatten());
                    image.options = self.text(options.ok().flatten());
                    image.concat = u32::try_from(number).ok();
                    step.images.push(image);
                }
            }
        }
    }

    /// Looks into the payload where that is asked for, or where it is uncompressed and small. The stream stands at
    /// the payload and stays there.
    fn look_inside(&mut self, offset: u64, index: usize, record: &[u8], header: &EntryHeader, step: &mut Step) {
        let options = self.run.options;
        let is_elf = header.kind == Kind::Elf;
        let is_code = matches!(header.kind, Kind::Elf | Kind::Ptx);
        let plain = header.compression() == fatbin::Compression::None;
        let bare = self.format == Some(Format::Fatbin);
        let small = is_elf && plain && header.padded_size <= COMPARE;
        // a bare fatbin has no section to tell what is relocatable, and is usually small
        let verify = options.verify || (bare && header.padded_size <= BARE);
        let stub = options.entry_functions && may_be_stub(header);
        let begins = options.entry_functions && is_code;
        // payloads of a slice are read afterwards, by all threads
        let deep = options.kernels != KernelDepth::None
            && self.stream.as_slice().is_none()
            && matches!(header.kind, Kind::Elf | Kind::Ptx | Kind::RelocatablePtx | Kind::Concat);
        let say = |code, image, detail: String, issues: &mut Vec<Issue>| {
            issues.push(Issue { code, offset: Some(offset), image, detail });
        };
        if header.padded_size == 0 && is_code {
            say(Code::PayloadMissing, Some(index), String::new(), &mut step.issues);
            step.images.iter_mut().for_each(|image| image.holds = Some(Holds::Foreign));
            return;
        }
        if begins && let Some(image) = step.images.first_mut().filter(|image| self.run.counts(image)) {
            let compat = Entry::new(record, &[]).ok().and_then(|entry| entry.compat().ok().flatten());
            let issues = &mut step.issues;
            heads::read(self.stream, header, compat, image, &mut self.scratch, &mut |code, detail| {
                // the compat record has said it
                if !(code == Code::HeaderAgainstPayload && has_said(issues)) {
                    issues.push(Issue { code, offset: Some(offset), image: Some(index), detail });
                }
            });
        }
        let concat = options.entry_functions && header.kind == Kind::Concat;
        if !(verify || (bare && is_elf) || small || stub || deep || concat) {
            return;
        }
        // the payload would only say once more what was said
        let said = has_said(&step.issues);
        let mut say = |code, image, detail: String| {
            if !(said && code == Code::HeaderAgainstPayload) {
                say(code, image, detail, &mut step.issues);
            }
        };
        let stored = header.stored_size();
        let limit = options.limits.payload_bytes;
        if stored > header.padded_size || header.padded_size == 0 {
            return;
        }
        let too_large = stored > limit || ((verify || concat) && header.unpacked_size() > limit);
        if too_large {
            if verify || concat {
                say(Code::LimitPayload, Some(index), format!("{} bytes", header.unpacked_size().max(stored)));
            }
            return;
        }
        let read = usize::try_from(stored).unwrap_or(usize::MAX).min(inspect::FRAME);
        self.stream.fill(read);
        let start = self.stream.window().get(..read).unwrap_or_default();
        let asked = inspect::memory_of(header, start, deep && options.kernels == KernelDepth::Names);
        let Some(grant) = self.run.memory.grant(asked) else {
            if verify || concat {
                say(Code::LimitMemory, Some(index), format!("{asked} bytes"));
            }
            return;
        };
        let Ok(size) = usize::try_from(stored) else { return };
        if !self.stream.fill(size) {
            return;
        }
        let payload = self.stream.window().get(..size).unwrap_or_default();
        let Ok(entry) = Entry::new(record, payload) else { return };
        if verify {
            inspect::verify(&entry, limit, &mut self.scratch, &mut step.images, &mut |code, member, detail| {
                say(code, Some(index.saturating_add(member)), detail);
            });
        } else if small && let Some(image) = step.images.first_mut() {
            inspect::cubin(payload, image, &mut |code, detail| say(code, Some(index), detail));
        }
        if concat {
            inspect::holds(&entry, limit, &mut self.scratch, &mut step.images);
        }
        if stub && step.images.iter().any(|image| image.has_kernels.is_none()) {
            inspect::entry_functions(&entry, limit, &mut self.scratch, &mut step.images);
        }
        if deep {
            let found = self.entry_reader().entry(&entry);
            for (image, kernels) in step.images.iter_mut().zip(found) {
                image.kernels = kernels;
            }
        }
        if bare
            && is_elf
            && let Some(image) = step.images.first_mut()
        {
            image.linkage = inspect::linkage(&entry, limit, &mut self.scratch);
        }
        self.scratch.trim(self.run.memory.own());
        drop(grant);
    }

    /// In a bare fatbin no section tells what is relocatable: the cubins do, and PTX follows the cubins beside it.
    fn link_bare(&self, images: &mut [Image]) {
        if self.format != Some(Format::Fatbin) {
            return;
        }
        let cubins = images.iter().filter(|image| image.kind == CodeKind::Sass).map(|image| image.linkage);
        let beside = if cubins.clone().any(|linkage| linkage == Linkage::Relocatable) {
            Linkage::Relocatable
        } else {
            Linkage::Loadable
        };
        for image in images.iter_mut().filter(|image| image.linkage == Linkage::Unknown) {
            image.linkage = if image.kind == CodeKind::Sass { Linkage::Loadable } else { beside };
        }
    }

    fn broken(&mut self, start: u64, header: &FatbinHeader, broken: Break, good: usize) {
        let code = match broken.kind {
            ErrorKind::PayloadCut | ErrorKind::EntryHeaderCut => Code::FatbinCut,
            _ => Code::FatbinEntry,
        };
        let arch = broken.header.filter(EntryHeader::is_plausible).map(|header| {
            let image = image(&header, broken.offset);
            image.arch_name().map(|name| format!(" of {name}")).unwrap_or_default()
        });
        let detail = format!("{} in entry {good}{}", broken.kind, arch.unwrap_or_default());
        self.issue(code, Some(broken.offset), detail);
        let behind = start.saturating_add(FATBIN_HEADER_SIZE as u64);
        self.shadow_end = behind.saturating_add(header.size);
        // what is compressed is read from its start; the same is counted for a slice, so that both end at one place
        let cost = self.base.saturating_add(self.stream.position());
        let most = self.run.limits().reread_bytes.saturating_add(cost.saturating_mul(4));
        let reread = self.state.reread.saturating_add(cost);
        if reread <= most && self.stream.rewind(behind) {
            self.state.reread = reread;
        } else if !self.state.rereads_ended {
            self.state.rereads_ended = true;
            self.issue(Code::LimitRereads, Some(broken.offset), String::new());
        }
    }
}

/// Where and why a chain ends too early.
#[derive(Clone, Copy)]
struct Break {
    kind: ErrorKind,
    offset: u64,
    header: Option<EntryHeader>,
}

/// Whether it was said that the header and what it stands for disagree.
fn has_said(issues: &[Issue]) -> bool {
    issues.iter().any(|issue| matches!(issue.code, Code::HeaderAgainstCompat | Code::HeaderAgainstPayload))
}

/// Whether an entry is small enough to be a module without kernels.
fn may_be_stub(header: &EntryHeader) -> bool {
    match header.kind {
        Kind::Elf | Kind::Ptx => header.unpacked_size() <= crate::STUB_BYTES,
        Kind::Concat => header.unpacked_size() <= crate::STUB_BYTES.saturating_mul(64),
        _ => false,
    }
}

/// The image that an entry header, or the record of a member, names.
fn image(header: &EntryHeader, offset: u64) -> Image {
    let suffix = match header.flags.suffix() {
        Some('a') => Suffix::A,
        Some(_) => Suffix::F,
        None => Suffix::None,
    };
    let (kind, linkage) = match header.kind {
        Kind::Ptx => (CodeKind::Ptx, Linkage::Unknown),
        Kind::RelocatablePtx => (CodeKind::Ptx, Linkage::Relocatable),
        Kind::Elf => (CodeKind::Sass, Linkage::Unknown),
        Kind::LtoIr => (CodeKind::LtoIr, Linkage::Relocatable),
        Kind::TileIr => (CodeKind::TileIr, Linkage::Unknown),
        _ => (CodeKind::Other, Linkage::Unknown),
    };
    let has_arch = !matches!(header.kind, Kind::Index | Kind::Concat);
    let (major, minor) = header.code_version;
    Image {
        arch: has_arch.then(|| Arch::new(header.arch, suffix)),
        version: matches!(kind, CodeKind::Ptx | CodeKind::Sass).then_some((major, minor)),
        cubin_abi: if kind == CodeKind::Sass && major == 1 { u8::try_from(minor).ok() } else { None },
        linkage,
        flags: header.flags.bits(),
        compression: header.compression(),
        unpacked_bytes: Some(header.unpacked_size()),
        ..Image::bare(kind, offset, header.stored_size().min(header.padded_size))
    }
}
