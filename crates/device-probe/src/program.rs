//! Programs that are asked something else.

use std::process::Command;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::process::{self, End};

/// What a program prints, which must end by itself within a time and print no more than 1 MiB. What it starts ends with it.
///
/// # Errors
/// Why there is no answer, in words that follow its name: `did not answer within 10 s`.
pub fn answer(command: &mut Command, limit: Duration) -> Result<Vec<u8>, String> {
    process::end_with_parent(command);
    let ran = process::run(command, Deadline::after(limit), |_| false);
    match ran.end {
        End::Exited(status) if status.success() => Ok(ran.output),
        End::Exited(status) => Err(format!("ended with {}", process::how(status))),
        End::Enough | End::TimedOut | End::NoTimeLeft => Err(format!("did not answer within {} s", limit.as_secs())),
        End::TooMuchOutput(bytes) => Err(format!("printed more than {}", process::size(bytes))),
        End::NotStarted(error) => {
            let text = error.to_string();
            Err(format!("did not start: {}", text.split(" (os error").next().unwrap_or_default().to_lowercase()))
        }
    }
}
