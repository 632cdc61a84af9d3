//! What is done with bytes of any kind: one function for each public reader, and what must hold of its answer. They are
//! called by `tests/fuzz.rs` with seeded mutations and by the targets in `fuzz/` with whatever libFuzzer finds.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    clippy::missing_panics_doc,
    dead_code,
    unreachable_pub,
    reason = "a panic here is a finding"
)]

use cubin::{Cubin, Functions, Head, PrefixOutcome, Provenance, PtxHead, SymbolPrefix, TileIrHead};
use fatscan::check::{Baseline, Config};
use fatscan::{Limits, Options, Pattern, scan_bytes, scan_stream};
use fatscan_containers::{
    ArchiveWalk, ByteStream, Codec, CpioWalk, Damage, Expected, Format, Inflater, Layout, Package, Ranges, SNIFF_SIZE,
    SliceStream, Source, Tap, TarWalk, Windows, Zip, rpm_payload, script_payload,
};
use gpu_arch::{Arch, Capability, CudaVersion, DriverVersion, Isa, Target, spelling};

/// A function that takes any bytes.
pub type Body = fn(&[u8]);

/// All of them, by the names of the targets.
pub const BODIES: &[(&str, Body)] = &[
    ("fatbin", fatbin_container),
    ("cubin", cubin_payload),
    ("symbol_prefix", symbol_prefix),
    ("ptx", ptx_text),
    ("layout", layout),
    ("sections", sections),
    ("zip", zip),
    ("archive", archive),
    ("inflate", inflate),
    ("tar", tar),
    ("cpio", cpio),
    ("package", package),
    ("unpack", unpack),
    ("scan", scan),
    ("scan_verify", scan_verify),
    ("scan_stream", scan_as_stream),
    ("spelling", spellings),
    ("config", config),
];

/// What a payload may unpack to.
const UNPACKED: u64 = 1 << 20;

fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.payload_bytes, limits.member_bytes) = (UNPACKED, 64 << 20);
    limits
}

/// Containers, their entries, the parts of these, and what they unpack to.
pub fn fatbin_container(data: &[u8]) {
    let mut unpacked = Vec::new();
    for container in fatbin::find(data) {
        assert!(container.offset() + container.len() <= data.len());
        let mut last = None;
        for item in container.entries() {
            let Ok((offset, entry)) = item else { continue };
            assert!(last.is_none_or(|last| last < offset), "entries go forward");
            last = Some(offset);
            let _ = (entry.identifier(), entry.options(), entry.compat());
            if let Ok(payload) = entry.payload() {
                assert!(payload.len() <= data.len());
            }
            let decoded = fatbin::decode(&entry, UNPACKED, &mut unpacked).is_ok();
            assert!(!decoded || unpacked.len() as u64 <= UNPACKED);
            for member in entry.members().flatten() {
                let _ = (member.identifier(), member.options(), member.compat());
                let _ = member.bytes(&unpacked).map(<[u8]>::len);
            }
            let mut start = Vec::new();
            let _ = fatbin::decode_prefix(&entry, 100, UNPACKED, &mut start);
        }
    }
    let _ = (fatbin::Fatbin::parse(data), fatbin::EntryHeader::parse(data), fatbin::Wrapper::parse(data));
}

/// A cubin: head, sections, functions with their resources, provenance, names.
pub fn cubin_payload(data: &[u8]) {
    let _ = (Head::parse(data), Cubin::parse(data).map(|cubin| cubin.is_executable()), Cubin::kernels(data));
    if let Ok(functions) = Functions::parse(data) {
        let index = functions.resources();
        let _ = (index.module(), index.is_relocatable());
        for function in functions.all() {
            let _ = (index.of(function), functions.section_size(function));
            if let Some(name) = cubin::demangle(function.name) {
                assert!(name.len() <= cubin::DEMANGLE_OUTPUT_LIMIT);
            }
        }
    }
    let _ = Provenance::parse(data);
    let _ = (TileIrHead::parse(data), cubin::accelerator_target(data), cubin::Attributes::new(data).count());
    let _ = cubin::demangle(data);
}

