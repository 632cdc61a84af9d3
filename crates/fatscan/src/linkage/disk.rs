//! The environment and the loader's files of this machine.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fatscan_containers::{Format, Library, LinkageError, Machine, Mapping, Source, library, open_file, tree};

use super::judge::File;
use super::search::{Files, Look, Search, parse_cache};

/// Files of one environment at most.
const FILES: usize = 100_000;
/// Bytes of `ld.so.cache` that are read.
const CACHE: u64 = 64 << 20;
/// Answers that are remembered.
const REMEMBERED: usize = 1 << 20;

/// The native files of an environment.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Environment {
    /// In the order of their paths.
    pub files: Vec<File>,
    /// What could not be read, and why; damaged libraries too.
    pub unread: Vec<(PathBuf, String)>,
    /// There are more files than are looked at.
    pub is_cut: bool,
}

/// The disk of this machine. What was looked at once is remembered.
#[derive(Debug, Default)]
pub struct Disk {
    looks: Mutex<HashMap<PathBuf, Look>>,
    directories: Mutex<HashMap<PathBuf, bool>>,
    reals: Mutex<HashMap<PathBuf, PathBuf>>,
}

fn remembered<T: Clone>(known: &Mutex<HashMap<PathBuf, T>>, path: &Path, find: impl FnOnce() -> T) -> T {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = known.get(path) {
        return own.clone();
    }
    let found = find();
    if known.len() < REMEMBERED {
        known.insert(path.to_path_buf(), found.clone());
    }
    found
}

impl Disk {
    /// Nothing has been looked at.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The native files below a directory. Links out of it are not followed; of every file a few ranges are read.
    #[must_use]
    pub fn read(&self, root: &Path) -> Environment {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        let found = tree(&root, false);
        let mut environment = Environment {
            unread: found.problems.into_iter().map(|(path, error)| (root.join(path), error.to_string())).collect(),
            is_cut: found.files.len() > FILES,
            ..Environment::default()
        };
        for file in found.files.into_iter().take(FILES) {
            match self.read_file(&file.path) {
                Ok(Some(library)) => environment.files.push(File::new(file.path, library)),
                Ok(None) => {}
                Err(error) => environment.unread.push((file.path, error)),
            }
        }
        environment
    }

    /// How the file at a path is linked; `None` of what is neither ELF nor PE.
    ///
    /// # Errors
    /// Why it cannot be read, or what is damaged.
    pub fn read_file(&self, path: &Path) -> Result<Option<Library>, String> {
        read(path).map_err(|error| error.to_string())
    }

    /// The search of this machine: its `ld.so.cache`, its processor, and `LD_LIBRARY_PATH` of this process.
    #[must_use]
    pub fn search(&self) -> Search {
        let (machine, bits) = match std::env::consts::ARCH {
            "x86_64" => (Machine::X86_64, 64),
            "aarch64" => (Machine::Aarch64, 64),
            "x86" => (Machine::I386, 32),
            "powerpc64" => (Machine::Ppc64, 64),
            "s390x" => (Machine::S390, 64),
            "riscv64" => (Machine::RiscV, 64),
            "arm" => (Machine::Arm, 32),
            _ => (Machine::Other(0), 64),
        };
        let mut search = Search::new(machine, bits);
        // that of Debian is there with Debian only
        if let Some(own) = search.defaults.first().filter(|own| own.ends_with("lib64") || own.is_dir()) {
            search.lib = own.strip_prefix("/").unwrap_or(own).to_string_lossy().into_owned();
        }
        search.hwcaps = hwcaps();
        search.directory = std::env::current_dir().ok();
        if let Some(paths) = std::env::var_os("LD_LIBRARY_PATH").filter(|paths| !paths.is_empty()) {
            search.library_path = paths.to_string_lossy().split([':', ';']).map(str::to_owned).collect();
        }
        let mut bytes = Vec::new();
        if std::fs::File::open("/etc/ld.so.cache").is_ok_and(|file| file.take(CACHE).read_to_end(&mut bytes).is_ok()) {
            search.cache = parse_cache(&bytes, machine, bits).unwrap_or_default();
        }
        search
    }
}

impl Files for Disk {
    fn look(&self, path: &Path) -> Look {
        remembered(&self.looks, path, || match std::fs::metadata(path) {
            Err(_) => Look::Absent,
            Ok(_) => match read(path) {
                Ok(Some(library)) if library.format == Format::Elf => Look::Elf(library.machine, library.bits),
                // the loader steps over what it may not read
                Err(LinkageError::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => Look::Absent,
                _ => Look::Other,
            },
        })
    }

    fn is_directory(&self, path: &Path) -> bool {
        remembered(&self.directories, path, || path.is_dir())
    }

    fn real(&self, path: &Path) -> PathBuf {
        remembered(&self.reals, path, || std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()))
    }
}

/// How the file at a path is linked. It is read in ranges, never mapped.
fn read(path: &Path) -> Result<Option<Library>, LinkageError> {
    let wanted = |start: &[u8]| matches!(Format::sniff(start), Some(Format::Elf | Format::Pe));
    match open_file(path, Mapping::Never, 64, wanted)? {
        Some(source) => library(&source as &dyn Source),
        None => Ok(None),
    }
}

/// The directories of `glibc-hwcaps` that are for this processor (the levels of the x86-64 psABI).
#[cfg(target_arch = "x86_64")]
fn hwcaps() -> Vec<String> {
    use std::arch::is_x86_feature_detected as has;
    let second = has!("sse4.2") && has!("ssse3") && has!("popcnt") && has!("cmpxchg16b");
    let third = second && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("f16c") && has!("fma") && has!("lzcnt");
    let fourth =
        third && has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    let levels = [(fourth, "x86-64-v4"), (third, "x86-64-v3"), (second, "x86-64-v2")];
    levels.into_iter().filter(|(has, _)| *has).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
const fn hwcaps() -> Vec<String> {
    Vec::new()
}
