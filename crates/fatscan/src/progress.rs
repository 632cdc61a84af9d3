use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a scan is, in unpacked bytes; shared between the scan and whoever shows it.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    total: AtomicU64,
    done: AtomicU64,
}

impl Progress {
    /// Bytes known so far that have to be looked at.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.total.load(Ordering::Relaxed)
    }

    /// Bytes looked at.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.counts.done.load(Ordering::Relaxed)
    }

    pub(crate) fn expect(&self, bytes: u64) {
        self.counts.total.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, bytes: u64) {
        self.counts.done.fetch_add(bytes, Ordering::Relaxed);
    }
}