/// The first bytes of a cubin: more is asked for only where that is more, and in the end there is an answer.
pub fn symbol_prefix(data: &[u8]) {
    let mut length = data.len().min(64);
    let mut reader = SymbolPrefix::new();
    for _ in 0..64 {
        let outcome = reader.read(&data[..length]);
        assert_eq!(outcome, SymbolPrefix::parse(&data[..length]), "step by step and at once");
        match outcome {
            PrefixOutcome::NeedMore(more) => {
                assert!(more > length, "{length} bytes are there and {more} are wanted");
                if length == data.len() {
                    return;
                }
                length = more.min(data.len());
            }
            PrefixOutcome::Complete(functions) => {
                let PrefixOutcome::Complete(whole) = SymbolPrefix::parse(data) else {
                    panic!("complete with {length} bytes and not with {}", data.len());
                };
                assert_eq!(functions, whole, "more bytes tell the same");
                return;
            }
            _ => return,
        }
    }
    panic!("it asks again and again");
}

/// PTX text.
pub fn ptx_text(data: &[u8]) {
    let _ = (PtxHead::parse(data), PtxHead::find(data), PtxHead::begins(data));
    let names = cubin::ptx_kernels(data);
    assert_eq!(names.len(), cubin::ptx_kernel_details(data).len());
    assert!(names.iter().all(|name| !name.is_empty()));
}

const FORMATS: [Format; 4] = [Format::Elf, Format::Pe, Format::Coff, Format::MachO];

/// Kinds of files, and the tables of host files, whatever the first bytes say.
pub fn layout(data: &[u8]) {
    let _ = Format::sniff(&data[..data.len().min(SNIFF_SIZE)]);
    let _ = fatscan_containers::universal(data);
    for format in FORMATS {
        let _ = fatscan_containers::announced(format, &data[..data.len().min(SNIFF_SIZE)]);
        let places: Vec<u64> = (0..data.len() as u64).step_by(97).collect();
        let mut tap = Tap::new(SliceStream::new(data), 1 << 20);
        let mut ranges = Ranges::new(&mut tap, data.len() as u64, true, 1 << 20);
        let Some(layout) = Layout::read(format, &mut ranges, &places) else { continue };
        assert!(layout.sections.is_sorted_by_key(|section| section.offset));
        let names = fatscan_containers::needed(format, &mut ranges, &layout);
        assert!(fatscan_containers::names_at(&mut ranges, &names).len() <= names.len());
        for place in &places {
            if let Some(section) = layout.section_at(*place) {
                assert!(section.offset <= *place && place - section.offset < section.size);
            }
            let _ = (layout.offset_of(*place), layout.is_mapped(*place));
        }
    }
}

/// The section table of an ELF file as two libraries read it.
pub fn sections(data: &[u8]) {
    let mut tap = Tap::new(SliceStream::new(data), 1 << 20);
    let mut ranges = Ranges::new(&mut tap, data.len() as u64, true, 1 << 20);
    let places: Vec<u64> = (0..data.len() as u64).collect();
    let Some(layout) = Layout::read(Format::Elf, &mut ranges, &places).filter(|layout| layout.named && !layout.damaged)
    else {
        return;
    };
    let Ok(elf) = goblin::elf::Elf::parse(data) else { return };
    // of names without an end each library makes something else
    let names = elf.section_headers.get(usize::from(elf.header.e_shstrndx));
    let last = names.and_then(|names| names.sh_offset.checked_add(names.sh_size)?.checked_sub(1));
    if last.and_then(|last| data.get(usize::try_from(last).ok()?)) != Some(&0) {
        return;
    }
    let empty = [goblin::elf::section_header::SHT_NOBITS, goblin::elf::section_header::SHT_NULL];
    let lies_here =
        |offset: u64, size: u64| size > 0 && offset.checked_add(size).is_some_and(|end| end <= data.len() as u64);
    let used =
        elf.section_headers.iter().filter(|row| !empty.contains(&row.sh_type) && lies_here(row.sh_offset, row.sh_size));
    let mut theirs: Vec<(u64, u64)> = used.map(|row| (row.sh_offset, row.sh_size)).collect();
    let used = layout.sections.iter().filter(|section| lies_here(section.offset, section.size));
    let mut own: Vec<(u64, u64)> = used.map(|section| (section.offset, section.size)).collect();
    theirs.sort_unstable();
    own.sort_unstable();
    assert_eq!(own, theirs);
}

