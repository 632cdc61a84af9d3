//! Host ELF: shared libraries, executables and objects, well-formed or with the oddities seen in the wild.
//!
//! File offsets equal virtual addresses.

use crate::bytes::{Bytes, Strings};

/// e_machine of the hosts.
pub mod machine {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const I386: u16 = 3;
    pub const X86_64: u16 = 62;
    pub const AARCH64: u16 = 183;
}

/// Section types and flags.
pub mod section {
    #![allow(missing_docs, reason = "the names are the meaning")]
    pub const PROGBITS: u32 = 1;
    pub const STRTAB: u32 = 3;
    pub const DYNAMIC: u32 = 6;
    pub const NOBITS: u32 = 8;
    pub const WRITE: u64 = 1;
    pub const ALLOC: u64 = 2;
    pub const EXEC: u64 = 4;
}

/// Where the section header table stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Behind all data, as usual.
    Last,
    /// Between the ELF header and the data.
    First,
    /// Behind the data, with this many bytes after it.
    Inside(usize),
    /// No section headers at all.
    None,
}

/// Where the section names (`.shstrtab`) stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Behind the other sections.
    Last,
    /// Before the other sections, far from the table.
    First,
}

/// One section.
#[derive(Clone, Debug)]
pub struct Section {
    /// Name.
    pub name: String,
    /// sh_type.
    pub kind: u32,
    /// sh_flags.
    pub flags: u64,
    /// Alignment of the bytes in the file; 0 and 1: none.
    pub align: usize,
    /// Bytes; empty for NOBITS.
    pub data: Vec<u8>,
    /// sh_size of a NOBITS section.
    pub nobits_size: u64,
    /// sh_link.
    pub link: u32,
}

impl Section {
    /// PROGBITS, allocated, 8-aligned.
    pub fn new(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            kind: section::PROGBITS,
            flags: section::ALLOC,
            align: 8,
            data: data.to_vec(),
            nobits_size: 0,
            link: 0,
        }
    }

    /// NOBITS of `size` bytes, as in the files of `objcopy --only-keep-debug`.
    pub fn nobits(name: &str, size: u64) -> Self {
        Self { kind: section::NOBITS, nobits_size: size, ..Self::new(name, &[]) }
    }

    /// Sets the alignment.
    pub fn align(mut self, align: usize) -> Self {
        self.align = align;
        self
    }
}

/// A host ELF.
#[derive(Clone, Debug)]
pub struct Elf {
    /// ELFCLASS64, else ELFCLASS32.
    pub wide: bool,
    /// See [`machine`].
    pub machine: u16,
    /// 1 ET_REL, 2 ET_EXEC, 3 ET_DYN.
    pub kind: u16,
    /// In file order.
    pub sections: Vec<Section>,
    /// Place of the section header table.
    pub table: Table,
    /// Place of the section names.
    pub names: Names,
    /// e_shnum = 0 and e_shstrndx = SHN_XINDEX, the true numbers in section header 0.
    pub extended_numbering: bool,
    /// Write one PT_LOAD over the whole file (not for ET_REL).
    pub load: bool,
    /// DT_NEEDED names; any makes `.dynstr`, `.dynamic`, PT_DYNAMIC.
    pub needed: Vec<String>,
    /// DT_SONAME.
    pub soname: Option<String>,
    /// DT_RPATH.
    pub rpath: Option<String>,
    /// DT_RUNPATH.
    pub runpath: Option<String>,
    /// DT_FLAGS_1, if not 0.
    pub flags_1: u64,
    /// Put `.dynstr` behind the other sections instead of before them.
    pub dynstr_last: bool,
    /// Replaces e_shoff.
    pub stated_shoff: Option<u64>,
}

impl Elf {
    /// A 64-bit x86-64 shared library without sections.
    pub fn shared() -> Self {
        Self {
            wide: true,
            machine: machine::X86_64,
            kind: 3,
            sections: Vec::new(),
            table: Table::Last,
            names: Names::Last,
            extended_numbering: false,
            load: true,
            needed: Vec::new(),
            soname: None,
            rpath: None,
            runpath: None,
            flags_1: 0,
            dynstr_last: false,
            stated_shoff: None,
        }
    }

    /// A 64-bit x86-64 object file (ET_REL).
    pub fn object() -> Self {
        Self { kind: 1, load: false, ..Self::shared() }
    }

    /// Sets the host.
    pub fn machine(mut self, machine: u16) -> Self {
        self.machine = machine;
        self
    }

