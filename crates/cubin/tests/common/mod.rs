//! Every cubin and PTX text in the fixtures, bare and inside fatbins of any container, with what NVIDIA's tools say of it.
#![allow(
    dead_code,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

use std::collections::BTreeSet;

use fatbin::decode;
use testkit::sha256;
use testkit::truth::{Truth, TruthCubin, TruthPtx, all};

/// A cubin of the fixtures.
pub(crate) struct Cubin {
    /// Fixture, and name of the extracted file.
    pub(crate) label: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) truth: TruthCubin,
}

/// All payloads that decode, those of concatenated entries too.
fn payloads(data: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for found in fatbin::find(data) {
        for (_, entry) in found.entries().filter_map(Result::ok) {
            let mut out = Vec::new();
            if decode(&entry, 1 << 24, &mut out).is_err() {
                continue;
            }
            for member in entry.members().filter_map(Result::ok) {
                all.extend(member.bytes(&out).ok().map(<[u8]>::to_vec));
            }
            all.push(out);
        }
    }
    all
}

/// The payload whose first bytes are those that cuobjdump extracted: what follows is padding.
fn extracted(payloads: &[Vec<u8>], size: u64, sha: &str) -> Option<Vec<u8>> {
    let size = usize::try_from(size).unwrap();
    let mut heads = payloads.iter().filter_map(|payload| payload.get(..size));
    heads.find(|head| sha256(head) == sha).map(<[u8]>::to_vec)
}

/// Each cubin once for each place where cuobjdump found it.
pub(crate) fn cubins() -> Vec<Cubin> {
    let mut cubins = Vec::new();
    for fixture in all() {
        let data = fixture.bytes();
        if let Some(truth) = &fixture.cubin {
            cubins.push(Cubin { label: fixture.file.clone(), bytes: data.clone(), truth: truth.clone() });
        }
        let payloads = payloads(&data);
        for truth in &fixture.extracted_cubins {
            let label = format!("{} {}", fixture.file, truth.name);
            match extracted(&payloads, truth.size, &truth.sha256) {
                Some(bytes) => cubins.push(Cubin { label, bytes, truth: truth.clone() }),
                // cuobjdump looked into a container that is not a mere sequence of fatbins
                None => assert!(is_packed(&fixture), "{label} is not in the payloads"),
            }
        }
    }
    cubins
}

/// A compressed bundle, or a file that is damaged on purpose.
fn is_packed(fixture: &Truth) -> bool {
    fixture.file.starts_with("bad_") || fixture.file.contains("ccob")
}

/// Cubins with different bytes.
pub(crate) fn distinct_cubins() -> Vec<Cubin> {
    let mut seen = BTreeSet::new();
    cubins().into_iter().filter(|cubin| seen.insert(sha256(&cubin.bytes))).collect()
}

/// PTX texts with the kernels that cuobjdump or their maker names.
pub(crate) fn ptx_texts() -> Vec<(String, Vec<u8>, Vec<String>)> {
    let mut texts = Vec::new();
    for fixture in all() {
        let data = fixture.bytes();
        if let Some((_, _, kernels)) = &fixture.ptx {
            texts.push((fixture.file.clone(), data.clone(), kernels.clone()));
        }
        let payloads = payloads(&data);
        for TruthPtx { name, sha256, size, kernels } in &fixture.extracted_ptx {
            if let Some(text) = extracted(&payloads, *size, sha256) {
                texts.push((format!("{} {name}", fixture.file), text, kernels.clone()));
            }
        }
    }
    texts
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
