//! draft-cheng-iccrg-delivery-rate-estimation-02; bytes lost and in flight are for draft-ietf-ccwg-bbr,
//! 4.1.2.

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// Before the segment was sent.
    pub delivered: u64,
    /// Last one before, or the transmission if nothing was outstanding.
    pub delivered_at: Time,
    /// Of the newest segment delivered before, or of itself if nothing was outstanding.
    pub first_sent: Time,
    /// Before, modulo 2^32.
    pub lost: u32,
    /// With the segment.
    pub in_flight: u32,
    /// When the segment was sent.
    pub app_limited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// In bytes per second; `None` over too short a time.
    pub rate: Option<f64>,
    /// Possibly.
    pub app_limited: bool,
    /// Before the segment was sent.
    pub prior_delivered: u64,
    /// Since, with the segment.
    pub delivered: u64,
    /// Since the segment was sent.
    pub lost: u64,
    /// When it was sent, with the segment.
    pub in_flight: u64,
}

/// `C.*` and `rs.*` of the draft.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    delivered: u64,
    lost: u32,
    delivered_at: Time,
    first_sent: Time,
    /// Value of `delivered`; 0 if not application-limited.
    app_limited_until: u64,
    /// Of the present ACK.
    newest: Option<(Snapshot, Time)>,
    /// No rate samples are needed.
    counts_only: bool,
}

impl Sampler {
    pub fn new(gives_samples: bool) -> Self {
        Self { counts_only: !gives_samples, ..Self::default() }
    }

    /// Zeros without rates; `before` bytes are in flight. Segments marked lost count as outstanding for
    /// `is_first`, since a spurious timeout would otherwise raise the rate (Linux: `tcp_rate_skb_sent`).
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

    /// Without a sample.
    pub fn count(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// Of the newest segment delivered; no rate below the smallest round-trip time (3.3).
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

    /// Bytes lost since it was sent, with the segment, or since the start without rates.
    pub fn record_lost(&mut self, bytes: u64, snapshot: Snapshot) -> u64 {
        self.lost = self.lost.wrapping_add(bytes as u32);
        self.lost.wrapping_sub(snapshot.lost).into()
    }

    /// By the application or a congestion control that holds back, until more than `in_flight` bytes are
    /// delivered.
    pub fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Since the start.
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
