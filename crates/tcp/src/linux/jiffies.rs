//! The kernel's clock of timers: it counts 250 jiffies a second, and timers run on its wheel (Linux 6,
//! `kernel/time/timer.c`). Here the count begins with the run.
//!
//! A timer never runs early. Up to 63 jiffies ahead the wheel knows each, up to 504 only every eighth, and so
//! on by factors of eight: a timeout of 1 s comes up to 32 ms late.

use nodeb_base::units::{Duration, Time};

/// Jiffies in a second, as most distributions have them.
pub const HZ: u64 = 250;
/// One of them.
pub const JIFFY: Duration = Duration(1_000_000_000 / HZ);

/// Slots of a level of the wheel, and by how many bits each level is coarser than the one before.
const SLOTS: u64 = 64;
const COARSER: u32 = 3;
const LEVELS: u32 = 9;

/// The count at a time.
pub fn at(now: Time) -> u64 {
    now.0 / JIFFY.0
}

/// Jiffies that cover a duration (`usecs_to_jiffies`).
pub fn in_duration(wait: Duration) -> u64 {
    wait.0.div_ceil(JIFFY.0)
}

/// `wait` in whole jiffies.
pub fn whole(wait: Duration) -> Duration {
    Duration(in_duration(wait) * JIFFY.0)
}

/// When a timer runs that is set now (`calc_wheel_index`, `calc_index`).
pub fn expiry(now: Time, wait: Duration) -> Time {
    let jiffies = in_duration(wait);
    // The first level whose 63 slots reach as far: the factors of eight in what 63 of its slots leave.
    let level = (u64::BITS - (jiffies / (SLOTS - 1)).leading_zeros()).div_ceil(COARSER).min(LEVELS - 1);
    let shift = COARSER * level;
    let slot = ((at(now) + jiffies) >> shift) + 1;
    Time((slot << shift) * JIFFY.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_level_is_the_first_that_reaches_as_far() {
        let first = |jiffies: u64| (0..LEVELS).find(|level| jiffies < (SLOTS - 1) << (COARSER * level));
        let edges = (0..LEVELS).map(|level| (SLOTS - 1) << (COARSER * level));
        for jiffies in edges.flat_map(|edge| [edge - 1, edge, edge + 1]).chain(0..600) {
            let shift = COARSER * first(jiffies).unwrap_or(LEVELS - 1);
            let expected = Time(((((7 + jiffies) >> shift) + 1) << shift) * JIFFY.0);
            assert_eq!(expiry(Time(7 * JIFFY.0), Duration(jiffies * JIFFY.0)), expected, "{jiffies}");
        }
    }

    #[test]
    fn timers_run_late_and_never_early() {
        // `calc_index`: the slot after the one that holds the jiffy asked for.
        let run = |now_us: u64, wait| expiry(Time(now_us * 1_000), wait).0 / 1_000;
        assert_eq!(run(0, MS(40)), 44_000);
        assert_eq!(run(3_999, MS(40)), 44_000);
        assert_eq!(run(4_000, MS(41)), 52_000);
        // 251 ms are 63 jiffies: the second level, in steps of 32 ms.
        assert_eq!(run(0, MS(248)), 252_000);
        assert_eq!(run(0, MS(249)), 256_000);
        assert_eq!(run(8_000, MS(1_000)), 1_024_000);
        assert_eq!(run(0, MS(3_000)), 3_072_000);
    }
}
