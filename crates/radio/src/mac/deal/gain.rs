//! Test of the gain by proportional fair scheduling on a fading channel.

use std::sync::Arc;

use nodeb_base::rng::Streams;
use nodeb_base::units::Duration;

use super::*;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::Profile;
use crate::cell::selective::{Response, Selective};
use crate::mac::band::{Band, MAX_GROUPS};
use crate::mac::sched::SchedulerParams;
use crate::mac::sched::proportional_fair::ProportionalFair;

/// If n users have independent exponentially distributed rates, the highest of these rates has 1 +
/// 1/2 + ... + 1/n times the mean. Proportional fair reaches this gain on every group, and gives
/// each user 1/n of the time.
#[test]
fn proportional_fair_has_the_gain_of_the_largest_of_n() {
    const TTIS: u64 = 6_000;
    for users in [1usize, 2, 4, 8] {
        let streams = Streams::new(7, users as u64);
        let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
        let band = Band::new(25, 2, 180e3);
        let response = Arc::new(Response::new(&Profile::ExtendedTypicalUrban.delays(&[]), &band));
        // At 120 km/h and 2 GHz, channel values every 25 ms are nearly independent.
        let mut channels: Vec<_> = (0..users as u64)
            .map(|id| Selective::new(response.clone(), 0.222, ("user", id), &streams))
            .collect();
        let mut scheduler = ProportionalFair::default().build(users, Duration::from_millis(1));
        let mut dealer = Dealer::default();
        let candidates: Vec<_> = (0..users).map(|user| Candidate::at_rate(user, 1)).collect();
        let (mut rates, waiting) = (vec![[0.0; MAX_GROUPS]; users], vec![f32::MAX; users]);
        let (mut sums, mut turns) = ([0.0; MAX_GROUPS], vec![[0.0; MAX_GROUPS]; users]);
        for tti in 0..TTIS {
            for (channel, rates) in channels.iter_mut().zip(&mut rates) {
                channel.gains(&sequence, 25 * tti, rates);
                for rate in rates {
                    *rate *= 1_000.0;
                }
            }
            let offers = Offers { x: &rates, rates: &rates, waiting: &waiting };
            for part in dealer
                .deal(
                    tti,
                    scheduler.as_mut(),
                    &candidates,
                    offers,
                    Room { groups: band.all(), grants: users },
                )
                .to_vec()
            {
                for group in part.groups {
                    sums[group] += f64::from(rates[part.user][group]) / 1_000.0;
                    turns[part.user][group] += 1.0;
                }
                scheduler.served(
                    tti,
                    part.user,
                    part.groups.into_iter().map(|group| rates[part.user][group]).sum::<f32>() as u32,
                );
            }
        }
        let expected: f64 = (1..=users).map(|k| 1.0 / k as f64).sum();
        for group in band.all() {
            let gain = sums[group] / TTIS as f64;
            assert!(
                (gain / expected - 1.0).abs() < 0.06,
                "{users} users, group {group}: {gain}, not {expected}"
            );
            for (user, turns) in turns.iter().enumerate() {
                let share = turns[group] / TTIS as f64;
                assert!((share - 1.0 / users as f64).abs() < 0.035, "user {user} of {users}: {share}");
            }
        }
        let mean = band.all().into_iter().map(|group| sums[group]).sum::<f64>() / (TTIS * 13) as f64;
        assert!((mean / expected - 1.0).abs() < 0.025, "{users} users: {mean}, not {expected}");
    }
}
