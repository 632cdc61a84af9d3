//! The section table of a library, whatever the format, as far as it labels bytes.

use object::elf::{self, FileHeader32, FileHeader64, PT_LOAD, SHT_NOBITS, SHT_NULL};
use object::macho::{MachHeader32, MachHeader64};
use object::pe::{AnonObjectHeaderBigobj, ImageDosHeader, ImageFileHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::ReadRef;
use object::read::coff::CoffHeader;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::read::macho::{MachHeader, Section as _, Segment as _};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader};
use object::{Endianness, LittleEndian};

use crate::format::Format;

/// A section with bytes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name as the file spells it (8 characters at most in a PE image), bytes that are not UTF-8 replaced.
    pub name: String,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Bytes in the file.
    pub size: u64,
}

/// A range of the file that is loaded at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Virtual address; with the image base in a PE image.
    pub address: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Bytes in the file.
    pub size: u64,
}

/// What kind of object a host file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectType {
    /// Linked: a library or an executable.
    Linked,
    /// An object file, still to be linked.
    Relocatable,
    /// Anything else.
    Other,
}

/// Sections, segments and machine of a host file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Host machine: `x86_64`, `aarch64`, `x86`, ...; `None` if it has no name here.
    pub machine: Option<&'static str>,
    /// Library or object file.
    pub object_type: ObjectType,
    /// Sections with bytes in the file, by offset.
    pub sections: Vec<Section>,
    /// Loaded ranges, in the order of the file.
    pub segments: Vec<Segment>,
    /// Whether the section table could be read. A file whose table was removed has none; one that is cut or damaged
    /// has [`Layout::damaged`] set too.
    pub named: bool,
    /// The file states a section table, and it cannot be read.
    pub damaged: bool,
}

impl Layout {
    /// The section that holds the byte at `offset` of the file.
    #[must_use]
    pub fn section_at(&self, offset: u64) -> Option<&Section> {
        let behind = self.sections.partition_point(|section| section.offset <= offset);
        // empty sections may share an offset with a full one
        let candidates = self.sections.get(..behind)?.iter().rev().take(8);
        candidates.into_iter().find(|section| offset.checked_sub(section.offset).is_some_and(|at| at < section.size))
    }

    /// The file offset of a virtual address.
    #[must_use]
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let at = address.checked_sub(segment.address)?;
            (at < segment.size).then(|| segment.offset.checked_add(at)).flatten()
        })
    }

    /// Reads the layout of a file of the given format; `None` if it is no host format or its first header is damaged.
    pub fn read<'data, R: ReadRef<'data>>(format: Format, data: R) -> Option<Self> {
        let mut layout = match format {
            Format::Elf => match data.read_bytes_at(4, 1).ok()?.first()? {
                1 => read_elf::<FileHeader32<Endianness>, R>(data),
                _ => read_elf::<FileHeader64<Endianness>, R>(data),
            },
            Format::Pe => read_pe(data),
            Format::Coff => read_coff(data),
            Format::MachO => read_macho::<MachHeader64<Endianness>, R>(data)
                .or_else(|| read_macho::<MachHeader32<Endianness>, R>(data)),
            _ => None,
        }?;
        layout.sections.sort_by_key(|section| section.offset);
        Some(layout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_elf<'data, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(data: R) -> Option<Layout> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let mut layout = Layout {
        machine: match header.e_machine(endian) {
            elf::EM_X86_64 => Some("x86_64"),
            elf::EM_AARCH64 => Some("aarch64"),
            elf::EM_386 => Some("x86"),
            elf::EM_ARM => Some("arm"),
            elf::EM_PPC64 => Some("ppc64"),
            elf::EM_RISCV => Some("riscv"),
            elf::EM_S390 => Some("s390x"),
            _ => None,
        },
        object_type: match header.e_type(endian) {
            elf::ET_REL => ObjectType::Relocatable,
            elf::ET_DYN | elf::ET_EXEC => ObjectType::Linked,
            _ => ObjectType::Other,
        },
        sections: Vec::new(),
        segments: Vec::new(),
        named: false,
        damaged: false,
    };
    for segment in header.program_headers(endian, data).unwrap_or_default() {
        if segment.p_type(endian) == PT_LOAD {
            let (offset, size) = segment.file_range(endian);
            layout.segments.push(Segment { address: segment.p_vaddr(endian).into(), offset, size });
        }
    }
    if header.e_shoff(endian).into() == 0 {
        return Some(layout);
    }
    let names = || {
        let table = header.section_headers(endian, data).ok()?;
        let index = header.section_strings_index(endian, data).ok()?;
        let (offset, size) = table.get(index.0)?.file_range(endian)?;
        // the whole table at once: a stream would otherwise be asked for every name apart
        data.read_bytes_at(offset, size).ok()?;
        header.section_strings(endian, data, table).ok().map(|strings| (table, strings))
    };
    let Some((table, strings)) = names() else {
        layout.damaged = true;
        return Some(layout);
    };
    layout.named = true;
    for section in table {
        // a file made by `objcopy --only-keep-debug` names its sections and holds none of their bytes; the fields of an
        // unused row mean something else, or nothing
        if [SHT_NOBITS, SHT_NULL].contains(&section.sh_type(endian)) {
            continue;
        }
        if let (Ok(name), Some((offset, size))) = (section.name(endian, strings), section.file_range(endian))
            && size > 0
        {
            layout.sections.push(Section { name: text(name), offset, size });
        }
    }
    Some(layout)
}

