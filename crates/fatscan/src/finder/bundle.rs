//! Device code of other vendors: noticed and named, not read.

use fatscan_containers::ByteStream;

use super::Finder;
use crate::model::{CodeKind, Image, Module, Source};
use crate::run::lossy;

/// Bytes of a bundle's table that are looked at.
const TABLE: usize = 64 * 1024;
/// Bytes of an id.
const ID: usize = 256;

impl<S: ByteStream> Finder<'_, '_, S> {
    /// Clang's offload bundle: magic (24 bytes), `u64` count, then per entry `u64` offset, `u64` size, `u64` length of
    /// the id, and the id (`hipv4-amdgcn-amd-amdhsa--gfx942`). From LLVM's `OffloadBundler.cpp`. Code of NVIDIA in such
    /// a bundle is found by its own magic, so the search goes on inside.
    pub(super) fn clang_bundle(&mut self) {
        self.stream.fill(TABLE);
        let window = self.stream.window();
        let Some(count) = u64_at(window, 24).filter(|count| (1..=4096).contains(count)) else { return };
        let mut images = Vec::new();
        let mut at = 32usize;
        for _ in 0..count {
            let record = at.checked_add(24).and_then(|id| Some((u64_at(window, at.checked_add(8)?)?, id)));
            let length = at.checked_add(16).and_then(|field| u64_at(window, field));
            let Some(((size, start), length)) = record.zip(length.and_then(|length| usize::try_from(length).ok()))
            else {
                break;
            };
            let Some(id) = start.checked_add(length).and_then(|end| window.get(start..end)) else { break };
            // an id is `hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+`; the rest of a longer one is left out
            let id = lossy(id.get(..ID).unwrap_or(id));
            if let Some(target) = id.split_once("--").map(|(_, target)| target).filter(|t| t.starts_with("gfx")) {
                images.push(other(self.stream.position(), size, Some(target)));
            }
            at = start.saturating_add(length);
        }
        let table = u64::try_from(at).unwrap_or(0);
        self.bundle(images);
        self.stream.skip(table);
    }

    /// A compressed bundle: `CCOB`, `u16` version, `u16` method (0 zlib, 1 zstd), then sizes and a hash: version 1 20
    /// bytes in all, version 2 24 bytes with a `u32` total, version 3 32 bytes with a `u64` total.
    pub(super) fn compressed_bundle(&mut self) {
        self.stream.fill(36);
        let window = self.stream.window();
        let Some([version, 0, method, 0]) = window.get(4..8) else { return };
        let (header, total) = match version {
            1 => (20, None),
            2 => (24, window.get(8..).and_then(|rest| rest.first_chunk()).map(|b| u64::from(u32::from_le_bytes(*b)))),
            3 => (32, u64_at(window, 8)),
            _ => return,
        };
        let payload = window.get(header..).unwrap_or_default();
        let fits = match method {
            0 => payload.first() == Some(&0x78),
            1 => payload.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
            _ => false,
        };
        if fits {
            let size = total.unwrap_or(0);
            self.bundle(vec![other(self.stream.position(), size, None)]);
            self.stream.skip(u64::try_from(header).unwrap_or(0));
        }
    }

    /// LLVM's offload binary: magic, `u32` version, `u64` size, `u64` offset of the entry, `u64` its size; the entry
    /// starts with a `u16` kind of image: 1 object, 2 bitcode, 3 cubin, 4 fatbin, 5 PTX, 6 SPIR-V. From LLVM's
    /// `OffloadBinary.h`. Code of NVIDIA in it is found by its own magic.
    pub(super) fn llvm_bundle(&mut self) {
        self.stream.fill(4096);
        let window = self.stream.window();
        let Some([1..=3, 0, 0, 0]) = window.get(4..8) else { return };
        let (Some(size), Some(entry)) = (u64_at(window, 8), u64_at(window, 16)) else { return };
        if !(32..1 << 40).contains(&size) || entry < 32 || entry >= size || entry > 4096 {
            return;
        }
        let at = usize::try_from(entry).unwrap_or(usize::MAX);
        let Some(kind) = window.get(at..).and_then(|rest| rest.first_chunk()).map(|b| u16::from_le_bytes(*b)) else {
            return;
        };
        if matches!(kind, 1 | 2 | 6) {
            self.bundle(vec![other(self.stream.position(), size, None)]);
        }
    }

    fn bundle(&mut self, images: Vec<Image>) {
        if images.is_empty() {
            return;
        }
        self.module(Module::new(Source::OffloadBundle, self.stream.position(), images));
    }
}

fn other(offset: u64, size: u64, target: Option<&str>) -> Image {
    Image { foreign: target.map(Into::into), unpacked_bytes: None, ..Image::bare(CodeKind::Other, offset, size) }
}

fn u64_at(data: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*data.get(offset..)?.first_chunk()?))
}
