use cubin::{Abi, Cubin, FileType, HEAD_SIZE, Head};
use fatscan_containers::ByteStream;
use gpu_arch::{Arch, Suffix};

use super::Finder;
use crate::diagnostic::Code;
use crate::kernels::Kernel;
use crate::model::{CodeKind, Image, Linkage, Module, Source};

impl<S: ByteStream> Finder<'_, S> {
    /// A cubin that lies bare in the file. Its first 64 bytes tell how long it is.
    pub(super) fn cubin(&mut self) {
        self.stream.fill(HEAD_SIZE);
        if self.is_shadowed() || !Head::matches(self.stream.window()) {
            return;
        }
        let offset = self.stream.position();
        let Ok(head) = Head::parse(self.stream.window()) else {
            self.issue(Code::CubinDamaged, Some(offset), "cut inside its file header".to_owned());
            return;
        };
        let head = Head { extent: self.extent(&head), ..head };
        let whole =
            if head.extent <= self.options.limits.cubin_bytes { usize::try_from(head.extent).ok() } else { None };
        let (arch, has_kernels, toolkit, kernels) = if let Some(whole) = whole {
            if !self.stream.fill(whole) {
                self.cut(offset, &head);
                return;
            }
            match Cubin::parse(self.stream.window().get(..whole).unwrap_or_default()) {
                Ok(cubin) => (cubin.arch, cubin.has_kernels, cubin.toolkit, self.bare_kernels(whole)),
                Err(error) => {
                    self.issue(Code::CubinDamaged, Some(offset), error.to_string());
                    (Arch::new(head.number, Suffix::None), None, None, None)
                }
            }
        } else {
            self.issue(Code::CubinLarge, Some(offset), format!("{} bytes", head.extent));
            (Arch::new(head.number, Suffix::None), None, None, None)
        };
        if self.stream.skip(head.extent) < head.extent {
            self.cut(offset, &head);
            self.stream.rewind(offset.saturating_add(1));
            return;
        }
        let image = Image {
            arch: Some(arch),
            cubin_abi: Some(abi(head.abi)),
            linkage: linkage(head.file_type),
            has_kernels,
            toolkit,
            kernels,
            ..Image::bare(CodeKind::Sass, offset, head.extent)
        };
        self.module(Module::new(Source::Cubin, offset, vec![image]));
    }

    /// How long the cubin is. Where its section table comes first, that tells more than its head; a claim that goes beyond
    /// the file or over another cubin does not count.
    fn extent(&mut self, head: &Head) -> u64 {
        let limit = self.options.limits.cubin_bytes;
        let Some(table) = usize::try_from(head.extent).ok().filter(|_| head.extent <= limit) else {
            return head.extent;
        };
        self.stream.fill(table);
        let extent = head.extent_in(self.stream.window());
        let Some(whole) = usize::try_from(extent).ok().filter(|_| extent <= limit) else { return head.extent };
        if whole == table || !self.stream.fill(whole) {
            return head.extent;
        }
        let more = self.stream.window().get(table..whole).unwrap_or_default();
        let other = memchr::memmem::find_iter(more, b"\x7fELF").any(|at| more.get(at..).is_some_and(Head::matches));
        if other { head.extent } else { extent }
    }

    /// The kernels of the bare cubin that the window starts with, where they are asked for.
    fn bare_kernels(&self, whole: usize) -> Option<Vec<Kernel>> {
        let reader = self.reader()?;
        reader.cubin(self.stream.window().get(..whole)?)
    }

    fn cut(&mut self, offset: u64, head: &Head) {
        self.issue(Code::CubinDamaged, Some(offset), format!("sm_{}: it states {} bytes", head.number, head.extent));
    }
}

pub(super) const fn abi(abi: Abi) -> u8 {
    match abi {
        Abi::V7 => 7,
        Abi::V8 => 8,
    }
}

pub(crate) const fn linkage(file_type: FileType) -> Linkage {
    match file_type {
        FileType::Executable => Linkage::Loadable,
        FileType::Relocatable => Linkage::Relocatable,
        FileType::Other(_) => Linkage::Unknown,
    }
}
