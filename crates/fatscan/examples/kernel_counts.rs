//! Counts the kernels of files by architecture: `cargo run --release -p fatscan --example kernel_counts -- PATH...`.

#![allow(clippy::print_stdout, clippy::arithmetic_side_effects, reason = "a program for developers")]

use std::collections::{BTreeMap, BTreeSet};

use fatscan::{KernelDepth, Options, scan_paths};

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let options = Options { kernels: KernelDepth::Names, ..Options::default() };
    let report = scan_paths(&paths, &options);
    for artefact in &report.artefacts {
        for member in &artefact.members {
            let mut counts: BTreeMap<(Option<&str>, String), (usize, BTreeSet<&str>)> = BTreeMap::new();
            for module in &member.modules {
                for image in &module.images {
                    let key = (module.section.as_deref(), image.arch_name().unwrap_or_default());
                    let (definitions, names) = counts.entry(key).or_default();
                    for kernel in image.kernels.iter().flatten() {
                        *definitions += 1;
                        names.insert(&kernel.name);
                    }
                }
            }
            println!("{}", member.path);
            for ((section, arch), (definitions, names)) in counts {
                println!(
                    "  {:<16} {arch:<12} {} names, {definitions} definitions",
                    section.unwrap_or("-"),
                    names.len()
                );
            }
        }
    }
}
