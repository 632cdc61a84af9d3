//! Running a program with a limit of its time and of its output.

mod group;
mod output;

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::way::Status;

pub(crate) use group::{end_own, end_with_parent};
use output::{Next, Output};

/// How often an end is looked for that the pipes do not tell.
const TICK: Duration = Duration::from_millis(20);
/// How long a killed process may take to go, and how long the last output of one that ended may take to come. A process
/// that hangs in the kernel cannot go before the kernel lets it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// How a program ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It had said enough, and was killed.
    Enough,
    /// The time was up, and it was killed.
    TimedOut,
    /// It printed more than these bytes, and was killed.
    TooMuchOutput(u64),
    /// It was not started: the time was up already.
    NoTimeLeft,
    /// It did not start, or cannot be watched.
    NotStarted(io::Error),
}

impl End {
    /// What it means for a way that got no answer.
    pub(crate) fn status(self, deadline: Deadline) -> Status {
        match self {
            End::Exited(status) => Status::Crashed { text: how(status) },
            End::Enough | End::TimedOut => deadline.timed_out(),
            End::TooMuchOutput(bytes) => Status::TooMuchOutput { bytes },
            End::NoTimeLeft => deadline.no_time_left(),
            End::NotStarted(error) => Status::Unusable { text: error.to_string() },
        }
    }
}

/// A program that ran.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// What it wrote to its standard output, at most 1 MiB.
    pub(crate) output: Vec<u8>,
}

/// Runs a program until it ends, until `enough` is true of some lines of its standard output, until it has printed too
/// much, or until the time is up.
///
/// Whatever the end, all that it started in its process group is killed, and the program is reaped. On Windows only the
/// program itself is killed. Its standard error is counted and dropped; its standard input is a pipe that ends when
/// this process ends, in whatever way. The call takes no longer than the time and [`PATIENCE`].
pub(crate) fn run(command: &mut Command, deadline: Deadline, enough: impl Fn(&[u8]) -> bool) -> Ran {
    let without_output = |end| Ran { end, output: Vec::new() };
    if deadline.is_over() {
        return without_output(End::NoTimeLeft);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::prepare(command);
    let mut child = match spawn(command) {
        Ok(child) => child,
        Err(error) => return without_output(End::NotStarted(error)),
    };
    // held open until the child is dead
    let input = child.stdin.take();
    let mut patience = Deadline::after(PATIENCE);
    let ran = match Output::of(&mut child) {
        Ok(mut output) => {
            let end = wait(&mut child, &mut output, deadline, enough);
            patience = Deadline::after(PATIENCE);
            if matches!(end, End::TooMuchOutput(_)) {
                // one stream ran over: what was said on the other before may still be in its pipe
                group::kill(&mut child);
                output.read_rest(patience);
            }
            Ran { end, output: output.into_text() }
        }
        Err(error) => without_output(End::NotStarted(error)),
    };
    if !matches!(ran.end, End::Exited(_)) {
        end(child, patience);
    }
    drop(input);
    ran
}

/// Starts a program. A program that is just being written cannot be started yet.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 0..10 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(TICK),
            outcome => return outcome,
        }
    }
    command.spawn()
}

fn wait(child: &mut Child, output: &mut Output, deadline: Deadline, enough: impl Fn(&[u8]) -> bool) -> End {
    loop {
        match output.next(TICK.min(deadline.left())) {
            Next::Lines(lines) if enough(lines) => return End::Enough,
            Next::TooMuch(bytes) => return End::TooMuchOutput(bytes),
            // the pipes tell nothing any more
            Next::Ended => thread::sleep(Duration::from_millis(1)),
            Next::Lines(_) | Next::Part | Next::Nothing => {}
        }
        // a child of the child may hold a pipe open: its end counts, not that of the pipe
        match group::has_ended(child) {
            Ok(true) => return ended(child, output),
            Ok(false) => {}
            Err(error) => return End::NotStarted(error),
        }
        if deadline.is_over() {
            return End::TimedOut;
        }
    }
}

/// The end of a program that ended by itself, with the rest of its output.
fn ended(child: &mut Child, output: &mut Output) -> End {
    // before it is reaped: until then its number belongs to nobody else
    group::kill(child);
    let patience = Deadline::after(PATIENCE);
    while !patience.is_over() {
        match output.next(patience.left()) {
            Next::TooMuch(bytes) => return End::TooMuchOutput(bytes),
            Next::Ended => break,
            Next::Lines(_) | Next::Part | Next::Nothing => {}
        }
    }
    child.wait().map_or_else(End::NotStarted, End::Exited)
}

/// Kills a process with its group and reaps it, in a thread of its own if that takes long.
fn end(mut child: Child, patience: Deadline) {
    group::kill(&mut child);
    while !patience.is_over() {
        match child.try_wait() {
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            Ok(Some(_)) | Err(_) => return,
        }
    }
    // without a thread it stays until this process ends
    let _ = thread::Builder::new().name("device-probe reaper".to_owned()).spawn(move || child.wait());
}

/// What a process ended with, for people.
pub(crate) fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// A limit in bytes, for people.
pub(crate) fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}
