use memchr::memmem;
use rawzip::{CompressionMethod, ZipArchive};

/// How a member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZipMethod {
    /// As it is.
    Stored,
    /// Deflated.
    Deflated,
    /// A method that is not read here.
    Other(CompressionMethod),
}

/// Why a member, or what follows it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZipProblem {
    /// The end of the archive, where its directory is named, is missing or damaged.
    NoDirectory,
    /// The directory ends before its stated end, after this many members.
    DirectoryCut(u64),
    /// More members than the caller's limit.
    TooMany,
}

/// One file in a zip archive.
#[derive(Clone, Debug)]
pub struct ZipMember<'data> {
    /// Path in the archive, bytes that are not UTF-8 replaced.
    pub path: String,
    /// How it is stored.
    pub method: ZipMethod,
    /// Whether it is encrypted.
    pub encrypted: bool,
    /// The stored bytes, `None` where the archive ends before them.
    pub data: Option<&'data [u8]>,
    /// Bytes when unpacked, as the directory states; `u64::MAX` where no directory does.
    pub size: u64,
    /// CRC-32 of the unpacked bytes, where a directory states it.
    pub checksum: Option<u32>,
}

/// The members of a zip archive over a byte slice.
#[derive(Debug, Default)]
pub struct Zip<'data> {
    /// Files in the order of the directory; directories are left out.
    pub members: Vec<ZipMember<'data>>,
    /// What is wrong with the directory, if anything.
    pub problem: Option<ZipProblem>,
}

impl<'data> Zip<'data> {
    /// Whether the end of `data` is that of a zip archive with members, whatever stands before it.
    #[must_use]
    pub fn ends_as_one(data: &[u8]) -> bool {
        ZipArchive::from_slice(data).is_ok_and(|archive| archive.entries_hint() > 0)
    }

    /// Lists the archive in `data`, at most `limit` members. Without a directory (a download that was cut) the
    /// members are looked for by the headers that stand before each of them.
    #[must_use]
    pub fn list(data: &'data [u8], limit: usize) -> Self {
        match ZipArchive::from_slice(data) {
            Ok(archive) => Self::from_directory(data, &archive, limit),
            Err(_) => Self::from_local_headers(data, limit),
        }
    }

    fn from_directory(data: &'data [u8], archive: &rawzip::ZipSliceArchive<&'data [u8]>, limit: usize) -> Self {
        let mut zip = Self::default();
        let mut entries = archive.entries();
        let mut count = 0u64;
        loop {
            let entry = match entries.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                Err(_) => {
                    zip.problem = Some(ZipProblem::DirectoryCut(count));
                    break;
                }
            };
            count = count.saturating_add(1);
            if zip.members.len() >= limit {
                zip.problem = Some(ZipProblem::TooMany);
                break;
            }
            if entry.is_dir() {
                continue;
            }
            let located = archive.get_entry(entry.wayfinder()).ok();
            let stored = located.and_then(|located| {
                let (start, end) = located.compressed_data_range();
                data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            });
            zip.members.push(ZipMember {
                path: String::from_utf8_lossy(entry.file_path().as_ref()).into_owned(),
                method: method(entry.compression_method()),
                encrypted: entry.flags().is_encrypted(),
                data: stored,
                size: entry.uncompressed_size_hint(),
                checksum: Some(entry.crc32()),
            });
        }
        if zip.problem.is_none() && count < archive.entries_hint() {
            zip.problem = Some(ZipProblem::DirectoryCut(count));
        }
        if matches!(zip.problem, Some(ZipProblem::DirectoryCut(_))) {
            zip.add_unlisted(Self::from_local_headers(data, limit).members, limit);
        }
        zip
    }

    /// Adds the members that a cut directory does not name. They are known by where their bytes start.
    fn add_unlisted(&mut self, found: Vec<ZipMember<'data>>, limit: usize) {
        let start = |member: &ZipMember<'data>| member.data.map(<[u8]>::as_ptr);
        let listed: std::collections::HashSet<_> = self.members.iter().filter_map(start).collect();
        let unlisted = found.into_iter().filter(|member| start(member).is_none_or(|at| !listed.contains(&at)));
        let room = limit.saturating_sub(self.members.len());
        self.members.extend(unlisted.take(room));
    }

    /// Local header: signature, `u16` version, flags, method, time, date, `u32` CRC, packed and unpacked size, `u16`
    /// name and extra length; 30 bytes. With flag bit 3 the sizes stand behind the data, and the stream must show its
    /// own end. Documented in PKWARE's APPNOTE, 4.3.7.
    fn from_local_headers(data: &'data [u8], limit: usize) -> Self {
        let mut zip = Self { problem: Some(ZipProblem::NoDirectory), ..Self::default() };
        let mut position = 0usize;
        while let Some(at) = data.get(position..).and_then(|rest| memmem::find(rest, b"PK\x03\x04")) {
            let start = position.saturating_add(at);
            position = start.saturating_add(4);
            let Some((member, size)) = local(data.get(start..).unwrap_or_default()) else { continue };
            position = start.saturating_add(size);
            if zip.members.len() >= limit {
                break;
            }
            if !member.path.ends_with('/') {
                zip.members.push(member);
            }
        }
        zip
    }
}

/// The member whose local header starts `data`, and the bytes to step over.
fn local(data: &[u8]) -> Option<(ZipMember<'_>, usize)> {
    let u16_at = |at: usize| Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let flags = u16_at(6)?;
    let name = usize::from(u16_at(26)?);
    let start = name.checked_add(usize::from(u16_at(28)?))?.checked_add(30)?;
    let path = data.get(30..30usize.checked_add(name)?)?;
    if name == 0 || path.contains(&0) {
        return None;
    }
    let packed = usize::try_from(u32_at(18)?).ok()?;
    let body = data.get(start..)?;
    // 0xffff_ffff: the size stands in a zip64 field; the deflate stream ends by itself, as it does with flag bit 3
    let sized = flags & 8 == 0 && packed != 0xffff_ffff;
    let (data, step) = if sized { (body.get(..packed).unwrap_or(body), packed) } else { (body, 0) };
    let member = ZipMember {
        path: String::from_utf8_lossy(path).into_owned(),
        method: method(CompressionMethod::from(u16_at(8)?)),
        encrypted: flags & 1 != 0,
        data: Some(data),
        size: if sized { u64::from(u32_at(22)?) } else { u64::MAX },
        checksum: if sized { u32_at(14) } else { None },
    };
    Some((member, start.checked_add(step)?))
}

fn method(method: CompressionMethod) -> ZipMethod {
    match method {
        CompressionMethod::STORE => ZipMethod::Stored,
        CompressionMethod::DEFLATE => ZipMethod::Deflated,
        other => ZipMethod::Other(other),
    }
}
