//! Search for the critical path through real hosts. The reasons why a host sent its packets are
//! inferred from a recording.

use nodeb_base::event::Place;

use super::{Next, Walk};
use crate::real::{Origin, Round};
use crate::timeline::{Basis, Group};

impl Walk<'_> {
    /// Returns the inferred origin of a real host's packet, or `None` if hosts are simulated.
    pub(super) fn origin(&self, packet: u32) -> Option<Origin> {
        self.timeline.origins.as_ref()?.get(packet as usize).copied()
    }

    /// Returns true if the phone may have other connections, whose packets can be ahead of those of the
    /// explained one: if hosts are real, or the phone has several connections in the scenario.
    pub(super) fn has_other_connections(&self) -> bool {
        self.timeline.origins.is_some() || self.timeline.shares_phone
    }

    /// Goes back from the transmission of a packet by the host at `end` to the event after which
    /// the host could have sent the packet. Ends the search if this event is unknown.
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
                self.along(packet)
            }
            Basis::Acted(_) | Basis::Unknown => Next::Over,
        }
    }

    /// Returns true if a TTI is assumed to have served other connections of the phone: the phone may have
    /// others, and no block of the TTI carries data of the explained connection.
    pub(super) fn is_of_others(&self, group: &Group) -> bool {
        let air = &self.timeline.air;
        self.has_other_connections()
            && air.blocks_of(group).all(|block| air.parts_of(&block).next().is_none())
    }
}
