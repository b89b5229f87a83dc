//! The receiver: its window, what is missing, and when it reports (TS 25.322, 11.3.3, 11.5).

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::units::Time;

use super::params::{AcknowledgedMode, StatusFormat};
use super::pdu::{Command, CommandKind, Data, Status};
use super::status::{Reporter, report};
use crate::rlc::Delivered;
use crate::rlc::reassembly::Reassembly;
use crate::rlc::sdu_buffer::SduBuffer;

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    window: u64,
    pdu_bytes: u32,
    format: StatusFormat,
    /// First PDU that has not come, VR(R).
    next: u64,
    /// Whether those from there to the highest that came, VR(H), are here.
    here: VecDeque<bool>,
    reassembly: Reassembly,
    reporter: Reporter,
}

impl Receiver {
    /// A receiver that nothing has come to.
    pub fn new(params: &AcknowledgedMode, pdu_bytes: u32, order: Delivered) -> Self {
        Self {
            window: u64::from(params.rx_window.get()),
            pdu_bytes,
            format: params.status.format,
            next: 0,
            here: VecDeque::new(),
            reassembly: Reassembly::new(order),
            reporter: Reporter::new(&params.status),
        }
    }

    /// One past the highest PDU that came, VR(H).
    fn highest(&self) -> u64 {
        self.next + self.here.len() as u64
    }

    /// An intact PDU with data has come. One outside the window or that came before is of no use, but
    /// its poll counts.
    pub fn on_data(&mut self, now: Time, data: &Data, sdus: &mut SduBuffer) {
        self.reporter.begin(now);
        let leaves_gap = data.sn > self.highest();
        let inside = (self.next..self.next + self.window).contains(&data.sn);
        if inside && self.mark(data.sn) {
            self.reassembly.take(&data.pieces, sdus);
        }
        self.reporter.ask(data.poll, inside && leaves_gap);
    }

    /// Marks a PDU of the window as here; whether it was not.
    fn mark(&mut self, sn: u64) -> bool {
        let place = (sn - self.next) as usize;
        if self.here.len() <= place {
            self.here.resize(place + 1, false);
        }
        let is_new = !std::mem::replace(&mut self.here[place], true);
        self.move_window();
        is_new
    }

    fn move_window(&mut self) {
        while self.here.front() == Some(&true) {
            self.here.pop_front();
            self.next += 1;
        }
    }

    /// A command has come.
    pub fn on_command(&mut self, command: &Command, sdus: &mut SduBuffer) {
        if command.kind == CommandKind::Reset && command.sn >= self.highest() {
            self.here.clear();
        }
        while self.next < command.sn {
            self.here.pop_front();
            self.next += 1;
        }
        self.move_window();
        self.reassembly.give_up_before(command.kept, sdus);
    }

    /// The report that goes now, if one is due.
    pub fn report(&mut self, now: Time) -> Vec<Status> {
        if !self.reporter.is_due(now) {
            return Vec::new();
        }
        let missing = self.missing();
        if missing.is_empty() {
            self.reporter.rest();
        }
        report(self.format, self.pdu_bytes, &missing, self.highest())
    }

    /// Runs of PDUs that have not come, below the highest that has.
    fn missing(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for (sn, _) in (self.next..).zip(&self.here).filter(|(_, here)| !**here) {
            match runs.last_mut().filter(|run| run.end == sn) {
                Some(run) => run.end += 1,
                None => runs.push(sn..sn + 1),
            }
        }
        runs
    }

    /// When a report may be due, if nothing comes before.
    pub fn due(&self) -> Option<Time> {
        self.reporter.next()
    }
}
