//! What a user sees of a connection: how long loads take, where they stall; and the time that the sender
//! spends on repairing losses.

use std::collections::VecDeque;

use crate::event::Recovery;
use crate::units::{Duration, Time};

/// A pause of data that users notice: beyond 1 s the flow of thought breaks (Nielsen, Usability Engineering,
/// 1993, section 5.5).
pub const STALL: Duration = Duration(1_000_000_000);

/// What is known of one user's wait.
#[derive(Debug, Default)]
pub struct Experience {
    /// Loads that the phone waits for: when they were asked for, and bytes of the connection up to their last.
    awaited: VecDeque<(Time, u64)>,
    /// When the page was asked for of which more is to come.
    page_begun: Option<Time>,
    delivered: u64,
    /// When data last came of what is not complete yet.
    last: Option<Time>,
    pub stalls: u64,
    stalled: Duration,
    pub loads: Times,
    repairing: Option<Time>,
    repaired: Duration,
}

impl Experience {
    /// The phone asks for something that is complete with byte number `end` of the connection, or of which
    /// more is to come.
    pub fn ask(&mut self, now: Time, end: u64, is_last: bool) {
        let begun = *self.page_begun.get_or_insert(now);
        if is_last {
            self.awaited.push_back((begun, end));
            self.page_begun = None;
        }
    }

    /// Data have come in order, `delivered` bytes in all, of `asked` so far.
    #[inline]
    pub fn deliver(&mut self, now: Time, delivered: u64, asked: u64) {
        if delivered == self.delivered {
            return;
        }
        self.delivered = delivered;
        if let Some(last) = self.last
            && now.since(last) >= STALL
        {
            self.stall(now.since(last));
        }
        self.last = (delivered < asked).then_some(now);
        while let Some(&(begun, end)) = self.awaited.front()
            && end <= delivered
        {
            self.loads.note(now.since(begun));
            self.awaited.pop_front();
        }
    }

    /// What the sender's recovery is at.
    #[inline]
    pub fn repair(&mut self, now: Time, recovery: Recovery) {
        match (recovery, self.repairing) {
            (Recovery::Open | Recovery::Reduced, Some(since)) => {
                self.repaired.0 += now.since(since).0;
                self.repairing = None;
            }
            (Recovery::Fast | Recovery::Timeout, None) => self.repairing = Some(now),
            _ => {}
        }
    }

    /// What is going on at the end of the run ends there.
    pub fn end(&mut self, now: Time) {
        self.repair(now, Recovery::Open);
        self.loads.kept.sort_unstable();
        if let Some(last) = self.last.take()
            && now.since(last) >= STALL
        {
            self.stall(now.since(last));
        }
    }

    fn stall(&mut self, pause: Duration) {
        self.stalls += 1;
        self.stalled.0 += pause.0;
    }

    /// Time of all stalls, s.
    pub fn stalled_s(&self) -> f64 {
        self.stalled.as_secs()
    }

    /// Time in recovery, s.
    pub fn recovery_s(&self) -> f64 {
        self.repaired.as_secs()
    }
}

/// Maximum number of times that are kept; where there are more, one of two, of four, ... evenly over the run. So
/// memory does not grow with simulated time: 16 KiB a user. Of 1,024 or more times the rank of the 95 % quantile is exact
/// to 1.4 percentage points (95 % confidence).
const MOST: usize = 1 << 11;

/// How long things took: their number and mean, and quantiles.
#[derive(Debug, Default)]
pub struct Times {
    kept: Vec<Duration>,
    /// One of so many is kept, as a power of two.
    thinned: u32,
    pub count: u64,
    sum: Duration,
}

impl Times {
    fn note(&mut self, time: Duration) {
        if self.kept.len() == MOST {
            let mut is_kept = false;
            self.kept.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.thinned += 1;
        }
        if self.count.is_multiple_of(1 << self.thinned) {
            self.kept.push(time);
        }
        self.count += 1;
        self.sum.0 += time.0;
    }

    /// Their mean, s; NaN without any.
    pub fn mean_s(&self) -> f64 {
        self.sum.as_secs() / self.count as f64
    }

