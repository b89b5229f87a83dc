//! Recorded delivery opportunities: times at which a link could have transmitted a given number of bytes.
//!
//! Format and semantics are those of mahimahi (Netravali et al., USENIX ATC 2015). Each line is the time of
//! an opportunity in ms; a repeated line means several opportunities in the same ms. After the last time the
//! list starts again, with the last time as its new origin, or ends ([`AtEnd`]). Unused opportunities are
//! counted without iterating over them.

use nodeb_base::params;
use std::num::NonZeroU32;
use std::sync::Arc;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Rate, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const NANOS_PER_MS: u64 = 1_000_000;
/// Largest length of a recording in ms. It equals the longest duration that a run may have.
const LONGEST_MS: u64 = 8_000_000_000;
const MOST: usize = 10_000_000;

/// Behaviour at the end of a recording of delivery opportunities, of a channel or of delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The recording starts again from its beginning.
    #[default]
    Loop,
    /// The recording is not repeated: after its end the last delay holds; without opportunities or a channel,
    /// nothing is sent, and packets wait.
    Stop,
}

params! {
    /// Recorded delivery opportunities. Each line of the file is a time in ms.
    #[derive(Eq)]
    pub struct Opportunities {
        /// Path of the recording, relative to the folder of the scenario file.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// Time of each opportunity in ms from the start of the run, in ascending order. The last time must
        /// not be 0; it is also the length of the recording.
        #[serde(skip_serializing_if = "is_empty")]
        pub times_ms: Arc<Vec<u64>>,
    }
}

fn is_empty(list: &Arc<Vec<u64>>) -> bool {
    list.is_empty()
}

impl Opportunities {
    /// Must be read by the caller, because this crate does not read files.
    pub fn unread(&self) -> Option<&str> {
        self.file.as_deref().filter(|_| self.times_ms.is_empty())
    }

    /// With each opportunity twice.
    #[must_use]
    pub fn doubled(&self) -> Self {
        let times_ms = self.times_ms.iter().flat_map(|time| [*time; 2]).collect();
        Self { times_ms: Arc::new(times_ms), ..self.clone() }
    }

    /// 0 if it is empty.
    fn length_ms(&self) -> u64 {
        self.times_ms.last().copied().unwrap_or(0)
    }
}

impl Checked for Opportunities {
    fn check(&self, check: &mut Check) {
        let times = &self.times_ms;
        check.require(self.file.is_some() || !times.is_empty(), "times_ms", || {
            "no delivery opportunities; expected at least one, or a `file`".to_owned()
        });
        check.require(times.len() <= MOST, "times_ms", || {
            format!("{} delivery opportunities are too many; expected at most {MOST}", times.len())
        });
        let fall = times.windows(2).position(|pair| pair[1] < pair[0]);
        check.require(fall.is_none(), "times_ms", || {
            let at = fall.unwrap_or_default() + 1;
            format!(
                "entry {at} is {} ms, after {} ms; expected times in ascending order",
                times[at],
                times[at - 1]
            )
        });
        check.require(times.is_empty() || self.length_ms() > 0, "times_ms", || {
            "the last time is 0 ms, which is the length of the recording; expected at least 1 ms".to_owned()
        });
        check.require(self.length_ms() <= LONGEST_MS, "times_ms", || {
            format!("{} ms is out of range; expected at most {LONGEST_MS} ms", self.length_ms())
        });
    }
}

/// A second recording of the same network, made with short trains of packets, each on an idle link.
#[derive(Clone, Copy, Debug)]
pub struct Trains<'a> {
    pub opportunities: &'a Opportunities,
    /// Opportunities that carry a train.
    pub length: NonZeroU32,
    /// A packet begins a train if the link has been idle for longer than this.
    pub gap: Duration,
}

#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// ms from the start of the run.
    pub opportunities: &'a Opportunities,
    pub trains: Option<Trains<'a>>,
    pub at_end: AtEnd,
    /// Including additional headers.
    pub size: Size,
    pub header: Size,
}

impl Recording<'_> {
    /// The bits of additional headers count; 0 if the recording is empty.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities.times_ms.len() as u128 * u128::from(self.size.0) * 8_000;
        let rate = bits / u128::from(self.opportunities.length_ms().max(1));
        Rate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

/// Numbered from 0 across repetitions of the recording.
#[derive(Debug)]
pub struct Schedule {
    times_ms: Arc<Vec<u64>>,
    length_ms: u64,
    at_end: AtEnd,
    /// It equals the number of opportunities that have passed.
    pub next: u64,
}

