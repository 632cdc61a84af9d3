//! The bytes of images, read again from where the scan found them.

use core::ops::{ControlFlow, Range};
use std::io;

use cubin::Head;
use fatbin::{Entry, EntryHeader};
use fatscan_containers::{ByteStream, FileSource, Limits, Mapping, Source as _, Windows, Zip, open_file};

use crate::locator::{Place, Step};
use crate::model::{CodeKind, Image, Member, Source, Why};
use crate::open::{self, OpenError, Opening};

/// Why an image cannot be extracted.
#[derive(Debug)]
pub enum ExtractError {
    /// The file cannot be read any more.
    Io(io::Error),
    /// The file is not what it was when it was scanned.
    Changed,
    /// The payload does not unpack, or exceeds a limit.
    Payload(fatbin::ErrorKind),
    /// It is a member of a concatenated entry and lies over another one: bytes of the payload are handed out once.
    Overlap,
    /// What holds it is not read any more.
    Unread(Why),
}

impl ExtractError {
    /// The same for another image of the same payload.
    fn again(&self) -> Self {
        match self {
            Self::Payload(kind) => Self::Payload(*kind),
            Self::Overlap => Self::Overlap,
            Self::Unread(why) => Self::Unread(why.clone()),
            Self::Io(_) | Self::Changed => Self::Changed,
        }
    }
}

impl core::fmt::Display for ExtractError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Changed => f.write_str("the file is not what it was when it was scanned"),
            Self::Payload(kind) => write!(f, "{kind}"),
            Self::Overlap => f.write_str("member of a concatenated entry lies over another one"),
            Self::Unread(why) => write!(f, "{why}"),
        }
    }
}

impl core::error::Error for ExtractError {}

/// One image to extract: the module and the image by their indices in the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Index of the module.
    pub module: usize,
    /// Index of the image in it.
    pub image: usize,
}

/// Images of one member.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The member; its locator says where it is.
    pub member: &'a Member,
    /// The images.
    pub wanted: Vec<Wanted>,
}

/// What takes the bytes of an image of a job, by its index, or what went wrong with it. With `Break` it wants no more.
pub type Take<'a> = dyn FnMut(usize, Wanted, Result<&[u8], ExtractError>) -> ControlFlow<()> + 'a;

/// Reads the bytes of images, member by member, and hands each to `take`. With `raw` payloads stay as they are stored: the
/// images of a concatenated entry share theirs. Without, they are unpacked, cubins end at their last table and PTX before
/// its NUL. A file is opened once for all jobs in it that follow each other, a payload is unpacked once for all its images.
///
/// Returns what went wrong with a job as a whole, by its index; what goes wrong with one image is handed to `take`.
pub fn extract(
    jobs: &[Job<'_>],
    raw: bool,
    limits: &Limits,
    mapping: Mapping,
    take: &mut Take<'_>,
) -> Vec<(usize, ExtractError)> {
    let mut failed = Vec::new();
    let mut rest = jobs;
    while let Some((first, _)) = rest.split_first() {
        let path = first.member.at.path();
        let same = rest.iter().take_while(|job| job.member.at.path() == path).count().max(1);
        let start = jobs.len().saturating_sub(rest.len());
        let (own, behind) = rest.split_at_checked(same).unwrap_or((rest, &[]));
        rest = behind;
        match open_file(&path, mapping, 0, |_| true) {
            Ok(Some(source)) => {
                if from_file(&source, start, own, raw, limits, take, &mut failed).is_break() {
                    break;
                }
            }
            Ok(None) => {}
            Err(error) => failed.push((start, ExtractError::Io(error))),
        }
    }
    failed
}

fn from_file(
    source: &FileSource,
    start: usize,
    jobs: &[Job<'_>],
    raw: bool,
    limits: &Limits,
    take: &mut Take<'_>,
    failed: &mut Vec<(usize, ExtractError)>,
) -> ControlFlow<()> {
    let is_zip =
        |job: &Job<'_>| job.member.at.inner().first().is_some_and(|step| matches!(step.place, Place::Member(_)));
    let zip = jobs.iter().any(is_zip).then(|| Zip::list(source, limits));
    let places: Vec<(usize, &[Step])> = (start..).zip(jobs.iter().map(|job| job.member.at.inner())).collect();
    let windows = Windows::new(limits.window_bytes, 1, true);
    let opening = Opening { limits, held: limits.held_bytes, windows: &windows };
    open::with_streams(source, zip.as_ref(), &places, opening, &mut |index, opened| {
        match (opened, jobs.get(index.saturating_sub(start))) {
            (Ok((stream, _)), Some(job)) => {
                let reading = Reading { job, raw, limits };
                let flow = reading.run(stream, &mut |wanted, bytes| take(index, wanted, bytes));
                if source.changed() {
                    failed.push((index, ExtractError::Changed));
                }
                return flow;
            }
            (Err(OpenError::Unread(why)), _) => failed.push((index, ExtractError::Unread(why))),
            (Err(OpenError::Changed) | Ok(_), _) => failed.push((index, ExtractError::Changed)),
        }
        ControlFlow::Continue(())
    })
}

struct Reading<'a> {
    job: &'a Job<'a>,
    raw: bool,
    limits: &'a Limits,
}

/// A wanted image and where it is in its member.
struct Found<'a> {
    offset: u64,
    wanted: Wanted,
    source: Source,
    image: &'a Image,
}

