//! Of a real connection, by replaying a recording: time in the cell is explained by its events; why a host
//! sent a packet is inferred, as Barford and Crovella did with packet traces.

mod host;
#[cfg(test)]
mod tests;

pub(crate) use host::{Origin, Round};

use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Site};
use nodeb_base::units::Time;
use nodeb_emu::Log;
use nodeb_emu::connections::{Connection, Delivered, Traffic};
use nodeb_sim::scenario::PlaceNames;
use nodeb_sim::world::{Direction, Listener};
use nodeb_sim::{Control, Scenario};
use nodeb_tcp::segment::{Kind, Segment};

use crate::span::Path;
use crate::timeline::Timeline;
use crate::too_long;
use crate::walk::Walk;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Cannot be read or replayed.
    #[error(transparent)]
    Recording(#[from] nodeb_emu::Error),
    #[error(
        "there is no connection {connection}; the recording has {connections} TCP connections, numbered from 0"
    )]
    NoConnection { connection: usize, connections: usize },
    #[error(
        "no packet of connection {0} has arrived, so there is nothing to explain; expected a connection with data"
    )]
    NothingArrived(usize),
    /// Time at which the records exceeded [`MAX_RECORDS`](crate::MAX_RECORDS).
    #[error("{}", too_long(*.0))]
    TooLong(Time),
    /// A replayed packet has another arrival time or fate than in the recording.
    #[error("the replay differs from the recording: {0}; expected the scenario and version of the recording")]
    Differs(String),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    segment: Segment,
    origin: Origin,
}

struct ConnectionListener<'a> {
    timeline: Timeline,
    segments: Vec<SentSegment>,
    connection: &'a Connection,
    /// By the replay.
    sent: usize,
    /// Completes the in-order data, or is the last to arrive if none did in order.
    last: u64,
    bytes: u64,
    /// First difference between replay and recording, which ends the replay.
    differs: Option<String>,
    names: PlaceNames,
}

/// # Errors
///
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
    let (direction, delivered) = found.main();
    let last = delivered.last.or_else(|| last_arrived(found)).ok_or(Error::NothingArrived(connection))?;
    let mut timeline = Timeline::new(scenario, user, 0);
    timeline.origins = Some(Vec::with_capacity(found.packets.len()));
    let mut listener = ConnectionListener {
        timeline,
        segments: host::infer(found, direction, user),
        connection: found,
        sent: 0,
        last: found.packets[last].number,
        bytes: delivered.bytes,
        differs: None,
        names: PlaceNames::of(scenario),
    };
    let (replay, _) = log.replay(scenario, seed, users, &mut listener)?;
    if let Some(differs) = listener.differs {
        return Err(Error::Differs(differs));
    }
    if let Some(after) = listener.timeline.too_long {
        return Err(Error::TooLong(after));
    }
    if listener.timeline.ended.is_some() {
        return listener.path(&delivered, log.control);
    }
    let differs = replay.differs;
    Err(Error::Differs(
        differs.unwrap_or_else(|| "the last packet of the connection does not arrive".to_owned()),
    ))
}

/// The path ends with it if no data arrived in order.
fn last_arrived(connection: &Connection) -> Option<usize> {
    (0..connection.packets.len())
        .filter(|at| connection.packets[*at].arrived.is_some())
        .max_by_key(|at| connection.packets[*at].arrived)
}

impl ConnectionListener<'_> {
    fn path(&self, delivered: &Delivered, control: &Control) -> Result<Path, Error> {
        let timeline = &self.timeline;
        let begun = timeline.begun.unwrap_or_default();
        let ended = timeline.ended.unwrap_or(begun);
        let spans = Walk::spans(timeline, u32::MAX, begun, ended, control).map_err(nodeb_emu::Error::from)?;
        let (lost, names) = (timeline.lost, self.names.clone());
        let busy = timeline.busy(begun, ended);
        Ok(Path { begun, ended, bytes: delivered.bytes, complete: delivered.all, lost, busy, spans, names })
    }

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
        let SentSegment { segment, origin } = self.segments[self.sent];
        self.sent += 1;
        self.timeline.packets.send(at, place.site, packet, &segment);
        self.timeline.origins.get_or_insert_default().push(origin);
        self.timeline.check_records(at)
    }
}

impl ConnectionListener<'_> {
    /// Ends the replay if the time differs from the recording, or with the last packet of the path.
    fn arrive(&mut self, at: Time, number: u32) -> ControlFlow<()> {
        let packet = &self.connection.packets[number as usize];
        if packet.arrived != Some(at) {
            let then = packet.arrived.map_or("not at all".to_owned(), |then| format!("at {} ns", then.0));
            self.differs =
                Some(format!("packet {} arrives at {} ns, in the recording {then}", packet.number, at.0));
            return ControlFlow::Break(());
        }
        if packet.number == self.last {
            (self.timeline.ended, self.timeline.last) = (Some(at), number);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Listener for ConnectionListener<'_> {
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

fn site(direction: Direction) -> Site {
    if direction == Direction::Down { Site::Server } else { Site::Phone }
}

fn segment(user: u32, kind: Kind, sent: &nodeb_emu::connections::Sent) -> Segment {
    let seq = if kind == Kind::Ack { sent.ack } else { sent.seq };
    Segment { seq, size: sent.bytes, retransmission: sent.is_retransmission, ..Segment::control(user, kind) }
}
