//! Links and channels that transmit packet by packet.

use nodeb_base::event::Site;
use nodeb_base::units::Time;
use nodeb_radio::switching::state::State;
use nodeb_tcp::segment::Kind;

use super::Walk;
use crate::timeline::{Hop, Lane, NONE};
use nodeb_base::cause::{Cause, Step};

impl Walk<'_> {
    /// To the arrival of the packet or one ahead, with its [`Hop`].
    pub(super) fn stay(&mut self, packet: u32, hop: u32) -> (u32, u32) {
        let stay = self.hop_at(hop);
        if stay.place.site == Site::Bearer && self.timeline.radio.tti.is_some() {
            return self.stay_on_air(packet, hop);
        }
        if stay.place.site == Site::Uplink && self.timeline.radio.schedules_uplink {
            return self.stay_on_uplink(packet, hop);
        }
        let Some(lane) = self.timeline.lanes.get(stay.place).filter(|_| stay.service != NONE) else {
            return self.not_served(packet, hop);
        };
        if stay.arrives == Time(u64::MAX) {
            // The link has sent a part of the packet, and the rest waits.
            return self.queue(lane, stay.service + 1, packet, hop);
        }
        let (served, _) = lane.own[stay.service as usize];
        self.fixed(stay.arrives, Cause::Propagation, Step::Jitter, stay.place);
        self.fixed(served.sent, Cause::Propagation, Step::Propagates, stay.place);
        self.fixed(served.from, Cause::Transmission, Step::Sends, stay.place);
        self.queue(lane, stay.service, packet, hop)
    }

    /// As [`Self::stay`], before the transmission or without its record.
    fn not_served(&mut self, packet: u32, hop: u32) -> (u32, u32) {
        let stay = self.hop_at(hop);
        let waits = stay.arrives == Time(u64::MAX);
        if let Some(lane) = self.timeline.lanes.get(stay.place) {
            if waits && !lane.own.is_empty() {
                // All packets that the place has served so far were ahead of this packet.
                return self.queue(lane, lane.own.len() as u32, packet, hop);
            }
            self.gap(lane, stay.entered, stay);
        } else if waits && stay.place.site == Site::Bearer {
            // The channel has served no packet at all, so the whole stay is idle time of the
            // channel.
            self.idle(stay.entered, stay);
        }
        self.fixed(stay.entered, Cause::Propagation, Step::Propagates, stay.place);
        (packet, hop)
    }

    /// `turn` is the index that the transmission has, or would have, in `lane.own`; result as of
    /// [`Self::stay`].
    fn queue(&mut self, lane: &Lane, mut turn: u32, mut packet: u32, mut hop: u32) -> (u32, u32) {
        loop {
            let stay = self.hop_at(hop);
            let before = lane.own_before(turn).filter(|(_, served, _)| served.sent > stay.entered);
            let Some((before, served, ahead)) = before else {
                self.gap(lane, stay.entered, stay);
                return (packet, hop);
            };
            self.gap(lane, served.sent, stay);
            if self.now <= stay.entered.max(self.floor) {
                return (packet, hop);
            }
            if ahead == hop {
                // The link sent an earlier part of the same packet in this interval.
                self.fixed(served.from, Cause::Transmission, Step::Sends, stay.place);
                turn = before;
                continue;
            }
            (turn, packet, hop) = (before, self.hop_at(ahead).packet, ahead);
            self.follow(packet);
            let cause = self.cause_of_own_ahead(packet);
            self.to(served.from, cause, Step::OwnAhead, stay.place);
        }
    }

    pub(super) fn cause_of_own_ahead(&self, packet: u32) -> Cause {
        let ahead = self.packet_at(packet);
        match ahead.kind {
            Kind::Data if ahead.is_earlier => Cause::QueueBehindOwn,
            // A retransmission takes time in which new data could have been sent, so a wait behind
            // it is charged to recovery.
            Kind::Data if ahead.is_retransmission => Cause::Recovery,
            Kind::Data => Cause::Transmission,
            // A wait behind ACKs that saturate an uplink counts as transmission, like a wait behind
            // data on a saturated downlink.
            Kind::Ack if !ahead.is_earlier => Cause::Transmission,
            _ => Cause::QueueBehindOwn,
        }
    }

    /// Packets of other flows that delayed this one, else as [`Self::idle`].
    fn gap(&mut self, lane: &Lane, begin: Time, stay: &Hop) {
        let begin = begin.max(stay.entered).max(self.floor);
        while self.now > begin {
            match lane.others_before(self.now, begin).filter(|_| self.shares(stay)) {
                Some(others) => {
                    self.idle(others.sent, stay);
                    self.to(others.from, Cause::QueueBehindOthers, Step::OthersServed, stay.place);
                }
                None => self.idle(begin, stay),
            }
        }
    }

    /// On a bearer only on the FACH, without recorded channel states, or if the phone may have other
    /// connections.
    fn shares(&self, stay: &Hop) -> bool {
        stay.place.site != Site::Bearer || self.has_other_connections() || self.state() == Some(State::Fach)
    }

    fn state(&self) -> Option<State> {
        let state = self.timeline.air.state_before(self.now).map_or(State::Fach as u8, |(_, state)| state);
        State::ALL.get(usize::from(state)).copied()
    }

    /// Such as a missing delivery opportunity, an outage or a change of channel.
    fn idle(&mut self, begin: Time, stay: &Hop) {
        let place = stay.place;
        if self.has_opportunities(place.site) {
            // The recording has no delivery opportunity in this interval, so the user could not be
            // served.
            return self.to(begin, Cause::Scheduler, Step::NotServed, place);
        }
        if place.site != Site::Bearer || self.timeline.air.states.is_empty() {
            let (cause, step) = if place.site == Site::Bearer && self.has_states() {
                (Cause::QueueBehindOthers, Step::Signalling)
            } else {
                (Cause::Transmission, Step::Outage)
            };
            return self.to(begin, cause, step, place);
        }
        while self.now > begin {
            let since = self.timeline.air.state_before(self.now).map_or(Time::ZERO, |(since, _)| since);
            let (cause, step) = match self.state() {
                Some(State::Fach) => (Cause::QueueBehindOthers, Step::Signalling),
                Some(State::Dch) => (Cause::Transmission, Step::OwnAhead),
                _ => (Cause::ChannelSwitching, Step::Switches),
            };
            self.to(since.max(begin), cause, step, place);
        }
    }

    fn has_opportunities(&self, site: Site) -> bool {
        let radio = self.timeline.radio;
        match site {
            Site::Bearer => radio.has_opportunities,
            Site::Uplink => radio.has_opportunities_up,
            _ => false,
        }
    }

    fn has_states(&self) -> bool {
        self.timeline.radio.has_states
    }
}
