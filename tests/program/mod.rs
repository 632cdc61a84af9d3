//! Calls of the program, and files to call it with.
#![allow(dead_code, unused_imports, reason = "every test file uses its own part")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use testkit::fatbin::{Codec, Entry, fatbin};
use testkit::{Cubin, Elf, Zip, ZipMember, ptx_text};

#[path = "../common/run.rs"]
mod call;

pub(crate) use call::{Run, finish, program, run};

/// What `finish` would give, with standard output closed by a reader who takes the first bytes only.
pub(crate) fn run_into_closed_pipe(mut command: Command) -> Run {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    Run { code: child.wait().unwrap().code(), bytes: Vec::new(), out: String::new(), err }
}

/// SASS of a kernel. Compressed, it tells nothing of the toolkit that made it.
pub(crate) fn sass(arch: &str) -> Entry {
    packed(arch, Codec::Lz4)
}

/// The same in one codec.
pub(crate) fn packed(arch: &str, codec: Codec) -> Entry {
    Entry::sass(arch, Cubin::abi7(arch).toolkit(124).bytes()).isa(1, 7).compressed(codec)
}

/// PTX of a kernel.
pub(crate) fn ptx(arch: &str, isa: (u16, u16)) -> Entry {
    Entry::ptx(arch, isa, &ptx_text(&format!("{}.{}", isa.0, isa.1), &format!("sm_{arch}"), "k"))
}

/// One module with SASS for these architectures.
pub(crate) fn module(archs: &[&str]) -> Vec<Entry> {
    archs.iter().map(|arch| sass(arch)).collect()
}

/// A shared library with these modules.
pub(crate) fn library(modules: &[Vec<Entry>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for module in modules {
        bytes.extend(fatbin(module));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    Elf::shared().section(".text", b"code").section(".nv_fatbin", &bytes).bytes()
}

/// A wheel with these libraries.
pub(crate) fn wheel(libraries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let members: Vec<ZipMember> = libraries.iter().map(|(name, bytes)| ZipMember::deflated(name, bytes)).collect();
    Zip::wheel("pkg", "1.0", "py3-none-linux_x86_64", &members).bytes()
}

/// A wheel with one library of these modules.
pub(crate) fn wheel_of(modules: &[Vec<Entry>]) -> Vec<u8> {
    wheel(&[("pkg/lib/libpkg.so", library(modules))])
}

/// A folder of files to check.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file and gives its path as text.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(bytes.as_ref()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The path of a wheel of its own in `folder`, with one library of these modules.
pub(crate) fn write_wheel(folder: &Folder, modules: &[Vec<Entry>]) -> String {
    folder.write("pkg-1.0-py3-none-linux_x86_64.whl", wheel_of(modules))
}

/// `--flag value --other` in words; none of them has blanks.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(ToOwned::to_owned).collect()
}
