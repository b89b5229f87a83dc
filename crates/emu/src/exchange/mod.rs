//! For each packet, the caller gets a [slot](Exchange::slot), reads into it and calls [`Exchange::accept`];
//! it [advances](Exchange::advance) the world, and [takes](Exchange::take) arrived packets until none is
//! left.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use nodeb_base::packet::EcnField;
use nodeb_base::units::Time;
use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::{Direction, ExternalPacket, Fate, Live};

use crate::error::{Error, Result};
use crate::ip;
use crate::pool::{InTransit, Pool, Slot};
use crate::recording::Recorder;
use crate::report::{PhoneReport, Refused};
use crate::series::Series;

#[derive(Clone, Debug)]
pub struct Phone {
    pub user: u32,
    pub addresses: Vec<IpAddr>,
}

/// End of a path: source or destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Server,
    Phone(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at: Time,
    pub to: End,
    pub number: u64,
    ecn: EcnField,
    slot: Slot,
}

/// With the payloads of the real packets in transit.
pub struct Exchange {
    live: Live,
    pool: Pool,
    phones: Vec<PhoneReport>,
    of_user: HashMap<u32, usize>,
    of_address: HashMap<IpAddr, usize>,
    refused: Refused,
    series: Series,
    recorder: Option<Recorder>,
    fates: Vec<Fate>,
    taken: usize,
}

impl Exchange {
    /// Creates the world of a scenario at time zero. `mtu` is the maximum size of a packet, and `memory` the limit for
    /// the payloads of packets in transit, both in bytes.
    ///
    /// # Errors
    /// Returns an error if the scenario cannot be emulated.
    pub fn new(scenario: &Scenario, seed: u64, phones: &[Phone], mtu: usize, memory: usize) -> Result<Self> {
        let numbered = || phones.iter().enumerate();
        let addresses = numbered().flat_map(|(phone, it)| it.addresses.iter().map(move |at| (*at, phone)));
        Ok(Self {
            live: Live::new(scenario, seed, 0)?,
            pool: Pool::new(mtu, memory),
            phones: phones.iter().map(|phone| PhoneReport::new(phone.user)).collect(),
            of_user: numbered().map(|(phone, it)| (it.user, phone)).collect(),
            of_address: addresses.collect(),
            refused: Refused::default(),
            series: Series::new(phones.iter().map(|phone| phone.user).collect()),
            recorder: None,
            fates: Vec::new(),
            taken: 0,
        })
    }

    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    pub fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_mut()
    }

    /// `None` if no event will happen unless a packet is accepted.
    pub fn next(&self) -> Option<Time> {
        self.live.next()
    }

    /// Of real packets, with those arrived but not handed over.
    pub fn waiting(&self) -> usize {
        self.pool.in_use()
    }

    /// Allocated for payloads, never decreasing.
    pub fn memory(&self) -> usize {
        self.pool.allocated()
    }

    pub fn slot(&mut self) -> Option<Slot> {
        self.pool.slot()
    }

    pub fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        self.pool.bytes_mut(slot)
    }

    /// Into which no packet was read.
    pub fn give_back(&mut self, slot: Slot) {
        self.pool.give_back(slot);
    }

    /// The caller counts packets that never reach [`Self::accept`], and arrived packets that their device does not
    /// accept.
    pub fn refused(&mut self) -> &mut Refused {
        &mut self.refused
    }

    pub fn phones(&self) -> &[PhoneReport] {
        &self.phones
    }

    pub fn series(&self) -> &Series {
        &self.series
    }

    /// Advances the world to `now`: processes all events up to then, and samples the time series.
    ///
    /// # Errors
    /// Returns an error if the simulation fails.
    pub fn advance(&mut self, now: Time) -> Result<()> {
        self.series.sample_until(now, &mut self.live, &mut self.fates)?;
        self.live.advance(now, &mut self.fates);
        Ok(())
    }

    /// Accepts at `now` the packet of `bytes` bytes that the caller has read into a slot. Events
    /// due by `now` are processed first. A packet that is malformed or cannot be routed is refused
    /// and counted.
    ///
    /// # Errors
    /// Returns an error if the simulation fails.
    pub fn accept(&mut self, now: Time, from: End, slot: Slot, bytes: usize) -> Result<()> {
        let Some((direction, phone, header)) = self.routed(from, slot, bytes) else {
            self.pool.give_back(slot);
            return Ok(());
        };
        self.series.sample_until(now, &mut self.live, &mut self.fates)?;
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

    /// The caller must call [`Self::handed_over`] before the next call.
    pub fn take(&mut self) -> Option<Arrival> {
        while let Some(fate) = self.fates.get(self.taken).copied() {
            self.taken += 1;
            if let Some(arrival) = self.process(fate) {
                return Some(arrival);
            }
        }
        self.fates.clear();
        self.taken = 0;
        None
    }

    fn process(&mut self, fate: Fate) -> Option<Arrival> {
        let (Fate::Arrived { user, packet, .. } | Fate::Lost { user, packet, .. }) = fate;
        let in_transit = self.pool.find(packet.tag);
        let InTransit { slot, direction, accepted, .. } = in_transit.expect("each packet is reported once");
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

    pub fn packet(&self, arrival: &Arrival) -> &[u8] {
        self.pool.packet(arrival.slot)
    }

    /// Written to its device, or tried, `late` ns after the arrival.
    pub fn handed_over(&mut self, arrival: &Arrival, late: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(arrival.number, arrival.at, late, arrival.ecn);
        }
        self.series.hand_over(arrival.at, late);
        self.pool.give_back(arrival.slot);
    }

    /// Completes the recording, if there is one.
    ///
    /// # Errors
    /// Returns an error if a part of the recording could not be written.
    pub fn finish_recording(&mut self) -> io::Result<()> {
        let now = self.live.now();
        self.recorder.take().map_or(Ok(()), |recorder| recorder.finish(now))
    }

    /// Ends the emulation. Returns the counts and delays of each phone, the counts of refused packets, the time
    /// series, and the result of the simulated run.
    ///
    /// # Errors
    /// Returns an error if the simulation failed or the recording is incomplete.
    pub fn finish(mut self, scenario: &Scenario) -> Result<(Vec<PhoneReport>, Refused, Series, RunResult)> {
        self.series.sample(&mut self.live)?;
        self.finish_recording().map_err(Error::Recording)?;
        Ok((self.phones, self.refused, self.series, self.live.finish(scenario)))
    }
}

/// Not multicast, the IPv4 broadcast address, link-local (RFC 3927, RFC 4291), loopback or unspecified.
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
