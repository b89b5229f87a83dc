//! The bearer against closed forms and timelines made by hand.

mod available;
mod closed_forms;
mod handover;
mod rlc;
mod schedulers;
mod timelines;

use super::bearer::HsdpaBearer;
use super::ue::Ue;
use super::{Hsdpa, TTI};
use crate::cell::channel::ChannelSpec;
use crate::cell::channel::trace::{AtEnd, Trace};
use crate::engine::Stamps;
use crate::packet::{Kind, Packet};
use crate::rng::Streams;
use crate::units::Time;
use crate::{Bearer, Delivery, UserRadio};

/// Parameters from JSON, over the defaults.
fn hsdpa(text: serde_json::Value) -> Hsdpa {
    serde_json::from_value(text).expect("parameters of hsdpa")
}

/// A user with a channel that repeats these SNRs and CQIs.
fn playing(snrs_db: &[f64], cqi: &[u8]) -> Ue {
    let (snrs_db, cqi) = (snrs_db.to_vec().into(), cqi.to_vec().into());
    let trace = Trace { at_end: Some(AtEnd::Loop), snrs_db, cqi, ..Trace::default() };
    Ue { category: 10, channel: ChannelSpec::Trace(trace), ..Ue::default() }
}

fn ue(text: serde_json::Value) -> Ue {
    serde_json::from_value(text).expect("a UE")
}

/// A bearer with a hand on it.
struct Bench {
    bearer: HsdpaBearer,
    stamps: Stamps,
    sent: u64,
    /// What has arrived: when, whose, the packet's number.
    arrived: Vec<(Time, usize, u64)>,
    bytes: Vec<u64>,
}

impl Bench {
    fn new(params: &Hsdpa, ues: &[Ue], run: u64) -> Self {
        let user = |(id, ue): (u64, &Ue)| UserRadio { id, ue: ue.clone(), ..UserRadio::default() };
        let users: Vec<_> = (0..).zip(ues).map(user).collect();
        let mut bearer = params.build(&users, &Streams::new(3, run));
        bearer.record_ttis();
        Self { bearer, stamps: Stamps::default(), sent: 0, arrived: Vec::new(), bytes: vec![0; ues.len()] }
    }

    fn push(&mut self, at: Time, user: usize, size: u32) {
        let packet = Packet { size, seq: self.sent, ..Packet::control(user as u32, Kind::Segment) };
        assert!(self.bearer.accept(at, user, packet, &mut self.stamps));
        self.sent += 1;
    }

    /// Runs what is due before `end`.
    fn run(&mut self, end: Time) {
        let mut delivered = Vec::new();
        while let Some(key) = self.bearer.next_wake().filter(|(at, _)| *at < end) {
            self.bearer.wake(key, &mut self.stamps, &mut delivered);
            for Delivery { user, packet } in delivered.drain(..) {
                self.arrived.push((key.0, user, packet.seq));
                self.bytes[user] += u64::from(packet.size);
            }
        }
    }

    /// Runs so many TTIs while everybody always has `packets` packets of `size` waiting.
    fn saturate(&mut self, ttis: u64, packets: usize, size: u32) {
        for tti in 0..ttis {
            for user in 0..self.bytes.len() {
                while self.bearer.backlog(user).0 < packets {
                    self.push(Time(tti * TTI.0), user, size);
                }
            }
            self.run(Time((tti + 1) * TTI.0));
        }
    }
}
