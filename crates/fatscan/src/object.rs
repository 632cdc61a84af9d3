//! One file that holds code: sniffed, searched, labelled; with the objects and slices in it.

use std::sync::Arc;

use fatbin::OLD_FATBIN_MAGIC;
use fatscan_containers::{
    ArchiveWalk, Bounded, ByteStream, Damage, Format, Layout, Part, PeImage, Ranges, SECTION_NAME, SNIFF_SIZE, Tap,
    names_at, needed, table_bytes, universal,
};

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::finder::{FileState, Finder, Harvest, Hidden, Issue, KEPT, major_of};
use crate::kernels;
use crate::label;
use crate::locator::{Locator, Place};
use crate::model::{CodeKind, Image, Linkage, Member, Module, Object, Source, Unread, Why};
use crate::open::{self, What};
use crate::options::KernelDepth;
use crate::run::{Allowance, Run, Used};

/// What one file gave.
#[derive(Debug, Default)]
pub(crate) struct Leaf {
    /// Present if it holds device code.
    pub(crate) member: Option<Member>,
    /// Whether it is a file that could hold device code.
    pub(crate) is_candidate: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) unread: Vec<Unread>,
    /// Archives and compressed files in it, still to be opened.
    pub(crate) nested: Vec<Locator>,
    pub(crate) used: Used,
    /// It must be read again when all before it is done.
    pub(crate) put_off: bool,
}

impl Leaf {
    /// Nothing but something to say.
    pub(crate) fn saying(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], ..Self::default() }
    }

    /// Whether an error is said in it.
    pub(crate) fn is_damaged(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error)
    }

    /// Nothing, because it was not read.
    pub(crate) fn unread(at: &Locator, why: Why, is_whole: bool) -> Self {
        Self {
            diagnostics: vec![open::unread_diagnostic(at, &why, is_whole)],
            unread: vec![Unread { at: at.clone(), why }],
            ..Self::default()
        }
    }
}

/// Scans one file. One of unknown format is searched only if it was given by name (`explicit`).
pub(crate) fn scan(run: &Run, at: &Locator, stream: &mut dyn ByteStream, explicit: bool, allowance: Allowance) -> Leaf {
    stream.fill(SNIFF_SIZE);
    let window = stream.window();
    let prefix = window.get(..SNIFF_SIZE).unwrap_or(window);
    let name = at.file_name();
    // a script for the linker may have the name of a library
    let is_text = prefix.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let what = open::what(prefix);
    let format = match what {
        What::Table | What::Package(_) | What::Compressed(_) => {
            return Leaf { nested: vec![at.clone()], is_candidate: true, ..Leaf::default() };
        }
        What::Unread(what) => return Leaf::unread(at, Why::Unsupported(what), explicit),
        What::Format(format) => Some(format),
        What::Unknown => None,
    };
    let searched = format.is_some() || explicit || (open::is_library(&name) && !is_text);
    // what cannot be unpacked to its first bytes may be anything
    let hidden = stream.fault().filter(|_| !searched);
    if let Some(fault) = hidden {
        return Leaf::saying(Diagnostic::new(Code::MemberDamaged, at.clone(), fault.to_string()));
    }
    if !searched {
        return Leaf::default();
    }
    let mut file = File {
        at,
        state: FileState::new(run, allowance),
        modules: Vec::new(),
        empty: 0,
        machine: None,
        pe: None,
        runtime: None,
        end: 0,
        diagnostics: Vec::new(),
        hidden: Hidden::default(),
        unread: Vec::new(),
        nested: Vec::new(),
    };
    file.part(at, None, format, stream);
    if let Some(fault) = stream.fault() {
        file.say(Diagnostic::new(Code::MemberDamaged, at.clone(), fault.to_string()));
    }
    let size = stream.position().max(file.end);
    file.finish(format, size)
}

