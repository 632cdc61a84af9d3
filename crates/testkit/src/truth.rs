//! The fixtures and what is true of them. See `fixtures/README.md` for how to read the files.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One entry as cuobjdump lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TruthEntry {
    /// `elf`, `ptx`, `nvvm`, `tile ir`, `relocatable ptx`, `concatenated entry`, `<unknown kind>`.
    pub kind: String,
    /// With suffix, always written `sm_..`; none for a concatenated entry and an index.
    pub arch: Option<String>,
    /// By any codec.
    pub compressed: bool,
    /// Debug flag.
    pub debug: bool,
    /// `1.8`, `8.5`.
    pub version: String,
    /// Identifier.
    pub identifier: Option<String>,
    /// Options text, trimmed.
    pub options: Option<String>,
    /// `linux`, `windows`, `mac`, `<unknown>`.
    pub host: String,
    /// 64 or 32.
    pub bits: u64,
    /// Index of the concatenated entry that holds this one.
    pub in_concat: Option<usize>,
    /// Member of a static archive.
    pub member: Option<String>,
}

/// A cubin as cuobjdump describes it.
#[derive(Clone, Debug, Default)]
pub struct TruthCubin {
    /// Name of the extracted file; empty for a bare cubin.
    pub name: String,
    /// Of the extracted bytes; empty for a bare cubin (it is the file).
    pub sha256: String,
    /// Bytes; 0 for a bare cubin.
    pub size: u64,
    /// `90a`; never with `f`. None: cuobjdump refused the file.
    pub sm: Option<String>,
    /// `13.5`.
    pub toolkit: Option<String>,
    /// `ET_EXEC` or `ET_REL`.
    pub elf_type: Option<String>,
    /// 7 or 8.
    pub abi: Option<u64>,
    /// e_flags.
    pub flags: Option<u64>,
    /// Entry functions, sorted.
    pub kernels: Vec<String>,
    /// Kernel and its figures (`REG`, `STACK`, `SHARED`, `LOCAL`, `CONSTANT[0]`, ...).
    pub resources: Vec<(String, Vec<(String, u64)>)>,
    /// Tool, version and command line of each tkinfo note.
    pub tkinfo: Vec<(String, String, String)>,
}

/// An extracted PTX text, without NUL.
#[derive(Clone, Debug, Default)]
pub struct TruthPtx {
    /// Name of the extracted file.
    pub name: String,
    /// Of the text.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
    /// Entry functions, sorted.
    pub kernels: Vec<String>,
}

/// What the maker of a file says of it; beats cuobjdump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Entries.
    pub entries: Option<usize>,
    /// Fatbins.
    pub fatbins: Option<usize>,
    /// What a reader must report: `header_size`, `payload`, `psize`, `usize`, `fatsize`, `name`, `options`, `concat`, `magic`, ...
    pub error: Option<String>,
    /// Whether the payloads can be decoded.
    pub decodes: Option<bool>,
    /// What a reader must list: `sass sm_90a`, `ptx compute_90a`, `other gfx942:sramecc+:xnack-`.
    pub images: Option<Vec<String>>,
}

/// Everything known of one fixture.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// File name.
    pub file: String,
    /// How it was made.
    pub command: String,
    /// Bytes.
    pub size: u64,
    /// Of the file.
    pub sha256: String,
    /// Exit code of cuobjdump; none for bare cubins, PTX and intermediate code.
    pub cuobjdump_exit: Option<i64>,
    /// What cuobjdump complained of.
    pub cuobjdump_error: Option<String>,
    /// As listed with `-all`; empty for bare files.
    pub entries: Vec<TruthEntry>,
    /// As listed without `-all`, where that differs.
    pub entries_without_all: Option<Vec<TruthEntry>>,
    /// Extracted cubins.
    pub extracted_cubins: Vec<TruthCubin>,
    /// Extracted PTX.
    pub extracted_ptx: Vec<TruthPtx>,
    /// A bare cubin.
    pub cubin: Option<TruthCubin>,
    /// A bare PTX text: version, target line, kernels.
    pub ptx: Option<(String, String, Vec<String>)>,
    /// From the command.
    pub expect: Option<Expect>,
}

/// The folder of the fixtures.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The path of a fixture.
pub fn path(name: &str) -> PathBuf {
    folder().join(name)
}

/// The bytes of a fixture.
///
/// # Panics
/// If it cannot be read.
pub fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("fixture {name}: {e}"))
}

