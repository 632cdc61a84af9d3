//! Device ELF: a small cubin in the section order of real ones, for both ABIs.
//!
//! Order: `.shstrtab`, `.strtab`, `.symtab` first, `.text.K` and constants late, then the section headers, then the
//! program headers (executables only), which are the last bytes of the file.

use crate::bytes::{Bytes, Strings};
use crate::fatbin::{flag, parse_arch};

/// One function of a cubin.
#[derive(Clone, Debug)]
pub struct Function {
    /// Mangled name.
    pub name: String,
    /// A kernel (STO_CUDA_ENTRY); false for a device function.
    pub entry: bool,
    /// 0 local, 1 global, 2 weak.
    pub binding: u8,
    /// Code bytes (zeros).
    pub size: usize,
    /// Registers stated in `.nv.info`.
    pub registers: u32,
    /// Bytes of `.nv.shared.K` (NOBITS); 0 for no section.
    pub shared: u64,
}

/// A cubin; [`Cubin::new`] gives what nvcc 13.5 writes for one kernel `k`.
#[derive(Clone, Debug)]
pub struct Cubin {
    /// SM number.
    pub sm: u32,
    /// `a`, `f` or empty.
    pub suffix: String,
    /// 7 or 8.
    pub abi: u8,
    /// 10 * major + minor: 135 for CUDA 13.5. Decides e_version (ABI 7), where `a` stands (ABI 8), and the notes.
    pub toolkit: u32,
    /// ET_REL instead of ET_EXEC.
    pub relocatable: bool,
    /// Functions in symbol order.
    pub functions: Vec<Function>,
    /// Write `.nv.compat` (ABI 8; nvcc does so from sm_90 on).
    pub compat: bool,
    /// Write `.note.nv.tkinfo` (ABI 8); one command line for each note. Empty: none.
    pub command_lines: Vec<String>,
    /// Replaces e_flags.
    pub stated_flags: Option<u32>,
    /// Text of a `.nv_debug_ptx_txt` section.
    pub debug_ptx: Option<String>,
    /// Replaces e_shoff.
    pub stated_shoff: Option<u64>,
}

struct Row {
    name: String,
    kind: u32,
    flags: u64,
    data: Vec<u8>,
    nobits: u64,
    link: u32,
    info: u32,
    align: u64,
    entsize: u64,
}

impl Row {
    fn new(name: &str, kind: u32, flags: u64, align: u64, data: Vec<u8>) -> Self {
        Self { name: name.to_owned(), kind, flags, data, nobits: 0, link: 0, info: 0, align, entsize: 0 }
    }
}

const PROGBITS: u32 = 1;
const NV_INFO: u32 = 0x7000_0000;
const NV_COMPAT: u32 = 0x7000_0086;

impl Cubin {
    /// ABI 8, CUDA 13.5, executable, one kernel `k`, with `.nv.compat` and tkinfo: `Cubin::new("100f")`.
    pub fn new(arch: &str) -> Self {
        let (sm, bits) = parse_arch(arch);
        let suffix = match bits {
            flag::ARCH_A => "a",
            flag::ARCH_F => "f",
            _ => "",
        };
        Self {
            sm,
            suffix: suffix.to_owned(),
            abi: 8,
            toolkit: 135,
            relocatable: false,
            functions: Vec::new(),
            compat: sm >= 90,
            command_lines: vec![format!("-arch sm_{sm}{suffix} -m 64 ")],
            stated_flags: None,
            debug_ptx: None,
            stated_shoff: None,
        }
        .kernel("k")
    }

    /// ABI 7 as CUDA 12.4 writes it for sm_50 .. sm_90a.
    pub fn abi7(arch: &str) -> Self {
        let mut cubin = Self::new(arch).toolkit(124);
        cubin.abi = 7;
        cubin.compat = false;
        cubin.command_lines.clear();
        cubin
    }

    /// The toolkit as 10 * major + minor.
    pub fn toolkit(mut self, toolkit: u32) -> Self {
        self.toolkit = toolkit;
        self
    }

    /// ET_REL, without program headers.
    pub fn relocatable(mut self) -> Self {
        self.relocatable = true;
        self
    }

    /// Adds a global kernel of 128 bytes.
    pub fn kernel(self, name: &str) -> Self {
        self.function(Function { name: name.to_owned(), entry: true, binding: 1, size: 128, registers: 8, shared: 0 })
    }

    /// Adds a global device function, which is no kernel.
    pub fn device_function(self, name: &str) -> Self {
        self.function(Function { name: name.to_owned(), entry: false, binding: 1, size: 128, registers: 8, shared: 0 })
    }

    /// Adds any function.
    pub fn function(mut self, function: Function) -> Self {
        self.functions.push(function);
        self
    }

    /// Removes all functions, as in the cubin of a translation unit without kernels.
    pub fn without_functions(mut self) -> Self {
        self.functions.clear();
        self
    }

