//! Every reader over every fixture and over seeded mutations of them. The same in every run; a longer one is
//! `FATSCAN_FUZZ_MUTATIONS=1000000 FATSCAN_FUZZ_SEED=7 cargo test --release --test fuzz`. Without limit, with coverage to
//! guide it: `fuzz/`.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "a panic here is a failing test"
)]

mod common;
mod fuzz_bodies;

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::Random;
use fuzz_bodies::BODIES;
use testkit::fatbin::{Codec, Entry, concat, fatbin};
use testkit::{Cubin, Elf, Pe, Zip, ptx_text};

/// Mutations of a plain run.
const MUTATIONS: usize = 20_000;
/// No input of this size takes a reader longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Larger files are read as they are and not mutated: a mutation would seldom hit what is read of them.
const LARGEST: usize = 24 << 10;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Texts for the readers of texts.
const TEXTS: &[&str] = &[
    "7.5 8.0;9.0+PTX",
    "90-real;120a-virtual;native",
    "-gencode arch=compute_90,code=[sm_90,compute_90] -gencode=arch=compute_100f,code=sm_100f",
    "TORCH_CUDA_ARCH_LIST=\"Hopper;8.6+PTX\"",
    "sm_90a,compute_120,RTX 4090,Jetson Orin",
    "CUDA error: no kernel image is available for execution on the device",
    "535.183.01",
    "12.4",
    "allow-jit = true\nallow-partial = 50\nmax-size = 10\n[levels]\njit = \"warn\"\n[fleet.a]\ngpus = [\"T4\"]\ndriver = \
     \"580.65.06\"\n[[any-of]]\nname = \"b\"\ngpus = [\"H100\"]\n[[files]]\nglob = \"**/*.libs/*\"\nlevels = { partial = \
     \"warn\" }\n[[ignore]]\nrule = \"jit\"\nmember = \"a?b*\"\nreason = \"known\"\nexpires = \"2027-06-30\"\n",
    "{\"schema\":1,\"tool\":{\"name\":\"fatscan\",\"version\":\"0.1.0\"},\"artefacts\":[],\"diagnostics\":[],\"findings\":\
     [{\"rule\":\"jit\",\"level\":\"error\",\"place\":\"a-1.whl!b\",\"device\":\"8.0\",\"message\":\"m\",\"hint\":null,\
     \"ignored_by\":null}]}",
    "*a?**b/c*\nxa/ab/c",
];

/// What mutations start from: fixtures of every kind, and files that no fixture is like.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<(String, Vec<u8>)> =
        testkit::truth::all().into_iter().map(|truth| (truth.file.clone(), truth.bytes())).collect();
    let entries = |codec| {
        [
            Entry::sass("90a", Cubin::new("90a").kernel("_Z1kPf").device_function("d").bytes()).compressed(codec),
            Entry::ptx("90", (8, 5), &ptx_text("8.5", "sm_90", "k")).compressed(codec),
            Entry::lto("90", vec![0xed, 0x43, 0x4e, 0x7f, 1, 0x43]),
        ]
    };
    for codec in [Codec::None, Codec::Zlib, Codec::Lz4, Codec::Lz4Frame, Codec::Zstd] {
        seeds.push((format!("{codec:?}.fatbin"), fatbin(&entries(codec))));
    }
    let texts = [Entry::ptx("90a", (8, 5), "x"), Entry::ptx("100f", (8, 6), "y")];
    seeds.push(("concat.fatbin".to_owned(), fatbin(&[concat(&texts, Codec::Zstd)])));
    let code = fatbin(&entries(Codec::Lz4));
    let elf = Elf::shared().section(".text", &[1; 64]).section(".nv_fatbin", &code).needs("libcudart.so.12");
    seeds.push(("narrow.so".to_owned(), elf.clone().narrow().bytes()));
    seeds.push(("x.whl".to_owned(), Zip::new().deflated("x/lib.so", &elf.bytes()).stored("x/y.fatbin", &code).bytes()));
    seeds.push(("elf.so".to_owned(), elf.bytes()));
    seeds.push(("x.dll".to_owned(), Pe::dll().section(".nv_fatb", &code).imports("cudart64_12.dll").bytes()));
    seeds.push(("abi7.cubin".to_owned(), Cubin::abi7("80").kernel("k").bytes()));
    let tar = testkit::Tar::new().file("a.so", &elf.bytes()).gnu_long("b", &code).bytes();
    for (name, packed) in [
        ("x.tgz", testkit::compress::gzip(&tar)),
        ("x.tar.bz2", testkit::compress::bzip2(&tar)),
        ("x.tar.xz", testkit::compress::xz_stored(&tar)),
        ("x.tar.zst", testkit::compress::zstd_window(&tar, 20)),
    ] {
        seeds.push((name.to_owned(), packed));
    }
    let cpio = testkit::cpio::cpio(&[("./a.so", &elf.bytes()), ("./k.fatbin", &code)]);
    seeds.push(("x.rpm".to_owned(), testkit::cpio::rpm(2, &testkit::compress::gzip(&cpio))));
    seeds.extend([("x.tar".to_owned(), tar), ("x.cpio".to_owned(), cpio)]);
    seeds.push(("deflate".to_owned(), testkit::compress::deflate(&code)));
    seeds.extend(TEXTS.iter().enumerate().map(|(index, text)| (format!("text {index}"), text.as_bytes().to_vec())));
    seeds
}

