//! What a file is, and how to get into it: the only place that knows what can be inside what.

use fatscan_containers::{Bounded, ByteStream, Checked, Format, Inflater, Limits, Source, Zip, ZipMember, ZipMethod};

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::locator::{Locator, Place, Step};
use crate::model::Why;

/// What the first bytes of a file show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A format that is read forward.
    Format(Format),
    /// An archive with a table of its members.
    Table,
    /// An archive, or a compressed file, that is not read here; its name.
    Unread(&'static str),
    /// Nothing that is known.
    Unknown,
}

/// What a file of this name is that begins with `prefix`.
pub(crate) fn what(prefix: &[u8], name: &str) -> What {
    match Format::sniff(prefix) {
        Some(Format::Zip) => What::Table,
        Some(format) => What::Format(format),
        None => unread(prefix, name).map_or(What::Unknown, What::Unread),
    }
}

/// Archives and compressions that are not read: libraries may be in them.
fn unread(prefix: &[u8], name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match prefix {
        [0x1f, 0x8b, 8, ..] => gzip(prefix, ends(&[".tgz", ".tar.gz", ".crate"])),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => {
            Some(if ends(&[".tbz", ".tbz2", ".tar.bz2"]) { "a tar archive in bzip2" } else { "a file in bzip2" })
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Some(if ends(&[".txz", ".tar.xz"]) { "a tar archive in xz" } else { "a file in xz" })
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Some(if ends(&[".tzst", ".tar.zst"]) { "a tar archive in zstd" } else { "a file in zstd" })
        }
        [0x04, 0x22, 0x4d, 0x18, ..] => Some("a file in LZ4"),
        [0xed, 0xab, 0xee, 0xdb, ..] => Some("an RPM package"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("a 7z archive"),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => Some("a RAR archive"),
        [b'M', b'S', b'C', b'F', 0, 0, 0, 0, ..] => Some("a cabinet"),
        [b'0', b'7', b'0', b'7', b'0', b'1' | b'2' | b'7', ..] => Some("a cpio archive"),
        [b'x', b'a', b'r', b'!', 0, 0x1c, ..] => Some("a xar archive"),
        [b'h', b's', b'q', b's', ..] => Some("a SquashFS image"),
        _ if is_tar(prefix) => Some("a tar archive"),
        _ => None,
    }
}

/// A header of POSIX or GNU: `ustar` at 257; the older one by its name alone cannot be told.
fn is_tar(prefix: &[u8]) -> bool {
    prefix.get(257..262) == Some(b"ustar")
}

/// What a gzip file holds, by its first unpacked bytes: data in it are nobody's concern. RFC 1952: 10 bytes, then by the
/// flags extra field (4), name (8), comment (16), checksum (2).
fn gzip(prefix: &[u8], is_tar_by_name: bool) -> Option<&'static str> {
    let tar = Some("a tar archive in gzip");
    let body = || {
        let flags = *prefix.get(3)?;
        let mut at = 10usize;
        if flags & 4 != 0 {
            let length = u16::from_le_bytes(*prefix.get(at..)?.first_chunk()?);
            at = at.checked_add(2)?.checked_add(usize::from(length))?;
        }
        for _ in 0..[8, 16].iter().filter(|bit| flags & **bit != 0).count() {
            at = memchr::memchr(0, prefix.get(at..)?)?.checked_add(at)?.checked_add(1)?;
        }
        prefix.get(if flags & 2 != 0 { at.checked_add(2)? } else { at }..)
    };
    let Some(body) = body() else { return if is_tar_by_name { tar } else { Some("a file in gzip") } };
    let mut stream = Inflater::new(fatscan_containers::SliceStream::new(body), u64::MAX, None, false);
    stream.fill(512);
    let start = stream.window();
    if is_tar(start) || is_tar_by_name {
        return tar;
    }
    match Format::sniff(start) {
        Some(_) => Some("a file in gzip"),
        None => unread(start, "").map(|_| "a file in gzip"),
    }
}

/// How many archives lie around a place, with the one that it is.
pub(crate) fn depth(at: &Locator) -> usize {
    at.inner().len()
}

/// What is said of something that is not read; `is_whole`: it was given itself.
pub(crate) fn unread_diagnostic(at: &Locator, why: &Why, is_whole: bool) -> Diagnostic {
    let code = if is_whole { Code::NotRead } else { Code::Unread };
    let diagnostic = Diagnostic::new(code, at.clone(), why.to_string());
    // what a limit keeps from being read may be anything
    let is_limit = matches!(why, Why::TooDeep | Why::OverBudget(_));
    if is_limit { diagnostic.weighed(Level::Error) } else { diagnostic }
}

/// Whether a file has the name of a shared library.
pub(crate) fn is_library(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let ending = [".so", ".dll", ".pyd", ".dylib"].iter().any(|ending| file.ends_with(ending));
    ending || file.contains(".so.")
}

