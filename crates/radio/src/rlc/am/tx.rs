//! The sender: its window, what is sent next, and what a status report does (TS 25.322, 11.3).

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use nodeb_base::units::Time;

use super::discard::Discard;
use super::params::{AcknowledgedMode, AtMaxDat};
use super::pdu::{Command, CommandKind, Data, HEADER_BYTES, Pdu, Status, indicator_bytes};
use super::polling::{Occasion, Poller};
use crate::rlc::segmentation::{Piece, Segmenter};

/// What has become of a PDU in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent, and nothing is known about it.
    Sent,
    /// To be sent again.
    Refused,
    /// Arrived, or not needed any more.
    Settled,
}

/// A PDU in the window.
#[derive(Debug)]
struct Outstanding {
    pieces: Vec<Piece>,
    /// Times that it has been sent, VT(DAT).
    transmissions: u32,
    state: State,
}

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    window: usize,
    max_dat: Option<u32>,
    at_max_dat: AtMaxDat,
    segmenter: Segmenter,
    /// Number of the first PDU in `outstanding`, VT(A).
    first: u64,
    outstanding: VecDeque<Outstanding>,
    refused: BTreeSet<u64>,
    poller: Poller,
    discard: Discard,
    /// Number of the next packet to come, and of the first that has not been discarded.
    next_packet: u64,
    kept: u64,
}

impl Sender {
    /// A sender with nothing to send, for PDUs of `pdu_bytes`.
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

    /// Takes a packet.
    pub fn push(&mut self, now: Time, number: u64, bytes: u32) {
        self.segmenter.push(number, bytes);
        self.discard.watch(now, number);
        self.next_packet = number + 1;
    }

    /// One past the last PDU sent, VT(S).
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

    /// Whether there is something to send.
    pub fn is_ready(&self) -> bool {
        if self.discard.has_command() {
            return true;
        }
        let has_data = !self.refused.is_empty() || self.can_send_new();
        !self.discard.is_resetting() && (has_data || (self.poller.is_urgent() && self.last_open().is_some()))
    }

    /// PDUs that can be sent now: at most one too many for each packet that waits, and never none when
    /// there is one.
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

    /// The packet with which the next PDU with data begins.
    pub fn next_packet(&self) -> Option<u64> {
        let again = self.refused.first().map(|sn| &self.outstanding[(sn - self.first) as usize]);
        let again = again.and_then(|pdu| pdu.pieces.first()).map(|piece| piece.sdu);
        again.or_else(|| self.segmenter.packet())
    }

    /// The highest PDU that has not been settled.
    fn last_open(&self) -> Option<u64> {
        let place = self.outstanding.iter().rposition(|pdu| pdu.state != State::Settled)?;
        Some(self.first + place as u64)
    }

    /// The next PDU: a command, one that is sent again, a new one, or one that only carries a poll.
    pub fn send(&mut self, now: Time) -> Option<Pdu> {
        loop {
            if let Some(command) = self.discard.take_command(now) {
                return Some(Pdu::Command(command));
            }
            if self.discard.is_resetting() {
                return None;
            }
            if let Some(sn) = self.refused.pop_first() {
                if let Some(pdu) = self.send_again(now, sn) {
                    return Some(pdu);
                }
            } else if self.can_send_new() {
                return Some(self.send_new(now));
            } else if self.poller.is_urgent() {
                let sn = self.last_open()?;
                if let Some(pdu) = self.send_again(now, sn) {
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

    /// Sends a PDU again; `None` when it has been sent as often as it may, or is not needed.
    fn send_again(&mut self, now: Time, sn: u64) -> Option<Pdu> {
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

    fn poll(&mut self, now: Time, packets: u32, again: bool) -> bool {
        let occasion = Occasion {
            packets,
            last_pdu: self.refused.is_empty() && !self.can_send_new(),
            last_retransmission: again && self.refused.is_empty(),
            window: self.outstanding.len() as f64 / self.window as f64,
            sent: self.end(),
        };
        self.poller.on_sent(now, occasion)
    }

    // --- what the phone says ---

    /// A STATUS PDU has come.
    pub fn on_status(&mut self, status: &Status) {
        let acknowledged = status.acknowledged.min(self.end());
        let is_missing = |sn: u64| status.missing.iter().any(|run: &Range<u64>| run.contains(&sn));
        for sn in self.first..acknowledged {
            if !is_missing(sn) {
                self.settle(sn);
            }
        }
        let (first, end) = (self.first, self.end());
        for sn in status.missing.iter().flat_map(|run| run.start.max(first)..run.end.min(end)) {
            self.refuse(sn);
        }
        self.move_window();
        self.poller.on_status(acknowledged, is_missing);
        if self.outstanding.is_empty() {
            self.poller.rest();
        }
    }

    fn settle(&mut self, sn: u64) {
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

    /// The window begins with the first PDU that is not settled. One that was settled by a discard
    /// stays in it until the phone knows.
    fn move_window(&mut self) {
        let held = self.discard.window_held_at().unwrap_or(u64::MAX);
        while self.first < held && self.outstanding.front().is_some_and(|pdu| pdu.state == State::Settled) {
            self.outstanding.pop_front();
            self.first += 1;
        }
    }

    /// The phone has carried out a command.
    pub fn on_done(&mut self, command: &Command) {
        if self.discard.on_done(command) {
            self.move_window();
            if self.outstanding.is_empty() {
                self.poller.rest();
            }
        }
    }

    // --- timers, discard and reset ---

    /// When [`Self::on_time`] must be called next.
    pub fn due(&self) -> Option<Time> {
        [self.poller.next(), self.discard.next()].into_iter().flatten().min()
    }

    /// Does what is due. Returns the packets discarded of which the phone has heard nothing.
    pub fn on_time(&mut self, now: Time) -> Range<u64> {
        self.poller.on_time(now);
        let expired = self.discard.on_time(now);
        match expired.filter(|packet| *packet >= self.first_packet().max(self.kept)) {
            Some(last) => self.discard_before(last + 1),
            None => 0..0,
        }
    }

    /// The first packet of which not all has been acknowledged.
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

    /// Discards every packet before number `kept`. Returns them where the phone has heard of none and
    /// need not be told.
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
            self.settle(gone);
        }
        self.discard.give(Command { kind: CommandKind::MoveWindow, sn, kept }, self.first);
        0..0
    }

    /// Resets the protocol: whatever has been begun is lost.
    fn reset(&mut self) {
        let (end, next) = (self.end(), self.next_packet);
        let begun = self.segmenter.front();
        let kept = begun.map_or(next, |(number, begun)| number + u64::from(begun));
        self.segmenter.drop_before(kept);
        self.kept = kept;
        self.outstanding.clear();
        self.refused.clear();
        self.first = end;
        self.poller.rest();
        self.discard.give(Command { kind: CommandKind::Reset, sn: end, kept }, end);
    }

    /// PDUs sent and not settled at the beginning of the window, for tests.
    #[cfg(test)]
    pub fn window_span(&self) -> usize {
        self.outstanding.len()
    }
}

/// Whether a PDU holds a part of a packet before number `kept`.
fn touches(pdu: &Outstanding, kept: u64) -> bool {
    pdu.pieces.iter().any(|piece| piece.sdu < kept)
}
