//! Blocks of any size in TTIs of 1 ms, with losses and delays.

use std::collections::BTreeMap;
use std::ops::Range;

use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Time};
use nodeb_net::queue::drop_tail::{DropTail, Fifo};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pdcp::Transmit;
use crate::rlc::lte::am::{Acknowledged, Amd};
use crate::rlc::lte::{Entity, Filled, Framing, Outcome};

pub const MS: u64 = 1_000_000;

/// Without headers of PDCP and MAC.
pub const PLAIN: Framing = Framing { sdu_header: 0, subheader: 0, sdus_in_flight: 1 << 11 };

/// Practically unlimited, without a discard timer.
pub fn transmit() -> Transmit {
    let params = DropTail { limit: 100_000.try_into().unwrap(), limit_bytes: None };
    Transmit::new(Box::new(Fifo::new(&params)), None)
}

#[derive(Clone, Copy, Debug)]
pub struct Tti {
    pub room: u32,
    pub lost: bool,
    /// ms from the start of the TTI until the block is decoded or given up.
    pub delay: u64,
    /// Octets that a status report may take.
    pub report_room: u32,
    pub report_lost: bool,
    /// ms from the start of the TTI until the report is decoded or given up.
    pub report_delay: u64,
}

impl Tti {
    pub fn lossless(room: u32, delay: u64) -> Self {
        Self { room, lost: false, delay, report_room: 1_000, report_lost: false, report_delay: delay }
    }
}

#[derive(Clone, Debug)]
enum Arrival {
    Block { units: Range<u64>, lost: bool },
    Report { number: u64, lost: bool },
}

pub struct Air {
    pub rlc: Entity,
    pub now: Time,
    arrivals: BTreeMap<(u64, usize), Arrival>,
    sent: usize,
    /// With the time in ms.
    pub blocks: Vec<(u64, Filled)>,
    /// Time in ms and report number.
    pub reports: Vec<(u64, u64)>,
    /// Time in ms and packet number.
    pub delivered: Vec<(u64, u64)>,
    pub lost: Vec<u64>,
    /// Octets to be sent again because of expired timers.
    pub added_by_timers: u64,
}

impl Air {
    pub fn new(rlc: Entity) -> Self {
        Self {
            rlc,
            now: Time::ZERO,
            arrivals: BTreeMap::new(),
            sent: 0,
            blocks: Vec::new(),
            reports: Vec::new(),
            delivered: Vec::new(),
            lost: Vec::new(),
            added_by_timers: 0,
        }
    }

    pub fn am(&self) -> &Acknowledged {
        match &self.rlc {
            Entity::Am(entity) => entity,
            Entity::Um(_) => panic!("expected acknowledged mode"),
        }
    }

    pub fn ms(&self) -> u64 {
        self.now.0 / MS
    }

    pub fn push(&mut self, number: u64, bytes: u32) {
        assert!(self.rlc.push(self.now, Packet::new(number, bytes), 0));
    }

    fn send(&mut self, delay: u64, arrival: Arrival) {
        self.arrivals.insert((self.ms() + delay, self.sent), arrival);
        self.sent += 1;
    }

    /// `arrived` is called for each AMD PDU that is not lost, before RLC receives it.
    fn catch_up(&mut self, mut arrived: impl FnMut(Time, &Amd)) {
        while let Some(entry) = self.arrivals.first_entry().filter(|entry| entry.key().0 * MS <= self.now.0) {
            match entry.remove() {
                Arrival::Block { units, lost } => {
                    if let Entity::Am(entity) = &self.rlc
                        && !lost
                    {
                        units.clone().for_each(|unit| arrived(self.now, entity.pdu(unit).unwrap()));
                    }
                    self.rlc.receive(self.now, units, lost);
                }
                Arrival::Report { number, lost } => self.rlc.on_report(number, lost),
            }
        }
        let before = self.rlc.sendable();
        if self.rlc.due().is_some_and(|at| at <= self.now) {
            self.rlc.on_time(self.now);
        }
        self.added_by_timers += self.rlc.sendable() - before;
        assert!(self.rlc.due().is_none_or(|at| at > self.now), "a timer expires again without end");
        let ms = self.ms();
        for outcome in self.rlc.outcomes() {
            match outcome {
                Outcome::Delivered { packet, .. } => self.delivered.push((ms, packet.id.0)),
                Outcome::Lost { packet, .. } => self.lost.push(packet.id.0),
            }
        }
    }

    pub fn tti(&mut self, tti: Tti) {
        self.tti_with(tti, |_, _| ());
    }

    pub fn tti_with(&mut self, tti: Tti, arrived: impl FnMut(Time, &Amd)) {
        self.catch_up(arrived);
        if let Some(report) = self.rlc.take_report(self.now, tti.report_room) {
            assert!(report.bytes <= tti.report_room);
            self.reports.push((self.ms(), report.number));
            self.send(tti.report_delay, Arrival::Report { number: report.number, lost: tti.report_lost });
        }
        let block = self.rlc.fill(self.now, tti.room);
        self.check_block(&block, tti.room);
        if !block.units.is_empty() {
            self.blocks.push((self.ms(), block.clone()));
            self.send(tti.delay, Arrival::Block { units: block.units, lost: tti.lost });
        }
        self.now += Duration(MS);
    }

    /// It has padding only if nothing more could be sent in it.
    fn check_block(&self, block: &Filled, room: u32) {
        assert!(block.bytes() <= room);
        // The smallest PDU segment has a header of 4 octets and one octet of data, and `PLAIN` has
        // no subheaders, so up to 4 octets may stay unused.
        assert!(room - block.bytes() <= 4 || self.rlc.sendable() == 0, "padding in {block:?} of {room}");
        let parts = self.rlc.carried(block.units.clone());
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<u32>(), block.payload);
    }

    /// Until nothing is on the air, can be sent or is timed; false if not within `most` TTIs.
    pub fn finish(&mut self, tti: Tti, most: usize) -> bool {
        for _ in 0..most {
            self.tti(tti);
            if self.is_quiet() {
                return true;
            }
        }
        false
    }

    pub fn is_quiet(&self) -> bool {
        self.arrivals.is_empty() && self.rlc.sendable() == 0 && self.rlc.due().is_none()
    }
}

/// Arrival (TTI) and size of packets; the TTIs repeat.
#[derive(Clone, Debug)]
pub struct Load {
    pub packets: Vec<(usize, u32)>,
    pub ttis: Vec<Tti>,
}

/// Blocks in `rooms`, packets up to `bytes`, delays up to `most_delay` ms.
pub fn load(rooms: Range<u32>, bytes: u32, most_delay: u64) -> impl Strategy<Value = Load> {
    let tti = (rooms, 0..10u32, 1..=most_delay, 8..40u32, any::<bool>(), 1..=most_delay);
    let losses = 0..9u32;
    let packets = vec((0..60usize, 1..=bytes), 1..40);
    (packets, losses, vec(tti, 1..50)).prop_map(|(mut packets, losses, ttis)| {
        packets.sort_by_key(|packet| packet.0);
        let treat = |(room, fortune, delay, report_room, report_lost, report_delay)| {
            let lost = fortune < losses;
            Tti { room, lost, delay, report_room, report_lost, report_delay }
        };
        Load { packets, ttis: ttis.into_iter().map(treat).collect() }
    })
}
