//! Propagation of packets in flight on a link, with optional jitter and reordering.

use std::collections::VecDeque;

use nodeb_base::check::Checked;
use nodeb_base::packet::Packet;
use nodeb_base::rng::{ErrorGaps, Stream, Streams};
use nodeb_base::units::{Duration, Probability, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jitter::{Jitter, JitterSpec};

/// Parameters of reordering, which delays some packets so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Probability that a packet is delayed further, independently of other packets.
    pub share: Probability,
    /// Further delay of a reordered packet, in addition to the link's delay and jitter.
    pub delay: Duration,
}

impl Checked for Reordering {}

type Lane = VecDeque<(Time, Packet)>;

#[derive(Debug, Default)]
pub struct Propagation {
    lane: Lane,
    impairment: Option<Box<Impairment>>,
}

#[derive(Debug)]
struct Impairment {
    jitter: Option<(Box<dyn Jitter>, Stream)>,
    /// Latest arrival so far, without the additional delay of reordered packets. No later packet
    /// arrives before this time, so jitter keeps the order of packets.
    latest: Time,
    /// `None` without reordering.
    held_back: Option<(ErrorGaps, Duration)>,
    late: Lane,
}

impl Propagation {
    pub fn new(
        jitter: Option<&JitterSpec>,
        reordering: Option<&Reordering>,
        streams: &Streams,
        entity: &str,
        index: u64,
    ) -> Self {
        let stream = |purpose| streams.stream(entity, index, purpose);
        let jitter = jitter.map(|spec| (spec.build(), stream("jitter")));
        let held_back = reordering.map(|r| (ErrorGaps::new(r.share.0, stream("reordering")), r.delay));
        let impaired = jitter.is_some() || held_back.is_some();
        let impairment = Impairment { jitter, latest: Time::ZERO, held_back, late: Lane::new() };
        Self { lane: Lane::new(), impairment: impaired.then(|| Box::new(impairment)) }
    }

    #[inline]
    pub fn depart(&mut self, sent: Time, delay: Duration, packet: Packet) {
        match &mut self.impairment {
            None => self.lane.push_back((sent + delay, packet)),
            Some(impairment) => {
                let at = impairment.in_order(sent, delay);
                match impairment.hold_back() {
                    None => self.lane.push_back((at, packet)),
                    Some(delay) => impairment.late.push_back((at + delay, packet)),
                }
            }
        }
    }

    pub fn is_plain(&self) -> bool {
        self.impairment.is_none()
    }

    #[inline]
    pub fn next(&self) -> Option<Time> {
        let next = first(&self.lane);
        match &self.impairment {
            None => next,
            Some(impairment) => next.into_iter().chain(first(&impairment.late)).min(),
        }
    }

    /// The packet that arrives next; of two that arrive at one time, the one that was not held back.
    #[inline]
    pub fn arrive(&mut self) -> Option<Packet> {
        let next = first(&self.lane);
        let held_back = self.impairment.as_mut().map(|impairment| &mut impairment.late);
        let overtaking =
            held_back.filter(|lane| first(lane).is_some_and(|at| next.is_none_or(|next| at < next)));
        let lane = overtaking.unwrap_or(&mut self.lane);
        lane.pop_front().map(|(_, packet)| packet)
    }
}

fn first(lane: &Lane) -> Option<Time> {
    lane.front().map(|(at, _)| *at)
}

impl Impairment {
    /// Arrival time, never earlier than that of a previous packet.
    fn in_order(&mut self, sent: Time, delay: Duration) -> Time {
        let extra = self.jitter.as_mut().map_or(Duration::ZERO, |(jitter, stream)| jitter.draw(sent, stream));
        self.latest = self.latest.max(sent + delay + extra);
        self.latest
    }

