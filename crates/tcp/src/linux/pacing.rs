//! Pacing: segments leave at the control's rate instead of in bursts.
//!
//! Each segment charges the time that it takes at that rate. A small burst may run ahead of the
//! rate, the send quantum: what goes out in 1 ms, at least some segments (Linux:
//! `tcp_tso_autosize`, `tcp_min_tso_segs`). Then the pacer blocks until the charge is paid off. The
//! first segments are never paced, as in Linux's fq.

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

/// Time that a quantum takes, seconds, and the largest quantum, bytes.
const QUANTUM_TIME: f64 = 0.001;
const LARGEST_QUANTUM: f64 = 65_536.0;

/// The pacer of one connection.
#[derive(Clone, Debug)]
pub struct Pacer {
    mss: u64,
    /// Bytes that may still go unpaced.
    free: u64,
    /// When everything charged so far is paid off.
    paid_at: Time,
    /// Bytes per second; `None` without pacing.
    rate: Option<f64>,
    /// How far charges may run ahead.
    ahead: Duration,
}

impl Pacer {
    /// A pacer that lets the first `free` bytes pass.
    pub fn new(mss: u64, free: u64) -> Self {
        Self { mss, free, paid_at: Time::ZERO, rate: None, ahead: Duration::ZERO }
    }

    /// Sets the rate in bytes per second, and the least quantum in segments.
    pub fn set_rate(&mut self, rate: Option<f64>, least: u64) {
        if let Some(rate) = rate
            && self.rate != Some(rate)
        {
            let least = (least * self.mss) as f64;
            let quantum = (QUANTUM_TIME * rate).clamp(least, LARGEST_QUANTUM.max(least));
            self.ahead = time_of(quantum - self.mss as f64, rate);
        }
        self.rate = rate;
    }

    /// Until when nothing may be sent; `None` if something may.
    pub fn blocked(&self, now: Time) -> Option<Time> {
        (self.rate.is_some() && self.free == 0 && self.paid_at > now + self.ahead).then_some(self.paid_at)
    }

    /// When the next segment may go.
    pub fn departure(&self, now: Time) -> Time {
        self.paid_at.max(now)
    }

    /// Charges a segment of `bytes` sent now.
    pub fn charge(&mut self, now: Time, bytes: u64) {
        let Some(rate) = self.rate else {
            return;
        };
        if self.free > 0 {
            self.free = self.free.saturating_sub(bytes);
        } else {
            self.paid_at = self.paid_at.max(now) + time_of(bytes as f64, rate);
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
    fn departures(rate: f64, least: u64, free: u64, segments: usize) -> Vec<u64> {
        let (mut pacer, mut now) = (Pacer::new(1_000, free), Time::ZERO);
        pacer.set_rate(Some(rate), least);
        let mut out = Vec::new();
        while out.len() < segments {
            now = pacer.blocked(now).unwrap_or(now);
            pacer.charge(now, 1_000);
            out.push(now.0 / 1_000_000);
        }
        out
    }

    #[test]
    fn segments_leave_in_the_least_quantum() {
        assert_eq!(departures(100_000.0, 1, 0, 5), [0, 10, 20, 30, 40]);
        assert_eq!(departures(1_000_000.0, 2, 0, 6), [0, 0, 2, 2, 4, 4]);
    }

    #[test]
    fn fast_ones_leave_by_the_millisecond() {
        assert_eq!(departures(4_000_000.0, 2, 0, 9), [0, 0, 0, 0, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn the_first_are_free() {
        assert_eq!(departures(100_000.0, 1, 3_000, 6), [0, 0, 0, 0, 10, 20]);
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pacer = Pacer::new(1_000, 0);
        pacer.charge(Time::ZERO, 1 << 30);
        assert_eq!(pacer.blocked(Time::ZERO), None);
    }
}
