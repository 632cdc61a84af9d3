//! Where the dynamic loader of glibc looks for a name: the rules of `ld.so(8)`, without a disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fatscan_containers::{Library, Machine};

/// Entries of one path that are looked at.
const ENTRIES: usize = 256;
/// Entries of `ld.so.cache` that are looked at.
const CACHED: usize = 1 << 20;

/// What is at a path, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Nothing.
    Absent,
    /// An ELF of this machine and these bits.
    Elf(Machine, u8),
    /// Something else, which the loader stops at.
    Other,
}

/// The files that the search asks for. [`super::Disk`] has those of this machine; a test has its own.
pub trait Files {
    /// What is at a path.
    fn look(&self, path: &Path) -> Look;
    /// Whether a directory is at a path.
    fn is_directory(&self, path: &Path) -> bool;
    /// The path without links and `..`, by which two paths of one file are known.
    fn real(&self, path: &Path) -> PathBuf;
}

/// What the search depends on beside the library that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Search {
    /// The machine that the program is made for.
    pub machine: Machine,
    /// 32 or 64.
    pub bits: u8,
    /// `LD_LIBRARY_PATH`, its directories in their order.
    pub library_path: Vec<String>,
    /// `ld.so.cache`: paths by name, in its order. Of several the first counts.
    pub cache: HashMap<String, PathBuf>,
    /// The default directories, in their order.
    pub defaults: Vec<PathBuf>,
    /// Directories of `glibc-hwcaps` that are for this processor, the most particular first.
    pub hwcaps: Vec<String>,
    /// What `$LIB` stands for: `lib64`, or `lib/x86_64-linux-gnu` with Debian.
    pub lib: String,
    /// What `$PLATFORM` stands for, where that is known; a directory with it is not searched otherwise.
    pub platform: Option<String>,
    /// The directory that relative paths start at. Without it they are not searched.
    pub directory: Option<PathBuf>,
    /// The program, and how it is linked: its DT_RPATH counts for all libraries without a DT_RUNPATH. Conda's Python has one.
    pub program: Option<(PathBuf, Library)>,
    /// Files and directories that are asked for at most, in all.
    pub looks: u64,
}

/// By what a library was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The name is a path.
    Path,
    /// DT_RPATH of the library that asks.
    Rpath,
    /// DT_RPATH of one that loads it: only if that one does.
    LoaderRpath(PathBuf),
    /// DT_RPATH of the program.
    ProgramRpath,
    /// `LD_LIBRARY_PATH`.
    LibraryPath,
    /// DT_RUNPATH of the library that asks.
    Runpath,
    /// `ld.so.cache`.
    Cache,
    /// A default directory.
    Default,
}

/// What the loader does about one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The file that it opens, as it spells the path, and why it looked there.
    pub found: Option<(PathBuf, Way)>,
    /// Whether that file is no library, which the loader stops at.
    pub is_broken: bool,
    /// Files of this name for other machines, which it steps over.
    pub skipped: Vec<PathBuf>,
}

impl Search {
    /// The search of a machine that has nothing but the default directories of glibc: with Debian those of the machine's
    /// own name, elsewhere `/lib64` and `/usr/lib64`.
    #[must_use]
    pub fn new(machine: Machine, bits: u8) -> Self {
        let own = match (machine, bits) {
            (Machine::X86_64, 64) => Some("x86_64-linux-gnu"),
            (Machine::Aarch64, 64) => Some("aarch64-linux-gnu"),
            (Machine::Ppc64, 64) => Some("powerpc64le-linux-gnu"),
            _ => None,
        };
        let mut defaults: Vec<PathBuf> = Vec::new();
        for name in own.into_iter().map(|own| format!("lib/{own}")).chain(["lib64".to_owned(), "lib".to_owned()]) {
            defaults.extend([PathBuf::from(format!("/{name}")), PathBuf::from(format!("/usr/{name}"))]);
        }
        Self {
            machine,
            bits,
            library_path: Vec::new(),
            cache: HashMap::new(),
            defaults,
            hwcaps: Vec::new(),
            lib: "lib64".to_owned(),
            platform: None,
            directory: None,
            program: None,
            looks: 16_000_000,
        }
    }