    /// ELFCLASS32 for i386.
    pub fn narrow(mut self) -> Self {
        self.wide = false;
        self.machine(machine::I386)
    }

    /// Adds a PROGBITS section, 8-aligned.
    pub fn section(self, name: &str, data: &[u8]) -> Self {
        self.with(Section::new(name, data))
    }

    /// Adds any section.
    pub fn with(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Sets the place of the section header table.
    pub fn table(mut self, table: Table) -> Self {
        self.table = table;
        self
    }

    /// Sets the place of the section names.
    pub fn names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Turns on extended section numbering.
    pub fn extended_numbering(mut self) -> Self {
        self.extended_numbering = true;
        self
    }

    /// Adds a DT_NEEDED name.
    pub fn needs(mut self, library: &str) -> Self {
        self.needed.push(library.to_owned());
        self
    }

    /// Sets DT_SONAME.
    pub fn soname(mut self, name: &str) -> Self {
        self.soname = Some(name.to_owned());
        self
    }

    /// Sets DT_RPATH.
    pub fn rpath(mut self, path: &str) -> Self {
        self.rpath = Some(path.to_owned());
        self
    }

    /// Sets DT_RUNPATH.
    pub fn runpath(mut self, path: &str) -> Self {
        self.runpath = Some(path.to_owned());
        self
    }

    /// Sets DT_FLAGS_1.
    pub fn flags_1(mut self, flags: u64) -> Self {
        self.flags_1 = flags;
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        self.build().0
    }

    /// File offset of the first section of this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn offset_of(&self, name: &str) -> u64 {
        let built = self.build().1;
        built.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no section {name}")).1
    }

    /// Null section, the given ones, those of the dynamic linker, names.
    fn all_sections(&self) -> (Vec<Section>, usize) {
        let null = Section { kind: 0, flags: 0, align: 0, ..Section::new("", &[]) };
        let mut all = vec![null];
        let names = Section { kind: section::STRTAB, flags: 0, align: 1, ..Section::new(".shstrtab", &[]) };
        if self.names == Names::First {
            all.push(names.clone());
        }
        let mut dynamic = Vec::new();
        let texts = [(14, &self.soname), (15, &self.rpath), (29, &self.runpath)];
        if !self.needed.is_empty() || texts.iter().any(|(_, text)| text.is_some()) || self.flags_1 != 0 {
            let mut strings = Strings::elf();
            let mut entries: Vec<(u64, u64)> = self.needed.iter().map(|n| (1, u64::from(strings.add(n)))).collect();
            for (tag, text) in texts {
                entries.extend(text.iter().map(|text| (tag, u64::from(strings.add(text)))));
            }
            if self.flags_1 != 0 {
                entries.push((0x6fff_fffb, self.flags_1));
            }
            // DT_STRTAB is patched once the offset is known
            entries.extend([(5, 0), (10, strings.0.len() as u64), (0, 0)]);
            let mut table = Bytes::new();
            for (tag, value) in entries {
                self.word(&mut table, tag);
                self.word(&mut table, value);
            }
            let dynstr = Section { kind: section::STRTAB, align: 1, ..Section::new(".dynstr", &strings.0) };
            let flags = section::ALLOC | section::WRITE;
            let dyn_row = Section { kind: section::DYNAMIC, flags, ..Section::new(".dynamic", &table.0) };
            dynamic = if self.dynstr_last { vec![dyn_row, dynstr] } else { vec![dynstr, dyn_row] };
        }
        if self.dynstr_last {
            let tail = dynamic.pop();
            all.append(&mut dynamic);
            all.extend(self.sections.iter().cloned());
            all.extend(tail);
        } else {
            all.append(&mut dynamic);
            all.extend(self.sections.iter().cloned());
        }
        if self.names == Names::Last {
            all.push(names);
        }
        let mut strings = Strings::elf();
        for row in &all {
            strings.add(&row.name);
        }
        let shstrndx = all.iter().position(|s| s.name == ".shstrtab").unwrap();
        all[shstrndx].data = strings.0;
        let dynstr = all.iter().position(|s| s.name == ".dynstr").unwrap_or(0) as u32;
        for row in all.iter_mut().filter(|s| s.kind == section::DYNAMIC) {
            row.link = dynstr;
        }
        (all, shstrndx)
    }

    fn word(&self, out: &mut Bytes, value: u64) {
        if self.wide {
            out.u64(value);
        } else {
            out.u32(value as u32);
        }
    }

