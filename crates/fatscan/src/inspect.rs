//! Where an entry header and the code behind it disagree. The header is what the packager was told; the driver loads
//! what is there.

use cubin::{Cubin, Family, Head, PtxHead, TileIrHead, accelerator_target};
use fatbin::{Decoder, Entry, EntryHeader, ErrorKind, Kind};
use gpu_arch::{Arch, Suffix};

use crate::diagnostic::Code;
use crate::model::{CodeKind, Holds, Image, Linkage};
use crate::{finder, heads};

/// A decoder and its buffer, used again for the next payload. Whoever uses it has [`memory_of`] the entry granted.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) decoder: Decoder,
    pub(crate) buffer: Vec<u8>,
}

impl Scratch {
    /// Calls `work` with the unpacked payload of an entry.
    pub(crate) fn with<R>(
        &mut self,
        entry: &Entry<'_>,
        limit: u64,
        work: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, fatbin::Error> {
        let decoded = self.decoder.decode(entry, limit, &mut self.buffer);
        decoded.map(|()| work(&self.buffer))
    }

    /// Gives back what is larger than `most` bytes.
    pub(crate) fn trim(&mut self, most: u64) {
        if u64::try_from(self.buffer.capacity()).is_ok_and(|capacity| capacity > most) {
            *self = Self::default();
        }
    }
}

/// Bytes of a payload that tell what unpacking it takes.
pub(crate) const FRAME: usize = 18;

/// Bytes that unpacking an entry takes at the most, with the payload as it is stored, from its header and the first
/// [`FRAME`] bytes of its payload: the same whether the payload is at hand or is to be read. `bit_by_bit`: not at once.
pub(crate) fn memory_of(header: &EntryHeader, start: &[u8], bit_by_bit: bool) -> u64 {
    let decoder =
        if bit_by_bit { fatbin::memory_to_stream(header, start) } else { fatbin::memory_to_decode(header, start) };
    header.stored_size().saturating_add(header.unpacked_size()).saturating_add(decoder)
}

/// What an entry's copy of `.nv.compat` says against its header, if it does.
pub(crate) fn compat(header: &EntryHeader, compat: &[u8]) -> Option<String> {
    let exact = accelerator_target(compat)? == 1;
    let labelled = header.flags.suffix();
    if exact == (labelled == Some('a')) {
        return None;
    }
    let suffix = labelled.map(String::from).unwrap_or_default();
    let own = if exact { "for exactly one architecture (a)" } else { "not for exactly one architecture (no a)" };
    Some(format!("the header says sm_{}{suffix}, the record says {own}", header.arch))
}

/// Compares the image of an ELF entry with its cubin, and notes what the cubin tells besides.
pub(crate) fn cubin(payload: &[u8], image: &mut Image, say: &mut dyn FnMut(Code, String)) {
    let labelled = image.arch.unwrap_or(Arch::new(0, Suffix::None));
    match Cubin::parse(payload) {
        Ok(cubin) => {
            image.has_kernels = cubin.has_kernels;
            image.toolkit = cubin.toolkit;
            let own = cubin.arch;
            let suffix_differs = match (labelled.suffix(), own.suffix()) {
                (Suffix::F, Suffix::None) => cubin.family == Family::No,
                (label, own) => label != own,
            };
            if labelled.number() != own.number() || suffix_differs {
                say(Code::HeaderAgainstPayload, format!("the header says sm_{labelled}, the cubin says sm_{own}"));
            }
        }
        Err(error) => match Head::parse(payload) {
            Ok(head) if head.number != labelled.number() => {
                say(
                    Code::HeaderAgainstPayload,
                    format!("the header says sm_{labelled}, the cubin says sm_{}", head.number),
                );
                say(Code::CubinDamaged, error.to_string());
            }
            _ => say(Code::CubinDamaged, error.to_string()),
        },
    }
}

/// Whether the cubin of an entry is linked, from its first 64 bytes; unknown where they cannot be had.
pub(crate) fn linkage(entry: &Entry<'_>, limit: u64, scratch: &mut Scratch) -> Linkage {
    let Scratch { decoder, buffer } = scratch;
    let decoded = decoder.decode_prefix(entry, cubin::HEAD_SIZE as u64, limit, buffer);
    match decoded.ok().and_then(|()| Head::parse(buffer).ok()) {
        Some(head) => finder::linkage(head.file_type),
        None => Linkage::Unknown,
    }
}

/// Whether the images of an entry have entry functions, by decoding the payload. What does not decode stays unknown.
pub(crate) fn entry_functions(entry: &Entry<'_>, limit: u64, scratch: &mut Scratch, images: &mut [Image]) {
    let read = |payload: &[u8]| {
        each(entry, payload, images, |bytes, image, _| image.has_kernels = has_kernels(bytes, image.kind))
    };
    // what does not decode is said by `verify`
    let _ = scratch.with(entry, limit, read);
}

/// Notes what the members of a concatenated entry are for, by unpacking it. What does not unpack is no code.
pub(crate) fn holds(entry: &Entry<'_>, limit: u64, scratch: &mut Scratch, images: &mut [Image]) {
    let read =
        |payload: &[u8]| each(entry, payload, images, |bytes, image, _| image.holds = heads::whole(bytes, image));
    if scratch.with(entry, limit, read).is_err() {
        images.iter_mut().for_each(|image| image.holds = Some(Holds::Foreign));
    }
}

/// Calls `work` with the bytes of every image of an entry and the number of the image in it.
fn each(entry: &Entry<'_>, payload: &[u8], images: &mut [Image], mut work: impl FnMut(&[u8], &mut Image, usize)) {
    if entry.header().kind != Kind::Concat {
        if let Some(image) = images.first_mut() {
            work(payload, image, 0);
        }
        return;
    }
    for (number, member) in entry.members().enumerate() {
        let image = images.iter_mut().find(|image| image.concat == u32::try_from(number).ok());
        if let (Some(image), Ok(Ok(bytes))) = (image, member.map(|member| member.bytes(payload))) {
            work(bytes, image, number);
        }
    }
}

fn has_kernels(bytes: &[u8], kind: CodeKind) -> Option<bool> {
    match kind {
        CodeKind::Sass => Cubin::parse(bytes).ok()?.has_kernels,
        CodeKind::Ptx => Some(!cubin::ptx_kernels(bytes).is_empty()),
        _ => None,
    }
}

/// Decodes a payload and compares every image in it with its header.
pub(crate) fn verify(
    entry: &Entry<'_>,
    limit: u64,
    scratch: &mut Scratch,
    images: &mut [Image],
    say: &mut dyn FnMut(Code, usize, String),
) {
    let read = |payload: &[u8]| {
        each(entry, payload, images, |bytes, image, number| {
            compare(bytes, image, &mut |code, detail| say(code, number, detail));
        });
    };
    match scratch.with(entry, limit, read) {
        Err(error) if error.kind != ErrorKind::Scrambled => say(Code::PayloadDamaged, 0, error.kind.to_string()),
        _ => {}
    }
}

fn compare(bytes: &[u8], image: &mut Image, say: &mut dyn FnMut(Code, String)) {
    match image.kind {
        CodeKind::Sass => cubin(bytes, image, say),
        CodeKind::Ptx => {
            let labelled = image.arch.unwrap_or(Arch::new(0, Suffix::None));
            match PtxHead::find(bytes) {
                Some(head) if head.target != labelled => say(
                    Code::HeaderAgainstPayload,
                    format!("the header says compute_{labelled}, the text says .target sm_{}", head.target),
                ),
                Some(head) if image.version.is_some_and(|version| version != head.version) => {
                    let (major, minor) = head.version;
                    say(Code::HeaderAgainstPayload, format!("the text says .version {major}.{minor}"));
                }
                Some(_) => {}
                None => say(Code::PayloadDamaged, "no .version and .target in the PTX text".to_owned()),
            }
        }
        CodeKind::TileIr if TileIrHead::parse(bytes).is_none() => {
            say(Code::PayloadDamaged, "no Tile IR".to_owned());
        }
        _ => {}
    }
}
