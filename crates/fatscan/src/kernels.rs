//! The kernels in an image: names, code size, and what they need.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex};

use cubin::{Binding, Functions, PrefixOutcome, SymbolPrefix, ptx_kernel_details};
use fatbin::{Entry, EntryHeader, Kind, Payload};
use foldhash::HashSet;

use crate::inspect::{LARGE, Scratch};
use crate::model::{CodeKind, Image, Member, Module, Source};
use crate::options::Options;
use crate::parallel;

/// How much of the kernels is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelDepth {
    /// Nothing: payloads are skipped.
    #[default]
    None,
    /// Names and code sizes: the first part of a cubin tells them.
    Names,
    /// Registers, memory and launch bounds too: payloads are unpacked whole.
    Resources,
}

/// One kernel of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Symbol, mangled; bytes that are not UTF-8 replaced.
    pub name: Arc<str>,
    /// Whether the symbol is local: such a kernel is told from others of its name by its module.
    pub is_local: bool,
    /// Bytes of machine code; 0 for PTX.
    pub code_bytes: u64,
    /// What it needs, where that was read.
    pub resources: Option<Box<KernelResources>>,
}

/// What a kernel needs, as `cuobjdump -res-usage` prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Bytes of stack per thread.
    pub stack: Option<u32>,
    /// Bytes of static shared memory per block.
    pub shared: u64,
    /// Bytes of local memory per thread.
    pub local: u64,
    /// Bytes of constant bank 0: parameters and what stands before them.
    pub constant0: u64,
    /// Bytes of parameters.
    pub parameters: Option<u32>,
    /// Largest block that `__launch_bounds__` allows, by dimension.
    pub max_threads: Option<[u32; 3]>,
    /// Barriers.
    pub barriers: Option<u8>,
}

/// Names that many images share are kept once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: Arc<Mutex<HashSet<Arc<str>>>>,
}

impl Names {
    fn intern(&self, name: &[u8]) -> Arc<str> {
        let lossy;
        let name = match core::str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => {
                lossy = String::from_utf8_lossy(name);
                &*lossy
            }
        };
        // a thread that died while it held the lock leaves a set that is as good as before
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match known.get(name) {
            Some(name) => Arc::clone(name),
            None => {
                let name: Arc<str> = name.into();
                known.insert(Arc::clone(&name));
                name
            }
        }
    }
}

/// Reads the kernels of device code that is at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'run> {
    depth: KernelDepth,
    names: &'run Names,
}

impl<'run> Reader<'run> {
    pub(crate) fn new(options: &'run Options) -> Self {
        Self { depth: options.kernels, names: &options.names }
    }

    /// The kernels of a whole cubin.
    pub(crate) fn cubin(self, bytes: &[u8]) -> Option<Vec<Kernel>> {
        let functions = Functions::parse(bytes).ok()?;
        if self.depth < KernelDepth::Resources {
            return Some(functions.kernels().map(|function| self.kernel(function)).collect());
        }
        let index = functions.resources();
        let with = |function: &cubin::Function<'_>| {
            let own = index.of(function);
            let resources = KernelResources {
                registers: own.registers,
                stack: own.stack,
                shared: own.shared,
                local: own.local,
                constant0: own.constant(0),
                parameters: own.parameter_bytes,
                max_threads: own.max_threads,
                barriers: own.barriers,
            };
            Kernel { resources: Some(Box::new(resources)), ..self.kernel(function) }
        };
        Some(functions.kernels().map(with).collect())
    }

    /// The kernels that a PTX text defines.
    pub(crate) fn ptx(self, text: &[u8]) -> Vec<Kernel> {
        let kernels = ptx_kernel_details(text).into_iter().map(|kernel| Kernel {
            name: self.names.intern(kernel.name),
            is_local: kernel.linkage == cubin::PtxLinkage::Local,
            code_bytes: 0,
            resources: None,
        });
        kernels.collect()
    }

    /// The kernels of the members of a concatenated entry.
    fn members(self, entry: &Entry<'_>, payload: &[u8]) -> Vec<Option<Vec<Kernel>>> {
        let each = entry.members().flatten().map(|member| {
            let bytes = member.bytes(payload).ok()?;
            match member.header().kind {
                Kind::Elf => self.cubin(bytes),
                Kind::Ptx | Kind::RelocatablePtx => Some(self.ptx(bytes)),
                _ => None,
            }
        });
        each.collect()
    }

    fn kernel(self, function: &cubin::Function<'_>) -> Kernel {
        Kernel {
            name: self.names.intern(function.name),
            is_local: function.binding == Binding::Local,
            code_bytes: function.size,
            resources: None,
        }
    }
}

/// Reads the kernels of fatbin entries, with a decoder and a buffer that are used again.
#[derive(Debug)]
pub(crate) struct EntryReader<'run> {
    reader: Reader<'run>,
    limit: u64,
    scratch: Scratch,
}

impl<'run> EntryReader<'run> {
    pub(crate) fn new(options: &'run Options) -> Self {
        let limit = options.limits.payload_bytes;
        Self { reader: Reader::new(options), limit, scratch: Scratch::default() }
    }