impl Schedule {
    pub fn new(opportunities: &Opportunities, at_end: AtEnd) -> Self {
        let (times_ms, length_ms) = (opportunities.times_ms.clone(), opportunities.length_ms());
        Self { times_ms, length_ms, at_end, next: 0 }
    }

    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        let many = self.times_ms.len() as u64;
        if self.length_ms == 0 || (self.at_end == AtEnd::Stop && self.next >= many) {
            return None;
        }
        let ms = self.next / many * self.length_ms + self.times_ms[(self.next % many) as usize];
        ms.checked_mul(NANOS_PER_MS).map(Time)
    }

    /// Up to and including `time`.
    pub fn until(&self, time: Time) -> u64 {
        if self.length_ms == 0 {
            return 0;
        }
        let many = self.times_ms.len() as u64;
        let ms = time.0 / NANOS_PER_MS;
        let (rounds, ms) = match self.at_end {
            AtEnd::Loop => (ms / self.length_ms, ms % self.length_ms),
            AtEnd::Stop => (0, ms),
        };
        rounds.saturating_mul(many) + self.times_ms.partition_point(|at| *at <= ms) as u64
    }

    pub fn before(&self, time: Time) -> u64 {
        time.0.checked_sub(1).map_or(0, |before| self.until(Time(before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(times_ms: &[u64]) -> Opportunities {
        Opportunities { file: None, times_ms: Arc::new(times_ms.to_vec()) }
    }

    fn schedule(times_ms: &[u64], at_end: AtEnd) -> Schedule {
        Schedule::new(&recorded(times_ms), at_end)
    }

    fn problems(times_ms: &[u64]) -> Vec<String> {
        let mut check = Check::default();
        recorded(times_ms).check(&mut check);
        check.into_problems().into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn the_last_time_is_the_origin_of_the_next_repetition() {
        let mut schedule = schedule(&[0, 3, 3, 5], AtEnd::Loop);
        let times: Vec<u64> = std::iter::from_fn(|| {
            let at = schedule.next_time();
            schedule.next += 1;
            at.map(|at| at.0 / NANOS_PER_MS)
        })
        .take(9)
        .collect();
        assert_eq!(times, [0, 3, 3, 5, 5, 8, 8, 10, 10]);
    }

    #[test]
    fn no_opportunities_follow_a_recording_that_stops() {
        let mut schedule = schedule(&[1, 2], AtEnd::Stop);
        assert_eq!(schedule.until(Time(u64::MAX)), 2);
        schedule.next = 2;
        assert_eq!(schedule.next_time(), None);
    }

    #[test]
    fn invalid_recordings_are_rejected() {
        assert_eq!(problems(&[0, 0, 7]), Vec::<String>::new());
        let expected = [
            (&[][..], "no delivery opportunities"),
            (&[0, 0], "the last time is 0 ms"),
            (&[5, 4], "entry 1 is 4 ms, after 5 ms"),
            (&[LONGEST_MS + 1], "out of range"),
        ];
        for (times, message) in expected {
            assert!(problems(times)[0].contains(message), "{times:?}: {:?}", problems(times));
        }
    }

    #[test]
    fn mean_rate_is_that_of_a_whole_recording() {
        let opportunities = &recorded(&[1, 2, 3]);
        let (at_end, size, header) = (AtEnd::Loop, Size(1504), Size(4));
        let recording = Recording { opportunities, trains: None, at_end, size, header };
        assert_eq!(recording.mean_rate(), Rate(12_032_000));
    }

    proptest! {
        #[test]
        fn counting_equals_iterating(
            gaps in prop::collection::vec(0u64..4, 1..20), last in 1u64..5,
            time in 0u64..200_000_000, loops: bool,
        ) {
            let mut sum = 0;
            let mut times: Vec<u64> = gaps.iter().map(|gap| { sum += gap; sum }).collect();
            times.push(sum + last);
            let mut schedule = schedule(&times, if loops { AtEnd::Loop } else { AtEnd::Stop });
            let (until, before) = (schedule.until(Time(time)), schedule.before(Time(time)));
            let (mut found, mut found_before) = (0, 0);
            while let Some(at) = schedule.next_time().filter(|at| at.0 <= time) {
                found += 1;
                found_before += u64::from(at.0 < time);
                schedule.next += 1;
            }
            prop_assert_eq!((until, before), (found, found_before));
        }
    }
}
