//! The bytes of images, read again from where the scan found them.

use std::io;

use cubin::Head;
use fatbin::{Entry, EntryHeader};
use fatscan_containers::{ByteStream, FileSource, Limits, Mapping, Source as _, Zip, open_file};

use crate::locator::Place;
use crate::model::{CodeKind, Image, Member, Module, Source, Why};
use crate::open::{self, OpenError};

/// Why an image cannot be extracted.
#[derive(Debug)]
pub enum ExtractError {
    /// The file cannot be read any more.
    Io(io::Error),
    /// The file is not what it was when it was scanned.
    Changed,
    /// The payload does not unpack, or exceeds a limit.
    Payload(fatbin::ErrorKind),
    /// What holds it is not read any more.
    Unread(Why),
}

impl core::fmt::Display for ExtractError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Changed => f.write_str("the file is not what it was when it was scanned"),
            Self::Payload(kind) => write!(f, "{kind}"),
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

/// What takes the bytes of an image of a job, by its index, or what went wrong with it.
pub type Take<'a> = dyn FnMut(usize, Wanted, Result<&[u8], ExtractError>) + 'a;

/// Reads the bytes of images, member by member, and hands each to `take`. With `raw` payloads stay as they are stored: the
/// images of a concatenated entry share theirs. Without, they are unpacked, cubins end at their last table and PTX before
/// its NUL. A file is opened once for all jobs in it that follow each other.
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
            Ok(Some(source)) => from_file(&source, start, own, raw, limits, take, &mut failed),
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
) {
    let is_zip =
        |job: &Job<'_>| job.member.at.inner().first().is_some_and(|step| matches!(step.place, Place::Member(_)));
    let zip = jobs.iter().any(is_zip).then(|| Zip::list(source, limits));
    for (index, job) in (start..).zip(jobs) {
        let steps = job.member.at.inner();
        let opened = open::with_stream(source, zip.as_ref(), steps, limits, limits.held_bytes, &mut |stream, _| {
            let reading = Reading { job, raw, limits };
            reading.run(stream, &mut |wanted, bytes| take(index, wanted, bytes));
        });
        match opened {
            Ok(()) if source.changed() => failed.push((index, ExtractError::Changed)),
            Ok(()) => {}
            Err(OpenError::Changed) => failed.push((index, ExtractError::Changed)),
            Err(OpenError::Unread(why)) => failed.push((index, ExtractError::Unread(why))),
        }
    }
}

struct Reading<'a> {
    job: &'a Job<'a>,
    raw: bool,
    limits: &'a Limits,
}

/// What takes the bytes of one image.
type TakeOne<'a> = dyn FnMut(Wanted, Result<&[u8], ExtractError>) + 'a;

impl Reading<'_> {
    fn run(&self, stream: &mut dyn ByteStream, take: &mut TakeOne<'_>) {
        let mut order: Vec<(u64, Wanted, &Module, &Image)> = Vec::new();
        for wanted in &self.job.wanted {
            let module = self.job.member.modules.get(wanted.module);
            let image = module.and_then(|module| module.images.get(wanted.image));
            if let Some((module, image)) = module.zip(image) {
                order.push((module.base().saturating_add(image.offset), *wanted, module, image));
            }
        }
        // forward only, so that a deflated member is inflated once
        order.sort_by_key(|(offset, wanted, ..)| (*offset, *wanted));
        let mut buffer = Vec::new();
        for (offset, wanted, module, image) in order {
            let result = self.read(stream, offset, module.source, image, &mut buffer);
            take(wanted, result.map(|()| trim(&buffer, image.kind, self.raw)));
        }
    }

    fn read(
        &self,
        stream: &mut dyn ByteStream,
        offset: u64,
        source: Source,
        image: &Image,
        buffer: &mut Vec<u8>,
    ) -> Result<(), ExtractError> {
        stream.trim();
        if offset < stream.position() && !stream.rewind(offset) {
            return Err(ExtractError::Changed);
        }
        let gap = offset.saturating_sub(stream.position());
        if stream.skip(gap) < gap {
            return Err(ExtractError::Changed);
        }
        buffer.clear();
        if source != Source::Fatbin {
            let size = self.size(image.stored_bytes)?;
            stream.fill(size);
            buffer.extend_from_slice(stream.window().get(..size).ok_or(ExtractError::Changed)?);
            return Ok(());
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
        let payload = |error: fatbin::Error| ExtractError::Payload(error.kind);
        if self.raw {
            buffer.extend_from_slice(entry.payload().map_err(payload)?);
            return Ok(());
        }
        match fatbin::decode(&entry, self.limits.payload_bytes, buffer) {
            Ok(()) => {}
            // its coding is not public: it is handed out as it is
            Err(error) if error.kind == fatbin::ErrorKind::Scrambled => {
                buffer.extend_from_slice(entry.payload().map_err(payload)?);
            }
            Err(error) => return Err(payload(error)),
        }
        if let Some(number) = image.concat {
            let index = usize::try_from(number).map_err(|_| ExtractError::Changed)?;
            let member = entry.members().nth(index).ok_or(ExtractError::Changed)?.map_err(payload)?;
            *buffer = member.bytes(buffer).map_err(payload)?.to_vec();
        }
        Ok(())
    }

    /// A size within the limit for one payload.
    fn size(&self, bytes: u64) -> Result<usize, ExtractError> {
        let fits = usize::try_from(bytes).ok().filter(|_| bytes <= self.limits.payload_bytes);
        fits.ok_or(ExtractError::Payload(fatbin::ErrorKind::Limit))
    }
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