    /// The kernels of the images of an entry, in their order; `None` for one that cannot be read or has none to read.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>) -> Vec<Option<Vec<Kernel>>> {
        let reader = self.reader;
        match entry.header().kind {
            Kind::Elf if reader.depth == KernelDepth::Names => vec![self.prefix(entry)],
            Kind::Elf => vec![self.whole(entry, |bytes| reader.cubin(bytes)).flatten()],
            Kind::Ptx | Kind::RelocatablePtx => vec![self.whole(entry, |text| reader.ptx(text))],
            Kind::Concat => self.whole(entry, |payload| reader.members(entry, payload)).unwrap_or_default(),
            _ => vec![None],
        }
    }

    fn whole<R>(&mut self, entry: &Entry<'_>, work: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.scratch.with(entry, self.limit, work).ok()
    }

    /// Unpacks as much of a cubin as names its kernels; all of it where the layout does not show them.
    fn prefix(&mut self, entry: &Entry<'_>) -> Option<Vec<Kernel>> {
        let stated = entry.header().unpacked_size();
        if stated > self.limit {
            return None;
        }
        let Scratch { decoder, buffer } = &mut self.scratch;
        match decoder.open(entry).ok()? {
            Payload::Whole(bytes) => return self.reader.cubin(bytes),
            Payload::Block => {}
            Payload::Stream(mut stream) => {
                let stated = usize::try_from(stated).ok()?;
                let mut prefix = SymbolPrefix::new();
                let mut filled = 0_usize;
                loop {
                    let wanted = match prefix.read(buffer.get(..filled)?) {
                        PrefixOutcome::Complete(functions) => {
                            let kernels = functions.iter().filter(|function| function.is_kernel());
                            return Some(kernels.map(|function| self.reader.kernel(function)).collect());
                        }
                        PrefixOutcome::NeedMore(wanted) => wanted.min(stated),
                        PrefixOutcome::Unsupported => break,
                    };
                    // no real cubin has such tables: as a whole it waits for its turn
                    if wanted > LARGE {
                        break;
                    }
                    if buffer.len() < wanted {
                        buffer.resize(wanted, 0);
                    }
                    let Some(room) = buffer.get_mut(filled..wanted) else { break };
                    let read = fill(&mut stream, room)?;
                    if read == 0 {
                        break;
                    }
                    filled = filled.saturating_add(read);
                }
            }
        }
        let reader = self.reader;
        self.whole(entry, |bytes| reader.cubin(bytes)).flatten()
    }
}

/// Reads until `buffer` is full or the stream ends; `None` where it is damaged.
fn fill(stream: &mut dyn Read, buffer: &mut [u8]) -> Option<usize> {
    let mut filled = 0_usize;
    loop {
        let room = buffer.get_mut(filled..)?;
        match stream.read(room).ok()? {
            0 => return Some(filled),
            read => filled = filled.saturating_add(read),
        }
    }
}

/// [`cubin::demangle`] of many names, by all threads.
#[must_use]
pub fn demangle_each(names: &[&str]) -> Vec<Option<String>> {
    let length = |name: &&str| u64::try_from(name.len()).unwrap_or(u64::MAX);
    parallel::each(names, length, || (), |(), name| cubin::demangle(name.as_bytes()))
}

/// Whether images of this kind have kernels to read.
pub(crate) const fn has_kernels(kind: CodeKind) -> bool {
    matches!(kind, CodeKind::Sass | CodeKind::Ptx)
}

/// Whether an image of a member that was scanned for kernels could not be read.
#[must_use]
pub fn has_unread_kernels(member: &Member) -> bool {
    let mut images = member.modules.iter().flat_map(|module| &module.images);
    images.any(is_unread)
}

pub(crate) fn is_unread(image: &Image) -> bool {
    image.kernels.is_none() && has_kernels(image.kind)
}

/// Reads the kernels of all fatbin entries of a slice, by all threads.
pub(crate) fn read(slice: &[u8], modules: &mut [Module], options: &Options) {
    let fatbins = modules.iter().filter(|module| module.source == Source::Fatbin);
    let images = fatbins.flat_map(|module| &module.images).filter(|image| has_kernels(image.kind));
    // the members of a concatenated entry share its offset
    let mut jobs: Vec<(u64, u64)> = images.map(|image| (image.offset, image.unpacked_bytes.unwrap_or(0))).collect();
    jobs.sort_unstable();
    jobs.dedup_by_key(|(offset, _)| *offset);
    let found = parallel::each(
        &jobs,
        |(_, bytes)| *bytes,
        || EntryReader::new(options),
        |reader, (offset, _)| {
            let entry = usize::try_from(*offset).ok().and_then(|at| slice.get(at..)).and_then(entry_at);
            entry.map(|entry| reader.entry(&entry)).unwrap_or_default()
        },
    );
    let mut found: HashMap<u64, Vec<Option<Vec<Kernel>>>> =
        jobs.into_iter().map(|(offset, _)| offset).zip(found).collect();
    for image in modules.iter_mut().filter(|module| module.source == Source::Fatbin).flat_map(|m| &mut m.images) {
        let index = image.concat.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
        if let Some(kernels) = found.get_mut(&image.offset).and_then(|each| each.get_mut(index)) {
            image.kernels = kernels.take();
        }
    }
}

/// The entry that `data` starts with.
fn entry_at(data: &[u8]) -> Option<Entry<'_>> {
    let header = EntryHeader::parse(data).ok()?;
    let start = usize::try_from(header.header_size).ok()?;
    let end = usize::try_from(header.total_size()?).ok()?;
    Entry::new(data.get(..start)?, data.get(start..end)?).ok()
}
