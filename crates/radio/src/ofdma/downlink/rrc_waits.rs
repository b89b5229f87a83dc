use nodeb_base::context::Context;
use nodeb_base::event::{Direction, Event, Mask};
use nodeb_base::units::{Duration, Time};

use crate::ofdma::drx::states::DrxStates;
use crate::ofdma::rrc::Connections;

#[derive(Debug)]
pub struct RrcWaits {
    pub connections: Connections,
    tti: Duration,
    /// TTI since which downlink data have waited for a connection.
    since: Vec<Option<u64>>,
}

impl RrcWaits {
    pub fn new(connections: Connections, users: usize, tti: Duration) -> Self {
        Self { connections, tti, since: vec![None; users] }
    }

    /// Promotes an idle phone; with DRX, its inactivity timer starts with the connection.
    pub fn arrive(&mut self, user: usize, direction: Direction, tti: u64, drx: Option<&DrxStates>) {
        let ended = self.connections.ends(user);
        let connected = self.connections.arrive(user, direction, tti);
        if connected <= tti {
            return;
        }
        if direction == Direction::Down {
            self.since[user].get_or_insert(tti);
        }
        if let Some(drx) = drx {
            drx.disconnected(user, ended.min(tti), connected);
            drx.active(user, connected);
        }
    }

    /// First TTI of the last connection, which may still be set up; 0 if there was none.
    pub fn waits(&mut self, user: usize, tti: u64, waits: bool) -> u64 {
        self.connections.waits(user, Direction::Down, tti, waits);
        if !waits {
            self.since[user] = None;
        }
        self.connections.since(user)
    }

    /// Emits the wait for a connection, if any.
    pub fn sent(&mut self, ctx: &mut Context, user: usize) {
        let Some(since) = self.since[user].take() else { return };
        if ctx.wants(Mask::CHANNELS) {
            let [from, until] = [since, self.connections.since(user)].map(|tti| Time(tti * self.tti.0));
            let bearer = ctx.place.index;
            ctx.emit(Event::Promoted { bearer, user: user as u32, from, until });
        }
    }
}
