//! Inferred from a recording.

use nodeb_base::event::Place;

use super::{Next, Walk};
use crate::real::{Origin, Round};
use crate::timeline::{Basis, Group};

impl Walk<'_> {
    /// `None` if hosts are simulated.
    pub(super) fn origin(&self, packet: u32) -> Option<Origin> {
        self.timeline.origins.as_ref()?.get(packet as usize).copied()
    }

    /// Real hosts may always have others.
    pub(super) fn has_other_connections(&self) -> bool {
        self.timeline.origins.is_some() || self.timeline.shares_phone
    }

    /// Ends the search if the event is unknown.
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

    /// No block carries data of the explained connection, though the phone may have others.
    pub(super) fn is_of_others(&self, group: &Group) -> bool {
        let air = &self.timeline.air;
        self.has_other_connections()
            && air.blocks_of(group).iter().all(|block| air.parts_of(block).is_empty())
    }
}
