use cubin::{PTX_HEAD_LIMIT, PtxHead, is_ptx_text_byte};
use fatscan_containers::ByteStream;
use memchr::memmem;

use super::Finder;
use crate::diagnostic::Code;
use crate::model::{CodeKind, Image, Kernel, Module, Source};

const VERSION: &[u8] = b".version";
const ENTRY: &[u8] = b".entry";
/// Bytes that are looked at in one step.
const STEP: usize = 64 * 1024;

impl<S: ByteStream> Finder<'_, '_, S> {
    /// PTX text that lies bare in the file: `.version N.M`, then `.target`. It ends at the first byte that is no text,
    /// or where the next PTX text begins.
    pub(super) fn ptx(&mut self) {
        self.stream.fill(PTX_HEAD_LIMIT);
        if self.is_shadowed() {
            return;
        }
        let Some(head) = PtxHead::parse(self.stream.window()) else { return };
        let offset = self.stream.position();
        let kernels = self.text_kernels(offset);
        self.stream.skip(u64::try_from(head.length).unwrap_or(0));
        let has_kernels = self.skip_text();
        self.stream.trim();
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
    fn text_kernels(&mut self, offset: u64) -> Option<Vec<Kernel>> {
        self.reader()?;
        let most = self.run.limits().ptx_bytes;
        let asked = if self.stream.as_slice().is_some() { 0 } else { u64::try_from(most).unwrap_or(u64::MAX) };
        let grant = self.run.memory.grant(asked);
        let length = grant.as_ref().and_then(|_| self.text_length(most));
        let Some(length) = length else {
            self.issue(Code::LimitPayload, Some(offset), format!("a PTX text of more than {most} bytes"));
            return None;
        };
        let kernels = self.reader()?.ptx(self.stream.window().get(..length)?);
        drop(grant);
        kernels
    }

    /// Bytes of the text that the window starts with; `None` where they are more than `most`.
    fn text_length(&mut self, most: usize) -> Option<usize> {
        let mut searched = VERSION.len();
        let mut size = STEP;
        loop {
            self.stream.fill(size.saturating_add(PTX_HEAD_LIMIT));
            let window = self.stream.window();
            let part = window.get(..size).unwrap_or(window);
            let end = part.get(searched..).and_then(|rest| rest.iter().position(|byte| !is_ptx_text_byte(*byte)));
            let end = end.and_then(|at| at.checked_add(searched));
            let text = part.get(..end.unwrap_or(part.len())).unwrap_or(part);
            // a second text behind this one has kernels of its own
            let mut heads = memmem::find_iter(text.get(searched..).unwrap_or_default(), VERSION);
            let next = heads.find_map(|at| {
                let at = at.checked_add(searched)?;
                PtxHead::parse(window.get(at..)?).is_some().then_some(at)
            });
            if let Some(length) = next.or(end) {
                return Some(length);
            }
            if window.len() <= size {
                return Some(window.len());
            }
            if size >= most {
                return None;
            }
            searched = size.saturating_sub(VERSION.len()).max(searched);
            size = size.saturating_mul(2).min(most);
        }
    }

    /// Steps over the text and returns whether it declares an entry function.
    fn skip_text(&mut self) -> bool {
        let mut has_entry = false;
        // bytes at hand that are known to be text: none is looked at twice
        let mut known = 0usize;
        loop {
            self.stream.fill(VERSION.len());
            let window = self.stream.window();
            let length = window.len();
            let part = window.get(..STEP.max(known)).unwrap_or(window);
            let fresh = part.get(known..).unwrap_or_default();
            let end = fresh.iter().position(|byte| !is_ptx_text_byte(*byte)).and_then(|at| at.checked_add(known));
            known = end.unwrap_or(part.len());
            let text = part.get(..known).unwrap_or(part);
            let next = memmem::find(text, VERSION);
            let own = next.and_then(|at| text.get(..at)).unwrap_or(text);
            has_entry |= memmem::find(own, ENTRY).is_some();
            if let Some(at) = next {
                self.step(at);
                known = known.saturating_sub(at);
                self.stream.fill(PTX_HEAD_LIMIT);
                if PtxHead::parse(self.stream.window()).is_some() {
                    return has_entry;
                }
                self.step(1);
                known = known.saturating_sub(1);
                continue;
            }
            if let Some(end) = end {
                self.step(end);
                return has_entry;
            }
            // either word may be cut by the end of what was looked at
            let step = known.saturating_sub(VERSION.len().saturating_sub(1));
            let is_last = known == length && !self.stream.fill(length.saturating_add(1));
            if is_last || self.run.is_cancelled() {
                self.step(known);
                return has_entry;
            }
            self.step(step);
            known = known.saturating_sub(step);
        }
    }
}
