//! A world that is driven from outside: users whose packets are real stand beside simulated ones, in the
//! same cell, on the same links and schedulers.
//!
//! It knows no clock. Whoever drives it says what time it is: [`Live::offer`] takes a packet after doing
//! everything that is due by then, so that a packet can never overtake what came before it, and
//! [`Live::advance`] lets time pass. Every packet comes back once, as a [`Fate`].

use nodeb_base::engine::Stamp;
use nodeb_base::error::{Error, Result};
use nodeb_base::event::{Event, Mask, Place, Purpose, Site};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::Time;

use super::World;
use super::control::{Listener, NullListener};
use super::external::{Direction, ExternalPacket, Fate};
use crate::metrics::RunResult;
use crate::scenario::Scenario;

/// A world that is driven from outside.
pub struct Live<L: Listener = NullListener> {
    pub(super) world: World<L>,
}

impl Live {
    /// The world of a scenario at time zero, under `seed` and the replication's number `run`. Users whose
    /// traffic is `external` send and receive what [`Self::offer`] is given; it never ends by itself.
    ///
    /// # Errors
    /// [`Error::Scenario`] when a file that the scenario names has not been read, or a recorded channel
    /// ends.
    pub fn new(scenario: &Scenario, seed: u64, run: u64) -> Result<Self> {
        Self::with_listener(scenario, seed, run, NullListener)
    }
}

impl<L: Listener> Live<L> {
    /// As [`Live::new`], with a listener to what happens.
    ///
    /// # Errors
    /// As [`Live::new`].
    pub fn with_listener(scenario: &Scenario, seed: u64, run: u64, listener: L) -> Result<Self> {
        if let Some(problem) = scenario.unread_file().or_else(|| scenario.ending_channel()) {
            return Err(Error::Scenario(problem));
        }
        let mut world = World::new(scenario, seed, run, listener);
        world.env.horizon = Time(u64::MAX);
        Ok(Self { world })
    }

    /// The time by which everything has been done.
    pub fn now(&self) -> Time {
        self.world.env.now
    }

    /// Returns when to advance next at the latest, or `None` if nothing happens unless a packet is offered. Nothing may
    /// be due then: timers that were stopped are looked at once more.
    pub fn next(&self) -> Option<Time> {
        self.world.env.event_queue.next().map(|((at, _), _)| at)
    }

    /// Packets from outside and of simulated users that are on their way.
    pub fn waiting(&self) -> usize {
        self.world.env.flying.len()
    }

    /// Returns true if the listener has ended the run: nothing happens any more.
    pub fn is_over(&self) -> bool {
        self.world.listeners.is_over
    }

    /// Does everything that is due by `now` and appends what has become of packets from outside, each with
    /// the time at which it happened. A `now` that is past is the time by which everything has been done.
    pub fn advance(&mut self, now: Time, fates: &mut Vec<Fate>) {
        while !self.is_over() && self.next().is_some_and(|at| at <= now) {
            self.world.step();
        }
        if now > self.now() {
            self.world.env.advance((now, Stamp::LAST));
        }
        fates.append(&mut self.world.env.external.fates);
    }

    /// Takes a packet from outside at `now`, after everything that is due by then: from the server to user
    /// number `user`, or from that user to the server.
    ///
    /// # Errors
    /// [`Error::Scenario`] when there is no such user or the user's packets are simulated.
    pub fn offer(
        &mut self,
        now: Time,
        direction: Direction,
        user: u32,
        packet: ExternalPacket,
        fates: &mut Vec<Fate>,
    ) -> Result<()> {
        self.advance(now, fates);
        let world = &mut self.world;
        if !matches!(world.flows.0.get(user as usize), Some(None)) {
            return Err(Error::Scenario(format!(
                "user number {user} takes no packets from outside; expected a user with `traffic = \"external\"`"
            )));
        }
        let ExternalPacket { tag, bytes, flow_hash, ecn } = packet;
        let packet = Packet { id: PacketId::default(), size: bytes, flow_hash, ecn, payload: false };
        let packet = world.env.flying.launch_external(user, tag, packet);
        let site = if direction == Direction::Down { Site::Server } else { Site::Phone };
        if world.env.sink.wants(Mask::PACKETS) {
            let (place, purpose) = (Place::new(site, user), Purpose::External);
            let event = Event::Sent {
                place,
                packet: packet.id,
                flow: user,
                purpose,
                size: bytes,
                seq: tag,
                again: false,
            };
            world.env.emit(event);
        }
        match direction {
            Direction::Down => world.enter_down(packet, 0),
            Direction::Up => world.enter_uplink(user, packet),
        }
        world.emit();
        fates.append(&mut world.env.external.fates);
        Ok(())
    }

    /// Makes good what was put off until now, and tells it.
    pub fn settle(&mut self) {
        self.world.settle();
    }

    /// What it came to until now, as a run tells it; of users whose packets are real, what their links and
    /// bearers counted.
    pub fn finish(self, scenario: &Scenario) -> RunResult {
        self.world.into_result(scenario)
    }
}
