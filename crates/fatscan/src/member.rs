//! One native file, read as a stream: sniffed, searched, labelled.

use fatbin::OLD_FATBIN_MAGIC;
use fatscan_containers::{
    ArchiveWalk, Bounded, ByteStream, Format, Layout, SNIFF_SIZE, SliceStream, layout_of, universal,
};

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::finder::{Finder, Issue};
use crate::kernels::{self, KernelDepth};
use crate::label;
use crate::model::{CodeKind, Image, Linkage, Member, Module, Place, Source};
use crate::options::Options;

/// What one file gave.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// Present if it holds device code.
    pub(crate) member: Option<Member>,
    /// Whether it is a file that could hold device code.
    pub(crate) is_candidate: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Where the file is, for its diagnostics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    /// The artefact, or empty if the member is the whole.
    pub(crate) artefact: &'a str,
    /// The path of the member.
    pub(crate) member: &'a str,
}

impl Names<'_> {
    pub(crate) fn place(&self) -> String {
        Place { path: [self.artefact, self.member, ""], ..Place::default() }.to_string()
    }
}

/// Scans the device code in `bytes`, the content of one file named `name`, held in memory.
#[must_use]
pub fn scan_bytes(name: &str, bytes: &[u8], options: &Options) -> (Option<Member>, Vec<Diagnostic>) {
    scan_stream(name, &mut SliceStream::new(bytes), options)
}

/// Scans the device code in a stream that holds one file named `name`.
pub fn scan_stream<S: ByteStream>(name: &str, stream: &mut S, options: &Options) -> (Option<Member>, Vec<Diagnostic>) {
    let scanned = scan(Names { artefact: "", member: name }, stream, true, options);
    (scanned.member, scanned.diagnostics)
}

/// Scans one file. One of unknown format is searched only if it was asked for by name (`explicit`).
pub(crate) fn scan<S: ByteStream>(names: Names<'_>, stream: &mut S, explicit: bool, options: &Options) -> Scanned {
    stream.fill(SNIFF_SIZE);
    let window = stream.window();
    let format = Format::sniff(window.get(..SNIFF_SIZE).unwrap_or(window));
    // a script for the linker may have the name of a library
    let is_text = window.iter().take(SNIFF_SIZE).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let searched = format.is_some() || explicit || (is_library(names.member) && !is_text);
    // what cannot be unpacked to its first bytes may be anything
    let hidden = stream.fault().filter(|_| !searched);
    if !searched && hidden.is_none() {
        return Scanned::default();
    }
    let mut run = Run {
        names,
        options,
        modules: Vec::new(),
        empty: 0,
        machine: None,
        runtime: None,
        end: 0,
        diagnostics: Vec::new(),
        hidden: 0,
    };
    if let Some(fault) = hidden {
        run.say(Code::MemberDamaged, &Place::default(), &fault.to_string());
        return Scanned { diagnostics: run.diagnostics, ..Scanned::default() };
    }
    match format {
        Some(Format::Zip) => run.say(Code::NestedArchive, &Place::default(), ""),
        Some(Format::ThinArchive) => run.say(Code::ThinArchive, &Place::default(), ""),
        Some(Format::Archive) => run.archive(stream),
        Some(Format::MachOUniversal) => run.universal(stream),
        Some(format @ (Format::LtoIr | Format::TileIr)) => run.raw(format, stream),
        format => run.object("", 0, format, stream),
    }
    if let Some(fault) = stream.fault() {
        run.say(Code::MemberDamaged, &Place::default(), &fault.to_string());
    }
    let size = stream.position().max(run.end);
    run.finish(format, size)
}

struct Run<'a> {
    names: Names<'a>,
    options: &'a Options,
    modules: Vec<Module>,
    empty: u64,
    machine: Option<&'static str>,
    runtime: Option<u16>,
    /// The furthest position that the stream has been at: reading the layout may have taken it back.
    end: u64,
    diagnostics: Vec<Diagnostic>,
    hidden: u64,
}

