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
