//! Products by name.

use crate::capability::Capability;
use crate::tables::products::PRODUCTS;

use super::family::{Family, Meaning, family};
use super::host::Host;
use super::name::{bare, has_run, words};
use super::nearest::distance;

/// What a product is sold as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ProductClass {
    /// GeForce and other consumer cards.
    Geforce,
    /// Quadro, RTX and other workstation cards.
    Pro,
    /// Data center cards and everything else.
    DatacenterOrOther,
    /// Jetson and DRIVE.
    Tegra,
}

/// Where a product's row comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ProductSource {
    /// `pciutils/pciids`, by the chip's code name.
    PciIds,
    /// The README of `NVIDIA/open-gpu-kernel-modules`: the name that the driver reports.
    OpenKernelModules,
    /// `developer.nvidia.com/cuda-gpus`.
    CudaGpus,
    /// Entered by hand.
    Manual,
}

/// One product name with one capability.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Product {
    /// The name as its source spells it.
    pub name: &'static str,
    /// What its devices report.
    pub capability: Capability,
    /// What it is sold as.
    pub class: ProductClass,
    /// Code names of its chips, where known.
    pub chips: &'static [&'static str],
    /// PCI device ids (vendor 10de), where known.
    pub pci: &'static [u16],
    /// The host of its devices, where they always sit beside one: Tegra chips, Grace superchips, DGX Spark.
    pub host: Option<Host>,
    /// Where the row comes from.
    pub sources: &'static [ProductSource],
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProductLookup {
    /// One product, or several of one capability.
    Found(&'static Product),
    /// A family ([`family`]), of one capability or several.
    Family(&'static Family),
    /// Products of several capabilities, ascending.
    Ambiguous(Vec<Meaning>),
    /// No product.
    Unknown {
        /// Up to three names that are spelled alike.
        nearest: Vec<&'static str>,
    },
}

/// All products, by capability. A name that stands for two capabilities has two rows.
pub fn products() -> &'static [Product] {
    PRODUCTS
}

/// The product with a PCI device id (vendor 10de). A chip never has two capabilities.
pub fn product_by_pci_id(id: u16) -> Option<&'static Product> {
    PRODUCTS.iter().find(|row| row.pci.contains(&id))
}

/// Finds a product by name, forgiving case, `NVIDIA`, `GeForce`, blanks and punctuation.
///
/// A whole name wins (`RTX 4060`, not the `Ti`), then a family's (`Blackwell`); else words that stand together in names
/// (`4090`, `A100 80GB`, `Xavier NX`), if all of those have one capability. A memory size behind a known name
/// (`RTX 3060 12GB`), a count (`GB200 NVL72`) and the system before it (`DGX H100`) are not held against it.
pub fn product(name: &str) -> ProductLookup {
    let wanted = words(name);
    if wanted.is_empty() {
        return ProductLookup::Unknown { nearest: Vec::new() };
    }
    let key = wanted.concat();
    let rows: Vec<(&'static Product, Vec<String>)> = PRODUCTS.iter().map(|row| (row, words(row.name))).collect();

    let whole = |key: &str| settle(key, rows.iter().filter(|(_, words)| words.concat() == key).map(|(row, _)| *row));
    let inside = || settle(&key, rows.iter().filter(|(_, words)| has_run(words, &key)).map(|(row, _)| *row));
    whole(&key)
        .or_else(|| family(name).map(ProductLookup::Family))
        .or_else(inside)
        .or_else(|| whole(&bare(&wanted)?.concat()))
        .unwrap_or_else(|| ProductLookup::Unknown { nearest: nearest(&rows, &key) })
}

/// One capability, several, or no row at all.
fn settle(key: &str, rows: impl Iterator<Item = &'static Product>) -> Option<ProductLookup> {
    let rows: Vec<&'static Product> = rows.collect();
    let mut capabilities: Vec<Capability> = rows.iter().map(|row| row.capability).collect();
    capabilities.sort_unstable();
    capabilities.dedup();
    // one with any host, if there is one; the name that a driver reports, of those the shortest
    let first = rows.iter().min_by_key(|row| {
        let is_reported = row.sources.contains(&ProductSource::OpenKernelModules);
        (row.host.is_some(), !is_reported, row.name.len())
    })?;
    if let [_] = capabilities.as_slice() {
        return Some(ProductLookup::Found(first));
    }
    let meaning = |capability| {
        let own = rows.iter().copied().filter(|row| row.capability == capability);
        Meaning { capability, examples: examples(key, own) }
    };
    Some(ProductLookup::Ambiguous(capabilities.into_iter().map(meaning).collect()))
}

/// Up to two short names of products, or the chips of those that are all called what was typed.
fn examples(key: &str, rows: impl Iterator<Item = &'static Product> + Clone) -> Vec<&'static str> {
    let mut names: Vec<(usize, String, &'static str)> = rows
        .clone()
        .map(|row| (words(row.name).concat(), row.name))
        .filter(|(words, _)| words != key)
        .map(|(words, name)| (words.len(), words, name.trim_start_matches("NVIDIA ")))
        .collect();
    names.sort_unstable();
    names.dedup_by(|left, right| left.1 == right.1);
    if names.is_empty() {
        let mut chips: Vec<&'static str> = rows.flat_map(|row| row.chips).copied().collect();
        chips.sort_unstable();
        chips.dedup();
        return chips;
    }
    names.into_iter().take(2).map(|(_, _, name)| name).collect()
}

/// Up to three names that differ from the key in at most a third of its letters.
fn nearest(rows: &[(&'static Product, Vec<String>)], key: &str) -> Vec<&'static str> {
    let limit = (key.chars().count() / 3).max(1);
    let mut near: Vec<(usize, String, &'static str)> = rows
        .iter()
        .map(|(row, words)| (words.concat(), row.name))
        // names differ by no less than their lengths do; what is typed can be of any length
        .filter(|(words, _)| words.len().abs_diff(key.len()) <= limit)
        .map(|(words, name)| (distance(&words, key), words, name))
        .filter(|(distance, _, _)| *distance <= limit)
        .collect();
    near.sort();
    near.dedup_by(|left, right| left.1 == right.1);
    near.into_iter().take(3).map(|(_, _, name)| name).collect()
}
