//! Through a real host: what made it send is not told but inferred, with the time that it took.

use nodeb_base::event::Place;

use super::{Next, Walk};
use crate::real::{Origin, Round};
use crate::timeline::{Basis, Group};

impl Walk<'_> {
    /// What made a real host send a packet; `None` of simulated ones.
    pub(super) fn origin(&self, packet: u32) -> Option<Origin> {
        self.timeline.origins.as_ref()?.get(packet as usize).copied()
    }

    /// Whether the packets are real: then others of the same phone, which are not the connection's, may be in the way.
    pub(super) fn is_real(&self) -> bool {
        self.timeline.origins.is_some()
    }

    /// Back through a host to what its packet had waited for.
    pub(super) fn sent_by_host(&mut self, origin: Origin, end: Place) -> Next {
        match origin.round {
            Round::Same => {}
            Round::For(cause) => self.round = Some(cause),
            Round::Over => self.round = None,
        }
        let Origin { basis, cause, step, .. } = origin;
        match basis {
            Basis::Sent(packet) => {
                self.to(self.packet_at(packet).at, cause, step, end);
                Next::Sent(packet)
            }
            Basis::Received(packet) => {
                self.to(self.packet_at(packet).over().unwrap_or(self.floor), cause, step, end);
                self.way_of(packet)
            }
            Basis::Acted(_) | Basis::Unknown => Next::Over,
        }
    }

    /// Whether a TTI of the phone's has nothing of the connection.
    pub(super) fn is_of_others(&self, group: &Group) -> bool {
        let air = &self.timeline.air;
        self.is_real() && air.blocks_of(group).all(|block| air.parts_of(&block).next().is_none())
    }
}