impl Run<'_> {
    fn say(&mut self, code: Code, place: &Place<'_>, detail: &str) {
        if self.diagnostics.len() >= self.options.limits.diagnostics && code.level() != Level::Error {
            self.hidden = self.hidden.saturating_add(1);
            return;
        }
        if self.diagnostics.len() >= self.options.limits.diagnostics.saturating_mul(2) {
            self.hidden = self.hidden.saturating_add(1);
            return;
        }
        let [_, _, object] = place.path;
        let place = Place { path: [self.names.artefact, self.names.member, object], ..place.clone() };
        self.diagnostics.push(Diagnostic::new(code, place.to_string(), detail));
    }

    /// One object: a library, an object file, or a bare piece of device code.
    fn object<S: ByteStream>(&mut self, object: &str, base: u64, format: Option<Format>, stream: &mut S) {
        if stream.window().get(..4) == Some(&OLD_FATBIN_MAGIC.to_le_bytes()) {
            self.say(Code::OldFatbin, &Place { path: ["", "", object], offset: Some(0), ..Place::default() }, "");
        }
        let mut harvest = Finder::run(stream, format, self.options);
        self.end = self.end.max(stream.position());
        if let Some(slice) = stream.as_slice().filter(|_| self.options.kernels != KernelDepth::None) {
            kernels::read(slice, &mut harvest.modules, self.options);
        }
        let is_host = matches!(format, Some(Format::Elf | Format::Pe | Format::Coff | Format::MachO));
        // a library without device code needs no names
        let worth = !harvest.modules.is_empty() || harvest.empty_fatbins > 0 || !harvest.issues.is_empty();
        let places: Vec<u64> = harvest.runtimes.iter().map(|(place, _)| *place).collect();
        let (layout, needed) = match format {
            Some(format) if is_host && worth => layout_of(format, stream, &harvest.names, &places),
            _ => (None, Vec::new()),
        };
        let majors = harvest.runtimes.iter().filter(|(place, _)| needed.contains(place)).map(|(_, major)| *major);
        self.runtime = self.runtime.max(majors.max());
        if is_host {
            if worth && layout.as_ref().is_none_or(|layout| layout.damaged) {
                let place = Place { path: ["", "", object], ..Place::default() };
                self.say(Code::SectionTable, &place, "");
            }
            label::label(&mut harvest.modules, layout.as_ref(), &harvest.wrappers);
        } else if format.is_none() {
            harvest.modules.iter_mut().for_each(|module| module.section = None);
        }
        if self.machine.is_none() {
            self.machine = layout.as_ref().and_then(|layout| layout.machine);
        }
        self.foreign(object, &harvest.modules, layout.as_ref());
        for Issue { code, offset, image, detail } in harvest.issues {
            let section = offset.and_then(|at| layout.as_ref()?.section_at(at)).map(|section| section.name.as_str());
            self.say(code, &Place { path: ["", "", object], section, offset, image }, &detail);
        }
        harvest.modules.iter_mut().for_each(|module| module.base = base);
        if !object.is_empty() {
            harvest.modules.iter_mut().for_each(|module| module.object = Some(object.into()));
        }
        self.modules.append(&mut harvest.modules);
        self.empty = self.empty.saturating_add(harvest.empty_fatbins);
    }

    /// Says once that code of another vendor is here.
    fn foreign(&mut self, object: &str, modules: &[Module], layout: Option<&Layout>) {
        let bundles = modules.iter().filter(|module| module.source == Source::OffloadBundle);
        let mut targets: Vec<&str> = bundles
            .clone()
            .flat_map(|module| &module.images)
            .map(|image| image.foreign.as_deref().unwrap_or("targets unknown: the bundle is compressed"))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        let section = layout.and_then(|layout| label::foreign_sections(layout).next());
        let detail = match (bundles.count(), section) {
            (0, None) => return,
            (0, Some(section)) => format!("section `{section}`"),
            (1, _) => format!("1 offload bundle ({})", targets.join(", ")),
            (count, _) => format!("{count} offload bundles ({})", targets.join(", ")),
        };
        self.say(Code::OtherVendor, &Place { path: ["", "", object], ..Place::default() }, &detail);
    }

    /// A static library: every object by itself.
    fn archive<S: ByteStream>(&mut self, stream: &mut S) {
        let mut walk = ArchiveWalk::new();
        while let Some(step) = walk.next(stream) {
            match step {
                Ok(member) => {
                    let mut object = Bounded::new(stream, member.size);
                    object.fill(SNIFF_SIZE);
                    let window = object.window();
                    let format = Format::sniff(window.get(..SNIFF_SIZE).unwrap_or(window));
                    self.object(&member.name, member.offset, format, &mut object);
                }
                Err(error) => {
                    let place = Place { offset: Some(error.offset), ..Place::default() };
                    self.say(Code::ArchiveHeader, &place, "");
                    self.object("", error.offset, None, &mut Bounded::new(stream, u64::MAX));
                }
            }
        }
    }

    /// A universal Mach-O file: every slice by itself, named by its machine.
    fn universal<S: ByteStream>(&mut self, stream: &mut S) {
        for slice in universal(stream.window()) {
            let gap = slice.offset.saturating_sub(stream.position());
            if stream.skip(gap) < gap {
                break;
            }
            let name = format!("slice@{:#x}", slice.offset);
            let mut object = Bounded::new(stream, slice.size);
            object.fill(SNIFF_SIZE);
            let format = Format::sniff(object.window());
            self.object(&name, slice.offset, format, &mut object);
            let left = slice.offset.saturating_add(slice.size).saturating_sub(stream.position());
            stream.skip(left);
        }
        stream.skip(u64::MAX);
    }

    /// A file that is one piece of intermediate code and names no architecture.
    fn raw<S: ByteStream>(&mut self, format: Format, stream: &mut S) {
        let size = stream.skip(u64::MAX);
        let (kind, linkage) = match format {
            Format::LtoIr => (CodeKind::LtoIr, Linkage::Relocatable),
            _ => (CodeKind::TileIr, Linkage::Loadable),
        };
        let image = Image { linkage, ..Image::bare(kind, 0, size) };
        self.modules.push(Module::new(Source::Raw, 0, vec![image]));
    }

    fn finish(mut self, format: Option<Format>, size: u64) -> Scanned {
        if self.hidden > 0 {
            let place = Place { path: [self.names.artefact, self.names.member, ""], ..Place::default() };
            let detail = format!("{} more", self.hidden);
            self.diagnostics.push(Diagnostic::new(Code::LimitDiagnostics, place.to_string(), &detail));
        }
        let found = !self.modules.is_empty() || self.empty > 0;
        if format.is_none() {
            let place = Place { path: [self.names.artefact, self.names.member, ""], ..Place::default() };
            let code = match size {
                0 => Code::EmptyFile,
                _ if promises(self.names.member) => Code::NameMismatch,
                _ => Code::UnknownFormat,
            };
            self.diagnostics.push(Diagnostic::new(code, place.to_string(), ""));
        }
        let member = found.then(|| Member {
            path: self.names.member.to_owned(),
            format: format.map_or("unknown", Format::name),
            machine: self.machine,
            runtime: self.runtime,
            size,
            packed: None,
            entry: None,
            modules: self.modules,
            empty_fatbins: self.empty,
        });
        Scanned { member, is_candidate: true, diagnostics: self.diagnostics }
    }
}

/// Whether a file has the name of a shared library.
fn is_library(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let ending = [".so", ".dll", ".pyd", ".dylib"].iter().any(|ending| file.ends_with(ending));
    ending || file.contains(".so.")
}

/// Whether the name of a file promises a format that would have been recognised.
fn promises(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let known = ["whl", "zip", "so", "dll", "pyd", "exe", "a", "lib", "o", "obj", "dylib", "fatbin", "cubin"];
    extension.is_some_and(|extension| known.contains(&extension.as_str())) || is_library(name)
}
