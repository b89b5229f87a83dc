//! A scheduler made for TCP: proportional fair in whole packets, none of which waits for a timeout.
//!
//! TCP's clock ticks with whole packets. Users served TTI by TTI in turns all get their packets at the
//! end of a long round; served packet by packet they get the same share, and the first half of them
//! much earlier, so that windows open sooner and queues stay shorter. And a packet that waits as
//! long as the smallest retransmission timeout costs TCP its whole window. The score is
//!
//! ```text
//! rate / mean rate * (1 + (wait / patience)^2) / TTIs that the packet still takes at this rate
//! ```
//!
//! whose first factor is proportional fair, and whose last makes it finish what it has begun, as
//! long as the channel lasts. It asks for nothing that a Node B does not know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::proportional_fair::{self, ProportionalFair};
use super::{Candidate, Scheduler, View, best_by};
use crate::check::{Check, Checked};
use crate::units::Duration;

/// Parameters of the scheduler made for TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TcpAware {
    /// Time constant of the mean rate.
    pub window: Duration,
    /// Waiting time at which a packet counts double. The default is the smallest retransmission timeout
    /// that is common.
    pub patience: Duration,
}

impl Default for TcpAware {
    fn default() -> Self {
        Self { window: ProportionalFair::default().window, patience: Duration::from_millis(200) }
    }
}

impl Checked for TcpAware {
    fn check(&self, check: &mut Check) {
        ProportionalFair { window: self.window }.check(check);
        check.require(self.patience.0 > 0, "patience", || {
            "without patience every packet is urgent; expected more than 0 s".to_owned()
        });
    }
}

/// Proportional fair, and what it is weighted with.
#[derive(Debug)]
pub struct Policy {
    fair: proportional_fair::Policy,
    patience_ttis: f64,
}

impl Policy {
    /// A policy under which all users have the same small mean rate.
    pub fn new(params: &TcpAware, users: usize, tti: Duration) -> Self {
        let fair = ProportionalFair { window: params.window };
        Self {
            fair: proportional_fair::Policy::new(&fair, users, tti),
            patience_ttis: params.patience.0 as f64 / tti.0 as f64,
        }
    }
}

impl Scheduler for Policy {
    fn view(&self) -> View {
        View { rate: true, quality: false, packet: true }
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        self.fair.age(tti);
        best_by(candidates, |candidate| {
            let waits = tti.saturating_sub(candidate.since) as f64 / self.patience_ttis;
            let takes = candidate.head.div_ceil(u64::from(candidate.rate).max(1)).max(1) as f64;
            self.fair.ratio(candidate) * (1.0 + waits * waits) / takes
        })
    }

    fn served(&mut self, tti: u64, user: usize, units: u32) {
        self.fair.served(tti, user, units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four users with packets of four TTIs each, all alike: each packet is finished before the next
    /// is begun, and each user has its turn.
    #[test]
    fn packets_are_finished_in_one_go() {
        let mut policy = Policy::new(&TcpAware::default(), 4, Duration::from_millis(2));
        // After a while in which everybody got the same.
        (0..4_000u64).for_each(|tti| policy.served(tti, tti as usize % 4, 10));
        let mut left = [4u64; 4];
        let order: Vec<usize> = (4_000..4_016)
            .map(|tti| {
                let waiting = (0..4).filter(|user| left[*user] > 0);
                let candidates: Vec<_> = waiting
                    .map(|user| Candidate {
                        since: tti,
                        head: left[user] * 10,
                        ..Candidate::at_rate(user, 10)
                    })
                    .collect();
                let user = candidates[policy.pick(tti, &candidates)].user;
                policy.served(tti, user, 10);
                left[user] -= 1;
                user
            })
            .collect();
        let mut runs = order.clone();
        runs.dedup();
        assert_eq!(runs.len(), 4, "{order:?}");
    }

    #[test]
    fn who_has_waited_long_comes_first() {
        let mut policy = Policy::new(&TcpAware::default(), 2, Duration::from_millis(2));
        (0..2).for_each(|user| policy.served(user as u64, user, 10));
        let candidates =
            [(0, 990), (1, 700)].map(|(user, since)| Candidate { since, ..Candidate::at_rate(user, 10) });
        assert_eq!(policy.pick(1_000, &candidates), 1);
    }
}