fn pe_machine(machine: object::pe::Machine) -> Option<&'static str> {
    match machine {
        object::pe::IMAGE_FILE_MACHINE_AMD64 => Some("x86_64"),
        object::pe::IMAGE_FILE_MACHINE_ARM64 => Some("aarch64"),
        object::pe::IMAGE_FILE_MACHINE_I386 => Some("x86"),
        _ => None,
    }
}

fn read_pe<'data, R: ReadRef<'data>>(data: R) -> Option<Layout> {
    read_pe_of::<ImageNtHeaders64, R>(data).or_else(|| read_pe_of::<ImageNtHeaders32, R>(data))
}

fn read_pe_of<'data, Pe: ImageNtHeaders, R: ReadRef<'data>>(data: R) -> Option<Layout> {
    let mut offset = ImageDosHeader::parse(data).ok()?.nt_headers_offset().into();
    let (headers, _) = Pe::parse(data, &mut offset).ok()?;
    let base = headers.optional_header().image_base();
    let mut layout = Layout {
        machine: pe_machine(headers.file_header().machine.get(LittleEndian)),
        object_type: ObjectType::Linked,
        sections: Vec::new(),
        segments: Vec::new(),
        named: true,
        damaged: false,
    };
    let Ok(table) = headers.sections(data, offset) else {
        return Some(Layout { named: false, damaged: true, ..layout });
    };
    for section in table.iter() {
        // the bytes in use: file alignment pads the raw size, zero-filled data extends the virtual one
        let (offset, size) = section.pe_file_range();
        let (offset, size) = (u64::from(offset), u64::from(size));
        layout.sections.push(Section { name: text(section.raw_name()), offset, size });
        let address = base.saturating_add(u64::from(section.virtual_address.get(LittleEndian)));
        layout.segments.push(Segment { address, offset, size });
    }
    Some(layout)
}

fn read_coff<'data, R: ReadRef<'data>>(data: R) -> Option<Layout> {
    if data.read_bytes_at(0, 4).ok()? == [0, 0, 0xff, 0xff] {
        read_coff_of::<AnonObjectHeaderBigobj, R>(data)
    } else {
        read_coff_of::<ImageFileHeader, R>(data)
    }
}

fn read_coff_of<'data, Coff: CoffHeader, R: ReadRef<'data>>(data: R) -> Option<Layout> {
    let mut offset = 0;
    let header = Coff::parse(data, &mut offset).ok()?;
    let mut layout = Layout {
        machine: pe_machine(header.machine()),
        object_type: ObjectType::Relocatable,
        sections: Vec::new(),
        segments: Vec::new(),
        named: true,
        damaged: false,
    };
    let (Ok(table), Ok(symbols)) = (header.sections(data, offset), header.symbols(data)) else {
        return Some(Layout { named: false, damaged: true, ..layout });
    };
    for section in table.iter() {
        // `/4` is an offset in the string table behind the symbols
        let name = section.name(symbols.strings()).unwrap_or(section.raw_name());
        if let Some((offset, size)) = section.coff_file_range() {
            layout.sections.push(Section { name: text(name), offset: offset.into(), size: size.into() });
        }
    }
    Some(layout)
}

fn read_macho<'data, Mach: MachHeader<Endian = Endianness>, R: ReadRef<'data>>(data: R) -> Option<Layout> {
    let header = Mach::parse(data, 0).ok()?;
    let endian = header.endian().ok()?;
    let mut layout = Layout {
        machine: match header.cputype(endian) {
            object::macho::CPU_TYPE_X86_64 => Some("x86_64"),
            object::macho::CPU_TYPE_ARM64 => Some("aarch64"),
            object::macho::CPU_TYPE_X86 => Some("x86"),
            _ => None,
        },
        object_type: match header.filetype(endian) {
            object::macho::MH_OBJECT => ObjectType::Relocatable,
            object::macho::MH_DYLIB | object::macho::MH_BUNDLE | object::macho::MH_EXECUTE => ObjectType::Linked,
            _ => ObjectType::Other,
        },
        sections: Vec::new(),
        segments: Vec::new(),
        named: true,
        damaged: false,
    };
    let Ok(mut commands) = header.load_commands(endian, data, 0) else {
        return Some(Layout { named: false, damaged: true, ..layout });
    };
    loop {
        let command = match commands.next() {
            Ok(Some(command)) => command,
            Ok(None) => return Some(layout),
            Err(_) => return Some(Layout { damaged: true, ..layout }),
        };
        let Ok(Some((segment, rest))) = Mach::Segment::from_command(command) else { continue };
        let (offset, size) = segment.file_range(endian);
        layout.segments.push(Segment { address: segment.vmaddr(endian).into(), offset, size });
        for section in segment.sections(endian, rest).unwrap_or_default() {
            if let Some((offset, size)) = section.file_range(endian, section.offset(endian).into()) {
                layout.sections.push(Section { name: text(section.name()), offset, size });
            }
        }
    }
}