    /// Leaves out `.note.nv.tkinfo`, the only place of the `f`.
    pub fn without_tkinfo(mut self) -> Self {
        self.command_lines.clear();
        self
    }

    /// Leaves out `.nv.compat`.
    pub fn without_compat(mut self) -> Self {
        self.compat = false;
        self
    }

    /// Adds a `.nv_debug_ptx_txt` section, PTX that is not to be reported.
    pub fn debug_ptx(mut self, text: &str) -> Self {
        self.debug_ptx = Some(text.to_owned());
        self
    }

    /// The e_flags that NVIDIA's tools write for this architecture, ABI and toolkit.
    pub fn flags(&self) -> u32 {
        if let Some(flags) = self.stated_flags {
            return flags;
        }
        let a = self.suffix == "a";
        if self.abi == 7 {
            return self.sm | 0x500 | self.sm << 16 | if a { 0x800 } else { 0 };
        }
        let low = if self.sm >= 100 { 2 } else { 4 };
        let old_a = if a && self.toolkit < 130 { 8 } else { 0 };
        0x0600_0000 | self.sm << 8 | low | old_a
    }

    /// The bytes of `.nv.compat`. Attribute 9 (the `a`) exists from 13.0 on.
    pub fn compat_blob(&self) -> Vec<u8> {
        let mut out = Bytes::new();
        if self.toolkit >= 130 {
            out.put(&[2, 9, u8::from(self.suffix == "a"), 0, 2, 0x0C, 0, 0, 2, 2, 1, 0, 3, 0x0D, 1, 1, 2, 3, 0, 0]);
            out.put(&[4, 0x0B, 8, 0]).zeros(8).put(&[3, 0x0E, 0x40, 4]);
        } else {
            out.put(&[2, 2, 1, 0, 2, 5, 5, 0, 2, 3, 0, 0, 2, 6, 1, 0]);
        }
        out.0
    }

    fn tkinfo(&self) -> Vec<u8> {
        let (major, minor) = (self.toolkit / 10, self.toolkit % 10);
        let mut notes = Bytes::new();
        for line in &self.command_lines {
            let mut strings = Bytes::new();
            strings.u8(0);
            let mut offsets = vec![0];
            let version = format!("Cuda compilation tools, release {major}.{minor}, V{major}.{minor}.37");
            let branch = format!("Build cuda_{major}.{minor}.r{major}.{minor}/compiler.0_0");
            for text in ["ptxas", &version, &branch, line] {
                offsets.push(strings.len() as u32);
                strings.cstr(text);
            }
            let mut desc = Bytes::new();
            desc.u32(if self.toolkit >= 130 { 2 } else { self.toolkit });
            for offset in offsets {
                desc.u32(offset);
            }
            desc.put(&strings.0).align(4);
            notes.u32(12).u32(desc.len() as u32).u32(0x7D0).cstr("NVIDIA Corp").put(&desc.0);
        }
        notes.0
    }

    fn cuinfo(&self) -> Vec<u8> {
        let mut note = Bytes::new();
        note.u32(12).u32(8).u32(0x3E8).cstr("NVIDIA Corp");
        note.u16(2).u16(self.sm as u16).u16(self.toolkit as u16).u16(0);
        note.0
    }

