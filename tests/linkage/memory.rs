//! Files in memory.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use fatscan::linkage::{File, Files, Library, Look, Machine, library};
use fatscan_containers::Source;
use testkit::Elf;

/// How an ELF of the testkit is linked.
pub(crate) fn read(elf: &Elf) -> Library {
    library(&elf.bytes().as_slice() as &dyn Source).unwrap().unwrap()
}

pub(crate) fn file(path: &str, elf: &Elf) -> File {
    File::new(PathBuf::from(path), read(elf))
}

/// Files by their paths without `.` and `..`; directories are those that have files.
#[derive(Debug, Default)]
pub(crate) struct Memory(pub(crate) BTreeMap<PathBuf, Look>);

impl Memory {
    pub(crate) fn of(files: &[File]) -> Self {
        let look = |file: &File| Look::Elf(file.library.machine, file.library.bits);
        Self(files.iter().map(|file| (file.path.clone(), look(file))).collect())
    }

    pub(crate) fn with(mut self, paths: &[&str]) -> Self {
        let own = Look::Elf(Machine::X86_64, 64);
        self.0.extend(paths.iter().map(|path| (PathBuf::from(path), own)));
        self
    }
}

impl Files for Memory {
    fn look(&self, path: &Path) -> Look {
        self.0.get(&self.real(path)).copied().unwrap_or(Look::Absent)
    }

    fn is_directory(&self, path: &Path) -> bool {
        let path = self.real(path);
        self.0.keys().any(|file| file.parent().is_some_and(|parent| parent.starts_with(&path)))
    }

    fn real(&self, path: &Path) -> PathBuf {
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::CurDir => {}
                part => real.push(part),
            }
        }
        real
    }
}