/// What takes the bytes of one image.
type TakeOne<'a> = dyn FnMut(Wanted, Result<&[u8], ExtractError>) -> ControlFlow<()> + 'a;

/// Where the members of a concatenated entry lie in its payload, in the order of its table.
type Parts = Vec<Result<Range<usize>, ExtractError>>;

impl Reading<'_> {
    fn run(&self, stream: &mut dyn ByteStream, take: &mut TakeOne<'_>) -> ControlFlow<()> {
        let mut order: Vec<Found<'_>> = Vec::new();
        for wanted in &self.job.wanted {
            let module = self.job.member.modules.get(wanted.module);
            let image = module.and_then(|module| module.images.get(wanted.image));
            if let Some((module, image)) = module.zip(image) {
                let offset = module.base().saturating_add(image.offset);
                order.push(Found { offset, wanted: *wanted, source: module.source, image });
            }
        }
        // forward only, so that a deflated member is inflated once
        order.sort_by_key(|found| (found.offset, found.wanted));
        let mut buffer = Vec::new();
        // the images of a concatenated entry have one place and one payload
        for group in order.chunk_by(|one, next| (one.offset, one.source) == (next.offset, next.source)) {
            let Some(first) = group.first() else { continue };
            let parts = self.read(stream, first, &mut buffer);
            for found in group {
                let bytes = parts.as_ref().map_err(ExtractError::again);
                let bytes = bytes.and_then(|parts| self.own(parts, found.image, &buffer));
                take(found.wanted, bytes)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Reads the payload at a place.
    fn read(
        &self,
        stream: &mut dyn ByteStream,
        found: &Found<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<Parts, ExtractError> {
        stream.trim();
        if found.offset < stream.position() && !stream.rewind(found.offset) {
            return Err(ExtractError::Changed);
        }
        let gap = found.offset.saturating_sub(stream.position());
        if stream.skip(gap) < gap {
            return Err(ExtractError::Changed);
        }
        buffer.clear();
        if found.source != Source::Fatbin {
            let size = self.size(found.image.stored_bytes)?;
            stream.fill(size);
            buffer.extend_from_slice(stream.window().get(..size).ok_or(ExtractError::Changed)?);
            return Ok(Vec::new());
        }
        stream.fill(fatbin::ENTRY_HEADER_SIZE);
        let header = EntryHeader::parse(stream.window()).map_err(|_| ExtractError::Changed)?;
        let record = self.size(u64::from(header.header_size))?;
        let total = self.size(header.total_size().ok_or(ExtractError::Changed)?)?;
        stream.fill(total);
        let window = stream.window();
        let cut = ExtractError::Payload(fatbin::ErrorKind::PayloadCut);
        let parts = window.get(..record).zip(window.get(record..total)).ok_or(cut)?;
        let entry = Entry::new(parts.0, parts.1).map_err(|_| ExtractError::Changed)?;
        if self.raw {
            buffer.extend_from_slice(entry.payload().map_err(payload)?);
            return Ok(Vec::new());
        }
        match fatbin::decode(&entry, self.limits.payload_bytes, buffer) {
            Ok(()) => {}
            // its coding is not public: it is handed out as it is
            Err(error) if error.kind == fatbin::ErrorKind::Scrambled => {
                buffer.extend_from_slice(entry.payload().map_err(payload)?);
            }
            Err(error) => return Err(payload(error)),
        }
        Ok(parts_of(&entry))
    }

    /// The bytes of one image in a payload.
    fn own<'bytes>(&self, parts: &Parts, image: &Image, whole: &'bytes [u8]) -> Result<&'bytes [u8], ExtractError> {
        let Some(number) = image.concat.filter(|_| !self.raw) else { return Ok(trim(whole, image.kind, self.raw)) };
        let part = usize::try_from(number).ok().and_then(|index| parts.get(index)).ok_or(ExtractError::Changed)?;
        let range = part.as_ref().map_err(ExtractError::again)?;
        let outside = ExtractError::Payload(fatbin::ErrorKind::ConcatMember);
        Ok(trim(whole.get(range.clone()).ok_or(outside)?, image.kind, self.raw))
    }

    /// A size within the limit for one payload.
    fn size(&self, bytes: u64) -> Result<usize, ExtractError> {
        let fits = usize::try_from(bytes).ok().filter(|_| bytes <= self.limits.payload_bytes);
        fits.ok_or(ExtractError::Payload(fatbin::ErrorKind::Limit))
    }
}

fn payload(error: fatbin::Error) -> ExtractError {
    ExtractError::Payload(error.kind)
}

/// The members of a concatenated entry. Of those that lie over each other the first in the payload counts, and of those
/// that begin together the first in the table: together they are never longer than the payload.
fn parts_of(entry: &Entry<'_>) -> Parts {
    let mut parts: Parts = entry.members().map(|member| range(member.map_err(payload)?.range())).collect();
    let mut order: Vec<(usize, &mut Result<Range<usize>, ExtractError>)> =
        parts.iter_mut().filter_map(|part| Some((part.as_ref().ok()?.start, part))).collect();
    order.sort_by_key(|(start, _)| *start);
    let mut end = 0;
    for (start, part) in order {
        match part {
            Ok(range) if range.end == start => {}
            Ok(range) if start >= end => end = range.end,
            _ => *part = Err(ExtractError::Overlap),
        }
    }
    parts
}

fn range((offset, length): (u64, u64)) -> Result<Range<usize>, ExtractError> {
    let outside = ExtractError::Payload(fatbin::ErrorKind::ConcatMember);
    let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
    usize::try_from(offset).ok().zip(end).map(|(start, end)| start..end).ok_or(outside)
}

/// Without the padding of the container.
fn trim(bytes: &[u8], kind: CodeKind, raw: bool) -> &[u8] {
    match kind {
        _ if raw => bytes,
        CodeKind::Sass => {
            // padding is at most 7 zero bytes; more is data that the header does not tell of
            let end = Head::parse(bytes).ok().and_then(|head| usize::try_from(head.extent).ok());
            let rest = end.and_then(|end| bytes.get(end..)).unwrap_or_default();
            let is_padding = rest.len() < 8 && rest.iter().all(|byte| *byte == 0);
            end.filter(|_| is_padding).and_then(|end| bytes.get(..end)).unwrap_or(bytes)
        }
        CodeKind::Ptx => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
            bytes.get(..end).unwrap_or(bytes)
        }
        CodeKind::LtoIr | CodeKind::TileIr | CodeKind::Other => bytes,
    }
}
