//! What a user sees of a connection: how long loads take, where they stall; and the time that the sender
//! spends on repairing losses.

use std::collections::VecDeque;

use nodeb_base::event::Recovery;
use nodeb_base::rng::Indexed;
use nodeb_base::units::{Duration, Time};

/// A pause of data that users notice: beyond 1 s the flow of thought breaks (Nielsen, Usability Engineering,
/// 1993, section 5.5).
pub const STALL: Duration = Duration(1_000_000_000);

/// What is known of one user's wait.
#[derive(Debug)]
pub struct UserMetrics {
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

impl UserMetrics {
    /// Nothing seen yet; `choice` draws the load times that are kept of very many.
    pub fn new(choice: Indexed) -> Self {
        Self {
            awaited: VecDeque::new(),
            page_begun: None,
            delivered: 0,
            last: None,
            stalls: 0,
            stalled: Duration::ZERO,
            loads: Times::new(choice),
            repairing: None,
            repaired: Duration::ZERO,
        }
    }

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

/// Maximum number of times that are kept. Of more times, one of each two, four, ... is kept, chosen at random, so that no
/// rhythm of the traffic meets that of the choice, and memory does not grow with simulated time: 16 KiB a user. Of 1,024
/// or more times the rank of the 95 % quantile is exact to 1.4 percentage points (95 % confidence).
const MAX_KEPT: usize = 1 << 11;

/// Durations: their number and mean, and quantiles.
#[derive(Debug)]
pub struct Times {
    kept: Vec<Duration>,
    /// One of so many is kept, as a power of two.
    halvings: u32,
    choice: Indexed,
    pub count: u64,
    sum: Duration,
}

impl Times {
    /// No times yet; `choice` draws those that are kept of very many.
    pub fn new(choice: Indexed) -> Self {
        Self { kept: Vec::new(), halvings: 0, choice, count: 0, sum: Duration::ZERO }
    }

    fn note(&mut self, time: Duration) {
        if self.kept.len() == MAX_KEPT {
            self.halvings += 1;
            let mut place = 0;
            let (choice, halving) = (self.choice, self.halvings);
            self.kept.retain(|_| {
                place += 1;
                is_chosen(choice, halving, place - 1)
            });
        }
        if (1..=self.halvings).all(|halving| is_chosen(self.choice, halving, self.count >> (halving - 1))) {
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

/// Returns whether the given halving keeps number `place` of what the one before has kept: one of each pair.
fn is_chosen(choice: Indexed, halving: u32, place: u64) -> bool {
    let takes_second = choice.uniform((place >> 1 << 6) | u64::from(halving)) < 0.5;
    (place & 1 == 1) == takes_second
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    fn times() -> Times {
        Times::new(Streams::new(1, 0).indexed("user", 0, "loads kept"))
    }

    fn metrics() -> UserMetrics {
        UserMetrics::new(Streams::new(1, 0).indexed("user", 0, "loads kept"))
    }

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn a_page_is_loaded_with_its_last_object() {
        let mut seen = metrics();
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
        let mut seen = metrics();
        for (time, end) in [(0, 10), (100, 20), (200, 30)] {
            seen.ask(at(time), end, true);
        }
        seen.deliver(at(300), 25, 30);
        assert_eq!((seen.loads.count, seen.loads.mean_s()), (2, 0.25));
    }

    #[test]
    fn a_stall_is_a_second_without_data_that_were_to_come() {
        let mut seen = metrics();
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
        let mut seen = metrics();
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
    fn one_of_each_block_of_many_times_is_kept() {
        let mut times = times();
        for number in 0..300_000 {
            times.note(Duration(number));
        }
        assert_eq!((times.count, times.halvings), (300_000, 8));
        let blocks: Vec<u64> = times.kept.iter().map(|time| time.0 / 256).collect();
        let complete = 300_000 / 256;
        assert_eq!(blocks[..complete], (0..complete as u64).collect::<Vec<_>>());
        assert!(blocks.len() <= complete + 1);
        let expected = 299_999.0 / 2.0 / 1e9;
        assert!((times.mean_s() - expected).abs() < 1e-15);
    }

    /// One load in `period` is slow: the share of slow ones among those kept is that share, whatever the period.
    #[test]
    fn no_rhythm_of_loads_hides_from_their_quantiles() {
        for period in [2, 3, 4, 7, 8, 16, 64, 1_000] {
            let mut times = times();
            for number in 0..40_000 {
                times.note(Duration(u64::from(number % period == 0)));
            }
            let slow = times.kept.iter().filter(|time| time.0 == 1).count() as f64;
            let (kept, share) = (times.kept.len() as f64, 1.0 / f64::from(period));
            // Four standard deviations; a slow load in each block of 32 is spread more evenly than that.
            assert!(
                (slow - kept * share).abs() < 4.0 * (kept * share * (1.0 - share)).sqrt(),
                "{period}: {slow}"
            );
        }
    }
}
