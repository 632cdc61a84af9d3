#![expect(unsafe_code, reason = "loading a library runs its code")]

use std::path::{Path, PathBuf};

use crate::way::Status;

/// A library that is never unloaded: the threads of a driver may outlive the last call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library(&'static libloading::Library);

/// What became of the candidates.
pub(super) enum Loaded {
    Yes {
        library: Library,
        /// The file, with all links followed where the system tells.
        path: String,
        /// Whether the loader found it by its bare name; nothing where no bare name was tried.
        on_loader_path: Option<bool>,
    },
    /// None can be loaded.
    No(Status),
}

/// Loads the first candidate that can be loaded.
pub(super) fn load(candidates: &[PathBuf]) -> Loaded {
    let mut refused = None;
    let mut on_loader_path = None;
    for candidate in candidates {
        let is_name = candidate.components().count() == 1;
        if is_name {
            on_loader_path = Some(true);
        } else if !candidate.exists() {
            continue;
        } else {
            // a name that was tried before was not found
            on_loader_path = on_loader_path.map(|_| false);
        }
        // SAFETY: the candidates are NVIDIA's driver libraries, named by this crate or by the caller, and their
        // constructors are run in a process that exists for that, or in one whose owner chose so.
        match unsafe { libloading::Library::new(candidate) } {
            Ok(library) => {
                return Loaded::Yes {
                    library: Library(Box::leak(Box::new(library))),
                    path: mapped(candidate).unwrap_or_else(|| candidate.display().to_string()),
                    on_loader_path,
                };
            }
            Err(error) => {
                let text = with_source(&error);
                if !is_name || !is_missing(&text, candidate) {
                    refused.get_or_insert(text);
                }
            }
        }
    }
    Loaded::No(refused.map_or(Status::Absent, |text| Status::Unusable { text }))
}

impl Library {
    /// A function of the library, if it has one of that name.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to that function.
    pub(super) unsafe fn function<F: Copy>(self, name: &'static str) -> Option<F> {
        // SAFETY: passed on to the caller; the library is never unloaded, so that the pointer stays good.
        unsafe { self.0.get::<F>(name) }.ok().map(|symbol| *symbol)
    }

    /// A function that every version of the library has.
    ///
    /// # Errors
    /// [`Status::MissingFunction`].
    ///
    /// # Safety
    /// As [`Library::function`].
    pub(super) unsafe fn required<F: Copy>(self, name: &'static str) -> Result<F, Status> {
        // SAFETY: passed on to the caller.
        unsafe { self.function(name) }.ok_or_else(|| Status::MissingFunction { name: name.to_owned() })
    }
}

fn with_source(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// Whether a message says that the library itself is not there. A library that it needs may be what is missing.
fn is_missing(message: &str, name: &Path) -> bool {
    if cfg!(windows) {
        return true;
    }
    let name = name.to_string_lossy();
    // glibc: `NAME: cannot open shared object file: …`; musl: `Error loading shared library NAME: …`
    let is_about_it = message.starts_with(name.as_ref()) || message.contains(&format!("library {name}:"));
    // macOS lists every place where it looked
    is_about_it && message.contains("No such file") || message.contains("(no such file)")
}

/// The file of a library that is loaded, by the list of what is mapped into this process.
fn mapped(candidate: &Path) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let name = candidate.file_name()?.to_str()?;
    let stem = name.split_inclusive(".so").next()?;
    let paths = || maps.lines().filter_map(|line| line.find('/').and_then(|start| line.get(start..)));
    let real = std::fs::canonicalize(candidate).ok();
    real.and_then(|real| paths().find(|path| Path::new(path) == real))
        .or_else(|| {
            paths().find(|path| {
                let name = Path::new(path).file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.starts_with(stem))
            })
        })
        .map(str::to_owned)
}
