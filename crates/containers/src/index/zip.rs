use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use memchr::memmem;
use rawzip::time::{UtcDateTime, ZipDateTimeKind};
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipLocator};

use crate::budget::Limits;
use crate::codec::Codec;
use crate::source::Source;
use crate::stream::ByteStream;

/// How a member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZipMethod {
    /// As it is.
    Stored,
    /// Deflated.
    Deflated,
    /// Compressed as a file of its own would be: bzip2 (12), zstd (93), xz (95).
    Packed(Codec),
    /// A method that is not read here.
    Other(CompressionMethod),
}

/// Why an archive may be read otherwise by another reader, or not wholly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZipDoubt {
    /// The end of the archive, where its directory is named, is missing or damaged: members were looked for by their own
    /// headers.
    NoDirectory,
    /// The directory ends before its stated end, after this many members.
    DirectoryCut(u64),
    /// More members than the limit.
    TooMany,
    /// A directory of more bytes than the limit.
    DirectoryLarge(u64),
    /// The end record appears in the comment of another one: readers choose differently.
    TwoEnds,
    /// The directory does not end where the end record begins: readers that go by its offset find another one than those
    /// that go by its size.
    DirectoryPlace,
    /// So many bytes stand before the first member.
    Prefix(u64),
}

/// Why a member may be read otherwise by another reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberDoubt {
    /// The archive ends before its data.
    Missing,
    /// Its bytes are those of another member too.
    Overlap,
    /// Its name ends at a NUL, as installers cut it.
    NameCut,
    /// Its own header names another file than the directory.
    LocalName,
    /// Its own header states another method, size or checksum than the directory.
    LocalSizes,
    /// Another member with other bytes has its name, or one that an unpacker makes the same of: the last one stays, or the
    /// first.
    SameName,
}

/// One file in a zip archive.
#[derive(Clone, Debug)]
pub struct ZipMember {
    /// Path in the archive, as its bytes are.
    pub name: Box<[u8]>,
    /// How it is stored.
    pub method: ZipMethod,
    /// Whether it is encrypted.
    pub encrypted: bool,
    /// Where its stored bytes are in the archive: offset and bytes.
    pub data: (u64, u64),
    /// Bytes when unpacked, as the directory states; `u64::MAX` where no directory does.
    pub size: u64,
    /// CRC-32 of the unpacked bytes, where a directory states it.
    pub checksum: Option<u32>,
    /// What is odd about it.
    pub doubt: Option<MemberDoubt>,
    /// When it was changed, in seconds since 1970, where the directory states a possible time; times of no zone as if of UTC.
    pub modified: Option<i64>,
    /// Its permissions and kind as Unix states them, where the directory does.
    pub mode: Option<u32>,
}

impl ZipMember {
    /// Whether its bytes are read: neither missing nor those of another.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        !matches!(self.doubt, Some(MemberDoubt::Missing | MemberDoubt::Overlap))
    }
}

/// The members of a zip archive.
///
/// Installers go by the directory at the end. Where two of them could see different files, that is a doubt: nothing is
/// settled in silence.
#[derive(Debug, Default)]
pub struct Zip {
    /// Files in the order of the directory; directories are left out.
    pub members: Vec<ZipMember>,
    /// What is odd about the archive.
    pub doubts: Vec<ZipDoubt>,
}

/// Bytes of the end record without its comment, and of the largest comment.
const END_SIZE: usize = 22;
const COMMENT: usize = 0xffff;
const END_MAGIC: &[u8] = b"PK\x05\x06";
/// Bytes of a member's own header before its name.
const LOCAL_SIZE: usize = 30;
const LOCAL_MAGIC: &[u8] = b"PK\x03\x04";

/// The parts of a path that an unpacker keeps.
pub fn parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"." | b".."))
}

struct At<'source>(&'source dyn Source);

impl ReaderAt for At<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
    }
}

impl Zip {
    /// Whether the end of `source` is that of a zip archive with members, whatever stands before it.
    #[must_use]
    pub fn ends_as_one(source: &dyn Source) -> bool {
        let size = u64::try_from(END_SIZE.saturating_add(COMMENT)).unwrap_or(0).min(source.len());
        let start = source.len().saturating_sub(size);
        let Ok(tail) = source.bytes(start, END_SIZE.saturating_add(COMMENT)) else { return false };
        if memmem::rfind(&tail, END_MAGIC).is_none() {
            return false;
        }
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let found = ZipLocator::new().locate_in_reader(At(source), &mut buffer, source.len());
        found.is_ok_and(|archive| archive.entries_hint() > 0)
    }

