//! Walks a stream once and finds the device code in it, at any byte offset.

mod bundle;
mod cubin;
mod fatbin;
mod patterns;
mod ptx;
mod runtime;

pub(crate) use cubin::linkage;

pub(crate) use runtime::major_of;

use std::collections::{HashMap, HashSet};

use ::fatbin::Wrapper;
use fatscan_containers::{ByteStream, Format, PREFIX_SIZE, SNIFF_SIZE, Tap, announced};

use crate::diagnostic::{Code, Level};
use crate::inspect;
use crate::kernels::{Count, EntryReader, Reader};
use crate::model::Module;
use crate::options::KernelDepth;
use crate::run::{Allowance, Run, Used, lossy};
use patterns::{LONGEST, Pattern};

/// Bytes kept before and behind `.shstrtab`.
const NEIGHBOURHOOD: usize = 4096;
/// A table of a stream up to this size is kept while it passes; a larger one is read again.
const TABLE: u64 = 256 * 1024;
/// Bytes that are kept of a stream in all: its start, its tables, the surroundings of its section names.
pub(crate) const KEPT: usize = 512 * 1024;
/// Names of runtime libraries that are remembered; beyond, the dependency table is read for their names.
const RUNTIMES: usize = 1 << 16;

/// Something to say, still without the name of the file.
#[derive(Debug)]
pub(crate) struct Issue {
    pub(crate) code: Code,
    pub(crate) offset: Option<u64>,
    pub(crate) image: Option<usize>,
    pub(crate) detail: String,
}

/// Issues of one pass that are kept; more are counted.
const ISSUES: usize = 4096;

/// What is counted and not shown. How much is shown changes nothing else: the gravest of it weighs as before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hidden {
    pub(crate) number: u64,
    pub(crate) gravest: Option<Level>,
}

impl Hidden {
    pub(crate) fn count(&mut self, level: Level) {
        self.number = self.number.saturating_add(1);
        // the graver one is the smaller
        self.gravest = Some(self.gravest.map_or(level, |gravest| gravest.min(level)));
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.number = self.number.saturating_add(more.number);
        self.gravest = self.gravest.into_iter().chain(more.gravest).min();
    }
}

/// What one pass finds.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    pub(crate) modules: Vec<Module>,
    pub(crate) empty_fatbins: u64,
    pub(crate) wrappers: Vec<Wrapper>,
    /// Whether there are more of them.
    pub(crate) more_wrappers: bool,
    pub(crate) issues: Vec<Issue>,
    /// Issues beyond those.
    pub(crate) hidden: Hidden,
    /// Where the name of a CUDA runtime library stands, and the major version in it.
    pub(crate) runtimes: Vec<(u64, u16)>,
    /// Whether there are more of them.
    pub(crate) more_runtimes: bool,
    /// Bytes searched.
    pub(crate) length: u64,
}

/// What the objects of one file share: its limits are the file's, not theirs.
#[derive(Debug)]
pub(crate) struct FileState<'run> {
    pub(crate) run: &'run Run,
    pub(crate) allowance: Allowance,
    pub(crate) used: Used,
    pub(crate) kernels: Count<'run>,
    /// Bytes that were searched a second time, counted from the start of the file.
    reread: u64,
    rereads_ended: bool,
    /// All threads together hold too much: the file is put off.
    overflow: bool,
    images_ended: bool,
    text_ended: bool,
}

impl<'run> FileState<'run> {
    pub(crate) fn new(run: &'run Run, allowance: Allowance) -> Self {
        Self {
            run,
            allowance,
            used: Used::default(),
            kernels: Count::new(run, allowance),
            reread: 0,
            rereads_ended: false,
            overflow: false,
            images_ended: false,
            text_ended: false,
        }
    }

    /// Whether the file must be read again when those before it are done.
    pub(crate) fn is_put_off(&self) -> bool {
        !self.allowance.is_exact && (self.overflow || self.kernels.has_overflown())
    }

    /// What it used, kernels included.
    pub(crate) fn used(&self) -> Used {
        Used { kernels: self.kernels.kernels(), ..self.used }
    }

    fn count(&mut self, more: Used) {
        self.used.add(more);
        if !self.run.hold(more) {
            self.overflow = true;
        }
    }

