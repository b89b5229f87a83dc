//! Of replays: packets of real phones have the bytes that were recorded.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use nodeb_base::event::{Event, Mask, Purpose, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_emu::Log;
use nodeb_emu::connections::Traffic;
use nodeb_emu::log::Watched;
use nodeb_emu::recording::Heads;
use nodeb_emu::replay::Replay;
use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;

use crate::fates::Record;
use crate::{Capture, DEFAULT_SNAP_LENGTH, Error, INBOUND, Interface, OUTBOUND, Options, Result, put};

/// An IPv4 header.
const MIN_MARKABLE: usize = 20;

struct RealPacket {
    number: u64,
    data: Box<[u8]>,
    length: u32,
}

struct ReplayCapture<'a> {
    capture: Capture,
    heads: Heads<BufReader<Watched<'a>>>,
    in_flight: HashMap<PacketId, RealPacket>,
    retransmissions: HashSet<u64>,
    marked: HashSet<u64>,
}

/// Replays a log and writes the captured packets to `path`. `users` are the numbers, in the
/// scenario, of the users who were real phones. The capture has as many bytes of each real packet as
/// the log. If `radio` is true, the capture also has the interfaces of the radio network that the
/// scenario has, and comments on the fates of packets.
///
/// # Errors
///
/// Returns the errors of [`crate::run`], and [`Error::Recording`] if the log cannot be read or
/// replayed.
pub fn replay(
    log: Log<'_>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    path: &Path,
    radio: bool,
) -> Result<(Replay, RunResult)> {
    let unread = |error| Error::Recording(nodeb_emu::Error::log(error));
    let traffic = Traffic::of_log(log).map_err(unread)?;
    let snap_length = traffic.longest.max(DEFAULT_SNAP_LENGTH);
    let about = vec![about(&traffic)];
    let options = Options { snap_length, radio, about, ..Options::default() };
    let packets = traffic.connections.iter().flat_map(|connection| &connection.packets);
    let mut capture = ReplayCapture {
        capture: Capture::create(scenario, seed, 0, path, options)?,
        heads: Heads::new(log.open().map_err(unread)?),
        in_flight: HashMap::new(),
        retransmissions: packets
            .filter(|packet| packet.is_retransmission)
            .map(|packet| packet.number)
            .collect(),
        marked: traffic.marked,
    };
    let found = log.replay(scenario, seed, users, &mut capture)?;
    capture.capture.finish()?;
    Ok(found)
}

fn about(traffic: &Traffic) -> String {
    format!("Packets of real phones are from a recorded emulation, with their first {} B.", traffic.longest)
}

impl ReplayCapture<'_> {
    fn take(&mut self, at: Time, event: &Event) -> io::Result<()> {
        match *event {
            Event::Sent { place, packet, purpose: Purpose::External, seq: number, size: length, .. } => {
                let data = self.heads.of(number)?.into();
                let again = self.retransmissions.contains(&number);
                let own = RealPacket { number, data, length };
                if let Some(fates) = &mut self.capture.fates {
                    fates.begin(at, packet, again, (own.data.clone(), length));
                }
                self.write(at, place.site, packet, &own, OUTBOUND)?;
                self.in_flight.insert(packet, own);
            }
            Event::Received { place, packet } => {
                if let Some(mut own) = self.in_flight.remove(&packet) {
                    if self.marked.contains(&own.number) && own.data.len() >= MIN_MARKABLE {
                        nodeb_emu::ip::mark_ce(&mut own.data);
                    }
                    self.write(at, place.site, packet, &own, INBOUND)?;
                }
            }
            Event::Lost { packet, .. } => drop(self.in_flight.remove(&packet)),
            _ => {}
        }
        Ok(())
    }

    fn write(
        &mut self,
        at: Time,
        site: Site,
        packet: PacketId,
        own: &RealPacket,
        direction: u32,
    ) -> io::Result<()> {
        let interface = if site == Site::Phone { Interface::Phone } else { Interface::Server };
        let Some(interface) = self.capture.number(interface) else { return Ok(()) };
        let (original_len, data) = (own.length, own.data.clone());
        let Some(fates) = &mut self.capture.fates else {
            return put(&mut self.capture.writer, at, (interface, original_len, direction), &data, None);
        };
        if let Some(number) = fates.number(packet) {
            fates.wait(Record { at, interface, original_len, direction, data, number });
        }
        Ok(())
    }
}

impl Listener for ReplayCapture<'_> {
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
