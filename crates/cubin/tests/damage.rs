//! Cut and changed cubins: no panic, and what is untouched is still read.
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
use cubin::{Cubin, Functions, Head, Provenance, SymbolPrefix};

/// Reads all that can be read.
fn read(data: &[u8]) -> usize {
    let _ = (Head::parse(data), Cubin::parse(data), Cubin::kernels(data), SymbolPrefix::parse(data));
    let tools = Provenance::parse(data).map_or(0, |origin| origin.tools.len());
    let Ok(functions) = Functions::parse(data) else { return tools };
    let index = functions.resources();
    let figures: usize = functions.all().iter().map(|function| index.of(function).parameters.len()).sum();
    tools + figures + index.module().constants.len()
}

#[test]
fn cuts_at_every_length_are_errors_or_read() {
    for cubin in distinct_cubins().iter().filter(|cubin| cubin.bytes.len() < 8000).step_by(6) {
        for length in 0..cubin.bytes.len() {
            read(&cubin.bytes[..length]);
        }
    }
}

#[test]
fn changed_bytes_do_no_harm() {
    for cubin in distinct_cubins().iter().filter(|cubin| cubin.bytes.len() < 8000).step_by(9) {
        let mut data = cubin.bytes.clone();
        for at in 0..data.len() {
            for bits in [0x01, 0x80, 0xff] {
                data[at] ^= bits;
                read(&data);
                data[at] ^= bits;
            }
        }
    }
}

#[test]
fn bytes_behind_the_end_do_no_harm() {
    for cubin in distinct_cubins().iter().step_by(4) {
        let whole = Functions::parse(&cubin.bytes).unwrap();
        let longer = [&cubin.bytes[..], &[0xa5; 100]].concat();
        assert_eq!(Functions::parse(&longer).unwrap().all(), whole.all(), "{}", cubin.label);
    }
}
