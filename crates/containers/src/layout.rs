//! The section table of a library, whatever the format, as far as it labels bytes and tells where the file ends.

use object::elf::{self, FileHeader32, FileHeader64, PT_DYNAMIC, PT_LOAD, SHF_ALLOC, SHT_NOBITS, SHT_NULL};
use object::macho::{MachHeader32, MachHeader64};
use object::pe::{
    AnonObjectHeaderBigobj, IMAGE_DIRECTORY_ENTRY_SECURITY, ImageDosHeader, ImageFileHeader, ImageNtHeaders32,
    ImageNtHeaders64, ImageSectionHeader,
};
use object::pod::{Pod, slice_from_bytes};
use object::read::coff::CoffHeader;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::read::macho::{MachHeader, Section as _, Segment as _};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader};
use object::{Endianness, LittleEndian};

use crate::format::Format;
use crate::number::digits;
use crate::ranges::Ranges;
use crate::stream::ByteStream;

/// Bytes of the start of a file that its headers are looked for in.
pub const PREFIX_SIZE: usize = 64 * 1024;
/// A table of section names up to this size is read as a whole; of a larger one the names that are asked for.
const NAMES: u64 = 1 << 20;
/// Bytes of one section name that are kept.
pub const SECTION_NAME: usize = 256;

/// A section with bytes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Bytes in the file.
    pub size: u64,
    /// Whether it says that it is part of the program in memory.
    pub is_loaded: bool,
    name: Name,
}

/// Where the name of a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// In the section's row.
    Own([u8; 16]),
    /// At an offset of the file.
    At(u64),
    None,
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

/// What a PE image states of itself as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeImage {
    /// Where its checksum of 4 bytes stands in the file; zero there means that it has none.
    pub checksum: u64,
    /// Whether it has signatures (a directory of certificates that is not empty).
    pub is_signed: bool,
}

/// Bytes from the headers of a PE image to its checksum: the signature, the file header, 64 of the optional header, whether that
/// is of 32 or of 64 bits. Microsoft, "PE Format".
const CHECKSUM: u64 = 4 + 20 + 64;

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
    /// Where its headers say that the file ends, at the least.
    pub end: u64,
    /// What a PE image states of itself as a whole.
    pub image: Option<PeImage>,
    /// Offset and bytes of the dynamic section of an ELF.
    pub(crate) dynamic: Option<(u64, u64)>,
    /// Names that were read: offset in the file and bytes, the whole table or one by one.
    texts: Vec<(u64, Vec<u8>)>,
}

/// Sections that hold notes about a file, whatever their flags say.
const NEVER_LOADED: [&str; 3] = [".comment", ".debug", ".note"];

impl Layout {
    fn new(machine: Option<&'static str>, object_type: ObjectType) -> Self {
        Self {
            machine,
            object_type,
            sections: Vec::new(),
            segments: Vec::new(),
            named: false,
            damaged: false,
            end: 0,
            image: None,
            dynamic: None,
            texts: Vec::new(),
        }
    }

    /// The section that holds the byte at `offset` of the file.
    #[must_use]
    pub fn section_at(&self, offset: u64) -> Option<&Section> {
        self.sections.get(self.index_at(offset)?)
    }

    fn index_at(&self, offset: u64) -> Option<usize> {
        let behind = self.sections.partition_point(|section| section.offset <= offset);
        // empty sections may share an offset with a full one
        let candidates = self.sections.get(..behind)?.iter().enumerate().rev().take(8);
        let holds = |section: &Section| offset.checked_sub(section.offset).is_some_and(|at| at < section.size);
        candidates.into_iter().find(|(_, section)| holds(section)).map(|(index, _)| index)
    }

