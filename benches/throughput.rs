//! Paired runs of a scan and of the least work that it cannot do without, on a real file.
//!
//! `cargo bench --bench throughput -- wheel PATH`: the scan of a wheel against inflating its native members only, with
//! the same inflater on as many threads. `... -- tree PATH`: the scan of a directory against reading its files.
//! Prints each pair and the median of the ratios.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers, run by hand")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fatscan::{Options, scan_paths, with_threads};
use fatscan_containers::{ByteStream, Format, Inflater, SNIFF_SIZE, Zip, ZipMethod, map, walk};

const PAIRS: usize = 11;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [kind, path] = words.as_slice() else {
        println!("skipped: no file named; cargo bench --bench throughput -- wheel PATH | tree PATH");
        return;
    };
    let path = Path::new(path);
    let floor: fn(&Path) -> u64 = match kind.as_str() {
        "wheel" => inflate,
        "tree" => read,
        _ => {
            println!("unknown kind `{kind}`: wheel or tree");
            return;
        }
    };
    let mut ratios = Vec::new();
    for pair in 0..=PAIRS {
        // the order within a pair alternates; the first pair warms the page cache and does not count
        let scan = || time(|| scan_paths(&[path], &Options::default()).artefacts.len() as u64);
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

/// Inflates every native member once, the largest first, checksums left out. Returns the bytes.
fn inflate(path: &Path) -> u64 {
    let mapped = map(path).unwrap();
    let zip = Zip::list(&mapped, usize::MAX);
    let mut members = zip.members;
    members.sort_by_key(|member| member.size);
    let left = Mutex::new(members);
    let total = AtomicU64::new(0);
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| {
                loop {
                    let Some(member) = left.lock().unwrap().pop() else { break };
                    let Some(data) = member.data.filter(|_| member.method == ZipMethod::Deflated) else { continue };
                    let mut stream = Inflater::new(data, member.size, None, true);
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
    walk(path).files.into_par_iter().map(|file| std::fs::read(&file.path).unwrap().len() as u64).sum()
}
