//! Walks a stream once and finds the device code in it, at any byte offset.

mod bundle;
mod cubin;
mod fatbin;
mod patterns;
mod ptx;
mod runtime;

pub(crate) use cubin::linkage;

use ::fatbin::Wrapper;
use fatscan_containers::{ByteStream, Format, SNIFF_SIZE, announced};

use crate::diagnostic::Code;
use crate::inspect;
use crate::kernels::{EntryReader, KernelDepth, Reader};
use crate::model::Module;
use crate::options::Options;
use patterns::{LONGEST, Pattern};

/// Wrapper records that are remembered.
const WRAPPERS: usize = 1 << 20;
/// Neighbourhoods of `.shstrtab` that are remembered of a stream.
const NEIGHBOURHOODS: usize = 16;
/// Bytes kept before and behind `.shstrtab`.
const NEIGHBOURHOOD: usize = 4096;
/// Bytes of the start of a stream that are remembered for its headers.
const PREFIX: usize = 64 * 1024;
/// Names of runtime libraries that are remembered.
const RUNTIMES: usize = 64;

/// Something to say, still without the name of the file.
#[derive(Debug)]
pub(crate) struct Issue {
    pub(crate) code: Code,
    pub(crate) offset: Option<u64>,
    pub(crate) image: Option<usize>,
    pub(crate) detail: String,
}

/// What one pass finds.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    pub(crate) modules: Vec<Module>,
    pub(crate) empty_fatbins: u64,
    pub(crate) wrappers: Vec<Wrapper>,
    pub(crate) issues: Vec<Issue>,
    /// Where the name of a CUDA runtime library stands, and the major version in it.
    pub(crate) runtimes: Vec<(u64, u16)>,
    /// Ranges that may hold the names of the sections.
    pub(crate) names: Vec<(u64, Vec<u8>)>,
}

/// One pass over one stream.
#[derive(Debug)]
pub(crate) struct Finder<'run, S> {
    stream: &'run mut S,
    options: &'run Options,
    format: Option<Format>,
    harvest: Harvest,
    images: usize,
    text_bytes: usize,
    rereads: u32,
    /// Up to here bytes belong to a fatbin that is damaged: its payloads are no findings of their own.
    shadow_end: u64,
    reported: u64,
    scratch: inspect::Scratch,
    entries: EntryReader<'run>,
}

impl<'run, S: ByteStream> Finder<'run, S> {
    /// Searches `stream` from its start to its end.
    pub(crate) fn run(stream: &'run mut S, format: Option<Format>, options: &'run Options) -> Harvest {
        let mut finder = Self {
            stream,
            options,
            format,
            harvest: Harvest::default(),
            images: 0,
            text_bytes: 0,
            rereads: 0,
            shadow_end: 0,
            reported: 0,
            scratch: inspect::Scratch::default(),
            entries: EntryReader::new(options),
        };
        finder.watch_headers();
        finder.search();
        if finder.harvest.modules.is_empty() && finder.harvest.issues.is_empty() {
            finder.harvest.names.clear();
        }
        finder.harvest
    }

    /// Of a stream, the bytes that the layout needs are copied while they pass.
    fn watch_headers(&mut self) {
        if self.stream.as_slice().is_some() || self.format.is_none() {
            return;
        }
        self.stream.watch(0, PREFIX);
        self.stream.fill(SNIFF_SIZE);
        let Some(format) = self.format else { return };
        for (start, length) in announced(format, self.stream.window()) {
            self.stream.watch(start, length);
        }
    }

    fn search(&mut self) {
        self.stream.fill(LONGEST);
        loop {
            if self.images > self.options.limits.images {
                self.issue(Code::LimitImages, None, String::new());
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
            self.options.progress.advance(position.saturating_sub(self.reported));
            self.reported = position;
        }
    }

    fn wrapper(&mut self) {
        self.stream.fill(::fatbin::WRAPPER_SIZE);
        if let Some(wrapper) = Wrapper::parse(self.stream.window())
            && self.harvest.wrappers.len() < WRAPPERS
        {
            self.harvest.wrappers.push(wrapper);
        }
    }

    fn section_names(&mut self) {
        if !patterns::has_late_sections(self.format)
            || self.stream.as_slice().is_some()
            || self.harvest.names.len() >= NEIGHBOURHOODS
        {
            return;
        }
        self.stream.fill(NEIGHBOURHOOD);
        let behind = self.stream.behind();
        let window = self.stream.window();
        let ahead = window.get(..NEIGHBOURHOOD).unwrap_or(window);
        let start = self.stream.position().saturating_sub(u64::try_from(behind.len()).unwrap_or(0));
        self.harvest.names.push((start, [behind, ahead].concat()));
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
        }
    }

    /// Whether a bare cubin or a PTX text here is only a payload of a damaged fatbin.
    fn is_shadowed(&self) -> bool {
        self.stream.position() < self.shadow_end
    }

    /// A reader of kernels, where they are asked for.
    fn reader(&self) -> Option<Reader<'run>> {
        let wanted = self.options.kernels != KernelDepth::None;
        wanted.then(|| Reader::new(self.options))
    }

    fn issue(&mut self, code: Code, offset: Option<u64>, detail: String) {
        self.harvest.issues.push(Issue { code, offset, image: None, detail });
    }

    fn module(&mut self, module: Module) {
        self.images = self.images.saturating_add(module.images.len());
        self.harvest.modules.push(module);
    }

    /// A text of a header, kept as far as the budget goes. Bytes that are not UTF-8 are replaced.
    fn text(&mut self, bytes: Option<&[u8]>) -> Option<Box<str>> {
        let bytes = bytes?;
        let after = self.text_bytes.saturating_add(bytes.len());
        if after > self.options.limits.text_bytes {
            if self.text_bytes <= self.options.limits.text_bytes {
                self.text_bytes = self.options.limits.text_bytes.saturating_add(1);
                self.issue(Code::LimitText, None, String::new());
            }
            return None;
        }
        self.text_bytes = after;
        Some(String::from_utf8_lossy(bytes).into())
    }
}
