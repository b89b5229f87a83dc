//! Where real packets become packets of the world and come back: no clock, no device.
//!
//! Whoever drives it asks for a [slot](Exchange::slot), reads a packet into it and [accepts](Exchange::accept) it
//! with the time; lets time [pass](Exchange::advance); and [takes](Exchange::take) what has arrived, each with its
//! bytes, until there is nothing.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use nodeb_base::packet::EcnField;
use nodeb_base::units::Time;
use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::{Direction, ExternalPacket, Fate, Live};

use crate::error::{Error, Result};
use crate::flight::Recorder;
use crate::ip;
use crate::pool::{Passenger, Pool, Slot};
use crate::report::{OfPhone, Refused};
use crate::series::Series;

/// A phone whose packets are real.
#[derive(Clone, Debug)]
pub struct Phone {
    /// Number of its user in the scenario.
    pub user: u32,
    /// Its addresses: what packets from the server are known by.
    pub addresses: Vec<IpAddr>,
}

/// Where a packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The server.
    Server,
    /// A phone, by its number among those that are real.
    Phone(usize),
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives in the world.
    pub at: Time,
    /// Where it is to be handed over.
    pub to: End,
    /// Its number among all that were accepted.
    pub number: u64,
    ecn: EcnField,
    slot: Slot,
}

/// A world, and the real packets in it.
pub struct Exchange {
    live: Live,
    pool: Pool,
    phones: Vec<OfPhone>,
    /// The phone of a user, if it is real.
    of_user: HashMap<u32, usize>,
    of_address: HashMap<IpAddr, usize>,
    refused: Refused,
    series: Series,
    recorder: Option<Recorder>,
    fates: Vec<Fate>,
    /// Fates that have been taken.
    taken: usize,
}

impl Exchange {
    /// The world of a scenario at time zero with real phones; `mtu` is the largest packet, and `memory` what the
    /// payloads of those on their way may take, both in bytes.
    ///
    /// # Errors
    /// The world's, where the scenario cannot be driven from outside.
    pub fn new(scenario: &Scenario, seed: u64, phones: &[Phone], mtu: usize, memory: usize) -> Result<Self> {
        let numbered = || phones.iter().enumerate();
        let addresses = numbered().flat_map(|(phone, it)| it.addresses.iter().map(move |at| (*at, phone)));
        Ok(Self {
            live: Live::new(scenario, seed, 0)?,
            pool: Pool::new(mtu, memory),
            phones: phones.iter().map(|phone| OfPhone::new(phone.user)).collect(),
            of_user: numbered().map(|(phone, it)| (it.user, phone)).collect(),
            of_address: addresses.collect(),
            refused: Refused::default(),
            series: Series::new(phones.iter().map(|phone| phone.user).collect()),
            recorder: None,
            fates: Vec::new(),
            taken: 0,
        })
    }