    fn build(&self) -> (Vec<u8>, Vec<(String, u64)>) {
        let (all, shstrndx) = self.all_sections();
        let has_dynamic = all.iter().any(|s| s.kind == section::DYNAMIC);
        let phnum = if self.kind == 1 { 0 } else { usize::from(self.load) + usize::from(has_dynamic) };
        let (header, phentsize, shentsize) = if self.wide { (64, 56, 64) } else { (52, 32, 40) };
        let mut out = Bytes::new();
        out.zeros(header + phnum * phentsize);
        let mut shoff = 0;
        if self.table == Table::First {
            shoff = out.align(8).len();
            out.zeros(all.len() * shentsize);
        }
        let mut offsets = Vec::new();
        for row in &all {
            out.align(row.align);
            offsets.push(if row.kind == 0 { 0 } else { out.len() as u64 });
            out.put(&row.data);
        }
        let mut table = Bytes::new();
        let mut names = Strings::elf();
        for (index, (row, offset)) in all.iter().zip(&offsets).enumerate() {
            let mut size = if row.kind == section::NOBITS { row.nobits_size } else { row.data.len() as u64 };
            let mut link = row.link;
            if index == 0 && self.extended_numbering {
                (size, link) = (all.len() as u64, shstrndx as u32);
            }
            table.u32(names.add(&row.name)).u32(row.kind);
            self.word(&mut table, row.flags);
            self.word(&mut table, if row.flags & section::ALLOC != 0 { *offset } else { 0 });
            self.word(&mut table, *offset);
            self.word(&mut table, size);
            table.u32(link).u32(0);
            self.word(&mut table, row.align as u64);
            let entsize = if row.kind == section::DYNAMIC { if self.wide { 16 } else { 8 } } else { 0 };
            self.word(&mut table, entsize);
        }
        match self.table {
            Table::First => {
                out.patch(shoff, &table.0);
            }
            Table::Last | Table::Inside(_) => {
                shoff = out.align(8).len();
                out.put(&table.0);
                if let Table::Inside(tail) = self.table {
                    out.zeros(tail);
                }
            }
            Table::None => {}
        }
        self.dynamic_strtab(&mut out, &all, &offsets);
        let segments = self.segments(&all, &offsets, out.len() as u64, phnum);
        out.patch(header, &segments);
        let stated = (self.table != Table::None).then_some((shoff as u64, all.len() as u16, shstrndx as u16));
        out.patch(0, &self.header(stated, phnum as u16));
        let places = all.iter().map(|s| s.name.clone()).zip(offsets).collect();
        (out.0, places)
    }

    /// Writes the address of `.dynstr` into DT_STRTAB.
    fn dynamic_strtab(&self, out: &mut Bytes, all: &[Section], offsets: &[u64]) {
        let at = |name: &str| all.iter().position(|s| s.name == name).map(|i| offsets[i]);
        let (Some(dynamic), Some(dynstr)) = (at(".dynamic"), at(".dynstr")) else { return };
        let width = if self.wide { 8 } else { 4 };
        let mut entry = dynamic as usize;
        while out.0[entry] != 0 {
            if out.0[entry] == 5 {
                let value = dynstr.to_le_bytes();
                out.patch(entry + width, &value[..width]);
            }
            entry += 2 * width;
        }
    }

    fn segments(&self, all: &[Section], offsets: &[u64], len: u64, phnum: usize) -> Vec<u8> {
        let mut out = Bytes::new();
        if phnum == 0 {
            return out.0;
        }
        if self.load {
            self.segment(&mut out, 1, 0, len, 0x1000);
        }
        if let Some(i) = all.iter().position(|s| s.kind == section::DYNAMIC) {
            self.segment(&mut out, 2, offsets[i], all[i].data.len() as u64, 8);
        }
        out.0
    }

    fn segment(&self, out: &mut Bytes, kind: u32, offset: u64, size: u64, align: u64) {
        let flags = 6;
        out.u32(kind);
        if self.wide {
            out.u32(flags).u64(offset).u64(offset).u64(offset).u64(size).u64(size).u64(align);
        } else {
            let (offset, size) = (offset as u32, size as u32);
            out.u32(offset).u32(offset).u32(offset).u32(size).u32(size).u32(flags).u32(align as u32);
        }
    }