    fn hold_back(&mut self) -> Option<Duration> {
        let (chosen, delay) = self.held_back.as_mut()?;
        chosen.next_is_error().then_some(*delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> T {
        toml::from_str(text).unwrap()
    }

    fn fly(
        jitter: Option<&str>,
        reordering: Option<&str>,
        packets: u64,
        spacing_ms: u64,
    ) -> Vec<(Time, u64)> {
        let jitter: Option<JitterSpec> = jitter.map(from_toml);
        let reordering: Option<Reordering> = reordering.map(from_toml);
        let streams = Streams::new(1, 0);
        let mut propagation = Propagation::new(jitter.as_ref(), reordering.as_ref(), &streams, "test", 0);
        for seq in 0..packets {
            let at = Time((seq * spacing_ms + 100) * 1_000_000);
            propagation.depart(at, Duration::ZERO, Packet::new(seq, 40));
        }
        std::iter::from_fn(|| {
            let at = propagation.next()?;
            propagation.arrive().map(|packet| (at, packet.id.0))
        })
        .collect()
    }

    fn delays_ms(arrivals: &[(Time, u64)], spacing_ms: u64) -> Vec<f64> {
        arrivals.iter().map(|(at, seq)| at.as_secs() * 1e3 - (seq * spacing_ms + 100) as f64).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
    }

    #[test]
    fn jitter_of_widely_spaced_packets_follows_its_distribution() {
        let delays = delays_ms(&fly(Some("uniform.most = '12 ms'"), None, 20_000, 1_000), 1_000);
        let (mean, deviation) = moments(&delays);
        assert!((mean - 6.0).abs() < 0.1 && (deviation - 12f64.sqrt()).abs() < 0.05, "{mean} {deviation}");
        assert!(delays.iter().all(|delay| (-1e-3..=12.001).contains(delay)));
        let delays = delays_ms(
            &fly(Some("normal = { mean = '30 ms', deviation = '5 ms' }"), None, 20_000, 1_000),
            1_000,
        );
        let (mean, deviation) = moments(&delays);
        assert!((mean - 30.0).abs() < 0.15 && (deviation - 5.0).abs() < 0.1, "{mean} {deviation}");
    }

    /// Points every 40 ms from 20 ms on, the last two a step; a packet every 10 ms, the first at 100 ms.
    #[test]
    fn packets_meet_the_delays_of_a_trace() {
        let points =
            "times = ['20 ms', '60 ms', '100 ms', '100 ms'], delays = ['8 ms', '0 s', '12 ms', '4 ms']";
        let trace = |end: &str| format!("trace = {{ {points}, at_end = '{end}' }}");
        let delays = |end| delays_ms(&fly(Some(&trace(end)), None, 11, 10), 10);
        let period = [8.0, 8.0, 8.0, 6.0, 4.0, 2.0, 0.0, 3.0, 6.0, 9.0, 8.0];
        let error = |found: &[f64], wanted: &[f64]| {
            found.iter().zip(wanted).map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f64::max)
        };
        assert!(error(&delays("loop"), &period) < 1e-9, "{:?}", delays("loop"));
        assert!(error(&delays("stop"), &[4.0; 11]) < 1e-9, "{:?}", delays("stop"));
    }

    #[test]
    fn packets_keep_their_order_where_a_recorded_delay_falls() {
        let trace = "trace = { times = ['100 ms', '110 ms', '1 s'], delays = ['30 ms', '5 ms', '5 ms'] }";
        let delays = delays_ms(&fly(Some(trace), None, 4, 10), 10);
        let wanted = [30.0, 20.0, 10.0, 5.0];
        assert!(delays.iter().zip(wanted).all(|(delay, ms)| (delay - ms).abs() < 1e-9), "{delays:?}");
    }

    #[test]
    fn the_configured_share_of_packets_is_overtaken() {
        // A packet is sent every 10 ms. A packet with an additional delay of 35 ms is overtaken by
        // each of the next three packets that has no additional delay.
        let arrivals = fly(None, Some("share = 0.05\ndelay = '35 ms'"), 40_000, 10);
        let mut newest = 0;
        let late = arrivals.iter().filter(|(_, seq)| {
            newest = newest.max(*seq);
            *seq < newest
        });
        let share = late.count() as f64 / 40_000.0;
        let expected = 0.05 * (1.0 - 0.05f64.powi(3));
        assert!((share - expected).abs() < 4.0 * (0.05 * 0.95 / 40_000f64).sqrt(), "{share}");
        let delays = delays_ms(&arrivals, 10);
        assert!(delays.iter().all(|d| d.abs() < 1e-3 || (d - 35.0).abs() < 1e-3));
    }

    proptest! {
        /// Every packet arrives exactly once and not before its delay has passed, and packets arrive in the
        /// order sent if the link has no reordering.
        #[test]
        fn packets_arrive_once_and_in_order_of_time(
            jitter in prop::option::of(prop::sample::select(vec![
                "uniform.most = '50 ms'",
                "trace = { times = ['0 s', '40 ms', '40 ms', '1 s'], delays = ['0 s', '90 ms', '5 ms', '60 ms'] }",
            ])),
            reordering in prop::option::of(Just("share = 0.2\ndelay = '25 ms'")),
            packets in 1u64..300, spacing in 0u64..30,
        ) {
            let arrivals = fly(jitter, reordering, packets, spacing);
            prop_assert!(arrivals.is_sorted_by_key(|(at, _)| *at));
            prop_assert!(delays_ms(&arrivals, spacing).iter().all(|delay| *delay > -1e-3));
            let mut order: Vec<u64> = arrivals.iter().map(|(_, seq)| *seq).collect();
            prop_assert!(reordering.is_some() || order.is_sorted());
            order.sort_unstable();
            prop_assert_eq!(order, (0..packets).collect::<Vec<_>>());
        }
    }
}
