mod available;
mod cached;
mod closed_forms;
mod handover;
mod idle;

mod rlc;
mod schedulers;
mod timelines;

use nodeb_base::context::{Counts, Output, TestBench};
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Time};

use super::Hsdpa;
use super::mac::HsdpaMac;
use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::cell::channel::trace::{AtEnd, Trace};
use nodeb_air::cell::tally::PhoneRow;
use nodeb_air::numerology::Numerology;
use nodeb_air::tti::TtiBearer;
use nodeb_air::ue::Ue;
use nodeb_air::{Hop, UserRadio};

const TTI: Duration = Numerology::HSDPA.tti;

fn hsdpa(text: serde_json::Value) -> Hsdpa {
    serde_json::from_value(text).expect("parameters of hsdpa")
}

fn playing(snrs_db: &[f64], cqi: &[u8]) -> Ue {
    let (snrs_db, cqi) = (snrs_db.to_vec().into(), cqi.to_vec().into());
    let trace = Trace { at_end: Some(AtEnd::Loop), snrs_db, cqi, ..Trace::default() };
    Ue { category: 10, channel: ChannelSpec::Trace(trace) }
}

fn ue(text: serde_json::Value) -> Ue {
    serde_json::from_value(text).expect("a UE")
}

struct Bench {
    bearer: TtiBearer<HsdpaMac>,
    around: TestBench,
    sent: u64,
    /// Time, user and packet number.
    arrived: Vec<(Time, usize, u64)>,
    bytes: Vec<u64>,
    changes: Vec<(Time, usize)>,
}

impl Bench {
    fn new(params: &Hsdpa, ues: &[Ue], run: u64) -> Self {
        let user = |(id, ue): (u64, &Ue)| UserRadio { id, ue: ue.clone(), ..UserRadio::default() };
        Self::of(params, &(0..).zip(ues).map(user).collect::<Vec<_>>(), run)
    }

    fn of(params: &Hsdpa, users: &[UserRadio], run: u64) -> Self {
        let bearer = params.bearer(users, &Streams::new(3, run));
        let around = TestBench::with_mask(Mask::TTIS.or(Mask::CHANNELS), Time(u64::MAX));
        Self {
            bearer,
            around,
            sent: 0,
            arrived: Vec::new(),
            bytes: vec![0; users.len()],
            changes: Vec::new(),
        }
    }

    fn push(&mut self, at: Time, user: usize, size: u32) {
        let packet = Packet { flow_hash: user as u32, ..Packet::new(self.sent, size) };
        assert!(self.bearer.accept(&mut self.around.at(at), user, packet));
        self.sent += 1;
    }

    fn run(&mut self, end: Time) {
        while let Some(instant) = self.bearer.next_wake().filter(|instant| instant.time() < end) {
            self.bearer.wake(&mut self.around.at(instant.time()), instant);
            for output in self.around.common.out.drain(..) {
                match output {
                    Output::Arrived { user, packet } => {
                        self.arrived.push((instant.time(), user, packet.id.0));
                        self.bytes[user] += u64::from(packet.size);
                    }
                    Output::CellChanged { user } => self.changes.push((instant.time(), user)),
                    Output::Lost { .. } | Output::Listens { .. } => {}
                }
            }
        }
    }

    /// Until `packets` packets wait.
    fn fill(&mut self, at: Time, user: usize, packets: usize, size: u32) {
        while self.bearer.backlog(user).packets < packets {
            self.push(at, user, size);
        }
    }

    fn saturate(&mut self, ttis: u64, packets: usize, size: u32) {
        self.saturate_some(0..self.bytes.len(), ttis, packets, size);
    }

    fn saturate_some(&mut self, users: std::ops::Range<usize>, ttis: u64, packets: usize, size: u32) {
        for tti in 0..ttis {
            users.clone().for_each(|user| self.fill(Time(tti * TTI.0), user, packets, size));
            self.run(Time((tti + 1) * TTI.0));
        }
    }

    fn row(&mut self, at: Time) -> PhoneRow {
        self.bearer.apply_deferred(&mut self.around.at(at));
        self.bearer.mac.phones(at)[0]
    }

    fn counts(&self) -> Counts {
        self.around.counts
    }

    /// Time, user and new cell.
    fn handovers(&mut self) -> Vec<(Time, u32, u32)> {
        let of = |(at, event)| match event {
            Event::Handover { user, cell, .. } => Some((at, user, cell)),
            _ => None,
        };
        self.around.take_events().into_iter().filter_map(of).collect()
    }

    fn ttis(&mut self) -> Vec<(Time, usize)> {
        let of = |(at, event)| match event {
            Event::Tti { user, .. } => Some((at, user as usize)),
            _ => None,
        };
        self.around.take_events().into_iter().filter_map(of).collect()
    }
}
