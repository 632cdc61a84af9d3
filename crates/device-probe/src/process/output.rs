//! What a program prints, read to a bounded size.

use std::io::{self, Read};
#[cfg(unix)]
use std::os::fd::AsFd as Pipe;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Pipe;
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;

/// The most that a program may write to its standard output: 1 MiB. The answer for a thousand devices is smaller.
const MOST_OUTPUT: usize = 1 << 20;
/// The most that it may write to its standard error: 64 KiB.
const MOST_ERRORS: usize = 1 << 16;
/// The most that one read takes.
const PIECE: usize = 1 << 14;
/// How many pieces wait to be looked at: with those that are being read, less than 100 KiB.
const QUEUE: usize = 4;

/// The output of a running program.
#[derive(Debug)]
pub(super) struct Output {
    pieces: Receiver<Piece>,
    /// The readers go when this is gone.
    _wanted: Arc<()>,
    text: Vec<u8>,
    /// Where the first line begins that has not ended yet.
    line: usize,
    /// How much there was on the standard error.
    errors: usize,
}

#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    /// The bytes of the standard error are only counted.
    Errors(usize),
}

/// What came next.
#[derive(Debug)]
pub(super) enum Next<'output> {
    /// Whole lines on the standard output, each told once.
    Lines(&'output [u8]),
    /// Something else.
    Part,
    /// Nothing in time.
    Nothing,
    /// All pipes are at their end.
    Ended,
    /// More than these bytes, which are the limit of a stream.
    TooMuch(u64),
}

impl Output {
    /// Reads both streams of a program in threads, because a read has no time limit.
    pub(super) fn of(child: &mut Child) -> io::Result<Self> {
        let missing = || io::Error::other("no pipe for the output");
        let text = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let (sender, pieces) = mpsc::sync_channel(QUEUE);
        let wanted = Arc::new(());
        read(text, &wanted, sender.clone(), |bytes| Piece::Text(bytes.to_vec()))?;
        read(errors, &wanted, sender, |bytes| Piece::Errors(bytes.len()))?;
        Ok(Self { pieces, _wanted: wanted, text: Vec::new(), line: 0, errors: 0 })
    }

    /// Waits for what comes next.
    pub(super) fn next(&mut self, wait: Duration) -> Next<'_> {
        match self.pieces.recv_timeout(wait) {
            Ok(Piece::Text(bytes)) => self.keep(&bytes),
            Ok(Piece::Errors(length)) => {
                self.errors = self.errors.saturating_add(length);
                if self.errors > MOST_ERRORS { Next::TooMuch(MOST_ERRORS as u64) } else { Next::Part }
            }
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Next<'_> {
        let room = MOST_OUTPUT.saturating_sub(self.text.len());
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map(|place| self.text.len().saturating_add(place));
        self.text.extend(bytes.iter().take(room));
        if bytes.len() > room {
            return Next::TooMuch(MOST_OUTPUT as u64);
        }
        let Some(end) = end.map(|place| place.saturating_add(1)) else {
            return Next::Part;
        };
        let start = std::mem::replace(&mut self.line, end);
        Next::Lines(self.text.get(start..end).unwrap_or_default())
    }

    /// Reads what a program that was killed has left in its pipes, as long as there is room for more of its text.
    pub(super) fn read_rest(&mut self, patience: Deadline) {
        while self.text.len() < MOST_OUTPUT && !patience.is_over() && !matches!(self.next(patience.left()), Next::Ended)
        {
        }
    }

    /// What was on the standard output.
    pub(super) fn into_text(self) -> Vec<u8> {
        self.text
    }
}

/// Reads a pipe in a thread, until its end or until nobody wants it any more.
fn read(
    mut pipe: impl Read + Pipe + Send + 'static,
    wanted: &Arc<()>,
    sender: SyncSender<Piece>,
    piece: fn(&[u8]) -> Piece,
) -> io::Result<()> {
    let wanted = Arc::downgrade(wanted);
    let reader = move || {
        let mut buffer = vec![0; PIECE];
        while has_more(&pipe, &wanted)
            && let Ok(length @ 1..) = pipe.read(&mut buffer)
            && sender.send(piece(buffer.get(..length).unwrap_or_default())).is_ok()
        {}
    };
    thread::Builder::new().name("device-probe output".to_owned()).spawn(reader).map(drop)
}

