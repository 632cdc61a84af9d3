//! Archives with a table of their members, and archives in them.

use core::ops::ControlFlow;
use std::collections::HashMap;

use fatscan_containers::{
    ByteStream, Checked, Fault, Format, MemberDoubt, SNIFF_SIZE, Source, Windows, Zip, ZipDoubt, ZipMember, ZipMethod,
};

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::forward::{Found, Walker};
use crate::locator::{Locator, Place, Step};
use crate::model::{Artefact, ArtefactKind, Unread, Why};
use crate::object::{self, Leaf};
use crate::open::{self, OpenError, Opening, What};
use crate::parallel;
use crate::run::{Allowance, Run};
use crate::scan::{Take, artefact};

/// Files of these names are unpacked by somebody, whatever they begin with.
const NAMES: [&str; 9] = [".whl", ".zip", ".egg", ".jar", ".nupkg", ".pyz", ".pex", ".xpi", ".apk"];
/// What deflate makes of a byte at the most.
const DEFLATE: u64 = 1032;
/// Unpacked bytes that are free of the limit of the ratio.
const FREE: u64 = 1 << 30;
/// Bytes of an end record without a comment.
const END_SIZE: u64 = 22;

/// Whether a file is an archive: by its first bytes, or because an unpacker would find one at its end.
pub(crate) fn is_one(what: What, source: &dyn Source, at: &Locator) -> bool {
    let name = at.file_name().to_ascii_lowercase();
    match what {
        What::Table => true,
        What::Unread(_) => false,
        What::Package(_) | What::Compressed(_) if !NAMES.iter().any(|ending| name.ends_with(ending)) => false,
        What::Package(_) | What::Compressed(_) => Zip::ends_as_one(source),
        What::Unknown => Zip::ends_as_one(source),
        What::Format(_) if NAMES.iter().any(|ending| name.ends_with(ending)) => Zip::ends_as_one(source),
        // a program that carries its files behind it
        What::Format(Format::Elf | Format::Pe | Format::MachO) => {
            let end = source.len().saturating_sub(END_SIZE);
            source.bytes(end, 4).is_ok_and(|bytes| bytes == b"PK\x05\x06") && Zip::ends_as_one(source)
        }
        What::Format(_) => false,
    }
}

fn is_wheel(at: &Locator) -> bool {
    at.file_name().to_ascii_lowercase().ends_with(".whl")
}

fn is_conda(at: &Locator) -> bool {
    at.file_name().to_ascii_lowercase().ends_with(".conda")
}

/// Whether a member is what a package of conda installs.
fn is_payload(archive: &Locator, name: &[u8]) -> bool {
    is_conda(archive) && name.starts_with(b"pkg-") && !name.contains(&b'/')
}

fn kind(at: &Locator) -> ArtefactKind {
    match () {
        () if is_wheel(at) => ArtefactKind::Wheel,
        () if is_conda(at) => ArtefactKind::Package,
        () => ArtefactKind::Zip,
    }
}

/// Scans an archive that is a file of its own.
pub(crate) fn scan(run: &Run, source: &dyn Source, at: &Locator, take: &mut dyn Take) -> ControlFlow<()> {
    let shown = artefact(at.clone(), kind(at), source.len());
    let mut room = room(run, source.len());
    let windows = windows(run, take);
    let inner = Nested { run, source, at, shown: &shown, held: run.limits().held_bytes };
    inner.whole(&windows, &mut room, take)
}

/// Bytes that a file of `size` bytes may unpack to.
pub(crate) fn room(run: &Run, size: u64) -> u64 {
    size.saturating_mul(run.limits().ratio).saturating_add(FREE)
}

/// The memory for the decoders of one file.
pub(crate) fn windows(run: &Run, take: &dyn Take) -> Windows {
    Windows::new(run.limits().window_bytes, run.pool.current_num_threads(), take.forward().is_exact)
}

