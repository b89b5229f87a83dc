//! A scheduler plug-in: it serves the user with the earliest deadline among the users whose rate is at least a given
//! share of the best rate.

use nodeb_air::mac::sched::{Candidate, Scheduler, SchedulerParams, View};
use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

params! {
    /// Parameters of the scheduler `urgent`.
    pub struct Urgent {
        /// Share of the best rate that a user must reach to be chosen, 0 to 1.
        pub share: f64 = 0.5,
    }
}

impl Checked for Urgent {
    fn check(&self, check: &mut Check) {
        check.require((0.0..=1.0).contains(&self.share), "share", || {
            format!("{} is no share of a rate; expected 0 to 1", self.share)
        });
    }
}

impl SchedulerParams for Urgent {
    fn build(&self, users: usize, _tti: Duration) -> Box<dyn Scheduler> {
        Box::new(UrgentScheduler { share: self.share, last_served: vec![None; users] })
    }
}

/// State of the scheduler. Of users with equal deadlines, the one that was served least recently is chosen.
#[derive(Debug)]
struct UrgentScheduler {
    share: f64,
    last_served: Vec<Option<u64>>,
}

impl Scheduler for UrgentScheduler {
    fn view(&self) -> View {
        View { rate: true, deadline: true, ..View::default() }
    }

    fn pick(&mut self, _tti: u64, candidates: &[Candidate]) -> usize {
        let best = candidates.iter().map(|candidate| candidate.rate).max().unwrap_or(0);
        let good =
            |(_, candidate): &(usize, &Candidate)| f64::from(candidate.rate) >= self.share * f64::from(best);
        let urgency =
            |(_, candidate): &(usize, &Candidate)| (candidate.deadline, self.last_served[candidate.user]);
        candidates.iter().enumerate().filter(good).min_by_key(urgency).map_or(0, |(i, _)| i)
    }

    fn served(&mut self, tti: u64, user: usize, _units: u32) {
        self.last_served[user] = Some(tti);
    }
}
