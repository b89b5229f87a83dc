use std::collections::VecDeque;

use nodeb_base::event::Recovery;
use nodeb_base::rng::Indexed;
use nodeb_base::units::{Duration, Time};

/// Beyond 1 s a user's flow of thought is interrupted (Nielsen, Usability Engineering, 1993, section 5.5).
pub const STALL: Duration = Duration(1_000_000_000);

#[derive(Debug)]
pub struct UserMetrics {
    /// Begin of each outstanding load, and the connection's bytes up to its end.
    awaited: VecDeque<(Time, u64)>,
    /// `None` before the first load and once all its transfers have begun.
    page_begun: Option<Time>,
    /// In order.
    delivered: u64,
    /// Of data in order; `None` if no transfer was outstanding after it.
    last: Option<Time>,
    /// Pauses of at least [`STALL`] without data in order while data are outstanding.
    pub stalls: u64,
    stalled: Duration,
    /// From the beginning of a page or transfer until its last byte has arrived.
    pub loads: Times,
    /// `None` outside recovery.
    repairing: Option<Time>,
    /// Of the finished loss recoveries.
    repaired: Duration,
}

impl UserMetrics {
    /// `choice` draws which load times are kept if there are more than 2,048.
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

    /// Its data end at byte `end`; `is_last` is false if further transfers of the page follow.
    pub fn on_beginning(&mut self, now: Time, end: u64, is_last: bool) {
        let begun = *self.page_begun.get_or_insert(now);
        if is_last {
            self.awaited.push_back((begun, end));
            self.page_begun = None;
        }
    }

    /// `delivered` in order since the start, of `begun` bytes.
    #[inline]
    pub fn on_delivery(&mut self, now: Time, delivered: u64, begun: u64) {
        if delivered == self.delivered {
            return;
        }
        self.delivered = delivered;
        if let Some(last) = self.last
            && now.since(last) >= STALL
        {
            self.stall(now.since(last));
        }
        self.last = (delivered < begun).then_some(now);
        while let Some(&(begun, end)) = self.awaited.front()
            && end <= delivered
        {
            self.loads.note(now.since(begun));
            self.awaited.pop_front();
        }
    }

    /// From the first `Fast` or `Timeout` to the next `Open` or `Reduced`.
    #[inline]
    pub fn on_recovery(&mut self, now: Time, recovery: Recovery) {
        match (recovery, self.repairing) {
            (Recovery::Open | Recovery::Reduced, Some(since)) => {
                self.repaired.0 += now.since(since).0;
                self.repairing = None;
            }
            (Recovery::Fast | Recovery::Timeout, None) => self.repairing = Some(now),
            _ => {}
        }
    }

    /// At the end of the run; sorts the load times.
    pub fn end(&mut self, now: Time) {
        self.on_recovery(now, Recovery::Open);
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

    pub fn stalled_s(&self) -> f64 {
        self.stalled.as_secs()
    }

    pub fn recovery_s(&self) -> f64 {
        self.repaired.as_secs()
    }
}

/// Per user (16 KiB); of more, one of every two is kept, then of every four, and so on, so that memory does
/// not grow with simulated time. The random choice cannot coincide with a period of the traffic. As at least
/// 1,024 are kept, the rank of the 95 % quantile is exact to 1.4 percentage points (95 % confidence).
const MAX_KEPT: usize = 1 << 11;

#[derive(Debug)]
pub struct Times {
    kept: Vec<Duration>,
    /// One of every 2^`halvings` times is kept.
    halvings: u32,
    choice: Indexed,
    pub count: u64,
    sum: Duration,
}

impl Times {
    /// `choice` draws which times are kept if there are more than 2,048.
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

    /// NaN if there are none.
    pub fn mean_s(&self) -> f64 {
        self.sum.as_secs() / self.count as f64
    }

