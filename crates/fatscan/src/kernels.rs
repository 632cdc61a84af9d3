//! The kernels in an image: names, code size, and what they need.

use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cubin::{Binding, Functions, PrefixOutcome, SymbolPrefix, ptx_kernels_within};
use fatbin::{Entry, EntryHeader, Kind, Payload};

use crate::diagnostic::Code;
use crate::inspect::{self, Scratch};
use crate::model::{CodeKind, Image, Kernel, KernelResources, Member, Module, Source};
use crate::options::KernelDepth;
use crate::parallel;
use crate::run::{Allowance, Run, Used};

/// Kernels that are counted at a time.
const BATCH: usize = 1024;

/// Where the kernels that a file holds are counted, by all threads that read it.
#[derive(Debug)]
pub(crate) struct Count<'run> {
    run: &'run Run,
    allowance: Allowance,
    kernels: AtomicUsize,
    /// More than the file may hold, or than all threads together: no further kernels are read.
    overflow: AtomicBool,
    /// Their names are what was too much.
    names_overflow: AtomicBool,
}

impl<'run> Count<'run> {
    pub(crate) fn new(run: &'run Run, allowance: Allowance) -> Self {
        Self {
            run,
            allowance,
            kernels: AtomicUsize::new(0),
            overflow: AtomicBool::new(false),
            names_overflow: AtomicBool::new(false),
        }
    }

    pub(crate) fn kernels(&self) -> usize {
        self.kernels.load(Ordering::Relaxed)
    }

    pub(crate) fn has_overflown(&self) -> bool {
        self.overflow.load(Ordering::Relaxed)
    }

    /// The limit that was reached.
    pub(crate) fn reached(&self) -> Option<Code> {
        let code = if self.names_overflow.load(Ordering::Relaxed) { Code::LimitText } else { Code::LimitKernels };
        self.has_overflown().then_some(code)
    }

    fn add(&self, kernels: usize) {
        let own = self.kernels.fetch_add(kernels, Ordering::Relaxed).saturating_add(kernels);
        let fits = self.run.hold(Used { kernels, ..Used::default() });
        if own > self.allowance.kernels || !(fits || self.allowance.is_exact) {
            self.overflow.store(true, Ordering::Relaxed);
        }
    }

    /// A name that was not known before.
    fn add_name(&self, name: &str) {
        if !self.run.hold(Used { text: name.len(), ..Used::default() }) {
            self.names_overflow.store(true, Ordering::Relaxed);
            self.overflow.store(true, Ordering::Relaxed);
        }
    }
}

/// Reads the kernels of device code that is at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'run> {
    depth: KernelDepth,
    run: &'run Run,
    count: &'run Count<'run>,
}

impl<'run> Reader<'run> {
    pub(crate) fn new(run: &'run Run, count: &'run Count<'run>) -> Self {
        Self { depth: run.options.kernels, run, count }
    }

    /// What is kept of one image.
    fn limits(self) -> cubin::Limits {
        let functions = self.run.limits().functions;
        cubin::Limits::new(functions, functions)
    }

