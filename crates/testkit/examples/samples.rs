//! Writes one file of each kind into a folder, to look at with readelf, objdump, ar, unzip, cuobjdump:
//! `cargo run -p testkit --example samples -- DIR`

use testkit::ar::Flavour;
use testkit::elf::{Names, Section, Table, machine};
use testkit::fatbin::{Codec, concat, wrapper};
use testkit::macho::{cpu, universal};
use testkit::zip::Central;
use testkit::{Ar, Coff, Cubin, Elf, Entry, MachO, Pe, Zip, ZipMember, compress, fatbin, ptx_text};

fn main() -> std::io::Result<()> {
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    std::fs::create_dir_all(&dir)?;
    let put = |name: &str, data: Vec<u8>| std::fs::write(dir.join(name), data);

    for arch in ["75", "90", "90a", "100", "100a", "100f"] {
        put(&format!("cubin_{arch}.cubin"), Cubin::new(arch).bytes())?;
        put(&format!("cubin_{arch}_rel.cubin"), Cubin::new(arch).device_function("helper").relocatable().bytes())?;
    }
    put("abi7_90a.cubin", Cubin::abi7("90a").bytes())?;
    put("abi7_75.cubin", Cubin::abi7("75").bytes())?;
    put("cuda129_100a.cubin", Cubin::new("100a").toolkit(129).bytes())?;

    let ptx = ptx_text("8.5", "sm_90a", "k");
    let entries = [
        Entry::sass("75", Cubin::new("75").bytes()),
        Entry::sass("90a", Cubin::new("90a").bytes()).compressed(Codec::Zstd).name("a.cu"),
        Entry::sass("100f", Cubin::new("100f").bytes()).compat(&Cubin::new("100f").compat_blob()),
        Entry::sass("100a", Cubin::new("100a").bytes()).compressed(Codec::Lz4),
        Entry::sass("90", Cubin::abi7("90").bytes()).compressed(Codec::Lz4Frame).isa(1, 7),
        Entry::ptx("90a", (8, 5), &ptx).compressed(Codec::Zlib).options("-O2").name("a.cu"),
        Entry::lto("90", vec![0xED, 0x43, 0x4E, 0x7F, 1, 0, 67, 0]),
        concat(
            &[Entry::ptx("90a", (8, 5), &ptx).name("n.cu"), Entry::ptx("100f", (8, 8), &ptx).options("-v")],
            Codec::Zstd,
        ),
    ];
    let all = fatbin(&entries);
    put("all.fatbin", all.clone())?;
    put("bomb.zst", compress::zstd_zeros(3 << 20))?;
    put("stored.zst", compress::zstd_stored(&vec![7; 300_000]))?;

    let library =
        Elf::shared().section(".nv_fatbin", &all).section(".nvFatBinSegment", &wrapper(1, 0)).needs("libcudart.so.13");
    put("lib.so", library.bytes())?;
    put("lib_aarch64.so", library.clone().machine(machine::AARCH64).bytes())?;
    put("lib_32.so", library.clone().narrow().bytes())?;
    put("lib_stripped.so", library.clone().table(Table::None).bytes())?;
    put("lib_first.so", library.clone().table(Table::First).names(Names::First).bytes())?;
    put("lib_inside.so", library.clone().table(Table::Inside(5000)).bytes())?;
    put("lib_xindex.so", library.clone().extended_numbering().bytes())?;
    put("lib_nobits.so", library.clone().with(Section::nobits(".nobits", 1 << 20)).bytes())?;
    let mut far = library.clone();
    far.dynstr_last = true;
    far.soname = Some("libx.so.1".to_owned());
    put("lib_dynstr_last.so", far.bytes())?;
    let object = Elf::object().section(".nv_fatbin", &all).bytes();
    put("obj.o", object.clone())?;

    put(
        "x.dll",
        Pe::dll().section(".nv_fatbin", &all).imports("cudart64_13.dll").delay_imports("cublas64_13.dll").bytes(),
    )?;
    put("x32.dll", Pe::dll32().section(".nv_fatb", &all).imports("cudart32_65.dll").bytes())?;
    put("x.obj", Coff::new().section(".nv_fatbin", &all).section(".nvFatBinSegment", &wrapper(1, 0)).bytes())?;
    put("big.obj", Coff::new().big().section(".nv_fatbin", &all).bytes())?;
    let thin = MachO::dylib().fatbin(&all).needs("@rpath/libcudart.10.2.dylib").bytes();
    put("x.dylib", thin.clone())?;
    put(
        "universal.dylib",
        universal(&[(cpu::X86_64, thin.clone()), (cpu::ARM64, MachO::dylib().cpu(cpu::ARM64).bytes())], false),
    )?;
    put("universal64.dylib", universal(&[(cpu::X86_64, thin)], true))?;

    let long = "a_name_of_more_than_fifteen.o";
    for (name, flavour) in
        [("gnu.a", Flavour::Gnu), ("bsd.a", Flavour::Bsd), ("thin.a", Flavour::Thin), ("x.lib", Flavour::Coff)]
    {
        let ar = Ar::new(flavour).symbols(&["f"]).member("odd.txt", b"odd").member(long, &object);
        put(name, ar.bytes())?;
    }

    let members = [
        ZipMember::directory("pkg"),
        ZipMember::deflated("pkg/lib.so", &library.bytes()),
        ZipMember::stored("pkg/stored.so", &object),
        ZipMember::deflated("pkg/descriptor.so", &object).data_descriptor(),
        ZipMember::deflated("pkg/zip64.so", &object).zip64(),
        ZipMember::deflated("pkg/both.so", &object).zip64().data_descriptor(),
    ];
    let wheel = Zip::wheel("pkg", "1.0", "py3-none-any", &members);
    put("pkg-1.0-py3-none-any.whl", wheel.bytes())?;
    let mut other = wheel.clone();
    other.zip64_end = true;
    other.prefix = b"#!/bin/sh\nexit\n".to_vec();
    other.offsets_include_prefix = true;
    other.comment = b"comment".to_vec();
    put("zip64.zip", other.bytes())?;
    put("bad_crc.zip", Zip::new().with(ZipMember::deflated("a", &object).bad_crc()).bytes())?;
    put("bad_size.zip", Zip::new().with(ZipMember::deflated("a", &object).lying_size(5)).bytes())?;
    put("encrypted.zip", Zip::new().with(ZipMember::deflated("a", &object).encrypted()).bytes())?;
    put("duplicate.zip", Zip::new().stored("a", b"1").stored("a", b"2").bytes())?;
    put("no_directory.zip", wheel.central(Central::Missing).bytes())
}