    /// Interpolated linearly between the two nearest times (Hyndman and Fan 1996, definition 7), which
    /// [`UserMetrics::end`] has sorted; NaN without times.
    pub fn quantiles_s<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let sorted = &self.kept;
        debug_assert!(sorted.is_sorted(), "quantiles are available after `UserMetrics::end`");
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

/// One of every two successive times, drawn by `choice`; `place` is that in the list of the previous halving.
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
    fn page_load_ends_with_its_last_object() {
        let mut seen = metrics();
        seen.on_beginning(at(0), 100, false);
        seen.on_delivery(at(500), 100, 100);
        assert_eq!(seen.loads.count, 0);
        seen.on_beginning(at(600), 300, true);
        seen.on_delivery(at(900), 200, 300);
        seen.on_delivery(at(1_400), 300, 300);
        assert_eq!((seen.loads.count, seen.loads.mean_s()), (1, 1.4));
        seen.on_beginning(at(5_000), 400, true);
        seen.on_delivery(at(5_100), 400, 400);
        seen.loads.kept.sort_unstable();
        let ms = seen.loads.quantiles_s([0.0, 0.5, 1.0]).map(|s| (s * 1e3).round() as u64);
        assert_eq!(ms, [100, 750, 1_400]);
        assert_eq!(seen.stalls, 0, "no data are outstanding between the pages");
    }

    #[test]
    fn pipelined_loads_complete_in_order() {
        let mut seen = metrics();
        for (time, end) in [(0, 10), (100, 20), (200, 30)] {
            seen.on_beginning(at(time), end, true);
        }
        seen.on_delivery(at(300), 25, 30);
        assert_eq!((seen.loads.count, seen.loads.mean_s()), (2, 0.25));
    }

    #[test]
    fn stall_is_a_second_without_outstanding_data() {
        let mut seen = metrics();
        seen.on_beginning(at(0), 100, true);
        seen.on_delivery(at(5_000), 10, 100);
        seen.on_delivery(at(5_999), 20, 100);
        assert_eq!(seen.stalls, 0, "waiting for the first byte is no stall, nor is less than a second");
        seen.on_delivery(at(7_499), 20, 100);
        seen.on_delivery(at(8_000), 30, 100);
        assert_eq!((seen.stalls, seen.stalled_s()), (1, 2.001));
        seen.end(at(9_500));
        assert_eq!((seen.stalls, seen.stalled_s()), (2, 3.501));
    }

    #[test]
    fn recovery_time_ends_when_recovery_is_open() {
        let mut seen = metrics();
        for (time, state) in
            [(0, Recovery::Open), (100, Recovery::Fast), (200, Recovery::Timeout), (450, Recovery::Open)]
        {
            seen.on_recovery(at(time), state);
        }
        assert_eq!(seen.repaired, Duration::from_millis(350));
        seen.on_recovery(at(1_000), Recovery::Timeout);
        seen.end(at(1_250));
        assert_eq!(seen.repaired, Duration::from_millis(600));
        for (time, state) in [(2_000, Recovery::Reduced), (2_100, Recovery::Fast), (2_300, Recovery::Reduced)]
        {
            seen.on_recovery(at(time), state);
        }
        assert_eq!(seen.repaired, Duration::from_millis(800), "ECN marks are no loss");
    }

    #[test]
    fn one_time_per_block_is_kept() {
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

    /// One load in `period` is slow.
    #[test]
    fn periodic_slow_loads_keep_their_share() {
        for period in [2, 3, 4, 7, 8, 16, 64, 1_000] {
            let mut times = times();
            for number in 0..40_000 {
                times.note(Duration(u64::from(number % period == 0)));
            }
            let slow = times.kept.iter().filter(|time| time.0 == 1).count() as f64;
            let (kept, share) = (times.kept.len() as f64, 1.0 / f64::from(period));
            // The tolerance is four standard deviations of independent choices. The choice within pairs spreads
            // slow loads more evenly.
            assert!(
                (slow - kept * share).abs() < 4.0 * (kept * share * (1.0 - share)).sqrt(),
                "{period}: {slow}"
            );
        }
    }
}
