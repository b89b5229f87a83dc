//! TS 25.322. All PDUs from RNC to phone have the same size, with a header of 2 bytes for data; PDUs of all
//! types can be lost. Not modelled: control PDUs piggybacked on data, suspension and resumption, estimated
//! PDU counters, ciphering, and release of the connection after too many resets.

pub mod discard;
pub mod params;
pub mod pdu;
pub mod polling;
pub mod rx;
pub mod status;
pub mod tx;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use params::AcknowledgedMode;
use pdu::{Feedback, Pdu};
use rx::Receiver;
use tx::Sender;

use super::sdu_buffer::SduBuffer;
use super::{Delivered, RlcPair};
use crate::Backlog;
use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::rng::{ErrorGaps, Streams};
use nodeb_base::units::{Duration, Time};

#[derive(Debug)]
pub struct Entities {
    sender: Sender,
    receiver: Receiver,
    sdus: SduBuffer,
    /// With the time of arrival at the sender.
    feedback_in_flight: VecDeque<(Time, Feedback)>,
    delay: Duration,
    losses: ErrorGaps,
}

#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Header included.
    pub pdu_bytes: u32,
    /// In packets.
    pub buffer: usize,
    pub order: Delivered,
}

impl AcknowledgedMode {
    pub fn build(&self, setting: Setting, user: u64, streams: &Streams) -> Entities {
        Entities {
            sender: Sender::new(self, setting.pdu_bytes),
            receiver: Receiver::new(self, setting.pdu_bytes, setting.order),
            sdus: SduBuffer::new(setting.buffer),
            feedback_in_flight: VecDeque::new(),
            delay: self.status.delay,
            losses: ErrorGaps::new(self.status.loss_rate.0, streams.stream("rlc", user, "status")),
        }
    }
}

impl Entities {
    /// Arrives after the configured delay, or is lost with the configured probability.
    fn send_feedback(&mut self, now: Time, feedback: Feedback) {
        if !self.losses.next_is_error() {
            self.feedback_in_flight.push_back((now + self.delay, feedback));
        }
    }

    fn report(&mut self, now: Time) {
        for status in self.receiver.report(now) {
            self.send_feedback(now, Feedback::Status(status));
        }
    }

    /// Upper bound of the PDUs that can be sent now, 0 only if there is none.
    pub fn waiting(&self) -> usize {
        self.sender.waiting()
    }

    /// Packet with which the next data PDU starts.
    pub fn next_packet(&self) -> Option<u64> {
        self.sender.next_packet()
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        match feedback {
            Feedback::Status(status) => self.sender.on_status(status),
            Feedback::Done(command) => self.sender.on_done(command),
        }
    }
}

impl RlcPair for Entities {
    type Pdu = Pdu;

    fn push(&mut self, now: Time, packet: Packet) -> bool {
        let Some(number) = self.sdus.take(packet) else {
            return false;
        };
        self.sender.push(now, number, packet.size);
        true
    }

    fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    fn send(&mut self, now: Time) -> Option<Pdu> {
        self.sender.send(now)
    }

    fn carried(&self, pdu: &Pdu) -> Vec<Part> {
        match pdu {
            Pdu::Data(data) => self.sdus.parts(&data.pieces).collect(),
            Pdu::Command(_) => Vec::new(),
        }
    }

    fn arrive(&mut self, now: Time, pdu: Pdu, intact: bool) {
        match pdu {
            _ if !intact => {}
            Pdu::Data(data) => self.receiver.on_data(now, &data, &mut self.sdus),
            Pdu::Command(command) => {
                self.receiver.on_command(&command, &mut self.sdus);
                self.send_feedback(now, Feedback::Done(command));
            }
        }
    }

    fn due(&self) -> Option<Time> {
        let report = self.feedback_in_flight.front().map(|(at, _)| *at);
        [report, self.sender.due(), self.receiver.due()].into_iter().flatten().min()
    }

    fn on_time(&mut self, now: Time) {
        self.report(now);
        while self.feedback_in_flight.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, feedback)) = self.feedback_in_flight.pop_front()
        {
            self.on_feedback(&feedback);
        }
        let dropped = self.sender.on_time(now);
        self.sdus.discard(dropped);
    }

    fn sdus(&mut self) -> &mut SduBuffer {
        &mut self.sdus
    }

    fn backlog(&self) -> Backlog {
        self.sdus.backlog()
    }
}