struct File<'run> {
    at: &'run Locator,
    state: FileState<'run>,
    modules: Vec<Module>,
    empty: u64,
    machine: Option<&'static str>,
    pe: Option<PeImage>,
    runtime: Option<u16>,
    /// The furthest position that the stream has been at: reading the layout may have taken it back.
    end: u64,
    diagnostics: Vec<Diagnostic>,
    hidden: Hidden,
    unread: Vec<Unread>,
    nested: Vec<Locator>,
}

impl File<'_> {
    fn say(&mut self, diagnostic: Diagnostic) {
        let limit = self.state.run.limits().diagnostics;
        // errors may take as much room again
        let room = if diagnostic.level == Level::Error { limit.saturating_mul(2) } else { limit };
        if self.diagnostics.len() < room {
            self.diagnostics.push(diagnostic);
        } else {
            self.hidden.count(diagnostic.level);
        }
    }

    /// The file or a part of it: what it is, and what is in it. The only recursion into files that are read forward.
    fn part(
        &mut self,
        at: &Locator,
        object: Option<&Arc<Object>>,
        format: Option<Format>,
        stream: &mut dyn ByteStream,
    ) {
        let is_container = matches!(format, Some(Format::Archive | Format::MachOUniversal));
        if is_container && open::depth(at) >= self.state.run.limits().depth {
            self.leave(at, Why::TooDeep);
            return;
        }
        match format {
            Some(Format::ThinArchive) => self.say(Diagnostic::new(Code::ThinArchive, at.clone(), "")),
            Some(Format::Archive) => self.archive(at, object, stream),
            Some(Format::MachOUniversal) => self.universal(at, object, stream),
            Some(format @ (Format::LtoIr | Format::TileIr)) => self.raw(object, format, stream),
            format => self.object(at, object, format, stream),
        }
    }

    /// Says that something is not read.
    fn leave(&mut self, at: &Locator, why: Why) {
        self.say(open::unread_diagnostic(at, &why, at == self.at));
        self.unread.push(Unread { at: at.clone(), why });
    }

    /// One object: a library, an object file, or a bare piece of device code.
    fn object(
        &mut self,
        at: &Locator,
        object: Option<&Arc<Object>>,
        format: Option<Format>,
        stream: &mut dyn ByteStream,
    ) {
        if stream.window().get(..4) == Some(&OLD_FATBIN_MAGIC.to_le_bytes()) {
            self.say(Diagnostic::new(Code::OldFatbin, Locator { offset: Some(0), ..at.clone() }, ""));
        }
        let base = object.map_or(0, |object| object.base);
        let mut tap = Tap::new(stream, KEPT);
        let mut harvest = Finder::run(&mut tap, format, base, &mut self.state);
        self.end = self.end.max(base.saturating_add(harvest.length));
        if let Some(slice) = tap.as_slice().filter(|_| self.state.run.options.kernels != KernelDepth::None) {
            kernels::read(slice, &mut harvest.modules, self.state.run, &self.state.kernels);
        }
        let layout = match format {
            Some(format) if is_host(format) => self.layout(at, format, &mut tap, &mut harvest),
            _ => None,
        };
        for code in self.state.limits_reached() {
            self.say(Diagnostic::new(code, at.clone(), ""));
        }
        if self.machine.is_none() {
            self.machine = layout.as_ref().and_then(|layout| layout.machine);
            self.pe = layout.as_ref().and_then(|layout| layout.image);
        }
        self.foreign(at, &harvest.modules, layout.as_ref());
        for Issue { code, offset, image, detail } in harvest.issues {
            let section = offset.zip(layout.as_ref()).and_then(|(offset, layout)| {
                let section = layout.section_at(offset)?;
                layout.name(section).map(Arc::from)
            });
            self.say(Diagnostic::new(code, Locator { section, offset, image, ..at.clone() }, detail));
        }
        self.hidden.add(harvest.hidden);
        if let Some(object) = object {
            harvest.modules.iter_mut().for_each(|module| module.object = Some(Arc::clone(object)));
        }
        self.modules.append(&mut harvest.modules);
        self.empty = self.empty.saturating_add(harvest.empty_fatbins);
    }

    /// The sections of a host file, with which its findings are labelled, and whether it is all there.
    fn layout(
        &mut self,
        at: &Locator,
        format: Format,
        tap: &mut Tap<&mut dyn ByteStream>,
        harvest: &mut Harvest,
    ) -> Option<Layout> {
        // of a library without device code only what passed is looked at: its names are not worth a second reading
        let worth = !harvest.modules.is_empty() || harvest.empty_fatbins > 0 || !harvest.issues.is_empty();
        let run = self.state.run;
        let limit = run.limits().table_bytes;
        let prefix = tap.as_slice().or_else(|| tap.kept(0, SNIFF_SIZE)).unwrap_or_default();
        let large = table_bytes(format, prefix) > SMALL_TABLE;
        let grant = large.then(|| run.memory.grant(limit.saturating_mul(TABLES)));
        if grant.as_ref().is_some_and(Option::is_none) {
            self.say(Diagnostic::new(Code::LimitMemory, at.clone(), "its section table"));
            return None;
        }
        let mut file = Ranges::new(tap, harvest.length, worth, limit);
        let places = harvest.modules.iter().map(|module| module.offset);
        let places: Vec<u64> = places.chain(harvest.issues.iter().filter_map(|issue| issue.offset)).collect();
        let layout = Layout::read(format, &mut file, &places);
        if let Some(layout) = &layout
            && worth
        {
            let asked = needed(format, &mut file, layout);
            let majors: Vec<u16> = if harvest.more_runtimes {
                names_at(&mut file, &asked).iter().filter_map(|name| major_of(name)).collect()
            } else {
                let asked: std::collections::HashSet<u64> = asked.into_iter().collect();
                harvest.runtimes.iter().filter(|(place, _)| asked.contains(place)).map(|(_, major)| *major).collect()
            };
            self.runtime = self.runtime.max(majors.into_iter().max());
        }
        drop(grant);
        let end = layout.as_ref().map_or(0, |layout| layout.end);
        if end > harvest.length && tap.fault().is_none() {
            let detail = format!("{} of {end} bytes are there", harvest.length);
            self.say(Diagnostic::new(Code::FileCut, at.clone(), detail));
        } else if worth && layout.as_ref().is_none_or(|layout| layout.damaged) {
            self.say(Diagnostic::new(Code::SectionTable, at.clone(), ""));
        }
        label::label(&mut harvest.modules, layout.as_ref(), &harvest.wrappers);
        if let Some(layout) = &layout {
            let mut sections = places.iter().filter_map(|place| layout.section_at(*place));
            if sections.any(|section| layout.cuts_name(section)) {
                let detail = format!("a section name of more than {SECTION_NAME} bytes");
                self.say(Diagnostic::new(Code::LimitText, at.clone(), detail));
            }
        }
        for module in harvest.modules.iter().filter(|module| module.mapped == Some(false)) {
            let at = Locator { section: module.section.clone(), offset: Some(module.offset), ..at.clone() };
            self.say(Diagnostic::new(Code::NotLoaded, at, ""));
        }
        layout
    }

    /// Says once that code of another vendor is here.
    fn foreign(&mut self, at: &Locator, modules: &[Module], layout: Option<&Layout>) {
        let bundles = modules.iter().filter(|module| module.source == Source::OffloadBundle);
        let mut targets: Vec<&str> = bundles
            .clone()
            .flat_map(|module| &module.images)
            .map(|image| image.foreign.as_deref().unwrap_or("targets unknown: the bundle is compressed"))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        let section = layout.and_then(label::foreign_section);
        let detail = match (bundles.count(), section) {
            (0, None) => return,
            (0, Some(section)) => format!("section `{section}`"),
            (1, _) => format!("1 offload bundle ({})", targets.join(", ")),
            (count, _) => format!("{count} offload bundles ({})", targets.join(", ")),
        };
        self.say(Diagnostic::new(Code::OtherVendor, at.clone(), detail));
    }

    /// A part of a file, by its name.
    fn inside(&mut self, at: &Locator, object: Option<&Arc<Object>>, name: &[u8], part: &Part) -> Option<Arc<Object>> {
        let place = Place::Part { offset: part.offset, size: part.size };
        let limit = self.state.run.limits().name_bytes;
        let own = name.get(..limit).unwrap_or(name);
        if own.len() < name.len() {
            self.say(Diagnostic::new(Code::LimitText, at.clone(), format!("a name of {} bytes", name.len())));
        }
        let text = self.state.name(own)?;
        let (name, base) = match object {
            Some(outer) => (format!("{}!{text}", outer.name), outer.base.saturating_add(part.offset)),
            None => (text, part.offset),
        };
        Some(Arc::new(Object { name, at: at.inside(own, place), base }))
    }

    /// What a part of a file is, and what is in it.
    fn open_part(&mut self, object: &Arc<Object>, stream: &mut dyn ByteStream) {
        stream.fill(SNIFF_SIZE);
        let window = stream.window();
        let at = object.at.clone();
        match open::what(window.get(..SNIFF_SIZE).unwrap_or(window)) {
            What::Table | What::Package(_) | What::Compressed(_) => self.nested.push(at),
            What::Unread(what) => self.leave(&at, Why::Unsupported(what)),
            What::Format(format) => self.part(&at, Some(object), Some(format), stream),
            What::Unknown => self.part(&at, Some(object), None, stream),
        }
    }

    /// A static library: every object by itself.
    fn archive(&mut self, at: &Locator, object: Option<&Arc<Object>>, stream: &mut dyn ByteStream) {
        let names = usize::try_from(self.state.run.limits().table_bytes / NAMES).unwrap_or(usize::MAX);
        let mut walk = ArchiveWalk::new(names);
        while let Some(step) = walk.next(stream) {
            if self.state.is_put_off() || self.state.run.is_cancelled() {
                return;
            }
            match step {
                Ok(part) => {
                    let Some(own) = self.inside(at, object, &part.name, &part) else {
                        self.say(Diagnostic::new(Code::LimitText, at.clone(), ""));
                        return;
                    };
                    self.open_part(&own, &mut Bounded::new(&mut *stream, part.size));
                }
                Err(Damage::Header { offset }) => {
                    self.say(Diagnostic::new(Code::ArchiveHeader, Locator { offset: Some(offset), ..at.clone() }, ""));
                    let part = Part { name: Arc::default(), size: u64::MAX, offset };
                    let rest = self.inside(at, object, b"", &part);
                    self.object(at, rest.as_ref(), None, &mut Bounded::new(&mut *stream, u64::MAX));
                }
                Err(Damage::Names { size }) => {
                    self.say(Diagnostic::new(Code::LimitNames, at.clone(), format!("{size} bytes")));
                }
                Err(Damage::Cut { offset }) => {
                    let detail = format!("{offset} bytes are there");
                    self.say(Diagnostic::new(Code::FileCut, at.clone(), detail));
                }
                Err(_) => {}
            }
        }
    }

    /// A universal Mach-O file: every slice by itself, named by its place, and what lies between them.
    fn universal(&mut self, at: &Locator, object: Option<&Arc<Object>>, stream: &mut dyn ByteStream) {
        stream.fill(SNIFF_SIZE);
        let slices = universal(stream.window());
        let start = stream.position();
        for slice in slices {
            let position = stream.position().saturating_sub(start);
            self.between(at, object, position, slice.offset.saturating_sub(position), stream);
            let missing = slice.offset > stream.position().saturating_sub(start);
            let part = Part { name: Arc::default(), size: slice.size, offset: slice.offset };
            let own = self.inside(at, object, format!("slice@{:#x}", slice.offset).as_bytes(), &part);
            if let Some(own) = own.filter(|_| !missing) {
                self.open_part(&own, &mut Bounded::new(&mut *stream, slice.size));
            }
            let end = slice.offset.saturating_add(slice.size);
            let left = end.saturating_sub(stream.position().saturating_sub(start));
            if stream.skip(left) < left {
                let there = stream.position().saturating_sub(start);
                self.say(Diagnostic::new(Code::FileCut, at.clone(), format!("{there} of {end} bytes are there")));
                return;
            }
        }
        let position = stream.position().saturating_sub(start);
        self.between(at, object, position, u64::MAX, stream);
    }

    /// Bytes of a universal file outside its slices.
    fn between(
        &mut self,
        at: &Locator,
        object: Option<&Arc<Object>>,
        offset: u64,
        size: u64,
        stream: &mut dyn ByteStream,
    ) {
        if size == 0 {
            return;
        }
        let part = Part { name: Arc::default(), size, offset };
        let Some(own) = self.inside(at, object, format!("outside@{offset:#x}").as_bytes(), &part) else { return };
        self.object(&own.at.clone(), Some(&own), None, &mut Bounded::new(stream, size));
    }

    /// A file that is one piece of intermediate code and names no architecture.
    fn raw(&mut self, object: Option<&Arc<Object>>, format: Format, stream: &mut dyn ByteStream) {
        let size = stream.skip(u64::MAX);
        let (kind, linkage) = match format {
            Format::LtoIr => (CodeKind::LtoIr, Linkage::Relocatable),
            _ => (CodeKind::TileIr, Linkage::Loadable),
        };
        let image = Image { linkage, ..Image::bare(kind, 0, size) };
        let mut module = Module::new(Source::Raw, 0, vec![image]);
        module.object = object.cloned();
        self.modules.push(module);
    }

    fn finish(mut self, format: Option<Format>, size: u64) -> Leaf {
        if let Some(code) = self.state.kernels.reached() {
            self.say(Diagnostic::new(code, self.at.clone(), ""));
        }
        if self.hidden.number > 0 {
            let detail = format!("{} more", self.hidden.number);
            let level = self.hidden.gravest.unwrap_or(Level::Note);
            self.diagnostics.push(Diagnostic::new(Code::LimitDiagnostics, self.at.clone(), detail).weighed(level));
        }
        let found = !self.modules.is_empty() || self.empty > 0;
        if format.is_none() {
            let code = match size {
                0 => Code::EmptyFile,
                _ if open::promises(&self.at.file_name()) => Code::NameMismatch,
                _ => Code::UnknownFormat,
            };
            self.diagnostics.push(Diagnostic::new(code, self.at.clone(), ""));
        }
        self.modules.shrink_to_fit();
        let (used, put_off) = (self.state.used(), self.state.is_put_off());
        let member = found.then(|| Member {
            path: String::new(),
            at: self.at.clone(),
            format: format.map_or("unknown", Format::name),
            machine: self.machine,
            runtime: self.runtime,
            pe: self.pe,
            size,
            packed: None,
            modules: self.modules,
            empty_fatbins: self.empty,
        });
        Leaf {
            member,
            is_candidate: true,
            diagnostics: self.diagnostics,
            unread: self.unread,
            nested: self.nested,
            used,
            put_off,
        }
    }
}

/// A section table up to this size is read without asking; of a larger one this many copies are held, records and rows.
const SMALL_TABLE: u64 = 256 * 1024;
const TABLES: u64 = 5;
/// A table of names of a static library is held while the library is read: by every thread one, so it gets this part.
const NAMES: u64 = 4;

const fn is_host(format: Format) -> bool {
    matches!(format, Format::Elf | Format::Pe | Format::Coff | Format::MachO)
}
