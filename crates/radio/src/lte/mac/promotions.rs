//! Waits of downlink data for the connections of idle phones.

use nodeb_base::context::Context;
use nodeb_base::event::{Direction, Event, Mask};
use nodeb_base::units::Time;

use super::super::reports::TTI;
use super::super::rrc::Rrc;
use super::super::rrc::connections::Connections;
use super::sleep::Sleepers;
use crate::UserRadio;

/// RRC connections of all phones, and the waits of downlink data for a connection.
#[derive(Debug)]
pub struct Promotions {
    pub connections: Connections,
    /// For each user, the subframe since which downlink data have waited for a connection; `None` if no data wait for
    /// one.
    since: Vec<Option<u64>>,
}

impl Promotions {
    /// Creates the RRC states of `users`, whose phones are all idle.
    pub fn new(rrc: &Rrc, users: &[UserRadio]) -> Self {
        Self { connections: Connections::new(rrc, users), since: vec![None; users.len()] }
    }

    /// Records the arrival of a packet to or from a user, which can be sent from subframe `tti` on. Promotes the phone
    /// if it is idle. With DRX, starts the phone's inactivity timer at the start of the new connection.
    pub fn arrive(&mut self, user: usize, direction: Direction, tti: u64, sleepers: Option<&Sleepers>) {
        let ended = self.connections.ends(user);
        let connected = self.connections.arrive(user, direction, tti);
        if connected <= tti {
            return;
        }
        if direction == Direction::Down {
            self.since[user].get_or_insert(tti);
        }
        if let Some(sleepers) = sleepers {
            sleepers.disconnected(user, ended.min(tti), connected);
            sleepers.active(user, connected);
        }
    }

    /// Records whether data for a user wait or are being transmitted in subframe `tti`. Returns the first
    /// subframe of the user's last connection, which may still be set up; 0 if there was none.
    pub fn waits(&mut self, user: usize, tti: u64, waits: bool) -> u64 {
        self.connections.waits(user, Direction::Down, tti, waits);
        if !waits {
            self.since[user] = None;
        }
        self.connections.since(user)
    }

    /// Emits an event with the wait of a user's data for a connection, which ended with the connection's
    /// first subframe. Called when the user is sent a block. Has no effect if no data waited.
    pub fn sent(&mut self, ctx: &mut Context, user: usize) {
        let Some(since) = self.since[user].take() else { return };
        if ctx.wants(Mask::CHANNELS) {
            let [from, until] = [since, self.connections.since(user)].map(|tti| Time(tti * TTI.0));
            let bearer = ctx.place.index;
            ctx.emit(Event::Promoted { bearer, user: user as u32, from, until });
        }
    }
}
