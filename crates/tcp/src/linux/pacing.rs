//! Pacing: packets leave at the rate of the congestion control instead of in bursts.
//!
//! In this module a packet is a group of segments that leave together: as many as the pacing rate
//! sends in 1/1024 s, but at least a minimum (Linux: `tcp_tso_autosize`, `tcp_min_tso_segs`). Each
//! packet is charged its duration at the pacing rate, and the next packet waits for that time. If a
//! packet leaves later than allowed, its delay is subtracted from its charge, up to half of the
//! charge (Linux 6: `tcp_update_skb_after_send`). As in Linux's `fq`, the first segments
//! of a connection are not paced.

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

/// Time in seconds that a packet takes at the pacing rate, unless a limit of its size applies.
const PACKET_TIME: f64 = 1.0 / 1024.0;
/// Maximum size of a packet in bytes.
const MAX_PACKET: f64 = 65_536.0;
/// Number of segments at the start of a connection that leave without pacing.
const FREE_SEGMENTS: u64 = 9;

/// Pacer of one connection. It delays each packet until the charges of earlier packets are over.
#[derive(Clone, Debug)]
pub struct Pacer {
    mss: u64,
    /// Number of segments that may still leave without being charged.
    free: u64,
    /// Time at which the charges of all segments sent so far are over, so that the next packet may
    /// leave.
    paid_at: Time,
    /// Pacing rate in bytes per second; `None` if segments are not paced.
    rate: Option<f64>,
    /// Number of segments that leave together as one packet.
    packet: u64,
    /// Departure time of the present packet, and the number of its segments that are still to be
    /// sent.
    leaving: (Time, u64),
    /// Delay of the present packet that can still be subtracted from charges.
    credit: Duration,
}

impl Pacer {
    /// Creates a pacer for segments of `mss` bytes. It paces nothing until a rate is set.
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

    /// Sets the pacing rate in bytes per second, and the minimum number of segments per packet. A
    /// rate below one byte per second disables pacing, since the kernel's integer rate would be 0.
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

    /// Returns the time before which no segment may be sent, or `None` if a segment may be sent
    /// now.
    pub fn blocked(&self, now: Time) -> Option<Time> {
        let goes_on = self.leaving.0 == now && self.leaving.1 > 0;
        (self.rate.is_some() && self.paid_at > now && !goes_on).then_some(self.paid_at)
    }

    /// Returns the time at which the next packet may leave, which is `now` or later.
    pub fn departure(&self, now: Time) -> Time {
        self.paid_at.max(now)
    }

    /// Charges a segment of `bytes` bytes that leaves at `now`. The first nine segments of a
    /// connection are not charged, and no segment is charged while no rate is set.
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

/// Returns the time in which `bytes` bytes are sent at `rate` bytes per second.
fn time_of(bytes: f64, rate: f64) -> Duration {
    Duration((bytes * NANOS_PER_S as f64 / rate.max(1.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the departure times in ms of `segments` segments of 1000 B at `rate` bytes per
    /// second, which leave as soon as the pacer allows. The connection has already sent its unpaced
    /// segments.
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

    /// By `tcp_tso_autosize` a packet has as many whole segments as the rate sends in 1/1024 s: 4
    /// segments at 4.1 MB/s and 3 at 4.0 MB/s.
    #[test]
    fn packets_at_high_rate_last_a_millisecond() {
        assert_eq!(departures(4_100_000.0, 2, 9), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(departures(4_000_000.0, 2, 9), [0, 0, 0, 0, 0, 0, 1, 1, 1]);
    }

    /// By `tcp_update_skb_after_send`, the first nine segments are not charged. The tenth is, so
    /// the next segment waits.
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

    /// By `tcp_update_skb_after_send` the delay of a late packet is subtracted from its charge, up
    /// to half of the charge. Two segments at 100 kB/s take 20 ms.
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

    /// Segments that leave at different times are separate packets, so the second segment waits for
    /// the charge of the first.
    #[test]
    fn separate_segments_are_separate_packets() {
        let mut pacer = Pacer::new(1_000);
        pacer.free = 0;
        pacer.set_rate(Some(100_000.0), 2);
        pacer.charge(Time::ZERO, 1_000);
        assert_eq!(pacer.blocked(Time::ZERO), None);
        assert_eq!(pacer.blocked(Time(1)), Some(Time(10_000_000)));
    }

    /// `tcp_update_skb_after_send` paces only at a rate other than 0. The kernel truncates 0.3 B/s
    /// to 0.
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
