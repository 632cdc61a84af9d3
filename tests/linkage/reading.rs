//! The dynamic section of a file, and files that lie about it.

use std::sync::atomic::{AtomicU64, Ordering};

use fatscan::linkage::{LinkageError, Machine, library};
use fatscan_containers::{Format, Source};
use testkit::elf::{Section, Table, machine};
use testkit::{Elf, Pe};

use crate::memory::read;

fn torch() -> Elf {
    Elf::shared()
        .needs("libcudart.so.13")
        .needs("libc10.so")
        .soname("libtorch_cuda.so")
        .rpath("$ORIGIN/../nvidia")
        .runpath("$ORIGIN:$ORIGIN/../x")
        .flags_1(0x801)
        .section(".text", &[0x90; 4096])
}

#[test]
fn a_library_says_its_names_paths_and_machine() {
    let own = read(&torch());
    assert_eq!((own.format, own.machine, own.bits, own.dynamic), (Format::Elf, Machine::X86_64, 64, true));
    assert_eq!(own.needed, ["libcudart.so.13", "libc10.so"]);
    assert_eq!(own.soname.as_deref(), Some("libtorch_cuda.so"));
    assert_eq!(own.rpath.as_deref(), Some("$ORIGIN/../nvidia"));
    assert_eq!(own.runpath.as_deref(), Some("$ORIGIN:$ORIGIN/../x"));
    assert!(own.no_default_directories && !own.cut);
    assert!(!read(&Elf::shared().needs("a").flags_1(1)).no_default_directories);
    // neither sections nor their order are needed
    assert_eq!(read(&torch().table(Table::None)), own);
    assert_eq!(read(&torch().machine(machine::AARCH64)).machine, Machine::Aarch64);
    let narrow = read(&torch().narrow());
    assert_eq!((narrow.machine, narrow.bits, narrow.needed), (Machine::I386, 32, own.needed));
}

#[test]
fn what_has_no_dynamic_section_asks_for_nothing() {
    for elf in [Elf::object().section(".text", b"x"), Elf::shared().section(".text", b"x")] {
        let own = read(&elf);
        assert!(!own.dynamic && own.needed.is_empty() && own.runpath.is_none() && !own.cut, "{own:?}");
    }
    for other in [b"MZ".as_slice(), b"", b"#!/bin/sh\n", b"PK\x03\x04"] {
        assert!(!matches!(library(&other as &dyn Source), Ok(Some(_))), "{other:?}");
    }
}

#[test]
fn a_pe_image_says_the_names_of_its_imports() {
    let mut pe = Pe::dll().section(".text", b"code");
    pe.imports = vec!["cudart64_12.dll".to_owned(), "KERNEL32.dll".to_owned()];
    pe.delay_imports = vec!["nvcuda.dll".to_owned()];
    let own = library(&pe.bytes().as_slice() as &dyn Source).unwrap().unwrap();
    assert_eq!((own.format, own.machine, own.bits), (Format::Pe, Machine::X86_64, 64));
    assert_eq!(own.needed, ["KERNEL32.dll", "cudart64_12.dll", "nvcuda.dll"]);
    let own = library(&Pe::dll32().section(".text", b"x").bytes().as_slice() as &dyn Source).unwrap().unwrap();
    assert_eq!((own.machine, own.bits, own.needed.len()), (Machine::I386, 32, 0));
}

/// An ELF at the start of a file of 500 MB, of which the bytes that are asked for are counted.
#[derive(Debug)]
struct Large {
    start: Vec<u8>,
    asked: AtomicU64,
    calls: AtomicU64,
}

impl Source for Large {
    fn len(&self) -> u64 {
        500 << 20
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.asked.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        buffer.fill(0);
        let rest = usize::try_from(offset).ok().and_then(|at| self.start.get(at..)).unwrap_or_default();
        buffer.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(buffer.len())
    }

    fn as_slice(&self) -> Option<&[u8]> {
        None
    }
}