    /// A name, cut to the limit and counted; nothing where the limit of all names is reached.
    pub(crate) fn name(&mut self, bytes: &[u8]) -> Option<String> {
        let bytes = bytes.get(..self.run.limits().name_bytes).unwrap_or(bytes);
        self.text(bytes)
    }

    fn text(&mut self, bytes: &[u8]) -> Option<String> {
        if self.used.text.saturating_add(bytes.len()) > self.allowance.text {
            self.text_ended = true;
            return None;
        }
        self.count(Used { text: bytes.len(), ..Used::default() });
        Some(lossy(bytes))
    }

    /// The limits that were reached and are not said yet, once.
    pub(crate) fn limits_reached(&mut self) -> Vec<Code> {
        let mut codes = Vec::new();
        if core::mem::take(&mut self.images_ended) {
            codes.push(Code::LimitImages);
        }
        if core::mem::take(&mut self.text_ended) {
            codes.push(Code::LimitText);
        }
        codes
    }
}

/// One pass over one stream.
#[derive(Debug)]
pub(crate) struct Finder<'pass, 'run, S> {
    stream: &'pass mut Tap<S>,
    run: &'run Run,
    state: &'pass mut FileState<'run>,
    format: Option<Format>,
    /// Where the stream begins in its file.
    base: u64,
    harvest: Harvest,
    /// Up to here bytes belong to a fatbin that is damaged: its payloads are no findings of their own.
    shadow_end: u64,
    reported: u64,
    scratch: inspect::Scratch,
    /// The damaged module that holds the entry at an offset, by its index: another may turn out to own it.
    claims: HashMap<u64, usize>,
    disowned: HashSet<(usize, u64)>,
}

impl<'pass, 'run, S: ByteStream> Finder<'pass, 'run, S> {
    /// Searches `stream`, which begins `base` bytes behind the start of its file, from its start to its end.
    pub(crate) fn run(
        stream: &'pass mut Tap<S>,
        format: Option<Format>,
        base: u64,
        state: &'pass mut FileState<'run>,
    ) -> Harvest {
        let mut finder = Self {
            stream,
            run: state.run,
            state,
            format,
            base,
            harvest: Harvest::default(),
            shadow_end: 0,
            reported: 0,
            scratch: inspect::Scratch::default(),
            claims: HashMap::new(),
            disowned: HashSet::new(),
        };
        finder.watch_headers();
        finder.search();
        finder.settle();
        finder.harvest.length = finder.stream.position();
        finder.harvest
    }

    /// Of a stream, the bytes that the layout needs are copied while they pass.
    fn watch_headers(&mut self) {
        let Some(format) = self.format.filter(|_| self.stream.as_slice().is_none()) else { return };
        self.stream.watch(0, PREFIX_SIZE);
        self.stream.fill(SNIFF_SIZE);
        for (start, length) in announced(format, self.stream.window()) {
            if let Some(length) = usize::try_from(length).ok().filter(|_| length <= TABLE) {
                self.stream.watch(start, length);
            }
        }
    }

    /// Entries that a damaged fatbin has claimed by a wrong size belong to the fatbin that they stand in.
    fn settle(&mut self) {
        if self.disowned.is_empty() {
            return;
        }
        for (index, module) in self.harvest.modules.iter_mut().enumerate().filter(|(_, module)| module.damaged) {
            module.images.retain(|image| !self.disowned.contains(&(index, image.offset)));
        }
        self.harvest.modules.retain(|module| !module.images.is_empty());
    }

    /// Whether the file is one that holds program code of a host, in which a few bytes may look like device code.
    fn is_host(&self) -> bool {
        self.format.is_some_and(Format::is_native)
    }

