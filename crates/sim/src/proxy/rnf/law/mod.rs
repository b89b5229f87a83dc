//! The window is `w = b T + q_ref + I`, where `b` is the bandwidth in packets per second from the last
//! message, `T` the estimate of the round-trip time, `q_ref` the target queue length in packets and `I` the
//! integral action (`fiorenzi`, III.A). Packets of the window that are not in flight wait, so the queue
//! settles at `q_ref + b (T - round trip) + I`. Without feedback `I` is 0. With feedback every message adds
//! `gain (q_ref - queue)` to `I` if the proxy's data fill the window, so that the queue reaches its target
//! even if the estimate `T` is wrong. A change of the window changes the queue by the same amount `d`
//! messages later, so the loop is `I[k+1] = I[k] - gain I[k-d]`. It is stable for a gain below `2 sin(pi / (4
//! d + 2))`: 2 for `d` = 0, 1 for `d` = 1, 0.62 for `d` = 2. `d` is the number of further messages that the
//! RNC sends before the queue reacts to a message. This reaction takes the message's delay, plus the delay
//! from proxy to RNC and, if the window shrinks, the time in which the queue drains. This sum is counted in
//! intervals, rounded up, less one.

use nodeb_base::units::Duration;
use nodeb_tcp::SenderCounts;

use super::Rnf;
use super::meter::Message;
use super::round_trip::RoundTrip;

/// In packets, so that the connection never stops.
const MIN_WINDOW: f64 = 1.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Windows {
    /// One for each message after the first estimate of the round-trip time.
    pub count: u64,
    /// In packets; 0 before the first.
    pub last: f64,
    /// In packets.
    pub sum: f64,
}

#[derive(Debug)]
pub struct Law {
    packet_bytes: f64,
    q_ref: f64,
    gain: Option<f64>,
    round_trip: RoundTrip,
    /// Number and sum in ns of the sender's round-trip times at the last [`Self::note_round_trip`].
    seen: (u64, u64),
    integral: f64,
    pub windows: Windows,
}

impl Law {
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

    /// Mean of those measured on data since the last call, without the SYN, which takes less time to transmit
    /// than a full segment.
    pub fn note_round_trip(&mut self, counts: &SenderCounts) {
        let (samples, sum) = std::mem::replace(&mut self.seen, (counts.rtt_samples, counts.rtt_sum_ns));
        if counts.rtt_samples > samples {
            self.round_trip.sample(Duration((counts.rtt_sum_ns - sum) / (counts.rtt_samples - samples)));
        }
    }

    /// In packets; `held` is the number of bytes that the proxy holds and the phone has not acknowledged.
    pub fn window(&mut self, message: &Message, held: u64) -> Option<f64> {
        let round_trip = self.round_trip.estimate()?.as_secs();
        let feedforward = message.bandwidth / self.packet_bytes * round_trip + self.q_ref;
        if let Some(gain) = self.gain.filter(|_| self.is_in_use(held)) {
            // The integral is limited so that the window stays between 0 and twice the feedforward term.
            let error = self.q_ref - message.queue as f64;
            self.integral = (self.integral + gain * error).clamp(-feedforward, feedforward);
        }
        let window = (feedforward + self.integral).max(MIN_WINDOW);
        let Windows { count, sum, .. } = self.windows;
        self.windows = Windows { count: count + 1, last: window, sum: sum + window };
        Some(window)
    }

    /// If not, the queue is short for lack of data, and the integral would grow without effect (wind-up).
    fn is_in_use(&self, held: u64) -> bool {
        self.windows.count > 0 && held as f64 >= self.windows.last * self.packet_bytes
    }
}

#[cfg(test)]
mod tests;
