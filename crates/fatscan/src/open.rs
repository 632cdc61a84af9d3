//! What a file is, and how to get into it: the only place that knows what can be inside what.

use core::ops::ControlFlow;

use fatscan_containers::{
    Bounded, ByteStream, Checked, Codec, Expected, Format, Inflater, Limits, Package, SNIFF_SIZE, Source, Windows, Zip,
    ZipMember, ZipMethod,
};

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
    /// An archive or a package that is read forward.
    Package(Package),
    /// A compressed file.
    Compressed(Codec),
    /// An archive, or a compressed file, that is not read here; its name.
    Unread(&'static str),
    /// Nothing that is known.
    Unknown,
}

/// What a file is that begins with `prefix`.
pub(crate) fn what(prefix: &[u8]) -> What {
    let package = || Package::sniff(prefix).map(What::Package);
    let compressed = || Codec::sniff(prefix).map(What::Compressed);
    match Format::sniff(prefix) {
        Some(Format::Zip) => What::Table,
        // a static library's format, and a package
        Some(Format::Archive) => package().unwrap_or(What::Format(Format::Archive)),
        Some(format) => What::Format(format),
        None => package().or_else(compressed).or_else(|| unread(prefix).map(What::Unread)).unwrap_or(What::Unknown),
    }
}

/// What a stream holds by its first bytes.
pub(crate) fn what_starts(stream: &mut dyn ByteStream) -> What {
    stream.fill(SNIFF_SIZE);
    let window = stream.window();
    what(window.get(..SNIFF_SIZE).unwrap_or(window))
}

/// What the compressed bytes at the start of a stream hold; the stream is read for it. Without memory for its window that
/// is not known.
pub(crate) fn what_is_in(codec: Codec, stream: &mut dyn ByteStream, limits: &Limits) -> What {
    let windows = Windows::new(limits.window_bytes, 1, true);
    let mut content = codec.unpack(stream, Expected::most(SNIFF_SIZE as u64), &windows);
    what_starts(&mut *content)
}

/// Archives and compressions that are not read: libraries may be in them.
fn unread(prefix: &[u8]) -> Option<&'static str> {
    match prefix {
        [0x04, 0x22, 0x4d, 0x18, ..] => Some("a file in LZ4"),
        [b'L', b'Z', b'I', b'P', 1, ..] => Some("a file in lzip"),
        [first, rest @ ..] if is_lzma(*first, rest) => Some("a file in LZMA"),
        [0x1f, 0x9d, 0x80..=0x90, ..] => Some("a file of `compress`"),
        [0x89, b'L', b'Z', b'O', 0, b'\r', b'\n', 0x1a, b'\n', ..] => Some("a file in LZO"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("a 7z archive"),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => Some("a RAR archive"),
        [b'M', b'S', b'C', b'F', 0, 0, 0, 0, ..] => Some("a cabinet"),
        // a device and an inode stand between the magic and the mode of a file or a directory
        [0xc7, 0x71, _, _, _, _, _, 0x40 | 0x41 | 0x80..=0x8f, ..]
        | [0x71, 0xc7, _, _, _, _, 0x40 | 0x41 | 0x80..=0x8f, ..] => Some("a cpio archive of the oldest kind"),
        [b'0', b'7', b'0', b'7', b'0', b'7', ..] => Some("a cpio archive of the old kind"),
        [b'0', b'7', b'0', b'7', b'0', b'X', ..] => Some("a cpio archive without sizes"),
        [b'x', b'a', b'r', b'!', 0, 0x1c, ..] => Some("a xar archive"),
        [b'h', b's', b'q', b's', ..] => Some("a SquashFS image"),
        _ => None,
    }
}

/// Whether a file of the format before xz begins so: properties, a dictionary of `2^n` or `2^n + 2^(n-1)` bytes, and the
/// size, not known or below 256 GiB, as `xz` itself tells them.
fn is_lzma(properties: u8, rest: &[u8]) -> bool {
    let Some((dictionary, rest)) = rest.split_first_chunk::<4>() else { return false };
    let Some(size) = rest.first_chunk::<8>() else { return false };
    let (dictionary, size) = (u32::from_le_bytes(*dictionary), u64::from_le_bytes(*size));
    let is_usual = dictionary >= 4096
        && (dictionary.is_power_of_two() || dictionary % 3 == 0 && (dictionary / 3).is_power_of_two());
    let is_known = properties == 0x5d && size > 0 && size < 1 << 38;
    properties < 225 && is_usual && (is_known || size == u64::MAX)
}