    /// All sections behind `.symtab`, in file order.
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        if self.abi == 8 && !self.command_lines.is_empty() {
            rows.push(Row::new(".note.nv.tkinfo", 7, 0x200_0000, 4, self.tkinfo()));
            if self.toolkit >= 130 {
                rows.push(Row::new(".note.nv.cuinfo", 7, 0x100_0000, 4, self.cuinfo()));
            }
        }
        let first_symbol = 1;
        let mut info = Bytes::new();
        for (index, function) in self.functions.iter().enumerate() {
            let symbol = first_symbol + index as u32;
            info.put(&[4, 0x2F, 8, 0]).u32(symbol).u32(function.registers);
            info.put(&[4, 0x11, 8, 0]).u32(symbol).u32(0);
            info.put(&[4, 0x12, 8, 0]).u32(symbol).u32(0);
        }
        rows.push(Row::new(".nv.info", NV_INFO, 0, 4, info.0));
        if self.abi == 8 && self.compat {
            rows.push(Row::new(".nv.compat", NV_COMPAT, 0, 4, self.compat_blob()));
        }
        for function in &self.functions {
            let mut info = Bytes::new();
            info.put(&[4, 0x37, 4, 0]).u32(self.toolkit).put(&[3, 0x1B, 0xFF, 0, 3, 0x19, 8, 0]);
            rows.push(Row::new(&format!(".nv.info.{}", function.name), NV_INFO, 0x40, 4, info.0));
        }
        if let Some(text) = &self.debug_ptx {
            rows.push(Row::new(".nv_debug_ptx_txt", PROGBITS, 0, 1, text.as_bytes().to_vec()));
        }
        for function in &self.functions {
            rows.push(Row::new(&format!(".text.{}", function.name), PROGBITS, 6, 128, vec![0; function.size]));
        }
        for function in self.functions.iter().filter(|f| f.shared > 0) {
            let kind = if self.relocatable { 0x7000_000A } else { 8 };
            let mut row = Row::new(&format!(".nv.shared.{}", function.name), kind, 0x43, 16, Vec::new());
            row.nobits = function.shared;
            rows.push(row);
        }
        for function in self.functions.iter().filter(|f| f.entry) {
            let kind = if self.relocatable { 0x7000_0064 } else { PROGBITS };
            rows.push(Row::new(&format!(".nv.constant0.{}", function.name), kind, 0x42, 4, vec![0; 0x210]));
        }
        rows
    }

    /// The whole ELF.
    pub fn bytes(&self) -> Vec<u8> {
        let mut rows = self.rows();
        // sections: 0 null, 1 .shstrtab, 2 .strtab, 3 .symtab, then rows
        let index_of = |rows: &[Row], name: &str| rows.iter().position(|r| r.name == name).map_or(0, |i| i as u32 + 4);
        let mut strtab = Strings::elf();
        let mut symtab = Bytes::new();
        symtab.zeros(24);
        for function in &self.functions {
            let section = index_of(&rows, &format!(".text.{}", function.name));
            symtab.u32(strtab.add(&function.name)).u8(function.binding << 4 | 2);
            symtab.u8(if function.entry { 0x10 } else { 0 }).u16(section as u16).u64(0).u64(function.size as u64);
        }
        for function in &self.functions {
            let text = index_of(&rows, &format!(".text.{}", function.name));
            for row in rows.iter_mut().filter(|r| r.name.ends_with(&format!(".{}", function.name))) {
                row.info = text;
            }
        }
        for (symbol, function) in self.functions.iter().enumerate() {
            let text = format!(".text.{}", function.name);
            for row in rows.iter_mut().filter(|r| r.name == text) {
                row.info = (1 + symbol as u32) | if self.sm < 90 { function.registers << 24 } else { 0 };
                row.link = 3;
            }
        }
        let (tkinfo, compat) = (index_of(&rows, ".note.nv.tkinfo"), index_of(&rows, ".nv.compat"));
        for row in &mut rows {
            match row.name.as_str() {
                ".note.nv.cuinfo" => {
                    (row.link, row.info) = (tkinfo, compat);
                    row.flags |= if compat > 0 { 0x40 } else { 0 };
                }
                name if name.starts_with(".nv.info") => row.link = 3,
                _ => {}
            }
        }
        let mut symtab_row = Row::new(".symtab", 2, 0, 8, symtab.0);
        (symtab_row.link, symtab_row.info, symtab_row.entsize) = (2, 1, 24);
        let mut all = vec![
            Row::new("", 0, 0, 0, Vec::new()),
            Row::new(".shstrtab", 3, 0, 1, Vec::new()),
            Row::new(".strtab", 3, 0, 1, strtab.0),
            symtab_row,
        ];
        all.append(&mut rows);
        let mut shstrtab = Strings::elf();
        let names: Vec<u32> = all.iter().map(|r| shstrtab.add(&r.name)).collect();
        all[1].data = shstrtab.0;

        let mut out = Bytes::new();
        out.zeros(64);
        let mut offsets = Vec::new();
        for row in &all {
            if row.kind != 0 {
                out.align(row.align as usize);
            }
            offsets.push(if row.kind == 0 { 0 } else { out.len() as u64 });
            out.put(&row.data);
        }
        let shoff = out.len() as u64;
        for ((row, name), offset) in all.iter().zip(&names).zip(&offsets) {
            let size = if row.data.is_empty() { row.nobits } else { row.data.len() as u64 };
            out.u32(*name).u32(row.kind).u64(row.flags).u64(0).u64(*offset).u64(size);
            out.u32(row.link).u32(row.info).u64(row.align).u64(row.entsize);
        }
        let (phoff, phnum) =
            if self.relocatable { (0, 0) } else { (out.len() as u64, self.program_headers(&mut out, &all, &offsets)) };
        let mut head = Bytes::new();
        head.put(b"\x7fELF\x02\x01\x01").u8(if self.abi == 7 { 0x33 } else { 0x41 }).u8(self.abi).zeros(7);
        head.u16(if self.relocatable { 1 } else { 2 }).u16(190).u32(if self.abi == 7 { self.toolkit } else { 1 });
        head.u64(0).u64(phoff).u64(self.stated_shoff.unwrap_or(shoff)).u32(self.flags()).u16(64);
        head.u16(if phnum > 0 { 56 } else { 0 }).u16(phnum).u16(64).u16(all.len() as u16).u16(1);
        out.patch(0, &head.0);
        out.0
    }

    /// PT_PHDR, a LOAD of the headers themselves, and one LOAD for each allocated section with bytes.
    fn program_headers(&self, out: &mut Bytes, all: &[Row], offsets: &[u64]) -> u16 {
        let loads: Vec<(u64, u64, u32)> = all
            .iter()
            .zip(offsets)
            .filter(|(row, _)| row.flags & 2 != 0 && row.kind == PROGBITS)
            .map(|(row, offset)| (*offset, row.data.len() as u64, if row.flags & 4 != 0 { 5 } else { 4 }))
            .collect();
        let phnum = loads.len() as u16 + 2;
        let (phoff, size) = (out.len() as u64, u64::from(phnum) * 56);
        out.u32(6).u32(4).u64(phoff).u64(0).u64(0).u64(size).u64(size).u64(8);
        out.u32(1).u32(4).u64(phoff).u64(0).u64(0).u64(size).u64(size).u64(8);
        for (offset, size, flags) in loads {
            out.u32(1).u32(flags).u64(offset).u64(0).u64(0).u64(size).u64(size).u64(8);
        }
        phnum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{u16, u32, u64};

    /// e_flags that ptxas 12.4, 12.9 and 13.5 wrote, from the table in the format description.
    #[test]
    fn flags_are_those_of_ptxas() {
        assert_eq!(Cubin::abi7("90").flags(), 0x005A_055A);
        assert_eq!(Cubin::abi7("90a").flags(), 0x005A_0D5A);
        assert_eq!(Cubin::new("90a").flags(), 0x0600_5A04);
        assert_eq!(Cubin::new("100f").flags(), 0x0600_6402);
        assert_eq!(Cubin::new("100a").toolkit(129).flags(), 0x0600_640A);
        assert_eq!(Cubin::new("121").flags(), 0x0600_7902);
    }

    #[test]
    fn first_bytes_tell_abi_and_extent() {
        let b = Cubin::abi7("90a").bytes();
        assert_eq!(b[..16], *b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0");
        assert_eq!((u16(&b, 16), u16(&b, 18), u32(&b, 20)), (2, 190, 124));
        let b = Cubin::new("100f").bytes();
        assert_eq!(b[..16], *b"\x7fELF\x02\x01\x01\x41\x08\0\0\0\0\0\0\0");
        // section headers, then program headers, then nothing
        let (phoff, shoff) = (u64(&b, 32), u64(&b, 40));
        assert_eq!(shoff + u64::from(u16(&b, 60)) * 64, phoff);
        assert_eq!(phoff + u64::from(u16(&b, 56)) * 56, b.len() as u64);
    }

    #[test]
    fn relocatable_ends_with_its_section_headers() {
        let b = Cubin::new("90").relocatable().bytes();
        assert_eq!((u16(&b, 16), u64(&b, 32), u16(&b, 56)), (1, 0, 0));
        assert_eq!(u64(&b, 40) + u64::from(u16(&b, 60)) * 64, b.len() as u64);
    }

    #[test]
    fn compat_and_tkinfo_equal_those_of_nvcc() {
        // words seen in the sections of cubin_sm_90a.cubin
        assert_eq!(Cubin::new("90a").compat_blob()[..4], [2, 9, 1, 0]);
        assert_eq!(Cubin::new("100f").compat_blob()[..4], [2, 9, 0, 0]);
        assert_eq!(Cubin::new("100a").toolkit(129).compat_blob(), [2, 2, 1, 0, 2, 5, 5, 0, 2, 3, 0, 0, 2, 6, 1, 0]);
        let note = Cubin::new("100f").tkinfo();
        let theirs = crate::truth::bytes("cubin_sm_100f.cubin");
        let at = theirs.windows(11).position(|w| w == b"NVIDIA Corp").unwrap() - 12;
        // name size, type, name, note version, first two string offsets; the branch text differs
        assert_eq!(note[..4], theirs[at..at + 4]);
        assert_eq!(note[8..44], theirs[at + 8..at + 44]);
        assert!(note.windows(15).any(|w| w == b"-arch sm_100f -"));
    }

    #[test]
    fn strings_come_first_and_symbols_name_the_kernel() {
        let b = Cubin::new("80").bytes();
        let row = |i: usize| u64(&b, 40) as usize + 64 * i;
        assert_eq!(u64(&b, row(1) + 24), 0x40);
        let symtab = u64(&b, row(3) + 24) as usize;
        assert_eq!(u64(&b, row(3) + 32), 48);
        // global FUNC with STO_CUDA_ENTRY
        assert_eq!((b[symtab + 28], b[symtab + 29]), (0x12, 0x10));
        assert_ne!(u16(&b, symtab + 30), 0);
    }
}
