//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! Every segment remembers how much had been delivered when it was sent. When it is delivered
//! itself, what was delivered since, over the longer of the times it took to send and to
//! acknowledge that much, is a sample of the rate that the path can deliver. It also remembers what
//! had been lost and what was in flight, for controls that judge how much the path can hold
//! (draft-ietf-ccwg-bbr, 4.1.2).

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

/// What a segment remembers of the moment when it was sent (section 3.1.2, `P.*`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// Bytes delivered by then.
    pub delivered: u64,
    /// When the last of those was acknowledged.
    pub delivered_at: Time,
    /// When the segment was sent whose delivery came last.
    pub first_sent: Time,
    /// Bytes lost by then, modulo 2^32.
    pub lost: u32,
    /// Bytes in flight, the segment's own included.
    pub in_flight: u32,
    /// Whether the sender had run out of data.
    pub app_limited: bool,
}

/// What the newest segment that an ACK delivers tells about the path, in bytes (`rs.*`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Delivery rate per second; `None` if it was taken over too short a time.
    pub rate: Option<f64>,
    /// Whether the sender, not the path, may have set this rate.
    pub app_limited: bool,
    /// Delivered when the segment was sent.
    pub prior_delivered: u64,
    /// Delivered since the segment was sent.
    pub delivered: u64,
    /// Lost since the segment was sent.
    pub lost: u64,
    /// In flight when the segment was sent, itself included.
    pub in_flight: u64,
}

/// The connection's side of the estimation (`C.*` and `rs.*`).
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    delivered: u64,
    lost: u32,
    delivered_at: Time,
    first_sent: Time,
    /// `delivered` at which the sender will no longer be limited by its data; 0 when it is not.
    app_limited_until: u64,
    /// Snapshot and time of sending of the newest segment that this ACK delivers.
    newest: Option<(Snapshot, Time)>,
    /// Whether the control asks for no samples: then only bytes are counted.
    counts_only: bool,
}

impl Sampler {
    /// A sampler that gives samples, or just counts what is delivered.
    pub fn new(gives_samples: bool) -> Self {
        Self { counts_only: !gives_samples, ..Self::default() }
    }

    /// Returns what a segment of `bytes` sent now, with `before` in flight, must remember. If nothing is outstanding
    /// (`is_first`), delivery is measured from now on. Segments that are only thought lost are outstanding: were they
    /// not, a spurious timeout would shorten the interval and raise the rate (Linux: `tcp_rate_skb_sent`).
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

    /// Takes a segment of `bytes`, last sent at `sent`, that has just been delivered.
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

    /// Takes note that `bytes` more have been delivered, whichever they are.
    pub fn count(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// Ends an ACK: the sample that its newest segment gives, if it delivers any. A rate over less
    /// than the smallest round trip is not to be trusted (3.3).
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

    /// Takes note of `bytes` lost; returns those lost since a segment with this snapshot was sent.
    pub fn note_lost(&mut self, bytes: u64, snapshot: Snapshot) -> u64 {
        self.lost = self.lost.wrapping_add(bytes as u32);
        self.lost.wrapping_sub(snapshot.lost).into()
    }

    /// The sender has run out of data while `in_flight` bytes are under way.
    pub fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Whether the sender has run out of data, and what it had sent until then is still under way.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000);

    #[test]
    fn a_steady_stream_shows_its_rate() {
        let mut sampler = Sampler::default();
        let mut in_flight = std::collections::VecDeque::new();
        let mut last = None;
        // 1000 B every 10 ms, acknowledged 50 ms later.
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
    fn compressed_acks_do_not_raise_the_rate_above_that_of_sending() {
        let mut sampler = Sampler::default();
        let sent: Vec<_> =
            (0..6).map(|i| (MS(10 * i), sampler.on_send(MS(10 * i), 1_000, 1_000 * i, i == 0))).collect();
        for &(at, snapshot) in &sent {
            sampler.on_delivered(MS(100), 1_000, at, snapshot);
        }
        // 6000 B acknowledged in a moment, but over 100 ms since the first was sent.
        assert_eq!(sampler.finish(None).unwrap().rate, Some(60_000.0));
    }

    #[test]
    fn samples_from_a_sender_without_data_are_marked() {
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
    fn a_timeout_does_not_shorten_the_interval() {
        let mut sampler = Sampler::default();
        let first = sampler.on_send(MS(0), 1_000, 0, true);
        sampler.on_delivered(MS(100), 1_000, MS(0), first);
        sampler.finish(None);
        sampler.on_send(MS(100), 1_000, 0, true);
        // Given up after 300 ms: nothing is in flight, but the segment is outstanding.
        let again = sampler.on_send(MS(400), 1_000, 0, false);
        sampler.on_delivered(MS(500), 1_000, MS(400), again);
        assert_eq!(sampler.finish(None).unwrap().rate, Some(2_500.0), "1000 B in 400 ms");
    }
}
