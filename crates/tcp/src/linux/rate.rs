//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! Every segment stores the number of bytes delivered before it was sent. When the segment itself
//! is delivered, the bytes delivered in between give a sample of the delivery rate of the path. The
//! sample is the number of these bytes, divided by the time in which they were sent or the time in
//! which they were acknowledged, whichever is longer. The segment also stores the bytes lost and in
//! flight, for controls that estimate the volume that the path can hold (draft-ietf-ccwg-bbr,
//! 4.1.2).

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

/// State of the connection at the transmission of a segment (section 3.1.2, `P.*`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// Number of bytes delivered on the connection before the segment was sent.
    pub delivered: u64,
    /// Time of the last delivery before the segment was sent, or the time at which the segment was
    /// sent if nothing was outstanding.
    pub delivered_at: Time,
    /// Transmission time of the newest segment that had been delivered before the segment was sent,
    /// or of the segment itself if nothing was outstanding.
    pub first_sent: Time,
    /// Number of bytes marked lost before the segment was sent, modulo 2^32.
    pub lost: u32,
    /// Number of bytes in flight after the transmission, including the segment.
    pub in_flight: u32,
    /// Whether the application limited the sender when the segment was sent.
    pub app_limited: bool,
}

/// Measurement of the path by the newest segment that an ACK delivers (`rs.*` of the draft).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Delivery rate in bytes per second; `None` if it was measured over too short a time.
    pub rate: Option<f64>,
    /// Whether the application, and not the path, may have limited this rate.
    pub app_limited: bool,
    /// Number of bytes delivered on the connection before the segment was sent.
    pub prior_delivered: u64,
    /// Number of bytes delivered since the segment was sent, including the segment.
    pub delivered: u64,
    /// Number of bytes marked lost since the segment was sent.
    pub lost: u64,
    /// Number of bytes in flight when the segment was sent, including the segment.
    pub in_flight: u64,
}

/// Estimator of the delivery rate of a connection (`C.*` and `rs.*` of the draft).
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    delivered: u64,
    lost: u32,
    delivered_at: Time,
    first_sent: Time,
    /// Value of `delivered` above which the sender is no longer application-limited. 0 if the
    /// sender is not application-limited now.
    app_limited_until: u64,
    /// Snapshot and transmission time of the newest segment that the present ACK delivers.
    newest: Option<(Snapshot, Time)>,
    /// Whether the congestion control needs no rate samples, so that only delivered bytes are
    /// counted.
    counts_only: bool,
}

impl Sampler {
    /// Creates a sampler for a new connection. If `gives_samples` is false, the sampler only counts
    /// delivered bytes and gives no rates.
    pub fn new(gives_samples: bool) -> Self {
        Self { counts_only: !gives_samples, ..Self::default() }
    }

    /// Returns the snapshot of a segment of `bytes` bytes sent now, with `before` bytes in flight. A sampler
    /// that gives no rates returns a snapshot of zeros. If nothing is outstanding (`is_first`), delivery is
    /// measured from now on. Segments that are marked lost count as outstanding, since a spurious timeout
    /// would otherwise shorten the interval and raise the rate (Linux: `tcp_rate_skb_sent`).
    pub fn on_send(&mut self, now: Time, bytes: u64, before: u64, is_first: bool) -> Snapshot {
        if self.counts_only {
            return Snapshot::default();
        }
        if is_first {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight: (before + bytes) as u32,
            app_limited: self.is_app_limited(),
        }
    }

    /// Records the delivery of a segment of `bytes` bytes, which was last sent at `sent` with the
    /// snapshot `snapshot`.
    pub fn on_delivered(&mut self, now: Time, bytes: u64, sent: Time, snapshot: Snapshot) {
        self.count(now, bytes);
        if self.counts_only {
            return;
        }
        let newer = |(newest, at): (Snapshot, Time)| (snapshot.delivered, sent) >= (newest.delivered, at);
        if self.newest.is_none_or(newer) {
            self.newest = Some((snapshot, sent));
            self.first_sent = sent;
        }
    }