    /// The file offset of a virtual address.
    #[must_use]
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let at = address.checked_sub(segment.address)?;
            (at < segment.size).then(|| segment.offset.checked_add(at)).flatten()
        })
    }

    /// Whether a program that loads the file has the byte at `offset` in its memory; `None` for an object file, which is
    /// still to be linked.
    #[must_use]
    pub fn is_mapped(&self, offset: u64) -> Option<bool> {
        if self.object_type != ObjectType::Linked {
            return None;
        }
        let within = |segment: &Segment| offset.checked_sub(segment.offset).is_some_and(|at| at < segment.size);
        if self.segments.is_empty() {
            // a file without segments is loaded by nobody; what its sections mean is told all the same
            let is_meant = |section: &Section| {
                let name = self.name(section).unwrap_or_default();
                section.is_loaded && !NEVER_LOADED.iter().any(|start| name.starts_with(start))
            };
            return self.named.then(|| self.section_at(offset).is_some_and(is_meant));
        }
        Some(self.segments.iter().any(within))
    }

    /// The name of a section as the file spells it (8 characters at most in a PE image), bytes that are not UTF-8 replaced,
    /// 256 bytes at most; `None` where it cannot be read, or was not read because it is not among those asked for.
    #[must_use]
    pub fn name(&self, section: &Section) -> Option<String> {
        let name = self.whole_name(section)?;
        Some(String::from_utf8_lossy(name.get(..SECTION_NAME).unwrap_or(name)).into_owned())
    }

    /// Whether [`Layout::name`] cuts the name of a section.
    #[must_use]
    pub fn cuts_name(&self, section: &Section) -> bool {
        self.whole_name(section).is_some_and(|name| name.len() > SECTION_NAME)
    }

    /// Of a name that is longer than is kept there may be one byte more.
    fn whole_name<'a>(&'a self, section: &'a Section) -> Option<&'a [u8]> {
        let bytes: &[u8] = match &section.name {
            Name::Own(name) => name,
            Name::None => return None,
            Name::At(at) => {
                let before = self.texts.partition_point(|(start, _)| start <= at);
                let (start, text) = self.texts.get(before.checked_sub(1)?)?;
                text.get(usize::try_from(at.checked_sub(*start)?).ok()?..)?
            }
        };
        // a name without an end is none
        let end = memchr::memchr(0, bytes).or_else(|| matches!(section.name, Name::Own(_)).then_some(bytes.len()))?;
        bytes.get(..end)
    }

    /// Reads the layout of a file of the given format; `None` if it is no host format or its first header is damaged.
    /// Names are read of the sections that hold one of `places`, offsets in the file, and of all where that is cheap.
    pub fn read<S: ByteStream>(format: Format, file: &mut Ranges<'_, S>, places: &[u64]) -> Option<Self> {
        let prefix = file.one(0, file.length().min(PREFIX_SIZE as u64))?;
        let mut layout = match format {
            Format::Elf if prefix.get(4) == Some(&1) => read_elf::<FileHeader32<Endianness>, S>(&prefix, file),
            Format::Elf => read_elf::<FileHeader64<Endianness>, S>(&prefix, file),
            Format::Pe => read_pe(&prefix),
            Format::Coff if prefix.starts_with(&[0, 0, 0xff, 0xff]) => {
                read_coff::<AnonObjectHeaderBigobj, S>(&prefix, file)
            }
            Format::Coff => read_coff::<ImageFileHeader, S>(&prefix, file),
            Format::MachO => read_macho::<MachHeader64<Endianness>, S>(&prefix, file)
                .or_else(|| read_macho::<MachHeader32<Endianness>, S>(&prefix, file)),
            _ => None,
        }?;
        layout.sections.sort_by_key(|section| section.offset);
        if layout.texts.is_empty() {
            layout.read_names(file, places);
        }
        Some(layout)
    }

    /// Reads the names of the sections that hold one of `places`.
    fn read_names<S: ByteStream>(&mut self, file: &mut Ranges<'_, S>, places: &[u64]) {
        let own = places.iter().filter_map(|place| match self.section_at(*place)?.name {
            Name::At(at) => Some(at),
            _ => None,
        });
        let mut offsets: Vec<u64> = own.collect();
        offsets.sort_unstable();
        offsets.dedup();
        let texts = file.texts(&offsets, SECTION_NAME.saturating_add(1));
        let found = offsets.into_iter().zip(texts).filter_map(|(at, text)| {
            let mut text = text?;
            text.push(0);
            Some((at, text))
        });
        self.texts = found.collect();
    }
}

