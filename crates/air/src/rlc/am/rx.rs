//! TS 25.322, 11.3.3, 11.5.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::units::Time;

use super::params::{AcknowledgedMode, StatusFormat};
use super::pdu::{Command, CommandKind, Data, Status};
use super::status::{Reporter, report};
use crate::rlc::Delivered;
use crate::rlc::reassembly::Reassembly;
use crate::rlc::sdu_buffer::SduBuffer;

#[derive(Debug)]
pub struct Receiver {
    window: u64,
    pdu_bytes: u32,
    format: StatusFormat,
    /// VR(R).
    next: u64,
    /// From `next` to VR(H).
    received: VecDeque<bool>,
    reassembly: Reassembly,
    reporter: Reporter,
}

impl Receiver {
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

    /// VR(H).
    fn highest(&self) -> u64 {
        self.next + self.received.len() as u64
    }

    /// Outside the window or received before, it only starts periodic reports and, by its poll bit, requests
    /// one.
    pub fn on_data(&mut self, now: Time, data: &Data, sdus: &mut SduBuffer) {
        self.reporter.start_periodic(now);
        let leaves_gap = data.sn > self.highest();
        let inside = (self.next..self.next + self.window).contains(&data.sn);
        if inside && self.mark(data.sn) {
            self.reassembly.take(&data.pieces, sdus);
        }
        self.reporter.request(data.poll, inside && leaves_gap);
    }

    /// `sn` is inside the window; true if it is new.
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

    /// Gives up the packets that the sender has discarded.
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

    /// Empty if no report is due.
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

    /// Before the highest PDU received.
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

    /// Even if no PDU arrives until then.
    pub fn due(&self) -> Option<Time> {
        self.reporter.next()
    }
}
