//! Linux 6, `kernel/time/timer.c`: 250 jiffies per second, here from the start of the run. A timer may expire
//! late, never early: the wheel has a resolution of 1 jiffy below 63 jiffies, 8 below 504, and so on; a
//! timeout of 1 s expires up to 32 ms late.

use nodeb_base::units::{Duration, Time};

/// As most distributions configure the kernel.
pub const HZ: u64 = 250;
/// 4 ms.
pub const JIFFY: Duration = Duration(1_000_000_000 / HZ);

/// `LVL_SIZE`.
const SLOTS: u64 = 64;
/// `LVL_CLK_SHIFT`.
const COARSER: u32 = 3;
/// `LVL_DEPTH`.
const LEVELS: u32 = 9;

/// Whole, from the start of the run.
pub fn at(now: Time) -> u64 {
    now.0 / JIFFY.0
}

/// `usecs_to_jiffies`: rounded up.
pub fn in_duration(wait: Duration) -> u64 {
    wait.0.div_ceil(JIFFY.0)
}

/// Rounded up.
pub fn whole(wait: Duration) -> Duration {
    Duration(in_duration(wait) * JIFFY.0)
}

/// `calc_wheel_index`, `calc_index`: rounded up.
pub fn expiry(now: Time, wait: Duration) -> Time {
    let jiffies = in_duration(wait);
    // This is the first level whose range of 63 slots covers the wait.
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
    fn wheel_level_is_first_that_covers_wait() {
        let first = |jiffies: u64| (0..LEVELS).find(|level| jiffies < (SLOTS - 1) << (COARSER * level));
        let edges = (0..LEVELS).map(|level| (SLOTS - 1) << (COARSER * level));
        for jiffies in edges.flat_map(|edge| [edge - 1, edge, edge + 1]).chain(0..600) {
            let shift = COARSER * first(jiffies).unwrap_or(LEVELS - 1);
            let expected = Time(((((7 + jiffies) >> shift) + 1) << shift) * JIFFY.0);
            assert_eq!(expiry(Time(7 * JIFFY.0), Duration(jiffies * JIFFY.0)), expected, "{jiffies}");
        }
    }

    #[test]
    fn timers_expire_late_and_never_early() {
        // By `calc_index` a timer expires in the slot after the one that contains the requested
        // jiffy.
        let run = |now_us: u64, wait| expiry(Time(now_us * 1_000), wait).0 / 1_000;
        assert_eq!(run(0, MS(40)), 44_000);
        assert_eq!(run(3_999, MS(40)), 44_000);
        assert_eq!(run(4_000, MS(41)), 52_000);
        // A wait of more than 248 ms has at least 63 jiffies. Such timers are on the second level,
        // whose slots are 32 ms apart.
        assert_eq!(run(0, MS(248)), 252_000);
        assert_eq!(run(0, MS(249)), 256_000);
        assert_eq!(run(8_000, MS(1_000)), 1_024_000);
        assert_eq!(run(0, MS(3_000)), 3_072_000);
    }
}