/// Opens an archive at `at` in `source`, a file that is none itself; what is in it belongs to `shown`, unless it is a
/// package. Returns how many native files are without device code.
pub(crate) fn nested(
    run: &Run,
    source: &dyn Source,
    at: &Locator,
    shown: &Artefact,
    take: &mut dyn Take,
) -> ControlFlow<(), u64> {
    let mut room = room(run, source.len());
    let windows = windows(run, take);
    let outer = at.root_file();
    Nested { run, source, at: &outer, shown, held: run.limits().held_bytes }.nested(at, None, &windows, &mut room, take)
}

/// What an inner archive holds: of a wheel or a package an artefact of its own, else members of the one around it. Returns
/// how many of those native files are without device code.
pub(crate) fn inside(
    inner: &Nested<'_>,
    windows: &Windows,
    room: &mut u64,
    take: &mut dyn Take,
) -> ControlFlow<(), u64> {
    if (is_wheel(inner.at) || is_conda(inner.at)) && *inner.at != inner.shown.at {
        let shown = artefact(inner.at.clone(), kind(inner.at), inner.source.len());
        Nested { shown: &shown, ..*inner }.whole(windows, room, take)?;
        return ControlFlow::Continue(0);
    }
    inner.members(windows, room, take)
}

/// An archive that is open.
#[derive(Clone, Copy)]
pub(crate) struct Nested<'a> {
    pub(crate) run: &'a Run,
    /// The archive.
    pub(crate) source: &'a dyn Source,
    /// Where it is.
    pub(crate) at: &'a Locator,
    /// What its members belong to.
    pub(crate) shown: &'a Artefact,
    /// Bytes of archives that may still be held.
    pub(crate) held: u64,
}

/// A member to look at.
struct Job<'a> {
    member: &'a ZipMember,
    /// Its place in the table: where it is in words is made only for those that are read.
    index: usize,
    /// There is no room for what it unpacks to.
    is_over: bool,
    /// Its hash in `RECORD`.
    hash: Option<&'a [u8; 32]>,
}

impl Job<'_> {
    const fn weight(&self) -> u64 {
        // what states no size may be anything
        if self.member.size == u64::MAX { self.member.data.1 } else { self.member.size }
    }
}

