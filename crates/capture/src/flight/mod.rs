//! Captures of recorded flights: real packets with the bytes that the log kept, among those of simulated users.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use nodeb_base::event::{Event, Mask, Purpose, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_emu::Log;
use nodeb_emu::connections::Traffic;
use nodeb_emu::flight::Heads;
use nodeb_emu::log::Watched;
use nodeb_emu::replay::Replay;
use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;

use crate::fates::Record;
use crate::{Capture, DEFAULT_SNAP_LENGTH, Error, INBOUND, Interface, OUTBOUND, Options, Result, put};

/// An IPv4 header: what a mark needs of a packet.
const SHORTEST: usize = 20;

/// A real packet on its way.
struct OnItsWay {
    number: u64,
    data: Box<[u8]>,
    length: u32,
}

/// A capture of a flight under way.
struct Flown<'a> {
    capture: Capture,
    heads: Heads<BufReader<Watched<'a>>>,
    on_their_way: HashMap<PacketId, OnItsWay>,
    /// Numbers of the packets that repeat what was sent before.
    again: HashSet<u64>,
    /// Numbers of those that arrive marked.
    marked: HashSet<u64>,
}

/// Flies a log again, whose phones' real users are `users`, and writes what passes the interfaces to `path`. Of real
/// packets there is as much as the log has; `radio` adds the interfaces of RNC and Node B.
///
/// # Errors
/// As [`crate::run`], and those of the log.
pub fn fly(
    log: Log<'_>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    path: &Path,
    radio: bool,
) -> Result<(Replay, RunResult)> {
    let unread = |error| Error::Flight(nodeb_emu::Error::log(error));
    let traffic = Traffic::of_log(log).map_err(unread)?;
    let snap_length = traffic.longest.max(DEFAULT_SNAP_LENGTH);
    let about = vec![about(&traffic)];
    let options = Options { snap_length, radio, about, ..Options::default() };
    let packets = traffic.connections.iter().flat_map(|connection| &connection.packets);
    let mut flown = Flown {
        capture: Capture::create(scenario, seed, 0, path, options)?,
        heads: Heads::new(log.open().map_err(unread)?),
        on_their_way: HashMap::new(),
        again: packets.filter(|packet| packet.again).map(|packet| packet.number).collect(),
        marked: traffic.marked,
    };
    let found = log.fly(scenario, seed, users, &mut flown)?;
    flown.capture.finish()?;
    Ok(found)
}

/// What the section says of real packets.
fn about(traffic: &Traffic) -> String {
    format!("Packets of real phones are a recorded flight's, with their first {} B.", traffic.longest)
}

impl Flown<'_> {
    fn take(&mut self, at: Time, event: &Event) -> io::Result<()> {
        match *event {
            Event::Sent { place, packet, purpose: Purpose::External, seq: number, size: length, .. } => {
                let data = self.heads.of(number)?.into();
                let again = self.again.contains(&number);
                let own = OnItsWay { number, data, length };
                if let Some(fates) = &mut self.capture.fates {
                    fates.begin(at, packet, again, (own.data.clone(), length));
                }
                self.write(at, place.site, packet, &own, OUTBOUND)?;
                self.on_their_way.insert(packet, own);
            }
            Event::Received { place, packet } => {
                if let Some(mut own) = self.on_their_way.remove(&packet) {
                    if self.marked.contains(&own.number) && own.data.len() >= SHORTEST {
                        nodeb_emu::ip::mark_ce(&mut own.data);
                    }
                    self.write(at, place.site, packet, &own, INBOUND)?;
                }
            }
            Event::Lost { packet, .. } => drop(self.on_their_way.remove(&packet)),
            _ => {}
        }
        Ok(())
    }

    /// Writes a real packet where it is sent or received, or keeps it until its life is over.
    fn write(
        &mut self,
        at: Time,
        site: Site,
        packet: PacketId,
        own: &OnItsWay,
        direction: u32,
    ) -> io::Result<()> {
        let interface = if site == Site::Phone { Interface::Phone } else { Interface::Server };
        let Some(interface) = self.capture.number(interface) else { return Ok(()) };
        let (original_len, data) = (own.length, own.data.clone());
        let Some(fates) = &mut self.capture.fates else {
            return put(&mut self.capture.writer, at, (interface, original_len, direction), &data, None);
        };
        if let Some(life) = fates.life(packet) {
            fates.wait(Record { at, interface, original_len, direction, data, life });
        }
        Ok(())
    }
}

impl Listener for Flown<'_> {
    fn mask(&self) -> Mask {
        self.capture.mask()
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        let taken = self.take(at, event).and_then(|()| self.capture.take(at, event, segment));
        self.capture.go_on(taken)
    }
}

#[cfg(test)]
mod tests;
