//! What `import torch` loads before anything else asks for it.
//!
//! `torch/__init__.py` opens `libtorch_global_deps.so`, whose libraries are found by its own paths. Where that fails, or with
//! newer versions always, `_preload_cuda_deps` opens those of the wheels of NVIDIA in `nvidia/*/lib` of each directory on
//! `sys.path`. Then `torch._C` is loaded, and with it `libtorch_python.so` and all that it asks for. A library that asks
//! later for the name of one of these gets it.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::judge::File;

/// How `import torch` comes to load a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// Its own libraries ask for it and find it, or it is one of them.
    Needed,
    /// `_preload_cuda_deps` opens it by its path. Older versions of torch do so only where their own paths lead nowhere.
    Preloaded,
}

/// The directories and names of `_preload_cuda_deps`, in its order (PyTorch 2.15).
const PRELOADS: [(&str, &str); 16] = [
    ("cublas", "libcublasLt"),
    ("cublas", "libcublas"),
    ("cudnn", "libcudnn"),
    ("cuda_nvrtc", "libnvrtc"),
    ("cuda_nvrtc", "libnvrtc-builtins"),
    ("cuda_runtime", "libcudart"),
    ("cuda_cupti", "libcupti"),
    ("cufft", "libcufft"),
    ("nvjitlink", "libnvJitLink"),
    ("cusparse", "libcusparse"),
    ("cusparselt", "libcusparseLt"),
    ("cusolver", "libcusolver"),
    ("nccl", "libnccl"),
    ("nvshmem", "libnvshmem_host"),
    ("cufile", "libcufile"),
    ("nvtx", "libnvToolsExt"),
];

/// What `import torch` loads in an environment.
#[derive(Debug, Default)]
pub(super) struct Torch {
    /// The directory that `torch` lies in.
    pub(super) site: PathBuf,
    /// Its files by the names that they are asked for.
    pub(super) loaded: BTreeMap<String, (usize, How)>,
}

impl Torch {
    /// Finds it among `files`, which are in order; `edges` are the files that each one's names were found to be, by their paths
    /// alone.
    pub(super) fn find(files: &[&File], edges: &[Vec<usize>]) -> Option<Self> {
        let at = |file: &&File, name: &str| file.path.ends_with(Path::new("torch/lib").join(name));
        let core = ["libtorch_global_deps.so", "libtorch_python.so", "libtorch_cpu.so"];
        let starts = core.map(|name| files.iter().position(|file| at(file, name)));
        let first = starts.iter().flatten().next().and_then(|index| files.get(*index))?;
        let mut torch = Self { site: first.path.ancestors().nth(3)?.to_path_buf(), loaded: BTreeMap::new() };
        let [start, later @ ..] = starts;
        torch.closure(start, files, edges);
        torch.preload(files, edges, &starts);
        let is_core = |file: &File| {
            let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            file.path.parent() == Some(&torch.site.join("torch")) && name.starts_with("_C.")
        };
        let extension = files.iter().position(|file| is_core(file));
        for start in extension.into_iter().chain(later.into_iter().flatten()) {
            torch.closure(Some(start), files, edges);
        }
        Some(torch)
    }

    /// Whether a file is torch's own.
    pub(super) fn owns(&self, file: &File) -> bool {
        file.path.starts_with(self.site.join("torch"))
    }

    fn add(&mut self, index: usize, file: &File, how: How) {
        let name = file.path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        for name in name.into_iter().chain(file.library.soname.clone()) {
            self.loaded.entry(name).or_insert((index, how));
        }
    }

    fn closure(&mut self, start: Option<usize>, files: &[&File], edges: &[Vec<usize>]) {
        let mut seen = vec![false; files.len()];
        let mut next: VecDeque<usize> = start.into_iter().collect();
        while let Some(index) = next.pop_front() {
            let Some(slot) = seen.get_mut(index).filter(|slot| !**slot) else { continue };
            *slot = true;
            if let Some(file) = files.get(index) {
                self.add(index, file, How::Needed);
            }
            next.extend(edges.get(index).into_iter().flatten());
        }
    }

    fn preload(&mut self, files: &[&File], edges: &[Vec<usize>], starts: &[Option<usize>]) {
        // nvidia/cu13/lib has all of them since CUDA 13; the number is that of the CUDA that torch was built with
        let runtime = self.loaded.keys().chain(asked_of(files, starts));
        let major = runtime.filter_map(|name| super::CudaLibrary::of(name)).find_map(|own| match own.family {
            "libcudart" => own.number,
            _ => None,
        });
        for (folder, stem) in PRELOADS {
            let nvidia = self.site.join("nvidia");
            let mut places = vec![nvidia.join(folder).join("lib")];
            places.extend(major.map(|major| nvidia.join(format!("cu{major}")).join("lib")));
            places.push(self.site.join(folder).join("lib"));
            let found = places.iter().find_map(|place| {
                files.iter().position(|file| {
                    let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                    file.path.parent() == Some(place)
                        && name.strip_prefix(stem).is_some_and(|rest| rest.starts_with(".so."))
                        && name.ends_with(|letter: char| letter.is_ascii_digit())
                })
            });
            if let Some(index) = found
                && let Some(file) = files.get(index)
            {
                self.add(index, file, How::Preloaded);
                for own in edges.get(index).into_iter().flatten() {
                    if let Some(file) = files.get(*own) {
                        self.add(*own, file, How::Preloaded);
                    }
                }
            }
        }
    }
}

/// The names that some files ask for.
fn asked_of<'file>(files: &[&'file File], indices: &[Option<usize>]) -> impl Iterator<Item = &'file String> {
    let own: Vec<&File> = indices.iter().flatten().filter_map(|index| files.get(*index).copied()).collect();
    own.into_iter().flat_map(|file| &file.library.needed)
}
