use gpu_arch::{Arch, Suffix};
use memchr::memmem;

use crate::digits::number;

/// `.target` must follow `.version` within so many bytes for the text to count as PTX: compilers carry both words in
/// their messages, apart from each other.
pub const PTX_HEAD_LIMIT: usize = 512;

/// The PTX ISA version of a text, major and minor.
pub type PtxVersion = (u16, u16);

/// The directives that every PTX module starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxHead {
    /// Offset of `.version` in the bytes searched.
    pub offset: usize,
    /// Bytes from `.version` to the end of the first target's name.
    pub length: usize,
    /// PTX ISA version.
    pub version: PtxVersion,
    /// The first target; the words behind it (`debug`, `texmode_unified`, ...) say nothing of the architecture.
    pub target: Arch,
}

impl PtxHead {
    /// Reads a head that starts with `.version` at the start of `data`: `.version N.M`, blanks or comments,
    /// `.target sm_NN`. Nothing need separate the two directives (CUPTI carries such texts). `None` if it is no head.
    #[must_use]
    pub fn parse(data: &[u8]) -> Option<Self> {
        let limit = data.get(..PTX_HEAD_LIMIT).unwrap_or(data);
        let rest = limit.strip_prefix(b".version")?;
        let rest = blank(rest).filter(|after| after.len() < rest.len())?;
        let (major, rest) = number(rest)?;
        let (minor, rest) = number(rest.strip_prefix(b".")?)?;
        let rest = space(rest)?.strip_prefix(b".target")?;
        let rest = blank(rest).filter(|after| after.len() < rest.len())?;
        let (target, rest) = number::<u16>(rest.strip_prefix(b"sm_")?)?;
        let (suffix, rest) = match rest {
            [b'a', rest @ ..] => (Suffix::A, rest),
            [b'f', rest @ ..] => (Suffix::F, rest),
            _ => (Suffix::None, rest),
        };
        if rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            return None;
        }
        let length = limit.len().saturating_sub(rest.len());
        Some(Self { offset: 0, length, version: (major, minor), target: Arch::new(u32::from(target), suffix) })
    }

    /// Reads the head that `data`, the start of a text, must begin with behind blanks and comments, as a compiler does: a
    /// head in a comment is none. A text ends at its first NUL.
    #[must_use]
    pub fn first(data: &[u8]) -> PtxStart {
        let text = memchr::memchr(0, data).map_or(data, |end| data.get(..end).unwrap_or(data));
        let is_cut = text.len() == data.len();
        let rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let Some(rest) = space(rest) else {
            return if is_cut { PtxStart::Unfinished } else { PtxStart::Foreign };
        };
        let offset = text.len().saturating_sub(rest.len());
        match Self::parse(rest) {
            Some(head) => PtxStart::Head(Self { offset, ..head }),
            // the directives may be far apart, or the second one behind these bytes
            None if b".version".starts_with(rest) && is_cut => PtxStart::Unfinished,
            None if rest.starts_with(b".version") => PtxStart::Unfinished,
            None => PtxStart::Foreign,
        }
    }

    /// The first head in `data`, wherever it stands.
    #[must_use]
    pub fn find(data: &[u8]) -> Option<Self> {
        memmem::find_iter(data, b".version").find_map(|offset| {
            let head = Self::parse(data.get(offset..)?)?;
            Some(Self { offset, ..head })
        })
    }

    /// Whether `data`, the start of a file, is PTX source: its first token behind blanks and comments is `.version`.
    #[must_use]
    pub fn begins(data: &[u8]) -> bool {
        space(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data)).is_some_and(|rest| rest.starts_with(b".version"))
    }
}

/// What the start of a PTX text tells: see [`PtxHead::first`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtxStart {
    /// Its head, the first statement of the text.
    Head(PtxHead),
    /// It is no PTX.
    Foreign,
    /// The head does not end within these bytes.
    Unfinished,
}

/// Skips blanks within and across lines.
fn blank(data: &[u8]) -> Option<&[u8]> {
    data.get(data.iter().position(|byte| !byte.is_ascii_whitespace())?..)
}

/// Skips blanks and comments of both kinds.
pub(super) fn space(mut data: &[u8]) -> Option<&[u8]> {
    loop {
        data = blank(data)?;
        data = match data {
            [b'/', b'/', rest @ ..] => rest.get(memchr::memchr(b'\n', rest)?..)?,
            [b'/', b'*', rest @ ..] => rest.get(memmem::find(rest, b"*/")?.checked_add(2)?..)?,
            _ => return Some(data),
        };
    }
}

/// Whether a byte can stand in PTX text: printable ASCII, blanks, and the bytes of UTF-8 in comments.
#[must_use]
pub const fn is_ptx_text_byte(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x20..=0x7e | 0x80..=0xff)
}
