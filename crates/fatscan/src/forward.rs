//! Archives and packages that are read forward, and compressed files: one pass over each, whatever is in it.

use core::hash::{BuildHasher, Hash, Hasher};
use core::ops::ControlFlow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;

use fatscan_containers::{
    ArchiveWalk, Bounded, ByteStream, Codec, CpioWalk, Damage, Entry, EntryKind, Expected, Fault, Onward, Package,
    Part, SCRIPT_SIZE, SNIFF_SIZE, TarWalk, Windows, parts, rpm_payload, script_payload,
};

use crate::archive;
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::locator::{Locator, Place};
use crate::model::{Artefact, ArtefactKind, Why};
use crate::object::{self, Leaf};
use crate::open::{self, OpenError, What};
use crate::run::Run;
use crate::scan::{Take, artefact};

/// Opens what it meets, file by file, and hands on what is in it.
pub(crate) struct Walker<'a> {
    pub(crate) run: &'a Run,
    /// What the files belong to.
    pub(crate) shown: &'a Artefact,
    /// Bytes of archives that may still be held.
    pub(crate) held: u64,
    /// Bytes that may still be unpacked.
    pub(crate) room: &'a mut u64,
    /// The memory of decoders.
    pub(crate) windows: &'a Windows,
    pub(crate) take: &'a mut dyn Take,
    pub(crate) found: Found,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Files with device code.
    pub(crate) members: u64,
    /// Native files without.
    pub(crate) without: u64,
    /// Something was not read.
    pub(crate) unread: bool,
    /// There was something to open or to search: not only data.
    pub(crate) opened: bool,
    /// It was said that a stream is damaged.
    damage_said: bool,
}

impl Found {
    const fn natives(&self) -> u64 {
        self.members.saturating_add(self.without)
    }
}

/// What a file that is unpacked must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Anything.
    Any,
    /// Anything, and it was given by name.
    Given,
    /// An archive.
    Archive,
}

impl Content {
    const fn file(explicit: bool) -> Self {
        if explicit { Self::Given } else { Self::Any }
    }
}

/// The next entry of an archive.
type Next<'w> = dyn FnMut(&mut dyn ByteStream) -> Option<Result<Entry, Damage>> + 'w;

