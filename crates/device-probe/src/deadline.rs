//! When the time is up.

use std::time::{Duration, Instant};

use crate::way::Status;

/// The end of a time that several questions share: each gets what those before it left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// Nothing where the clock does not reach so far.
    end: Option<Instant>,
    limit: Duration,
}

impl Deadline {
    /// The end of a time that begins now.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self { end: Instant::now().checked_add(limit), limit }
    }

    /// What is left; zero once the time is up.
    #[must_use]
    pub fn left(self) -> Duration {
        self.end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether the time is up.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }

    pub(crate) fn timed_out(self) -> Status {
        Status::TimedOut { milliseconds: self.milliseconds() }
    }

    pub(crate) fn no_time_left(self) -> Status {
        Status::NoTimeLeft { milliseconds: self.milliseconds() }
    }

    /// The whole time, not what is left.
    fn milliseconds(self) -> u64 {
        u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX)
    }
}

impl From<Duration> for Deadline {
    /// [`Deadline::after`].
    fn from(limit: Duration) -> Self {
        Self::after(limit)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Deadline;

    #[test]
    fn the_time_runs_out_once() {
        assert!(Deadline::after(Duration::ZERO).is_over());
        let deadline = Deadline::after(Duration::from_secs(60));
        assert!(!deadline.is_over() && deadline.left() <= Duration::from_secs(60));
        let never = Deadline::after(Duration::MAX);
        assert_eq!(never.left(), Duration::MAX);
        assert!(!never.is_over());
    }
}
