//! Recorded delivery opportunities: when a link could have sent so many bytes.
//!
//! The format and its meaning are those of mahimahi (Netravali and others, USENIX ATC 2015): a time in ms for each
//! opportunity, several in one ms where a line is repeated, and after the last time the list begins again with it as
//! its new origin. Whatever nobody uses is counted without being looked at one by one.

use nodeb_base::params;
use std::sync::Arc;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Rate, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds in the unit of a recording.
const NANOS_PER_MS: u64 = 1_000_000;
/// As long as a run may be, in ms.
const LONGEST_MS: u64 = 8_000_000_000;
const MOST: usize = 10_000_000;

/// What follows when a recording is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// It begins again.
    #[default]
    Loop,
    /// Nothing comes any more.
    Stop,
}

params! {
    /// Delivery opportunities that were recorded: a line of the file is the time of one, in ms.
    #[derive(Eq)]
    pub struct Opportunities {
        /// A recording to take the list from. The path counts from the scenario file's folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// The time of each opportunity in ms from the beginning of the run on, never falling. The last,
        /// which is not 0, is also the length of the recording.
        #[serde(skip_serializing_if = "is_empty")]
        pub times_ms: Arc<Vec<u64>>,
    }
}

fn is_empty(list: &Arc<Vec<u64>>) -> bool {
    list.is_empty()
}

impl Opportunities {
    /// The recording that has still to be read: this crate knows no files.
    pub fn unread(&self) -> Option<&str> {
        self.file.as_deref().filter(|_| self.times_ms.is_empty())
    }

    /// The length of the recording in ms; 0 of one that is not there.
    fn length_ms(&self) -> u64 {
        self.times_ms.last().copied().unwrap_or(0)
    }
}

impl Checked for Opportunities {
    fn check(&self, check: &mut Check) {
        let times = &self.times_ms;
        check.require(self.file.is_some() || !times.is_empty(), "times_ms", || {
            "there is no delivery opportunity; expected at least one, or a `file`".to_owned()
        });
        check.require(times.len() <= MOST, "times_ms", || {
            format!("{} delivery opportunities are too many; expected at most {MOST}", times.len())
        });
        let fall = times.windows(2).position(|pair| pair[1] < pair[0]);
        check.require(fall.is_none(), "times_ms", || {
            let at = fall.unwrap_or_default() + 1;
            format!("time goes backward at entry {at}: {} ms after {} ms", times[at], times[at - 1])
        });
        check.require(times.is_empty() || self.length_ms() > 0, "times_ms", || {
            "the last time is 0 ms, and a recording lasts until its last time; expected more".to_owned()
        });
        check.require(self.length_ms() <= LONGEST_MS, "times_ms", || {
            format!("{} ms are out of range; expected at most {LONGEST_MS} ms", self.length_ms())
        });
    }
}

/// A recording and how a link uses it.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// When the link may send.
    pub opportunities: &'a Opportunities,
    /// What follows when the recording is over.
    pub at_end: AtEnd,
    /// Bytes of an opportunity.
    pub size: Size,
    /// Bytes that every packet takes beyond its own.
    pub header: Size,
}

impl Recording<'_> {
    /// The mean bit rate over the recording, headers included.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities.times_ms.len() as u128 * u128::from(self.size.0) * 8_000;
        let rate = bits / u128::from(self.opportunities.length_ms().max(1));
        Rate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

/// The opportunities of a recording as time goes on, numbered from 0.
#[derive(Debug)]
pub struct Turns {
    times_ms: Arc<Vec<u64>>,
    length_ms: u64,
    at_end: AtEnd,
    /// The number of the next one; as many have been.
    pub next: u64,
}

impl Turns {
    /// All of a recording are still to come.
    pub fn new(recording: &Recording) -> Self {
        let Recording { opportunities, at_end, .. } = *recording;
        let (times_ms, length_ms) = (opportunities.times_ms.clone(), opportunities.length_ms());
        Self { times_ms, length_ms, at_end, next: 0 }
    }

    /// When the next one is; none when the recording is over and stays so.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        let many = self.times_ms.len() as u64;
        if self.length_ms == 0 || (self.at_end == AtEnd::Stop && self.next >= many) {
            return None;
        }
        let ms = self.next / many * self.length_ms + self.times_ms[(self.next % many) as usize];
        ms.checked_mul(NANOS_PER_MS).map(Time)
    }

    /// How many there are up to a time, those at that very time included.
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

    /// How many there are before a time.
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

    fn turns(times_ms: &[u64], at_end: AtEnd) -> Turns {
        let opportunities = &recorded(times_ms);
        Turns::new(&Recording { opportunities, at_end, size: Size(1504), header: Size(4) })
    }

    fn problems(times_ms: &[u64]) -> Vec<String> {
        let mut check = Check::default();
        recorded(times_ms).check(&mut check);
        check.into_problems().into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn the_last_time_is_the_origin_of_the_next_round() {
        let mut turns = turns(&[0, 3, 3, 5], AtEnd::Loop);
        let times: Vec<u64> = std::iter::from_fn(|| {
            let at = turns.next_time();
            turns.next += 1;
            at.map(|at| at.0 / NANOS_PER_MS)
        })
        .take(9)
        .collect();
        assert_eq!(times, [0, 3, 3, 5, 5, 8, 8, 10, 10]);
    }

    #[test]
    fn a_recording_that_stops_has_no_more() {
        let mut turns = turns(&[1, 2], AtEnd::Stop);
        assert_eq!(turns.until(Time(u64::MAX)), 2);
        turns.next = 2;
        assert_eq!(turns.next_time(), None);
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        assert_eq!(problems(&[0, 0, 7]), Vec::<String>::new());
        let expected = [
            (&[][..], "there is no delivery opportunity"),
            (&[0, 0], "the last time is 0 ms"),
            (&[5, 4], "time goes backward at entry 1: 4 ms after 5 ms"),
            (&[LONGEST_MS + 1], "out of range"),
        ];
        for (times, message) in expected {
            assert!(problems(times)[0].contains(message), "{times:?}: {:?}", problems(times));
        }
    }

    #[test]
    fn the_mean_rate_is_that_of_whole_rounds() {
        let opportunities = &recorded(&[1, 2, 3]);
        let recording = Recording { opportunities, at_end: AtEnd::Loop, size: Size(1504), header: Size(4) };
        assert_eq!(recording.mean_rate(), Rate(12_032_000));
    }

    proptest! {
        /// Counting at once agrees with looking at them one by one.
        #[test]
        fn counted_at_once_as_one_by_one(
            gaps in prop::collection::vec(0u64..4, 1..20), last in 1u64..5,
            time in 0u64..200_000_000, loops: bool,
        ) {
            let mut sum = 0;
            let mut times: Vec<u64> = gaps.iter().map(|gap| { sum += gap; sum }).collect();
            times.push(sum + last);
            let mut turns = turns(&times, if loops { AtEnd::Loop } else { AtEnd::Stop });
            let (until, before) = (turns.until(Time(time)), turns.before(Time(time)));
            let (mut found, mut found_before) = (0, 0);
            while let Some(at) = turns.next_time().filter(|at| at.0 <= time) {
                found += 1;
                found_before += u64::from(at.0 < time);
                turns.next += 1;
            }
            prop_assert_eq!((until, before), (found, found_before));
        }
    }
}
