//! The control law of the window: feedforward of the bandwidth, and feedback of the queue if wanted.
//!
//! `w = b T + q_ref + I`, `b` being the bandwidth in packets per second that the last message told, `T` the
//! estimate of the round trip and `I` the integral action (`fiorenzi`, III.A). What does not travel waits,
//! so that the queue settles at `q_ref + b (T - round trip) + I`. Without feedback `I` is 0; with it every
//! message adds `gain (q_ref - queue)`, until the queue is at its reference whatever the estimate.
//!
//! As the queue answers a window one to one after `d` messages, the loop is `I[k+1] = I[k] - gain I[k-d]`, which
//! settles for a gain below `2 sin(pi / (4 d + 2))`: 2 without delay, 1 after one message, 0.62 after two.
//! `d` is the number of further messages that leave before the queue has answered one: the message's delay, the
//! way down to the RNC and, where a window shrinks, the time in which the queue empties, in intervals rounded
//! up, less one.

use nodeb_base::units::Duration;
use nodeb_tcp::SenderCounts;

use super::Rnf;
use super::meter::Message;
use super::round_trip::RoundTrip;

/// The smallest window: one packet, so that the connection goes on whatever it is told.
const LEAST_WINDOW: f64 = 1.0;

/// What a law has set so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Windows {
    /// Number of windows set: messages that were heeded.
    pub count: u64,
    /// The last one, in packets.
    pub last: f64,
    /// Their sum.
    pub sum: f64,
}

/// Sets the window of one connection.
#[derive(Debug)]
pub struct Law {
    packet_bytes: f64,
    q_ref: f64,
    gain: Option<f64>,
    round_trip: RoundTrip,
    /// Round trips and their sum that the sender had measured when it was last looked at.
    seen: (u64, u64),
    integral: f64,
    /// What has been set.
    pub windows: Windows,
}

impl Law {
    /// A law that has heard nothing.
    pub fn new(params: &Rnf, packet_bytes: f64) -> Self {
        Self {
            packet_bytes,
            q_ref: params.q_ref,
            gain: params.queue_feedback,
            round_trip: RoundTrip::new(&params.rtt),
            seen: (0, 0),
            integral: 0.0,
            windows: Windows::default(),
        }
    }

    /// An ACK may have completed a round trip of data; the SYN's would be too short.
    pub fn note_round_trip(&mut self, counts: &SenderCounts) {
        let (samples, sum) = std::mem::replace(&mut self.seen, (counts.rtt_samples, counts.rtt_sum_ns));
        if counts.rtt_samples > samples {
            self.round_trip.sample(Duration((counts.rtt_sum_ns - sum) / (counts.rtt_samples - samples)));
        }
    }

    /// The window in packets that follows from a message, when the proxy holds `held` bytes that the phone
    /// has not acknowledged; none before a round trip is known.
    pub fn window(&mut self, message: &Message, held: u64) -> Option<f64> {
        let round_trip = self.round_trip.estimate()?.as_secs();
        let feedforward = message.bandwidth / self.packet_bytes * round_trip + self.q_ref;
        if let Some(gain) = self.gain.filter(|_| self.is_in_use(held)) {
            // Beyond these bounds the window would be nothing, or twice what the law gives.
            let error = self.q_ref - message.queue as f64;
            self.integral = (self.integral + gain * error).clamp(-feedforward, feedforward);
        }
        let window = (feedforward + self.integral).max(LEAST_WINDOW);
        let Windows { count, sum, .. } = self.windows;
        self.windows = Windows { count: count + 1, last: window, sum: sum + window };
        Some(window)
    }

    /// Whether there are data for the whole window: else the queue is short for want of data, and the
    /// integral would wind up.
    fn is_in_use(&self, held: u64) -> bool {
        self.windows.count > 0 && held as f64 >= self.windows.last * self.packet_bytes
    }
}

#[cfg(test)]
mod tests;
