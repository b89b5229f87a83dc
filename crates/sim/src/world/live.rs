use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Event, Mask, Place, Purpose, Site};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::Time;
use nodeb_base::{Error, Result};

use super::World;
use super::control::{Listener, NullListener};
use super::external::{ExternalPacket, Fate};
use crate::metrics::RunResult;
use crate::scenario::{Direction, Scenario};

/// World that is driven from outside. Users with real packets share the cell, the links and the schedulers with
/// simulated users. A packet never overtakes an earlier event, and each is returned once, as a [`Fate`].
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
    /// Replication number `run` under `seed`; users whose traffic is `external` send what [`Self::offer`] takes. The
    /// world never ends by itself.
    ///
    /// # Errors
    ///
    /// [`Error::Scenario`] if a file that the scenario names has not been read, or a recorded channel ends.
    pub fn new(scenario: &Scenario, seed: u64, run: u64) -> Result<Self> {
        Self::with_listener(scenario, seed, run, NullListener)
    }
}

impl<L: Listener> Live<L> {
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

    /// All events up to it have been handled, unless the listener has ended the run.
    pub fn now(&self) -> Time {
        self.world.env.now
    }

    /// `None` if nothing happens until a packet is offered. There may be no event at that time, as a stopped
    /// timer stays in the event queue until it expires.
    pub fn next(&self) -> Option<Time> {
        self.world.env.event_queue.next().map(|(instant, _)| instant.time())
    }

    /// From outside and of simulated users.
    pub fn waiting(&self) -> usize {
        self.world.env.in_flight.len()
    }

    /// By the listener; no more events are handled.
    pub fn is_over(&self) -> bool {
        self.world.listeners.is_over
    }

    /// Appends the fates of packets from outside; a `now` before [`Self::now`] changes nothing.
    pub fn advance(&mut self, now: Time, fates: &mut Vec<Fate>) {
        while !self.is_over() && self.next().is_some_and(|at| at <= now) {
            self.world.step(now);
        }
        if now > self.now() {
            self.world.env.advance(Instant::new(now, Phase::End));
        }
        fates.append(&mut self.world.env.external.fates);
    }

    /// `Down` is to user number `user`, `Up` from it, after all events due by then. A `now` before
    /// [`Self::now`] counts as [`Self::now`].
    ///
    /// # Errors
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
        let packet =
            Packet { id: PacketId::default(), size: bytes, flow_hash, ecn, bearer: 0, payload: false };
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

    /// As [`run`](super::run); users with real packets have rows of flows without results of a connection.
    pub fn finish(self, scenario: &Scenario) -> RunResult {
        self.world.into_result(scenario)
    }
}
