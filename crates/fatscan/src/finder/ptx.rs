use cubin::{PTX_HEAD_LIMIT, PtxHead, is_ptx_text_byte};
use fatscan_containers::ByteStream;
use memchr::memmem;

use super::Finder;
use crate::kernels::Kernel;
use crate::model::{CodeKind, Image, Module, Source};

const VERSION: &[u8] = b".version";
const ENTRY: &[u8] = b".entry";
/// Bytes of a PTX text that are looked at for kernels.
const TEXT: usize = 4 << 20;

impl<S: ByteStream> Finder<'_, S> {
    /// PTX text that lies bare in the file: `.version N.M`, then `.target`. It ends at the first byte that is no text,
    /// or where the next PTX text begins.
    pub(super) fn ptx(&mut self) {
        self.stream.fill(PTX_HEAD_LIMIT);
        if self.is_shadowed() {
            return;
        }
        let Some(head) = PtxHead::parse(self.stream.window()) else { return };
        let offset = self.stream.position();
        let kernels = self.text_kernels();
        self.stream.skip(u64::try_from(head.length).unwrap_or(0));
        let has_kernels = self.skip_text();
        let size = self.stream.position().saturating_sub(offset);
        let image = Image {
            arch: Some(head.target),
            version: Some(head.version),
            has_kernels: Some(has_kernels),
            kernels,
            ..Image::bare(CodeKind::Ptx, offset, size)
        };
        self.module(Module::new(Source::PtxText, offset, vec![image]));
    }

    /// The kernels of the text that the window starts with, where they are asked for.
    fn text_kernels(&mut self) -> Option<Vec<Kernel>> {
        self.reader()?;
        self.stream.fill(TEXT);
        let window = self.stream.window();
        let window = window.get(..TEXT).unwrap_or(window);
        let end = window.iter().position(|byte| !is_ptx_text_byte(*byte)).unwrap_or(window.len());
        let text = window.get(..end).unwrap_or(window);
        // a second text behind this one has kernels of its own
        let mut next = memmem::find_iter(text, VERSION).skip(1);
        let own = next.find(|at| text.get(*at..).is_some_and(|rest| PtxHead::parse(rest).is_some()));
        Some(self.reader()?.ptx(own.and_then(|at| text.get(..at)).unwrap_or(text)))
    }

    /// Steps over the text and returns whether it declares an entry function.
    fn skip_text(&mut self) -> bool {
        let mut has_entry = false;
        loop {
            let window = self.stream.window();
            let end = window.iter().position(|byte| !is_ptx_text_byte(*byte));
            let text = window.get(..end.unwrap_or(window.len())).unwrap_or(window);
            let next = memmem::find(text, VERSION);
            let own = next.and_then(|at| text.get(..at)).unwrap_or(text);
            has_entry |= memmem::find(own, ENTRY).is_some();
            if let Some(at) = next {
                self.step(at);
                self.stream.fill(PTX_HEAD_LIMIT);
                if PtxHead::parse(self.stream.window()).is_some() {
                    return has_entry;
                }
                self.step(1);
            } else if let Some(end) = end {
                self.step(end);
                return has_entry;
            } else {
                // either word may be cut by the end of the window
                let tail = VERSION.len().saturating_sub(1);
                let step = window.len().saturating_sub(tail);
                self.step(step);
                if !self.stream.fill(VERSION.len()) {
                    let rest = self.stream.window();
                    let end = rest.iter().position(|byte| !is_ptx_text_byte(*byte)).unwrap_or(rest.len());
                    let has_entry = has_entry | memmem::find(rest.get(..end).unwrap_or(rest), ENTRY).is_some();
                    self.step(end);
                    return has_entry;
                }
            }
        }
    }
}
