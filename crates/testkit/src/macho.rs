//! 64-bit Mach-O libraries, thin and universal.

use crate::bytes::Bytes;

/// CPU types.
pub mod cpu {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const X86_64: u32 = 0x0100_0007;
    pub const ARM64: u32 = 0x0100_000C;
}

/// A thin 64-bit library; sections of one segment must follow each other.
#[derive(Clone, Debug)]
pub struct MachO {
    /// See [`cpu`].
    pub cpu: u32,
    /// Segment name, section name, bytes.
    pub sections: Vec<(String, String, Vec<u8>)>,
    /// LC_ID_DYLIB, the library's own name.
    pub id: String,
    /// LC_LOAD_DYLIB names.
    pub needed: Vec<String>,
}

impl MachO {
    /// An x86-64 dylib without sections.
    pub fn dylib() -> Self {
        Self { cpu: cpu::X86_64, sections: Vec::new(), id: "@rpath/libx.dylib".to_owned(), needed: Vec::new() }
    }

    /// Sets the CPU type.
    pub fn cpu(mut self, cpu: u32) -> Self {
        self.cpu = cpu;
        self
    }

    /// Adds a section.
    pub fn section(mut self, segment: &str, name: &str, data: &[u8]) -> Self {
        self.sections.push((segment.to_owned(), name.to_owned(), data.to_vec()));
        self
    }

    /// Adds a fatbin where CUDA for macOS put it: segment `__NV_CUDA`, section `__nv_fatbin`.
    pub fn fatbin(self, data: &[u8]) -> Self {
        self.section("__NV_CUDA", "__nv_fatbin", data)
    }

    /// Adds a needed library.
    pub fn needs(mut self, library: &str) -> Self {
        self.needed.push(library.to_owned());
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut segments: Vec<(&str, Vec<usize>)> = Vec::new();
        for (index, (segment, _, _)) in self.sections.iter().enumerate() {
            match segments.last_mut() {
                Some((name, members)) if name == segment => members.push(index),
                _ => segments.push((segment, vec![index])),
            }
        }
        let dylib_len = |name: &str| (24 + name.len() + 1).next_multiple_of(8);
        let commands_len: usize = segments.iter().map(|(_, m)| 72 + 80 * m.len()).sum::<usize>()
            + dylib_len(&self.id)
            + self.needed.iter().map(|n| dylib_len(n)).sum::<usize>();
        let mut body = Bytes::new();
        body.zeros(32 + commands_len);
        let mut offsets = Vec::new();
        for (_, _, data) in &self.sections {
            offsets.push(body.align(16).len() as u64);
            body.put(data);
        }
        let mut head = Bytes::new();
        // magic, cpu type, subtype, MH_DYLIB, commands, their size, flags, reserved
        head.u32(0xFEED_FACF).u32(self.cpu).u32(if self.cpu == cpu::X86_64 { 3 } else { 0 }).u32(6);
        head.u32((segments.len() + 1 + self.needed.len()) as u32).u32(commands_len as u32).u32(0x85).u32(0);
        for (name, members) in &segments {
            let first = offsets[members[0]];
            let last = members[members.len() - 1];
            let size = offsets[last] + self.sections[last].2.len() as u64 - first;
            head.u32(0x19).u32((72 + 80 * members.len()) as u32).fixed(name, 16);
            head.u64(first).u64(size).u64(first).u64(size).u32(7).u32(3).u32(members.len() as u32).u32(0);
            for &member in members {
                let (segment, section, data) = &self.sections[member];
                head.fixed(section, 16).fixed(segment, 16).u64(offsets[member]).u64(data.len() as u64);
                head.u32(offsets[member] as u32).u32(4).u32(0).u32(0).u32(0).u32(0).u32(0).u32(0);
            }
        }
        let own = std::iter::once((0xD, &self.id));
        for (command, name) in own.chain(self.needed.iter().map(|n| (0xC, n))) {
            let len = dylib_len(name);
            let end = head.len() + len;
            head.u32(command).u32(len as u32).u32(24).u32(2).u32(0x10000).u32(0x10000).cstr(name);
            head.zeros(end - head.len());
        }
        body.patch(0, &head.0);
        body.0
    }
}

/// A universal file of (CPU type, thin file); `wide` uses the 64-bit header.
pub fn universal(slices: &[(u32, Vec<u8>)], wide: bool) -> Vec<u8> {
    let row = if wide { 32 } else { 20 };
    let mut out = Bytes::new();
    out.be32(if wide { 0xCAFE_BABF } else { 0xCAFE_BABE }).be32(slices.len() as u32);
    let mut offset = (8 + row * slices.len()).next_multiple_of(4096);
    let mut places = Vec::new();
    for (cpu, data) in slices {
        places.push(offset);
        out.be32(*cpu).be32(if *cpu == cpu::X86_64 { 3 } else { 0 });
        if wide {
            out.be64(offset as u64).be64(data.len() as u64).be32(12).be32(0);
        } else {
            out.be32(offset as u32).be32(data.len() as u32).be32(12);
        }
        offset = (offset + data.len()).next_multiple_of(4096);
    }
    for ((_, data), place) in slices.iter().zip(places) {
        out.zeros(place - out.len()).put(data);
    }
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{be32, u32, u64};

    #[test]
    fn thin_file_names_segment_and_section() {
        let b = MachO::dylib().fatbin(b"FATBIN").bytes();
        assert_eq!(b[..4], [0xCF, 0xFA, 0xED, 0xFE]);
        assert_eq!((u32(&b, 4), u32(&b, 12), u32(&b, 16), u32(&b, 20)), (0x0100_0007, 6, 2, 152 + 48));
        assert_eq!((u32(&b, 32), u32(&b, 36)), (0x19, 152));
        assert_eq!(&b[40..50], b"__NV_CUDA\0");
        let section = 32 + 72;
        assert_eq!(&b[section..section + 12], b"__nv_fatbin\0");
        assert_eq!(&b[section + 16..section + 25], b"__NV_CUDA");
        let at = u32(&b, section + 48) as usize;
        assert_eq!((u64(&b, section + 40), &b[at..at + 6]), (6, &b"FATBIN"[..]));
    }

    #[test]
    fn universal_headers_are_big_endian() {
        let thin = MachO::dylib().fatbin(b"x").bytes();
        let b = universal(&[(cpu::X86_64, thin.clone()), (cpu::ARM64, thin.clone())], false);
        assert_eq!(b[..8], [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2]);
        let at = be32(&b, 16) as usize;
        assert_eq!((be32(&b, 20) as usize, &b[at..at + 4]), (thin.len(), &thin[..4]));
        let b = universal(&[(cpu::ARM64, thin.clone())], true);
        assert_eq!(b[..4], [0xCA, 0xFE, 0xBA, 0xBF]);
        assert_eq!((be32(&b, 16), be32(&b, 20), be32(&b, 28) as usize), (0, 4096, thin.len()));
    }
}