    /// Has a recorder write down everything from now on.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// The recorder, if there is one.
    pub fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_mut()
    }

    /// When something is due next; `None` while nothing happens unless a packet is accepted.
    pub fn next(&self) -> Option<Time> {
        self.live.next()
    }

    /// Real packets that are on their way.
    pub fn waiting(&self) -> usize {
        self.pool.in_use()
    }

    /// Bytes that payloads have taken at most.
    pub fn memory(&self) -> usize {
        self.pool.allocated()
    }

    /// A place to read a packet into; `None` while the packets on their way take all memory that they may.
    pub fn slot(&mut self) -> Option<Slot> {
        self.pool.slot()
    }

    /// The bytes of a slot, as many as the largest packet has.
    pub fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        self.pool.bytes_mut(slot)
    }

    /// A slot into which nothing was read.
    pub fn give_back(&mut self, slot: Slot) {
        self.pool.give_back(slot);
    }

    /// What is refused of the packets that come.
    pub fn refused(&mut self) -> &mut Refused {
        &mut self.refused
    }

    /// What has become of the packets of each phone.
    pub fn phones(&self) -> &[OfPhone] {
        &self.phones
    }

    /// What happened over time.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// Does all that is due by `now`.
    ///
    /// # Errors
    /// The world's.
    pub fn advance(&mut self, now: Time) -> Result<()> {
        self.series.look_until(now, &mut self.live, &mut self.fates)?;
        self.live.advance(now, &mut self.fates);
        Ok(())
    }

    /// Takes the packet of `bytes` that was read into a slot, at `now` and after all that is due by then. One that
    /// no cell would carry is refused and counted.
    ///
    /// # Errors
    /// The world's.
    pub fn accept(&mut self, now: Time, from: End, slot: Slot, bytes: usize) -> Result<()> {
        let Some((direction, phone, header)) = self.routed(from, slot, bytes) else {
            self.pool.give_back(slot);
            return Ok(());
        };
        self.series.look_until(now, &mut self.live, &mut self.fates)?;
        self.series.offer(phone, direction, now, bytes);
        let tag = self.pool.send(slot, bytes, direction, now);
        let of_phone = &mut self.phones[phone];
        of_phone.direction_mut(direction).offered.add(bytes);
        let packet =
            ExternalPacket { tag, bytes: bytes as u32, flow_hash: header.flow_hash, ecn: header.ecn };
        if let Some(recorder) = &mut self.recorder {
            recorder.accepted(now, direction, phone, &packet, self.pool.packet(slot));
        }
        Ok(self.live.offer(now, direction, of_phone.user, packet, &mut self.fates)?)
    }

    fn routed(&mut self, from: End, slot: Slot, bytes: usize) -> Option<(Direction, usize, ip::Header)> {
        let Some(header) = ip::read(&self.pool.bytes_mut(slot)[..bytes]) else {
            self.refused.malformed += 1;
            return None;
        };
        let found = match from {
            End::Server => self.of_address.get(&header.to).map(|phone| (Direction::Down, *phone, header)),
            End::Phone(phone) => is_routed(header.to).then_some((Direction::Up, phone, header)),
        };
        self.refused.stray += u64::from(found.is_none());
        found
    }

    /// The next packet that has arrived; it must be [handed over](Self::handed_over) before the next is taken.
    pub fn take(&mut self) -> Option<Arrival> {
        while let Some(fate) = self.fates.get(self.taken).copied() {
            self.taken += 1;
            if let Some(arrival) = self.come_back(fate) {
                return Some(arrival);
            }
        }
        self.fates.clear();
        self.taken = 0;
        None
    }

    /// A packet has come back from the world; one that has arrived goes on.
    fn come_back(&mut self, fate: Fate) -> Option<Arrival> {
        let (Fate::Arrived { user, packet, .. } | Fate::Lost { user, packet, .. }) = fate;
        let passenger = self.pool.back(packet.tag);
        let Passenger { slot, direction, accepted, .. } = passenger.expect("each packet comes back once");
        let phone = self.of_user[&user];
        match fate {
            Fate::Arrived { at, .. } => {
                if packet.ecn == EcnField::Ce {
                    ip::mark_ce(self.pool.packet_mut(slot));
                }
                self.phones[phone].direction_mut(direction).arrive(accepted, at, packet.bytes as usize);
                self.series.arrive(phone, direction, accepted, at, packet.bytes as usize);
                let to = if direction == Direction::Down { End::Phone(phone) } else { End::Server };
                Some(Arrival { at, to, number: Pool::number(packet.tag), ecn: packet.ecn, slot })
            }
            Fate::Lost { at, cause, .. } => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.lost(Pool::number(packet.tag), at, cause);
                }
                self.phones[phone].direction_mut(direction).lose(cause);
                self.series.lose(phone, direction, at, cause);
                self.pool.give_back(slot);
                None
            }
        }
    }

    /// The bytes of a packet that has arrived.
    pub fn packet(&self, arrival: &Arrival) -> &[u8] {
        self.pool.packet(arrival.slot)
    }

    /// A packet that has arrived has been handed over, so many nanoseconds late.
    pub fn handed_over(&mut self, arrival: &Arrival, late: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(arrival.number, arrival.at, late, arrival.ecn);
        }
        self.series.hand_over(arrival.at, late);
        self.pool.give_back(arrival.slot);
    }

    /// Completes the log of the flight, if there is one.
    ///
    /// # Errors
    /// It is not whole.
    pub fn finish_recording(&mut self) -> io::Result<()> {
        let now = self.live.now();
        self.recorder.take().map_or(Ok(()), |recorder| recorder.finish(now))
    }

    /// What became of real packets, also over time, and the tables of the whole world as a run has them.
    ///
    /// # Errors
    /// The world's; the log of the flight is not whole.
    pub fn finish(mut self, scenario: &Scenario) -> Result<(Vec<OfPhone>, Refused, Series, RunResult)> {
        self.series.look(&mut self.live)?;
        self.finish_recording().map_err(Error::Recording)?;
        Ok((self.phones, self.refused, self.series, self.live.finish(scenario)))
    }
}

/// Whether routers pass packets to an address on: not those for all on a link (RFC 3927, RFC 4291).
fn is_routed(to: IpAddr) -> bool {
    match to {
        IpAddr::V4(to) => {
            !(to.is_multicast()
                || to.is_broadcast()
                || to.is_link_local()
                || to.is_loopback()
                || to.is_unspecified())
        }
        IpAddr::V6(to) => {
            !(to.is_multicast() || to.is_unicast_link_local() || to.is_loopback() || to.is_unspecified())
        }
    }
}

#[cfg(test)]
mod tests;
