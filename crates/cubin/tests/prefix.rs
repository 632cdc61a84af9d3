//! The first bytes of a cubin name the same functions as the whole, or say that they cannot.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod common;

use common::distinct_cubins;
use cubin::{Functions, PrefixOutcome, SymbolPrefix};
use testkit::Cubin;
use testkit::cubin::Function as Made;

/// Where the section table begins: nothing of use follows.
fn tables_end(data: &[u8]) -> usize {
    usize::try_from(u64::from_le_bytes(data[40..48].try_into().unwrap())).unwrap()
}

/// Where the symbol table and what tells its end lie, by the section table.
fn symbols_end(data: &[u8]) -> usize {
    let row = tables_end(data) + 3 * 64;
    let at = |offset: usize| usize::try_from(u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap())).unwrap();
    at(row + 24) + at(row + 32)
}

fn check_every_length(label: &str, data: &[u8]) {
    let whole = Functions::parse(data).unwrap();
    let end = symbols_end(data);
    let mut least = None;
    let mut reader = SymbolPrefix::new();
    for length in 0..data.len() {
        // all lengths up to the end of the tables, then some
        if length > end + 64 && length % 61 != 0 {
            continue;
        }
        let outcome = SymbolPrefix::parse(&data[..length]);
        assert_eq!(reader.read(&data[..length]), outcome, "{label}: {length} bytes, step by step");
        match outcome {
            PrefixOutcome::Complete(functions) => {
                assert_eq!(functions, whole.all(), "{label}: {length} bytes");
                least.get_or_insert(length);
            }
            PrefixOutcome::NeedMore(more) => {
                assert!(more > length, "{label}: {length} bytes, asked for {more}");
                assert_eq!(least, None, "{label}: {length} bytes are too few, fewer were enough");
            }
            PrefixOutcome::Unsupported => panic!("{label}: {length} bytes: unsupported"),
        }
    }
    let least = least.unwrap();
    assert!((end..=end + 24).contains(&least), "{label}: {least} bytes, the symbols end at {end}");
    assert_eq!(SymbolPrefix::parse(data), PrefixOutcome::Complete(whole.all().to_vec()), "{label}");
}

#[test]
fn prefixes_of_every_length_tell_the_same_as_the_whole() {
    let cubins = distinct_cubins();
    assert!(cubins.len() > 80, "{}", cubins.len());
    for cubin in cubins {
        check_every_length(&cubin.label, &cubin.bytes);
    }
}

#[test]
fn written_cubins_are_read_by_their_prefix() {
    let local =
        |name: &str, entry| Made { name: name.to_owned(), entry, binding: 0, size: 64, registers: 8, shared: 0 };
    let many = (0..400).fold(Cubin::new("100f"), |cubin, number| cubin.kernel(&format!("_Z3mulILi{number}EEvPf")));
    for (label, cubin) in [
        ("abi 7", Cubin::abi7("80").function(local("_ZN12_GLOBAL__N_11kEv", true))),
        ("abi 8", Cubin::new("90a").device_function("_Z1fv")),
        ("relocatable", Cubin::new("90").relocatable()),
        ("many", many),
        ("none", Cubin::new("90").without_functions()),
    ] {
        check_every_length(label, &cubin.bytes());
    }
}

#[test]
fn damaged_tables_are_never_read_otherwise_than_the_whole() {
    for cubin in distinct_cubins().iter().filter(|cubin| cubin.bytes.len() < 6000).step_by(5) {
        let mut data = cubin.bytes.clone();
        for at in 0x40..symbols_end(&data) + 24 {
            for bit in [0x01, 0x10, 0x80, 0xff] {
                data[at] ^= bit;
                if let PrefixOutcome::Complete(functions) = SymbolPrefix::parse(&data)
                    && let Ok(whole) = Functions::parse(&data)
                {
                    assert_eq!(functions, whole.all(), "{}: byte {at:#x} ^ {bit:#x}", cubin.label);
                }
                data[at] ^= bit;
            }
        }
    }
}

#[test]
fn other_layouts_are_not_guessed_at() {
    let good = Cubin::new("90").bytes();
    let unsupported = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut data = good.clone();
        change(&mut data);
        assert_eq!(SymbolPrefix::parse(&data), PrefixOutcome::Unsupported);
    };
    unsupported(&|data| data[4] = 1);
    unsupported(&|data| data[18] = 62);
    unsupported(&|data| data[0x41] = b'_');
    // the names of the sections are not in the first section
    unsupported(&|data| data[62] = 2);
    // the section table stands first
    unsupported(&|data| data[40..48].copy_from_slice(&64_u64.to_le_bytes()));
    // more sections than the header can count
    unsupported(&|data| data[60..62].fill(0));
    // a section of code without a function
    unsupported(&|data| {
        let at = data.windows(7).position(|window| window == b".text.k").unwrap();
        data[at + 6] = b'q';
    });
    // a function that is none any more
    unsupported(&|data| {
        let end = symbols_end(data);
        data[end - 20] = 0x11;
    });
    assert_eq!(SymbolPrefix::parse(b"#!/bin/sh"), PrefixOutcome::Unsupported);
    assert!(matches!(SymbolPrefix::parse(b""), PrefixOutcome::NeedMore(more) if more > 0));
}

#[test]
fn hostile_tables_end_in_bounded_time() {
    // a place for the second table at every zero, and names that fit nearly all of them
    let mut data = Cubin::new("90").kernel("a").bytes();
    let header: Vec<u8> = data.drain(..0x40).collect();
    let mut hostile = header;
    hostile.extend(b"\0.shstrtab\0.strtab\0.symtab\0");
    hostile.resize(2 << 20, 0);
    hostile.extend(b".text.k\0");
    hostile.resize(hostile.len().next_multiple_of(8), 0);
    hostile.extend([0; 24]);
    for number in 1..60_000_u32 {
        let mut symbol = number.to_le_bytes().to_vec();
        symbol.extend([0x12, 0x10, 1, 0]);
        symbol.extend([0; 16]);
        hostile.extend(symbol);
    }
    hostile.extend([0xff; 24]);
    let end = hostile.len() as u64;
    hostile[40..48].copy_from_slice(&end.to_le_bytes());
    assert_eq!(SymbolPrefix::parse(&hostile), PrefixOutcome::Unsupported);
    assert!(matches!(SymbolPrefix::parse(&hostile[..1 << 20]), PrefixOutcome::NeedMore(more) if more > 1 << 20));
}