fn large(start: Vec<u8>) -> Large {
    Large { start, asked: AtomicU64::new(0), calls: AtomicU64::new(0) }
}

#[test]
fn a_large_library_costs_a_few_reads() {
    let source = large(torch().bytes());
    let own = library(&source as &dyn Source).unwrap().unwrap();
    assert_eq!(own, read(&torch()));
    let (asked, calls) = (source.asked.into_inner(), source.calls.into_inner());
    assert!(asked < 12 << 10 && calls < 8, "{asked} bytes in {calls} reads");
}

#[test]
fn what_is_larger_than_anything_real_is_cut_and_said() {
    // names that no zero ends, in a file that goes on
    let elf = Elf::shared().needs("libcudart.so.13").runpath(&"x".repeat(200_000));
    let own = read(&elf);
    assert!(own.cut && own.runpath.is_none(), "a path of 200,000 bytes");
    assert_eq!(own.needed, ["libcudart.so.13"]);
    let many = |count: usize| {
        let mut many = Elf::shared();
        many.needed = (0..count).map(|number| format!("lib{number:0>200}.so")).collect();
        let source = large(many.bytes());
        let own = library(&source as &dyn Source);
        let asked = source.asked.into_inner();
        assert!(asked < 4 << 20, "{asked} bytes");
        own
    };
    let own = many(1000).unwrap().unwrap();
    assert!(!own.cut && own.needed.len() == 1000, "{}", own.needed.len());
    let own = many(3000).unwrap().unwrap();
    assert!(own.cut && own.needed.len() > 1000 && own.needed.len() < 3000, "{}", own.needed.len());
    // where the names stand is said behind the part that is read
    assert!(matches!(many(20_000), Err(LinkageError::Damaged(_))));
}

#[test]
fn names_that_are_nowhere_are_damage() {
    let elf = torch();
    let mut bytes = elf.bytes();
    // DT_STRTAB is the entry with the tag 5
    let mut at = elf.offset_of(".dynamic") as usize;
    while bytes[at] != 5 {
        at += 16;
    }
    bytes[at + 8..at + 16].copy_from_slice(&(u64::MAX - 8).to_le_bytes());
    let error = library(&bytes.as_slice() as &dyn Source).unwrap_err();
    assert!(matches!(error, LinkageError::Damaged(_)), "{error}");
}

#[test]
fn a_file_that_is_cut_or_changed_anywhere_is_read_without_harm() {
    let whole = torch().bytes();
    let own = read(&torch());
    let (mut damaged, mut same) = (0, 0);
    for end in 0..whole.len() {
        match library(&&whole[..end] as &dyn Source) {
            Ok(Some(found)) if found == own => same += 1,
            Ok(Some(found)) => assert!(found.cut || !found.dynamic || found.needed.len() <= 2, "{end}: {found:?}"),
            Ok(None) => assert!(end < 64, "{end}"),
            Err(_) => damaged += 1,
        }
    }
    // only what lies behind the tables can be missed: sections, their table
    assert!(damaged > 200 && same > 1000, "{damaged} damaged, {same} as before");
    let mut read = 0;
    for at in 0..700 {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            let source = large(bytes);
            read += u32::from(library(&source as &dyn Source).is_ok());
            assert!(source.asked.into_inner() < 4 << 20, "byte {at} = {value}");
        }
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn of_two_dynamic_sections_the_loader_takes_the_last() {
    let elf = torch().with(Section::new(".rest", b"x"));
    let mut bytes = elf.bytes();
    // PT_LOAD at 64, PT_DYNAMIC at 120: the first becomes a PT_DYNAMIC of nothing that is known
    let load = bytes[64..120].to_vec();
    let dynamic = bytes[120..176].to_vec();
    bytes[64..120].copy_from_slice(&dynamic);
    bytes[120..176].copy_from_slice(&load);
    assert_eq!(library(&bytes.as_slice() as &dyn Source).unwrap().unwrap(), read(&elf), "in any order");
}
