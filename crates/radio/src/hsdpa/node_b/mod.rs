//! The Node B: MAC-hs with its users, and the channels to them.

pub mod block;
pub mod candidates;
pub mod slot;
pub mod user;

use super::Hsdpa;
use super::adaptation::Limits;
use super::rnc::iub::Endpoints;
use crate::UserRadio;
use crate::cell::doppler::JakesSequence;
use crate::rng::Streams;
use crate::units::Time;
use slot::{Ceiling, Slots};
#[cfg(test)]
use user::Grant;
use user::User;

/// The Node Bs of all served cells with their users.
#[derive(Debug)]
pub struct NodeB {
    pub params: Hsdpa,
    pub users: Vec<User>,
    /// What is remembered of each.
    pub slots: Slots,
    pub sequence: JakesSequence,
}

impl NodeB {
    /// With empty queues.
    pub fn new(params: &Hsdpa, users: &[UserRadio], streams: Streams) -> Self {
        let sequence = if users.iter().any(|user| user.ue.channel.fades()) {
            JakesSequence::new(&mut streams.stream("cell", 0, "fading"))
        } else {
            JakesSequence::silent()
        };
        let mut tables = Vec::new();
        let users: Vec<_> = users.iter().map(|user| User::new(params, user, streams, &mut tables)).collect();
        Self { params: params.clone(), slots: Slots::new(&users, params.served()), users, sequence }
    }

    /// Something has happened to a user.
    pub fn renew(&mut self, user: usize) {
        self.slots.renew(user, &self.users[user]);
    }

    /// Returns the user with the highest score among those who wait in a cell and can be sent something in TTI
    /// number `tti`; of equals the one with the lowest `turn`, and then the first. Scores must not fall with units
    /// or quality.
    ///
    /// Most users would not come first even with the highest samples that their paths may meet in the next
    /// TTIs, so they are not looked at; the fewer are, the better the first is: `likely`.
    pub fn find_best(
        &mut self,
        tti: u64,
        cell: usize,
        likely: usize,
        score: impl Fn(usize, (u32, f32)) -> f64,
        turn: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let limits = self.limits();
        let Self { users, slots: Slots { waiting, ceilings, kept, .. }, sequence, .. } = self;
        let mut best = (f64::NEG_INFINITY, (u64::MAX, usize::MAX));
        for user in waiting[cell].turn_from(likely) {
            let ceiling = &mut ceilings[user];
            if ceiling.score < best.0 && ceiling.until > tti {
                continue;
            }
            let beats = |score: f64, best: (f64, (u64, usize))| {
                score > best.0 || score >= best.0 && (turn(user), user) < best.1
            };
            if ceiling.until <= tti {
                *ceiling = match users[user].peak(tti, limits, sequence) {
                    Some((peak, until)) => Ceiling { score: score(user, peak), until },
                    None => Ceiling::NONE,
                };
            }
            #[cfg(test)]
            if let Some(Grant { units, quality, .. }) = users[user].grant(tti, limits, sequence) {
                assert!(score(user, (units, quality)) <= ceiling.score, "above the ceiling in TTI {tti}");
            }
            if beats(ceiling.score, best) {
                let found = users[user].look(tti, limits, sequence, &mut kept[user]);
                #[cfg(test)]
                users[user].assert_remembered(tti, limits, sequence, found);
                let score = score(user, found);
                if found.0 > 0 && beats(score, best) {
                    best = (score, (turn(user), user));
                }
            }
        }
        (best.1.1 < usize::MAX).then_some(best.1.1)
    }

    /// What a user may have whom nobody has left less.
    pub fn limits(&self) -> Limits {
        Limits { codes: self.params.codes.get(), sharers: 1, units: 0 }
    }
}

impl Endpoints for NodeB {
    fn take(&mut self, now: Time, user: usize, most: u64) -> u64 {
        self.users[user].packets.take(now, most)
    }

    fn put(&mut self, user: usize, units: u64) {
        self.users[user].enqueue(units);
        self.renew(user);
    }
}
