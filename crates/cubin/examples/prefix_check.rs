//! Reads every cubin in the fatbins of some files twice, from its first bytes and whole, and compares: `prefix_check
//! libtorch_cuda.so ...`. Files are libraries, objects, archives or fatbins; unpack a wheel first.
#![allow(
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a tool of development, not a part of the library"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cubin::{Functions, PrefixOutcome, SymbolPrefix};

const LIMIT: u64 = 1 << 32;

/// Sums over all cubins.
#[derive(Default)]
struct Counts {
    cubins: usize,
    complete: usize,
    unsupported: usize,
    mismatches: usize,
    undecodable: usize,
    functions: usize,
    kernels: usize,
    size: u64,
    /// Least bytes with which the prefix is complete.
    needed: u64,
    most_needed: usize,
    /// Bytes that the suggested sizes come to.
    asked: u64,
    /// How many tries it took.
    tries: BTreeMap<usize, usize>,
    prefix_time: Duration,
    whole_time: Duration,
    resource_time: Duration,
    /// Decoding of whole entries.
    decode_time: Duration,
    /// Decoding of prefixes, each try from the start, with the reading of them.
    prefix_decode_time: Duration,
}

impl Counts {
    fn cubin(&mut self, data: &[u8], place: &str) {
        self.cubins += 1;
        self.size += data.len() as u64;
        let start = Instant::now();
        let whole = Functions::parse(data);
        self.whole_time += start.elapsed();
        let start = Instant::now();
        if let Ok(whole) = &whole {
            let index = whole.resources();
            let kernels = whole.kernels().map(|kernel| index.of(kernel).registers.is_some()).filter(|known| *known);
            std::hint::black_box(kernels.count());
        }
        self.resource_time += start.elapsed();
        let (mut length, mut tries) = (0, 0);
        let mut reader = SymbolPrefix::new();
        let outcome = loop {
            let start = Instant::now();
            let outcome = reader.read(&data[..length]);
            self.prefix_time += start.elapsed();
            match outcome {
                PrefixOutcome::NeedMore(more) if length < data.len() && more > length => {
                    (length, tries) = (more.min(data.len()), tries + 1);
                }
                other => break other,
            }
        };
        match outcome {
            PrefixOutcome::Complete(functions) => {
                self.complete += 1;
                *self.tries.entry(tries).or_default() += 1;
                self.asked += length as u64;
                self.functions += functions.len();
                self.kernels += functions.iter().filter(|function| function.is_kernel()).count();
                if whole.is_ok_and(|whole| whole.all() != functions) {
                    self.mismatches += 1;
                    println!("MISMATCH {place}");
                }
                let (mut low, mut high) = (0, length);
                while low < high {
                    let middle = usize::midpoint(low, high);
                    if matches!(SymbolPrefix::parse(&data[..middle]), PrefixOutcome::Complete(_)) {
                        high = middle;
                    } else {
                        low = middle + 1;
                    }
                }
                self.needed += low as u64;
                self.most_needed = self.most_needed.max(low);
            }
            PrefixOutcome::Unsupported => {
                self.unsupported += 1;
                println!("unsupported at {length} of {}: {place}", data.len());
            }
            PrefixOutcome::NeedMore(more) => {
                self.mismatches += 1;
                println!("MISMATCH wants {more} of {}: {place}", data.len());
            }
        }
    }
}

/// What a caller does: decode as much as is asked for until that is enough.
fn decode_as_asked(entry: &fatbin::Entry<'_>, prefix: &mut Vec<u8>) {
    prefix.clear();
    while let PrefixOutcome::NeedMore(more) = SymbolPrefix::parse(prefix) {
        let before = prefix.len();
        if fatbin::decode_prefix(entry, more as u64, LIMIT, prefix).is_err() || prefix.len() <= before {
            return;
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut counts = Counts::default();
    for path in std::env::args().skip(1) {
        let data = std::fs::read(&path)?;
        if cubin::Head::matches(&data) {
            counts.cubin(&data, &path);
        }
        let (mut payload, mut prefix) = (Vec::new(), Vec::new());
        for fatbin in fatbin::find(&data) {
            for (offset, entry) in fatbin.entries().map_while(Result::ok) {
                let place = format!("{path} {:#x}", fatbin.offset() as u64 + offset);
                let start = Instant::now();
                let decoded = fatbin::decode(&entry, LIMIT, &mut payload);
                counts.decode_time += start.elapsed();
                if decoded.is_err() {
                    counts.undecodable += 1;
                } else if cubin::Head::matches(&payload) {
                    counts.cubin(&payload, &place);
                    let start = Instant::now();
                    decode_as_asked(&entry, &mut prefix);
                    counts.prefix_decode_time += start.elapsed();
                }
                for member in entry.members().filter_map(Result::ok) {
                    if let Ok(bytes) = member.bytes(&payload)
                        && cubin::Head::matches(bytes)
                    {
                        counts.cubin(bytes, &place);
                    }
                }
            }
        }
    }
    let Counts { cubins, complete, unsupported, mismatches, undecodable, functions, kernels, .. } = counts;
    println!("cubins {cubins}, complete {complete}, unsupported {unsupported}, mismatches {mismatches}");
    println!("undecodable entries {undecodable}; functions {functions}, kernels {kernels}");
    let Counts { size, needed, most_needed, asked, tries, .. } = &counts;
    println!("bytes {size}, needed {needed} (most {most_needed}), asked {asked}, tries {tries:?}");
    let Counts { prefix_time, whole_time, resource_time, .. } = &counts;
    println!("prefix parse {prefix_time:?}, whole parse {whole_time:?}, resources {resource_time:?}");
    let Counts { decode_time, prefix_decode_time, .. } = &counts;
    println!("decoding all {decode_time:?}, decoding and reading prefixes {prefix_decode_time:?}");
    Ok(())
}
