//! Every limit that exists, and the memory that threads share.

use core::cell::Cell;
use std::sync::{Condvar, Mutex, PoisonError};

/// What a run reads and holds at most. Every size in a file is a claim, and reaching a limit is said, by a diagnostic of
/// level error or an unread part; which limits those are is the table of `docs/LIMITS.md`.
///
/// Totals are of a run, whatever it is given, and are cut at the same place whatever the threads do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Archives within each other, the first included: a fifth is not opened.
    pub depth: usize,
    /// Members of one archive.
    pub entries: usize,
    /// Bytes of the table at the end of a zip archive.
    pub directory_bytes: u64,
    /// Unpacked bytes of one member of an archive.
    pub member_bytes: u64,
    /// Unpacked bytes of all members together for each byte of the files given; the first gigabyte is free.
    pub ratio: u64,
    /// Images in all, fatbin entries above all.
    pub images: usize,
    /// Kernels in all, where they are read.
    pub kernels: usize,
    /// Functions, and sections, of one image; kernels of one PTX text. The largest image of PyTorch has some thousands.
    pub functions: usize,
    /// Bytes of identifiers, options and names that are kept in all.
    pub text_bytes: usize,
    /// Bytes of one name of an object in a static library; the rest of a longer one is left out. Of a section 256 are kept.
    pub name_bytes: usize,
    /// Bytes of one entry header; 32,608 have been seen.
    pub entry_header: usize,
    /// Bytes of a bare cubin that is read whole; of a larger one only the number is read.
    pub cubin_bytes: u64,
    /// Bytes of a section table, of a dynamic section, of the `RECORD` of a wheel; a quarter of it for a table of names in a
    /// static library.
    pub table_bytes: u64,
    /// Bytes of a bare PTX text that are looked at for kernels.
    pub ptx_bytes: usize,
    /// Unpacked bytes of one payload that is decoded.
    pub payload_bytes: u64,
    /// Wrapper records of one file that are remembered.
    pub wrappers: usize,
    /// Bytes that are searched a second time in a file behind damaged fatbins, beside four times those before the damage.
    pub reread_bytes: u64,
    /// Diagnostics of one file that are shown, and a thousand times as many of a run; errors twice. The others are counted.
    pub diagnostics: usize,
    /// Bytes that all threads together hold of what they read: windows, tables, payloads, decoders.
    pub live_bytes: u64,
    /// Bytes of archives that are held because they lie compressed in another one.
    pub held_bytes: u64,
    /// Bytes that decoders of xz, zstd and bzip2 hold, all together: their windows above all. One file, with those that it
    /// lies in, gets three quarters of it.
    pub window_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 4,
            entries: 250_000,
            directory_bytes: 128 << 20,
            member_bytes: 64 << 30,
            ratio: 1100,
            images: 400_000,
            kernels: 1_000_000,
            functions: 1 << 16,
            text_bytes: 64 << 20,
            name_bytes: 4096,
            entry_header: 1 << 20,
            cubin_bytes: 16 << 20,
            table_bytes: 4 << 20,
            ptx_bytes: 16 << 20,
            payload_bytes: 256 << 20,
            wrappers: 1 << 20,
            reread_bytes: 64 << 20,
            diagnostics: 100,
            live_bytes: 64 << 20,
            held_bytes: 64 << 20,
            window_bytes: 176 << 20,
        }
    }
}

/// Memory that the threads of a run share.
///
/// A quarter is divided among them: what one asks for within its part is granted at once. The other three quarters are
/// granted to one thread at a time, whoever comes next waits: so nobody waits for a thread that waits itself, and what is
/// refused does not depend on what the others do.
#[derive(Debug)]
pub struct Memory {
    own: u64,
    large: u64,
    turn: Mutex<bool>,
    freed: Condvar,
}

/// Memory that is granted until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Grant<'memory> {
    turn_of: Option<&'memory Memory>,
}

impl Memory {
    /// `bytes` for `threads` threads.
    #[must_use]
    pub fn new(bytes: u64, threads: usize) -> Self {
        let own = (bytes / 4).checked_div(u64::try_from(threads.max(1)).unwrap_or(u64::MAX)).unwrap_or(0);
        Self { own, large: bytes.saturating_sub(bytes / 4), turn: Mutex::new(false), freed: Condvar::new() }
    }

    /// What one thread may hold without asking, bytes.
    #[must_use]
    pub const fn own(&self) -> u64 {
        self.own
    }

    /// Grants `bytes`, after waiting for another thread's turn to end where they are many; `None` where they are more than
    /// there ever are. A thread asks once, for all that it is about to hold, and starts no parallel work meanwhile.
    #[must_use]
    pub fn grant(&self, bytes: u64) -> Option<Grant<'_>> {
        if bytes <= self.own {
            return Some(Grant { turn_of: None });
        }
        if bytes > self.large {
            return None;
        }
        // a thread that died in its turn leaves nothing behind that the next one needs
        let mut taken = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        Some(Grant { turn_of: Some(self) })
    }
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.turn_of {
            *memory.turn.lock().unwrap_or_else(PoisonError::into_inner) = false;
            memory.freed.notify_one();
        }
    }
}

/// The memory of the decoders that one thread has open within each other.
///
/// A quarter of all is divided among the threads; who works alone may have the other three quarters. Who does not, and needs
/// more than its part, is told to come back alone.
#[derive(Debug)]
pub struct Windows {
    own: u64,
    most: u64,
    alone: bool,
    held: Cell<u64>,
    put_off: Cell<bool>,
}

impl Windows {
    /// None yet, of `bytes` for `threads` threads. `alone`: nobody else has more than its part at the same time.
    #[must_use]
    pub fn new(bytes: u64, threads: usize, alone: bool) -> Self {
        let own = (bytes / 4).checked_div(u64::try_from(threads.max(1)).unwrap_or(u64::MAX)).unwrap_or(0);
        let most = bytes.saturating_sub(bytes / 4);
        Self { own: own.min(most), most, alone, held: Cell::new(0), put_off: Cell::new(false) }
    }

    /// Whether something was refused that is granted to who works alone.
    #[must_use]
    pub const fn is_put_off(&self) -> bool {
        self.put_off.get()
    }

    /// A decoder's part, still nothing.
    pub(crate) const fn lease(&self) -> Lease<'_> {
        Lease { windows: self, bytes: 0 }
    }

    fn hold(&self, bytes: u64) -> bool {
        let total = self.held.get().saturating_add(bytes);
        let fits = total <= if self.alone { self.most } else { self.own };
        if fits {
            self.held.set(total);
        } else if total <= self.most {
            self.put_off.set(true);
        }
        fits
    }
}

/// The memory of one decoder; given back with it.
#[derive(Debug)]
pub(crate) struct Lease<'windows> {
    windows: &'windows Windows,
    bytes: u64,
}

impl Lease<'_> {
    /// Makes it `bytes` at least; `false` where there are not so many.
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 && !self.windows.hold(more) {
            return false;
        }
        self.bytes = self.bytes.saturating_add(more);
        true
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.windows.held.set(self.windows.held.get().saturating_sub(self.bytes));
    }
}
