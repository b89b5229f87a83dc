//! A scheduler made for TCP: proportional fair, with a head start for who begins.
//!
//! A TTI is not worth the same to every TCP connection. One that has just begun, or sends again after
//! a pause, waits for its few packets to be acknowledged before it sends more (slow start): a TTI given
//! to it at once saves a round trip of waiting. One that has been sending for long has a window's
//! worth of packets in its queue, and whether a TTI comes now or later changes nothing for it. So a
//! user's claim falls with the air time it has had since it was last silent:
//!
//! ```text
//! rate / mean rate * (1 + head start / air time of this burst)
//! ```
//!
//! The first factor is proportional fair and all that remains for long transfers, whose share is then
//! the same; the second is least attained service first (Rai, Urvoy-Keller & Biersack, SIGMETRICS
//! 2003), joined with the channel as by Aalto & Lassila (Performance 2010), up to the head start. It
//! asks for nothing that a Node B does not know: no look into headers, no sizes announced.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::proportional_fair::{self, ProportionalFair};
use super::{Candidate, Scheduler, SchedulerParams, View, best_by};

params! {
    /// Parameters of the scheduler made for TCP.
    pub struct TcpAware {
        /// Time constant of the mean rate.
        pub window: Duration = ProportionalFair::default().window,
        /// Air time in a burst at which a user's claim is twice that of proportional fair.
        pub head_start: Duration = Duration::from_millis(100),
        /// Silence after which a user begins a new burst: longer than a round trip, as windows of slow start
        /// come one round trip after the other.
        pub pause: Duration = Duration::from_secs(1),
    }
}

impl Checked for TcpAware {
    fn check(&self, check: &mut Check) {
        ProportionalFair { window: self.window }.check(check);
        check.at_most("head_start", self.head_start, Duration::from_secs(1_000));
    }
}

/// A user's burst: TTIs that it has had, and the last TTI in which it had something to send.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    ttis: u64,
    seen: u64,
}

impl SchedulerParams for TcpAware {
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler> {
        Box::new(TcpAwareScheduler::new(self, users, tti))
    }
}

/// Proportional fair, and what it is weighted with.
#[derive(Debug)]
pub struct TcpAwareScheduler {
    fair: proportional_fair::ProportionalFairScheduler,
    head_start_ttis: f64,
    pause_ttis: u64,
    bursts: Vec<Burst>,
}

impl TcpAwareScheduler {
    /// A scheduler under which all users have the same small mean rate and begin.
    pub fn new(params: &TcpAware, users: usize, tti: Duration) -> Self {
        let fair = ProportionalFair { window: params.window };
        Self {
            fair: proportional_fair::ProportionalFairScheduler::new(&fair, users, tti),
            head_start_ttis: params.head_start.0 as f64 / tti.0 as f64,
            pause_ttis: params.pause.0 / tti.0,
            bursts: vec![Burst::default(); users],
        }
    }
}

impl Scheduler for TcpAwareScheduler {
    fn view(&self) -> View {
        View { rate: true, ..View::default() }
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        self.fair.age(tti);
        for candidate in candidates {
            let burst = &mut self.bursts[candidate.user];
            if tti.saturating_sub(burst.seen) > self.pause_ttis {
                burst.ttis = 0;
            }
            burst.seen = tti;
        }
        best_by(candidates, |candidate| {
            let had = self.bursts[candidate.user].ttis + 1;
            self.fair.ratio(candidate) * (1.0 + self.head_start_ttis / had as f64)
        })
    }

    fn served(&mut self, tti: u64, user: usize, units: u32) {
        self.bursts[user].ttis += 1;
        self.fair.served(tti, user, units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTI: Duration = Duration::from_millis(2);

    /// Serves whoever is picked among `waiting`, all alike, in `ttis`; returns who.
    fn serve(scheduler: &mut TcpAwareScheduler, ttis: std::ops::Range<u64>, waiting: &[usize]) -> Vec<usize> {
        let candidates: Vec<_> = waiting.iter().map(|user| Candidate::at_rate(*user, 10)).collect();
        let pick = |tti| {
            let user = candidates[scheduler.pick(tti, &candidates)].user;
            scheduler.served(tti, user, 10);
            user
        };
        ttis.map(pick).collect()
    }

    #[test]
    fn who_begins_comes_first_and_then_shares() {
        let mut scheduler = TcpAwareScheduler::new(&TcpAware::default(), 3, TTI);
        serve(&mut scheduler, 0..5_000, &[0, 1]);
        let fair = ProportionalFair::default();
        let mut plain = proportional_fair::ProportionalFairScheduler::new(&fair, 3, TTI);
        (0..5_000).for_each(|tti| plain.served(tti, tti as usize % 2, 10));
        // The newcomer is as far behind in the mean rate as under proportional fair, and has its head
        // start besides: it catches up in one go.
        let order = serve(&mut scheduler, 5_000..5_600, &[0, 1, 2]);
        let first = order.iter().take_while(|user| **user == 2).count();
        let candidates = [0, 1, 2].map(|user| Candidate::at_rate(user, 10));
        let of_plain = (5_000..5_600).take_while(|tti| {
            let user = plain.pick(*tti, &candidates);
            plain.served(*tti, user, 10);
            user == 2
        });
        assert!(first > of_plain.count() + 20, "{first}");
        // In the long run all three have the same.
        let later = serve(&mut scheduler, 5_600..20_000, &[0, 1, 2]);
        let counts = [0, 1, 2].map(|user| later[9_000..].iter().filter(|one| **one == user).count());
        assert!(counts.iter().all(|count| count.abs_diff(1_800) < 20), "{counts:?}");
    }

    #[test]
    fn a_burst_ends_with_a_pause() {
        let mut scheduler = TcpAwareScheduler::new(&TcpAware::default(), 2, TTI);
        serve(&mut scheduler, 0..1_000, &[0, 1]);
        assert_eq!(scheduler.bursts[0].ttis, 500);
        serve(&mut scheduler, 1_000..1_400, &[1]);
        serve(&mut scheduler, 1_400..1_401, &[0]);
        assert_eq!(scheduler.bursts[0].ttis, 501, "0.8 s is not yet a pause");
        serve(&mut scheduler, 2_000..2_001, &[0]);
        assert_eq!(scheduler.bursts[0].ttis, 1, "1.2 s is one");
    }
}