    /// Lists the archive that `source` is. Without a directory (a download that was cut) the members are looked for by the
    /// headers that stand before each of them.
    #[must_use]
    pub fn list(source: &dyn Source, limits: &Limits) -> Self {
        let mut buffer = vec![0; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE.max(rawzip::RECOMMENDED_BUFFER_SIZE)];
        match ZipLocator::new().locate_in_reader(At(source), &mut buffer, source.len()) {
            Ok(archive) => Self::from_directory(source, &archive, &mut buffer, limits),
            Err(_) => Self::from_local_headers(source, limits),
        }
    }

    fn from_directory(source: &dyn Source, archive: &ZipArchive<At<'_>>, buffer: &mut [u8], limits: &Limits) -> Self {
        let mut zip = Self::default();
        let directory = archive.eocd_offset().saturating_sub(archive.directory_offset());
        if directory > limits.directory_bytes {
            zip.doubts.push(ZipDoubt::DirectoryLarge(directory));
            return zip;
        }
        let end = End::read(source, archive.eocd_offset());
        let mut places = Vec::new();
        let mut first = archive.directory_offset();
        let mut count = 0u64;
        let mut cut = false;
        let mut rows = archive.entries(buffer);
        loop {
            let row = match rows.next_entry() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(_) => {
                    cut = true;
                    break;
                }
            };
            count = count.saturating_add(1);
            if zip.members.len() >= limits.entries {
                zip.doubts.push(ZipDoubt::TooMany);
                break;
            }
            let path = row.file_path();
            let whole: &[u8] = path.as_ref();
            // the first NUL ends a name for installers, and then the slash that makes a directory does not count
            let nul = memchr::memchr(0, whole);
            let name = nul.and_then(|end| whole.get(..end)).unwrap_or(whole);
            let local = row.local_header_offset();
            first = first.min(local);
            if name.ends_with(b"/") || (nul.is_none() && row.is_dir()) {
                continue;
            }
            let range = archive.get_entry(row.wayfinder()).ok().map(|entry| entry.compressed_data_range());
            let range = range.filter(|(start, end)| start <= end && *end <= source.len());
            let own = Local::read(source, local);
            let doubt = match (range, &own) {
                (None, _) | (_, None) => Some(MemberDoubt::Missing),
                (_, Some(own)) if *own.name != *whole => Some(MemberDoubt::LocalName),
                (_, Some(own)) if !own.agrees(&row) => Some(MemberDoubt::LocalSizes),
                _ => nul.map(|_| MemberDoubt::NameCut),
            };
            let (start, stop) = range.unwrap_or((0, 0));
            if range.is_some() {
                places.push((local, stop, zip.members.len()));
            }
            zip.members.push(ZipMember {
                name: name.into(),
                method: method(row.compression_method()),
                encrypted: row.flags().is_encrypted(),
                data: (start, stop.saturating_sub(start)),
                size: row.uncompressed_size_hint(),
                checksum: Some(row.crc32()),
                doubt,
                modified: seconds(row.last_modified()),
                mode: (row.external_attributes() >> 16 != 0).then(|| row.external_attributes() >> 16),
            });
        }
        let many = zip.doubts.contains(&ZipDoubt::TooMany);
        cut |= !many && count < archive.entries_hint();
        if cut {
            zip.doubts.push(ZipDoubt::DirectoryCut(count));
        }
        if end.is_none_or(|end| end.is_ambiguous(source, archive, count)) && !cut && !many {
            zip.doubts.push(ZipDoubt::DirectoryPlace);
        }
        if has_two_ends(source, archive.eocd_offset()) {
            zip.doubts.push(ZipDoubt::TwoEnds);
        }
        zip.mark_overlaps(&mut places, archive.directory_offset());
        zip.mark_same_names();
        if first > 0 && !cut {
            zip.doubts.push(ZipDoubt::Prefix(first));
        }
        if cut {
            zip.add_unlisted(Self::from_local_headers(source, limits).members, limits.entries);
        }
        zip
    }

    /// Members that an unpacker writes to the same file, unless they are the same.
    fn mark_same_names(&mut self) {
        let hash = |member: &ZipMember| {
            let mut hasher = DefaultHasher::new();
            parts(&member.name).for_each(|part| part.hash(&mut hasher));
            hasher.finish()
        };
        let mut order: Vec<(u64, usize)> = self.members.iter().map(hash).zip(0..).collect();
        order.sort_unstable();
        let mut same = Vec::new();
        for pair in order.windows(2) {
            let [(one, first), (other, second)] = *pair else { continue };
            let (Some(a), Some(b)) = (self.members.get(first), self.members.get(second)) else { continue };
            if one == other && (a.size, a.checksum) != (b.size, b.checksum) && parts(&a.name).eq(parts(&b.name)) {
                same.extend([first, second]);
            }
        }
        for index in same {
            if let Some(member) = self.members.get_mut(index) {
                member.doubt = member.doubt.or(Some(MemberDoubt::SameName));
            }
        }
    }

    /// Members whose header or data lie within those of another, or in the directory: each byte is one member's.
    fn mark_overlaps(&mut self, places: &mut [(u64, u64, usize)], directory: u64) {
        places.sort_unstable();
        let mut end = 0;
        for (local, stop, index) in places {
            if let Some(member) = self.members.get_mut(*index)
                && (*local < end || *stop > directory)
            {
                member.doubt = Some(MemberDoubt::Overlap);
            }
            end = end.max(*stop);
        }
    }

    /// Adds the members that a cut directory does not name. They are known by where their bytes start.
    fn add_unlisted(&mut self, found: Vec<ZipMember>, limit: usize) {
        let listed: HashSet<u64> =
            self.members.iter().filter(|member| member.is_there()).map(|member| member.data.0).collect();
        let room = limit.saturating_sub(self.members.len());
        self.members.extend(found.into_iter().filter(|member| !listed.contains(&member.data.0)).take(room));
    }

    /// The members by the headers before each. With flag bit 3 the sizes stand behind the data, and the stream must show
    /// its own end.
    fn from_local_headers(source: &dyn Source, limits: &Limits) -> Self {
        let mut zip = Self { doubts: vec![ZipDoubt::NoDirectory], ..Self::default() };
        let mut stream = source.stream(0, u64::MAX);
        loop {
            stream.fill(LOCAL_SIZE);
            let window = stream.window();
            let Some(at) = memmem::find(window, LOCAL_MAGIC) else {
                let step = window.len().saturating_sub(LOCAL_MAGIC.len().saturating_sub(1));
                stream.skip(u64::try_from(step).unwrap_or(0));
                if !stream.fill(LOCAL_SIZE) {
                    return zip;
                }
                continue;
            };
            stream.skip(u64::try_from(at).unwrap_or(0));
            stream.fill(LOCAL_SIZE.saturating_add(2 * 0xffff));
            let start = stream.position();
            let Some((member, step)) = Local::parse(stream.window()).and_then(|own| own.member(start, source.len()))
            else {
                stream.skip(4);
                continue;
            };
            stream.skip(step);
            if zip.members.len() >= limits.entries {
                zip.doubts.push(ZipDoubt::TooMany);
                return zip;
            }
            if !member.name.ends_with(b"/") {
                zip.members.push(member);
            }
        }
    }
}

