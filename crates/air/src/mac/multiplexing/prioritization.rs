use nodeb_base::units::{Duration, Rate, Time};

/// One of those of TS 36.331, 6.3.2 (bucketSizeDuration).
const BUCKET: Duration = Duration::from_millis(100);

/// In the unit of a bucket's level, which grows by a bearer's bit rate in a nanosecond.
const OCTET: i64 = 8_000_000_000;

/// Octets that a logical channel may send before channels of lower priority (Bj of TS 36.321, 5.4.3.1).
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    /// At `at`; below 0 after a packet that was larger than the level.
    level: i64,
    at: Time,
}

impl Bucket {
    /// Empty at the start of the run.
    pub fn new(rate: Rate) -> Self {
        Self { rate, level: 0, at: Time::ZERO }
    }

    pub fn has_rate(&self) -> bool {
        self.rate.0 > 0
    }

    fn grown_in(&self, time: Duration) -> i64 {
        i64::try_from(self.rate.0.saturating_mul(time.0)).unwrap_or(i64::MAX)
    }

    /// Octets at `now`, which does not decrease.
    pub fn octets(&mut self, now: Time) -> u32 {
        let grown = self.grown_in(now.since(self.at));
        self.level = self.level.saturating_add(grown).min(self.grown_in(BUCKET));
        self.at = now;
        if self.level <= 0 { 0 } else { u32::try_from((self.level - 1) / OCTET + 1).unwrap_or(u32::MAX) }
    }

    /// Those of `waiting` octets that precede lower priorities: whole packets while the level is above 0, so that they
    /// are not segmented.
    pub fn prioritized(&mut self, now: Time, waiting: u32, packet: u32) -> u32 {
        match self.octets(now) {
            0 => 0,
            octets => octets.max(packet).min(waiting),
        }
    }

    /// Those that precede lower priorities.
    pub fn take(&mut self, octets: u32) {
        self.level = self.level.saturating_sub(i64::from(octets) * OCTET);
    }
}

/// Octets that precede lower priorities, of each priority with some.
pub fn claims<'a>(demands: impl Iterator<Item = Demand> + 'a) -> impl Iterator<Item = (u8, u32)> + 'a {
    demands.map(|demand| (demand.priority, demand.prioritized)).filter(|(_, octets)| *octets > 0)
}

/// In octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// 1 is the highest.
    pub priority: u8,
    pub waiting: u32,
    /// Of those that wait, as [`Bucket::prioritized`].
    pub prioritized: u32,
    pub share: u32,
}

// Clause: TS 36.321, 5.4.3.1: logical channel prioritization
/// Adds to the shares of `room` octets; `demands` are in order of decreasing priority. Channels of equal priority are
/// served equally.
pub fn prioritize(mut room: u32, demands: &mut [Demand]) {
    for limit in [|demand: &Demand| demand.prioritized, |demand: &Demand| demand.waiting] {
        for equal in demands.chunk_by_mut(|a, b| a.priority == b.priority) {
            share_equally(&mut room, equal, limit);
        }
    }
}

fn share_equally(room: &mut u32, demands: &mut [Demand], limit: fn(&Demand) -> u32) {
    loop {
        let open = demands.iter().filter(|demand| demand.share < limit(demand)).count() as u32;
        if open == 0 || *room == 0 {
            return;
        }
        let each = (*room / open).max(1);
        for demand in demands.iter_mut() {
            let more = limit(demand).saturating_sub(demand.share).min(each).min(*room);
            demand.share += more;
            *room -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each with priority, octets that wait, and octets in the bucket.
    fn shares<const N: usize>(room: u32, demands: [(u8, u32, u32); N]) -> [u32; N] {
        let mut demands = demands.map(|(priority, waiting, prioritized)| Demand {
            priority,
            waiting,
            prioritized,
            share: 0,
        });
        prioritize(room, &mut demands);
        demands.map(|demand| demand.share)
    }

    // Tests the feature: logical channel prioritization (worked example)
    #[test]
    fn prioritized_octets_precede_the_rest_in_order_of_priority() {
        let demands = [(1, 500, 100), (2, 300, 200), (3, 50, 0)];
        for (room, expected) in [
            (60, [60, 0, 0]),
            (250, [100, 150, 0]),
            (300, [100, 200, 0]),
            (650, [450, 200, 0]),
            (800, [500, 300, 0]),
            (830, [500, 300, 30]),
            (2_000, [500, 300, 50]),
        ] {
            assert_eq!(shares(room, demands), expected, "{room}");
        }
        assert_eq!(shares(90, [(1, 40, 40), (2, 100, 10)]), [40, 50]);
    }

    #[test]
    fn channels_of_equal_priority_are_served_equally() {
        assert_eq!(shares(100, [(2, 500, 0), (2, 500, 0)]), [50, 50]);
        assert_eq!(shares(101, [(2, 500, 0), (2, 20, 0), (3, 9, 0)]), [81, 20, 0]);
        assert_eq!(shares(100, [(2, 500, 30), (2, 500, 0)]), [65, 35]);
        assert_eq!(shares(1, [(1, 0, 0), (2, 5, 5), (2, 5, 5)]), [0, 1, 0]);
    }

    // Tests the feature: logical channel prioritization (closed form)
    #[test]
    fn buckets_fill_at_their_rate_up_to_their_size() {
        let mut bucket = Bucket::new(Rate(80_000));
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        assert_eq!([0, 1, 50, 100, 5_000].map(|ms| bucket.octets(at(ms))), [0, 10, 500, 1_000, 1_000]);
        bucket.take(1_250);
        assert_eq!([5_000, 5_025, 5_026, 5_300].map(|ms| bucket.octets(at(ms))), [0, 0, 10, 1_000]);
        assert_eq!(bucket.prioritized(at(5_300), 5_000, 1_500), 1_500);
        assert_eq!(bucket.prioritized(at(5_300), 600, 1_500), 600);
        bucket.take(1_500);
        assert_eq!(bucket.prioritized(at(5_301), 600, 1_500), 0);
        assert_eq!(Bucket::new(Rate(0)).octets(at(9)), 0);
    }
}