/// Bytes of the largest table that the first bytes of a file announce, which [`Layout::read`] copies; more than any file
/// where they do not tell.
#[must_use]
pub fn table_bytes(format: Format, prefix: &[u8]) -> u64 {
    match format {
        Format::Elf => {
            let counted = prefix.get(if prefix.get(4) == Some(&1) { 48..50 } else { 60..62 });
            let is_wide = counted == Some(&[0, 0]);
            let largest = announced(format, prefix).into_iter().map(|(_, size)| size).max().unwrap_or(0);
            if is_wide && largest > 0 { u64::MAX } else { largest }
        }
        Format::Coff => 40 * 0xffff,
        Format::MachO => {
            prefix.get(20..).and_then(|rest| rest.first_chunk()).map_or(0, |size| u64::from(u32::from_le_bytes(*size)))
        }
        _ => 0,
    }
}

/// The ranges of a file, announced in its first bytes, that a stream should keep while they pass: section table and
/// dependency tables. Offset and bytes.
#[must_use]
pub fn announced(format: Format, prefix: &[u8]) -> Vec<(u64, u64)> {
    match format {
        Format::Elf if prefix.get(4) == Some(&1) => announced_elf::<FileHeader32<Endianness>>(prefix),
        Format::Elf => announced_elf::<FileHeader64<Endianness>>(prefix),
        Format::Pe => crate::needed::announced_pe(prefix),
        _ => None,
    }
    .unwrap_or_default()
}

fn announced_elf<Elf: FileHeader<Endian = Endianness>>(prefix: &[u8]) -> Option<Vec<(u64, u64)>> {
    let header = Elf::parse(prefix).ok()?;
    let endian = header.endian().ok()?;
    let entry = u64::try_from(size_of::<Elf::SectionHeader>()).ok()?;
    let mut ranges = vec![(header.e_shoff(endian).into(), u64::from(header.e_shnum(endian)).saturating_mul(entry))];
    for segment in header.program_headers(endian, prefix).unwrap_or_default() {
        if segment.p_type(endian) == PT_DYNAMIC {
            ranges.push(segment.file_range(endian));
        }
    }
    ranges.retain(|(_, size)| *size > 0);
    Some(ranges)
}

fn section(name: &[u8], offset: u64, size: u64) -> Section {
    let mut own = [0; 16];
    own.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    Section { offset, size, is_loaded: true, name: Name::Own(own) }
}

/// `count` records of a table that lies at `offset`, in the prefix or elsewhere.
fn records<T: Pod + Clone, S: ByteStream>(
    prefix: &[u8],
    file: &mut Ranges<'_, S>,
    offset: u64,
    count: u64,
) -> Option<Vec<T>> {
    let size = count.checked_mul(u64::try_from(size_of::<T>()).ok()?)?;
    let count = usize::try_from(count).ok()?;
    let at = usize::try_from(offset).ok()?;
    let near = usize::try_from(size).ok().and_then(|size| prefix.get(at..at.checked_add(size)?));
    let far;
    let bytes = match near {
        Some(near) => near,
        None => {
            far = file.one(offset, size)?;
            &far
        }
    };
    slice_from_bytes::<T>(bytes, count).ok().map(|(records, _)| records.to_vec())
}