    /// Records the delivery of `bytes` bytes at `now`, without a sample.
    pub fn count(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// Ends the processing of an ACK. Returns the sample of the newest segment that the ACK
    /// delivers, or `None` if the ACK delivers no segment or the sampler gives no rates. The sample
    /// has no rate if the interval is shorter than the smallest round-trip time, since the rate
    /// would be unreliable (3.3).
    pub fn finish(&mut self, min_rtt: Option<Duration>) -> Option<RateSample> {
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (then, sent) = self.newest.take()?;
        let sending = sent.since(then.first_sent);
        let acking = self.delivered_at.since(then.delivered_at);
        let interval = sending.max(acking);
        let delivered = self.delivered - then.delivered;
        let long_enough = interval.0 > 0 && min_rtt.is_none_or(|min| interval >= min);
        Some(RateSample {
            rate: long_enough.then(|| delivered as f64 * NANOS_PER_S as f64 / interval.0 as f64),
            app_limited: then.app_limited,
            prior_delivered: then.delivered,
            delivered,
            lost: self.lost.wrapping_sub(then.lost).into(),
            in_flight: then.in_flight.into(),
        })
    }

    /// Records that a segment of `bytes` bytes, sent with the snapshot `snapshot`, is lost. Returns the
    /// number of bytes lost since it was sent, including the segment. A sampler that gives no rates returns
    /// the number since the start of the connection.
    pub fn record_lost(&mut self, bytes: u64, snapshot: Snapshot) -> u64 {
        self.lost = self.lost.wrapping_add(bytes as u32);
        self.lost.wrapping_sub(snapshot.lost).into()
    }

    /// Records that the application, or a congestion control that holds back, limits the sender now.
    /// The limit lasts until more than the `in_flight` bytes in flight have been delivered.
    pub fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Returns true from the time at which [`Self::set_app_limited`] was called until an ACK has delivered
    /// data that was sent later.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Returns the number of bytes delivered since the start of the connection.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000);

    #[test]
    fn steady_stream_gives_its_rate() {
        let mut sampler = Sampler::default();
        let mut in_flight = std::collections::VecDeque::new();
        let mut last = None;
        // The sender sends 1000 B every 10 ms. Each ACK arrives 50 ms after its data was sent.
        for step in 0..100 {
            let now = MS(10 * step);
            if step >= 5
                && let Some((sent, snapshot)) = in_flight.pop_front()
            {
                sampler.on_delivered(now, 1_000, sent, snapshot);
                last = sampler.finish(Some(Duration::from_millis(50)));
            }
            let snapshot = sampler.on_send(now, 1_000, 1_000 * in_flight.len() as u64, in_flight.is_empty());
            in_flight.push_back((now, snapshot));
        }
        let last = last.unwrap();
        assert_eq!((last.rate, last.app_limited), (Some(100_000.0), false));
        assert_eq!((last.delivered, last.in_flight), (5_000, 5_000));
    }

    #[test]
    fn compressed_acks_do_not_raise_rate_above_sending_rate() {
        let mut sampler = Sampler::default();
        let sent: Vec<_> =
            (0..6).map(|i| (MS(10 * i), sampler.on_send(MS(10 * i), 1_000, 1_000 * i, i == 0))).collect();
        for &(at, snapshot) in &sent {
            sampler.on_delivered(MS(100), 1_000, at, snapshot);
        }
        // All 6000 B are acknowledged at once, but 100 ms have passed since the first segment was
        // sent. So the rate is 60 kB/s.
        assert_eq!(sampler.finish(None).unwrap().rate, Some(60_000.0));
    }

    #[test]
    fn samples_of_limited_sender_are_flagged() {
        let mut sampler = Sampler::default();
        let first = sampler.on_send(MS(0), 1_000, 0, true);
        sampler.set_app_limited(1_000);
        let second = sampler.on_send(MS(1), 1_000, 1_000, false);
        sampler.on_delivered(MS(50), 1_000, MS(0), first);
        assert!(!sampler.finish(None).unwrap().app_limited);
        sampler.on_delivered(MS(51), 1_000, MS(1), second);
        assert!(sampler.finish(None).unwrap().app_limited);
        assert!(!sampler.on_send(MS(52), 1_000, 0, true).app_limited);
    }

    #[test]
    fn timeout_does_not_shorten_interval() {
        let mut sampler = Sampler::default();
        let first = sampler.on_send(MS(0), 1_000, 0, true);
        sampler.on_delivered(MS(100), 1_000, MS(0), first);
        sampler.finish(None);
        sampler.on_send(MS(100), 1_000, 0, true);
        // The segment is marked lost after 300 ms. Nothing is in flight at its retransmission, but
        // the segment itself is outstanding, so `is_first` is false.
        let again = sampler.on_send(MS(400), 1_000, 0, false);
        sampler.on_delivered(MS(500), 1_000, MS(400), again);
        assert_eq!(sampler.finish(None).unwrap().rate, Some(2_500.0), "1000 B in 400 ms");
    }
}