/// The truth of all fixtures, by name.
pub fn all() -> Vec<Truth> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("fixtures")
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".truth.json").map(str::to_owned))
        .collect();
    names.sort();
    names.iter().map(|n| Truth::load(n)).collect()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn rows<T>(value: &Value, make: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().into_iter().flatten().map(make).collect()
}

fn entry(v: &Value) -> TruthEntry {
    TruthEntry {
        kind: text(v, "kind").unwrap_or_default(),
        arch: text(v, "arch"),
        compressed: v["compressed"] == true,
        debug: v["debug"] == true,
        version: text(v, "version").unwrap_or_default(),
        identifier: text(v, "identifier"),
        options: text(v, "options").map(|t| t.trim().to_owned()),
        host: text(v, "host").unwrap_or_default(),
        bits: v["bits"].as_u64().unwrap_or_default(),
        in_concat: v["in_concat"].as_u64().map(|n| n as usize),
        member: text(v, "member"),
    }
}

fn cubin(v: &Value) -> TruthCubin {
    let figures = |v: &Value| {
        let map = v.as_object().into_iter().flatten();
        map.map(|(k, v)| (k.clone(), v.as_u64().unwrap_or_default())).collect()
    };
    TruthCubin {
        name: text(v, "name").unwrap_or_default(),
        sha256: text(v, "sha256").unwrap_or_default(),
        size: v["size"].as_u64().unwrap_or_default(),
        sm: text(v, "elf_sm"),
        toolkit: text(v, "elf_toolkit"),
        elf_type: text(v, "elf_type"),
        abi: v["elf_abi"].as_u64(),
        flags: text(v, "elf_flags").and_then(|t| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok()),
        kernels: texts(&v["kernels"]),
        resources: v["res_usage"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), figures(v))).collect(),
        tkinfo: rows(&v["tkinfo"], |n| {
            let get = |key| text(n, key).unwrap_or_default();
            (get("tool"), get("version"), get("cmdline"))
        }),
    }
}

fn expect(command: &str) -> Option<Expect> {
    let (_, json) = command.rsplit_once("expect ")?;
    let v: Value = serde_json::from_str(json).ok()?;
    Some(Expect {
        entries: v["n"].as_u64().map(|n| n as usize),
        fatbins: v["fatbins"].as_u64().map(|n| n as usize),
        error: text(&v, "error"),
        decodes: v["decode"].as_str().map(|d| d == "ok"),
        images: v["images"].is_array().then(|| texts(&v["images"])),
    })
}

impl Truth {
    /// The truth of one fixture: `Truth::load("concat_all.fatbin")`.
    ///
    /// # Panics
    /// If there is none.
    pub fn load(name: &str) -> Self {
        let v: Value = serde_json::from_slice(&bytes(&format!("{name}.truth.json"))).expect("truth is JSON");
        let command = text(&v, "command").unwrap_or_default();
        Self {
            file: name.to_owned(),
            size: v["size"].as_u64().unwrap_or_default(),
            sha256: text(&v, "sha256").unwrap_or_default(),
            cuobjdump_exit: v["cuobjdump_rc"].as_i64(),
            cuobjdump_error: text(&v, "cuobjdump_err"),
            entries: rows(&v["entries"], entry),
            entries_without_all: v["entries_without_all"].is_array().then(|| rows(&v["entries_without_all"], entry)),
            extracted_cubins: rows(&v["extracted_elf"], cubin),
            extracted_ptx: rows(&v["extracted_ptx"], |p| TruthPtx {
                name: text(p, "name").unwrap_or_default(),
                sha256: text(p, "sha256").unwrap_or_default(),
                size: p["size"].as_u64().unwrap_or_default(),
                kernels: texts(&p["kernels"]),
            }),
            cubin: v["cubin"].is_object().then(|| cubin(&v["cubin"])),
            ptx: v["ptx"].is_object().then(|| {
                let p = &v["ptx"];
                (text(p, "version").unwrap_or_default(), text(p, "target").unwrap_or_default(), texts(&p["kernels"]))
            }),
            expect: expect(&command),
            command,
        }
    }

    /// The bytes of the fixture.
    pub fn bytes(&self) -> Vec<u8> {
        bytes(&self.file)
    }

    /// Made to be damaged (`bad_*`).
    pub fn is_hostile(&self) -> bool {
        self.file.starts_with("bad_")
    }

