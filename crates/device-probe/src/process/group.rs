//! A program and all that it starts, which end together.

use std::io;
use std::process::{Child, Command};

/// Lets a program begin a process group of its own. On Windows it gets no window instead.
pub(super) fn prepare(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    {
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        std::os::windows::process::CommandExt::creation_flags(command, CREATE_NO_WINDOW);
    }
}

/// Lets a program that knows nothing of this one end when the thread that starts it ends, however that ends: a signal
/// from the terminal does not reach a group of its own. Linux only.
pub(crate) fn end_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};

        let parent = std::process::id();
        let ask_for_signal = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // it may have ended before the signal was asked for
            let is_alive = getppid().is_some_and(|pid| u32::try_from(pid.as_raw_pid()) == Ok(parent));
            if is_alive { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        };
        #[expect(unsafe_code, reason = "code between fork and exec")]
        // SAFETY: two system calls, which allocate nothing and take no lock.
        unsafe {
            std::os::unix::process::CommandExt::pre_exec(command, ask_for_signal);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// Whether a program has ended. It is not reaped, so that its number stays its own.
#[cfg(unix)]
pub(super) fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

/// Whether a program has ended.
#[cfg(not(unix))]
pub(super) fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Kills a program that is not reaped, with its group. An error says that it is gone already.
#[cfg(unix)]
pub(super) fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Kills a program. An error says that it is gone already.
#[cfg(not(unix))]
pub(super) fn kill(child: &mut Child) {
    let _ = child.kill();
}

/// Ends this process, with its group if it began one.
pub(crate) fn end_own() -> ! {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};

        if getpgrp() == getpid() {
            let _ = kill_current_process_group(Signal::KILL);
        }
    }
    // not exit, which would wait for what hangs
    std::process::abort()
}
