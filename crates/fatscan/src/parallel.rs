//! The one place where work is spread over threads.

use core::ops::ControlFlow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// `work` over all items, the heaviest first, by as many threads as the pool has. Results are in the order of the
/// items, whatever the threads did. Each thread makes one `Tools` and works with it.
pub(crate) fn each<T: Sync, R: Send, Tools>(
    items: &[T],
    weight: impl Fn(&T) -> u64,
    tools: impl Fn() -> Tools + Sync,
    work: impl Fn(&mut Tools, &T) -> R + Sync,
) -> Vec<R> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|index| core::cmp::Reverse(items.get(*index).map_or(0, &weight)));
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    (0..rayon::current_num_threads().min(items.len())).into_par_iter().with_max_len(1).for_each(|_| {
        let mut tools = tools();
        let take = || order.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        while let Some(index) = take() {
            if let Some(item) = items.get(index) {
                let result = work(&mut tools, item);
                // a poisoned lock means that another worker died, and with it the whole call
                if let Ok(mut results) = results.lock() {
                    results.push((index, result));
                }
            }
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// As [`each`], but the results are handed to `deliver` one by one, in the order of the items and on the calling thread,
/// while the work goes on. `Break` ends it: what was delivered is what stands before.
///
/// Items that are a large part of the whole are begun first, the others in their order, so that little waits.
pub(crate) fn ordered<T: Sync, R: Send>(
    pool: &ThreadPool,
    items: &[T],
    weight: impl Fn(&T) -> u64,
    work: impl Fn(&T) -> R + Sync,
    mut deliver: impl FnMut(usize, R) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let threads = pool.current_num_threads().min(items.len());
    let total = items.iter().map(&weight).fold(0, u64::saturating_add);
    let parts = u64::try_from(threads.saturating_mul(8)).unwrap_or(u64::MAX);
    let large = total.checked_div(parts).unwrap_or(u64::MAX);
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|index| {
        let own = items.get(*index).map_or(0, &weight);
        core::cmp::Reverse(if own > large { own } else { 0 })
    });
    let units = units(&order, |index| items.get(index).map_or(0, &weight), large / UNITS);
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    // who reads faster than is taken waits: the results are not to pile up
    let (sender, receiver) = mpsc::sync_channel(threads);
    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            let (sender, units, next, stopped, work) = (sender.clone(), &units, &next, &stopped, &work);
            scope.spawn(move |_| {
                while !stopped.load(Ordering::Relaxed) {
                    let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    let own = unit.iter().filter_map(|index| Some((*index, work(items.get(*index)?))));
                    // nobody listens any more once it was stopped
                    if !send(&sender, own.collect::<Vec<_>>()) {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut place = 0usize;
        for unit in receiver {
            waiting.extend(unit);
            while let Some(result) = waiting.remove(&place) {
                if deliver(place, result).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                    return ControlFlow::Break(());
                }
                place = place.saturating_add(1);
            }
        }
        ControlFlow::Continue(())
    })
}

/// Sends a result once there is room for it; `false` if nobody listens. Who waits works for the pool meanwhile: what is
/// delivered may be made again there first.
fn send<T>(sender: &mpsc::SyncSender<T>, result: T) -> bool {
    let mut result = result;
    loop {
        match sender.try_send(result) {
            Ok(()) => return true,
            Err(mpsc::TrySendError::Disconnected(_)) => return false,
            Err(mpsc::TrySendError::Full(back)) => result = back,
        }
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            std::thread::sleep(WAIT);
        }
    }
}

/// Between two looks whether there is room for a result.
const WAIT: core::time::Duration = core::time::Duration::from_micros(100);

/// A large item weighs as much as so many units of small ones.
const UNITS: u64 = 16;
/// Items of a unit: handing each over by itself costs more than a look at a small file.
const UNIT: usize = 64;

/// The order cut into pieces that weigh at most `most`, and are one item or 64 at most.
fn units(order: &[usize], weight: impl Fn(usize) -> u64, most: u64) -> Vec<&[usize]> {
    let mut units = Vec::new();
    let mut rest = order;
    while !rest.is_empty() {
        let mut sum = 0u64;
        let fits = |index: &&usize| {
            sum = sum.saturating_add(weight(**index));
            sum <= most
        };
        let length = rest.iter().take(UNIT).take_while(fits).count().max(1);
        let (unit, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        units.push(unit);
        rest = behind;
    }
    units
}

/// Bytes that one thread searches before all of them agree on where the first match is.
const BLOCK: usize = 1 << 20;

/// The first match that `find` makes in `data` from `start` on. Blocks are searched side by side, a few at a time, so
/// that little is searched behind a match; each overlaps the next by `overlap` bytes, one less than the longest match.
pub(crate) fn first<T: Send>(
    data: &[u8],
    start: usize,
    overlap: usize,
    find: impl Fn(&[u8]) -> Option<(usize, T)> + Sync,
) -> Option<(usize, T)> {
    let threads = rayon::current_num_threads();
    let mut start = start;
    while start < data.len() {
        let block = |index: usize| {
            let from = start.checked_add(index.checked_mul(BLOCK)?)?;
            let rest = data.get(from..)?;
            let (at, found) = find(rest.get(..BLOCK.saturating_add(overlap)).unwrap_or(rest))?;
            Some((from.saturating_add(at), found))
        };
        if let Some(found) = (0..threads).into_par_iter().with_max_len(1).find_map_first(block) {
            return Some(found);
        }
        start = start.saturating_add(threads.saturating_mul(BLOCK));
    }
    None
}

/// More threads than this help nobody, and hundred thousands of them stop a machine.
const MOST_THREADS: usize = 256;

/// Runs `work` on a pool of `threads` threads, 256 at most, 0 for as many as there are cores.
///
/// # Errors
/// A message if the system gives no threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R, String> {
    Ok(pool(threads)?.install(work))
}

/// A pool of `threads` threads, 256 at most, 0 for as many as there are cores.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool, String> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.min(MOST_THREADS));
    builder.build().map_err(|error| error.to_string())
}
