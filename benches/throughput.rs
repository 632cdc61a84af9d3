//! Paired runs of a scan and of the least work that it cannot do without, on a real file.
//!
//! `cargo bench --bench throughput -- wheel PATH`: the scan of a wheel against inflating its native members only, with
//! the same inflater on as many threads. `... -- tree PATH`: the scan of a directory against reading its files.
//! `... -- kernels PATH` and `... -- resources PATH`: the matrix of kernels and architectures of a library, without and
//! with what the kernels need, against decompressing all payloads with the same decoder on as many threads. Prints each
//! pair and the median of the ratios.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a program for developers, run by hand"
)]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fatbin::{Decoder, Entry};
use fatscan::{KernelDepth, Matrix, Options, scan_paths, with_threads};
use fatscan_containers::{
    ByteStream, Format, Inflater, Limits, Mapping, SNIFF_SIZE, SliceStream, Source as _, Zip, ZipMethod, open_file,
    tree,
};

const PAIRS: usize = 11;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [kind, path] = words.as_slice() else {
        println!("skipped: no file named; cargo bench --bench throughput -- wheel|tree|kernels|resources PATH");
        return;
    };
    let path = Path::new(path);
    let (floor, kernels): (fn(&Path) -> u64, KernelDepth) = match kind.as_str() {
        "wheel" => (inflate, KernelDepth::None),
        "tree" => (read, KernelDepth::None),
        "kernels" => (decode, KernelDepth::Names),
        "resources" => (decode, KernelDepth::Resources),
        _ => {
            println!("unknown kind `{kind}`: wheel, tree, kernels or resources");
            return;
        }
    };
    let mut ratios = Vec::new();
    for pair in 0..=PAIRS {
        // the order within a pair alternates; the first pair warms the page cache and does not count
        let scan = || time(|| self::scan(path, kernels));
        let least = || time(|| with_threads(0, || floor(path)).unwrap());
        let (scanned, floored) = if pair % 2 == 0 {
            let scanned = scan();
            (scanned, least())
        } else {
            let floored = least();
            (scan(), floored)
        };
        if pair > 0 {
            let ratio = scanned.as_secs_f64() / floored.as_secs_f64();
            println!("scan {:.3} s, least {:.3} s, ratio {ratio:.3}", scanned.as_secs_f64(), floored.as_secs_f64());
            ratios.push(ratio);
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3} over {PAIRS} pairs", ratios.get(PAIRS / 2).copied().unwrap_or(f64::NAN));
}

fn time(work: impl FnOnce() -> u64) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

/// The least that a command does with the file. Returns the number of artefacts or rows.
fn scan(path: &Path, kernels: KernelDepth) -> u64 {
    let report = scan_paths(&[path], &Options::new().with_kernels(kernels));
    if kernels == KernelDepth::None {
        return report.artefacts.len() as u64;
    }
    report
        .artefacts
        .iter()
        .flat_map(|artefact| &artefact.members)
        .map(|member| Matrix::of(member).rows.len() as u64)
        .sum()
}

/// Decompresses every payload of the fatbins in a file once. Returns the bytes.
fn decode(path: &Path) -> u64 {
    let source = open_file(path, Mapping::Always, 0, |_| true).unwrap().unwrap();
    let mapped = source.as_slice().unwrap();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for fatbin in fatbin::find(mapped) {
        entries.extend(fatbin.entries().map_while(Result::ok).map(|(_, entry)| entry));
    }
    entries.sort_by_key(|entry| entry.header().unpacked_size());
    let left = Mutex::new(entries);
    let total = AtomicU64::new(0);
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| {
                let (mut decoder, mut out) = (Decoder::new(), Vec::new());
                loop {
                    let Some(entry) = left.lock().unwrap().pop() else { break };
                    decoder.decode(&entry, u64::MAX, &mut out).unwrap();
                    total.fetch_add(out.len() as u64, Ordering::Relaxed);
                }
            });
        }
    });
    total.into_inner()
}

/// Inflates every native member once, the largest first, checksums left out. Returns the bytes.
fn inflate(path: &Path) -> u64 {
    let source = open_file(path, Mapping::Always, 0, |_| true).unwrap().unwrap();
    let mapped = source.as_slice().unwrap();
    let zip = Zip::list(&source, &Limits::default());
    let mut members = zip.members;
    members.sort_by_key(|member| member.size);
    let left = Mutex::new(members);
    let total = AtomicU64::new(0);
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| {
                loop {
                    let Some(member) = left.lock().unwrap().pop() else { break };
                    if member.method != ZipMethod::Deflated {
                        continue;
                    }
                    let (start, length) = member.data;
                    let start = usize::try_from(start).unwrap();
                    let data = &mapped[start..start + usize::try_from(length).unwrap()];
                    let mut stream = Inflater::new(SliceStream::new(data), member.size, None, true);
                    stream.fill(SNIFF_SIZE);
                    if Format::sniff(stream.window()).is_some() {
                        let bytes = stream.skip(u64::MAX);
                        total.fetch_add(bytes, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    total.into_inner()
}

/// Reads every file of a directory once. Returns the bytes.
fn read(path: &Path) -> u64 {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    tree(path, false).files.into_par_iter().map(|file| std::fs::read(&file.path).unwrap().len() as u64).sum()
}
