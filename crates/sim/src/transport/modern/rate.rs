//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! Every segment remembers how much had been delivered when it was sent. When it is delivered
//! itself, what was delivered since, over the longer of the times it took to send and to
//! acknowledge that much, is a sample of the rate that the path can deliver.

use crate::units::{Duration, NANOS_PER_S, Time};

/// What a segment remembers of the moment when it was sent (section 3.1.2, `P.*`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// Bytes delivered by then.
    pub delivered: u64,
    /// When the last of those was acknowledged.
    pub delivered_at: Time,
    /// When the segment was sent whose delivery came last.
    pub first_sent: Time,
    /// Whether the sender had run out of data.
    pub app_limited: bool,
}

/// One sample of the delivery rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes per second.
    pub rate: f64,
    /// Whether the sender, not the path, may have set this rate.
    pub app_limited: bool,
}

/// The connection's side of the estimation (`C.*` and `rs.*`).
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// `delivered` at which the sender will no longer be limited by its data; 0 when it is not.
    app_limited_until: u64,
    /// Snapshot and time of sending of the newest segment that this ACK delivers.
    newest: Option<(Snapshot, Time)>,
}

impl Sampler {
    /// What a segment sent now must remember; `idle` says that nothing was in flight before.
    pub fn on_send(&mut self, now: Time, idle: bool) -> Snapshot {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until != 0,
        }
    }

    /// Takes a segment of `bytes`, last sent at `sent`, that has just been delivered.
    pub fn on_delivered(&mut self, now: Time, bytes: u64, sent: Time, snapshot: Snapshot) {
        self.delivered += bytes;
        self.delivered_at = now;
        let newer = |(newest, at): (Snapshot, Time)| (snapshot.delivered, sent) >= (newest.delivered, at);
        if self.newest.is_none_or(newer) {
            self.newest = Some((snapshot, sent));
            self.first_sent = sent;
        }
    }

    /// Ends an ACK: `delivered` when its newest segment was sent, and the sample that it gives.
    /// One taken over less than the smallest round trip is not to be trusted (3.3).
    pub fn finish(&mut self, min_rtt: Option<Duration>) -> (Option<u64>, Option<RateSample>) {
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let Some((then, sent)) = self.newest.take() else {
            return (None, None);
        };
        let sending = sent.since(then.first_sent);
        let acking = self.delivered_at.since(then.delivered_at);
        let interval = sending.max(acking);
        let sample = (interval.0 > 0 && min_rtt.is_none_or(|min| interval >= min)).then(|| RateSample {
            rate: (self.delivered - then.delivered) as f64 * NANOS_PER_S as f64 / interval.0 as f64,
            app_limited: then.app_limited,
        });
        (Some(then.delivered), sample)
    }

    /// The sender has run out of data while `in_flight` bytes are under way.
    pub fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
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
                last = sampler.finish(Some(Duration::from_millis(50))).1;
            }
            let snapshot = sampler.on_send(now, in_flight.is_empty());
            in_flight.push_back((now, snapshot));
        }
        assert_eq!(last, Some(RateSample { rate: 100_000.0, app_limited: false }));
    }

    #[test]
    fn compressed_acks_do_not_raise_the_rate_above_that_of_sending() {
        let mut sampler = Sampler::default();
        let sent: Vec<_> = (0..6).map(|i| (MS(10 * i), sampler.on_send(MS(10 * i), i == 0))).collect();
        for &(at, snapshot) in &sent {
            sampler.on_delivered(MS(100), 1_000, at, snapshot);
        }
        // 6000 B acknowledged in a moment, but over 100 ms since the first was sent.
        let (_, sample) = sampler.finish(None);
        assert_eq!(sample.map(|s| s.rate), Some(60_000.0));
    }

    #[test]
    fn samples_from_a_sender_without_data_are_marked() {
        let mut sampler = Sampler::default();
        let first = sampler.on_send(MS(0), true);
        sampler.set_app_limited(1_000);
        let second = sampler.on_send(MS(1), false);
        sampler.on_delivered(MS(50), 1_000, MS(0), first);
        assert!(!sampler.finish(None).1.unwrap().app_limited);
        sampler.on_delivered(MS(51), 1_000, MS(1), second);
        assert!(sampler.finish(None).1.unwrap().app_limited);
        assert!(!sampler.on_send(MS(52), true).app_limited);
    }
}