/// How many archives lie around a place, with the one that it is. A compressed archive is one: what unpacks it counts only
/// where it unpacks what another one did.
pub(crate) fn depth(at: &Locator) -> usize {
    let is_content = |step: &Step| matches!(step.place, Place::Content { .. });
    let inner = at.inner();
    let again = inner.windows(2).filter(|pair| pair.iter().all(is_content)).count();
    inner.iter().filter(|step| !is_content(step)).count().saturating_add(again)
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
    let known = [
        "tar", "tgz", "tbz2", "txz", "tzst", "conda", "deb", "rpm", "whl", "zip", "so", "dll", "pyd", "exe", "a",
        "lib", "o", "obj", "dylib", "fatbin", "cubin",
    ];
    extension.is_some_and(|extension| known.contains(&extension.as_str())) || is_library(name)
}

/// Whether a place is, or is in, a file of a directory that by its names holds data: neither it nor what is compressed in it
/// is called like a library, a package or an archive. If it is broken, nothing that could be loaded is missed.
pub(crate) fn is_data_beside(at: &Locator) -> bool {
    let outer = at.root_file();
    let name = outer.file_name();
    let content = name.rsplit_once('.').map_or("", |(content, _)| content);
    let is_archive = ARCHIVES.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    outer.steps.len() > 1 && !promises(&name) && !promises(content) && !is_archive
}

/// Endings of archives and packages, beside those that are promises of code.
const ARCHIVES: [&str; 9] = [".egg", ".jar", ".nupkg", ".pyz", ".pex", ".xpi", ".apk", ".run", ".crate"];

/// The unpacked bytes of a member, or why there are none.
pub(crate) fn member<'source>(
    source: &'source dyn Source,
    member: &ZipMember,
    limits: &Limits,
    windows: &'source Windows,
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
    let size = if known { member.size } else { limits.member_bytes };
    match member.method {
        ZipMethod::Stored => Ok(stream),
        ZipMethod::Deflated => Ok(Box::new(Inflater::new(stream, size, member.checksum, known))),
        ZipMethod::Packed(codec) => Ok(codec.unpack(stream, Expected::stated(size, known, member.checksum), windows)),
        ZipMethod::Other(method) => Err(Why::Method(method.to_string())),
    }
}

/// Why something that was there cannot be opened again.
#[derive(Clone, Debug)]
pub(crate) enum OpenError {
    /// It is not what it was.
    Changed,
    /// It is not read.
    Unread(Why),
}

/// What opening something may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) limits: &'a Limits,
    /// So many bytes of archives may be held that lie compressed in others.
    pub(crate) held: u64,
    pub(crate) windows: &'a Windows,
}

/// What is done with a place that is open, by its number, or why it is not: its bytes, and what may still be held.
pub(crate) type Work<'w> = dyn FnMut(usize, Result<(&mut dyn ByteStream, u64), OpenError>) -> ControlFlow<()> + 'w;

/// Calls `work` with the bytes at the end of `steps` in `source`, the file that they begin in, and what is left of what may
/// be held. `zip` is the table of `source`, where it was read before.
pub(crate) fn with_stream<R>(
    source: &dyn Source,
    zip: Option<&Zip>,
    steps: &[Step],
    opening: Opening<'_>,
    work: &mut dyn FnMut(&mut dyn ByteStream, u64) -> R,
) -> Result<R, OpenError> {
    let mut result = Err(OpenError::Changed);
    // one place: there is nothing to break off
    let _ = with_streams(source, zip, &[(0, steps)], opening, &mut |_, opened| {
        result = opened.map(|(stream, held)| work(stream, held));
        ControlFlow::Continue(())
    });
    result
}