fn read_elf<Elf: FileHeader<Endian = Endianness>, S: ByteStream>(
    prefix: &[u8],
    file: &mut Ranges<'_, S>,
) -> Option<Layout>
where
    Elf::ProgramHeader: Clone,
    Elf::SectionHeader: Clone,
{
    let header = Elf::parse(prefix).ok()?;
    let endian = header.endian().ok()?;
    let machine = match header.e_machine(endian) {
        elf::EM_X86_64 => Some("x86_64"),
        elf::EM_AARCH64 => Some("aarch64"),
        elf::EM_386 => Some("x86"),
        elf::EM_ARM => Some("arm"),
        elf::EM_PPC64 => Some("ppc64"),
        elf::EM_RISCV => Some("riscv"),
        elf::EM_S390 => Some("s390x"),
        _ => None,
    };
    let object_type = match header.e_type(endian) {
        elf::ET_REL => ObjectType::Relocatable,
        elf::ET_DYN | elf::ET_EXEC => ObjectType::Linked,
        _ => ObjectType::Other,
    };
    let mut layout = Layout::new(machine, object_type);
    let count = u64::from(header.e_phnum(endian));
    let segments: Vec<Elf::ProgramHeader> =
        records(prefix, file, header.e_phoff(endian).into(), count).unwrap_or_default();
    let mut loaded_end = 0;
    for segment in &segments {
        let (offset, size) = segment.file_range(endian);
        if segment.p_type(endian) == PT_LOAD {
            layout.segments.push(Segment { address: segment.p_vaddr(endian).into(), offset, size });
            loaded_end = offset.saturating_add(size).max(loaded_end);
        } else if segment.p_type(endian) == PT_DYNAMIC && layout.dynamic.is_none() {
            layout.dynamic = Some((offset, size));
        }
    }
    let start: u64 = header.e_shoff(endian).into();
    if start == 0 {
        layout.end = loaded_end;
        return Some(layout);
    }
    let entry = u64::try_from(size_of::<Elf::SectionHeader>()).ok()?;
    // from 65,280 sections on, number and index of the names stand in the first row
    let first: Option<Elf::SectionHeader> = if header.e_shnum(endian) == 0 {
        records(prefix, file, start, 1).and_then(|mut rows| rows.pop())
    } else {
        None
    };
    let count = first.as_ref().map_or(u64::from(header.e_shnum(endian)), |first| first.sh_size(endian).into());
    layout.end = start.saturating_add(count.max(1).saturating_mul(entry));
    let Some(table) = records::<Elf::SectionHeader, S>(prefix, file, start, count) else {
        layout.damaged = true;
        return Some(layout);
    };
    let index = match (header.e_shstrndx(endian), &first) {
        (elf::SHN_XINDEX, Some(first)) => first.sh_link(endian),
        (index, _) => u32::from(index.0),
    };
    let strings = usize::try_from(index).ok().and_then(|index| table.get(index)?.file_range(endian));
    // sections hold the file's last bytes where their table comes first
    for row in table.iter().filter(|row| row.sh_type(endian) != SHT_NULL) {
        if let Some((offset, size)) = row.file_range(endian) {
            layout.end = layout.end.max(offset.saturating_add(size));
        }
    }
    let Some((start, size)) = strings else {
        layout.damaged = true;
        return Some(layout);
    };
    if size <= NAMES {
        match file.one(start, size) {
            Some(table) => layout.texts.push((start, table)),
            None => {
                layout.damaged = true;
                return Some(layout);
            }
        }
    }
    layout.named = start.checked_add(size).is_some_and(|end| end <= file.length());
    layout.damaged = !layout.named;
    for row in &table {
        // a file made by `objcopy --only-keep-debug` names its sections and holds none of their bytes; the fields of an
        // unused row mean something else, or nothing
        if [SHT_NOBITS, SHT_NULL].contains(&row.sh_type(endian)) {
            continue;
        }
        if let Some((offset, length)) = row.file_range(endian)
            && length > 0
        {
            let name = u64::from(row.sh_name(endian));
            let name = start.checked_add(name).filter(|_| name < size).map_or(Name::None, Name::At);
            let is_loaded = row.sh_flags(endian).0 & SHF_ALLOC.0 != 0;
            layout.sections.push(Section { offset, size: length, is_loaded, name });
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

fn read_pe(prefix: &[u8]) -> Option<Layout> {
    read_pe_of::<ImageNtHeaders64>(prefix).or_else(|| read_pe_of::<ImageNtHeaders32>(prefix))
}

fn read_pe_of<Pe: ImageNtHeaders>(prefix: &[u8]) -> Option<Layout> {
    let mut offset = ImageDosHeader::parse(prefix).ok()?.nt_headers_offset().into();
    let checksum = CHECKSUM.saturating_add(offset);
    let (headers, directories) = Pe::parse(prefix, &mut offset).ok()?;
    let base = headers.optional_header().image_base();
    let mut layout = Layout::new(pe_machine(headers.file_header().machine.get(LittleEndian)), ObjectType::Linked);
    let signatures = directories.get(IMAGE_DIRECTORY_ENTRY_SECURITY);
    let is_signed = signatures.is_some_and(|own| own.size.get(LittleEndian) > 0);
    layout.image = Some(PeImage { checksum, is_signed });
    let Ok(table) = headers.sections(prefix, offset) else {
        layout.damaged = true;
        return Some(layout);
    };
    layout.named = true;
    for row in table.iter() {
        // the bytes in use: file alignment pads the raw size, zero-filled data extends the virtual one
        let (offset, size) = row.pe_file_range();
        let (offset, size) = (u64::from(offset), u64::from(size));
        layout.sections.push(section(row.raw_name(), offset, size));
        let address = base.saturating_add(u64::from(row.virtual_address.get(LittleEndian)));
        layout.segments.push(Segment { address, offset, size });
        layout.end = layout.end.max(offset.saturating_add(size));
    }
    // the only directory that goes by offset: signatures stand at the end of the file
    if let Some(signatures) = signatures {
        let start = u64::from(signatures.virtual_address.get(LittleEndian));
        layout.end = layout.end.max(start.saturating_add(u64::from(signatures.size.get(LittleEndian))));
    }
    Some(layout)
}

fn read_coff<Coff: CoffHeader, S: ByteStream>(prefix: &[u8], file: &mut Ranges<'_, S>) -> Option<Layout> {
    let mut offset = 0;
    let header = Coff::parse(prefix, &mut offset).ok()?;
    let mut layout = Layout::new(pe_machine(header.machine()), ObjectType::Relocatable);
    let Some(table) = records::<ImageSectionHeader, S>(prefix, file, offset, u64::from(header.number_of_sections()))
    else {
        layout.damaged = true;
        return Some(layout);
    };
    layout.named = true;
    let symbols = u64::from(header.pointer_to_symbol_table());
    let symbol = if Coff::is_type_bigobj() { 20 } else { 18 };
    let strings = symbols.saturating_add(u64::from(header.number_of_symbols()).saturating_mul(symbol));
    if symbols > 0 {
        // the table of strings begins with its size
        layout.end = strings.saturating_add(4);
    }
    for row in &table {
        let Some((offset, size)) = row.coff_file_range() else { continue };
        let (offset, size) = (u64::from(offset), u64::from(size));
        let mut own = section(row.raw_name(), offset, size);
        // `/4` is an offset in the table of strings behind the symbols
        if let Some(at) = row.raw_name().strip_prefix(b"/").and_then(digits::<u64>).filter(|_| symbols > 0) {
            own.name = strings.checked_add(at).map_or(Name::None, Name::At);
        }
        layout.end = layout.end.max(offset.saturating_add(size));
        layout.sections.push(own);
    }
    Some(layout)
}

fn read_macho<Mach: MachHeader<Endian = Endianness>, S: ByteStream>(
    prefix: &[u8],
    file: &mut Ranges<'_, S>,
) -> Option<Layout> {
    let header = Mach::parse(prefix, 0).ok()?;
    let endian = header.endian().ok()?;
    let machine = match header.cputype(endian) {
        object::macho::CPU_TYPE_X86_64 => Some("x86_64"),
        object::macho::CPU_TYPE_ARM64 => Some("aarch64"),
        object::macho::CPU_TYPE_X86 => Some("x86"),
        _ => None,
    };
    let object_type = match header.filetype(endian) {
        object::macho::MH_OBJECT => ObjectType::Relocatable,
        object::macho::MH_DYLIB | object::macho::MH_BUNDLE | object::macho::MH_EXECUTE => ObjectType::Linked,
        _ => ObjectType::Other,
    };
    let mut layout = Layout::new(machine, object_type);
    let size = u64::try_from(size_of::<Mach>()).ok()?.saturating_add(u64::from(header.sizeofcmds(endian)));
    layout.end = size;
    let far;
    let head = match usize::try_from(size).ok().and_then(|size| prefix.get(..size)) {
        Some(near) => near,
        None => {
            far = file.one(0, size).unwrap_or_default();
            &far
        }
    };
    let Ok(mut commands) = header.load_commands(endian, head, 0) else {
        layout.damaged = true;
        return Some(layout);
    };
    layout.named = true;
    loop {
        let command = match commands.next() {
            Ok(Some(command)) => command,
            Ok(None) => return Some(layout),
            Err(_) => {
                layout.damaged = true;
                return Some(layout);
            }
        };
        let Ok(Some((segment, rest))) = Mach::Segment::from_command(command) else { continue };
        let (offset, size) = segment.file_range(endian);
        layout.segments.push(Segment { address: segment.vmaddr(endian).into(), offset, size });
        layout.end = layout.end.max(offset.saturating_add(size));
        for row in segment.sections(endian, rest).unwrap_or_default() {
            if let Some((offset, size)) = row.file_range(endian, row.offset(endian).into()) {
                layout.sections.push(section(row.name(), offset, size));
            }
        }
    }
}