/// The fields of an end record: `u32` magic, `u16` disk, `u16` disk of the directory, `u16` members on this disk, `u16`
/// members, `u32` bytes and `u32` offset of the directory, `u16` bytes of the comment; 22 bytes. PKWARE's APPNOTE, 4.3.16.
#[derive(Clone, Copy)]
struct End {
    count: u16,
    size: u32,
}

impl End {
    fn read(source: &dyn Source, at: u64) -> Option<Self> {
        let bytes = source.bytes(at, END_SIZE).ok()?;
        let u16_at = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let size = u32::from_le_bytes(*bytes.get(12..)?.first_chunk()?);
        Some(Self { count: u16_at(10)?, size })
    }

    /// Whether the directory ends elsewhere than its records do, or is another one for readers that go by its size.
    fn is_ambiguous(self, source: &dyn Source, archive: &ZipArchive<At<'_>>, count: u64) -> bool {
        let at = archive.eocd_offset();
        // a zip64 archive has two more records between
        let wide = self.size == u32::MAX
            || self.count == u16::MAX
            || source.bytes(at.saturating_sub(20), 4).is_ok_and(|b| b == b"PK\x06\x07");
        if wide {
            let Ok(locator) = source.bytes(at.saturating_sub(20), 20) else { return true };
            if locator.starts_with(b"PK\x06\x07") {
                let record = at.saturating_sub(76);
                let Ok(bytes) = source.bytes(record, 56) else { return true };
                let u64_at = |at: usize| bytes.get(at..).and_then(|b| b.first_chunk()).map(|b| u64::from_le_bytes(*b));
                let stands = bytes.starts_with(b"PK\x06\x06") && u64_at(4) == Some(44);
                let ends = u64_at(40).and_then(|size| archive.directory_offset().checked_add(size)) == Some(record);
                let counts = u64_at(32) == Some(count);
                let plain = |own: bool, wide: bool| own || wide;
                let agrees = plain(self.size == u32::MAX, Some(u64::from(self.size)) == u64_at(40))
                    && plain(self.count == u16::MAX, Some(u64::from(self.count)) == u64_at(32));
                return !(stands && ends && counts && agrees);
            }
            return true;
        }
        archive.directory_offset().checked_add(u64::from(self.size)) != Some(at) || u64::from(self.count) != count
    }
}

