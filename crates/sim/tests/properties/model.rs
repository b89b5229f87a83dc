//! Every PDU has a state of its own. The records of the tested bearer give the user served in each TTI and
//! the failed blocks; the model checks that this user, and in unused TTIs none, had data and the number of
//! PDUs, and computes arrivals.

use nodeb_base::units::Time;
use nodeb_sim::metrics::series::TtiRecord;

use super::access::{Arrival, Out};

#[derive(Clone, Copy, Debug)]
pub struct Params {
    pub tti_ns: u64,
    pub pdu_bytes: u64,
    pub channels: u64,
    pub pdus_per_block: u64,
    pub retransmission_delay_ns: u64,
    pub max_transmissions: Option<u64>,
    pub in_sequence: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pdu {
    Waiting,
    OnAir,
    Received,
    GivenUp,
}

#[derive(Debug)]
struct Block {
    pdus: std::ops::Range<usize>,
    transmissions: u64,
    eligible: u64,
}

#[derive(Debug)]
struct Packet {
    number: u64,
    from: Time,
    pdus: std::ops::Range<usize>,
    is_delivered: bool,
}

#[derive(Debug, Default)]
struct User {
    pdus: Vec<Pdu>,
    packets: Vec<Packet>,
    failed: Vec<Block>,
}

impl User {
    /// From TTI `tti` on.
    fn ready(&self, tti: u64, params: &Params) -> Option<u64> {
        let new = self
            .packets
            .iter()
            .filter(|packet| self.pdus[packet.pdus.clone()].contains(&Pdu::Waiting))
            .map(|packet| packet.from.0.div_ceil(params.tti_ns));
        let retransmissions = self.failed.iter().map(|block| block.eligible);
        new.chain(retransmissions).min().map(|first| first.max(tti))
    }

    fn blocks(&mut self, tti: u64, per_block: u64, params: &Params) -> Vec<Block> {
        let mut blocks = Vec::new();
        while (blocks.len() as u64) < params.channels
            && let Some(at) = self.failed.iter().position(|block| block.eligible <= tti)
        {
            blocks.push(self.failed.remove(at));
        }
        let here = |packet: &&Packet| packet.from.0 <= tti * params.tti_ns;
        let end = self.packets.iter().filter(here).map(|packet| packet.pdus.end).max().unwrap_or(0);
        while (blocks.len() as u64) < params.channels
            && let Some(first) = self.pdus[..end].iter().position(|pdu| *pdu == Pdu::Waiting)
        {
            let last = (first + per_block as usize).min(end);
            self.pdus[first..last].fill(Pdu::OnAir);
            blocks.push(Block { pdus: first..last, transmissions: 0, eligible: 0 });
        }
        blocks
    }

    fn deliver(&mut self, in_sequence: bool) -> Vec<u64> {
        let mut numbers = Vec::new();
        for packet in &mut self.packets {
            let pdus = &self.pdus[packet.pdus.clone()];
            if !packet.is_delivered && pdus.iter().all(|pdu| *pdu == Pdu::Received) {
                packet.is_delivered = true;
                numbers.push(packet.number);
            }
            let resolved = pdus.iter().all(|pdu| matches!(pdu, Pdu::Received | Pdu::GivenUp));
            if in_sequence && !resolved {
                break;
            }
        }
        numbers
    }
}

/// # Errors
///
/// A message about the first property that the records violate.
pub fn replay(
    params: &Params,
    users: usize,
    arrivals: &[(u64, &Arrival)],
    records: &[TtiRecord],
) -> Result<Vec<Out>, String> {
    let mut state: Vec<User> = (0..users).map(|_| User::default()).collect();
    for &(number, arrival) in arrivals {
        let user = &mut state[arrival.user];
        let first = user.pdus.len();
        let end = first + u64::from(arrival.size).div_ceil(params.pdu_bytes) as usize;
        user.pdus.resize(end, Pdu::Waiting);
        user.packets.push(Packet { number, from: arrival.at, pdus: first..end, is_delivered: false });
    }
    let mut delivered = Vec::new();
    let mut next = 0;
    for record in records {
        let tti = record.at.0 / params.tti_ns;
        let first = state.iter().filter_map(|user| user.ready(next, params)).min();
        if first != Some(tti) || record.at.0 % params.tti_ns != 0 {
            return Err(format!("idle: a user could send in TTI {first:?}, the next to be used is {tti}"));
        }
        let user = &mut state[record.user];
        if user.ready(tti, params) != Some(tti) {
            return Err(format!("user {} was served in TTI {tti} without anything to send", record.user));
        }
        let per_block = if record.ci > 0 { u64::from(record.ci) } else { params.pdus_per_block };
        let blocks = user.blocks(tti, per_block, params);
        let sent: usize = blocks.iter().map(|block| block.pdus.len()).sum();
        if sent != record.pdus as usize || record.failed as usize > blocks.len() {
            return Err(format!("TTI {tti}: expected {sent} PDUs, found {record:?}"));
        }
        if record.failed > 0 && (record.failed as usize) < blocks.len() {
            return Err(format!("TTI {tti}: the model cannot tell which blocks failed"));
        }
        for block in blocks {
            let pdus = &mut user.pdus[block.pdus.clone()];
            let transmissions = block.transmissions + 1;
            if record.failed == 0 {
                pdus.fill(Pdu::Received);
            } else if params.max_transmissions.is_some_and(|most| transmissions >= most) {
                pdus.fill(Pdu::GivenUp);
            } else {
                let earliest = record.at.0 + params.retransmission_delay_ns;
                let eligible = earliest.div_ceil(params.tti_ns).max(tti + 1);
                user.failed.push(Block { transmissions, eligible, ..block });
            }
        }
        let end = Time((tti + 1) * params.tti_ns);
        delivered
            .extend(user.deliver(params.in_sequence).into_iter().map(|number| (end, record.user, number)));
        next = tti + 1;
    }
    match state.iter().filter_map(|user| user.ready(next, params)).min() {
        None => Ok(delivered),
        Some(tti) => Err(format!("asleep: a user could still send in TTI {tti}")),
    }
}
