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

const TTIS: u64 = 6_000;

/// 5 MHz (TS 36.213, 7.1.6.1).
const GROUPS: usize = 13;

struct Gain {
    /// By group, relative to that of a user alone.
    rates: [f64; GROUPS],
    /// Of the TTIs, by user and group.
    shares: Vec<[f64; GROUPS]>,
}

/// Independent exponential rates that are `age` TTIs old; successive TTIs are 25 ms of the channel apart.
fn measure(users: usize, age: u64) -> Gain {
    let streams = Streams::new(7, users as u64);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let band = Band::new(25, 2, 180e3);
    let response = Arc::new(Response::new(&Profile::ExtendedTypicalUrban.delays(&[]), &band));
    // At 120 km/h and 2 GHz, channel values every 25 ms are nearly independent.
    let channel = |id| Selective::new(response.clone(), 0.222, ("user", id), &streams);
    let mut channels: Vec<_> = (0..users as u64).map(channel).collect();
    let mut rates_at = |tti: u64| {
        let mut rates = vec![[0.0; MAX_GROUPS]; users];
        for (channel, rates) in channels.iter_mut().zip(&mut rates) {
            channel.gains(&sequence, 25 * tti, rates);
            for rate in rates {
                *rate *= 1_000.0;
            }
        }
        rates
    };
    let mut scheduler = ProportionalFair::default().build(users, Duration::from_millis(1));
    let mut allocator = GroupAllocator::default();
    let candidates: Vec<_> = (0..users).map(|user| Candidate::at_rate(user, 1)).collect();
    let waiting = vec![f32::MAX; users];
    let mut gain = Gain { rates: [0.0; GROUPS], shares: vec![[0.0; GROUPS]; users] };
    for tti in 0..TTIS {
        let [known, rates] = [tti, tti + age].map(&mut rates_at);
        let offers = Offers {
            x: &known,
            spans: &spans_of(&known),
            rates: &known,
            sizes: &ALL_ONE,
            yields: &ALL_ONE,
            waiting: &waiting,
        };
        let room = Room { groups: band.all(), grants: users };
        for part in allocator.allocate(tti, scheduler.as_mut(), &candidates, offers, room) {
            let mut served = 0.0;
            for group in part.groups {
                served += rates[part.user][group];
                gain.rates[group] += f64::from(rates[part.user][group]) / 1_000.0 / TTIS as f64;
                gain.shares[part.user][group] += 1.0 / TTIS as f64;
            }
            scheduler.served(tti, part.user, served as u32);
        }
    }
    gain
}

// Tests the feature: schedulers on groups of resource blocks (closed form)
/// The highest of n independent exponential rates has 1 + 1/2 + ... + 1/n times the mean.
#[test]
fn proportional_fair_has_the_gain_of_the_largest_of_n() {
    for users in [1usize, 2, 4, 8] {
        let Gain { rates, shares } = measure(users, 0);
        let expected: f64 = (1..=users).map(|k| 1.0 / k as f64).sum();
        for (group, gain) in rates.into_iter().enumerate() {
            assert!(
                (gain / expected - 1.0).abs() < 0.06,
                "{users} users, group {group}: {gain}, not {expected}"
            );
            for (user, shares) in shares.iter().enumerate() {
                let share = shares[group];
                assert!((share - 1.0 / users as f64).abs() < 0.035, "user {user} of {users}: {share}");
            }
        }
        let mean = rates.iter().sum::<f64>() / GROUPS as f64;
        assert!((mean / expected - 1.0).abs() < 0.025, "{users} users: {mean}, not {expected}");
    }
}

// Tests the feature: CQI reports (closed form)
/// Reports are older than the coherence time.
#[test]
fn proportional_fair_has_no_gain_by_old_reports() {
    for users in [2, 8] {
        let Gain { rates, .. } = measure(users, 40);
        let mean = rates.iter().sum::<f64>() / GROUPS as f64;
        assert!((mean - 1.0).abs() < 0.025, "{users} users: {mean}");
    }
}