impl Nested<'_> {
    /// The archive as an artefact.
    fn whole(&self, windows: &Windows, room: &mut u64, take: &mut dyn Take) -> ControlFlow<()> {
        take.begin(self.shown)?;
        let without = self.members(windows, room, take)?;
        take.end(&Artefact { members_without_code: without, ..self.shown.clone() })
    }

    /// Its members, then the archives in it. Returns how many native files are without device code.
    fn members(&self, windows: &Windows, room: &mut u64, take: &mut dyn Take) -> ControlFlow<(), u64> {
        let run = self.run;
        let zip = Zip::list(self.source, run.limits());
        let mut without = 0u64;
        let said = Leaf { diagnostics: self.doubts(&zip), ..Leaf::default() };
        take.leaf(self.shown, said, &|_| Leaf { diagnostics: self.doubts(&zip), ..Leaf::default() })?;
        if let Some(leaf) = self.prefix(&zip, take.allowance()) {
            without = without.saturating_add(u64::from(leaf.member.is_none()));
            take.leaf(self.shown, leaf, &|allowance| self.prefix(&zip, allowance).unwrap_or_default())?;
        }
        let record = match self.record(&zip) {
            Ok(record) => record,
            Err(size) => {
                let say = || {
                    let detail = format!("RECORD of {size} bytes, so that no hash was compared");
                    Leaf::saying(Diagnostic::new(Code::LimitTable, self.at.clone(), detail))
                };
                take.leaf(self.shown, say(), &|_| say())?;
                HashMap::new()
            }
        };
        let jobs = self.jobs(&zip, &record, room);
        let sizes = jobs.iter().filter(|job| !job.is_over && !job.member.encrypted && job.member.size != u64::MAX);
        run.progress.expect(sizes.map(|job| job.member.size).fold(0, u64::saturating_add));
        let mut nested = Vec::new();
        let mut done = |index: usize, leaf: Leaf, take: &mut dyn Take| {
            let Some(job) = jobs.get(index) else { return ControlFlow::Continue(()) };
            without =
                without.saturating_add(u64::from(leaf.is_candidate && leaf.member.is_none() && leaf.nested.is_empty()));
            nested.extend(leaf.nested.iter().cloned());
            take.leaf(self.shown, leaf, &|allowance| self.leaf(job, allowance))
        };
        let allowance = take.allowance();
        if allowance.is_exact {
            for (index, job) in jobs.iter().enumerate() {
                let leaf = self.leaf(job, take.allowance());
                done(index, leaf, take)?;
            }
        } else if take.is_live() {
            let work = |job: &Job<'_>| self.leaf(job, allowance);
            parallel::ordered(&run.pool, &jobs, Job::weight, work, |index, leaf| done(index, leaf, take))?;
        } else {
            let leaves = parallel::each(&jobs, Job::weight, || (), |(), job| self.leaf(job, allowance));
            for (index, leaf) in leaves.into_iter().enumerate() {
                done(index, leaf, take)?;
            }
        }
        for at in nested {
            without = without.saturating_add(self.nested(&at, Some(&zip), windows, room, take)?);
        }
        ControlFlow::Continue(without)
    }

    /// Opens an archive or a compressed file in this one; `at` is where. Returns how many native files of this artefact in it
    /// are without device code.
    fn nested(
        &self,
        at: &Locator,
        zip: Option<&Zip>,
        windows: &Windows,
        room: &mut u64,
        take: &mut dyn Take,
    ) -> ControlFlow<(), u64> {
        let run = self.run;
        let steps = at.steps.get(self.at.steps.len()..).unwrap_or_default();
        let is_payload = matches!(steps, [Step { name, .. }] if is_payload(self.at, name));
        let mut flow = ControlFlow::Continue(());
        let mut found = Found::default();
        let opening = Opening { limits: run.limits(), held: self.held, windows };
        let opened = open::with_stream(self.source, zip, steps, opening, &mut |stream, held| {
            let mut walker = Walker { run, shown: self.shown, held, room, windows, take, found: Found::default() };
            stream.fill(1);
            let refused = stream.fault().filter(|fault| *fault == Fault::Window && stream.window().is_empty());
            if refused.is_none() {
                flow = if is_payload { walker.payload(at, stream) } else { walker.file(at, stream, false) };
                if walker.found.opened && !run.is_cancelled() {
                    // what is behind the end counts for the checksum
                    stream.skip(u64::MAX);
                }
            }
            let fault = stream.fault().filter(|_| refused.is_some() || walker.found.opened);
            if let Some(fault) = fault.filter(|_| flow.is_continue()) {
                flow = walker.fault(at, fault);
            }
            found = walker.found;
        });
        flow?;
        if run.is_cancelled() {
            return ControlFlow::Break(());
        }
        // what is compressed in it has checksums of its own, the archive's is that of the whole
        let stored = match (zip, steps) {
            (Some(zip), [Step { place: Place::Member(index), .. }]) => zip.members.get(*index),
            _ => None,
        };
        let stored = stored.filter(|member| member.method == ZipMethod::Stored && found.opened);
        let differs = stored.is_some_and(|member| {
            let (offset, length) = member.data;
            let bytes = Checked::new(self.source.stream(offset, length), member.checksum.is_some(), false);
            bytes.finish().0 != member.checksum
        });

        let leaf = || match &opened {
            Ok(()) if differs => {
                Leaf::saying(Diagnostic::new(Code::MemberDamaged, at.clone(), Fault::Checksum.to_string()))
            }
            Ok(()) => Leaf::default(),
            Err(OpenError::Unread(why)) => Leaf::unread(at, why.clone(), false),
            Err(OpenError::Changed) => Leaf::saying(Diagnostic::new(Code::Changed, at.clone(), "")),
        };
        take.leaf(self.shown, leaf(), &|_| leaf())?;
        ControlFlow::Continue(found.without)
    }

    /// What is odd about the archive.
    fn doubts(&self, zip: &Zip) -> Vec<Diagnostic> {
        let at = || self.at.clone();
        // a part of something that was never a package, in somebody's tests
        let is_data = open::is_data_beside(self.at)
            && !zip.members.iter().any(|member| open::promises(&String::from_utf8_lossy(&member.name)));
        let broken = |code, detail| {
            let said = Diagnostic::new(code, at(), detail);
            if is_data { said.weighed(Level::Warning) } else { said }
        };
        let found = zip.doubts.iter().map(|doubt| match doubt {
            ZipDoubt::NoDirectory => broken(Code::ZipDirectory, format!("{} members found", zip.members.len())),
            ZipDoubt::DirectoryCut(count) => broken(Code::ZipDirectoryCut, format!("after {count} entries")),
            ZipDoubt::TooMany => {
                Diagnostic::new(Code::LimitMembers, at(), format!("{} members", self.run.limits().entries))
            }
            ZipDoubt::DirectoryLarge(size) => {
                Diagnostic::new(Code::LimitTable, at(), format!("a directory of {size} bytes"))
            }
            ZipDoubt::TwoEnds => Diagnostic::new(
                Code::ZipAmbiguous,
                at(),
                "a second end record stands behind the first, or it ends early",
            ),
            ZipDoubt::DirectoryPlace => {
                Diagnostic::new(Code::ZipAmbiguous, at(), "size and offset of its directory disagree")
            }
            ZipDoubt::Prefix(size) => self.before(*size),
            _ => Diagnostic::new(Code::ZipAmbiguous, at(), ""),
        });
        found.collect()
    }

    /// What stands before an archive: a script or program unpacks it, anything else, another archive among them, makes it two
    /// files at once, and a wheel has nothing there.
    fn before(&self, size: u64) -> Diagnostic {
        let prefix = self.source.bytes(0, SNIFF_SIZE).unwrap_or_default();
        let what = open::what(&prefix);
        let is_program = matches!(what, What::Format(Format::Elf | Format::Pe | Format::MachO) | What::Unknown);
        let what = match what {
            What::Format(format) => format!(" of {}", format.name()),
            What::Table | What::Package(_) | What::Compressed(_) | What::Unread(_) => " of another archive".to_owned(),
            What::Unknown => String::new(),
        };
        let detail = format!("{size} bytes{what} stand before its first member");
        if is_program && !is_wheel(self.at) {
            return Diagnostic::new(Code::ZipPrefix, self.at.clone(), detail).weighed(Level::Note);
        }
        Diagnostic::new(Code::ZipAmbiguous, self.at.clone(), detail)
    }

    /// The code in what stands before an archive.
    fn prefix(&self, zip: &Zip, allowance: Allowance) -> Option<Leaf> {
        let size = zip.doubts.iter().find_map(|doubt| match doubt {
            ZipDoubt::Prefix(size) => Some(*size),
            _ => None,
        })?;
        // what begins as an archive is the archive
        let begins = Format::sniff(&self.source.bytes(0, SNIFF_SIZE).unwrap_or_default());
        if begins == Some(Format::Zip) {
            return None;
        }
        let at = self.at.inside(*b"(before the archive)", Place::Part { offset: 0, size });
        let mut leaf = object::scan(self.run, &at, &mut *self.source.stream(0, size), false, allowance);
        if let Some(member) = &mut leaf.member {
            member.path = "(before the archive)".to_owned();
        }
        leaf.is_candidate.then_some(leaf)
    }

    /// The members by name; those that would unpack to more than there is room for, counted in the order of the table, are
    /// not looked at.
    fn jobs<'z>(&self, zip: &'z Zip, record: &'z HashMap<Vec<u8>, [u8; 32]>, room: &mut u64) -> Vec<Job<'z>> {
        let wanted = zip.members.iter().enumerate().filter(|(_, member)| !self.run.excludes(&member.name));
        let jobs = wanted.map(|(index, member)| {
            // whatever is stated, deflated bytes make no more
            let packed = matches!(member.method, ZipMethod::Packed(_));
            let most = if packed { member.size } else { member.size.min(member.data.1.saturating_mul(DEFLATE)) };
            let left = if member.encrypted { Some(*room) } else { room.checked_sub(most) };
            *room = left.unwrap_or(*room);
            Job { member, index, is_over: left.is_none(), hash: record.get(&*member.name) }
        });
        let mut jobs: Vec<Job<'z>> = jobs.collect();
        // those of one name stay in the order of the table
        jobs.sort_by(|a, b| a.member.name.cmp(&b.member.name));
        jobs
    }

    fn leaf(&self, job: &Job<'_>, allowance: Allowance) -> Leaf {
        let at = self.at.inside(&*job.member.name, Place::Member(job.index));
        let mut leaf = self.read(job, &at, allowance);
        let detail = match job.member.doubt {
            Some(MemberDoubt::NameCut) => "its name ends at a NUL, as installers cut it",
            Some(MemberDoubt::LocalName) => "its own header has another name than the directory",
            Some(MemberDoubt::LocalSizes) => {
                "its own header states another method, size or checksum than the directory"
            }
            // of two texts it is nobody's concern here
            Some(MemberDoubt::SameName) if leaf.is_candidate => {
                "another member with other bytes is unpacked to the same path"
            }
            _ => "",
        };
        if !detail.is_empty() {
            leaf.diagnostics.push(Diagnostic::new(Code::MemberAmbiguous, at.clone(), detail));
        }
        if let Some(found) = &mut leaf.member {
            found.path = at.names(self.shown.at.steps.len());
            found.packed = Some(job.member.data.1);
        }
        leaf
    }

    fn read(&self, job: &Job<'_>, at: &Locator, allowance: Allowance) -> Leaf {
        let (run, member) = (self.run, job.member);
        let saying = |code, detail: &str| Leaf::saying(Diagnostic::new(code, at.clone(), detail));
        match member.doubt {
            Some(MemberDoubt::Missing) => return saying(Code::ZipMemberMissing, ""),
            Some(MemberDoubt::Overlap) => return saying(Code::MemberOverlap, ""),
            _ => {}
        }
        if matches!(member.method, ZipMethod::Packed(_)) && !job.is_over && !member.encrypted {
            // its decoder takes memory that is not shared out among the threads
            return Leaf { nested: vec![at.clone()], is_candidate: true, ..Leaf::default() };
        }
        let windows = Windows::new(0, 1, false);
        let opened = if job.is_over {
            Err(Why::OverBudget("ratio"))
        } else {
            open::member(self.source, member, run.limits(), &windows)
        };
        let stream = match opened {
            Ok(stream) => stream,
            Err(why) => {
                let mut leaf = match &why {
                    Why::Encrypted => saying(Code::Encrypted, ""),
                    Why::Method(method) => saying(Code::ZipMethod, method),
                    Why::OverBudget("member_bytes") => saying(Code::LimitBytes, &format!("{} bytes", member.size)),
                    _ => return Leaf::unread(at, why, false),
                };
                leaf.unread.push(Unread { at: at.clone(), why });
                return leaf;
            }
        };
        let mut stream = open::checked(stream, member, job.hash.is_some());
        let mut leaf = object::scan(run, at, &mut stream, false, allowance);
        if leaf.nested.is_empty() && leaf.unread.is_empty() && !leaf.put_off && is_payload(self.at, &member.name) {
            let unknown = Leaf::unread(at, Why::Unsupported("a payload of an unknown kind"), false);
            leaf.diagnostics.extend(unknown.diagnostics);
            leaf.unread.extend(unknown.unread);
        }
        if !leaf.is_candidate {
            run.progress.advance(member.size);
            return leaf;
        }
        if !leaf.nested.is_empty() || leaf.put_off || run.is_cancelled() {
            return leaf;
        }
        let fault = stream.fault();
        let (checksum, hash) = stream.finish();
        let mut say = |code, detail: &str| leaf.diagnostics.push(Diagnostic::new(code, at.clone(), detail));
        if member.method == ZipMethod::Stored && member.size != u64::MAX && member.size != member.data.1 {
            say(Code::MemberDamaged, &format!("{} bytes are stored, {} are stated", member.data.1, member.size));
        } else if checksum.is_some() && checksum != member.checksum {
            say(Code::MemberDamaged, "member does not have the checksum that the archive states");
        } else if fault.is_none() && job.hash.zip(hash.as_ref()).is_some_and(|(stated, own)| stated != own) {
            say(Code::RecordHash, "");
        }
        leaf
    }

    /// The hashes that the wheel's `RECORD` states, by path, where they are to be compared; its size if it is too large.
    fn record(&self, zip: &Zip) -> Result<HashMap<Vec<u8>, [u8; 32]>, u64> {
        let options = &self.run.options;
        if !(options.hashes || options.verify) || !is_wheel(self.at) {
            return Ok(HashMap::new());
        }
        let is_record = |member: &&ZipMember| {
            let folder = member.name.strip_suffix(b".dist-info/RECORD");
            folder.is_some_and(|folder| !folder.contains(&b'/')) && member.is_there()
        };
        let limit = options.limits.table_bytes;
        let Some(member) = zip.members.iter().find(is_record) else { return Ok(HashMap::new()) };
        if member.size > limit {
            return Err(member.size);
        }
        // one that cannot be opened is told of as a member
        let windows = Windows::new(options.limits.window_bytes, self.run.pool.current_num_threads(), false);
        let opened = open::member(self.source, member, &options.limits, &windows);
        let Ok(mut stream) = opened else { return Ok(HashMap::new()) };
        stream.fill(usize::try_from(member.size).unwrap_or(0));
        let rows = stream.window().split(|byte| *byte == b'\n').filter_map(row);
        Ok(rows.collect())
    }
}