    /// What the loader does about `name`, which the library at `path` asks for. `loaders` are those that loaded it, the
    /// nearest first; a library that Python opens by its path has none.
    #[must_use]
    pub fn find(
        &self,
        name: &str,
        (path, library): (&Path, &Library),
        loaders: &[(&Path, &Library)],
        files: &dyn Files,
    ) -> Answer {
        let mut answer = Answer::default();
        if name.contains('/') {
            if let Some(file) = self.expand(name, path.parent()) {
                self.open(file, &Way::Path, files, &mut answer);
            }
            return answer;
        }
        let done = if library.runpath.is_none() {
            let own = std::iter::once((path, library, Way::Rpath));
            let others = loaders.iter().map(|(path, own)| (*path, *own, Way::LoaderRpath(path.to_path_buf())));
            let program = self.program.iter().map(|(path, own)| (path.as_path(), own, Way::ProgramRpath));
            own.chain(others).chain(program).any(|(path, own, way)| {
                // where both are given, the RPATH counts for nothing
                let rpath = own.rpath.as_deref().filter(|_| own.runpath.is_none());
                rpath.is_some_and(|rpath| self.any_of(rpath.split(':'), path, name, &way, files, &mut answer))
            })
        } else {
            false
        };
        let library_path = self.library_path.iter().map(String::as_str);
        let origin = self.program.as_ref().map_or(path, |(program, _)| program.as_path());
        let done = done || self.any_of(library_path, origin, name, &Way::LibraryPath, files, &mut answer);
        let runpath = library.runpath.as_deref().map(|runpath| runpath.split(':'));
        let done =
            done || runpath.is_some_and(|runpath| self.any_of(runpath, path, name, &Way::Runpath, files, &mut answer));
        let cached = self.cache.get(name).filter(|cached| {
            let is_default = self.defaults.iter().any(|own| cached.starts_with(own));
            !(library.no_default_directories && is_default)
        });
        let done = done || cached.is_some_and(|file| self.open(file.clone(), &Way::Cache, files, &mut answer));
        if !done && !library.no_default_directories {
            self.defaults.iter().any(|own| self.in_directory(own, name, &Way::Default, files, &mut answer));
        }
        answer
    }

