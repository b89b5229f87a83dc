//! Detection of a token-bucket policer: two consecutive intervals with much loss at the same rate. That rate
//! then replaces the largest bandwidth (Linux 6.x: `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`).

use nodeb_base::units::Time;

/// Minimum and maximum number of rounds of an interval.
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Ratio of lost to delivered data from which an interval counts as policed.
const LOSSY: f64 = 50.0 / 256.0;
/// Largest difference of two equal rates: as a share of the first, or in bytes per second.
const SAME_SHARE: f64 = 1.0 / 8.0;
const SAME_RATE: f64 = 500.0;
/// Number of rounds for which the policer's rate is used.
const USED_ROUNDS: u32 = 48;

/// Input at an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Observation {
    /// Time of the last delivery.
    pub delivered_at: Time,
    /// Bytes delivered and lost so far.
    pub delivered: u64,
    pub lost: u64,
    /// Whether data was newly marked lost.
    pub loses: bool,
    /// Whether a round starts.
    pub round: bool,
    /// Whether the application limits the sender.
    pub app_limited: bool,
    /// Whether the state is `ProbeBW`; only there are the rounds of use counted.
    pub probing: bool,
}

/// Present interval: values at its start.
#[derive(Clone, Copy, Debug)]
struct Interval {
    since: Time,
    delivered: u64,
    lost: u64,
}

/// Detector of a policer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    interval: Option<Interval>,
    /// Rounds of the interval, or of the use of the rate.
    rounds: u32,
    /// Rate of the previous interval in bytes per second.
    last: Option<f64>,
    used: bool,
}

impl Policer {
    /// Returns the policer's rate in bytes per second while it is used.
    pub fn rate(&self) -> Option<f64> {
        self.last.filter(|_| self.used)
    }

    /// Processes an observation. Returns true if the use of the policer's rate ends with it.
    pub fn observe(&mut self, seen: &Observation) -> bool {
        if self.used {
            return self.count_use(seen);
        }
        if self.interval.is_none() {
            if !seen.loses {
                return false;
            }
            self.begin(seen);
        }
        self.rounds += u32::from(seen.round);
        if seen.app_limited || self.rounds > MAX_ROUNDS {
            *self = Self::default();
        } else if self.rounds >= MIN_ROUNDS && seen.loses {
            self.end(seen);
        }
        false
    }

    fn count_use(&mut self, seen: &Observation) -> bool {
        self.rounds += u32::from(seen.round && seen.probing);
        let over = self.rounds >= USED_ROUNDS;
        if over {
            *self = Self::default();
        }
        over
    }

    fn begin(&mut self, seen: &Observation) {
        let Observation { delivered_at: since, delivered, lost, .. } = *seen;
        self.interval = Some(Interval { since, delivered, lost });
        self.rounds = 0;
    }

    /// Ends an interval. If it had much loss, at the same rate as the previous one, there is a policer.
    fn end(&mut self, seen: &Observation) {
        let Some(interval) = self.interval else {
            return;
        };
        let delivered = (seen.delivered - interval.delivered) as f64;
        let lost = (seen.lost - interval.lost) as f64;
        // Both times are truncated to milliseconds.
        let lasted = seen.delivered_at.0 / 1_000_000 - interval.since.0 / 1_000_000;
        if delivered == 0.0 || lost < LOSSY * delivered || lasted == 0 {
            return;
        }
        let rate = delivered * 1e3 / lasted as f64;
        if let Some(last) = self.last
            && ((rate - last).abs() <= SAME_SHARE * last || (rate - last).abs() <= SAME_RATE)
        {
            self.last = Some(f64::midpoint(rate, last));
            (self.used, self.rounds) = (true, 0);
        } else {
            self.last = Some(rate);
            self.begin(seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates rounds of 100 ms in which `per_round` bytes are delivered and `share` times as many are
    /// lost.
    fn rounds(policer: &mut Policer, from: u64, count: u64, per_round: u64, share: f64) -> bool {
        (from..from + count).any(|round| {
            policer.observe(&Observation {
                delivered_at: Time(round * 100_000_000),
                delivered: round * per_round,
                lost: (round as f64 * per_round as f64 * share) as u64,
                loses: share > 0.0,
                round: true,
                app_limited: false,
                probing: true,
            })
        })
    }

    /// `bbr_lt_bw_interval_done`: the rate is the mean of two intervals of at least 4 rounds, each with a
    /// loss of 20 % or more, whose rates differ by at most an eighth.
    #[test]
    fn two_lossy_intervals_with_same_rate_are_a_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 6, 10_000, 0.25);
        assert_eq!(policer.rate(), None);
        rounds(&mut policer, 7, 6, 10_000, 0.25);
        assert!((policer.rate().unwrap() - 100_000.0).abs() < 1.0, "{policer:?}");
    }

    #[test]
    fn little_loss_is_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 200, 10_000, 0.15);
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn other_rates_are_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 5, 10_000, 0.25);
        rounds(&mut policer, 6, 5, 20_000, 0.25);
        assert_eq!(policer.rate(), None);
    }

    /// `bbr_lt_bw_sampling`: after 48 rounds of use the detection restarts.
    #[test]
    fn policer_rate_is_used_for_48_rounds() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 12, 10_000, 0.25);
        assert!(policer.rate().is_some());
        assert!(!rounds(&mut policer, 13, 43, 10_000, 0.0));
        assert!(rounds(&mut policer, 56, 10, 10_000, 0.0));
        assert_eq!(policer.rate(), None);
    }
}
