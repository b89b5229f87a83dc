//! ACKs come in bursts, between which the window must have room (Linux 6.x: `bbr_update_ack_aggregation`,
//! `bbr_ack_aggregation_cwnd`).

use nodeb_base::units::{Duration, Time};

/// Two maxima are collected alternately, which cover the last 5 to 10 rounds.
const ROUNDS: u32 = 5;
/// Time in which the bandwidth delivers the room.
const MAX_ROOM: Duration = Duration::from_millis(100);
/// An epoch ends after so many in any case.
const MAX_SEGMENTS: u64 = 1 << 20;

/// In segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    /// Of the epoch.
    since: Time,
    /// In segments of the epoch.
    acked: u64,
    largest: [u64; 2],
    collecting: usize,
    rounds: u32,
}

impl Aggregation {
    /// A pause of the sender must not count as waiting time.
    pub fn restart(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0);
    }

    /// In segments and segments per second; at most the window.
    pub fn on_ack(&mut self, now: Time, segments: u64, bandwidth: f64, cwnd: u64, round: bool) {
        if round {
            self.begin_round();
        }
        let mut expected = (bandwidth * now.since(self.since).as_secs()) as u64;
        if self.acked <= expected || self.acked + segments >= MAX_SEGMENTS {
            self.restart(now);
            expected = 0;
        }
        self.acked += segments;
        let excess = self.acked.saturating_sub(expected).min(cwnd);
        let largest = &mut self.largest[self.collecting];
        *largest = excess.max(*largest);
    }

    fn begin_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= ROUNDS {
            self.rounds = 0;
            self.collecting = 1 - self.collecting;
            self.largest[self.collecting] = 0;
        }
    }

    /// In segments.
    pub fn room(&self, bandwidth: f64) -> u64 {
        let largest = self.largest[0].max(self.largest[1]);
        largest.min((bandwidth * MAX_ROOM.as_secs()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000);

    /// `bbr_update_ack_aggregation`: segments beyond bandwidth times the epoch, which ends when there are no
    /// more.
    #[test]
    fn excess_is_relative_to_bandwidth() {
        let mut aggregation = Aggregation::default();
        // At 1000 segments per second one segment per ms is expected. An ACK of 8 segments arrives
        // at 10 ms, and an ACK of 3 more at 12 ms.
        aggregation.on_ack(MS(10), 8, 1e3, 100, false);
        assert_eq!(aggregation.room(1e3), 8);
        aggregation.on_ack(MS(12), 3, 1e3, 100, false);
        assert_eq!(aggregation.room(1e3), 9);
        // At 30 ms only 11 segments have arrived instead of 20, so the epoch that began at 10 ms
        // ends and a new one starts.
        aggregation.on_ack(MS(30), 2, 1e3, 100, false);
        assert_eq!(aggregation.room(1e3), 9);
        aggregation.on_ack(MS(31), 30, 1e3, 12, false);
        assert_eq!(aggregation.room(1e3), 12, "the window is the most");
    }

    /// `bbr_ack_aggregation_cwnd`.
    #[test]
    fn room_is_at_most_100_ms_of_bandwidth() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(MS(10), 50, 100.0, 100, false);
        assert_eq!(aggregation.room(100.0), 10);
    }

    /// Two maxima are replaced alternately, one every 5 rounds.
    #[test]
    fn excess_expires_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(MS(10), 20, 1e3, 100, true);
        let mut remembered = 0;
        for round in 1..20 {
            aggregation.on_ack(MS(10 + 100 * round), 1, 1e3, 100, true);
            remembered += u64::from(aggregation.room(1e3) == 20);
        }
        assert!((5..=10).contains(&remembered), "{remembered}");
        assert_eq!(aggregation.room(1e3), 1);
    }
}