impl Walker<'_> {
    /// A file, whatever it is. One of unknown format is searched only if it was given by name (`explicit`).
    pub(crate) fn file(&mut self, at: &Locator, stream: &mut dyn ByteStream, explicit: bool) -> ControlFlow<()> {
        match open::what_starts(stream) {
            What::Table => self.table(at, stream),
            What::Package(package) => self.package(at, package, stream),
            What::Compressed(_) => self.content(at, 0, stream, Content::file(explicit)),
            _ => self.leaf(at, stream, explicit),
        }
    }

    /// A file that is no archive.
    fn leaf(&mut self, at: &Locator, stream: &mut dyn ByteStream, explicit: bool) -> ControlFlow<()> {
        let mut leaf = object::scan(self.run, at, stream, explicit, self.take.forward());
        for at in core::mem::take(&mut leaf.nested) {
            let inner = Leaf::unread(&at, Why::Unsupported("an archive in a static library in a stream"), false);
            leaf.diagnostics.extend(inner.diagnostics);
            leaf.unread.extend(inner.unread);
        }
        if leaf.member.is_none() && !leaf.is_candidate && !self.found.opened && open::is_data_beside(at) {
            let broken = leaf.diagnostics.iter_mut().filter(|said| said.code == Code::MemberDamaged);
            broken.for_each(|said| said.level = Level::Warning);
        }
        if let Some(member) = &mut leaf.member {
            let is_itself = self.shown.kind == ArtefactKind::File;
            member.path = if is_itself { self.shown.at.file_name() } else { at.names(self.shown.at.steps.len()) };
        }
        let found = &mut self.found;
        found.members = found.members.saturating_add(u64::from(leaf.member.is_some()));
        found.without = found.without.saturating_add(u64::from(leaf.member.is_none() && leaf.is_candidate));
        found.unread |= !leaf.unread.is_empty();
        found.opened |= leaf.is_candidate;
        found.damage_said |= leaf.diagnostics.iter().any(|said| said.code == Code::MemberDamaged);
        self.give(leaf)
    }

    /// Hands on what cannot be made again: it was made with all that there is left.
    fn give(&mut self, leaf: Leaf) -> ControlFlow<()> {
        self.take.leaf(self.shown, leaf, &|_| Leaf::default())
    }

    fn say(&mut self, code: Code, at: Locator, detail: impl Into<String>) -> ControlFlow<()> {
        self.give(Leaf::saying(Diagnostic::new(code, at, detail)))
    }

    fn unread(&mut self, at: &Locator, why: Why) -> ControlFlow<()> {
        self.found.unread = true;
        let is_whole = at == &self.shown.at && self.shown.kind == ArtefactKind::File;
        self.give(Leaf::unread(at, why, is_whole))
    }

    /// The same for what belongs to another artefact.
    fn within<'b>(&'b mut self, shown: &'b Artefact) -> Walker<'b> {
        Walker {
            run: self.run,
            shown,
            held: self.held,
            room: self.room,
            windows: self.windows,
            take: self.take,
            found: Found::default(),
        }
    }

    /// An archive with a table of its members, which must be at hand as a whole.
    fn table(&mut self, at: &Locator, stream: &mut dyn ByteStream) -> ControlFlow<()> {
        if open::depth(at) >= self.run.limits().depth {
            return self.unread(at, Why::TooDeep);
        }
        self.found.opened = true;
        let held = self.held;
        let mut flow = ControlFlow::Continue(0);
        let opened = open::with_archive(stream, held, &mut |source, used| {
            let inner =
                archive::Nested { run: self.run, source, at, shown: self.shown, held: held.saturating_sub(used) };
            flow = archive::inside(&inner, self.windows, self.room, self.take);
        });
        let ControlFlow::Continue(without) = flow else { return ControlFlow::Break(()) };
        self.found.without = self.found.without.saturating_add(without);
        match opened {
            Ok(()) => match stream.fault() {
                Some(fault) => self.fault(at, fault),
                None => ControlFlow::Continue(()),
            },
            Err(OpenError::Unread(why)) => self.unread(at, why),
            Err(OpenError::Changed) => self.say(Code::Changed, at.clone(), ""),
        }
    }

    /// An archive or a package that is read forward.
    fn package(&mut self, at: &Locator, package: Package, stream: &mut dyn ByteStream) -> ControlFlow<()> {
        if open::depth(at) >= self.run.limits().depth {
            return self.unread(at, Why::TooDeep);
        }
        self.found.opened = true;
        if !matches!(package, Package::Deb | Package::Rpm) || *at == self.shown.at {
            return self.entries_of(at, package, stream);
        }
        // a package of its own, as a wheel is
        let mut shown = artefact(at.clone(), ArtefactKind::Package, 0);
        self.take.begin(&shown)?;
        let mut inner = self.within(&shown);
        inner.entries_of(at, package, stream)?;
        let found = inner.found;
        self.found.damage_said |= found.damage_said;
        shown.members_without_code = found.without;
        shown.size = stream.position();
        self.take.end(&shown)
    }

    fn entries_of(&mut self, at: &Locator, package: Package, stream: &mut dyn ByteStream) -> ControlFlow<()> {
        let limits = self.run.limits();
        let names = limits.table_bytes / NAMES;
        if stream.is_packed() {
            return self.walk(at, package, &mut Onward::new(stream, limits.reread_bytes), names);
        }
        self.walk(at, package, stream, names)
    }

    fn walk(&mut self, at: &Locator, package: Package, stream: &mut dyn ByteStream, names: u64) -> ControlFlow<()> {
        let count = usize::try_from(names).unwrap_or(usize::MAX);
        match package {
            Package::Tar => {
                let mut walk = TarWalk::new(names);
                self.entries(at, stream, &mut |stream| walk.next(stream), true)
            }
            Package::Cpio => {
                let mut walk = CpioWalk::new(count);
                self.entries(at, stream, &mut |stream| walk.next(stream), true)
            }
            Package::Deb => {
                let mut walk = ArchiveWalk::new(count);
                let mut next = |stream: &mut dyn ByteStream| {
                    let part = walk.next(stream)?;
                    Some(part.map(|part| Entry { part, kind: EntryKind::File, ambiguous: false }))
                };
                self.entries(at, stream, &mut next, false)
            }
            Package::Rpm => match rpm_payload(stream) {
                Ok(offset) => self.content(at, offset, stream, Content::Archive),
                Err(damage) => self.damage(at, damage, stream),
            },
            Package::Script => {
                stream.fill(SCRIPT_SIZE);
                let Some(offset) = script_payload(stream.window()) else {
                    return self.unread(at, Why::Unsupported("a script with an archive behind it, of a kind that"));
                };
                stream.skip(offset);
                stream.trim();
                self.content(at, offset, stream, Content::Archive)
            }
        }
    }

    /// What a package installs: an archive, compressed or not.
    pub(crate) fn payload(&mut self, at: &Locator, stream: &mut dyn ByteStream) -> ControlFlow<()> {
        match open::what_starts(stream) {
            What::Package(package) => self.package(at, package, stream),
            _ => self.content(at, 0, stream, Content::Archive),
        }
    }

    /// What stands in a file from `offset` on, where the stream is, compressed or not.
    fn content(
        &mut self,
        at: &Locator,
        offset: u64,
        stream: &mut dyn ByteStream,
        expected: Content,
    ) -> ControlFlow<()> {
        let explicit = expected == Content::Given;
        let name = Codec::inner_name(at.steps.last().map_or(&[], |step| &step.name));
        let inner = at.inside(name, Place::Content { offset });
        if open::depth(&inner) > open::depth(at) && open::depth(&inner) >= self.run.limits().depth {
            return self.unread(at, Why::TooDeep);
        }
        stream.fill(SNIFF_SIZE);
        let Some(codec) = Codec::sniff(stream.window()) else {
            let what = open::what(stream.window());
            if expected == Content::Archive && !matches!(what, What::Package(_) | What::Unread(_)) {
                return self.unread(at, Why::Unsupported("a payload of an unknown kind"));
            }
            return self.file(&inner, &mut Bounded::new(stream, u64::MAX), explicit);
        };
        let most = *self.room;
        let mut content = codec.unpack(&mut *stream, Expected::most(most), self.windows);
        let limit = |fault: Option<Fault>| matches!(fault, Some(Fault::Window | Fault::Ratio));
        let what = open::what_starts(&mut *content);
        let window = content.window();
        let is_unknown = expected == Content::Archive && !matches!(what, What::Package(_) | What::Unread(_));
        if is_unknown && content.fault().is_none() {
            drop(content);
            return self.unread(at, Why::Unsupported("a payload of an unknown kind"));
        }
        let is_refused = window.is_empty() && limit(content.fault());
        if !is_unknown && !is_refused {
            self.found.damage_said = false;
            self.file(&inner, &mut *content, explicit)?;
        }
        if matches!(what, What::Package(_)) && !self.run.is_cancelled() {
            // what is behind the end of an archive has a checksum too
            content.skip(u64::MAX);
        }
        let (fault, used) = (content.fault(), content.position());
        drop(content);
        *self.room = self.room.saturating_sub(used);
        match fault {
            Some(fault) => self.fault(at, fault),
            None => ControlFlow::Continue(()),
        }
    }

    /// Says why a stream ended early.
    pub(crate) fn fault(&mut self, at: &Locator, fault: Fault) -> ControlFlow<()> {
        match fault {
            Fault::Window if self.windows.is_put_off() => self.give(Leaf { put_off: true, ..Leaf::default() }),
            Fault::Window => self.unread(at, Why::OverBudget("window_bytes")),
            Fault::Ratio => self.unread(at, Why::OverBudget("ratio")),
            _ if core::mem::replace(&mut self.found.damage_said, true) => ControlFlow::Continue(()),
            _ => {
                let said = Diagnostic::new(Code::MemberDamaged, at.clone(), fault.to_string());
                // data that nothing was found in, and that is not called otherwise
                let is_data = !self.found.opened && open::is_data_beside(at);
                self.give(Leaf::saying(if is_data { said.weighed(Level::Warning) } else { said }))
            }
        }
    }

    /// The entries of an archive. In one with `files` they are files; else parts that are not named in paths.
    fn entries(
        &mut self,
        at: &Locator,
        stream: &mut dyn ByteStream,
        next: &mut Next<'_>,
        files: bool,
    ) -> ControlFlow<()> {
        let (mut count, mut said) = (0usize, 0usize);
        let mut paths = Paths::default();
        let limits = *self.run.limits();
        while let Some(step) = next(stream) {
            if self.run.is_cancelled() {
                return ControlFlow::Break(());
            }
            match step {
                Ok(_) if count >= limits.entries => {
                    return self.say(Code::LimitMembers, at.clone(), format!("{count} entries"));
                }
                Ok(entry) => {
                    count = count.saturating_add(1);
                    let before = self.found.natives();
                    self.entry(at, &entry, stream, &paths, files)?;
                    let is_native = self.found.natives() > before;
                    if files && paths.replaces(&entry.part.name, is_native) {
                        let place = Place::Entry { offset: entry.part.offset, size: entry.part.size };
                        let detail = "another entry before it is unpacked to the same path";
                        self.say(Code::MemberAmbiguous, at.inside(&*entry.part.name, place), detail)?;
                    }
                }
                Err(damage) => {
                    said = said.saturating_add(1);
                    if said <= limits.diagnostics {
                        self.damage(at, damage, stream)?;
                    }
                }
            }
        }
        let hidden = said.saturating_sub(limits.diagnostics);
        if hidden > 0 {
            let more = Diagnostic::new(Code::LimitDiagnostics, at.clone(), format!("{hidden} more"));
            return self.give(Leaf::saying(more.weighed(Level::Error)));
        }
        ControlFlow::Continue(())
    }

    fn entry(
        &mut self,
        at: &Locator,
        entry: &Entry,
        stream: &mut dyn ByteStream,
        paths: &Paths,
        files: bool,
    ) -> ControlFlow<()> {
        let Part { name, size, offset } = &entry.part;
        let (size, offset) = (*size, *offset);
        let limit = self.run.limits().name_bytes;
        let own = name.get(..limit).unwrap_or(name);
        if files && self.run.excludes(own.strip_prefix(b"./").unwrap_or(own)) {
            return ControlFlow::Continue(());
        }
        let place = if files { Place::Entry { offset, size } } else { Place::Part { offset, size } };
        let here = at.inside(own, place);
        if own.len() < name.len() {
            self.say(Code::LimitText, here.clone(), format!("a name of {} bytes", name.len()))?;
        }
        if entry.ambiguous {
            self.say(Code::MemberAmbiguous, here.clone(), "readers differ in what it is, or in its size")?;
        }
        match &entry.kind {
            EntryKind::File => {
                self.run.progress.expect(size.min(self.run.limits().member_bytes));
                let mut stream = Bounded::new(&mut *stream, size);
                // what a Debian package installs
                if !files && own.starts_with(b"data.tar") {
                    return self.payload(&here, &mut stream);
                }
                self.file(&here, &mut stream, false)
            }
            EntryKind::Link(target) if open::is_library(&here.file_name()) => {
                if !target.is_empty() && !paths.has(target) {
                    return self.unread(&here, Why::Unsupported("a hard link to a file that is not in the archive"));
                }
                let target = String::from_utf8_lossy(target);
                let detail = if target.is_empty() { String::new() } else { format!("a hard link to {target}") };
                self.say(Code::HardLink, here, detail)
            }
            EntryKind::Sparse => self.unread(&here, Why::Unsupported("a sparse file")),
            EntryKind::Link(_) | EntryKind::Other => ControlFlow::Continue(()),
        }
    }

    fn damage(&mut self, at: &Locator, damage: Damage, stream: &dyn ByteStream) -> ControlFlow<()> {
        match damage {
            Damage::Header { offset } => {
                self.say(Code::EntryHeader, Locator { offset: Some(offset), ..at.clone() }, "")
            }
            Damage::Behind { offset } => self.say(
                Code::ZipAmbiguous,
                at.clone(),
                format!("bytes stand behind its end, from about {offset:#x} on"),
            ),
            // a stream that is damaged ends early, and that is said
            Damage::Cut { .. } if stream.fault().is_some() => ControlFlow::Continue(()),
            Damage::Cut { offset } => self.say(Code::FileCut, at.clone(), format!("{offset} bytes are there")),
            Damage::Names { size } => {
                self.say(Code::LimitTable, at.clone(), format!("the name of an entry, of {size} bytes"))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The paths of the entries of an archive, as an unpacker writes them: by their hashes, each with whether something native
/// was there.
#[derive(Debug, Default)]
struct Paths {
    hashes: RandomState,
    seen: HashMap<u64, bool>,
}

impl Paths {
    fn hash(&self, name: &[u8]) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        parts(name).for_each(|part| part.hash(&mut hasher));
        hasher.finish()
    }

    fn has(&self, name: &[u8]) -> bool {
        self.seen.contains_key(&self.hash(name))
    }

    /// Takes note of an entry. Whether it, or what it replaces, is native.
    fn replaces(&mut self, name: &[u8], is_native: bool) -> bool {
        let before = self.seen.insert(self.hash(name), is_native);
        before.is_some_and(|was_native| was_native || is_native)
    }
}

/// A long name may take this part of the limit for tables.
const NAMES: u64 = 4;
