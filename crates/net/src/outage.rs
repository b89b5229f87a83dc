//! Outages: intervals in which a link starts no transmission.

use nodeb_base::check::Check;
use nodeb_base::units::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interval in which a link starts no transmission, so that packets queue.
///
/// A transmission that began before the outage is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Start of the outage, from the start of the run.
    pub start: Duration,
    /// Length of the outage; a transmission that would begin in this time begins at its end.
    pub length: Duration,
}

impl Outage {
    fn end(&self) -> Duration {
        Duration(self.start.0.saturating_add(self.length.0))
    }
}

/// No overlaps, and in the order of time.
pub fn check(outages: &[Outage], check: &mut Check) {
    for (i, pair) in outages.windows(2).enumerate() {
        check.within(i + 1, |check| {
            check.require(pair[1].start >= pair[0].end(), "start", || {
                format!(
                    "this outage starts before the end of the previous one; expected at least {}",
                    pair[0].end()
                )
            });
        });
    }
}

#[derive(Clone, Debug, Default)]
pub struct Outages {
    rest: std::vec::IntoIter<Outage>,
}

impl Outages {
    pub fn new(outages: Vec<Outage>) -> Self {
        Self { rest: outages.into_iter() }
    }

    /// None is left, because the link has none or all have begun.
    pub fn is_empty(&self) -> bool {
        self.rest.as_slice().is_empty()
    }

    /// Returns the earliest time, at or after `now`, at which a transmission may start. `now` must
    /// not decrease between calls, because past outages are removed.
    #[inline]
    pub fn next_start(&mut self, now: Time) -> Time {
        let mut start = now;
        while let Some(outage) = self.rest.as_slice().first() {
            let (begin, end) = (Time(outage.start.0), Time(outage.end().0));
            if start < begin {
                break;
            }
            start = start.max(end);
            self.rest.next();
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_transmission_starts_during_an_outage() {
        let outage = |start, length| Outage {
            start: Duration::from_millis(start),
            length: Duration::from_millis(length),
        };
        let mut outages = Outages::new(vec![outage(10, 5), outage(15, 5), outage(50, 1)]);
        let ms = 1_000_000;
        let starts = [0, 9, 10, 21, 50, 70].map(|at| outages.next_start(Time(at * ms)).0 / ms);
        assert_eq!(starts, [0, 9, 20, 21, 51, 70]);
    }

    #[test]
    fn overlapping_outages_are_rejected() {
        let outages: Vec<Outage> = serde_json::from_str(
            r#"[{"start": "1 s", "length": "1 s"}, {"start": "1500 ms", "length": "1 s"}]"#,
        )
        .unwrap();
        let mut problems = Check::default();
        check(&outages, &mut problems);
        assert_eq!(problems.into_problems().len(), 1);
    }
}