    /// The directories of a DT_RPATH or a DT_RUNPATH of the library at `path`: as each stands there, and what it stands for
    /// where that is known.
    pub fn directories<'text>(&self, paths: &'text str, path: &Path) -> Vec<(&'text str, Option<PathBuf>)> {
        let entries = paths.split(':').take(ENTRIES).filter(|_| !paths.is_empty());
        entries.map(|entry| (entry, self.expand(entry, path.parent()))).collect()
    }

    fn any_of<'text>(
        &self,
        entries: impl Iterator<Item = &'text str>,
        path: &Path,
        name: &str,
        way: &Way,
        files: &dyn Files,
        answer: &mut Answer,
    ) -> bool {
        let directories = entries.take(ENTRIES).filter_map(|entry| self.expand(entry, path.parent()));
        directories.into_iter().any(|directory| self.in_directory(&directory, name, way, files, answer))
    }

    fn in_directory(&self, directory: &Path, name: &str, way: &Way, files: &dyn Files, answer: &mut Answer) -> bool {
        if !files.is_directory(directory) {
            return false;
        }
        let particular = directory.join("glibc-hwcaps");
        if !self.hwcaps.is_empty()
            && files.is_directory(&particular)
            && self.hwcaps.iter().any(|own| self.open(particular.join(own).join(name), way, files, answer))
        {
            return true;
        }
        self.open(directory.join(name), way, files, answer)
    }

    /// Whether the search ends with this file.
    fn open(&self, file: PathBuf, way: &Way, files: &dyn Files, answer: &mut Answer) -> bool {
        match files.look(&file) {
            Look::Absent => return false,
            Look::Elf(machine, bits) if (machine, bits) != (self.machine, self.bits) => {
                answer.skipped.push(file);
                return false;
            }
            Look::Elf(..) => {}
            Look::Other => answer.is_broken = true,
        }
        answer.found = Some((file, way.clone()));
        true
    }

    /// An entry with its `$ORIGIN`, `$LIB` and `$PLATFORM` replaced; nothing where one of them is not known.
    fn expand(&self, entry: &str, origin: Option<&Path>) -> Option<PathBuf> {
        let mut parts = entry.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let token = ["ORIGIN", "PLATFORM", "LIB"].into_iter().find_map(|token| {
                let braced = part.strip_prefix('{').and_then(|rest| rest.strip_prefix(token)?.strip_prefix('}'));
                Some((token, braced.or_else(|| part.strip_prefix(token))?))
            });
            match token {
                Some(("ORIGIN", rest)) => text.extend([origin?.to_str()?, rest]),
                Some(("LIB", rest)) => text.extend([self.lib.as_str(), rest]),
                Some((_, rest)) => text.extend([self.platform.as_deref()?, rest]),
                // the loader leaves what it does not know
                None => text.extend(["$", part]),
            }
        }
        let path = Path::new(if text.is_empty() { "." } else { &text });
        if path.is_absolute() { Some(path.to_path_buf()) } else { Some(self.directory.as_ref()?.join(path)) }
    }
}

/// The paths of an `ld.so.cache` for programs of this machine, by name: of glibc's format 1.1, with the older one before it or
/// without. What is particular to a processor is left out. `None` where it is of no known format.
#[must_use]
pub fn parse_cache(bytes: &[u8], machine: Machine, bits: u8) -> Option<HashMap<String, PathBuf>> {
    const OLD: &[u8] = b"ld.so-1.7.0\0";
    const NEW: &[u8] = b"glibc-ld.so.cache1.1";
    // sysdeps/*/dl-cache.h: the kind of the machine, and that it is of glibc
    let wanted: u32 = match (machine, bits) {
        (Machine::X86_64, 64) => 0x303,
        (Machine::X86_64, 32) => 0x803,
        (Machine::Aarch64, 64) => 0xa03,
        (Machine::Ppc64, 64) => 0x503,
        (Machine::S390, 64) => 0x403,
        _ => 3,
    };
    let word = |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word));
    let cache = if bytes.starts_with(OLD) {
        let count = usize::try_from(word(bytes, OLD.len())?).ok()?;
        let end = count.checked_mul(12)?.checked_add(16)?.checked_next_multiple_of(8)?;
        bytes.get(end..)?
    } else {
        bytes
    };
    if !cache.starts_with(NEW) {
        return None;
    }
    let count = usize::try_from(word(cache, NEW.len())?).ok()?;
    let text = |at: u32| {
        let rest = cache.get(usize::try_from(at).ok()?..)?;
        let rest = rest.get(..rest.len().min(4096))?;
        std::str::from_utf8(rest.get(..memchr::memchr(0, rest)?)?).ok()
    };
    let mut paths = HashMap::new();
    for entry in cache.get(48..)?.chunks_exact(24).take(count.min(CACHED)) {
        let (Some(flags), Some(key), Some(value)) = (word(entry, 0), word(entry, 4), word(entry, 8)) else { continue };
        let is_plain = word(entry, 16) == Some(0) && word(entry, 20) == Some(0);
        if flags == wanted
            && is_plain
            && let (Some(name), Some(path)) = (text(key), text(value))
        {
            paths.entry(name.to_owned()).or_insert_with(|| PathBuf::from(path));
        }
    }
    Some(paths)
}