    /// Returns quantiles in s, linear between the two times around each (Hyndman and Fan 1996, definition 7); NaN
    /// without any. The times have been sorted at the end of the run.
    pub fn quantiles_s<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let sorted = &self.kept;
        debug_assert!(sorted.is_sorted(), "asked before the end");
        shares.map(|share| {
            let Some(last) = sorted.len().checked_sub(1) else {
                return f64::NAN;
            };
            let place = share * last as f64;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            (below.0 as f64 + (above.0 - below.0) as f64 * place.fract()) / 1e9
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn a_page_is_loaded_with_its_last_object() {
        let mut seen = Experience::default();
        seen.ask(at(0), 100, false);
        seen.deliver(at(500), 100, 100);
        assert_eq!(seen.loads.count, 0);
        seen.ask(at(600), 300, true);
        seen.deliver(at(900), 200, 300);
        seen.deliver(at(1_400), 300, 300);
        assert_eq!((seen.loads.count, seen.loads.mean_s()), (1, 1.4));
        seen.ask(at(5_000), 400, true);
        seen.deliver(at(5_100), 400, 400);
        seen.loads.kept.sort_unstable();
        let ms = seen.loads.quantiles_s([0.0, 0.5, 1.0]).map(|s| (s * 1e3).round() as u64);
        assert_eq!(ms, [100, 750, 1_400]);
        assert_eq!(seen.stalls, 0, "nothing was to come between the pages");
    }

    #[test]
    fn what_is_asked_for_together_is_loaded_in_order() {
        let mut seen = Experience::default();
        for (time, end) in [(0, 10), (100, 20), (200, 30)] {
            seen.ask(at(time), end, true);
        }
        seen.deliver(at(300), 25, 30);
        assert_eq!((seen.loads.count, seen.loads.mean_s()), (2, 0.25));
    }

    #[test]
    fn a_stall_is_a_second_without_data_that_were_to_come() {
        let mut seen = Experience::default();
        seen.ask(at(0), 100, true);
        seen.deliver(at(5_000), 10, 100);
        seen.deliver(at(5_999), 20, 100);
        assert_eq!(seen.stalls, 0, "waiting for the first byte is no stall, nor is less than a second");
        seen.deliver(at(7_499), 20, 100);
        seen.deliver(at(8_000), 30, 100);
        assert_eq!((seen.stalls, seen.stalled_s()), (1, 2.001));
        seen.end(at(9_500));
        assert_eq!((seen.stalls, seen.stalled_s()), (2, 3.501));
    }

    #[test]
    fn repair_lasts_until_recovery_is_open_again() {
        let mut seen = Experience::default();
        for (time, state) in
            [(0, Recovery::Open), (100, Recovery::Fast), (200, Recovery::Timeout), (450, Recovery::Open)]
        {
            seen.repair(at(time), state);
        }
        assert_eq!(seen.repaired, Duration::from_millis(350));
        seen.repair(at(1_000), Recovery::Timeout);
        seen.end(at(1_250));
        assert_eq!(seen.repaired, Duration::from_millis(600));
        for (time, state) in [(2_000, Recovery::Reduced), (2_100, Recovery::Fast), (2_300, Recovery::Reduced)]
        {
            seen.repair(at(time), state);
        }
        assert_eq!(seen.repaired, Duration::from_millis(800), "marks tell of no loss");
    }

    #[test]
    fn many_times_are_thinned_evenly() {
        let mut times = Times::default();
        for number in 0..300_000 {
            times.note(Duration(number));
        }
        assert!(times.kept.len() <= MOST);
        assert_eq!(times.count, 300_000);
        let expected = 299_999.0 / 2.0 / 1e9;
        assert!((times.mean_s() - expected).abs() < 1e-15);
        times.kept.sort_unstable();
        let [median] = times.quantiles_s([0.5]);
        // One of 256 is kept, so the median is that of neighbours 256 apart.
        assert!((median - expected).abs() < 256e-9, "{median}");
    }
}