    fn header(&self, table: Option<(u64, u16, u16)>, phnum: u16) -> Vec<u8> {
        let (size, phentsize, shentsize) = if self.wide { (64, 56, 64) } else { (52, 32, 40) };
        let (shoff, mut shnum, mut shstrndx) = table.unwrap_or((0, 0, 0));
        if table.is_some() && self.extended_numbering {
            (shnum, shstrndx) = (0, 0xFFFF);
        }
        let mut out = Bytes::new();
        out.put(b"\x7fELF").u8(if self.wide { 2 } else { 1 }).put(&[1, 1, 0]).zeros(8);
        out.u16(self.kind).u16(self.machine).u32(1);
        self.word(&mut out, 0);
        self.word(&mut out, if phnum > 0 { size } else { 0 });
        self.word(&mut out, self.stated_shoff.unwrap_or(shoff));
        out.u32(0).u16(size as u16).u16(if phnum > 0 { phentsize } else { 0 }).u16(phnum);
        out.u16(shentsize).u16(shnum).u16(shstrndx);
        out.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::{u16, u32, u64};

    #[test]
    fn section_bytes_stand_at_the_stated_offset() {
        let elf = Elf::shared().section(".text", b"code").section(".nv_fatbin", b"0123456789");
        let (b, at) = (elf.bytes(), elf.offset_of(".nv_fatbin") as usize);
        assert_eq!(&b[at..at + 10], b"0123456789");
        assert_eq!(at % 8, 0);
        // the row in the table says the same: null, .text, .nv_fatbin, .shstrtab
        let row = u64(&b, 40) as usize + 2 * 64;
        assert_eq!((u64(&b, row + 24), u64(&b, row + 32), u16(&b, 60), u16(&b, 62)), (at as u64, 10, 4, 3));
    }

    #[test]
    fn header_words_are_those_of_the_elf_specification() {
        let b = Elf::shared().machine(machine::AARCH64).bytes();
        assert_eq!(b[..7], *b"\x7fELF\x02\x01\x01");
        assert_eq!((u16(&b, 16), u16(&b, 18), u16(&b, 52), u16(&b, 54), u16(&b, 58)), (3, 183, 64, 56, 64));
        let b = Elf::object().narrow().section(".x", b"y").bytes();
        assert_eq!((b[4], u16(&b, 16), u16(&b, 18), u16(&b, 40), u16(&b, 46), u16(&b, 44)), (1, 1, 3, 52, 40, 0));
    }

    #[test]
    fn stripped_table_leaves_the_data() {
        let b = Elf::shared().section(".nv_fatbin", b"PAYLOAD").table(Table::None).bytes();
        assert_eq!((u64(&b, 40), u16(&b, 60), u16(&b, 62)), (0, 0, 0));
        assert!(b.windows(7).any(|w| w == b"PAYLOAD"));
    }

    #[test]
    fn table_first_precedes_and_names_first_are_far() {
        let elf = Elf::shared().section(".nv_fatbin", &[1; 4096]).table(Table::First);
        assert!(u64(&elf.bytes(), 40) < elf.offset_of(".nv_fatbin"));
        let elf = Elf::shared().section(".nv_fatbin", &[1; 4096]).names(Names::First).table(Table::Inside(99));
        let b = elf.bytes();
        assert!(elf.offset_of(".shstrtab") < elf.offset_of(".nv_fatbin"));
        assert_eq!(u64(&b, 40) + 3 * 64 + 99, b.len() as u64);
    }

    #[test]
    fn extended_numbering_moves_both_numbers_into_row_zero() {
        let b = Elf::shared().section(".a", b"x").extended_numbering().bytes();
        let row = u64(&b, 40) as usize;
        assert_eq!((u16(&b, 60), u16(&b, 62), u64(&b, row + 32), u32(&b, row + 40)), (0, 0xFFFF, 3, 2));
    }

    #[test]
    fn nobits_has_a_size_and_no_bytes() {
        let b = Elf::shared().with(Section::nobits(".nv_fatbin", 1 << 20)).bytes();
        let row = u64(&b, 40) as usize + 64;
        assert_eq!((u32(&b, row + 4), u64(&b, row + 32)), (8, 1 << 20));
        assert!(b.len() < 1024);
    }

    #[test]
    fn dynamic_names_the_needed_library() {
        let elf = Elf::shared().needs("libcudart.so.13").section(".nv_fatbin", b"x");
        let (b, dynamic) = (elf.bytes(), elf.offset_of(".dynamic") as usize);
        // PT_LOAD, then PT_DYNAMIC
        assert_eq!((u32(&b, 64), u32(&b, 120), u64(&b, 128)), (1, 2, dynamic as u64));
        assert_eq!((u64(&b, dynamic), u64(&b, dynamic + 16)), (1, 5));
        let name = (u64(&b, dynamic + 24) + u64(&b, dynamic + 8)) as usize;
        assert_eq!(&b[name..name + 16], b"libcudart.so.13\0");
    }
}