/// Whether the name of a file promises a format that would have been recognised.
pub(crate) fn promises(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let known = ["whl", "zip", "so", "dll", "pyd", "exe", "a", "lib", "o", "obj", "dylib", "fatbin", "cubin"];
    extension.is_some_and(|extension| known.contains(&extension.as_str())) || is_library(name)
}

/// The unpacked bytes of a member, or why there are none.
pub(crate) fn member<'source>(
    source: &'source dyn Source,
    member: &ZipMember,
    limits: &Limits,
) -> Result<Box<dyn ByteStream + 'source>, Why> {
    if member.encrypted {
        return Err(Why::Encrypted);
    }
    // no directory, no stated size: the limit serves as one, and its excess is no lie
    let known = member.size != u64::MAX;
    if known && member.size > limits.member_bytes {
        return Err(Why::OverBudget("member_bytes"));
    }
    let (offset, length) = member.data;
    let stream = source.stream(offset, length);
    match member.method {
        ZipMethod::Stored => Ok(stream),
        ZipMethod::Deflated => {
            let size = if known { member.size } else { limits.member_bytes };
            Ok(Box::new(Inflater::new(stream, size, member.checksum, known)))
        }
        ZipMethod::Other(method) => Err(Why::Method(method.to_string())),
    }
}

/// Why something that was there cannot be opened again.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// It is not what it was.
    Changed,
    /// It is not read.
    Unread(Why),
}

/// Calls `work` with the bytes at the end of `steps` in `source`, the file that they begin in, and what is left of `held`:
/// so many bytes of archives may be held that lie compressed in others. `zip` is the table of `source`, where it was read
/// before.
pub(crate) fn with_stream<R>(
    source: &dyn Source,
    zip: Option<&Zip>,
    steps: &[Step],
    limits: &Limits,
    held: u64,
    work: &mut dyn FnMut(&mut dyn ByteStream, u64) -> R,
) -> Result<R, OpenError> {
    match steps.split_first() {
        Some((step, rest)) if matches!(step.place, Place::Member(_)) => {
            let own;
            let zip = match zip {
                Some(zip) => zip,
                None => {
                    own = Zip::list(source, limits);
                    &own
                }
            };
            let Place::Member(index) = step.place else { return Err(OpenError::Changed) };
            let found = zip.members.get(index).filter(|found| *found.name == *step.name && found.is_there());
            let mut stream = member(source, found.ok_or(OpenError::Changed)?, limits).map_err(OpenError::Unread)?;
            into(&mut *stream, rest, limits, held, work)
        }
        _ => into(&mut *source.stream(0, u64::MAX), steps, limits, held, work),
    }
}

fn into<R>(
    stream: &mut dyn ByteStream,
    steps: &[Step],
    limits: &Limits,
    held: u64,
    work: &mut dyn FnMut(&mut dyn ByteStream, u64) -> R,
) -> Result<R, OpenError> {
    let Some((step, rest)) = steps.split_first() else { return Ok(work(stream, held)) };
    match step.place {
        Place::Part { offset, size } => {
            if stream.skip(offset) < offset {
                return Err(OpenError::Changed);
            }
            into(&mut Bounded::new(stream, size), rest, limits, held, work)
        }
        Place::Member(_) => {
            let left = held;
            with_archive(stream, held, &mut |source, used| {
                with_stream(source, None, steps, limits, left.saturating_sub(used), work)
            })?
        }
        _ => Err(OpenError::Changed),
    }
}

/// Calls `work` with the whole of a stream as a source, and the bytes that are held for it: none where it is a slice.
pub(crate) fn with_archive<R>(
    stream: &mut dyn ByteStream,
    held: u64,
    work: &mut dyn FnMut(&dyn Source, u64) -> R,
) -> Result<R, OpenError> {
    if let Some(slice) = stream.as_slice() {
        return Ok(work(&slice, 0));
    }
    let mut bytes = Vec::new();
    while stream.fill(1) {
        let window = stream.window();
        let length = u64::try_from(window.len()).unwrap_or(u64::MAX);
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_add(length) > held {
            return Err(OpenError::Unread(Why::OverBudget("held_bytes")));
        }
        // not twice as much as there is: growth is paid too
        bytes.reserve_exact(window.len().max(bytes.len() / 4));
        bytes.extend_from_slice(window);
        stream.skip(length);
    }
    let slice = bytes.as_slice();
    Ok(work(&slice, length_of(slice)))
}

fn length_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// A stream that is summed up as far as a member's checksum and hash ask for it: the inflater compares checksums itself.
pub(crate) fn checked<'source>(
    stream: Box<dyn ByteStream + 'source>,
    member: &ZipMember,
    hash: bool,
) -> Checked<Box<dyn ByteStream + 'source>> {
    Checked::new(stream, member.method == ZipMethod::Stored && member.checksum.is_some(), hash)
}
