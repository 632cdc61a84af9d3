use cubin::{Abi, Cubin, FileType, HEAD_SIZE, Head};
use fatscan_containers::ByteStream;
use gpu_arch::{Arch, Suffix};

use super::Finder;
use crate::diagnostic::Code;
use crate::model::{CodeKind, Image, Kernel, Linkage, Module, Source};

impl<S: ByteStream> Finder<'_, '_, S> {
    /// A cubin that lies bare in the file. Its first 64 bytes tell how long it is.
    pub(super) fn cubin(&mut self) {
        self.stream.fill(HEAD_SIZE);
        if self.is_shadowed() || !Head::matches(self.stream.window()) {
            return;
        }
        let offset = self.stream.position();
        let Ok(head) = Head::parse(self.stream.window()) else {
            self.no_cubin(offset, "cut inside its file header".to_owned());
            return;
        };
        let limit = self.run.limits().cubin_bytes;
        if head.extent > limit {
            self.large_cubin(offset, &head);
            return;
        }
        let run = self.run;
        let is_small = self.stream.as_slice().is_some() || head.extent <= run.memory.own();
        let mut grant = run.memory.grant(if is_small { head.extent.min(run.memory.own()) } else { limit });
        let mut extent = self.extent(&head);
        if let Some(more) = extent {
            if is_small && more > run.memory.own() && self.stream.as_slice().is_none() {
                // asked for anew, not beside what is granted
                drop(grant.take());
                grant = run.memory.grant(limit);
            }
            if !self.is_alone(&head, more) {
                extent = None;
            }
        }
        if grant.is_none() {
            self.issue(Code::LimitMemory, Some(offset), format!("{} bytes", head.extent));
            return;
        }
        let head = Head { extent: extent.unwrap_or(head.extent), ..head };
        let whole = usize::try_from(head.extent).unwrap_or(usize::MAX);
        if !self.stream.fill(whole) {
            self.cut(offset, &head);
            return;
        }
        if self.is_host() && self.is_blank(whole) {
            self.no_cubin(offset, "nothing but zeros behind its file header".to_owned());
            return;
        }
        let (arch, has_kernels, toolkit, kernels) =
            match Cubin::parse(self.stream.window().get(..whole).unwrap_or_default()) {
                Ok(cubin) => (cubin.arch, cubin.has_kernels, cubin.toolkit, self.bare_kernels(whole)),
                Err(error) if self.is_table(whole) || !self.is_host() => {
                    self.issue(Code::CubinDamaged, Some(offset), error.to_string());
                    (Arch::new(head.number, Suffix::None), None, None, None)
                }
                Err(_) => {
                    self.no_cubin(offset, "no section table where it states one".to_owned());
                    return;
                }
            };
        self.stream.skip(head.extent);
        self.stream.trim();
        drop(grant);
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

    /// One that is too large to be read whole: its suffix is not known.
    fn large_cubin(&mut self, offset: u64, head: &Head) {
        if self.stream.skip(head.extent) < head.extent {
            self.cut(offset, head);
            self.stream.rewind(offset.saturating_add(1));
            return;
        }
        self.issue(Code::CubinLarge, Some(offset), format!("{} bytes", head.extent));
        let image = Image {
            arch: Some(Arch::new(head.number, Suffix::None)),
            cubin_abi: Some(abi(head.abi)),
            linkage: linkage(head.file_type),
            ..Image::bare(CodeKind::Sass, offset, head.extent)
        };
        self.module(Module::new(Source::Cubin, offset, vec![image]));
    }

    /// How long the cubin is where its section table comes first, which tells more than its head.
    fn extent(&mut self, head: &Head) -> Option<u64> {
        let table = usize::try_from(head.extent).ok()?;
        self.stream.fill(table);
        let extent = head.extent_in(self.stream.window());
        (extent > head.extent && extent <= self.run.limits().cubin_bytes).then_some(extent)
    }

    /// Whether a cubin of that extent lies within the file, and no other one in it: a claim that goes beyond does not count.
    fn is_alone(&mut self, head: &Head, extent: u64) -> bool {
        let (Ok(table), Ok(whole)) = (usize::try_from(head.extent), usize::try_from(extent)) else { return false };
        if !self.stream.fill(whole) {
            return false;
        }
        let more = self.stream.window().get(table..whole).unwrap_or_default();
        !memchr::memmem::find_iter(more, b"\x7fELF").any(|at| more.get(at..).is_some_and(Head::matches))
    }

    /// Whether nothing but zeros stands behind the file header of the cubin at hand.
    fn is_blank(&self, whole: usize) -> bool {
        let behind = self.stream.window().get(cubin::HEAD_SIZE..whole).unwrap_or_default();
        behind.iter().all(|byte| *byte == 0)
    }

    /// Whether a section table begins where the cubin at hand states it: its first row is always zeros.
    fn is_table(&self, whole: usize) -> bool {
        let bytes = self.stream.window().get(..whole).unwrap_or_default();
        let row = || {
            let offset = if bytes.get(4) == Some(&2) {
                u64::from_le_bytes(*bytes.get(40..)?.first_chunk()?)
            } else {
                u64::from(u32::from_le_bytes(*bytes.get(32..)?.first_chunk()?))
            };
            bytes.get(usize::try_from(offset).ok()?..)?.first_chunk::<40>()
        };
        row().is_some_and(|row| row.iter().all(|byte| *byte == 0))
    }

    /// The kernels of the bare cubin that the window starts with, where they are asked for.
    fn bare_kernels(&self, whole: usize) -> Option<Vec<Kernel>> {
        let reader = self.reader()?;
        reader.cubin(self.stream.window().get(..whole)?)
    }

    fn cut(&mut self, offset: u64, head: &Head) {
        self.no_cubin(offset, format!("sm_{}: it states {} bytes", head.number, head.extent));
    }

    /// The start of a cubin without the rest: damage where a cubin must be, else data that look like one.
    fn no_cubin(&mut self, offset: u64, detail: String) {
        let code = if self.is_host() { Code::LooksLikeCubin } else { Code::CubinDamaged };
        self.issue(code, Some(offset), detail);
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
