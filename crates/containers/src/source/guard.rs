//! Maps of files that another process may shorten.
//!
//! Reading a page of a map that lies behind the end of its file raises SIGBUS, which ends a process. A handler, installed
//! with the first map, puts pages of zeros in place of such a page and all behind it and notes that the file has shrunk, so
//! that the reader goes on and [`crate::Source::changed`] tells afterwards. What the handler does is allowed in one: it
//! looks at atomics and makes one system call. A signal about any other address goes to whoever handled it before. The
//! other way, reading files instead of mapping them, is [`crate::Mapping::Never`].

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// A map that outlives its file.
#[derive(Debug)]
pub(super) struct Guarded {
    map: Mmap,
    #[cfg(unix)]
    slot: unix::Slot,
}

impl Guarded {
    pub(super) fn new(file: &File) -> io::Result<Self> {
        #[expect(unsafe_code, reason = "mapping a file is unsafe because others may change it meanwhile")]
        // SAFETY: the map is read only, its bytes are treated as untrusted at every step and never as anything but `u8`:
        // what is validated is copied first. A change by another process gives wrong bytes; one that shortens the file is
        // what this module is for.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self {
            #[cfg(unix)]
            slot: unix::Slot::take(&map)?,
            map,
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }

    pub(super) fn has_shrunk(&self) -> bool {
        #[cfg(unix)]
        return self.slot.has_shrunk();
        // a mapped file cannot be shortened there
        #[cfg(not(unix))]
        return false;
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "a handler of a signal is installed by the system's own interface")]
mod unix {
    use std::io;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Maps at one time: each thread reads few.
    const SLOTS: usize = 1024;

    struct Range {
        taken: AtomicBool,
        start: AtomicUsize,
        end: AtomicUsize,
        shrunk: AtomicBool,
    }

    static RANGES: [Range; SLOTS] = [const {
        Range {
            taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            shrunk: AtomicBool::new(false),
        }
    }; SLOTS];

    /// Bytes of a page; 0 before the handler is there.
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    static PREVIOUS: OnceLock<Option<libc::sigaction>> = OnceLock::new();

    /// A place in the table that the handler looks at.
    #[derive(Debug)]
    pub(super) struct Slot {
        index: usize,
    }

    impl Slot {
        pub(super) fn take(bytes: &[u8]) -> io::Result<Self> {
            if PREVIOUS.get_or_init(install).is_none() {
                return Err(io::Error::other("no handler for a file that shrinks could be installed"));
            }
            let free = |(index, range): (usize, &'static Range)| {
                let took = range.taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed);
                took.is_ok().then_some((index, range))
            };
            let Some((index, range)) = RANGES.iter().enumerate().find_map(free) else {
                return Err(io::Error::other("too many files are mapped at once"));
            };
            let start = bytes.as_ptr().addr();
            range.shrunk.store(false, Ordering::Relaxed);
            range.end.store(start.saturating_add(bytes.len()), Ordering::Relaxed);
            range.start.store(start, Ordering::Release);
            Ok(Self { index })
        }

        pub(super) fn has_shrunk(&self) -> bool {
            RANGES.get(self.index).is_some_and(|range| range.shrunk.load(Ordering::Acquire))
        }
    }

    impl Drop for Slot {
        fn drop(&mut self) {
            if let Some(range) = RANGES.get(self.index) {
                range.start.store(0, Ordering::Relaxed);
                range.end.store(0, Ordering::Relaxed);
                range.taken.store(false, Ordering::Release);
            }
        }
    }

    /// Installs the handler and returns the one before it.
    fn install() -> Option<libc::sigaction> {
        // SAFETY: `sigaction` is a plain structure for which zeros are valid; the calls only read and write the structures
        // that they are given, and the handler is async-signal-safe.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).ok().filter(|page| page.is_power_of_two())?;
            PAGE.store(page, Ordering::Relaxed);
            let mut action: libc::sigaction = core::mem::zeroed();
            let mut previous: libc::sigaction = core::mem::zeroed();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigemptyset(&raw mut action.sa_mask);
            (libc::sigaction(libc::SIGBUS, &raw const action, &raw mut previous) == 0).then_some(previous)
        }
    }

    extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system gives a valid `info`.
        let address = unsafe { (*info).si_addr() }.addr();
        let page = PAGE.load(Ordering::Relaxed);
        for range in &RANGES {
            let (start, end) = (range.start.load(Ordering::Acquire), range.end.load(Ordering::Relaxed));
            if start == 0 || page == 0 || !(start..end).contains(&address) {
                continue;
            }
            let from = address & !page.wrapping_sub(1);
            let length = end.wrapping_sub(from).wrapping_add(page).wrapping_sub(1) & !page.wrapping_sub(1);
            // SAFETY: the pages belong to a map that lives as long as its slot; they were not readable, and stay pages of
            // that map, which takes them away with its own.
            let put = unsafe {
                libc::mmap(
                    core::ptr::without_provenance_mut(from),
                    length,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            if put != libc::MAP_FAILED {
                range.shrunk.store(true, Ordering::Release);
                return;
            }
        }
        // not ours: whoever handled it before gets it when the instruction runs again
        // SAFETY: as in `install`.
        unsafe {
            let action = match PREVIOUS.get() {
                Some(Some(previous)) => *previous,
                _ => core::mem::zeroed(),
            };
            libc::sigaction(libc::SIGBUS, &raw const action, core::ptr::null_mut());
        }
    }
}
