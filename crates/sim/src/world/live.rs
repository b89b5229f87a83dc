//! A world that a driver advances from outside, with real packets of some users.

use nodeb_base::engine::Stamp;
use nodeb_base::error::{Error, Result};
use nodeb_base::event::{Event, Mask, Place, Purpose, Site};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::Time;

use super::World;
use super::control::{Listener, NullListener};
use super::external::{ExternalPacket, Fate};
use crate::metrics::RunResult;
use crate::scenario::{Direction, Scenario};

/// World that is driven from outside. Users with real packets share the cell, the links and the schedulers with
/// simulated users.
///
/// [`Live`] has no clock. The driver passes the time: [`Live::offer`] takes a packet after handling all events that
/// are due by then, so that a packet never overtakes an earlier event, and [`Live::advance`] lets time pass. The
/// world returns every packet that arrives or is lost once, as a [`Fate`].
///
/// # Examples
///
/// ```
/// use nodeb_base::packet::EcnField;
/// use nodeb_base::units::Time;
/// use nodeb_sim::scenario;
/// use nodeb_sim::world::{Direction, ExternalPacket, Fate, Live};
///
/// let text = r#"
///     radio.dch = {}
///     users = [{ traffic.external = {} }]
/// "#;
/// let scenario = scenario::from_toml(text, "example.toml", &[])?;
/// let (mut live, mut fates) = (Live::new(&scenario, 1, 0)?, Vec::new());
/// let packet = ExternalPacket { tag: 7, bytes: 1500, flow_hash: 0, ecn: EcnField::NotEct };
/// live.offer(Time::ZERO, Direction::Down, 0, packet, &mut fates)?;
///
/// live.advance(Time(1_000_000_000), &mut fates);
/// let [Fate::Arrived { at, packet, .. }] = fates[..] else { panic!("expected an arrival") };
/// assert_eq!(packet.tag, 7);
/// assert!(at > Time::ZERO);
/// # Ok::<(), nodeb_sim::Error>(())
/// ```
pub struct Live<L: Listener = NullListener> {
    pub(super) world: World<L>,
}

impl Live {
    /// Creates the world of a scenario at time zero, for replication number `run` under `seed`.
    ///
    /// Users whose traffic is `external` send and receive the packets passed to [`Self::offer`]. The world never ends
    /// by itself.
    ///
    /// # Errors
    ///
    /// [`Error::Scenario`] if a file that the scenario names has not been read, or a recorded channel ends.
    pub fn new(scenario: &Scenario, seed: u64, run: u64) -> Result<Self> {
        Self::with_listener(scenario, seed, run, NullListener)
    }
}

impl<L: Listener> Live<L> {
    /// Creates a world like [`Live::new`] and passes its events to `listener`.
    ///
    /// # Errors
    ///
    /// [`Error::Scenario`] if a file that the scenario names has not been read, or a recorded channel ends.
    pub fn with_listener(scenario: &Scenario, seed: u64, run: u64, listener: L) -> Result<Self> {
        if let Some(problem) = scenario.unread_file().or_else(|| scenario.ending_channel()) {
            return Err(Error::Scenario(problem));
        }
        let mut world = World::new(scenario, seed, run, listener);
        world.env.horizon = Time(u64::MAX);
        Ok(Self { world })
    }

    /// Returns the current time: all events up to this time have been handled, unless the listener has ended the run.
    pub fn now(&self) -> Time {
        self.world.env.now
    }

    /// Returns the time by which [`Self::advance`] must be called next, or `None` if nothing happens until a packet
    /// is offered.
    ///
    /// There may be no event at that time, as a timer that was stopped stays in the event queue until it expires.
    pub fn next(&self) -> Option<Time> {
        self.world.env.event_queue.next().map(|((at, _), _)| at)
    }

    /// Returns the number of packets in flight, from outside and of simulated users.
    pub fn waiting(&self) -> usize {
        self.world.env.in_flight.len()
    }

    /// Returns true if the listener has ended the run; the world then handles no more events.
    pub fn is_over(&self) -> bool {
        self.world.listeners.is_over
    }

    /// Handles all events due by `now`, and appends the fates of packets from outside, each with its time. A `now`
    /// before [`Self::now`] changes nothing.
    pub fn advance(&mut self, now: Time, fates: &mut Vec<Fate>) {
        while !self.is_over() && self.next().is_some_and(|at| at <= now) {
            self.world.step();
        }
        if now > self.now() {
            self.world.env.advance((now, Stamp::LAST));
        }
        fates.append(&mut self.world.env.external.fates);
    }

    /// Takes a packet from outside at `now`, after handling all events due by then. With direction `Down` the packet is
    /// from the server to user number `user`, with `Up` from that user to the server. Appends the fates of the packets
    /// that have arrived or been lost by then. A `now` before [`Self::now`] counts as [`Self::now`].
    ///
    /// # Errors
    ///
    /// [`Error::Scenario`] if there is no such user or the user's packets are simulated.
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
        let packet = world.env.in_flight.launch_external(user, tag, packet);
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

    /// Applies the updates that bearers and links have deferred until now, and emits their events.
    pub fn settle(&mut self) {
        self.world.settle();
    }

    /// Ends the world and returns the results up to now, as [`run`](super::run) does. Users with
    /// real packets have results of their links and bearers, and rows of flows without results of a
    /// connection.
    pub fn finish(self, scenario: &Scenario) -> RunResult {
        self.world.into_result(scenario)
    }
}
