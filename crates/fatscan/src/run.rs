//! What one scan shares between its threads.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fatscan_containers::{Limits, Memory};
use foldhash::HashSet;
use gpu_arch::Target;
use gpu_arch::rules::{Device, may_select};
use rayon::ThreadPool;

use crate::model::{CodeKind, Image};
use crate::options::Options;
use crate::pattern::Pattern;
use crate::progress::Progress;
use crate::scan::Stop;

/// One scan.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) options: Options,
    pub(crate) pool: Arc<ThreadPool>,
    pub(crate) memory: Memory,
    pub(crate) names: Names,
    pub(crate) progress: Progress,
    /// What is judged; none: anything.
    devices: Arc<[Device]>,
    excluded: Arc<[Pattern]>,
    stop: AtomicBool,
    /// Somebody outside may end it.
    outer: Stop,
    /// Images, kernels and bytes of text that all threads hold, delivered ones too.
    images: AtomicUsize,
    kernels: AtomicUsize,
    text: AtomicUsize,
}

/// What a file may still use of the totals of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) images: usize,
    pub(crate) kernels: usize,
    pub(crate) text: usize,
    /// Whether it is exact: all files before it are done. Else it is what there is at most, and a file that would need
    /// memory that others may hold is put off.
    pub(crate) is_exact: bool,
}

/// What a file used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) images: usize,
    pub(crate) kernels: usize,
    pub(crate) text: usize,
}

impl Allowance {
    pub(crate) const fn whole(limits: &Limits) -> Self {
        Self { images: limits.images, kernels: limits.kernels, text: limits.text_bytes, is_exact: false }
    }

    /// What is left of it behind files that used so much.
    pub(crate) const fn after(self, used: Used) -> Self {
        Self {
            images: self.images.saturating_sub(used.images),
            kernels: self.kernels.saturating_sub(used.kernels),
            text: self.text.saturating_sub(used.text),
            is_exact: true,
        }
    }

    pub(crate) const fn holds(self, used: Used) -> bool {
        used.images <= self.images && used.kernels <= self.kernels && used.text <= self.text
    }
}

impl Used {
    pub(crate) fn add(&mut self, more: Self) {
        self.images = self.images.saturating_add(more.images);
        self.kernels = self.kernels.saturating_add(more.kernels);
        self.text = self.text.saturating_add(more.text);
    }
}

impl Run {
    pub(crate) fn new(options: &Options, pool: Arc<ThreadPool>, progress: Progress) -> Self {
        Self {
            options: *options,
            memory: Memory::new(options.limits.live_bytes, pool.current_num_threads()),
            pool,
            names: Names::default(),
            progress,
            devices: Arc::default(),
            excluded: Arc::default(),
            stop: AtomicBool::new(false),
            outer: Stop::default(),
            images: AtomicUsize::new(0),
            kernels: AtomicUsize::new(0),
            text: AtomicUsize::new(0),
        }
    }

    pub(crate) fn for_devices(self, devices: Arc<[Device]>) -> Self {
        Self { devices, ..self }
    }

    pub(crate) fn excluding(self, excluded: Arc<[Pattern]>) -> Self {
        Self { excluded, ..self }
    }

    pub(crate) fn stopped_by(self, outer: Stop) -> Self {
        Self { outer, ..self }
    }

    /// Whether a file below a directory, or in an archive, is left out: by its path there.
    pub(crate) fn excludes(&self, path: &[u8]) -> bool {
        !self.excluded.is_empty() && {
            let path = String::from_utf8_lossy(path);
            self.excluded.iter().any(|pattern| pattern.covers(&path))
        }
    }

    /// Whether what an image holds can decide anything: one of the devices could select it.
    pub(crate) fn counts(&self, image: &Image) -> bool {
        let label = match (image.arch, image.kind) {
            (Some(arch), CodeKind::Sass) => Target::Sass(arch),
            (Some(arch), CodeKind::Ptx) => Target::Ptx(arch, None),
            _ => return true,
        };
        self.devices.is_empty() || self.devices.iter().any(|device| may_select(label, device))
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Nobody wants to hear more.
    pub(crate) fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.outer.is_stopped()
    }

    /// Counts what a thread holds; `false` where all threads together hold more than the run may.
    pub(crate) fn hold(&self, used: Used) -> bool {
        let count = |counter: &AtomicUsize, more: usize, limit: usize| {
            more == 0 || counter.fetch_add(more, Ordering::Relaxed).saturating_add(more) <= limit
        };
        let limits = self.limits();
        let images = count(&self.images, used.images, limits.images);
        let kernels = count(&self.kernels, used.kernels, limits.kernels);
        let text = count(&self.text, used.text, limits.text_bytes);
        images && kernels && text
    }

    /// Forgets the names that only a dropped result held: read again, they count again.
    pub(crate) fn forget_names(&self) {
        self.text.fetch_sub(self.names.forget(), Ordering::Relaxed);
    }

    /// What a file that is put off no longer holds.
    pub(crate) fn release(&self, used: Used) {
        self.images.fetch_sub(used.images, Ordering::Relaxed);
        self.kernels.fetch_sub(used.kernels, Ordering::Relaxed);
        self.text.fetch_sub(used.text, Ordering::Relaxed);
    }
}

/// Names that many images share are kept once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    known: HashSet<Arc<str>>,
    /// The name at hand: it is copied before it is looked at, because its bytes may lie in a file that changes.
    copy: Vec<u8>,
}

impl Names {
    /// Drops the names that nobody holds, and returns their bytes.
    fn forget(&self) -> usize {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let mut freed = 0usize;
        table.known.retain(|name| {
            let is_held = Arc::strong_count(name) > 1;
            if !is_held {
                freed = freed.saturating_add(name.len());
            }
            is_held
        });
        freed
    }

    /// The name, bytes that are not UTF-8 replaced, and whether it is new.
    pub(crate) fn intern(&self, name: &[u8]) -> (Arc<str>, bool) {
        // a thread that died while it held the lock leaves a set that is as good as before
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Table { known, copy } = &mut *table;
        copy.clear();
        copy.extend_from_slice(name);
        let name = core::str::from_utf8(copy).map_or_else(|_| String::from_utf8_lossy(copy), Cow::Borrowed);
        match known.get(&*name) {
            Some(name) => (Arc::clone(name), false),
            None => {
                let name: Arc<str> = (&*name).into();
                known.insert(Arc::clone(&name));
                (name, true)
            }
        }
    }
}

/// Bytes as text, those that are not UTF-8 replaced; copied before they are looked at.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
