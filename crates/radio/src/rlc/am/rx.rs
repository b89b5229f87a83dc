//! Receiver of acknowledged mode: its window, missing PDUs and status reports (TS 25.322, 11.3.3,
//! 11.5).

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::units::Time;

use super::params::{AcknowledgedMode, StatusFormat};
use super::pdu::{Command, CommandKind, Data, Status};
use super::status::{Reporter, report};
use crate::rlc::Delivered;
use crate::rlc::reassembly::Reassembly;
use crate::rlc::sdu_buffer::SduBuffer;

/// Receiving end of an AM entity, in the phone.
#[derive(Debug)]
pub struct Receiver {
    window: u64,
    pdu_bytes: u32,
    format: StatusFormat,
    /// Number of the first PDU that was neither received nor given up by a command, VR(R).
    next: u64,
    /// For each PDU from number `next` to the highest one received, true if it was received. The
    /// number after the last element is VR(H).
    received: VecDeque<bool>,
    reassembly: Reassembly,
    reporter: Reporter,
}

impl Receiver {
    /// Creates a receiver that has received no PDU.
    pub fn new(params: &AcknowledgedMode, pdu_bytes: u32, order: Delivered) -> Self {
        Self {
            window: u64::from(params.rx_window.get()),
            pdu_bytes,
            format: params.status.format,
            next: 0,
            received: VecDeque::new(),
            reassembly: Reassembly::new(order),
            reporter: Reporter::new(&params.status),
        }
    }

    /// Returns the number after that of the highest PDU received, VR(H).
    fn highest(&self) -> u64 {
        self.next + self.received.len() as u64
    }

    /// Processes an intact data PDU. If the PDU is outside the receive window or was received
    /// before, it only starts periodic reports and, if its poll bit is set, requests a report.
    pub fn on_data(&mut self, now: Time, data: &Data, sdus: &mut SduBuffer) {
        self.reporter.start_periodic(now);
        let leaves_gap = data.sn > self.highest();
        let inside = (self.next..self.next + self.window).contains(&data.sn);
        if inside && self.mark(data.sn) {
            self.reassembly.take(&data.pieces, sdus);
        }
        self.reporter.request(data.poll, inside && leaves_gap);
    }

    /// Marks PDU `sn`, which must be inside the receive window, as received. Returns true if it had
    /// not been received before.
    fn mark(&mut self, sn: u64) -> bool {
        let place = (sn - self.next) as usize;
        if self.received.len() <= place {
            self.received.resize(place + 1, false);
        }
        let is_new = !std::mem::replace(&mut self.received[place], true);
        self.move_window();
        is_new
    }

    fn move_window(&mut self) {
        while self.received.front() == Some(&true) {
            self.received.pop_front();
            self.next += 1;
        }
    }

    /// Processes a command of the sender: moves or resets the receive window, and gives up the
    /// packets that the sender has discarded.
    pub fn on_command(&mut self, command: &Command, sdus: &mut SduBuffer) {
        if command.kind == CommandKind::Reset && command.sn >= self.highest() {
            self.received.clear();
        }
        while self.next < command.sn {
            self.received.pop_front();
            self.next += 1;
        }
        self.move_window();
        self.reassembly.give_up_before(command.kept, sdus);
    }

    /// Returns the STATUS PDUs of a status report that must be sent now, or an empty list if no
    /// report is due.
    pub fn report(&mut self, now: Time) -> Vec<Status> {
        if !self.reporter.is_due(now) {
            return Vec::new();
        }
        let missing = self.missing();
        if missing.is_empty() {
            self.reporter.stop_periodic();
        }
        report(self.format, self.pdu_bytes, &missing, self.highest())
    }

    /// Returns the ranges of PDUs that are missing before the highest PDU received.
    fn missing(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for (sn, _) in (self.next..).zip(&self.received).filter(|(_, received)| !**received) {
            match runs.last_mut().filter(|run| run.end == sn) {
                Some(run) => run.end += 1,
                None => runs.push(sn..sn + 1),
            }
        }
        runs
    }

    /// Returns the time at which a status report may become due even if no PDU arrives until then,
    /// or `None` if no report is planned.
    pub fn due(&self) -> Option<Time> {
        self.reporter.next()
    }
}
