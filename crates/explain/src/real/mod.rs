//! Why a real TCP connection took as long as it did: a recorded flight, flown again and listened to.
//!
//! What happens in the cell is told by events, as of simulated connections. What made a host send is not: it is
//! inferred from the headers that the log kept and the times at both ends ([`host`]), as Barford and Crovella did
//! with packet traces. The walk through the cell is the same.

mod host;
#[cfg(test)]
mod tests;

pub(crate) use host::{Origin, Round};

use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Site};
use nodeb_base::units::Time;
use nodeb_emu::Log;
use nodeb_emu::connections::{Came, Connection, Traffic};
use nodeb_sim::scenario::PlaceNames;
use nodeb_sim::world::{Direction, Listener};
use nodeb_sim::{Control, Scenario};
use nodeb_tcp::segment::{Kind, Segment};

use crate::span::Path;
use crate::timeline::Timeline;
use crate::too_long;
use crate::walk::Walk;

/// Why a connection cannot be explained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The log, or the world that it is flown in.
    #[error(transparent)]
    Flight(#[from] nodeb_emu::Error),
    /// It has no such connection.
    #[error("the flight has {connections} TCP connections, numbered from 0, and no number {connection}")]
    NoConnection {
        /// Asked for.
        connection: usize,
        /// How many there are.
        connections: usize,
    },
    /// Nothing of it came to the other end.
    #[error("of connection {0} no packet has arrived: there is nothing to explain")]
    NothingArrived(usize),
    /// It has more packets and blocks than there is memory for.
    #[error("{}", too_long(*.0))]
    TooLong(Time),
    /// The cell is not the one of the flight.
    #[error("flown again, not the same becomes of its packets: {0}")]
    Differs(String),
}

/// A packet of the connection, as the walk knows it, and what made its end send it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    segment: Segment,
    origin: Origin,
}

/// Hears a flight for one connection.
struct Pilot<'a> {
    timeline: Timeline,
    told: Vec<Told>,
    connection: &'a Connection,
    /// Packets of the connection that have been sent.
    sent: usize,
    /// The number in the flight of the packet that ends the path.
    last: u64,
    bytes: u64,
    /// What first was not as in the flight.
    differs: Option<String>,
    names: PlaceNames,
}

/// Explains connection number `connection` of a recorded flight; `users` are the real users of its phones.
///
/// # Errors
/// See [`Error`].
pub fn explain(
    log: Log<'_>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    connection: usize,
) -> Result<Path, Error> {
    let traffic = Traffic::of_log(log).map_err(nodeb_emu::Error::log)?;
    let connections = traffic.connections.len();
    let found = traffic.connections.get(connection);
    let found = found.ok_or(Error::NoConnection { connection, connections })?;
    let user = users.get(usize::from(found.phone)).copied().unwrap_or_default();
    let (direction, came) = found.main();
    let last = came.last.or_else(|| last_arrived(found)).ok_or(Error::NothingArrived(connection))?;
    let mut timeline = Timeline::new(scenario, user, 0);
    timeline.origins = Some(Vec::with_capacity(found.packets.len()));
    let mut pilot = Pilot {
        timeline,
        told: host::told(found, direction, user),
        connection: found,
        sent: 0,
        last: found.packets[last].number,
        bytes: came.bytes,
        differs: None,
        names: PlaceNames::of(scenario),
    };
    let (replay, _) = log.fly(scenario, seed, users, &mut pilot)?;
    if let Some(differs) = pilot.differs {
        return Err(Error::Differs(differs));
    }
    if let Some(after) = pilot.timeline.too_long {
        return Err(Error::TooLong(after));
    }
    if pilot.timeline.ended.is_some() {
        return pilot.path(&came, log.control);
    }
    let differs = replay.differs;
    Err(Error::Differs(
        differs.unwrap_or_else(|| "what ended the connection in the flight does not arrive".to_owned()),
    ))
}

/// The packet that arrived last, of a connection without data.
fn last_arrived(connection: &Connection) -> Option<usize> {
    (0..connection.packets.len())
        .filter(|at| connection.packets[*at].arrived.is_some())
        .max_by_key(|at| connection.packets[*at].arrived)
}

impl Pilot<'_> {
    fn path(&self, came: &Came, control: &Control) -> Result<Path, Error> {
        let timeline = &self.timeline;
        let begun = timeline.begun.unwrap_or_default();
        let ended = timeline.ended.unwrap_or(begun);
        let spans = Walk::spans(timeline, u32::MAX, begun, ended, control).map_err(nodeb_emu::Error::from)?;
        let (lost, names) = (timeline.lost, self.names.clone());
        let busy = timeline.busy(begun, ended);
        Ok(Path { begun, ended, bytes: came.bytes, complete: came.all, lost, busy, spans, names })
    }

    /// A packet of the user is sent; of the connection's it is told what made it be.
    fn send(&mut self, at: Time, event: &Event) -> ControlFlow<()> {
        let Event::Sent { place, packet, seq: number, .. } = *event else {
            return ControlFlow::Continue(());
        };
        let own = self.connection.packets.get(self.sent).filter(|own| own.number == number);
        if own.is_none() {
            return self.timeline.on_event(at, event, None);
        }
        if self.sent == 0 {
            self.timeline.begin(at, self.bytes);
        }
        let Told { segment, origin } = self.told[self.sent];
        self.sent += 1;
        self.timeline.packets.send(at, place.site, packet, &segment);
        self.timeline.origins.get_or_insert_default().push(origin);
        self.timeline.check_records(at)
    }
}

impl Pilot<'_> {
    /// A packet of the connection has arrived; the path ends with the last.
    fn arrive(&mut self, at: Time, number: u32) -> ControlFlow<()> {
        let packet = &self.connection.packets[number as usize];
        if packet.arrived != Some(at) {
            let then = packet.arrived.map_or("not at all".to_owned(), |then| format!("at {} ns", then.0));
            self.differs =
                Some(format!("packet {} arrives at {} ns, in the flight {then}", packet.number, at.0));
            return ControlFlow::Break(());
        }
        if packet.number == self.last {
            (self.timeline.ended, self.timeline.last) = (Some(at), number);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Listener for Pilot<'_> {
    fn mask(&self) -> Mask {
        self.timeline.mask()
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        match *event {
            Event::Sent { flow, .. } if flow == self.timeline.position.flow => self.send(at, event),
            Event::Received { packet, .. } => {
                let number = self.timeline.packets.number(packet);
                self.timeline.on_event(at, event, segment)?;
                number.map_or(ControlFlow::Continue(()), |number| self.arrive(at, number))
            }
            _ => self.timeline.on_event(at, event, segment),
        }
    }
}

/// Where packets of a way begin.
fn site(direction: Direction) -> Site {
    if direction == Direction::Down { Site::Server } else { Site::Phone }
}

/// What a packet is to the walk.
fn segment(user: u32, kind: Kind, sent: &nodeb_emu::connections::Sent) -> Segment {
    let seq = if kind == Kind::Ack { sent.ack } else { sent.seq };
    Segment { seq, size: sent.bytes, retransmission: sent.again, ..Segment::control(user, kind) }
}
