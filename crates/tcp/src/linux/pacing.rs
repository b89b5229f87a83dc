//! A packet is as many segments as the rate sends in 1/1024 s (Linux: `tcp_tso_autosize`,
//! `tcp_min_tso_segs`); the next waits for its duration, less its own delay up to half of it
//! (`tcp_update_skb_after_send`). As in Linux's `fq`, the first segments of a connection are not paced.

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

/// In seconds.
const PACKET_TIME: f64 = 1.0 / 1024.0;
/// In bytes.
const MAX_PACKET: f64 = 65_536.0;
/// At the start of a connection.
const FREE_SEGMENTS: u64 = 9;

#[derive(Clone, Debug)]
pub struct Pacer {
    mss: u64,
    /// Segments not charged.
    free: u64,
    /// The charges so far are over.
    paid_at: Time,
    /// In bytes per second.
    rate: Option<f64>,
    /// Segments that leave together.
    packet: u64,
    /// Of the present packet, with its segments still to be sent.
    leaving: (Time, u64),
    /// Delay of the packet that can still be subtracted.
    credit: Duration,
}

impl Pacer {
    /// Nothing is paced until a rate is set.
    pub fn new(mss: u64) -> Self {
        Self {
            mss,
            free: FREE_SEGMENTS,
            paid_at: Time::ZERO,
            rate: None,
            packet: 1,
            leaving: (Time::ZERO, 0),
            credit: Duration::ZERO,
        }
    }

    /// In bytes per second; below one, the kernel's integer rate would be 0, without pacing.
    pub fn set_rate(&mut self, rate: Option<f64>, min_segments: u64) {
        let rate = rate.filter(|&rate| rate >= 1.0);
        if let Some(rate) = rate
            && self.rate != Some(rate)
        {
            let bytes = (PACKET_TIME * rate).min(MAX_PACKET);
            self.packet = ((bytes / self.mss as f64) as u64).max(min_segments).max(1);
        }
        self.rate = rate;
    }

    pub fn blocked(&self, now: Time) -> Option<Time> {
        let goes_on = self.leaving.0 == now && self.leaving.1 > 0;
        (self.rate.is_some() && self.paid_at > now && !goes_on).then_some(self.paid_at)
    }

    /// `now` or later.
    pub fn departure(&self, now: Time) -> Time {
        self.paid_at.max(now)
    }

    /// Not the first nine segments of a connection, or without a rate.
    pub fn charge(&mut self, now: Time, bytes: u64) {
        if self.free > 0 {
            self.free -= 1;
            return;
        }
        let Some(rate) = self.rate else {
            return;
        };
        if self.leaving.0 != now || self.leaving.1 == 0 {
            self.credit = now.since(self.paid_at);
            self.paid_at = self.paid_at.max(now);
            self.leaving = (now, self.packet);
        }
        self.leaving.1 -= 1;
        let time = time_of(bytes as f64, rate);
        let credited = Duration((time.0 / 2).min(self.credit.0));
        self.credit.0 -= credited.0;
        self.paid_at += Duration(time.0 - credited.0);
    }
}

fn time_of(bytes: f64, rate: f64) -> Duration {
    Duration((bytes * NANOS_PER_S as f64 / rate.max(1.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In ms, segments of 1000 B, after the unpaced ones.
    fn departures(rate: f64, min_segments: u64, segments: usize) -> Vec<u64> {
        let (mut pacer, mut now) = (Pacer::new(1_000), Time::ZERO);
        pacer.free = 0;
        pacer.set_rate(Some(rate), min_segments);
        let mut out = Vec::new();
        while out.len() < segments {
            now = pacer.blocked(now).unwrap_or(now);
            pacer.charge(now, 1_000);
            out.push(now.0 / 1_000_000);
        }
        out
    }

    #[test]
    fn segments_leave_in_smallest_packets() {
        assert_eq!(departures(100_000.0, 1, 5), [0, 10, 20, 30, 40]);
        assert_eq!(departures(1_000_000.0, 2, 6), [0, 0, 2, 2, 4, 4]);
    }

    /// `tcp_tso_autosize`: 4 segments at 4.1 MB/s and 3 at 4.0 MB/s.
    #[test]
    fn packets_at_high_rate_last_a_millisecond() {
        assert_eq!(departures(4_100_000.0, 2, 9), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(departures(4_000_000.0, 2, 9), [0, 0, 0, 0, 0, 0, 1, 1, 1]);
    }

    /// `tcp_update_skb_after_send`: nine.
    #[test]
    fn first_segments_are_not_paced() {
        let mut pacer = Pacer::new(1_000);
        pacer.set_rate(Some(100_000.0), 1);
        for _ in 0..9 {
            pacer.charge(Time::ZERO, 1_000);
        }
        assert_eq!(pacer.blocked(Time::ZERO), None);
        pacer.charge(Time::ZERO, 1_000);
        assert_eq!(pacer.blocked(Time::ZERO), Some(Time(10_000_000)));
    }

    /// `tcp_update_skb_after_send`; two segments at 100 kB/s take 20 ms.
    #[test]
    fn late_departure_is_credited_up_to_half() {
        let after = |late_ms: u64| {
            let mut pacer = Pacer::new(1_000);
            (pacer.free, pacer.paid_at) = (0, Time(100_000_000));
            pacer.set_rate(Some(100_000.0), 2);
            let now = Time((100 + late_ms) * 1_000_000);
            pacer.charge(now, 1_000);
            pacer.charge(now, 1_000);
            pacer.blocked(now).unwrap().since(now).0 / 1_000_000
        };
        assert_eq!([0, 3, 9, 10, 500].map(after), [20, 17, 11, 10, 10]);
    }

    #[test]
    fn separate_segments_are_separate_packets() {
        let mut pacer = Pacer::new(1_000);
        pacer.free = 0;
        pacer.set_rate(Some(100_000.0), 2);
        pacer.charge(Time::ZERO, 1_000);
        assert_eq!(pacer.blocked(Time::ZERO), None);
        assert_eq!(pacer.blocked(Time(1)), Some(Time(10_000_000)));
    }

    /// `tcp_update_skb_after_send`: the kernel truncates 0.3 B/s to 0.
    #[test]
    fn rate_of_zero_disables_pacing() {
        let mut pacer = Pacer::new(1_000);
        pacer.free = 0;
        pacer.set_rate(Some(0.3), 1);
        pacer.charge(Time::ZERO, 1_000);
        assert_eq!(pacer.blocked(Time::ZERO), None);
    }

    #[test]
    fn segments_do_not_wait_without_rate() {
        let mut pacer = Pacer::new(1_000);
        pacer.charge(Time::ZERO, 1 << 30);
        assert_eq!(pacer.blocked(Time::ZERO), None);
    }
}