/// The same for several places, each with a number: those that follow each other in one archive are read in one pass.
pub(crate) fn with_streams(
    source: &dyn Source,
    zip: Option<&Zip>,
    places: &[(usize, &[Step])],
    opening: Opening<'_>,
    work: &mut Work<'_>,
) -> ControlFlow<()> {
    let is_member = |step: Option<&Step>| step.is_some_and(|step| matches!(step.place, Place::Member(_)));
    let limits = opening.limits;
    let own;
    let zip = match zip {
        Some(zip) => zip,
        None if places.iter().any(|(_, steps)| is_member(steps.first())) => {
            own = Zip::list(source, limits);
            &own
        }
        None => &Zip::default(),
    };
    for group in places.chunk_by(|(_, one), (_, next)| one.first() == next.first() || !is_member(next.first())) {
        let Some(step) = group.first().and_then(|(_, steps)| steps.first()).filter(|step| is_member(Some(step))) else {
            into(&mut *source.stream(0, u64::MAX), group, opening, work)?;
            continue;
        };
        let Place::Member(index) = step.place else { continue };
        let found = zip.members.get(index).filter(|found| *found.name == *step.name && found.is_there());
        let opened = match found {
            Some(found) => member(source, found, limits, opening.windows).map_err(OpenError::Unread),
            None => Err(OpenError::Changed),
        };
        match opened {
            Ok(mut stream) => into(&mut *stream, &behind(group), opening, work)?,
            Err(error) => fail(group, &error, work)?,
        }
    }
    ControlFlow::Continue(())
}

/// The same without their first step.
fn behind<'steps>(group: &[(usize, &'steps [Step])]) -> Vec<(usize, &'steps [Step])> {
    group.iter().map(|(number, steps)| (*number, steps.get(1..).unwrap_or_default())).collect()
}

fn fail(group: &[(usize, &[Step])], error: &OpenError, work: &mut Work<'_>) -> ControlFlow<()> {
    group.iter().try_for_each(|(number, _)| work(*number, Err(error.clone())))
}

/// Opens places in a stream, which stands at its start.
fn into(
    stream: &mut dyn ByteStream,
    places: &[(usize, &[Step])],
    opening: Opening<'_>,
    work: &mut Work<'_>,
) -> ControlFlow<()> {
    for group in places.chunk_by(|(_, one), (_, next)| !one.is_empty() && one.first() == next.first()) {
        let Some((number, steps)) = group.first() else { continue };
        let Some(step) = steps.first() else {
            work(*number, Ok((&mut *stream, opening.held)))?;
            continue;
        };
        let (offset, size) = match step.place {
            Place::Part { offset, size } | Place::Entry { offset, size } => (offset, size),
            Place::Content { offset } => (offset, u64::MAX),
            Place::Member(_) | Place::Given | Place::File => (0, u64::MAX),
        };
        if !go_to(stream, offset) {
            fail(group, &OpenError::Changed, work)?;
            continue;
        }
        match step.place {
            Place::Member(_) => {
                let mut flow = ControlFlow::Continue(());
                let opened = with_archive(stream, opening.held, &mut |source, used| {
                    let opening = Opening { held: opening.held.saturating_sub(used), ..opening };
                    flow = with_streams(source, None, group, opening, work);
                });
                flow?;
                if let Err(error) = opened {
                    fail(group, &error, work)?;
                }
            }
            Place::Content { .. } => {
                stream.fill(SNIFF_SIZE);
                match Codec::sniff(stream.window()) {
                    // as much as is asked for: the limits held when it was scanned
                    Some(codec) => {
                        let mut content = codec.unpack(&mut *stream, Expected::most(u64::MAX), opening.windows);
                        into(&mut *content, &behind(group), opening, work)?;
                    }
                    None => into(&mut Bounded::new(&mut *stream, size), &behind(group), opening, work)?,
                }
            }
            Place::Part { .. } | Place::Entry { .. } => {
                into(&mut Bounded::new(&mut *stream, size), &behind(group), opening, work)?;
            }
            Place::Given | Place::File => fail(group, &OpenError::Changed, work)?,
        }
    }
    ControlFlow::Continue(())
}

/// Steps on, or back, to a place in a stream.
fn go_to(stream: &mut dyn ByteStream, offset: u64) -> bool {
    if offset < stream.position() && !stream.rewind(offset) {
        return false;
    }
    let gap = offset.saturating_sub(stream.position());
    stream.skip(gap) >= gap
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