/// Directories of zip archives.
pub fn zip(data: &[u8]) {
    let mut limits = limits();
    limits.entries = 100;
    let zip = Zip::list(&data, &limits);
    assert!(zip.members.len() <= 100);
    for member in &zip.members {
        let (start, length) = member.data;
        assert!(start + length <= data.len() as u64);
    }
    let _ = Zip::ends_as_one(&data);
}

/// Static libraries.
pub fn archive(data: &[u8]) {
    let mut stream = SliceStream::new(data);
    let mut walk = ArchiveWalk::new(1 << 20);
    let mut last = 0;
    while let Some(Ok(member)) = walk.next(&mut stream) {
        assert!(member.offset > last, "members go forward");
        last = member.offset;
    }
    assert!(stream.position() <= data.len() as u64);
}

/// Entries of a tar or cpio archive: each begins behind the one before, and none is longer than it was asked for.
fn entries(
    data: &[u8],
    next: &mut dyn FnMut(&mut SliceStream<'_>) -> Option<Result<fatscan_containers::Entry, Damage>>,
) {
    let mut stream = SliceStream::new(data);
    let (mut last, mut steps) = (0, 0);
    while let Some(step) = next(&mut stream) {
        steps += 1;
        assert!(steps <= data.len() + 1, "every step goes on");
        if let Ok(entry) = step {
            assert!(entry.part.offset > last, "entries go forward");
            assert!(entry.part.name.len() <= NAME);
            assert_eq!(entry.part.offset, stream.position());
            last = entry.part.offset;
        }
    }
    assert!(stream.position() <= data.len() as u64);
}

/// A long name is not read beyond this.
const NAME: usize = 1 << 12;

/// Tar archives.
pub fn tar(data: &[u8]) {
    let mut walk = TarWalk::new(NAME as u64);
    entries(data, &mut |stream| walk.next(stream));
}

/// Cpio archives.
pub fn cpio(data: &[u8]) {
    let mut walk = CpioWalk::new(NAME);
    entries(data, &mut |stream| walk.next(stream));
}

/// Headers of RPM packages, and scripts before archives.
pub fn package(data: &[u8]) {
    let mut stream = SliceStream::new(data);
    if let Ok(offset) = rpm_payload(&mut stream) {
        assert!(offset == stream.position() && offset <= data.len() as u64);
    }
    if let Some(offset) = script_payload(data) {
        assert!(offset <= data.len() as u64);
    }
    let _ = (Package::sniff(data), Codec::sniff(data));
}

/// What is compressed by any codec: what comes out once comes out again, and no more than was asked for.
pub fn unpack(data: &[u8]) {
    for codec in [Codec::Gzip, Codec::Bzip2, Codec::Xz, Codec::Zstd] {
        let windows = Windows::new(16 << 20, 1, true);
        let mut stream = codec.unpack(SliceStream::new(data), Expected::most(UNPACKED), &windows);
        let mut first = Vec::new();
        while stream.fill(1) {
            first.extend_from_slice(stream.window());
            let count = stream.window().len() as u64;
            assert_eq!(stream.skip(count), count);
            assert_eq!(stream.position(), first.len() as u64);
        }
        assert!(first.len() as u64 <= UNPACKED, "{codec:?}: {} bytes", first.len());
        assert!(stream.rewind(0));
        let mut again = Vec::new();
        while stream.fill(100) || stream.fill(1) {
            let step = stream.window().len().min(100);
            again.extend_from_slice(&stream.window()[..step]);
            stream.skip(step as u64);
        }
        assert_eq!(first.len(), again.len(), "{codec:?}");
        assert!(first == again, "{codec:?}");
    }
}

/// A deflate stream, read forward, watched, and read again.
pub fn inflate(data: &[u8]) {
    let mut stream = Tap::new(Inflater::new(SliceStream::new(data), UNPACKED, Some(0), false), 100);
    assert!(stream.watch(10, 100));
    let mut first = Vec::new();
    while stream.fill(1) {
        first.extend_from_slice(stream.window());
        let count = stream.window().len() as u64;
        assert_eq!(stream.skip(count), count);
        assert_eq!(stream.position(), first.len() as u64);
    }
    assert!(first.len() as u64 <= UNPACKED + (1 << 20), "{} bytes", first.len());
    if let Some(kept) = stream.kept(10, 100) {
        assert_eq!(kept, &first[10..110], "what was watched is what passed");
    }
    assert_eq!(stream.kept(10, 100).is_some(), first.len() >= 110);
    let middle = first.len() / 2;
    stream.rewind(middle as u64);
    if stream.fill(1) {
        assert_eq!(stream.window().first(), first.get(middle));
    }
}

/// A scan of a file.
pub fn scan(data: &[u8]) {
    let options = Options::for_judging().with_limits(limits());
    let report = scan_bytes("x", data, &options);
    let is_file = report.artefacts.iter().all(|artefact| artefact.kind == fatscan::ArtefactKind::File);
    let diagnostics = report.diagnostics.len();
    for member in report.artefacts.iter().filter(|_| is_file).flat_map(|artefact| &artefact.members) {
        if Codec::sniff(data).is_some() {
            continue;
        }
        assert_eq!(member.size, data.len() as u64);
        for module in &member.modules {
            assert!(module.offset <= data.len() as u64);
        }
    }
    assert!(!is_file || diagnostics <= 2 * options.limits.diagnostics + 2);
}

/// A scan that decodes every payload, and lists the same.
pub fn scan_verify(data: &[u8]) {
    let list = |verify| {
        let options = if verify { Options::verifying() } else { Options::new() }.with_limits(limits());
        let report = scan_bytes("x", data, &options);
        let members = report.artefacts.into_iter().flat_map(|artefact| artefact.members);
        let modules: Vec<_> = members.flat_map(|member| member.modules).collect();
        modules.iter().map(|module| (module.offset, module.images.len())).collect::<Vec<_>>()
    };
    assert_eq!(list(false), list(true));
}

/// A slice and a stream of the same bytes give the same.
pub fn scan_as_stream(data: &[u8]) {
    let options = Options::new().with_limits(limits());
    let packed = testkit::compress::deflate(data);
    let mut stream = Inflater::new(SliceStream::new(&packed), data.len() as u64, None, true);
    let (slice, stream) = (scan_bytes("x", data, &options), scan_stream("x", &mut stream, &options));
    // an archive with objects that are archives is read wholly only where it can be opened again
    if slice.unread.is_empty() && stream.unread.is_empty() {
        assert_eq!(slice, stream);
    }
}

/// A text of the length that people type.
fn typed(data: &[u8]) -> Option<&str> {
    core::str::from_utf8(data).ok().filter(|text| text.len() <= 4096)
}

/// Every text that names an architecture, a GPU or a version.
pub fn spellings(data: &[u8]) {
    let Some(text) = typed(data) else { return };
    if let Ok(targets) = spelling::code(text) {
        assert!(!targets.is_empty());
        for target in targets {
            assert!(target.arch().is_known(), "{target}");
            let written = target.to_string();
            let again = spelling::code(&written).unwrap();
            assert_eq!(again, [target], "{written}");
        }
    }
    match spelling::devices(text) {
        Ok(devices) => assert!(!devices.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty() && error.offset <= text.len()),
    }
    macro_rules! round {
        ($($kind:ty, $is_one:expr;)*) => {$(
            if let Ok(value) = text.parse::<$kind>() && $is_one(&value) {
                assert_eq!(value.to_string().parse::<$kind>(), Ok(value));
            }
        )*};
    }
    round! {
        // 1.x exists no more, and its two digits are refused
        Arch, |arch: &Arch| arch.is_known();
        Target, |target: &Target| target.arch().is_known();
        Capability, |_: &Capability| true;
        CudaVersion, |_: &CudaVersion| true;
        DriverVersion, |_: &DriverVersion| true;
        Isa, |_: &Isa| true;
    }
    let _ = gpu_arch::catalogue::recognise_error(text);
    let _ = gpu_arch::catalogue::product(text);
}

/// Configurations, baselines, patterns.
pub fn config(data: &[u8]) {
    let Some(text) = typed(data) else { return };
    if let Err(error) = Config::parse(text) {
        assert!(!error.to_string().is_empty());
    }
    if let Err(error) = Baseline::parse(text) {
        assert!(!error.to_string().is_empty());
    }
    if let Some((pattern, path)) = text.split_once('\n').filter(|(pattern, _)| pattern.len() < 1000) {
        let path = path.get(..path.len().min(1000)).unwrap_or_default();
        let _ = Pattern::new(pattern).map(|pattern| pattern.matches(path));
    }
}
