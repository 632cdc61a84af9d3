//! The driver libraries, asked by a process of their own.
//!
//! The child is the host program itself. Asked for are an argument, so that a program which does not know of it refuses
//! to start instead of doing its ordinary work, and a variable, which holds the request. The answer is a line on the
//! child's standard output that starts with [`MARK`]; all else there is what the driver printed. A first answer tells
//! what is known before the library is called that may hang or crash.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::deadline::Deadline;
use crate::libraries;
use crate::process;
use crate::sources::{Isolation, Sources};
use crate::way::{Status, Way, WayOutcome};

/// The argument of the child process.
pub const CHILD_ARGUMENT: &str = "device-probe-child";
/// The variable that holds the request.
const REQUEST: &str = "DEVICE_PROBE_REQUEST";
/// What a line with an answer starts with.
const MARK: &str = "device-probe-answer:";

/// What a child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) way: Way,
    pub(crate) libraries: Vec<PathBuf>,
}

/// What a child has to say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Whether there is no more to come.
    pub(crate) is_final: bool,
    pub(crate) outcome: WayOutcome,
}

/// How this program starts its child, where it has said that it can.
static CHILD: Mutex<Option<(PathBuf, Vec<OsString>)>> = Mutex::new(None);

/// The child of this program, if it can have one.
pub(crate) fn of_this_program() -> Option<(PathBuf, Vec<OsString>)> {
    CHILD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Says how the child of this program is started, where that is not the program itself: what is started so calls
/// [`run_child`]. From then on it is [`Isolation::this_program`].
pub fn child_is(program: PathBuf, arguments: Vec<OsString>) {
    *CHILD.lock().unwrap_or_else(PoisonError::into_inner) = Some((program, arguments));
}

/// Answers and ends the process if it was started as the child of a probe; else returns at once.
///
/// The program calls it before anything else, above all before it reads its arguments or starts threads. From then on
/// [`Isolation::this_program`] is the program itself.
///
/// ```
/// // the first line of main
/// device_probe::run_child_if_asked();
/// ```
pub fn run_child_if_asked() {
    let is_child = std::env::args_os().skip(1).any(|argument| argument == CHILD_ARGUMENT);
    match std::env::var(REQUEST) {
        Ok(request) if is_child => answer(&request),
        _ => {
            if let Ok(program) = std::env::current_exe() {
                child_is(program, vec![CHILD_ARGUMENT.into()]);
            }
        }
    }
}

/// Answers as the child of a probe and ends the process, with exit code 2 where none asked it. For the child that
/// [`child_is`] names.
pub fn run_child() -> ! {
    answer(&std::env::var(REQUEST).unwrap_or_default())
}

/// The life of a child.
fn answer(request: &str) -> ! {
    let Ok(request) = serde_json::from_str::<Request>(request) else {
        std::process::exit(2);
    };
    // the parent holds the other end for as long as it lives and waits
    let watch = thread::Builder::new().spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::end_own();
    });
    if watch.is_err() {
        std::process::exit(2);
    }
    libraries::ask(request.way, &request.libraries, &mut |answer| {
        let Ok(json) = serde_json::to_string(&answer) else {
            return;
        };
        // one write, behind a new line: the driver may have printed half of one
        let line = format!("\n{MARK}{json}\n");
        let mut out = io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(2);
        }
    });
    std::process::exit(0);
}

/// The last answer in lines of a child's output.
fn find(output: &[u8]) -> Option<Answer> {
    output
        .split(|byte| *byte == b'\n')
        .rev()
        .filter_map(|line| line.strip_prefix(MARK.as_bytes()))
        .find_map(|json| serde_json::from_slice(json).ok())
}

/// Asks a driver library.
pub(crate) fn ask(way: Way, sources: &Sources, deadline: Deadline) -> WayOutcome {
    let libraries = if way.is_cuda() { &sources.cuda_libraries } else { &sources.nvml_libraries };
    let request = Request { way, libraries: libraries.clone() };
    match &sources.isolation {
        Isolation::Child { program, arguments } => in_child(request, program.clone(), arguments, sources, deadline),
        Isolation::InProcess if way == Way::CudaUnfiltered => {
            let text = "the variables of a running process stay".to_owned();
            WayOutcome::without_answer(way, Status::NotAsked { text })
        }
        Isolation::InProcess => in_thread(request, deadline),
    }
}

fn in_child(
    request: Request,
    program: PathBuf,
    arguments: &[OsString],
    sources: &Sources,
    deadline: Deadline,
) -> WayOutcome {
    let way = request.way;
    let unusable = |text: String| WayOutcome::without_answer(way, Status::Unusable { text });
    let json = match serde_json::to_string(&request) {
        Ok(json) => json,
        Err(error) => return unusable(error.to_string()),
    };
    let mut command = Command::new(program);
    command.args(arguments).env(REQUEST, json);
    sources.set_environment(&mut command);
    if way == Way::CudaUnfiltered {
        command.env_remove("CUDA_VISIBLE_DEVICES");
    }
    let ran = process::run(&mut command, deadline, |lines| find(lines).is_some_and(|answer| answer.is_final));
    match find(&ran.output) {
        Some(Answer { is_final: true, outcome }) => outcome,
        first => broken_off(way, first, ran.end.status(deadline)),
    }
}

/// The thread is left behind if the library does not return in time.
fn in_thread(request: Request, deadline: Deadline) -> WayOutcome {
    let way = request.way;
    let (sender, receiver) = mpsc::channel();
    let started = thread::Builder::new().name(format!("device-probe {way}")).spawn(move || {
        // nobody listens any more once the time is up
        libraries::ask(request.way, &request.libraries, &mut |answer| drop(sender.send(answer)));
    });
    if let Err(error) = started {
        return WayOutcome::without_answer(way, Status::Unusable { text: error.to_string() });
    }
    let mut known = None;
    loop {
        match receiver.recv_timeout(deadline.left()) {
            Ok(Answer { is_final: true, outcome }) => return outcome,
            Ok(first) => known = Some(first),
            Err(RecvTimeoutError::Timeout) => return broken_off(way, known, deadline.timed_out()),
            Err(RecvTimeoutError::Disconnected) => {
                return broken_off(way, known, Status::Crashed { text: "no answer".to_owned() });
            }
        }
    }
}

/// What was told before there was no more to come.
fn broken_off(way: Way, first: Option<Answer>, status: Status) -> WayOutcome {
    match first {
        Some(answer) => WayOutcome { status, ..answer.outcome },
        None => WayOutcome::without_answer(way, status),
    }
}
