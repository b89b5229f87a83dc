//! Detector of a token-bucket policer. Two consecutive intervals with much loss and about the same
//! delivery rate reveal a policer. Their rate then replaces the largest bandwidth (Linux 6.x:
//! `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`).

use nodeb_base::units::Time;

/// Minimum length of an interval of detection in rounds (`bbr_lt_intvl_min_rtts`).
const MIN_ROUNDS: u32 = 4;
/// Maximum length of an interval of detection in rounds; a longer one is discarded.
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Smallest ratio of lost to delivered data with which an interval counts as policed.
const LOSSY: f64 = 50.0 / 256.0;
/// Largest difference of two rates that count as equal, relative to the first of them.
const SAME_SHARE: f64 = 1.0 / 8.0;
/// Difference of two rates in bytes per second up to which they count as equal in any case.
const SAME_RATE: f64 = 500.0;
/// Number of rounds for which the policer's rate is used before detection restarts.
const USED_ROUNDS: u32 = 48;

/// State of the connection at an ACK or a timeout, which the detector evaluates.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Observation {
    /// Time at which the last data was delivered.
    pub delivered_at: Time,
    /// Number of bytes delivered since the start of the connection.
    pub delivered: u64,
    /// Number of bytes lost since the start of the connection.
    pub lost: u64,
    /// Whether this ACK or timeout has marked data as lost.
    pub loses: bool,
    /// Whether this ACK starts a round.
    pub round: bool,
    /// Whether the application, and not the network, limits the sender.
    pub app_limited: bool,
    /// Whether BBR is in the state `ProbeBW`. BBR stops using the policer's rate after
    /// `USED_ROUNDS` rounds in this state.
    pub probing: bool,
}

/// Start of the present interval: the time and the numbers of bytes delivered and lost until then.
#[derive(Clone, Copy, Debug)]
struct Interval {
    since: Time,
    delivered: u64,
    lost: u64,
}

/// Detector of a token-bucket policer on the path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    interval: Option<Interval>,
    /// Number of rounds since the present interval began. While the policer's rate is used, the
    /// number of rounds in `ProbeBW` since this use began.
    rounds: u32,
    /// Delivery rate of the previous interval in bytes per second, or the policer's rate while it
    /// is used.
    last: Option<f64>,
    used: bool,
}

impl Policer {
    /// Returns the policer's rate in bytes per second while this rate is used, otherwise `None`.
    pub fn rate(&self) -> Option<f64> {
        self.last.filter(|_| self.used)
    }

    /// Processes an observation. Returns true if this ends the use of a policer's rate.
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

    /// Ends the present interval if it had much loss, otherwise lets it continue. If the rate
    /// differs from that of the previous interval by at most `SAME_SHARE` or `SAME_RATE`, a
    /// policer is detected and the mean of both rates is used.
    fn end(&mut self, seen: &Observation) {
        let Some(interval) = self.interval else {
            return;
        };
        let delivered = (seen.delivered - interval.delivered) as f64;
        let lost = (seen.lost - interval.lost) as f64;
        // Linux truncates both times to milliseconds, so they are truncated here as well.
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

    /// Simulates `count` rounds of 100 ms, in each of which `per_round` bytes are delivered and
    /// `share * per_round` bytes are lost. Returns true if the use of a policer's rate ended.
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

    /// By `bbr_lt_bw_interval_done` the policer's rate is the mean rate of two intervals of at
    /// least 4 rounds. In each interval the lost bytes must be at least 50/256 (about 20 %) of the
    /// delivered bytes, and the rates may differ by an eighth.
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

    /// By `bbr_lt_bw_sampling` the detection restarts after the policer's rate was used for 48
    /// rounds.
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