    fn search(&mut self) {
        self.stream.fill(LONGEST);
        loop {
            if self.state.images_ended || self.state.is_put_off() || self.run.is_cancelled() {
                return;
            }
            let length = self.stream.window().len();
            let Some((at, pattern)) = patterns::find(self.stream.window()) else {
                // the tail may be the start of a match
                let step = length.saturating_sub(LONGEST.saturating_sub(1));
                self.step(step);
                if !self.stream.fill(LONGEST) && self.stream.window().len() <= length.saturating_sub(step) {
                    self.step(length);
                    return;
                }
                continue;
            };
            self.step(at);
            // a match at the end of the window shows too little of itself: every handler asks for what it needs
            let start = self.stream.position();
            match pattern {
                Pattern::Fatbin => self.fatbin(),
                Pattern::Elf => self.cubin(),
                Pattern::Ptx => self.ptx(),
                Pattern::Wrapper => self.wrapper(),
                Pattern::ClangBundle => self.clang_bundle(),
                Pattern::CompressedBundle => self.compressed_bundle(),
                Pattern::LlvmBundle => self.llvm_bundle(),
                Pattern::SectionNames => self.section_names(),
                Pattern::Runtime => self.runtime(),
            }
            if self.stream.position() == start {
                self.stream.skip(1);
            }
        }
    }

    fn step(&mut self, bytes: usize) {
        self.stream.skip(u64::try_from(bytes).unwrap_or(u64::MAX));
        let position = self.stream.position();
        if position > self.reported {
            self.run.progress.advance(position.saturating_sub(self.reported));
            self.reported = position;
        }
    }

    fn wrapper(&mut self) {
        self.stream.fill(::fatbin::WRAPPER_SIZE);
        let Some(wrapper) = Wrapper::parse(self.stream.window()) else { return };
        let limit = self.run.limits().wrappers;
        if self.harvest.wrappers.len() < limit {
            self.harvest.wrappers.push(wrapper);
        } else if !self.harvest.more_wrappers {
            self.harvest.more_wrappers = true;
            self.issue(Code::LimitWrappers, None, format!("{limit}"));
        }
    }

    fn section_names(&mut self) {
        if !patterns::has_late_sections(self.format) || self.stream.as_slice().is_some() {
            return;
        }
        self.stream.fill(NEIGHBOURHOOD);
        let behind = self.stream.behind();
        let window = self.stream.window();
        let ahead = window.get(..NEIGHBOURHOOD).unwrap_or(window);
        let start = self.stream.position().saturating_sub(u64::try_from(behind.len()).unwrap_or(0));
        let bytes = [behind, ahead].concat();
        self.stream.keep(start, bytes);
    }

    /// The name of the CUDA runtime library, which a dependency table may point at.
    fn runtime(&mut self) {
        self.stream.fill(64);
        let window = self.stream.window();
        let text = window.get(..64).unwrap_or(window);
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_library = self.stream.behind().ends_with(b"lib");
        let Some((major, before)) = runtime::major(text, is_library) else { return };
        if self.harvest.runtimes.len() < RUNTIMES {
            self.harvest.runtimes.push((self.stream.position().saturating_sub(before), major));
        } else {
            self.harvest.more_runtimes = true;
        }
    }

    /// Whether a bare cubin or a PTX text here is only a payload of a damaged fatbin.
    fn is_shadowed(&self) -> bool {
        self.stream.position() < self.shadow_end
    }

    /// A reader of kernels, where they are asked for.
    fn reader(&self) -> Option<Reader<'_>> {
        let wanted = self.run.options.kernels != KernelDepth::None;
        wanted.then(|| Reader::new(self.run, &self.state.kernels))
    }

    fn entry_reader(&self) -> EntryReader<'_> {
        EntryReader::new(self.run, &self.state.kernels)
    }

    fn issue(&mut self, code: Code, offset: Option<u64>, detail: String) {
        self.say(Issue { code, offset, image: None, detail });
    }

    fn say(&mut self, issue: Issue) {
        if self.harvest.issues.len() < ISSUES {
            self.harvest.issues.push(issue);
        } else {
            self.harvest.hidden.count(issue.code.level());
        }
    }

    /// Takes a module, as far as its images may be held.
    fn module(&mut self, mut module: Module) {
        let left = self.state.allowance.images.saturating_sub(self.state.used.images);
        if module.images.len() > left {
            module.images.truncate(left);
            self.state.images_ended = true;
        }
        self.state.count(Used { images: module.images.len(), ..Used::default() });
        if !module.images.is_empty() {
            // most modules hold one image, and room was made for four
            module.images.shrink_to_fit();
            self.harvest.modules.push(module);
        }
    }

    /// A text of a header, kept as far as the limit goes. Bytes that are not UTF-8 are replaced.
    fn text(&mut self, bytes: Option<&[u8]>) -> Option<Box<str>> {
        self.state.text(bytes?).map(Into::into)
    }
}
