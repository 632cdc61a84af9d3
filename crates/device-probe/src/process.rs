//! Running a program with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// More output than this is read and dropped.
const MOST_OUTPUT: usize = 1 << 20;
/// How often an end is looked for that the pipe does not tell.
const TICK: Duration = Duration::from_millis(20);
/// How long a killed process may take to go. One that hangs in the kernel cannot go before the kernel lets it.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a program ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It had said enough, and was killed.
    Enough,
    /// The time was up, and it was killed.
    TimedOut,
    /// It did not start.
    NotStarted(io::Error),
}

/// A program that ran.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// What it wrote to its standard output.
    pub(crate) output: Vec<u8>,
}

/// Runs a program until it ends, until `enough` is true of its standard output, or until the time is up; in the last
/// two cases it is killed. It is reaped in every case. Its standard error is dropped; its standard input is a pipe that
/// ends when this process ends, in whatever way.
pub(crate) fn run(command: &mut Command, limit: Duration, enough: impl Fn(&[u8]) -> bool) -> Ran {
    let deadline = Instant::now().checked_add(limit);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    without_window(command);
    let mut child = match spawn(command) {
        Ok(child) => child,
        Err(error) => return Ran { end: End::NotStarted(error), output: Vec::new() },
    };
    // held open until the child is dead
    let input = child.stdin.take();
    let chunks = match read(&mut child) {
        Ok(chunks) => chunks,
        Err(error) => {
            end(child);
            return Ran { end: End::NotStarted(error), output: Vec::new() };
        }
    };
    let mut output = Vec::new();
    let ended = wait(&mut child, &chunks, &mut output, deadline, enough);
    if !matches!(ended, End::Exited(_)) {
        end(child);
    }
    drop(input);
    Ran { end: ended, output }
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

/// Reads the standard output in a thread, because a read has no time limit.
fn read(child: &mut Child) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    let Some(mut pipe) = child.stdout.take() else {
        return Err(io::Error::other("no pipe for the output"));
    };
    thread::Builder::new().name("device-probe output".to_owned()).spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length) = pipe.read(&mut buffer) {
            let chunk = buffer.get(..length).unwrap_or_default();
            if chunk.is_empty() || sender.send(chunk.to_vec()).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

fn wait(
    child: &mut Child,
    chunks: &Receiver<Vec<u8>>,
    output: &mut Vec<u8>,
    deadline: Option<Instant>,
    enough: impl Fn(&[u8]) -> bool,
) -> End {
    let mut is_open = true;
    loop {
        if is_open {
            match chunks.recv_timeout(TICK) {
                Ok(chunk) => {
                    keep(output, &chunk);
                    if enough(output) {
                        return End::Enough;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => is_open = false,
            }
        } else {
            thread::sleep(Duration::from_millis(1));
        }
        // a child of the child may hold the pipe open: its end counts, not that of the pipe
        match child.try_wait() {
            Ok(Some(status)) => {
                while output.len() < MOST_OUTPUT
                    && let Ok(chunk) = chunks.recv_timeout(TICK)
                {
                    keep(output, &chunk);
                }
                return End::Exited(status);
            }
            Ok(None) => {}
            Err(error) => return End::NotStarted(error),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return End::TimedOut;
        }
    }
}

fn keep(output: &mut Vec<u8>, chunk: &[u8]) {
    let room = MOST_OUTPUT.saturating_sub(output.len());
    output.extend(chunk.iter().take(room));
}

/// Kills a process and reaps it, in a thread of its own if that takes long.
fn end(mut child: Child) {
    // an error says that it is gone already
    let _ = child.kill();
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
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

/// A program without a window of its own gets none on Windows.
#[cfg(windows)]
fn without_window(command: &mut Command) {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    std::os::windows::process::CommandExt::creation_flags(command, CREATE_NO_WINDOW);
}

#[cfg(not(windows))]
const fn without_window(_: &mut Command) {}
