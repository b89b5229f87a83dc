//! Two consecutive intervals with much loss and about the same rate, which then replaces the bandwidth (Linux
//! 6.x: `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`).

use nodeb_base::units::Time;

/// `bbr_lt_intvl_min_rtts`.
const MIN_ROUNDS: u32 = 4;
/// A longer interval is discarded.
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Lost to delivered data.
const LOSSY: f64 = 50.0 / 256.0;
/// Relative to the first of two rates.
const SAME_SHARE: f64 = 1.0 / 8.0;
/// In bytes per second.
const SAME_RATE: f64 = 500.0;
/// Rounds until detection restarts.
const USED_ROUNDS: u32 = 48;

/// At an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Observation {
    pub delivered_at: Time,
    /// In bytes.
    pub delivered: u64,
    /// In bytes.
    pub lost: u64,
    /// It has marked data as lost.
    pub loses: bool,
    /// It starts a round.
    pub round: bool,
    pub app_limited: bool,
    /// `ProbeBW`, in which the policer's rate is used for `USED_ROUNDS`.
    pub probing: bool,
}

/// Start, with bytes delivered and lost until then.
#[derive(Clone, Copy, Debug)]
struct Interval {
    since: Time,
    delivered: u64,
    lost: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    interval: Option<Interval>,
    /// Of the interval or, while the rate is used, in `ProbeBW` since.
    rounds: u32,
    /// In bytes per second, or the policer's rate while used.
    last: Option<f64>,
    used: bool,
}

impl Policer {
    /// In bytes per second, while used.
    pub fn rate(&self) -> Option<f64> {
        self.last.filter(|_| self.used)
    }

    /// True if this ends the use of a rate.
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

    /// Only with much loss; rates within `SAME_SHARE` or `SAME_RATE` are a policer's, whose rate is their
    /// mean.
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

    /// Of 100 ms each; true if the use of a rate ended.
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

    /// `bbr_lt_bw_interval_done`: at least 4 rounds with losses of 50/256 of the delivered bytes, rates
    /// within an eighth.
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

    /// `bbr_lt_bw_sampling`.
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