/// Waits until a read does not wait; false once nobody wants it any more, though a process that left the group may hold
/// the pipe open for ever.
#[cfg(unix)]
fn has_more(pipe: &impl Pipe, wanted: &Weak<()>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let tick = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while wanted.strong_count() > 0 {
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // the read tells an end or an error
            Ok(_) | Err(_) => return true,
        }
    }
    false
}

/// On Windows a read waits until the last process that holds the pipe is gone.
#[cfg(not(unix))]
fn has_more(_: &impl Pipe, wanted: &Weak<()>) -> bool {
    wanted.strong_count() > 0
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use super::{Deadline, MOST_ERRORS, MOST_OUTPUT, Next, Output, Piece};

    fn output(pieces: Vec<Piece>) -> Output {
        let (sender, receiver) = mpsc::sync_channel(pieces.len());
        for piece in pieces {
            sender.send(piece).unwrap();
        }
        Output { pieces: receiver, _wanted: Arc::new(()), text: Vec::new(), line: 0, errors: 0 }
    }

    /// What is told until the end, with the lines.
    fn told(output: &mut Output) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            told.push(match output.next(Duration::from_secs(10)) {
                Next::Lines(lines) => String::from_utf8(lines.to_vec()).unwrap(),
                Next::TooMuch(bytes) => format!("more than {bytes}"),
                Next::Part => "part".to_owned(),
                Next::Nothing => "nothing".to_owned(),
                Next::Ended => return told,
            });
        }
    }

    #[test]
    fn lines_are_told_once_and_whole() {
        let pieces = ["a\nb", "c", "d\n\ne"].map(|text| Piece::Text(text.into()));
        let mut output = output(pieces.into());
        assert_eq!(told(&mut output), ["a\n", "part", "bcd\n\n"]);
        assert_eq!(output.into_text(), b"a\nbcd\n\ne");
    }

    #[test]
    fn one_byte_more_than_the_limit_is_too_much() {
        let mut text = output(vec![Piece::Text(vec![b'x'; MOST_OUTPUT]), Piece::Text(b"\n".to_vec())]);
        assert_eq!(told(&mut text), ["part", "more than 1048576"]);
        assert_eq!(text.into_text().len(), MOST_OUTPUT);
        let mut errors = output(vec![Piece::Errors(MOST_ERRORS), Piece::Errors(1)]);
        assert_eq!(told(&mut errors), ["part", "more than 65536"]);
    }

    #[test]
    fn text_is_read_to_its_end_although_there_were_too_many_errors() {
        let text = |text: &str| Piece::Text(text.into());
        let mut output = output(vec![Piece::Errors(MOST_ERRORS + 1), text("a\n"), Piece::Errors(9), text("b")]);
        assert!(matches!(output.next(Duration::from_secs(10)), Next::TooMuch(bytes) if bytes == MOST_ERRORS as u64));
        output.read_rest(Deadline::after(Duration::from_secs(10)));
        assert_eq!(output.into_text(), b"a\nb");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn readers_go_although_the_pipe_stays_open() {
        use std::process::{Command, Stdio};
        use std::time::Instant;
        use std::{fs, thread};

        /// Waits until so many threads of this process read.
        fn assert_readers(count: usize) {
            let started = Instant::now();
            let readers = || {
                let tasks = fs::read_dir("/proc/self/task").unwrap();
                let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
                names.filter(|name| name.starts_with("device-probe ou")).count()
            };
            while readers() != count {
                assert!(started.elapsed() < Duration::from_secs(5), "{} readers, not {count}", readers());
                thread::sleep(Duration::from_millis(5));
            }
        }

        let mut command = Command::new("sleep");
        let mut child = command.arg("600").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = Output::of(&mut child).unwrap();
        assert_readers(2);
        drop(output);
        assert_readers(0);
        assert!(child.try_wait().unwrap().is_none(), "it holds its pipes open");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
