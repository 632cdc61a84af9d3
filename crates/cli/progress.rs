//! A progress bar on standard error, on a terminal only.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fatscan::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Nothing is shown of work that ends before that.
const PATIENCE: Duration = Duration::from_millis(400);
const TICK: Duration = Duration::from_millis(80);

pub(crate) struct Bar {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    pub(crate) fn start(progress: Progress) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let wanted = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        let thread = wanted.then(|| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || show(&progress, &stop))
        });
        Self { stop, thread }
    }

    /// Takes the bar away.
    pub(crate) fn finish(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // a bar that died leaves nothing to clean up
            let _ = thread.join();
        }
    }
}

fn show(progress: &Progress, stop: &AtomicBool) {
    std::thread::park_timeout(PATIENCE);
    if stop.load(Ordering::Relaxed) {
        return;
    }
    let bar = ProgressBar::new(progress.total());
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    while !stop.load(Ordering::Relaxed) {
        bar.set_length(progress.total());
        bar.set_position(progress.done().min(progress.total()));
        std::thread::park_timeout(TICK);
    }
    bar.finish_and_clear();
}
