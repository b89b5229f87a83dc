//! Jitter that follows a recording of delays over time.

use std::sync::Arc;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Time};

use super::Jitter;
use crate::opportunities::AtEnd;

params! {
    /// Recorded extra delays. A packet has the delay of the time at which its transmission ends, between two
    /// points on the line through them; before the first point, the first delay.
    #[derive(Eq)]
    pub struct TraceJitter {
        // The line is that of CellReplay's base delays (NSDI 2025), which are samples of a delay that changes
        // continuously. Two points with the same time are a step.
        /// Path of a CSV file with the points, relative to the folder of the scenario file: a line
        /// `time_s,delay_ms` or `time_ms,delay_ms`, and then one line per point.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// Time of each point from the start of the run, in ascending order. The last time must not be 0; it
        /// is also the length of the recording.
        pub times: Arc<Vec<Duration>>,
        /// Extra delay of each point.
        pub delays: Arc<Vec<Duration>>,
        /// Behaviour at the end of the recording.
        pub at_end: AtEnd = AtEnd::Loop,
    }
}

impl TraceJitter {
    /// The caller must read the file, as this crate reads none.
    pub fn unread(&self) -> Option<&str> {
        self.file.as_deref().filter(|_| self.times.is_empty())
    }

    fn length(&self) -> Duration {
        self.times.last().copied().unwrap_or_default()
    }

    fn delay_at(&self, time: Duration) -> Duration {
        let next = self.times.partition_point(|point| *point <= time);
        let point = |at: usize| Some((self.times.get(at)?.0, self.delays.get(at)?.0));
        match (next.checked_sub(1).and_then(point), point(next)) {
            (Some((from, before)), Some((until, after))) => {
                let passed = i128::from(time.0 - from);
                let change = (i128::from(after) - i128::from(before)) * passed / i128::from(until - from);
                Duration(before.saturating_add_signed(change as i64))
            }
            (outside, other) => outside.or(other).map_or(Duration::ZERO, |(_, delay)| Duration(delay)),
        }
    }
}

impl Checked for TraceJitter {
    fn check(&self, check: &mut Check) {
        let times = &self.times;
        check.require(self.file.is_some() || !times.is_empty(), "times", || {
            "the list is empty; expected at least one time, or a `file`".to_owned()
        });
        check.require(times.len() == self.delays.len(), "delays", || {
            format!("{} delays for {} times; expected one delay per time", self.delays.len(), times.len())
        });
        let fall = times.windows(2).position(|pair| pair[1] < pair[0]);
        check.require(fall.is_none(), "times", || {
            let at = fall.unwrap_or_default() + 1;
            format!(
                "entry {at}, {}, is before the previous one, {}; expected times in ascending order",
                times[at],
                times[at - 1]
            )
        });
        check.require(times.is_empty() || self.length().0 > 0, "times", || {
            "the last time is 0 s, which is the length of the recording; expected a later time".to_owned()
        });
    }
}

impl Jitter for TraceJitter {
    fn draw(&mut self, sent: Time, _stream: &mut Stream) -> Duration {
        let since_start = match (self.at_end, self.length()) {
            (AtEnd::Loop, Duration(length @ 1..)) => sent.0 % length,
            _ => sent.0,
        };
        self.delay_at(Duration(since_start))
    }
}