    /// Whether [`Truth::entries`] is what a right reader lists: cuobjdump ended well, and nobody expects otherwise.
    pub fn entries_hold(&self) -> bool {
        let expect = self.expect.clone().unwrap_or_default();
        self.cuobjdump_exit == Some(0)
            && expect.error.is_none()
            && expect.entries.is_none_or(|n| n == self.entries.len())
    }

    /// The architecture of a bare cubin by its file name, suffix `f` included: `100f`.
    pub fn cubin_arch(&self) -> Option<String> {
        self.cubin.as_ref()?;
        Some(self.file.rsplit_once("sm_")?.1.trim_end_matches(".cubin").to_owned())
    }

    /// Images a right reader lists, sorted, in the words of the report (`sass sm_90a`, `ptx compute_90a`, `lto-ir lto_90a`),
    /// concatenated entries resolved to their members. None where nothing certain is known.
    pub fn images(&self) -> Option<Vec<String>> {
        if let Some(images) = self.expect.as_ref().and_then(|e| e.images.clone()) {
            let mut images = images;
            images.sort();
            return Some(images);
        }
        if let Some(arch) = self.cubin_arch() {
            return Some(vec![format!("sass sm_{arch}")]);
        }
        if let Some((_, target, _)) = &self.ptx {
            let arch = target.split(',').next().unwrap_or_default().trim().trim_start_matches("sm_");
            return Some(vec![format!("ptx compute_{arch}")]);
        }
        if !self.entries_hold() {
            return None;
        }
        let mut images: Vec<String> = self
            .entries
            .iter()
            .filter(|e| e.kind != "concatenated entry")
            .map(|e| {
                let arch = e.arch.as_deref().unwrap_or("").trim_start_matches("sm_");
                match e.kind.as_str() {
                    "elf" => format!("sass sm_{arch}"),
                    "ptx" | "relocatable ptx" => format!("ptx compute_{arch}"),
                    "nvvm" => format!("lto-ir lto_{arch}"),
                    "tile ir" => format!("tile-ir sm_{arch}"),
                    _ => format!("other sm_{arch}"),
                }
            })
            .collect();
        images.sort();
        Some(images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_has_a_truth_of_its_size() {
        let all = all();
        assert_eq!(all.len(), 175);
        for truth in all {
            assert_eq!(truth.size, truth.bytes().len() as u64, "{}", truth.file);
            assert_eq!(truth.sha256.len(), 64, "{}", truth.file);
        }
    }

    #[test]
    fn concatenated_entry_gives_its_members() {
        let images = Truth::load("concat_ptx.fatbin").images().unwrap();
        assert_eq!(images, ["ptx compute_100f", "ptx compute_75", "ptx compute_90a", "sass sm_100f", "sass sm_90a"]);
    }

    #[test]
    fn maker_beats_cuobjdump() {
        let bad = Truth::load("bad_hs_0.fatbin");
        assert_eq!((bad.expect.clone().unwrap().error.as_deref(), bad.entries_hold()), (Some("header_size"), false));
        assert_eq!(bad.images(), None);
        let crafted = Truth::load("craft_entry_size_0.fatbin");
        assert_eq!((crafted.expect.unwrap().entries, crafted.entries.len()), (Some(2), 1));
        assert_eq!(Truth::load("pe_short_names.dll").images().unwrap(), ["ptx compute_90a", "ptx compute_90a"]);
    }

    #[test]
    fn bare_cubin_is_named_with_its_suffix() {
        let truth = Truth::load("tk12.9_sm_103f.cubin");
        assert_eq!(truth.images().unwrap(), ["sass sm_103f"]);
        assert_eq!(truth.cubin.unwrap().sm.as_deref(), Some("103"));
        assert_eq!(Truth::load("cubin_multi_rdc_sm_90a.cubin").cubin_arch().as_deref(), Some("90a"));
        assert_eq!(Truth::load("ptx_90a.ptx").images().unwrap(), ["ptx compute_90a"]);
    }

    #[test]
    fn extracted_cubin_keeps_kernels_and_figures() {
        let truth = Truth::load("fatbin_sm_90.fatbin");
        let cubin = &truth.extracted_cubins[0];
        assert_eq!(
            (cubin.kernels.clone(), cubin.abi, cubin.flags),
            (vec!["k_one".to_owned()], Some(8), Some(0x0600_5A04))
        );
        assert!(cubin.resources[0].1.contains(&("REG".to_owned(), 8)));
    }
}