/// A row of `RECORD`: path, `sha256=` and the hash in URL-safe base64 without padding, size. A path with a comma is quoted.
fn row(line: &[u8]) -> Option<(Vec<u8>, [u8; 32])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut fields = line.rsplitn(3, |byte| *byte == b',');
    let (_, hash, path) = (fields.next()?, fields.next()?, fields.next()?);
    let path = match path.strip_prefix(b"\"").and_then(|path| path.strip_suffix(b"\"")) {
        Some(quoted) => {
            quoted.split(|byte| *byte == b'"').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&b'"')
        }
        None => path.to_vec(),
    };
    Some((path, base64(hash.strip_prefix(b"sha256=")?)?))
}

/// 32 bytes from 43 characters.
fn base64(text: &[u8]) -> Option<[u8; 32]> {
    let mut bytes = Vec::with_capacity(33);
    let (mut bits, mut number) = (0u32, 0u32);
    for byte in text.iter().filter(|byte| **byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte.checked_sub(b'A')?,
            b'a'..=b'z' => byte.checked_sub(b'a')?.checked_add(26)?,
            b'0'..=b'9' => byte.checked_sub(b'0')?.checked_add(52)?,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        number = (number << 6) | u32::from(digit);
        bits = bits.checked_add(6)?;
        if bits >= 8 {
            bits = bits.checked_sub(8)?;
            bytes.push(u8::try_from((number >> bits) & 0xff).ok()?);
        }
        if bytes.len() > 32 {
            return None;
        }
    }
    bytes.try_into().ok()
}
