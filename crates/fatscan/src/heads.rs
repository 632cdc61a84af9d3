//! What a payload is for, from its first bytes: the driver selects an image by its label and then goes by the payload.

use cubin::{Abi, Head, PtxHead, PtxStart, accelerator_target};
use fatbin::{Compression, EntryHeader, ErrorKind, Flags};
use fatscan_containers::ByteStream;
use gpu_arch::{Arch, Suffix};

use crate::diagnostic::Code;
use crate::finder;
use crate::inspect::Scratch;
use crate::model::{CodeKind, Holds, Image, Linkage, agree};

/// Bytes of a payload as it is stored, and of the text in it, that are looked at, one after the other until they are
/// enough: the start, the first block of any zstd frame, a text behind long comments.
const STEPS: [(u64, usize); 3] = [(4 << 10, 4 << 10), (132 << 10, TEXT), (MOST, TEXT)];
/// Bytes of a payload that are looked at.
const MOST: u64 = 1 << 20;
/// Bytes behind a cubin that may be padding.
const SLACK: u64 = 64;
/// Bytes of a text that its head is looked for in.
const TEXT: usize = 64 << 10;

/// Looks at the payload that the stream stands at, which stays there.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    header: &EntryHeader,
    compat: Option<&[u8]>,
    image: &mut Image,
    scratch: &mut Scratch,
    say: &mut dyn FnMut(Code, String),
) {
    if !matches!(image.kind, CodeKind::Sass | CodeKind::Ptx) {
        return;
    }
    if header.flags.contains(Flags::SCRAMBLED) {
        image.holds = Some(Holds::Obfuscated);
        return;
    }
    let stored = header.stored_size().min(header.padded_size);
    let is_plain = header.compression() == Compression::None;
    let mut holds = None;
    for (most, text_size) in STEPS {
        let wanted = if image.kind == CodeKind::Sass { cubin::HEAD_SIZE } else { text_size };
        let Ok(size) = usize::try_from(stored.min(most)) else { return };
        stream.fill(size);
        let window = stream.window();
        let bytes = window.get(..size).unwrap_or(window);
        let is_all = stored <= most || bytes.len() < size;
        let decoded = scratch.decoder.decode_first(header, bytes, wanted, &mut scratch.buffer);
        let is_end = is_all && scratch.buffer.len() < wanted;
        holds = match (decoded, image.kind) {
            (Err(error), _) if error.kind == ErrorKind::Corrupt => Some(Holds::Foreign),
            (Err(_), _) => Some(Holds::Unclear),
            (Ok(()), CodeKind::Sass) => sass(&scratch.buffer, image, compat, is_plain),
            (Ok(()), _) => text(&scratch.buffer, is_end),
        };
        let is_sure = matches!(holds, Some(Holds::Code { .. } | Holds::Foreign));
        if is_end || is_sure && scratch.buffer.len() >= cubin::HEAD_SIZE {
            break;
        }
    }
    if is_plain && image.kind == CodeKind::Ptx && stored <= MOST {
        let size = usize::try_from(stored).unwrap_or(0);
        stream.fill(size);
        if stream.window().get(..size).is_some_and(|text| memchr::memchr(0, text).is_none()) {
            say(Code::TextUnended, String::new());
        }
    }
    if image.kind == CodeKind::Sass
        && let Ok(head) = Head::parse(&scratch.buffer)
        && head.file_type == cubin::FileType::Executable
        && head.extent.saturating_add(SLACK) < header.unpacked_size()
    {
        say(Code::BehindCubin, format!("it ends at {} of {} bytes", head.extent, header.unpacked_size()));
    }
    let holds = holds.unwrap_or(Holds::Unclear);
    image.holds = Some(holds);
    match holds {
        Holds::Foreign => {
            let what = if image.kind == CodeKind::Sass { "a cubin" } else { "PTX" };
            say(Code::PayloadForeign, format!("it holds no {}", what.trim_start_matches("a ")));
        }
        Holds::Code { arch, .. } => {
            if let Some(label) = image.arch.filter(|label| !agree(*label, arch)) {
                let (own, word) = match image.kind {
                    CodeKind::Sass => ("sm", "the cubin says sm"),
                    _ => ("compute", "the text says .target sm"),
                };
                say(Code::HeaderAgainstPayload, format!("the header says {own}_{label}, {word}_{arch}"));
            }
        }
        Holds::Obfuscated | Holds::Unclear => {}
    }
}

/// What a payload at hand, a member of a concatenated entry, is for.
pub(crate) fn whole(bytes: &[u8], image: &mut Image) -> Option<Holds> {
    match image.kind {
        CodeKind::Sass => sass(bytes, image, None, false),
        CodeKind::Ptx => Some(text(bytes.get(..TEXT).unwrap_or(bytes), bytes.len() < TEXT).unwrap_or(Holds::Unclear)),
        _ => None,
    }
}

/// What a cubin says, of which at least the file header must be there.
fn sass(bytes: &[u8], image: &mut Image, compat: Option<&[u8]>, is_plain: bool) -> Option<Holds> {
    let Ok(head) = Head::parse(bytes) else { return Some(Holds::Foreign) };
    if is_plain && finder::linkage(head.file_type) == Linkage::Relocatable {
        image.linkage = Linkage::Relocatable;
    }
    let label = image.arch.map_or(Suffix::None, Arch::suffix);
    let (suffix, cubin_abi) = match head.abi {
        Abi::V7 => (if head.is_accelerated() { Suffix::A } else { Suffix::None }, 7),
        Abi::V8 => match compat.and_then(accelerator_target) {
            Some(1) => (Suffix::A, 8),
            Some(_) if label == Suffix::A => (Suffix::None, 8),
            _ => (label, 8),
        },
    };
    Some(Holds::Code { arch: Arch::new(head.number, suffix), version: None, cubin_abi: Some(cubin_abi) })
}

/// What a text says; `is_whole` where there is no more of it.
fn text(bytes: &[u8], is_whole: bool) -> Option<Holds> {
    match PtxHead::first(bytes) {
        PtxStart::Head(head) => Some(Holds::Code { arch: head.target, version: Some(head.version), cubin_abi: None }),
        PtxStart::Foreign => Some(Holds::Foreign),
        PtxStart::Unfinished if is_whole => Some(Holds::Foreign),
        PtxStart::Unfinished => None,
    }
}
