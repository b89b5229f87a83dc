//! Pacing: segments leave at the control's rate instead of in bursts.
//!
//! Each segment charges the time that it takes at that rate. A small burst may run ahead of the
//! rate, the send quantum of draft-cardwell-iccrg-bbr-congestion-control-00, 4.2.2; then the pacer
//! blocks until the charge is paid off. The first segments are never paced, as in Linux's fq.

use crate::units::{Duration, NANOS_PER_S, Time};

/// Below this a quantum is one segment: 1.2 Mbit/s in bytes per second.
const SLOW: f64 = 150_000.0;
/// Below this a quantum is two segments: 24 Mbit/s.
const MEDIUM: f64 = 3_000_000.0;
/// Otherwise it is what goes out in 1 ms, at most this.
const LARGEST_QUANTUM: f64 = 65_536.0;

/// The pacer of one connection.
#[derive(Clone, Debug)]
pub struct Pacer {
    mss: u64,
    /// Bytes that may still go unpaced.
    free: u64,
    /// When everything charged so far is paid off.
    paid_at: Time,
}

impl Pacer {
    /// A pacer that lets the first `free` bytes pass.
    pub fn new(mss: u64, free: u64) -> Self {
        Self { mss, free, paid_at: Time::ZERO }
    }

    /// Until when nothing may be sent at `rate` bytes per second; `None` if something may.
    pub fn blocked(&self, now: Time, rate: f64) -> Option<Time> {
        let allowed = time_of(self.quantum(rate) - self.mss as f64, rate);
        (self.free == 0 && self.paid_at > now + allowed).then_some(self.paid_at)
    }

    /// Charges a segment of `bytes` sent now.
    pub fn charge(&mut self, now: Time, bytes: u64, rate: f64) {
        if self.free > 0 {
            self.free = self.free.saturating_sub(bytes);
        } else {
            self.paid_at = self.paid_at.max(now) + time_of(bytes as f64, rate);
        }
    }

    fn quantum(&self, rate: f64) -> f64 {
        let mss = self.mss as f64;
        match rate {
            rate if rate < SLOW => mss,
            rate if rate < MEDIUM => 2.0 * mss,
            rate => (rate / 1_000.0).clamp(2.0 * mss, LARGEST_QUANTUM.max(2.0 * mss)),
        }
    }
}

/// How long `bytes` take at `rate` bytes per second.
fn time_of(bytes: f64, rate: f64) -> Duration {
    Duration((bytes * NANOS_PER_S as f64 / rate.max(1.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When `segments` of 1000 B leave at `rate` if the pacer is asked as soon as it allows.
    fn departures(rate: f64, free: u64, segments: usize) -> Vec<u64> {
        let (mut pacer, mut now) = (Pacer::new(1_000, free), Time::ZERO);
        let mut out = Vec::new();
        while out.len() < segments {
            now = pacer.blocked(now, rate).unwrap_or(now);
            pacer.charge(now, 1_000, rate);
            out.push(now.0 / 1_000_000);
        }
        out
    }

    #[test]
    fn slow_segments_leave_one_by_one() {
        assert_eq!(departures(100_000.0, 0, 5), [0, 10, 20, 30, 40]);
    }

    #[test]
    fn faster_ones_in_small_bursts() {
        assert_eq!(departures(1_000_000.0, 0, 6), [0, 0, 2, 2, 4, 4]);
    }

    #[test]
    fn the_first_are_free() {
        assert_eq!(departures(100_000.0, 3_000, 6), [0, 0, 0, 0, 10, 20]);
    }
}
