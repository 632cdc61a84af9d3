//! The kernels in an image: names, code size, and what they need.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::{Arc, Mutex};

use cubin::{Binding, Functions, PrefixOutcome, SymbolPrefix, ptx_kernel_details};
use fatbin::{Entry, EntryHeader, Kind, Payload};

use crate::model::{CodeKind, Module, Source};
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
        let name = String::from_utf8_lossy(name);
        // a thread that died while it held the lock leaves a set that is as good as before
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match known.get(name.as_ref()) {
            Some(name) => Arc::clone(name),
            None => {
                let name: Arc<str> = name.into();
                known.insert(Arc::clone(&name));
                name
            }
        }
    }
}

/// Bytes of a cubin that are unpacked first.
const FIRST: usize = 64 * 1024;

/// Reads kernels, with a buffer that is used again.
#[derive(Debug)]
pub(crate) struct Reader<'run> {
    depth: KernelDepth,
    limit: u64,
    names: &'run Names,
    buffer: Vec<u8>,
}

impl<'run> Reader<'run> {
    pub(crate) fn new(depth: KernelDepth, limit: u64, names: &'run Names) -> Self {
        Self { depth, limit, names, buffer: Vec::new() }
    }

    /// The kernels of the images of an entry, in their order; `None` for one that cannot be read or has none to read.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>) -> Vec<Option<Vec<Kernel>>> {
        match entry.header().kind {
            Kind::Elf => vec![self.cubin_entry(entry)],
            Kind::Ptx | Kind::RelocatablePtx => {
                vec![self.whole(entry).map(|reader| reader.ptx(&reader.buffer))]
            }
            Kind::Concat => {
                let Some(reader) = self.whole(entry) else { return Vec::new() };
                let members = entry.members().flatten();
                let each = members.map(|member| {
                    let bytes = member.bytes(&reader.buffer).ok()?;
                    match member.header().kind {
                        Kind::Elf => reader.cubin(bytes),
                        Kind::Ptx | Kind::RelocatablePtx => Some(reader.ptx(bytes)),
                        _ => None,
                    }
                });
                each.collect()
            }
            _ => vec![None],
        }
    }

    fn whole(&mut self, entry: &Entry<'_>) -> Option<&Self> {
        fatbin::decode(entry, self.limit, &mut self.buffer).ok()?;
        Some(self)
    }

    fn cubin_entry(&mut self, entry: &Entry<'_>) -> Option<Vec<Kernel>> {
        if entry.header().unpacked_size() > self.limit {
            return None;
        }
        match fatbin::open(entry).ok()? {
            Payload::Whole(bytes) => self.cubin(bytes),
            Payload::Stream(stream) if self.depth == KernelDepth::Names => self.prefix(stream, entry),
            Payload::Stream(_) | Payload::Block => {
                let reader = self.whole(entry)?;
                reader.cubin(&reader.buffer)
            }
        }
    }

    /// Unpacks as much as names the kernels; all of it where the layout does not show them.
    fn prefix(&mut self, stream: Box<dyn Read + '_>, entry: &Entry<'_>) -> Option<Vec<Kernel>> {
        let stated = entry.header().unpacked_size();
        let mut stream = stream.take(stated);
        self.buffer.clear();
        let mut wanted = FIRST;
        loop {
            let missing = wanted.saturating_sub(self.buffer.len());
            let room = u64::try_from(missing).unwrap_or(u64::MAX);
            let read = (&mut stream).take(room).read_to_end(&mut self.buffer).ok()?;
            let at_end = read < missing || u64::try_from(self.buffer.len()) == Ok(stated);
            match SymbolPrefix::parse(&self.buffer) {
                PrefixOutcome::Complete(functions) => {
                    let kernels = functions.iter().filter(|function| function.is_kernel());
                    return Some(kernels.map(|function| self.kernel(function)).collect());
                }
                PrefixOutcome::NeedMore(more) if !at_end => wanted = more.max(wanted.saturating_add(FIRST)),
                PrefixOutcome::NeedMore(_) | PrefixOutcome::Unsupported => {
                    stream.read_to_end(&mut self.buffer).ok()?;
                    return self.cubin(&self.buffer);
                }
            }
        }
    }

    /// The kernels of a whole cubin.
    pub(crate) fn cubin(&self, bytes: &[u8]) -> Option<Vec<Kernel>> {
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
    pub(crate) fn ptx(&self, text: &[u8]) -> Vec<Kernel> {
        let kernels = ptx_kernel_details(text).into_iter().map(|kernel| Kernel {
            name: self.names.intern(kernel.name),
            is_local: kernel.linkage == cubin::PtxLinkage::Local,
            code_bytes: 0,
            resources: None,
        });
        kernels.collect()
    }

    fn kernel(&self, function: &cubin::Function<'_>) -> Kernel {
        Kernel {
            name: self.names.intern(function.name),
            is_local: function.binding == Binding::Local,
            code_bytes: function.size,
            resources: None,
        }
    }
}

/// Whether images of this kind have kernels to read.
pub(crate) const fn has_kernels(kind: CodeKind) -> bool {
    matches!(kind, CodeKind::Sass | CodeKind::Ptx)
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
        |(offset, _)| {
            let entry = usize::try_from(*offset).ok().and_then(|at| slice.get(at..)).and_then(entry_at);
            let mut reader = Reader::new(options.kernels, options.limits.payload_bytes, &options.names);
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