/// Whether the comment of the end record at `at` does not reach the end of the file, or holds another end record.
fn has_two_ends(source: &dyn Source, at: u64) -> bool {
    let Ok(tail) = source.bytes(at, END_SIZE.saturating_add(COMMENT).saturating_add(1)) else { return true };
    let later = tail.get(1..).is_some_and(|rest| memmem::find(rest, END_MAGIC).is_some());
    // readers look for the record in so many bytes before the end
    let limit = u64::try_from(END_SIZE.saturating_add(COMMENT)).unwrap_or(0);
    later || source.len().saturating_sub(at) > limit
}

/// A member's own header: magic, `u16` version, flags, method, time, date, `u32` CRC, packed and unpacked size, `u16` name
/// and extra length; 30 bytes, then the name and the extra fields. PKWARE's APPNOTE, 4.3.7.
struct Local {
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u32,
    size: u32,
    name: Vec<u8>,
    /// Bytes of the header with name and extra fields.
    length: u64,
}

impl Local {
    fn read(source: &dyn Source, at: u64) -> Option<Self> {
        let fixed = source.bytes(at, LOCAL_SIZE).ok()?;
        let name = usize::from(u16::from_le_bytes(*fixed.get(26..)?.first_chunk()?));
        Self::parse(&source.bytes(at, LOCAL_SIZE.saturating_add(name)).ok()?)
    }

    fn parse(data: &[u8]) -> Option<Self> {
        if !data.starts_with(LOCAL_MAGIC) {
            return None;
        }
        let u16_at = |at: usize| Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?));
        let u32_at = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
        let (name, extra) = (u16_at(26)?, u16_at(28)?);
        let end = LOCAL_SIZE.checked_add(usize::from(name))?;
        Some(Self {
            flags: u16_at(6)?,
            method: u16_at(8)?,
            checksum: u32_at(14)?,
            packed: u32_at(18)?,
            size: u32_at(22)?,
            name: data.get(LOCAL_SIZE..end)?.to_vec(),
            length: u64::try_from(end).ok()?.checked_add(u64::from(extra))?,
        })
    }

    /// Whether it states what the directory does. With flag bit 3 sizes and checksum stand behind the data; sizes of
    /// 0xffff_ffff stand in a zip64 field.
    fn agrees(&self, row: &rawzip::ZipFileHeaderRecord<'_>) -> bool {
        let behind = self.flags & 8 != 0;
        let is = |own: u32, stated: u64| own == u32::MAX || u64::from(own) == stated || (behind && own == 0);
        self.method == row.compression_method().as_u16()
            && (self.flags & 1 != 0) == row.flags().is_encrypted()
            && is(self.packed, row.compressed_size_hint())
            && is(self.size, row.uncompressed_size_hint())
            && (self.checksum == row.crc32() || (behind && self.checksum == 0))
    }

    /// The member of a header at `start`, without a directory, and the bytes to step over.
    fn member(self, start: u64, end: u64) -> Option<(ZipMember, u64)> {
        if self.name.is_empty() || self.name.contains(&0) {
            return None;
        }
        let data = start.checked_add(self.length).filter(|data| *data <= end)?;
        // 0xffff_ffff: the size stands in a zip64 field; the deflate stream ends by itself, as it does with flag bit 3
        let sized = self.flags & 8 == 0 && self.packed != u32::MAX;
        let left = end.saturating_sub(data);
        let (length, step) = if sized { (u64::from(self.packed).min(left), u64::from(self.packed)) } else { (left, 0) };
        let member = ZipMember {
            name: self.name.into(),
            method: method(CompressionMethod::from(self.method)),
            encrypted: self.flags & 1 != 0,
            data: (data, length),
            size: if sized { u64::from(self.size) } else { u64::MAX },
            checksum: sized.then_some(self.checksum),
            doubt: None,
            modified: None,
            mode: None,
        };
        Some((member, self.length.saturating_add(step)))
    }
}

/// A time of a zip directory in seconds since 1970.
fn seconds(time: ZipDateTimeKind) -> Option<i64> {
    match time {
        ZipDateTimeKind::Utc(time) => Some(time.to_unix()),
        ZipDateTimeKind::Local(time) => {
            let (hour, minute, second) = (time.hour(), time.minute(), time.second());
            let time = UtcDateTime::from_components(time.year(), time.month(), time.day(), hour, minute, second, 0);
            time.map(|time| time.to_unix())
        }
    }
}

fn method(method: CompressionMethod) -> ZipMethod {
    match method {
        CompressionMethod::STORE => ZipMethod::Stored,
        CompressionMethod::DEFLATE => ZipMethod::Deflated,
        CompressionMethod::BZIP2 => ZipMethod::Packed(Codec::Bzip2),
        CompressionMethod::ZSTD => ZipMethod::Packed(Codec::Zstd),
        CompressionMethod::XZ => ZipMethod::Packed(Codec::Xz),
        other => ZipMethod::Other(other),
    }
}
