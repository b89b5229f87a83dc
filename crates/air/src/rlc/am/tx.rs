//! TS 25.322, 11.3.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use nodeb_base::units::Time;

use super::discard::Discard;
use super::params::{AcknowledgedMode, AtMaxDat};
use super::pdu::{Command, CommandKind, Data, HEADER_BYTES, Pdu, Status, indicator_bytes};
use super::polling::{Occasion, Poller};
use crate::rlc::segmentation::{Piece, Segmenter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Since then neither acknowledged nor reported as missing.
    Sent,
    /// Reported as missing.
    Refused,
    /// Acknowledged, or its packets were discarded.
    Settled,
}

#[derive(Debug)]
struct Outstanding {
    pieces: Vec<Piece>,
    /// VT(DAT).
    transmissions: u32,
    state: State,
}

#[derive(Debug)]
pub struct Sender {
    window: usize,
    max_dat: Option<u32>,
    at_max_dat: AtMaxDat,
    segmenter: Segmenter,
    /// VT(A).
    first: u64,
    outstanding: VecDeque<Outstanding>,
    refused: BTreeSet<u64>,
    poller: Poller,
    discard: Discard,
    next_packet: u64,
    kept: u64,
}

impl Sender {
    pub fn new(params: &AcknowledgedMode, pdu_bytes: u32) -> Self {
        let payload = pdu_bytes.saturating_sub(HEADER_BYTES).max(1);
        Self {
            window: params.tx_window.get() as usize,
            max_dat: params.max_dat.map(std::num::NonZeroU32::get),
            at_max_dat: params.at_max_dat,
            segmenter: Segmenter::new(payload, Some(indicator_bytes(pdu_bytes))),
            first: 0,
            outstanding: VecDeque::new(),
            refused: BTreeSet::new(),
            poller: Poller::new(&params.poll),
            discard: Discard::new(params.discard_timer, params.command_timer),
            next_packet: 0,
            kept: 0,
        }
    }

    pub fn push(&mut self, now: Time, number: u64, bytes: u32) {
        self.segmenter.push(number, bytes);
        self.discard.start_timer(now, number);
        self.next_packet = number + 1;
    }

    /// VT(S).
    fn end(&self) -> u64 {
        self.first + self.outstanding.len() as u64
    }

    fn can_send_new(&self) -> bool {
        self.outstanding.len() < self.window && !self.segmenter.is_empty()
    }

    fn at(&mut self, sn: u64) -> Option<&mut Outstanding> {
        let place = usize::try_from(sn.checked_sub(self.first)?).ok()?;
        self.outstanding.get_mut(place)
    }

    pub fn is_ready(&self) -> bool {
        if self.discard.has_command() {
            return true;
        }
        let has_data = !self.refused.is_empty() || self.can_send_new();
        !self.discard.is_resetting() && (has_data || (self.poller.is_urgent() && self.last_open().is_some()))
    }

    /// Unless a PDU has reached the limit of transmissions, the bound exceeds the real number by at most one
    /// PDU per waiting packet. It is 0 only if no PDU can be sent.
    pub fn waiting(&self) -> usize {
        if !self.is_ready() {
            return 0;
        }
        let commands = usize::from(self.discard.has_command());
        if self.discard.is_resetting() {
            return commands;
        }
        let room = self.window.saturating_sub(self.outstanding.len());
        (commands + self.refused.len() + self.segmenter.pdus().min(room)).max(1)
    }

    /// Packet with which the next data PDU starts.
    pub fn next_packet(&self) -> Option<u64> {
        let refused = self.refused.first().map(|sn| &self.outstanding[(sn - self.first) as usize]);
        let packet = refused.and_then(|pdu| pdu.pieces.first()).map(|piece| piece.sdu);
        packet.or_else(|| self.segmenter.packet())
    }

    /// Highest PDU that is not settled.
    fn last_open(&self) -> Option<u64> {
        let place = self.outstanding.iter().rposition(|pdu| pdu.state != State::Settled)?;
        Some(self.first + place as u64)
    }

    /// Commands come first, then retransmissions, then new PDUs, and last a retransmission whose only purpose
    /// is to carry a poll.
    pub fn send(&mut self, now: Time) -> Option<Pdu> {
        loop {
            if let Some(command) = self.discard.take_command(now) {
                return Some(Pdu::Command(command));
            }
            if self.discard.is_resetting() {
                return None;
            }
            if let Some(sn) = self.refused.pop_first() {
                if let Some(pdu) = self.retransmit(now, sn) {
                    return Some(pdu);
                }
            } else if self.can_send_new() {
                return Some(self.send_new(now));
            } else if self.poller.is_urgent() {
                let sn = self.last_open()?;
                if let Some(pdu) = self.retransmit(now, sn) {
                    return Some(pdu);
                }
            } else {
                return None;
            }
        }
    }

    fn send_new(&mut self, now: Time) -> Pdu {
        let (sn, pieces) = (self.end(), self.segmenter.next_pdu());
        let packets = pieces.iter().filter(|piece| piece.last).count() as u32;
        self.outstanding.push_back(Outstanding {
            pieces: pieces.clone(),
            transmissions: 1,
            state: State::Sent,
        });
        let poll = self.poll(now, packets, false);
        Pdu::Data(Data { sn, poll, pieces })
    }

    /// `None` if the PDU is given up at the limit of transmissions, or not in the window any more.
    fn retransmit(&mut self, now: Time, sn: u64) -> Option<Pdu> {
        let max_dat = self.max_dat;
        let pdu = self.at(sn)?;
        pdu.transmissions += 1;
        if max_dat.is_some_and(|most| pdu.transmissions >= most) {
            self.give_up(sn);
            return None;
        }
        pdu.state = State::Sent;
        let pieces = pdu.pieces.clone();
        self.refused.remove(&sn);
        let poll = self.poll(now, 0, true);
        Some(Pdu::Data(Data { sn, poll, pieces }))
    }