/// Runs one reader; what it says when it panics or takes too long.
fn failure(body: fuzz_bodies::Body, data: &[u8]) -> Option<String> {
    let start = Instant::now();
    let outcome = catch_unwind(|| body(data));
    let took = start.elapsed();
    match outcome {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Some(text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
        }
        Ok(()) => (took > PATIENCE).then(|| format!("{took:?}")),
    }
}

/// What `work` says of the numbers below `count`. The threads are none of a pool: one that waits for a scan would do the
/// work of another meanwhile, and its time would be counted twice.
fn by_all_cores(count: usize, work: impl Fn(usize) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let run = || {
        let numbers =
            std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count));
        numbers.flat_map(&work).collect::<Vec<String>>()
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn every_reader_takes_every_fixture() {
    let seeds = seeds();
    let failures = by_all_cores(seeds.len(), |index| {
        let (name, data) = &seeds[index];
        let failed =
            |(body, run): &(&str, fuzz_bodies::Body)| Some(format!("{body} of {name}: {}", failure(*run, data)?));
        BODIES.iter().filter_map(failed).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_reader_has_its_target_and_every_target_its_reader() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut targets: Vec<String> = std::fs::read_dir(folder.join("fuzz_targets"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    targets.sort();
    let mut names: Vec<&str> = BODIES.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(targets, names);
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
}

/// A file of the corpus is this large at most.
const CORPUS_FILE: usize = 20_000;
/// All of them are.
const CORPUS: usize = 320_000;

#[test]
fn every_reader_takes_its_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut all = Vec::new();
    for (name, run) in BODIES {
        let files = std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path());
        // what a fuzzer left here is named by its hash
        let seeds: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "seed")).collect();
        assert!(!seeds.is_empty(), "{name} has no corpus");
        all.extend(seeds.into_iter().map(|path| (*name, *run, std::fs::read(&path).unwrap(), path)));
    }
    let total: usize = all.iter().map(|(_, _, data, _)| data.len()).sum();
    assert!(total < CORPUS, "{total} bytes");
    let failures = by_all_cores(all.len(), |index| {
        let (name, run, data, path) = &all[index];
        assert!(data.len() < CORPUS_FILE, "{}: {} bytes", path.display(), data.len());
        failure(*run, data).map(|text| format!("{name} of {}: {text}", path.display())).into_iter().collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Values that sizes and counts go wrong with.
const ODD: [u64; 12] = [
    0,
    1,
    7,
    0x40,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x8000_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

/// Some changes of some bytes; `other` lends pieces.
fn mutate(random: &mut Random, data: &[u8], other: &[u8]) -> Vec<u8> {
    let mut out = data.to_vec();
    for _ in 0..=random.below(4) {
        if out.is_empty() {
            out = if other.is_empty() { vec![0] } else { other.to_vec() };
        }
        // headers stand at the start more often than not
        let reach = if random.below(2) == 0 { out.len().min(512) } else { out.len() };
        let at = random.below(reach);
        match random.below(9) {
            0 => out[at] ^= 1 << random.below(8),
            1 => out[at] = random.next() as u8,
            2 | 3 => {
                let width = [1, 2, 4, 8][random.below(4)];
                let at = at / width * width;
                let value = ODD[random.below(ODD.len())].to_le_bytes();
                let end = (at + width).min(out.len());
                out[at..end].copy_from_slice(&value[..end - at]);
            }
            4 => {
                // a count or an offset that is off by a little
                let at = (at / 4 * 4).min(out.len().saturating_sub(4));
                if let Some(word) = out.get(at..at + 4) {
                    let value = u32::from_le_bytes(word.try_into().unwrap());
                    let change = random.below(17) as u32;
                    out[at..at + 4].copy_from_slice(&value.wrapping_add(change).wrapping_sub(8).to_le_bytes());
                }
            }
            5 => out.truncate(at),
            6 => {
                let end = (at + random.below(64)).min(out.len());
                out.drain(at..end);
            }
            7 => {
                let start = random.below(other.len());
                let end = (start + random.below(256)).min(other.len());
                out.splice(at..at, other[start..end].iter().copied());
            }
            _ => {
                let start = random.below(out.len());
                let end = (start + random.below(128)).min(out.len());
                let piece = out[start..end].to_vec();
                let end = (at + piece.len()).min(out.len());
                out[at..end].copy_from_slice(&piece[..end - at]);
            }
        }
    }
    out
}

#[test]
fn every_reader_takes_seeded_mutations() {
    let seeds: Vec<(String, Vec<u8>)> = seeds().into_iter().filter(|(_, data)| data.len() <= LARGEST).collect();
    let count = number("FATSCAN_FUZZ_MUTATIONS", MUTATIONS);
    let seed = number("FATSCAN_FUZZ_SEED", 1);
    let failures = by_all_cores(count, |index| {
        let mut random = Random::new((seed as u64) << 40 ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        let (name, data) = &seeds[random.below(seeds.len())];
        let (_, other) = &seeds[random.below(seeds.len())];
        let mutated = mutate(&mut random, data, other);
        let failed = |(body, run): &(&str, fuzz_bodies::Body)| {
            let text = failure(*run, &mutated)?;
            Some(format!("{body} of mutation {index} of {name} (seed {seed}): {text}"))
        };
        BODIES.iter().filter_map(failed).collect()
    });
    let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
}