    /// The kernels of a whole cubin.
    pub(crate) fn cubin(self, bytes: &[u8]) -> Option<Vec<Kernel>> {
        let functions = Functions::parse_within(bytes, &self.limits()).ok()?;
        if self.depth < KernelDepth::Resources {
            return self.all(functions.kernels().map(|function| self.kernel(function)));
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
        let kernels = self.all(functions.kernels().map(with));
        // figures that overlap each other were not all read
        kernels.filter(|_| index.is_complete())
    }

    /// The kernels that a PTX text defines.
    pub(crate) fn ptx(self, text: &[u8]) -> Option<Vec<Kernel>> {
        self.all(ptx_kernels_within(text, &self.limits()).ok()?.into_iter().map(|kernel| Kernel {
            name: self.name(kernel.name),
            is_local: kernel.linkage == cubin::PtxLinkage::Local,
            code_bytes: 0,
            resources: None,
        }))
    }

    /// Kernels, counted; nothing where they are more than may be held.
    fn all(self, kernels: impl Iterator<Item = Kernel>) -> Option<Vec<Kernel>> {
        let mut all = Vec::new();
        for kernel in kernels {
            all.push(kernel);
            if all.len().is_multiple_of(BATCH) {
                self.count.add(BATCH);
            }
            if self.count.has_overflown() {
                return None;
            }
        }
        self.count.add(all.len() % BATCH);
        (!self.count.has_overflown()).then_some(all)
    }

    fn name(self, name: &[u8]) -> std::sync::Arc<str> {
        let (name, is_new) = self.run.names.intern(name);
        if is_new {
            self.count.add_name(&name);
        }
        name
    }

    /// The kernels of the members of a concatenated entry.
    fn members(self, entry: &Entry<'_>, payload: &[u8]) -> Vec<Option<Vec<Kernel>>> {
        let each = entry.members().flatten().map(|member| {
            let bytes = member.bytes(payload).ok()?;
            match member.header().kind {
                Kind::Elf => self.cubin(bytes),
                Kind::Ptx | Kind::RelocatablePtx => self.ptx(bytes),
                _ => None,
            }
        });
        each.collect()
    }

    fn kernel(self, function: &cubin::Function<'_>) -> Kernel {
        Kernel {
            name: self.name(function.name),
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
    pub(crate) fn new(run: &'run Run, count: &'run Count<'run>) -> Self {
        let limit = run.limits().payload_bytes;
        Self { reader: Reader::new(run, count), limit, scratch: Scratch::default() }
    }

    /// As [`EntryReader::entry`], with the memory for it granted; nothing where it needs more than there is.
    fn granted(&mut self, entry: &Entry<'_>) -> Vec<Option<Vec<Kernel>>> {
        let bit_by_bit = self.reader.depth == KernelDepth::Names;
        let asked = inspect::memory_of(entry.header(), entry.payload().unwrap_or_default(), bit_by_bit);
        let Some(grant) = self.reader.run.memory.grant(asked) else { return Vec::new() };
        let kernels = self.entry(entry);
        self.scratch.trim(self.reader.run.memory.own());
        drop(grant);
        kernels
    }

    /// The kernels of the images of an entry, in their order; `None` for one that cannot be read or has none to read. The
    /// caller has had [`inspect::memory_of`] the entry granted.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>) -> Vec<Option<Vec<Kernel>>> {
        let reader = self.reader;
        match entry.header().kind {
            Kind::Elf if reader.depth == KernelDepth::Names => vec![self.prefix(entry)],
            Kind::Elf => vec![self.whole(entry, |bytes| reader.cubin(bytes)).flatten()],
            Kind::Ptx | Kind::RelocatablePtx => vec![self.whole(entry, |text| reader.ptx(text)).flatten()],
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
                let mut prefix = SymbolPrefix::within(&self.reader.limits());
                let mut filled = 0_usize;
                loop {
                    let wanted = match prefix.read(buffer.get(..filled)?) {
                        PrefixOutcome::Complete(functions) => {
                            let kernels = functions.iter().filter(|function| function.is_kernel());
                            return self.reader.all(kernels.map(|function| self.reader.kernel(function)));
                        }
                        PrefixOutcome::NeedMore(wanted) => wanted.min(stated),
                        PrefixOutcome::Unsupported => break,
                    };
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

/// Reads the kernels of all fatbin entries of a slice: by all threads, or in their order where the last ones may go beyond
/// what the file may hold.
pub(crate) fn read(slice: &[u8], modules: &mut [Module], run: &Run, count: &Count<'_>) {
    let fatbins = modules.iter().filter(|module| module.source == Source::Fatbin);
    let images = fatbins.flat_map(|module| &module.images).filter(|image| has_kernels(image.kind));
    // the members of a concatenated entry share its offset
    let mut jobs: Vec<(u64, u64)> = images.map(|image| (image.offset, image.unpacked_bytes.unwrap_or(0))).collect();
    jobs.sort_unstable();
    jobs.dedup_by_key(|(offset, _)| *offset);
    let one = |reader: &mut EntryReader<'_>, (offset, _): &(u64, u64)| {
        if count.has_overflown() || run.is_cancelled() {
            return Vec::new();
        }
        let entry = usize::try_from(*offset).ok().and_then(|at| slice.get(at..)).and_then(entry_at);
        entry.map(|entry| reader.granted(&entry)).unwrap_or_default()
    };
    let tools = || EntryReader::new(run, count);
    let found = if count.allowance.is_exact {
        let mut reader = tools();
        jobs.iter().map(|job| one(&mut reader, job)).collect()
    } else {
        parallel::each(&jobs, |(_, bytes)| *bytes, tools, one)
    };
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
