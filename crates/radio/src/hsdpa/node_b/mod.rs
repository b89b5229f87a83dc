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
use slot::Slots;
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
        Self { params: params.clone(), slots: Slots::new(&users), users, sequence }
    }

    /// Something has happened to a user.
    pub fn renew(&mut self, user: usize) {
        self.slots.renew(user, &self.users[user]);
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
