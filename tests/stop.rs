//! A scan that is stopped from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic here is a failing test")]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use fatscan::{Artefact, Collect, Input, Member, Options, Scanner, Sink, Stop};
use fatscan_containers::Source;

/// As many bytes of nothing as it takes, behind a start that is searched.
#[derive(Debug)]
struct Endless;

impl Source for Endless {
    fn len(&self) -> u64 {
        1 << 50
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(0);
        if offset == 0 {
            let start = b"\x7fELF\x02\x01\x01";
            buffer.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
        }
        Ok(buffer.len())
    }

    fn as_slice(&self) -> Option<&[u8]> {
        None
    }
}

const SAMPLE: &str = "fixtures/sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl";

fn sample() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLE)
}

#[test]
fn a_scan_that_never_ends_is_stopped_from_another_thread() {
    let stop = Stop::default();
    let other = stop.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        other.stop();
        Instant::now()
    });
    let scanner = Scanner::new(Options::new()).unwrap().stopped_by(&stop);
    let report = scanner.collect(&[Input::Source { name: "endless.so", source: &Endless }]);
    let late = thread.join().unwrap().elapsed();
    assert!(report.is_none());
    assert!(late < Duration::from_secs(1), "{late:?}");
}

#[test]
fn a_scan_that_was_stopped_before_delivers_nothing() {
    struct Nothing;
    impl Sink for Nothing {
        fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
            panic!("{artefact:?}")
        }

        fn member(&mut self, _: &Artefact, member: Member) -> ControlFlow<()> {
            panic!("{member:?}")
        }
    }
    let stop = Stop::default();
    stop.stop();
    let scanner = Scanner::new(Options::new()).unwrap().stopped_by(&stop);
    let path = sample();
    assert!(scanner.scan(&[Input::Path(&path), Input::Path(&path)], &mut Nothing).is_break());
}

#[test]
fn a_sink_that_collects_has_the_report() {
    let scanner = Scanner::new(Options::new()).unwrap();
    let path = sample();
    let inputs = [Input::Path(&path)];
    let mut collect = Collect::new(&Options::new());
    assert!(scanner.scan(&inputs, &mut collect).is_continue());
    let report = collect.report();
    assert_eq!(report.artefacts.len(), 1);
    assert_eq!(report.artefacts[0].members.len(), 2);
    assert_eq!(Some(report), scanner.collect(&inputs));
}