    fn poll(&mut self, now: Time, packets: u32, is_retransmission: bool) -> bool {
        let occasion = Occasion {
            packets,
            last_pdu: self.refused.is_empty() && !self.can_send_new(),
            last_retransmission: is_retransmission && self.refused.is_empty(),
            window: self.outstanding.len() as f64 / self.window as f64,
            sent: self.end(),
        };
        self.poller.on_sent(now, occasion)
    }

    // --- Methods for the phone's feedback ---

    pub fn on_status(&mut self, status: &Status) {
        let acknowledged = status.acknowledged.min(self.end());
        let is_missing = |sn: u64| status.missing.iter().any(|run: &Range<u64>| run.contains(&sn));
        for sn in self.first..acknowledged {
            if !is_missing(sn) {
                self.confirm(sn);
            }
        }
        let (first, end) = (self.first, self.end());
        for sn in status.missing.iter().flat_map(|run| run.start.max(first)..run.end.min(end)) {
            self.refuse(sn);
        }
        self.move_window();
        self.poller.on_status(acknowledged, is_missing);
        if self.outstanding.is_empty() {
            self.poller.stop();
        }
    }

    fn confirm(&mut self, sn: u64) {
        if let Some(pdu) = self.at(sn) {
            pdu.state = State::Settled;
            self.refused.remove(&sn);
        }
    }

    fn refuse(&mut self, sn: u64) {
        if let Some(pdu) = self.at(sn).filter(|pdu| pdu.state == State::Sent) {
            pdu.state = State::Refused;
            self.refused.insert(sn);
        }
    }

    /// PDUs settled by a discard remain until the phone has acknowledged the command.
    fn move_window(&mut self) {
        let limit = self.discard.window_limit().unwrap_or(u64::MAX);
        while self.first < limit && self.outstanding.front().is_some_and(|pdu| pdu.state == State::Settled) {
            self.outstanding.pop_front();
            self.first += 1;
        }
    }

    pub fn on_done(&mut self, command: &Command) {
        if self.discard.on_done(command) {
            self.move_window();
            if self.outstanding.is_empty() {
                self.poller.stop();
            }
        }
    }

    // --- Methods for timers, discard and reset ---

    pub fn due(&self) -> Option<Time> {
        [self.poller.next(), self.discard.next()].into_iter().flatten().min()
    }

    /// Packets discarded without informing the phone, because no part of them was sent.
    pub fn on_time(&mut self, now: Time) -> Range<u64> {
        self.poller.on_time(now);
        let expired = self.discard.on_time(now);
        match expired.filter(|packet| *packet >= self.first_packet().max(self.kept)) {
            Some(last) => self.discard_before(last + 1),
            None => 0..0,
        }
    }

    /// First packet that is not completely acknowledged.
    fn first_packet(&self) -> u64 {
        let open = self.outstanding.iter().find(|pdu| pdu.state != State::Settled);
        let in_window = open.and_then(|pdu| pdu.pieces.first()).map(|piece| piece.sdu);
        let waiting = self.segmenter.front().map(|(number, _)| number);
        in_window.or(waiting).unwrap_or(self.next_packet)
    }

    fn give_up(&mut self, sn: u64) {
        match self.at_max_dat {
            AtMaxDat::Reset => self.reset(),
            AtMaxDat::Discard => {
                let last = self.at(sn).and_then(|pdu| pdu.pieces.last()).map(|piece| piece.sdu);
                if let Some(last) = last {
                    self.discard_before(last + 1);
                }
            }
        }
    }

    /// The packets if no part was sent; else a command informs the phone.
    fn discard_before(&mut self, kept: u64) -> Range<u64> {
        self.kept = kept;
        let front = self.segmenter.front();
        let is_begun = front.is_some_and(|(number, begun)| begun && number < kept);
        self.segmenter.drop_before(kept);
        let keeps = |pdu: &Outstanding| pdu.pieces.iter().any(|piece| piece.sdu >= kept);
        let kept_pdus = self.outstanding.iter().position(keeps).unwrap_or(self.outstanding.len());
        let sn = self.first + kept_pdus as u64;
        if kept_pdus == 0 && !is_begun && !self.outstanding.iter().any(|pdu| touches(pdu, kept)) {
            return front.map_or(0..0, |(number, _)| number..kept);
        }
        for gone in self.first..sn {
            self.confirm(gone);
        }
        self.discard.issue(Command { kind: CommandKind::MoveWindow, sn, kept }, self.first);
        0..0
    }

    /// All packets of which a part was sent are lost, except those that the phone has delivered.
    fn reset(&mut self) {
        let (end, next) = (self.end(), self.next_packet);
        let begun = self.segmenter.front();
        let kept = begun.map_or(next, |(number, begun)| number + u64::from(begun));
        self.segmenter.drop_before(kept);
        self.kept = kept;
        self.outstanding.clear();
        self.refused.clear();
        self.first = end;
        self.poller.stop();
        self.discard.issue(Command { kind: CommandKind::Reset, sn: end, kept }, end);
    }

    #[cfg(test)]
    pub fn window_span(&self) -> usize {
        self.outstanding.len()
    }
}

/// A part of a packet before `kept` is in the PDU.
fn touches(pdu: &Outstanding, kept: u64) -> bool {
    pdu.pieces.iter().any(|piece| piece.sdu < kept)
}
